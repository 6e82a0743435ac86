/** View, journal and selectors together: whatever upstream says in whatever order, a client that was told everything believes what deciding from scratch gives. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Board } from "../src/core/board.ts"
import { type Feed, type ItemOf, READERS } from "../src/core/feed.ts"
import { parts } from "../src/core/snapshot.ts"
import { type Act, Client, nodeObject, OWN, SELECTORS, stamped, Story } from "./boarded.ts"
import { same } from "./given.ts"
import type { Obj } from "./naive.ts"
import { runs } from "./runs.ts"
import { asIs, bytesOf } from "./sliced.ts"

// ---- anything

const space = fc.constantFrom("default", "default", "other")
const labels = fc.record(
  {
    zone: fc.constantFrom("a", "b"),
    rack: fc.constantFrom("r", "s"),
    "kubernetes.io/hostname": fc.constantFrom("h1", "h2")
  },
  { requiredKeys: [] }
)
const LOCAL = fc.constantFrom("127.0.0.1", "fd00::1").map((ip) => ({
  "superedge.io/local-endpoint": ip,
  "superedge.io/local-port": "51003"
}))
const annotations = fc.oneof(
  fc.constantFrom<Obj>(
    {},
    { topologyKeys: '["zone"]' },
    { topologyKeys: '["rack","zone"]' },
    { topologyKeys: '["zone","*"]' },
    { topologyKeys: "broken" },
    { topologyKeys: '["zone"]', "superedge.io/headless-scope": "unit" }
  ),
  LOCAL
)
const service: fc.Arbitrary<Act> = fc
  .tuple(
    space,
    fc.constantFrom("s1", "s1", "s2", "kubernetes"),
    fc.option(annotations, { freq: 6, nil: undefined }),
    fc.boolean()
  )
  .map(([namespace, name, says, headless]) => ({
    _tag: "Service",
    key: `${namespace}/${name}`,
    object: says && {
      metadata: { name, namespace, uid: `service-${name}`, annotations: says },
      spec: { clusterIP: headless ? "None" : "10.0.0.1" }
    }
  }))
const endpoint = fc.record(
  {
    addresses: fc.constant(["10.0.0.1"]),
    nodeName: fc.constantFrom("n1", "n2", "n3", "n4"),
    deprecatedTopology: fc.constantFrom(
      { "kubernetes.io/hostname": "h1" },
      { "kubernetes.io/hostname": "h2" }
    ),
    conditions: fc.record({ ready: fc.boolean(), serving: fc.boolean() }, { requiredKeys: [] })
  },
  { requiredKeys: ["addresses"] }
)
const slice: fc.Arbitrary<Act> = fc
  .record({
    namespace: space,
    name: fc.constantFrom("x1", "x2", "x3"),
    uid: fc.constantFrom("u1", "u1", "u1", "u2"),
    service: fc.constantFrom("s1", "s1", "s2", "kubernetes", undefined),
    headless: fc.constantFrom(undefined, undefined, ""),
    addressType: fc.constantFrom("IPv4", "IPv4", "IPv6"),
    endpoints: fc.array(endpoint, { maxLength: 4 }),
    managed: fc.boolean(),
    gone: fc.constantFrom(false, false, false, false, true)
  })
  .map(({ namespace, name, uid, service: of, headless, addressType, endpoints, managed, gone }) => ({
    _tag: "Slice",
    key: `${namespace}/${name}`,
    object: gone
      ? undefined
      : {
          metadata: {
            name,
            ...(managed && { managedFields: [{ manager: "m", fieldsV1: { "f:endpoints": {} } }] }),
            namespace,
            uid: `${namespace}-${name}-${uid}`,
            labels: JSON.parse(
              JSON.stringify({ "kubernetes.io/service-name": of, "service.kubernetes.io/headless": headless })
            ) as Obj
          },
          addressType,
          endpoints,
          ports: [{ name: "", port: 80, protocol: "TCP" }]
        }
  }))
const node: fc.Arbitrary<Act> = fc
  .tuple(fc.constantFrom(OWN, "n2", "n3", "n4"), fc.option(labels, { freq: 5, nil: undefined }))
  .map(([name, given]) => ({ _tag: "Node", name, labels: given }))
const apiServer: fc.Arbitrary<Act> = fc
  .option(LOCAL, { nil: undefined })
  .map((given) => ({ _tag: "ApiServer", annotations: given }))
const change = fc.oneof(
  { weight: 3, arbitrary: service },
  { weight: 6, arbitrary: slice },
  { weight: 3, arbitrary: node },
  { weight: 1, arbitrary: apiServer }
)
const relist: fc.Arbitrary<Act> = fc
  .array(change, { maxLength: 4 })
  .map((during) => ({ _tag: "Relist", during }))
const read: fc.Arbitrary<Act> = fc.record({
  _tag: fc.constant("Read" as const),
  who: fc.nat(2),
  most: fc.integer({ min: 1, max: 5 })
})
const act = fc.oneof(
  { weight: 10, arbitrary: change },
  { weight: 1, arbitrary: relist },
  { weight: 6, arbitrary: read }
)

describe("Board", () => {
  it("P7 P8 P9 R109 R111 R117 lets three clients believe what deciding from scratch gives, after any story", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 25 }), (acts) => {
        const story = new Story()
        story.begin()
        const clients = SELECTORS.map((selects) => new Client(story, selects))
        for (const each of acts)
          if (each._tag === "Read") clients[each.who]?.read(each.most)
          else story.act(each)
        for (const client of clients) {
          client.read(1000)
          expect(client.cursor).toBe(story.board.journal("EndpointSlice").head)
        }
      }),
      runs(10_000)
    )
  })

  it("P10 R137 R139 shows what was kept, and after the first list exactly what is there", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 10 }), fc.array(change, { maxLength: 6 }), (acts, during) => {
        const story = new Story()
        story.begin()
        for (const each of acts) story.act(each)
        const before = new Client(story, () => true)
        story.restart([])
        const kept = new Client(story, () => true)
        same(kept.table, before.table)
        story.restart(during)
        const after = new Client(story, () => true)
        same(after.table, story.seen())
      }),
      runs(2000)
    )
  })

  it("R139 tells exactly the differences to what was kept", () => {
    const story = new Story()
    story.begin()
    const put = (name: string, nodeName: string): Act => ({
      _tag: "Slice",
      key: `default/${name}`,
      object: {
        metadata: { name, namespace: "default", uid: name, labels: {} },
        addressType: "IPv4",
        endpoints: [{ nodeName }],
        ports: []
      }
    })
    for (const name of ["same", "changed", "gone"]) story.act(put(name, "n1"))
    story.restart([
      put("changed", "n2"),
      { _tag: "Slice", key: "default/gone", object: undefined },
      put("new", "n1")
    ])
    const [first] = story.truth
    const read = story.board.journal("EndpointSlice").since(String(first?.at), 100)
    const told = read._tag === "Read" ? read.events : expect.fail("nothing of it may be gone")
    expect(told.map(({ key, before, after }) => `${key} ${before && "was"} ${after && "is"}`).sort()).toEqual(
      ["default/changed was is", "default/gone was undefined", "default/new undefined is"]
    )
  })

  it("R122 waits for this node itself, and for each feed that decides", () => {
    const story = new Story()
    const { board } = story
    expect(board.waitsFor("EndpointSlice")).toEqual([
      "OwnNode",
      "Node",
      "Service",
      "ApiServer",
      "EndpointSlice"
    ])
    for (const feed of ["Node", "Service", "ApiServer", "EndpointSlice"] as const) story.list(feed)
    expect(board.waitsFor("EndpointSlice")).toEqual(["OwnNode"])
    expect(board.waitsFor("Endpoints")).toEqual(["OwnNode", "Endpoints"])
    story.upstream.nodes.delete(OWN)
    story.list("OwnNode")
    expect([board.waitsFor("Node"), parts(board)]).toEqual([["OwnNode"], undefined])
  })

  it("R87 R106 keeps an unheard-of Service's slices closed, a kept one to its zone, and one without a rule open", () => {
    const story = new Story()
    story.begin()
    story.act({ _tag: "Node", name: "n2", labels: { zone: "a" } })
    story.act({ _tag: "Node", name: "n3", labels: { zone: "b" } })
    const of = (namespace: string, service: string): Act => ({
      _tag: "Slice",
      key: `${namespace}/${service}-x`,
      object: {
        metadata: {
          name: `${service}-x`,
          namespace,
          uid: service,
          labels: { "kubernetes.io/service-name": service }
        },
        addressType: "IPv4",
        endpoints: ["n2", "n3"].map((nodeName) => ({ addresses: ["10.0.0.1"], nodeName })),
        ports: []
      }
    })
    const says = (namespace: string, name: string, given: Obj): Act => ({
      _tag: "Service",
      key: `${namespace}/${name}`,
      object: {
        metadata: { name, namespace, uid: name, annotations: given },
        spec: { clusterIP: "10.0.0.1" }
      }
    })
    story.act(of("kube-system", "edge-coredns"))
    story.act(of("kube-system", "kube-dns"))
    const nodes = () =>
      [...new Client(story, () => true).table].map(([key, object]) => [
        key,
        (object["endpoints"] as readonly Obj[]).map((each) => each["nodeName"])
      ])
    expect(nodes()).toEqual([
      ["kube-system/edge-coredns-x", []],
      ["kube-system/kube-dns-x", []]
    ])
    story.act(says("kube-system", "edge-coredns", { topologyKeys: '["zone"]' }))
    story.act(says("kube-system", "kube-dns", {}))
    expect(nodes()).toEqual([
      ["kube-system/edge-coredns-x", ["n2"]],
      ["kube-system/kube-dns-x", ["n2", "n3"]]
    ])
  })

  it("R140 decides, for one node's label among 1000 Services and 5000 slices, on the slices of that node's Services alone", () => {
    const looked = new Map<string, number>()
    const board = new Board(OWN, "1000", { count: 10, bytes: 1000 })
    const read = <F extends Feed>(feed: F, object: Obj): ItemOf<F> => {
      const found = READERS[feed](bytesOf(stamped(object, "5")), asIs)
      return "_tag" in found ? expect.fail(found.message) : found
    }
    const list = <F extends Feed>(feed: F, objects: readonly ItemOf<F>[]) =>
      board.take(feed, [{ _tag: "Listed", revision: "9", items: objects, unread: [] }])
    const nodes = Array.from({ length: 1000 }, (_, i) => nodeObject(`n${i + 1}`, { zone: `z${i % 10}` }))
    list("OwnNode", [read("OwnNode", nodeObject(OWN, { zone: "z0" }))])
    list(
      "Node",
      nodes.map((each) => read("Node", each))
    )
    list("ApiServer", [])
    const service = (i: number): Obj => ({
      metadata: {
        name: `s${i}`,
        namespace: "default",
        uid: `s${i}`,
        annotations: { topologyKeys: '["zone"]' }
      }
    })
    list(
      "Service",
      Array.from({ length: 1000 }, (_, i) => read("Service", service(i)))
    )
    const slices = Array.from({ length: 5000 }, (_, i) => {
      const of = read("EndpointSlice", {
        metadata: {
          name: `x${i}`,
          namespace: "default",
          uid: `x${i}`,
          labels: { "kubernetes.io/service-name": `s${i % 1000}` }
        },
        addressType: "IPv4",
        endpoints: [{ nodeName: `n${(i % 1000) + 1}` }, { nodeName: `n${((i * 7) % 1000) + 1}` }]
      })
      return new Proxy(of, {
        get: (target, field, receiver) => {
          if (field === "endpoints") looked.set(target.key, (looked.get(target.key) ?? 0) + 1)
          return Reflect.get(target, field, receiver) as unknown
        }
      })
    })
    list("EndpointSlice", slices)
    // A start costs so much a slice, not so much for each slice and Service.
    expect(looked.size).toBe(5000)
    expect(Math.max(...looked.values())).toBeLessThan(60)
    const moved = { ...read("Node", nodeObject("n12", { zone: "z0" })), revision: "12" }
    board.take("Node", [{ _tag: "Changed", item: moved }])
    const own = new Set(
      slices
        .filter(({ endpoints }) => endpoints.some((each) => each.node === "n12"))
        .map((each) => each.service)
    )
    looked.clear()
    board.take("Node", [{ _tag: "Changed", item: { ...moved, revision: "13", labels: { zone: "z1" } } }])
    // A glance at each shows where its endpoints are; to decide on them takes more.
    const decided = slices.filter(({ key }) => (looked.get(key) ?? 0) > 1)
    expect(new Set(decided.map((each) => each.service))).toEqual(own)
    expect(own.size).toBeLessThan(20)
  })
})
