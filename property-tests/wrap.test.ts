/** The wrapper as a whole, before an embedded cluster that it reaches through a relay which can be cut. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { Relay } from "../src/commands/demo/relay.ts"
import { embedded } from "../src/embedded/server.ts"
import { Readiness, type ReadinessService } from "../src/shell/health.ts"
import { wrap } from "../src/shell/wrap.ts"
import type { WrapperSettings } from "../src/shell/wrapper-settings.ts"
import { live, until } from "./effect.ts"
import { freePort } from "./free-port.ts"
import { ask, names, node, nodesOf, type Obj, service, slice, SLICES, type Stand, watch } from "./served.ts"

const SNAPSHOT_S = 1

describe("wrap", () => {
  live(
    "P10 R113 R136 R137 R139 serves what it saw last without upstream, across its restart too, and then tells the differences",
    () =>
      Effect.gen(function* () {
        const cloud = yield* clouded
        const first = yield* cloud.wrapper
        expect(yield* shown(first)).toEqual({ "all-1": ["n2", "n3"], "web-1": ["n1", "n2"] })
        const head = revisionOf((yield* ask(first, SLICES)).body)
        const open = yield* watch(first, `&resourceVersion=${head}`)
        yield* until("a snapshot", () => cloud.snapshot().includes("all-1"))

        yield* cloud.relay.cut()
        yield* until("the trouble", () =>
          first.report().some((line) => line.startsWith("trouble with EndpointSlice"))
        )
        expect(yield* shown(first)).toEqual({ "all-1": ["n2", "n3"], "web-1": ["n1", "n2"] })
        expect([open.ended, open.lines, first.ready()]).toEqual([false, [], true])
        yield* first.stop

        const second = yield* cloud.wrapper
        expect(yield* shown(second)).toEqual({ "all-1": ["n2", "n3"], "web-1": ["n1", "n2"] })
        expect((yield* ask(second, "/api/v1/nodes/n1")).body).toMatchObject({
          kind: "Node",
          metadata: { name: "n1" }
        })
        expect(second.ready()).toBe(true)
        expect((yield* watch(second, `&resourceVersion=${head}`)).status).toBe(410)
        const again = revisionOf((yield* ask(second, SLICES)).body)
        const resumed = yield* watch(second, `&resourceVersion=${again}`)

        cloud.put(slicePath("web-1"), slice("web-1", "web", "n3", "n1"))
        cloud.remove(slicePath("all-1"))
        cloud.post(SLICES_IN, slice("web-2", "web", "n2"))
        yield* cloud.relay.mend().pipe(Effect.orDie)
        yield* until("the differences", () => resumed.lines.length === 3)
        expect(resumed.told.toSorted()).toEqual(["ADDED web-2", "DELETED all-1", "MODIFIED web-1"])
        expect(yield* shown(second)).toEqual({ "web-1": ["n1"], "web-2": ["n2"] })
      })
  )

  live("R128 tells of what was deleted while the watch was broken", () =>
    Effect.gen(function* () {
      const cloud = yield* clouded
      const stand = yield* cloud.wrapper
      const open = yield* watch(stand, `&resourceVersion=${revisionOf((yield* ask(stand, SLICES)).body)}`)
      yield* cloud.relay.cut()
      cloud.remove(slicePath("all-1"))
      cloud.remove("/api/v1/namespaces/default/services/web")
      yield* cloud.relay.mend().pipe(Effect.orDie)
      yield* until("both", () => open.lines.length === 2)
      expect(open.told.toSorted()).toEqual(["DELETED all-1", "MODIFIED web-1"])
      // The Service is gone: nothing of it is known, so nothing on other nodes is shown.
      expect(yield* shown(stand)).toEqual({ "web-1": ["n1"] })
    })
  )

  live("R107 goes on by the last labels of this node when it is deleted, and takes those of a new one", () =>
    Effect.gen(function* () {
      const cloud = yield* clouded
      const stand = yield* cloud.wrapper
      cloud.remove("/api/v1/nodes/n1")
      cloud.put(slicePath("web-1"), slice("web-1", "web", "n2", "n3", "n1"))
      yield* untilShown(stand, { "all-1": ["n2", "n3"], "web-1": ["n2", "n1"] })
      cloud.post("/api/v1/nodes", node("n1", "b"))
      yield* untilShown(stand, { "all-1": ["n2", "n3"], "web-1": ["n3", "n1"] })
    })
  )

  live("R123 says which Node is missing, and shows nothing before it is there", () =>
    Effect.gen(function* () {
      const cloud = yield* clouded
      cloud.remove("/api/v1/nodes/n1")
      const stand = yield* cloud.wrapper
      yield* until("the words", () =>
        stand.report().some((line) => line.includes("there is no Node named n1: --node-name"))
      )
      expect(stand.ready()).toBe(false)
      const asked = yield* Effect.fork(ask(stand, SLICES))
      cloud.post("/api/v1/nodes", node("n1", "b"))
      expect(names(yield* Effect.fromFiber(asked))).toEqual(["all-1", "kubernetes", "web-1"])
      expect(yield* shown(stand)).toEqual({ "all-1": ["n2", "n3"], "web-1": ["n1", "n3"] })
      yield* until("readiness", stand.ready)
    })
  )

  live("P11 keeps a malformed slice as it was seen last, and all others as they are", () =>
    Effect.gen(function* () {
      const cloud = yield* clouded
      const stand = yield* cloud.wrapper
      yield* untilShown(stand, { "all-1": ["n2", "n3"], "web-1": ["n1", "n2"] })
      // No API server stores such a slice; one that lost its mind would send it.
      cloud.spoil = (line) =>
        line.replace('"addresses":["10.0.0.0"],"nodeName":"n3"', '"addresses":["10.0.0.0"],"nodeName":7')
      cloud.put(slicePath("web-1"), slice("web-1", "web", "n3", "n1"))
      cloud.put(slicePath("all-1"), slice("all-1", "all", "n2"))
      yield* untilShown(stand, { "all-1": ["n2"], "web-1": ["n1", "n2"] })
    })
  )
})

// ---- a cluster, the way to it, and wrappers in front of it

const SLICES_IN = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
const slicePath = (name: string): string => `${SLICES_IN}/${name}`
const revisionOf = (body: { readonly [field: string]: unknown }): string =>
  String((body["metadata"] as { readonly resourceVersion?: string }).resourceVersion)

/** Slices of our Services and the nodes of their endpoints. */
const shown = (stand: Stand) =>
  Effect.map(ask(stand, SLICES), ({ body }) => shownIn((body["items"] ?? []) as readonly Obj[]))

const shownIn = (items: readonly Obj[]) =>
  Object.fromEntries(
    items
      .filter(({ metadata }) => metadata.name !== "kubernetes")
      .map((each) => [each.metadata.name, nodesOf(each)] as const)
  )

const untilShown = (stand: Stand, wanted: Readonly<Record<string, readonly string[]>>) =>
  Effect.gen(function* () {
    let now: unknown
    for (let i = 0; i < 100; i++) {
      now = yield* shown(stand)
      if (JSON.stringify(sortedKeys(now as object)) === JSON.stringify(sortedKeys(wanted))) return
      yield* Effect.sleep(50)
    }
    expect(now).toEqual(wanted)
  })
const sortedKeys = (object: object): unknown =>
  Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1))

interface Wrapped extends Stand {
  readonly ready: () => boolean
  readonly report: () => readonly string[]
  readonly stop: Effect.Effect<void>
}

/** Three nodes in zones a, a and b; a Service that is kept to its zone, and one that isn't. */
const clouded = Effect.gen(function* () {
  const cluster = yield* embedded({ port: 0, controllers: [] })
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "wrap-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const send = (method: "POST" | "PUT" | "DELETE", path: string, body: unknown): void => {
    const { code, body: answer } = cluster.request({
      method,
      path,
      query: {},
      contentType: "application/json",
      body
    })
    if (code >= 300) throw new Error(JSON.stringify(answer))
  }
  const cloud = {
    spoil: (line: string) => line,
    post: (path: string, object: Obj) => send("POST", path, typed(object)),
    put: (path: string, object: Obj) => send("PUT", path, typed(object)),
    remove: (path: string) => send("DELETE", path, undefined)
  }
  for (const each of [node("n1", "a"), node("n2", "a"), node("n3", "b")]) cloud.post("/api/v1/nodes", each)
  for (const [name, keys] of [
    ["web", '["zone"]'],
    ["all", undefined]
  ] as const)
    cloud.post("/api/v1/namespaces/default/services", {
      ...service(name, keys),
      spec: { ports: [{ port: 80 }] }
    })
  cloud.post(SLICES_IN, slice("web-1", "web", "n1", "n2", "n3"))
  cloud.post(SLICES_IN, slice("all-1", "all", "n2", "n3"))
  const passing = yield* passed(cluster.url, (line) => cloud.spoil(line))
  const relay = yield* Effect.orDie(Relay.to(passing))
  const kubeconfig = join(folder, "kubeconfig")
  writeFileSync(kubeconfig, configOf(relay.url))
  return Object.assign(cloud, {
    relay,
    snapshot: () => read(join(folder, "snapshot", "snapshot")),
    wrapper: wrapped({ kubeconfig, folder: join(folder, "snapshot") })
  })
})

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const typed = (object: Obj): Obj => {
  const kind = "endpoints" in object ? "EndpointSlice" : "spec" in object ? "Service" : "Node"
  return { kind, apiVersion: kind === "EndpointSlice" ? "discovery.k8s.io/v1" : "v1", ...object }
}

/** Passes on what upstream says, with lines spoilt. */
const passed = (url: string, spoil: (text: string) => string) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((done) => {
      const server = createServer((request, response) => {
        void fetch(url + (request.url ?? ""), { headers: { accept: request.headers.accept ?? "*/*" } })
          .then(
            async (answer) => {
              response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
              response.flushHeaders()
              for await (const part of answer.body ?? []) response.write(spoil(Buffer.from(part).toString()))
              response.end()
            },
            () => response.destroy()
          )
          .catch(() => response.destroy())
      })
      server.listen(0, "127.0.0.1", () => done(Effect.succeed(server)))
    }),
    (server) =>
      Effect.async<void>((done) => {
        server.close(() => done(Effect.void))
        server.closeAllConnections()
      })
  ).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

const configOf = (server: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c"
  })

/** A wrapper until it is stopped, or the test ends. */
const wrapped = (o: { readonly kubeconfig: string; readonly folder: string }) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const listen = { host: "127.0.0.1", port, text: `127.0.0.1:${port}` }
    const settings: WrapperSettings = {
      access: { kubeconfig: o.kubeconfig, context: "" },
      node: "n1",
      listen,
      tlsCert: "",
      tlsKey: "",
      tlsClientCa: "",
      snapshot: o.folder,
      snapshotInterval: SNAPSHOT_S,
      relistInterval: 600,
      mostWatches: 100,
      logRequests: false,
      profile: undefined,
      healthAddress: undefined,
      logFormat: "text"
    }
    const scope = yield* Scope.fork(yield* Effect.scope, {
      _tag: "Sequential",
      strategy: "Sequential"
    } as never)
    const readiness: ReadinessService = yield* Effect.provide(Readiness, Readiness.layer)
    yield* Effect.forkIn(
      wrap(settings).pipe(
        Effect.provideService(Readiness, readiness),
        Effect.provideService(Scope.Scope, scope)
      ),
      scope
    )
    const stand = { port } as Stand
    let listening = false
    yield* until("the port", () => {
      void fetch(`http://127.0.0.1:${port}/version`).then(
        (answer) => {
          listening = true
          return answer.text()
        },
        () => undefined
      )
      return listening
    })
    return Object.assign(stand, {
      ready: () => Effect.runSync(readiness.report).ready,
      report: () => Effect.runSync(readiness.report).lines,
      stop: Scope.close(scope, Exit.void)
    }) satisfies Wrapped
  })
