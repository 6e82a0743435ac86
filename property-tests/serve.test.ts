/** What clients of the wrapper hear on real sockets: lists, watches, watch-lists, and what is refused. */
import * as Effect from "effect/Effect"
import { connect } from "node:net"
import { describe, expect, it } from "vitest"
import { live, until } from "./effect.ts"
import { ask, names, node, nodesOf, type Obj, service, slice, SLICES, standing, watch } from "./served.ts"

const WATCH_LIST = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
const revisionOf = (body: { readonly [field: string]: unknown }): string =>
  String((body["metadata"] as { readonly resourceVersion?: string }).resourceVersion)

/** A board with a Service kept to its zone, and one that isn't. */
const begun = (...given: Parameters<typeof standing>) =>
  Effect.tap(standing(...given), (stand) =>
    Effect.sync(() => {
      stand.begin()
      stand.put("Service", service("web", '["zone"]'))
      stand.put("Service", service("all", undefined))
      stand.put("EndpointSlice", slice("web-1", "web", "n1", "n2", "n3"))
      stand.put("EndpointSlice", slice("all-1", "all", "n2", "n3"))
    })
  )

describe("list", () => {
  live(
    "R110 R118 R131 has kind, version and revision, and shows no more of one object or namespace than of all",
    () =>
      Effect.gen(function* () {
        const stand = yield* begun()
        for (const [path, kind, apiVersion] of [
          [SLICES, "EndpointSliceList", "discovery.k8s.io/v1"],
          ["/apis/discovery.k8s.io/v1beta1/endpointslices", "EndpointSliceList", "discovery.k8s.io/v1beta1"],
          ["/api/v1/services", "ServiceList", "v1"],
          ["/api/v1/endpoints", "EndpointsList", "v1"],
          ["/api/v1/namespaces", "NamespaceList", "v1"],
          ["/api/v1/nodes?fieldSelector=metadata.name%3Dn1", "NodeList", "v1"]
        ] as const) {
          const { status, headers, body } = yield* ask(stand, path)
          expect([path, status, headers["content-type"]]).toEqual([path, 200, "application/json"])
          expect(body).toMatchObject({ kind, apiVersion })
          expect(revisionOf(body)).toMatch(/^[1-9]\d*$/)
        }
        const listed = yield* ask(stand, `${SLICES}?limit=500&resourceVersion=0`)
        expect(names(listed)).toEqual(["all-1", "web-1"])
        const web = (listed.body["items"] as readonly Obj[]).find(({ metadata }) => metadata.name === "web-1")
        expect(nodesOf(web)).toEqual(["n1", "n2"])
        expect(
          (yield* ask(stand, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/web-1")).body
        ).toEqual(web)
        const there = yield* ask(stand, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices")
        expect(there.body["items"]).toEqual(listed.body["items"])
        expect(names(yield* ask(stand, "/apis/discovery.k8s.io/v1/namespaces/other/endpointslices"))).toEqual(
          []
        )
        expect(
          yield* ask(stand, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/none")
        ).toMatchObject({
          status: 404,
          body: { kind: "Status", reason: "NotFound", code: 404 }
        })
      })
  )

  live("R112 is told 410 for a revision that this process never gave, and then works without one", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      const head = revisionOf((yield* ask(stand, SLICES)).body)
      for (const revision of ["17", String(BigInt(head) + 1n), "9".repeat(18)])
        expect(yield* ask(stand, `${SLICES}?resourceVersion=${revision}`)).toMatchObject({
          status: 410,
          body: { kind: "Status", reason: "Expired", code: 410 }
        })
      expect((yield* ask(stand, `${SLICES}?resourceVersion=${head}`)).status).toBe(200)
      expect((yield* ask(stand, `${SLICES}?resourceVersion=`)).status).toBe(200)
      expect((yield* ask(stand, `${SLICES}?continue=abc&limit=5`)).status).toBe(410)
    })
  )

  live("gives ten thousand objects whole to a client that reads slowly, as they were when it asked", () =>
    Effect.gen(function* () {
      const stand = yield* standing()
      stand.begin()
      const many = Array.from({ length: 10_000 }, (_, i) => slice(`s-${i}`, "all", "n2"))
      stand.put("Service", service("all", undefined))
      stand.list("EndpointSlice", ...many)
      const asked = yield* Effect.fork(ask(stand, SLICES))
      yield* until("the list to begin", () => stand.begun.length > 0)
      for (let i = 0; i < 100; i++) stand.gone("EndpointSlice", `default/s-${i}`)
      const answer = yield* Effect.fromFiber(asked)
      expect([(answer.body["items"] as readonly Obj[]).length, revisionOf(answer.body)]).toEqual([
        10_000,
        "15000"
      ])
    })
  )
})

describe("watch", () => {
  live("P7 R111 tells what changed between the list and the watch, and then what changes", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      const head = revisionOf((yield* ask(stand, SLICES)).body)
      stand.gone("EndpointSlice", "default/all-1")
      stand.put("EndpointSlice", slice("web-1", "web", "n3", "n2"))
      const open = yield* watch(stand, `&resourceVersion=${head}`)
      stand.put("EndpointSlice", slice("web-2", "web", "n3"))
      yield* until("three lines", () => open.lines.length === 3)
      expect(open.told).toEqual(["DELETED all-1", "MODIFIED web-1", "ADDED web-2"])
      expect(open.lines.map(({ object }) => nodesOf(object))).toEqual([["n2", "n3"], ["n2"], []])
      expect(open.lines.map(({ object }) => object.metadata["resourceVersion"])).toEqual(
        [1n, 2n, 3n].map((n) => String(BigInt(head) + n))
      )
    })
  )

  live("R112 is told 410 where it resumes at a revision of another process", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      const open = yield* watch(stand, "&resourceVersion=4711")
      expect(open.status).toBe(410)
    })
  )

  live("R116 of a watch-list gets all, the mark, and then what changes; also of an empty collection", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      const full = yield* watch(stand, WATCH_LIST)
      const empty = yield* watch(stand, WATCH_LIST, "/api/v1/endpoints")
      yield* until("the marks", () => full.lines.length === 3 && empty.lines.length === 1)
      expect(full.told.slice(0, 2).toSorted()).toEqual(["ADDED all-1", "ADDED web-1"])
      for (const [{ lines }, kind, apiVersion] of [
        [full, "EndpointSlice", "discovery.k8s.io/v1"],
        [empty, "Endpoints", "v1"]
      ] as const)
        expect(lines.at(-1)).toMatchObject({
          type: "BOOKMARK",
          object: { kind, apiVersion, metadata: { annotations: { "k8s.io/initial-events-end": "true" } } }
        })
      stand.put("EndpointSlice", slice("web-1", "web", "n1"))
      yield* until("the change", () => full.lines.length === 4)
      expect(full.told.at(-1)).toBe("MODIFIED web-1")
    })
  )

  live("R115 of a quiet kind gets bookmarks, none ahead of an event", () =>
    Effect.gen(function* () {
      const stand = yield* begun({ pace: { hold: 1000, bookmark: 30 } })
      const head = revisionOf((yield* ask(stand, SLICES)).body)
      const open = yield* watch(stand, `&allowWatchBookmarks=true&resourceVersion=${head}`)
      const plain = yield* watch(stand, `&resourceVersion=${head}`)
      yield* until("a bookmark", () => open.lines.length > 0)
      expect(open.lines[0]).toEqual({
        type: "BOOKMARK",
        object: {
          kind: "EndpointSlice",
          apiVersion: "discovery.k8s.io/v1",
          metadata: { resourceVersion: head }
        }
      })
      stand.put("EndpointSlice", slice("web-1", "web", "n1"))
      const next = String(BigInt(head) + 1n)
      const at = (type: string) =>
        open.lines.findIndex((line) => line.type === type && line.object.metadata["resourceVersion"] === next)
      yield* until("a later bookmark", () => at("BOOKMARK") >= 0)
      expect(at("MODIFIED")).toBeLessThan(at("BOOKMARK"))
      expect(at("MODIFIED")).toBeGreaterThanOrEqual(0)
      expect(plain.lines.map(({ type }) => type)).toEqual(["MODIFIED"])
    })
  )

  live("R117 tells who selects by label of what leaves and enters the selection", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      const head = revisionOf((yield* ask(stand, SLICES)).body)
      const open = yield* watch(
        stand,
        `&labelSelector=kubernetes.io/service-name%3Dweb&resourceVersion=${head}`
      )
      const one = yield* watch(stand, `&fieldSelector=metadata.name%3Dall-1&resourceVersion=${head}`)
      stand.put("EndpointSlice", slice("all-1", "web", "n1"))
      stand.put("EndpointSlice", slice("all-1", "all", "n1"))
      stand.put("EndpointSlice", slice("web-1", "web", "n1"))
      yield* until("three lines and two", () => open.lines.length === 3 && one.lines.length === 2)
      expect(open.told).toEqual(["ADDED all-1", "DELETED all-1", "MODIFIED web-1"])
      expect(one.told).toEqual(["MODIFIED all-1", "MODIFIED all-1"])
    })
  )

  live("R124 R125 R126 R127 tells of exactly what a node's label, its own, and a rule change", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      const head = revisionOf((yield* ask(stand, SLICES)).body)
      const open = yield* watch(stand, `&resourceVersion=${head}`)
      const told: (readonly [string, readonly unknown[]])[] = []
      const next = (count: number) =>
        Effect.gen(function* () {
          yield* until(`${count} lines`, () => open.lines.length >= told.length + count)
          for (const { type, object } of open.lines.slice(told.length))
            told.push([`${type} ${String(object.metadata["name"])}`, nodesOf(object)])
          return told.slice(-count)
        })
      stand.put("Node", node("n2", "b"))
      expect(yield* next(1)).toEqual([["MODIFIED web-1", ["n1"]]])
      stand.put("OwnNode", node("n1", "b"))
      expect(yield* next(1)).toEqual([["MODIFIED web-1", ["n1", "n2", "n3"]]])
      stand.put("OwnNode", { ...node("n1", "b"), status: { beat: 1 } })
      stand.put("Node", node("n3", "b"))
      stand.put("Service", service("all", undefined))
      stand.put("Service", service("all", '["zone","*"]'))
      stand.put("Service", service("web", '["kubernetes.io/hostname"]'))
      expect(yield* next(1)).toEqual([["MODIFIED web-1", ["n1"]]])
      expect(told).toHaveLength(3)
      expect(names(yield* ask(stand, SLICES))).toEqual(["all-1", "web-1"])
    })
  )

  live(
    "P12 R114 is told 410 where its client reads nothing, while others hear every event and nothing is kept for it",
    () =>
      Effect.gen(function* () {
        const stand = yield* begun({}, { count: 50, bytes: 100_000 })
        const head = revisionOf((yield* ask(stand, SLICES)).body)
        const slow = yield* watch(stand, `&resourceVersion=${head}`, SLICES, false)
        const quick = yield* watch(stand, `&resourceVersion=${head}`)
        const wide = Array.from({ length: 200 }, () => "n1")
        for (let i = 0; i < 1500; i++) {
          stand.put("EndpointSlice", slice("web-1", "web", ...wide, ...(i % 2 === 0 ? ["n2"] : [])))
          if (i % 5 === 0) yield* until("the quick one", () => quick.lines.length === i + 1)
        }
        yield* until("all events", () => quick.lines.length === 1500)
        expect(stand.board.journal("EndpointSlice").kept.bytes).toBeLessThanOrEqual(100_000)
        slow.read()
        yield* until("the end of the slow one", () => slow.ended)
        const revisions = slow.lines
          .slice(0, -1)
          .map(({ object }) => BigInt(String(object.metadata["resourceVersion"])))
        expect(revisions).toEqual(revisions.map((_, i) => BigInt(head) + BigInt(i) + 1n))
        expect(revisions.length).toBeLessThan(1500)
        expect(slow.lines.at(-1)).toMatchObject({
          type: "ERROR",
          object: { kind: "Status", reason: "Expired", code: 410 }
        })
      })
  )

  live("tells all that is behind a list on one connection, however late its client reads", () =>
    Effect.gen(function* () {
      const stand = yield* begun({}, { count: 2000, bytes: 200_000_000 })
      const head = revisionOf((yield* ask(stand, SLICES)).body)
      const socket = connect(stand.port, "127.0.0.1").pause()
      yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
      const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: wrapper\r\n\r\n`
      // Both at once: the watch has no socket of its own yet when it begins.
      socket.write(get(SLICES) + get(`${SLICES}?watch=true&resourceVersion=${head}`))
      const wide = Array.from({ length: 200 }, () => "n1")
      yield* until("the watch", () => stand.lines.some(({ how }) => how === "list"))
      for (let i = 0; i < 1500; i++) {
        stand.put("EndpointSlice", slice("web-1", "web", ...wide, ...(i % 2 === 0 ? ["n2"] : [])))
        if (i % 20 === 0) yield* Effect.sleep(0)
      }
      let events = 0
      let rest = ""
      socket.on("data", (part: Buffer) => {
        const lines = (rest + part.toString("latin1")).split('{"type":"MODIFIED"')
        events += lines.length - 1
        rest = (lines.at(-1) ?? "").slice(-20)
      })
      socket.resume()
      yield* until("all events", () => events === 1500)
    })
  )

  live("ends at its timeout, as the API server's does", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      const open = yield* watch(stand, `${WATCH_LIST}&timeoutSeconds=1`)
      yield* until("the end", () => open.ended)
      expect(open.lines.at(-1)?.type).toBe("BOOKMARK")
    })
  )

  live("R130 leaves nothing behind when it is closed, two hundred times", () =>
    Effect.gen(function* () {
      const stand = yield* begun({ mostWatches: 3 })
      for (let i = 0; i < 200; i++) {
        const open = yield* watch(stand, WATCH_LIST)
        expect(open.status).toBe(200)
        open.stop()
        yield* until("its end", () => stand.lines.filter(({ how }) => how === "watch").length === i + 1)
      }
    })
  )

  live("P12 is told 429 where as many are open as may be", () =>
    Effect.gen(function* () {
      const stand = yield* begun({ mostWatches: 2 })
      yield* watch(stand, WATCH_LIST)
      yield* watch(stand, WATCH_LIST)
      expect(yield* ask(stand, `${SLICES}?watch=true${WATCH_LIST}`)).toMatchObject({
        status: 429,
        headers: { "retry-after": "5" },
        body: { kind: "Status", reason: "TooManyRequests" }
      })
    })
  )
})

describe("before all is known", () => {
  live("R122 R123 requests wait, and are told 503 with Retry-After and what is waited for", () =>
    Effect.gen(function* () {
      const stand = yield* standing({ pace: { hold: 50, bookmark: 60_000 } })
      for (const feed of ["Service", "ApiServer", "EndpointSlice"] as const) stand.list(feed)
      stand.list("Node", node("n2", "a"))
      stand.list("OwnNode")
      for (const path of [SLICES, `${SLICES}?watch=true`, "/api/v1/services"])
        expect(yield* ask(stand, path)).toMatchObject({
          status: 503,
          headers: { "retry-after": "1" },
          body: {
            kind: "Status",
            message: "this node's view is not complete yet; it waits for this node itself"
          }
        })
      expect((yield* ask(stand, "/api/v1/nodes/n1")).status).toBe(299)
    })
  )

  live("R122 a request that waits is answered as soon as the last of it is there, never half", () =>
    Effect.gen(function* () {
      const stand = yield* standing()
      const asked = yield* Effect.fork(ask(stand, SLICES))
      const opened = yield* Effect.fork(watch(stand, WATCH_LIST))
      yield* until("both to wait", () => stand.begun.length === 2)
      stand.list("EndpointSlice", slice("web-1", "web", "n2", "n3"))
      stand.list("Node", node("n2", "a"), node("n3", "b"))
      stand.list("OwnNode", node("n1", "a"))
      stand.list("ApiServer")
      stand.list("Service", service("web", '["zone"]'))
      const listed = yield* Effect.fromFiber(asked)
      const open = yield* Effect.fromFiber(opened)
      yield* until("the mark", () => open.lines.length === 2)
      const [first] = listed.body["items"] as readonly Obj[]
      expect([nodesOf(first), nodesOf(open.lines[0]?.object)]).toEqual([["n2"], ["n2"]])
    })
  )

  it("P9 shows nothing of a kind that nobody has asked for yet, but begins it", () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const stand = yield* begun()
          yield* ask(stand, "/api/v1/endpoints")
          expect(stand.begun).toEqual(["Endpoints"])
        })
      )
    ))
})

describe("everything else", () => {
  live("R119 R120 R133 goes upstream, and what would be unfiltered never does", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      for (const path of [
        "/api/v1/servicesfoo",
        "/api/v1/endpointsx",
        "/api/v1/pods",
        "/version",
        "/api/v1/nodes",
        "/api/v1/nodes/n1/status"
      ])
        expect([path, (yield* ask(stand, path)).text]).toEqual([path, "upstream's"])
      const before = stand.forwarded.length
      for (const path of [
        `/${SLICES}`,
        `${SLICES}/`,
        "/apis/discovery.k8s.io/v1/%65ndpointslices",
        "/api/v1/./endpoints",
        "/api/v1/watch/endpoints?timeoutSeconds=1"
      ])
        expect([path, (yield* ask(stand, path)).status]).toEqual([path, 200])
      for (const method of ["PUT", "PATCH", "DELETE"])
        expect((yield* ask(stand, "/api/v1/namespaces/default/endpoints/web", { method })).status).toBe(405)
      expect(stand.forwarded).toHaveLength(before)
    })
  )

  live("R131 answers in a type that was asked for, else 406", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      const status = (accept: string) =>
        Effect.map(ask(stand, SLICES, { headers: { accept } }), (answer) => answer.status)
      expect(yield* status("application/vnd.kubernetes.protobuf, */*")).toBe(200)
      expect(yield* status("application/vnd.kubernetes.protobuf,application/json")).toBe(200)
      expect(yield* status("application/json;as=Table;v=v1;g=meta.k8s.io,application/json")).toBe(200)
      expect(yield* status("application/json;as=Table;v=v1;g=meta.k8s.io")).toBe(406)
      expect(yield* status("text/html")).toBe(406)
    })
  )

  live("P9 refuses a watch over an upgraded connection, which nobody would filter", () =>
    Effect.gen(function* () {
      const stand = yield* begun()
      const socket = connect(stand.port, "127.0.0.1")
      let heard = ""
      socket.on("data", (part) => (heard += part.toString()))
      socket.write(
        `GET ${SLICES}?watch=true HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
      )
      yield* until("an answer", () => heard.includes("\r\n\r\n"))
      expect([heard.split("\r\n")[0], stand.forwarded]).toEqual(["HTTP/1.1 406 NotAcceptable", []])
      socket.destroy()
    })
  )
})
