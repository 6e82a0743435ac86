/** The wrapper as a whole, before an embedded cluster that goes away: what is shown meanwhile, and what is told afterwards. */
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { parse } from "yaml"
import { Relay } from "../src/commands/demo/relay.ts"
import { live, until } from "./effect.ts"
import { carry, type Change, head, shown } from "./followed.ts"
import { type Answer, ask, names, SLICES, watch } from "./served.ts"
import { begun, shows } from "./tale.ts"
import { altering, type Cloud, metric, type Wrapper, wrapper } from "./wrapped.ts"

/** What is shown at first: n1 and n2 are in zone a, n3 is in b, and web is kept to its zone. */
const FIRST = { "all-1": "10.0.2.0 10.0.3.1", "web-1": "10.0.1.0 10.0.2.1" }

describe("wrap", () => {
  live(
    "P10 R113 R136 R137 R139 serves what it saw last without upstream, across its restart too, and then tells the differences",
    () =>
      Effect.gen(function* () {
        const over = yield* begun()
        // While it is cut, connections to it are refused.
        const way = yield* Effect.orDie(Relay.to(Number(new URL(over.api.url).port)))
        const first = yield* before(over, way.url)
        expect(yield* shown(first)).toEqual(FIRST)
        const revision = yield* head(first)
        const open = yield* watch(first, `&resourceVersion=${revision}`)
        yield* until("a snapshot", () => snapshot(over).includes("all-1"))

        yield* way.cut()
        yield* until("the trouble", () => /^trouble with EndpointSlice/m.test(report(first).lines.join("\n")))
        expect(yield* shown(first)).toEqual(FIRST)
        expect([open.ended, open.lines, report(first).ready]).toEqual([false, [], true])
        yield* first.stop

        const second = yield* before(over, way.url)
        expect(yield* shown(second)).toEqual(FIRST)
        const own = yield* ask(second, "/api/v1/nodes/n1")
        expect(own.body).toMatchObject({ kind: "Node", metadata: { name: "n1" } })
        expect(report(second).ready).toBe(true)
        expect((yield* watch(second, `&resourceVersion=${revision}`)).status).toBe(410)
        const resumed = yield* watch(second, `&resourceVersion=${yield* head(second)}`)

        for (const each of [slice("web-1", "n3 n1"), slice("all-1", undefined), slice("web-2", "n2")])
          carry(over, each)
        yield* Effect.orDie(way.mend())
        yield* until("the differences", () => resumed.lines.length === 3)
        expect(resumed.told.toSorted()).toEqual(["ADDED web-2", "DELETED all-1", "MODIFIED web-1"])
        expect(yield* shown(second)).toEqual({ "web-1": "10.0.1.1", "web-2": "10.0.2.0" })
      })
  )

  live("R128 tells of what was deleted while the watch was broken", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* before(over)
      const open = yield* watch(at, `&resourceVersion=${yield* head(at)}`)
      over.away()
      carry(over, slice("all-1", undefined))
      carry(over, { plural: "services", name: "web", says: undefined })
      over.relay.calm()
      yield* until("both", () => open.lines.length === 2)
      expect(open.told.toSorted()).toEqual(["DELETED all-1", "MODIFIED web-1"])
      // The Service is gone: nothing of it is known, so nothing on other nodes is shown.
      expect(yield* shown(at)).toEqual({ "web-1": "10.0.1.0" })
    })
  )

  live("R107 goes on by the last labels of this node when it is deleted, and takes those of a new one", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* before(over)
      expect(yield* shown(at)).toEqual(FIRST)
      carry(over, ownNode(undefined))
      yield* until("the metric", () => metric("servicegroup_own_node_deleted") === 1)
      carry(over, slice("web-1", "n2 n3 n1"))
      yield* shows(at, { ...FIRST, "web-1": "10.0.2.0 10.0.1.2" })
      carry(over, ownNode("b"))
      yield* shows(at, { ...FIRST, "web-1": "10.0.3.1 10.0.1.2" })
      yield* until("the metric, back", () => metric("servicegroup_own_node_deleted") === 0)
    })
  )

  live("R123 says which Node is missing, and shows nothing before it is there", () =>
    Effect.gen(function* () {
      const over = yield* begun(ownNode(undefined))
      const at = yield* before(over)
      const words = "there is no Node named n1: --node-name"
      yield* until("the words", () => report(at).lines.some((line) => line.includes(words)))
      yield* until("the metric", () => metric("servicegroup_own_node_missing") === 1)
      expect(report(at).ready).toBe(false)
      const asked = yield* Effect.fork(ask(at, SLICES))
      carry(over, ownNode("b"))
      expect(names(yield* Effect.fromFiber(asked))).toEqual(["all-1", "kubernetes", "web-1"])
      expect(yield* shown(at)).toEqual({ ...FIRST, "web-1": "10.0.1.0 10.0.3.2" })
      yield* until("readiness", () => report(at).ready)
    })
  )

  live("R137 R153 gives short names to clients of DNS alone, without upstream and across a restart too", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      named(over, "a")
      const way = yield* Effect.orDie(Relay.to(Number(new URL(over.api.url).port)))
      const begin = wrapper({
        url: way.url,
        folder: over.folder,
        snapshot: true,
        more: { dnsListen: { host: "127.0.0.1", port: 0, text: "127.0.0.1:0" } }
      })
      const first = yield* begin
      yield* until("names", () => report(first).ready)
      const dns = { port: first.dnsPort }
      expect(hosts(yield* ask(dns, SLICES))).toEqual({ "db-x": "db-a-0 db-b-0", "db-x~short": "db-0" })
      expect(hosts(yield* ask(first, SLICES))).toEqual({ "db-x": "db-a-0 db-b-0" })
      expect((yield* ask(dns, "/api/v1/namespaces/default/endpoints")).status).toBe(200)
      const open = yield* watch(dns, `&resourceVersion=${yield* head(dns)}`)
      over.put("endpointslices", dbSlice(["db-a-1", "db-b-0"]))
      yield* until("both slices", () => open.lines.length === 2)
      expect(open.told).toEqual(["MODIFIED db-x", "MODIFIED db-x~short"])
      yield* until("a snapshot", () => snapshot(over).includes("StatefulSetGrid"))
      yield* until("a snapshot, later", () => snapshot(over).includes("db-a-1"))

      yield* way.cut()
      yield* first.stop
      const second = yield* begin
      expect(hosts(yield* ask({ port: second.dnsPort }, SLICES))).toEqual({
        "db-x": "db-a-1 db-b-0",
        "db-x~short": "db-1"
      })
    })
  )

  live("P11 keeps a malformed slice as it was seen last, and all others as they are", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      // No API server stores such a slice; one that lost its mind would send it.
      const wrong = yield* altering(over.relay.server, {
        meet: (path) => ({ path }),
        line: (text) => text.replaceAll('"nodeName":"n7"', '"nodeName":7')
      })
      const at = yield* before(over, wrong.url)
      expect(yield* shown(at)).toEqual(FIRST)
      carry(over, slice("web-1", "n7 n1"))
      carry(over, slice("all-1", "n2"))
      yield* shows(at, { ...FIRST, "all-1": "10.0.2.0" })
    })
  )
})

/** A StatefulSetGrid `db` over the units of `zone` with a set of one of them, and its headless Service. */
const named = (over: Cloud, unit: string): void => {
  over.put("customresourcedefinitions", parse(readFileSync(CRD, "utf8")) as object)
  over.put("services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "db" },
    spec: { clusterIP: "None", ports: [{ port: 80 }] }
  })
  const template = { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "c", image: "i" }] } }
  const set = { serviceName: "db", selector: { matchLabels: { app: "db" } }, template }
  over.put("statefulsetgrids", {
    apiVersion: "superedge.io/v1",
    kind: "StatefulSetGrid",
    metadata: { name: "db" },
    spec: { gridUniqKey: "zone", template: set }
  })
  const grid = over.api.request({ method: "GET", path: GRID, query: {} }).body
  const { uid } = (grid as { readonly metadata: { readonly uid: string } }).metadata
  over.put("statefulsets", {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      name: `db-${unit}`,
      labels: { "superedge.io/grid-selector": "db" },
      annotations: { "superedge.io/grid-key": "zone", "superedge.io/unit": unit },
      ownerReferences: [
        { apiVersion: "superedge.io/v1", kind: "StatefulSetGrid", name: "db", uid, controller: true }
      ]
    },
    spec: set
  })
  over.put("endpointslices", dbSlice(["db-a-0", "db-b-0"]))
}
const CRD = new URL("../manifests/crds/statefulsetgrids.yaml", import.meta.url)
const GRID = "/apis/superedge.io/v1/namespaces/default/statefulsetgrids/db"

const dbSlice = (pods: readonly string[]) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: {
    name: "db-x",
    labels: { "kubernetes.io/service-name": "db", "service.kubernetes.io/headless": "" }
  },
  addressType: "IPv4",
  endpoints: pods.map((hostname, i) => ({
    addresses: [`10.0.9.${i}`],
    hostname,
    conditions: { ready: true }
  })),
  ports: [{ name: "", port: 80, protocol: "TCP" }]
})

/** The host names of each slice that has some. */
const hosts = ({ body }: Answer): { readonly [slice: string]: string } =>
  Object.fromEntries(
    ((body["items"] ?? []) as ReturnType<typeof dbSlice>[]).flatMap(({ metadata, endpoints }) => {
      const all = endpoints.flatMap(({ hostname }: { readonly hostname?: string }) => hostname ?? [])
      return all.length === 0 ? [] : [[metadata.name, all.join(" ")]]
    })
  )

const slice = (name: string, says: string | undefined): Change => ({ plural: "endpointslices", name, says })
const ownNode = (says: string | undefined): Change => ({ plural: "nodes", name: "n1", says })

/** A wrapper before that cluster, with a snapshot. */
const before = (over: Cloud, url = over.relay.server) => wrapper({ url, folder: over.folder, snapshot: true })

const report = ({ readiness }: Wrapper) => Effect.runSync(readiness.report)

const snapshot = ({ folder }: Cloud): string => {
  try {
    return readFileSync(join(folder, "kept", "snapshot"), "utf8")
  } catch {
    return ""
  }
}
