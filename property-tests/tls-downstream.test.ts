/** A wrapper that serves kube-proxy over TLS: whom it shows itself to be, to whom it speaks, and what it refuses to start with. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { generateKeyPairSync } from "node:crypto"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { built, Run } from "./bundles.ts"
import { authority, type Certified } from "./certificates.ts"
import { live, until } from "./effect.ts"
import { carry, type Change, head, shown } from "./followed.ts"
import { ask, type Served, SLICES, watch } from "./served.ts"
import { begun } from "./tale.ts"
import { altering, type Cloud, refusal, type Wrapper, wrapper } from "./wrapped.ts"

const root = authority("root")
const other = authority("other")

/** What is shown at first; see tale.ts. */
const FIRST = { "all-1": "10.0.2.0 10.0.3.1", "web-1": "10.0.1.0 10.0.2.1" }

describe("a wrapper with a certificate", () => {
  live("answers over TLS as one without answers over plain loopback", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const plain: Served = yield* wrapper({ url: over.relay.server, folder: over.folder })
      const secure = trusting(yield* certified(over), root.cert)
      expect(yield* shown(secure)).toEqual(FIRST)
      for (const path of PATHS) {
        const wanted = yield* ask(plain, path)
        const got = yield* ask(secure, path)
        expect([path, got.status, unrevised(got.text)]).toEqual([path, wanted.status, unrevised(wanted.text)])
        expect([path, got.headers["content-type"]]).toEqual([path, wanted.headers["content-type"]])
      }
    })
  )

  live("tells a watch over TLS what it tells one over plain loopback", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const plain: Served = yield* wrapper({ url: over.relay.server, folder: over.folder })
      const secure = trusting(yield* certified(over), root.cert)
      const wanted = yield* watch(plain, `&resourceVersion=${yield* head(plain)}`)
      const got = yield* watch(secure, `&resourceVersion=${yield* head(secure)}`)
      const changes = [slice("web-1", "n3 n1"), slice("all-1", undefined), slice("web-2", "n2")]
      for (const [i, each] of changes.entries()) {
        carry(over, each)
        yield* until("the change, twice", () => wanted.lines.length > i && got.lines.length > i)
      }
      expect(got.told).toEqual(["MODIFIED web-1", "DELETED all-1", "ADDED web-2"])
      expect(unrevised(JSON.stringify(got.lines))).toBe(unrevised(JSON.stringify(wanted.lines)))
    })
  )

  live("is not believed by a client that trusts another authority, or expects another name", () =>
    Effect.gen(function* () {
      const at = yield* certified(yield* begun())
      expect(yield* failure(trusting(at, other.cert))).toMatch(/unable to verify/)
      expect(yield* failure({ port: at.port, tls: { ca: root.cert, servername: "other.test" } })).toMatch(
        /other\.test/
      )
      expect(yield* shown(trusting(at, root.cert))).toEqual(FIRST)
    })
  )

  live("tells a client that speaks plain HTTP to it, and goes on with all others", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* certified(over)
      const secure = trusting(at, root.cert)
      const open = yield* watch(secure, `&resourceVersion=${yield* head(secure)}`)
      for (const method of ["GET", "POST"]) {
        const told = yield* ask({ port: at.port }, SLICES, { method })
        expect([told.status, told.headers.connection]).toEqual([400, "close"])
        expect(told.body).toMatchObject({ kind: "Status", reason: "BadRequest" })
        expect(told.body["message"]).toMatch(/TLS .* plain HTTP/)
      }
      carry(over, slice("web-1", "n3 n1"))
      yield* until("the change", () => open.lines.length === 1)
      expect(yield* shown(secure)).toEqual({ ...FIRST, "web-1": "10.0.1.1" })
    })
  )

  live("R134 lends nobody who it is itself", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const before = yield* altering(over.api.url, { meet: (path) => ({ path }), line: (text) => text })
      const at = yield* certified(over, { url: before.url, token: "own" })
      const path = "/api/v1/namespaces/default/events"
      const post = (headers: Record<string, string>) =>
        ask(trusting(at, root.cert), path, { method: "POST", headers })
      yield* post({})
      yield* post({ authorization: "Bearer client" })
      expect(before.heard.filter((line) => line.startsWith("POST"))).toEqual([
        `POST ${path}`,
        `POST ${path} Bearer client`
      ])
    })
  )

  live("goes on with the one that it read at its start, and takes a new one when it starts again", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const first = yield* certified(over)
      written(over, other.certify("new"))
      expect(yield* shown(trusting(first, root.cert))).toEqual(FIRST)
      expect(yield* failure(trusting(first, other.cert))).toMatch(/unable to verify/)
      for (const file of [certOf(over), keyOf(over)]) rmSync(file)
      expect(yield* shown(trusting(first, root.cert))).toEqual(FIRST)
      yield* first.stop
      const second = yield* certified(over, { pair: other.certify("new") })
      expect(yield* shown(trusting(second, other.cert))).toEqual(FIRST)
      expect(yield* failure(trusting(second, root.cert))).toMatch(/unable to verify/)
    })
  )

  live("serves those alone whom its clients' authority knows, where it has one", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const clients = authority("clients")
      const at = yield* certified(over, { clients: clients.cert })
      const as = (shows: Certified | undefined): Served => ({
        port: at.port,
        tls: { ca: root.cert, ...shows }
      })
      expect(yield* shown(as(clients.certify("kube-proxy")))).toEqual(FIRST)
      for (const stranger of [undefined, root.certify("server's"), other.certify("kube-proxy")])
        expect(yield* failure(as(stranger))).toMatch(/alert|hang up|ECONNRESET/)
      expect(yield* shown(as(clients.certify("CoreDNS")))).toEqual(FIRST)
    })
  )
})

describe("a wrapper that is told of a certificate", () => {
  live(
    "R200 does not start with a file that is missing or wrong: it names flag, file and what is wrong",
    () =>
      Effect.gen(function* () {
        const over = yield* begun()
        const good = written(over, root.certify("server"))
        const file = (name: string, content: string): string => {
          const path = join(over.folder, name)
          writeFileSync(path, content)
          return path
        }
        const none = join(over.folder, "none.pem")
        const words = file("words.pem", "no certificate, and no key")
        const broken = file("broken.pem", PEM("CERTIFICATE", "aGVsbG8="))
        const torn = file("torn.pem", root.cert.slice(0, 300))
        const half = file("half.pem", `${root.cert}${PEM("CERTIFICATE", "aGVsbG8=")}`)
        const elses = file("elses.pem", root.certify("else").key)
        const rsa = file("rsa.pem", key({ rsa: true }))
        const locked = file("locked.pem", key({ rsa: false }))
        const flags = {
          tlsCert: "--tls-cert-file",
          tlsKey: "--tls-key-file",
          tlsClientCa: "--tls-client-ca-file"
        }
        const wrong: readonly (readonly [keyof typeof flags, string, RegExp])[] = [
          ["tlsCert", none, /ENOENT: no such file/],
          ["tlsCert", over.folder, /EISDIR/],
          ["tlsCert", words, /no whole certificate/],
          ["tlsCert", torn, /no whole certificate/],
          ["tlsCert", good.tlsKey, /no whole certificate/],
          ["tlsCert", broken, /asn1/],
          ["tlsKey", none, /ENOENT: no such file/],
          ["tlsKey", words, /no key in it that can be read/],
          ["tlsKey", good.tlsCert, /no key in it that can be read/],
          ["tlsKey", locked, /without a passphrase/],
          ["tlsKey", elses, /not the key of --tls-cert-file .*cert\.pem/],
          ["tlsKey", rsa, /not the key of --tls-cert-file .*cert\.pem/],
          ["tlsClientCa", none, /ENOENT: no such file/],
          ["tlsClientCa", words, /no whole certificate/],
          ["tlsClientCa", half, /asn1/]
        ]
        for (const [which, path, why] of wrong) {
          const said = yield* refused(over, { ...good, [which]: path })
          expect(said.startsWith(`${flags[which]} ${path}: `), said).toBe(true)
          expect(said).toMatch(why)
        }
      })
  )

  live("does not start with half of what it needs", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const { tlsCert, tlsKey } = written(over, root.certify("server"))
      const together = "--tls-cert-file and --tls-key-file go together: one of them is missing"
      expect(yield* refused(over, { tlsCert })).toBe(together)
      expect(yield* refused(over, { tlsKey })).toBe(together)
      const needs = "--tls-client-ca-file needs --tls-cert-file and --tls-key-file"
      expect(yield* refused(over, { tlsClientCa: tlsCert })).toBe(needs)
      const listen = { host: "0.0.0.0", port: 0, text: "0.0.0.0:0" }
      expect(yield* refused(over, { tlsCert, tlsKey, listen })).toMatch(/^--listen 0\.0\.0\.0:0 .*loopback/)
      expect(yield* refused(over, { tlsCert, tlsKey, dnsListen: listen })).toMatch(
        /^--dns-listen 0\.0\.0\.0:0 .*loopback/
      )
    })
  )

  it("R200 ends at once, with 1 and one line about it", async () => {
    const bundles = built()
    const flags = ["--node-name=n1", "--tls-cert-file=package.json", "--tls-key-file=package.json"]
    const run = new Run(
      join(bundles, "wrapper.mjs"),
      [...flags, "--listen=127.0.0.1:0", "--health-address=off", "--snapshot=off"],
      { SERVICEGROUP_LOG_LEVEL: "none" }
    )
    try {
      const { code, took } = await run.ended
      expect([code, run.err]).toEqual([
        1,
        "servicegroup: --tls-cert-file package.json: there is no whole certificate in it (PEM)\n"
      ])
      expect(took).toBeLessThan(5000)
    } finally {
      run.kill()
      rmSync(bundles, { recursive: true, force: true })
    }
  })
})

const PATHS = [
  SLICES,
  "/apis/discovery.k8s.io/v1beta1/endpointslices",
  "/api/v1/services",
  "/api/v1/endpoints",
  "/api/v1/nodes/n1",
  "/api/v1/nodes?fieldSelector=metadata.name%3Dn1",
  "/api/v1/services?watch=true&resourceVersion=1",
  "/api/v1/namespaces/default/events"
]

const slice = (name: string, says: string | undefined): Change => ({ plural: "endpointslices", name, says })

const certOf = ({ folder }: Cloud): string => join(folder, "cert.pem")
const keyOf = ({ folder }: Cloud): string => join(folder, "key.pem")

/** Writes a certificate and its key where wrappers before that cluster look for them. */
const written = (over: Cloud, { cert, key }: Certified) => {
  const [tlsCert, tlsKey] = [certOf(over), keyOf(over)]
  writeFileSync(tlsCert, cert)
  writeFileSync(tlsKey, key)
  return { tlsCert, tlsKey }
}

interface Secured {
  readonly pair?: Certified
  /** who signed what its clients show, PEM */
  readonly clients?: string
  readonly url?: string
  readonly token?: string
}

/** A wrapper with a certificate, by default one of `root`'s. */
const certified = (
  over: Cloud,
  { pair = root.certify("server"), clients, url = over.relay.server, ...more }: Secured = {}
): Effect.Effect<Wrapper, never, Scope.Scope> => {
  const tlsClientCa = clients === undefined ? "" : join(over.folder, "clients.pem")
  if (clients !== undefined) writeFileSync(tlsClientCa, clients)
  return wrapper({ url, folder: over.folder, ...more, more: { ...written(over, pair), tlsClientCa } })
}

const trusting = ({ port }: Served, ca: string): Served => ({ port, tls: { ca } })

/** What a client says that gets no answer. */
const failure = (at: Served): Effect.Effect<string> =>
  ask(at, SLICES).pipe(
    Effect.sandbox,
    Effect.flip,
    Effect.map((cause) => String(Cause.squash(cause))),
    Effect.orElseSucceed(() => "it was answered")
  )

const refused = (over: Cloud, more: Parameters<typeof refusal>[0]["more"]): Effect.Effect<string> =>
  refusal({ url: over.relay.server, folder: over.folder, ...(more !== undefined && { more }) })

/** Revisions are each wrapper's own. */
const unrevised = (text: string): string =>
  text.replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":""')

const PEM = (label: string, base64: string): string =>
  `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`

/** A key of no certificate here: of another algorithm, or behind a passphrase. */
const key = ({ rsa }: { readonly rsa: boolean }): string =>
  rsa
    ? generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" })
    : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
        type: "pkcs8",
        format: "pem",
        cipher: "aes-256-cbc",
        passphrase: "x"
      })
