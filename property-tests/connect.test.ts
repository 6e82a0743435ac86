/** Kubeconfigs and service accounts, and what goes over the wire because of them. */
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import type { TLSSocket } from "node:tls"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { connect, type Connection } from "../src/shell/connect.ts"
import { isReply, PATIENCE_MS } from "../src/shell/http.ts"
import { type Environment, target } from "../src/shell/kubeconfig.ts"
import { authority } from "./certificates.ts"
import { effect, live, until } from "./effect.ts"
import { type FakeServer, fakeServer, send, status } from "./fake-server.ts"

const noAccount = "/no/such/folder"

/** A folder that goes with the test, and a writer of files in it. */
const folder = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "connect-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  ),
  (path) => ({
    path,
    write: (name: string, content: unknown): string => {
      const file = join(path, name)
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
      return file
    }
  })
)

const config = (cluster: object, user: object, more: object = {}) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "c", cluster }],
  users: [{ name: "u", user }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
  ...more
})

const access = (kubeconfig: string, context = "") => ({ kubeconfig, context })

const read = (kubeconfig: string, environment: Environment = {}, context = "", account = noAccount) =>
  target(access(kubeconfig, context), environment, account)

const message = <A, R>(failing: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(failing), (error) => error.message)

/** Asks once; the status and, once more, what the server heard. */
const ask = (connection: Connection) =>
  Effect.map(
    connection.ask({ method: "GET", path: "/api", headers: {}, body: undefined }, PATIENCE_MS),
    ({ status: code }) => code
  )

/** Opens an answer that comes as it likes. */
const opened = (connection: Connection) =>
  Effect.map(connection.open({ method: "GET", path: "/", headers: {}, body: undefined }), (reply) => {
    if (!isReply(reply)) throw new Error(`refused: ${reply.status} ${reply.body.toString()}`)
    return reply
  })

const tokens = (server: FakeServer) => server.heard.map(({ headers }) => headers.authorization)

describe("target", () => {
  effect("reads --kubeconfig, and only that", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const file = files.write("one", config({ server: "https://a:6443/" }, { token: "t" }))
      const other = files.write("two", config({ server: "https://b" }, {}))
      const read1 = yield* read(file, { KUBECONFIG: other })
      expect([read1.server, read1.credential]).toEqual(["https://a:6443", { _tag: "Token", token: "t" }])
    })
  )

  effect("merges the files of KUBECONFIG: the first to name a thing wins, missing ones are skipped", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const one = files.write("one", {
        clusters: [{ name: "c", cluster: { server: "https://first" } }],
        contexts: null
      })
      const two = files.write("two", config({ server: "https://second" }, { token: "t" }))
      const both = yield* read("", { KUBECONFIG: `${join(files.path, "none")}:${one}:${two}` })
      expect([both.server, both.credential]).toEqual(["https://first", { _tag: "Token", token: "t" }])
    })
  )

  effect("reads ~/.kube/config, else the pod's account, else says what it looked for", () =>
    Effect.gen(function* () {
      const files = yield* folder
      files.write("token", "t1")
      const pod = { HOME: files.path, KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" }
      const inPod = yield* read("", pod, "", files.path)
      expect(inPod.server).toBe("https://[fd00::1]:443")
      expect(inPod.credential).toMatchObject({ _tag: "TokenFile", path: join(files.path, "token") })
      expect(inPod.ca).toMatchObject({ _tag: "File", path: join(files.path, "ca.crt") })
      expect((yield* read("", { ...pod, KUBERNETES_SERVICE_HOST: "10.0.0.1" }, "", files.path)).server).toBe(
        "https://10.0.0.1:443"
      )
      expect(yield* message(read("", { HOME: files.path }))).toMatch(/no cluster: .*--kubeconfig.*KUBECONFIG/)
      const home = yield* folder
      yield* Effect.promise(async () => (await import("node:fs/promises")).mkdir(join(home.path, ".kube")))
      home.write(".kube/config", config({ server: "https://home" }, {}))
      expect((yield* read("", { ...pod, HOME: home.path }, "", files.path)).server).toBe("https://home")
    })
  )

  effect("takes paths from the folder of the file, and data before files", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const user = { "client-certificate": "pki/c.crt", "client-key": "/abs/c.key", tokenFile: "tok" }
      const data = { "certificate-authority": "ca", "certificate-authority-data": "QUJD" }
      const read1 = yield* read(files.write("k", config({ server: "https://a", ...data }, user)))
      expect(read1.cert).toMatchObject({ path: join(files.path, "pki/c.crt") })
      expect(read1.key).toMatchObject({ path: "/abs/c.key" })
      expect(read1.ca).toMatchObject({ _tag: "Inline", bytes: Buffer.from("ABC") })
      expect(read1.credential).toMatchObject({ _tag: "TokenFile", path: join(files.path, "tok") })
    })
  )

  effect("reads the context that is named", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const contexts = [
        { name: "x", context: { cluster: "c", user: "u" } },
        { name: "y", context: { cluster: "c" } }
      ]
      const file = files.write("k", config({ server: "https://a" }, { token: "t" }, { contexts }))
      expect((yield* read(file, {}, "y")).credential).toEqual({ _tag: "Anonymous" })
      expect(yield* message(read(file, {}, "z"))).toBe(
        `kubeconfig ${file}: --context names the context "z", which isn't there (there are: x, y)`
      )
    })
  )

  effect("R200 names file and field of what can't be used", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const table: readonly (readonly [unknown, string])[] = [
        ["{", "no YAML: "],
        ["- a", ": it is a list, not a Config"],
        ["", ": it is null, not a Config"],
        [{ clusters: {} }, ": clusters is an object, not a list"],
        [{ clusters: [], contexts: [] }, "current-context isn't set"],
        [config({}, {}), 'clusters[name="c"].cluster.server is missing'],
        [config({ server: 5 }, {}), 'clusters[name="c"].cluster.server is 5, a text was expected'],
        [
          config({ server: "a:6443" }, {}),
          'cluster.server is "a:6443", a URL such as https://host:6443 was expected'
        ],
        [
          config({ server: "https://a", "proxy-url": "socks5://p" }, {}),
          'cluster.proxy-url is "socks5://p"; only'
        ],
        [
          config({ server: "https://a", "certificate-authority-data": "%%" }, {}),
          "certificate-authority-data is no base64"
        ],
        [config({ server: "https://a" }, { token: ["t"] }), 'users[name="u"].user.token is a list'],
        [
          config({ server: "https://a" }, {}, { users: null }),
          'contexts[name=x].context.user names the user "u", which isn\'t there (there are: none)'
        ],
        [config({ server: "https://a" }, {}, { clusters: "" }), 'clusters is "", not a list']
      ]
      for (const [content, expected] of table) {
        const file = files.write("k", content)
        const said = yield* message(read(file))
        expect(said).toContain(`kubeconfig ${file}`)
        expect(said).toContain(expected)
      }
      expect(yield* message(read(join(files.path, "none")))).toMatch(/none: ENOENT/)
      expect(yield* message(read(files.path))).toMatch(/EISDIR/)
      expect(yield* message(read("", { KUBECONFIG: "/none" }))).toMatch(/kubeconfig \/none: ENOENT/)
    })
  )
})

describe("connect", () => {
  const server = Effect.gen(function* () {
    const fake = yield* fakeServer()
    return { fake, files: yield* folder }
  })

  live("sends token, basic credentials and impersonation, over http as well", () =>
    Effect.gen(function* () {
      const { fake, files } = yield* server
      const as = {
        as: "jane",
        "as-groups": ["a", "b"],
        "as-uid": "7",
        "as-user-extra": { "k/x": ["1", "2"] }
      }
      for (const user of [{ token: "t\n" }, { username: "u", password: "p:q" }, as, {}]) {
        const to = yield* read(files.write("k", config({ server: fake.url }, user)))
        yield* ask(yield* connect(to))
      }
      expect(tokens(fake)).toEqual(["Bearer t", `Basic ${btoa("u:p:q")}`, undefined, undefined])
      expect(fake.heard[2]?.headers).toMatchObject({
        "impersonate-user": "jane",
        "impersonate-group": "a, b",
        "impersonate-uid": "7",
        "impersonate-extra-k%2fx": "1, 2"
      })
      expect(Object.keys(fake.heard[3]?.headers ?? {}).filter((name) => name.startsWith("imp"))).toEqual([])
    })
  )

  live("keeps the path of the server's address", () =>
    Effect.gen(function* () {
      const { fake, files } = yield* server
      yield* ask(
        yield* connect(yield* read(files.write("k", config({ server: `${fake.url}/k8s/c/1/` }, {}))))
      )
      expect(fake.heard[0]?.path).toBe("/k8s/c/1/api")
    })
  )

  effect("reads a token file again after a minute, not before", () =>
    Effect.gen(function* () {
      const { fake, files } = yield* server
      files.write("token", "one\n")
      const to = yield* read(files.write("k", config({ server: fake.url }, { tokenFile: "token" })))
      const connection = yield* connect(to)
      yield* ask(connection)
      files.write("token", "two\n")
      yield* TestClock.adjust("59 seconds")
      yield* ask(connection)
      yield* TestClock.adjust("1 second")
      yield* ask(connection)
      expect(tokens(fake)).toEqual(["Bearer one", "Bearer one", "Bearer two"])
      rmSync(join(files.path, "token"))
      yield* TestClock.adjust("61 seconds")
      yield* ask(connection)
      expect(tokens(fake).at(-1)).toBe("Bearer two")
    })
  )

  effect("reads the token again at once on 401, and asks a second time", () =>
    Effect.gen(function* () {
      const { fake, files } = yield* server
      fake.answer = ({ headers }, response) =>
        headers.authorization === "Bearer two"
          ? send(response, 200, {})
          : send(response, 401, status(401, "Unauthorized", "who?"))
      files.write("token", "one")
      const connection = yield* connect(
        yield* read(files.write("k", config({ server: fake.url }, { tokenFile: "token" })))
      )
      expect(yield* ask(connection)).toBe(401)
      expect(fake.heard.length).toBe(1)
      files.write("token", "two")
      expect(yield* ask(connection)).toBe(200)
      expect(tokens(fake)).toEqual(["Bearer one", "Bearer one", "Bearer two"])
    })
  )

  live("R200 names the field and the file that is missing at the start", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const gone = { "certificate-authority": "ca.crt" }
      const of = (cluster: object, user: object) =>
        Effect.flatMap(
          read(files.write("k", config({ server: "https://a", ...cluster }, user))),
          connect
        ).pipe(message)
      expect(yield* of(gone, {})).toMatch(
        /clusters\[name="c"\]\.cluster\.certificate-authority: ENOENT.*ca\.crt/
      )
      expect(yield* of({}, { tokenFile: "tok" })).toMatch(/users\[name="u"\]\.user\.tokenFile: ENOENT.*tok/)
      files.write("tok", "")
      expect(yield* of({}, { tokenFile: "tok" })).toMatch(/tok is empty/)
      expect(yield* of({}, { exec: { apiVersion: "v1", command: "/no/such/plugin" } })).toMatch(
        /users\[name="u"\]\.user\.exec: .*\/no\/such\/plugin/
      )
    })
  )

  live("verifies the server against the CA, by the name that is given", () =>
    Effect.gen(function* () {
      const [ours, theirs] = [authority("ours"), authority("theirs")]
      const fake = yield* fakeServer(ours.certify("server"))
      const files = yield* folder
      files.write("ours.crt", ours.cert)
      files.write("theirs.crt", theirs.cert)
      const said = (cluster: object) =>
        read(files.write("k", config({ server: fake.url, ...cluster }, {}))).pipe(
          Effect.flatMap(connect),
          Effect.flatMap(ask),
          Effect.catchAll(({ message: why }) => Effect.succeed(why))
        )
      const ca = { "certificate-authority": "ours.crt" }
      expect(yield* said(ca)).toBe(200)
      expect(yield* said({ ...ca, "tls-server-name": "server.test" })).toBe(200)
      expect(yield* said({ ...ca, "tls-server-name": "other.test" })).toMatch(/other\.test/)
      expect(yield* said({ "certificate-authority": "theirs.crt" })).toMatch(/certificate/)
      expect(yield* said({})).toMatch(/certificate/)
      expect(yield* said({ "insecure-skip-tls-verify": true })).toBe(200)
      expect(yield* said({ "certificate-authority-data": btoa(ours.cert) })).toBe(200)
    })
  )

  effect("presents the client certificate, and the next one once the file changed", () =>
    Effect.gen(function* () {
      const root = authority("root")
      const [server1, jane, joe] = [root.certify("server"), root.certify("jane"), root.certify("joe")]
      const fake = yield* fakeServer({
        ...server1,
        ca: root.cert,
        requestCert: true,
        rejectUnauthorized: true
      })
      const files = yield* folder
      const names: unknown[] = []
      fake.answer = (_, response) => {
        names.push((response.socket as TLSSocket).getPeerCertificate().subject.CN)
        send(response, 200, {})
      }
      files.write("ca.crt", root.cert)
      files.write("c.crt", jane.cert)
      files.write("c.key", jane.key)
      const user = { "client-certificate": "c.crt", "client-key": "c.key" }
      const cluster = { server: fake.url, "certificate-authority": "ca.crt" }
      const connection = yield* connect(yield* read(files.write("k", config(cluster, user))))
      yield* ask(connection)
      files.write("c.crt", joe.cert)
      files.write("c.key", joe.key)
      yield* ask(connection)
      yield* TestClock.adjust("60 seconds")
      yield* ask(connection)
      yield* ask(connection)
      expect(names).toEqual(["jane", "jane", "joe", "joe"])
    })
  )

  effect("lets a watch run on while the pool is replaced, and closes it with the scope", () =>
    Effect.gen(function* () {
      const [ours, next] = [authority("ours"), authority("next")]
      const fake = yield* fakeServer(ours.certify("server"))
      const files = yield* folder
      files.write("ca.crt", ours.cert)
      const to = yield* read(
        files.write("k", config({ server: fake.url, "certificate-authority": "ca.crt" }, {}))
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* connect(to)
          fake.answer = (_, response) => response.write("first\n")
          const reply = yield* opened(connection)
          files.write("ca.crt", ours.cert + next.cert)
          yield* TestClock.adjust("60 seconds")
          fake.answer = (_, response) => response.end()
          yield* ask(connection)
          expect(fake.connections).toBe(2)
          for (const response of fake.open) response.write("second\n")
          let heard = ""
          reply.body.on("data", (part) => (heard += String(part)))
          yield* until("both lines", () => heard === "first\nsecond\n")
        })
      )
      yield* until("the end of all connections", () => fake.open.size === 0)
    })
  )

  live("closes a body that nobody reads with its scope, and goes on", () =>
    Effect.gen(function* () {
      const { fake, files } = yield* server
      const connection = yield* connect(yield* read(files.write("k", config({ server: fake.url }, {}))))
      fake.answer = (_, response) => response.write("first\n")
      const asked = opened(connection)
      expect((yield* Effect.scoped(asked)).status).toBe(200)
      yield* until("the end of the watch upstream", () => fake.open.size === 0)
      fake.answer = (_, response) => response.end()
      expect(yield* ask(connection)).toBe(200)
    })
  )

  live("runs an exec plugin once, with its protocol, and again when the server refuses what it said", () =>
    Effect.gen(function* () {
      const { fake, files } = yield* server
      const script = files.write(
        "plugin.mjs",
        `import { appendFileSync, readFileSync } from "node:fs"
         const log = ${JSON.stringify(join(files.path, "log"))}
         appendFileSync(log, process.env.KUBERNETES_EXEC_INFO + "\\n")
         const n = readFileSync(log, "utf8").split("\\n").length - 1
         console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential",
           status: { token: "t" + n } }))`
      )
      const exec = {
        apiVersion: "client.authentication.k8s.io/v1",
        command: process.execPath,
        args: [script]
      }
      const connection = yield* connect(yield* read(files.write("k", config({ server: fake.url }, { exec }))))
      yield* Effect.all([ask(connection), ask(connection), ask(connection)], { concurrency: 3 })
      expect(tokens(fake)).toEqual(["Bearer t1", "Bearer t1", "Bearer t1"])
      fake.answer = ({ headers }, response) =>
        send(response, headers.authorization === "Bearer t1" ? 401 : 200, {})
      const codes = yield* Effect.all([ask(connection), ask(connection)], { concurrency: 2 })
      expect(codes).toEqual([200, 200])
      expect(tokens(fake).at(-1)).toBe("Bearer t2")
      const { readFileSync } = yield* Effect.promise(() => import("node:fs"))
      const log = readFileSync(join(files.path, "log"), "utf8").trim().split("\n")
      expect(log.map((one) => JSON.parse(one) as unknown)).toEqual([
        {
          kind: "ExecCredential",
          apiVersion: "client.authentication.k8s.io/v1",
          spec: { interactive: false }
        },
        {
          kind: "ExecCredential",
          apiVersion: "client.authentication.k8s.io/v1",
          spec: { interactive: false }
        }
      ])
    })
  )

  live("goes through the proxy of the kubeconfig", () =>
    Effect.gen(function* () {
      const { fake, files } = yield* server
      const cluster = { server: "http://cluster.invalid:8080", "proxy-url": fake.url }
      const connection = yield* connect(yield* read(files.write("k", config(cluster, { token: "t" }))))
      expect(yield* ask(connection)).toBe(200)
      expect(fake.heard[0]?.headers).toMatchObject({
        host: "cluster.invalid:8080",
        authorization: "Bearer t"
      })
    })
  )
})
