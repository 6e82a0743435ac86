/**
 * View, journal and selectors together: whatever upstream says in whatever order, a client that was told everything believes what deciding from scratch
 * gives. The truth is a list of worlds that the test itself keeps, over two namespaces with Services and slices of equal names.
 */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Board, type Feed, type ItemOf, NEEDED, READERS } from "../src/core/board.ts"
import type { Sink } from "../src/core/bytes.ts"
import type { Event } from "../src/core/journal.ts"
import { subject, type Thing } from "../src/core/cut.ts"
import { sent } from "../src/core/query.ts"
import { parts, restore } from "../src/core/snapshot.ts"
import type { Input } from "../src/core/store.ts"
import { runs } from "./runs.ts"
import { asIs, bytesOf, naive, objectOf, type Obj, without, type World } from "./sliced.ts"

const OWN = "n1"
const V1 = "discovery.k8s.io/v1"

/** What upstream holds, by key. */
interface Upstream {
  services: Map<string, Obj>
  slices: Map<string, Obj>
  nodes: Map<string, Obj>
  apiServer: Obj | undefined
}

type Act =
  | { readonly _tag: "Service" | "Slice"; readonly key: string; readonly object: Obj | undefined }
  | { readonly _tag: "Node"; readonly name: string; readonly labels: Obj | undefined }
  | { readonly _tag: "ApiServer"; readonly annotations: Obj | undefined }
  /** upstream's watch of a feed broke: what happened meanwhile is told by a list */
  | { readonly _tag: "Relist"; readonly during: readonly Act[] }
  | { readonly _tag: "Read"; readonly who: number; readonly most: number }
  | { readonly _tag: "Restart" }

/** The board, upstream as the test knows it, and all worlds so far. */
class Story {
  board = new Board(OWN, "1000", { count: 1000, bytes: 1_000_000 })
  readonly upstream: Upstream = {
    services: new Map(),
    slices: new Map(),
    nodes: new Map([[OWN, { zone: "a" }]]),
    apiServer: undefined
  }
  /** what was said of it so far, feed by feed */
  readonly said: Upstream = { services: new Map(), slices: new Map(), nodes: new Map(), apiServer: undefined }
  /** what is to be seen, by the revision at which it was so */
  truth: { readonly at: bigint; readonly seen: ReadonlyMap<string, Obj> }[] = []
  #revision = 0

  begin(): void {
    for (const feed of [...NEEDED, "EndpointSlice" as const]) this.list(feed)
    this.note()
  }

  /** A new process that was given what the last one kept; upstream is there again. */
  restart(during: readonly Act[]): void {
    const kept = (parts(this.board) ?? []).map(({ kind, objects }) => ({ kind, objects: [...objects] }))
    this.board = new Board(OWN, String(9_000_000 + this.#revision * 1000), { count: 1000, bytes: 1_000_000 })
    expect(restore(this.board, kept, asIs)).toHaveLength(5)
    this.truth = []
    this.note()
    for (const act of during) this.#learn(act)
    for (const feed of [...NEEDED, "EndpointSlice" as const]) this.list(feed)
    this.note()
  }

  act(act: Act): void {
    if (act._tag === "Relist") {
      for (const each of act.during) this.#learn(each)
      for (const feed of [...NEEDED, "EndpointSlice" as const]) this.list(feed)
    } else {
      const feed = FEED_OF[act._tag]
      if (feed === undefined) return
      const before = this.#objects(feed)
      this.#learn(act)
      const after = this.#objects(feed)
      this.#revision += 1
      for (const [key, object] of after)
        if (before.get(key) !== object) this.#take(feed, { _tag: "Changed", item: this.#item(feed, object) })
      for (const key of before.keys())
        if (!after.has(key)) this.#take(feed, { _tag: "Deleted", key, revision: String(this.#revision) })
      this.#say(feed)
      if (feed === "Node") this.#ownNode()
    }
    this.note()
  }

  list(feed: Feed): void {
    this.#revision += 1
    const items = [...this.#objects(feed).values()].map((object) => this.#item(feed, object))
    this.#take(feed, { _tag: "Listed", revision: String(this.#revision), items, unread: [] })
    this.#say(feed)
    if (this.truth.length > 0) this.note()
  }

  #say(feed: Feed): void {
    const { said, upstream } = this
    if (feed === "Service") said.services = new Map(upstream.services)
    if (feed === "EndpointSlice") said.slices = new Map(upstream.slices)
    if (feed === "ApiServer") said.apiServer = upstream.apiServer
    const own = (feed === "OwnNode" ? upstream : said).nodes.get(OWN)
    if (feed === "Node" || feed === "OwnNode") {
      const others = [...(feed === "Node" ? upstream : said).nodes].filter(([name]) => name !== OWN)
      said.nodes = new Map(own === undefined ? others : [...others, [OWN, own]])
    }
  }

  /** What a client must see from now on. */
  note(): void {
    this.truth.push({ at: BigInt(this.board.journal("EndpointSlice").head), seen: this.seen() })
  }

  /** From scratch, over parsed objects. */
  seen(): ReadonlyMap<string, Obj> {
    const { services, slices, nodes, apiServer } = this.said
    const world: World = { own: OWN, ownLabels: nodes.get(OWN), services, nodes, apiServer }
    const all = [...slices.values()]
    return new Map(
      [...slices].map(([key, object]) => [
        key,
        plain(localised(world, object, all) ?? without(object, naive(world, object, all)))
      ])
    )
  }

  #ownNode(): void {
    const labels = this.upstream.nodes.get(OWN)
    this.#revision += 1
    this.#say("OwnNode")
    if (labels !== undefined)
      this.#take("OwnNode", { _tag: "Changed", item: this.#item("OwnNode", nodeObject(OWN, labels)) })
  }

  #objects(feed: Feed): ReadonlyMap<string, Obj> {
    const { services, slices, nodes, apiServer } = this.upstream
    switch (feed) {
      case "Endpoints":
      case "Namespace":
      case "ServiceCIDR":
        return new Map()
      case "Service":
        return new Map(services)
      case "EndpointSlice":
        return new Map(slices)
      case "Node":
        return new Map([...nodes].map(([name, labels]) => [`/${name}`, nodeOf(name, labels)]))
      case "OwnNode": {
        const labels = nodes.get(OWN)
        return new Map(labels === undefined ? [] : [[`/${OWN}`, nodeOf(OWN, labels)]])
      }
      case "ApiServer":
        return new Map(apiServer === undefined ? [] : [["default/kubernetes", endpointsObject(apiServer)]])
    }
  }

  #learn(act: Act): void {
    const { services, slices, nodes } = this.upstream
    const keep = (map: Map<string, Obj>, key: string, value: Obj | undefined) =>
      value === undefined ? map.delete(key) : map.set(key, value)
    if (act._tag === "Service") keep(services, act.key, act.object)
    if (act._tag === "Slice") keep(slices, act.key, act.object)
    // This node's last labels stand when it is deleted.
    if (act._tag === "Node" && !(act.name === OWN && act.labels === undefined))
      keep(nodes, act.name, act.labels)
    if (act._tag === "ApiServer") this.upstream.apiServer = act.annotations
  }

  #item(feed: Feed, object: Obj): ItemOf<Feed> {
    const read = READERS[feed](bytesOf(stamped(object, String(this.#revision))), asIs)
    if ("_tag" in read) return expect.fail(read.message)
    return read
  }

  #take(feed: Feed, input: Input<ItemOf<Feed>>): void {
    this.board.take(feed, [input] as never)
  }
}

const FEED_OF: { readonly [tag in Act["_tag"]]?: Feed } = {
  Service: "Service",
  Slice: "EndpointSlice",
  Node: "Node",
  ApiServer: "ApiServer"
}

/** One object a label set: so that an unchanged node is the same object. */
const nodeObjects = new WeakMap<Obj, Map<string, Obj>>()
const nodeOf = (name: string, labels: Obj): Obj => {
  const made = nodeObjects.get(labels) ?? new Map<string, Obj>()
  nodeObjects.set(labels, made)
  const found = made.get(name) ?? nodeObject(name, labels)
  made.set(name, found)
  return found
}
const nodeObject = (name: string, labels: Obj): Obj => ({ metadata: { name, uid: `node-${name}`, labels } })
const endpointsObject = (annotations: Obj): Obj => ({
  metadata: { name: "kubernetes", namespace: "default", uid: "endpoints", annotations }
})

const stamped = (object: Obj, resourceVersion: string): Obj => ({
  ...object,
  metadata: { ...(object["metadata"] as Obj), resourceVersion }
})

/** What is compared of a slice: all but its revision, and managedFields, which nobody is shown. */
const plain = (object: Obj): Obj => {
  const { resourceVersion: _, managedFields: __, ...metadata } = object["metadata"] as Obj
  return JSON.parse(JSON.stringify({ ...object, kind: "EndpointSlice", apiVersion: V1, metadata })) as Obj
}

/** A slice of `default/kubernetes` where a local endpoint stands for it: told by the Endpoints' annotations, else by the Service's. */
const localised = (world: World, object: Obj, all: readonly Obj[]): Obj | undefined => {
  const metadata = (of: Obj | undefined) => (of?.["metadata"] ?? {}) as Obj
  const isOurs = (of: Obj): boolean =>
    metadata(of)["namespace"] === "default" &&
    ((metadata(of)["labels"] ?? {}) as Obj)["kubernetes.io/service-name"] === "kubernetes"
  if (!isOurs(object)) return undefined
  const says = (annotations: unknown): readonly [string, number] | undefined => {
    const of = (annotations ?? {}) as Obj
    const [ip, port] = [of["superedge.io/local-endpoint"], of["superedge.io/local-port"]]
    return typeof ip === "string" && typeof port === "string" ? [ip, Number(port)] : undefined
  }
  const here =
    says(world.apiServer) ?? says(metadata(world.services.get("default/kubernetes"))["annotations"])
  if (here === undefined) return undefined
  const [ip, port] = here
  const family = ip.includes(":") ? "IPv6" : "IPv4"
  const fit = all.filter((each) => isOurs(each) && each["addressType"] === family)
  const [holder] = fit.map((each) => String(metadata(each)["name"])).sort()
  if (holder === undefined) return undefined
  if (metadata(object)["name"] !== holder) return { ...object, endpoints: [] }
  return {
    ...object,
    endpoints: [{ addresses: [ip], conditions: { ready: true, serving: true, terminating: false } }],
    ports: [{ name: "https", protocol: "TCP", ...(object["ports"] as readonly Obj[])[0], port }]
  }
}

/** What a watcher of some slices believes, from what it was sent alone. */
class Client {
  readonly table = new Map<string, Obj>()
  cursor: string
  readonly #story: Story
  readonly #selects: (thing: Thing) => boolean

  constructor(story: Story, selects: (thing: Thing) => boolean) {
    this.#story = story
    this.#selects = selects
    const { revision, objects } = story.board.journal("EndpointSlice").list()
    this.cursor = revision
    for (const told of objects) if (selects(told.value)) this.#put(told.value, told.revision)
    this.holds()
  }

  read(most: number): void {
    const read = this.#story.board.journal("EndpointSlice").since(this.cursor, most)
    if (read._tag === "Expired") return expect.fail("a journal of a thousand events doesn't expire here")
    for (const event of read.events) this.#event(event)
    this.cursor = read.cursor
    this.holds()
  }

  /** What it believes is what is to be seen at its revision; between two worlds, each slice is as in the one or the other. */
  holds(): void {
    const at = BigInt(this.cursor)
    const { truth } = this.#story
    const next = truth.findIndex((world) => world.at >= at)
    const after = truth.findLast((world) => world.at === at)?.seen
    const mine = (seen: ReadonlyMap<string, Obj> | undefined): Map<string, Obj> =>
      new Map([...(seen ?? [])].filter(([, object]) => this.#selects(subjectOf(object))))
    if (after !== undefined) return expect(this.table).toEqual(mine(after)) as unknown as void
    const [before, then] = [mine(truth[next - 1]?.seen), mine(truth[next]?.seen)]
    for (const [key, object] of this.table) expect([before.get(key), then.get(key)]).toContainEqual(object)
  }

  #event(event: Event<Thing>): void {
    const told = sent(event, this.#selects)
    if (told === undefined) return
    expect([told.type, this.table.has(event.key)]).toEqual([told.type, told.type !== "ADDED"])
    if (told.type === "DELETED") this.table.delete(event.key)
    else this.#put(told.value, told.revision)
  }

  #put(thing: Thing, revision: string): void {
    const text: string[] = []
    const sink: Sink = {
      bytes: (from, start, end) => void text.push(new TextDecoder().decode(from.subarray(start, end))),
      text: (put) => void text.push(put)
    }
    this.#story.board.render("EndpointSlice", thing, revision, V1, sink)
    const object = objectOf(bytesOf(text.join("")))
    expect((object["metadata"] as Obj)["resourceVersion"]).toBe(revision)
    this.table.set(subject(thing).key, plain(object))
  }
}

/** A thing as a selector judges it, of an object of the truth. */
const subjectOf = (object: Obj): Thing => {
  const read = READERS.EndpointSlice(bytesOf(object), asIs)
  if ("_tag" in read) return expect.fail(read.message)
  return read
}

const SELECTORS: readonly ((thing: Thing) => boolean)[] = [
  () => true,
  (thing) => !Object.hasOwn(subject(thing).labels, "service.kubernetes.io/headless"),
  (thing) => subject(thing).namespace === "other"
]

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
        expect(kept.table).toEqual(before.table)
        story.restart(during)
        const after = new Client(story, () => true)
        expect(after.table).toEqual(story.seen())
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

  it("R140 looks, for one node's label among 1000 Services and 5000 slices, at the slices of that node's Services alone", () => {
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
    const seen = new Set(slices.filter(({ key }) => looked.has(key)).map((each) => each.service))
    expect(seen).toEqual(own)
    expect(own.size).toBeLessThan(20)
  })
})
