/** The serving form of names that stay in the unit: slices that clients who make names of endpoints are shown besides. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Board, type Showing } from "../src/core/board.ts"
import { subject, type Thing } from "../src/core/cut.ts"
import type { EndpointSlice } from "../src/core/endpoints.ts"
import { reachable } from "../src/core/explain.ts"
import { type Feed, type ItemOf, NAMING, NEEDED, READERS } from "../src/core/feed.ts"
import type { StatefulSetGrid } from "../src/core/grid.ts"
import type { Event } from "../src/core/journal.ts"
import type { Service, StatefulSet } from "../src/core/kube.ts"
import { names } from "../src/core/names.ts"
import { parts, restore } from "../src/core/snapshot.ts"
import { nodeObject, OWN, stamped, V1 } from "./boarded.ts"
import { runs } from "./runs.ts"
import type { Obj } from "./naive.ts"
import { asIs, bytesOf } from "./sliced.ts"

const BOUNDS = { count: 1000, bytes: 10_000_000 }
const HEADLESS = "service.kubernetes.io/headless"
const SERVICE = "kubernetes.io/service-name"

type Objects = ReadonlyMap<string, Obj>
/** What upstream holds. */
interface Upstream {
  readonly StatefulSetGrid: Map<string, Obj>
  readonly StatefulSet: Map<string, Obj>
  readonly EndpointSlice: Map<string, Obj>
  readonly Service: Map<string, Obj>
  zone: string
}
type Kind = Exclude<keyof Upstream, "zone">

type Act =
  | { readonly _tag: "Put"; readonly kind: Kind; readonly object: Obj }
  | { readonly _tag: "Gone"; readonly kind: Kind; readonly key: string }
  | { readonly _tag: "Zone"; readonly zone: string }

const keyOf = (object: Obj): string => {
  const { namespace, name } = object["metadata"] as { readonly namespace: string; readonly name: string }
  return `${namespace}/${name}`
}

/** A board beside upstream as the test knows it, and a client of DNS that believes the events it is sent. */
class Story {
  board: Board
  readonly upstream: Upstream = {
    StatefulSetGrid: new Map(),
    StatefulSet: new Map(),
    EndpointSlice: new Map(),
    Service: new Map(),
    zone: "a"
  }
  #revision = 10
  #cursor = "1000"
  readonly #table = new Map<string, Thing>()

  /** `annotations`: of all Services */
  constructor(annotations: object = {}) {
    this.board = new Board(OWN, "1000", BOUNDS, { naming: true })
    this.#list()
    for (const object of servicesWith(annotations)) this.act({ _tag: "Put", kind: "Service", object })
  }

  act(act: Act): void {
    this.#revision += 1
    if (act._tag === "Zone") {
      this.upstream.zone = act.zone
      this.#take("OwnNode", {
        _tag: "Changed",
        item: this.#item("OwnNode", nodeObject(OWN, zoned(act.zone)))
      })
    } else if (act._tag === "Put") {
      this.upstream[act.kind].set(keyOf(act.object), act.object)
      this.#take(act.kind, { _tag: "Changed", item: this.#item(act.kind, act.object) })
    } else if (this.upstream[act.kind].delete(act.key))
      this.#take(act.kind, { _tag: "Deleted", key: act.key, revision: String(this.#revision) })
    this.#read()
  }

  /** A new process, which was given what the last one kept, and knows no upstream yet. */
  restart(): void {
    const kept = (parts(this.board) ?? []).map(({ kind, objects }) => ({ kind, objects: [...objects] }))
    this.board = new Board(OWN, "2000000", BOUNDS, { naming: true })
    restore(this.board, kept, asIs)
    this.#table.clear()
    this.#cursor = naming(this.board).journal("EndpointSlice").head
    for (const { value } of naming(this.board).journal("EndpointSlice").list().objects)
      this.#table.set(subject(value).key, value)
  }

  /** What the client holds, as it was sent. */
  get slices(): readonly EndpointSlice[] {
    return [...this.#table.values()].map((thing) => {
      const text: string[] = []
      naming(this.board).render("EndpointSlice", thing, "1", V1, {
        bytes: (from, start, end) => void text.push(new TextDecoder().decode(from.subarray(start, end))),
        text: (put) => void text.push(put)
      })
      return JSON.parse(text.join("")) as EndpointSlice
    })
  }

  /** What the daemon makes of the same. */
  get names(): ReadonlyMap<string, readonly string[]> {
    const all = <A>(objects: Objects): readonly A[] => [...objects.values()] as unknown as readonly A[]
    const slices = all<EndpointSlice>(this.upstream.EndpointSlice)
    const found = names({
      grids: all<StatefulSetGrid>(this.upstream.StatefulSetGrid),
      sets: all<StatefulSet>(this.upstream.StatefulSet),
      services: slices.map(({ metadata }) => ({
        metadata: { name: metadata.labels?.[SERVICE] ?? "", namespace: metadata.namespace ?? "" },
        spec: { clusterIP: "None" }
      })),
      slices,
      node: { metadata: { name: OWN, labels: zoned(this.upstream.zone) } },
      clusterDomain: "d"
    })
    return new Map(found.map(({ name, addresses }) => [name, addresses]))
  }

  /** Upstream's slices, by Service. */
  get byService(): ReadonlyMap<string, readonly EndpointSlice[]> {
    const all = [...this.upstream.EndpointSlice.values()] as unknown as readonly EndpointSlice[]
    return Map.groupBy(all, serviceOf)
  }

  /** What this node may use of a Service's slices, from scratch. */
  reachable(service: string, slices: readonly EndpointSlice[]): readonly EndpointSlice[] {
    const node = { metadata: { name: OWN, labels: zoned(this.upstream.zone) } }
    const others = ["a", "b"].map((zone) => ({ metadata: { name: `n-${zone}`, labels: { zone } } }))
    return reachable({
      service: this.upstream.Service.get(service) as unknown as Service,
      slices,
      node,
      nodes: new Map([node, ...others].map((each) => [each.metadata.name, each]))
    })
  }

  #list(): void {
    this.#take("OwnNode", {
      _tag: "Listed",
      revision: "5",
      items: [this.#item("OwnNode", nodeObject(OWN, zoned("a")))],
      unread: []
    })
    const nodes = ["a", "b"].map((zone) => this.#item("Node", nodeObject(`n-${zone}`, { zone })))
    for (const feed of [...NEEDED.slice(1), "EndpointSlice" as const, ...NAMING])
      this.#take(feed, { _tag: "Listed", revision: "5", items: feed === "Node" ? nodes : [], unread: [] })
  }

  #read(): void {
    const read = naming(this.board).journal("EndpointSlice").since(this.#cursor, 1000)
    if (read._tag === "Expired") return expect.fail("expired")
    for (const event of read.events) this.#event(event)
    this.#cursor = read.cursor
  }

  #event({ key, before, after }: Event<Thing>): void {
    expect(this.#table.get(key)).toBe(before)
    if (after === undefined) this.#table.delete(key)
    else this.#table.set(key, after)
  }

  #item(feed: Feed, object: Obj): ItemOf<Feed> {
    const read = READERS[feed](bytesOf(stamped(object, String(this.#revision))), asIs)
    if ("_tag" in read) return expect.fail(read.message)
    return read
  }

  #take(feed: Feed, input: unknown): void {
    this.board.take(feed, [input] as never)
  }
}

/** What clients that make names are shown. */
const naming = (board: Board): Showing => board.named ?? expect.fail("the board shows nobody names")

const zoned = (zone: string): { readonly [label: string]: string } =>
  zone === "" ? { rack: "r" } : { zone, rack: "r" }

/** What CoreDNS answers from slices: host name and Service to the addresses of ready endpoints. */
const answers = (slices: readonly EndpointSlice[]): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, Set<string>>()
  for (const { metadata, endpoints } of slices)
    for (const { hostname, addresses, conditions } of endpoints ?? []) {
      if (hostname === undefined || conditions?.ready === false) continue
      const name = `${hostname}.${metadata.labels?.[SERVICE]}.${metadata.namespace}.svc.d`
      found.set(name, new Set([...(found.get(name) ?? []), ...(addresses ?? [])]))
    }
  return new Map([...found].map(([name, all]) => [name, [...all].sort()]))
}

const GRIDS = ["web", "web-a", "a"] as const
const SERVICES = ["svc", "svc2"] as const
const NAMESPACES = ["default", "other"] as const

const grid = fc.record({
  name: fc.constantFrom(...GRIDS),
  namespace: fc.constantFrom("default", "default", "other"),
  turn: fc.constantFrom(0, 0, 0, 1),
  taken: fc.nat(5).map((n) => n === 0),
  key: fc.constantFrom("zone", "zone", "zone", "rack")
})
const gridObject = ({
  name,
  namespace,
  turn,
  taken,
  key
}: typeof grid extends fc.Arbitrary<infer G> ? G : never): Obj => ({
  metadata: { name, namespace, uid: `${name}-${namespace}-${turn}` },
  spec: { gridUniqKey: key },
  status: { conditions: [{ type: "ShortNames", status: taken ? "False" : "True" }] }
})

const setOf = fc
  .record({
    of: grid,
    unit: fc.constantFrom("a", "a", "b", "r"),
    service: fc.constantFrom("svc", "svc", "svc", "svc2", "nope"),
    hashed: fc.nat(3).map((n) => n === 0),
    foreign: fc.nat(5).map((n) => n === 0)
  })
  .map(({ of, unit, service, hashed, foreign }) => ({
    metadata: {
      name: foreign ? of.name : `${of.name}-${hashed ? `0${unit}9f` : unit}`,
      namespace: of.namespace,
      uid: "set",
      annotations: { "superedge.io/grid-key": of.key, "superedge.io/unit": unit },
      ...(!foreign && {
        ownerReferences: [
          { uid: "someone", controller: false },
          { uid: `${of.name}-${of.namespace}-${of.turn}`, controller: true }
        ]
      })
    },
    spec: { serviceName: service }
  }))

/** The set of a unit of a grid that is in `zone`, on Service `svc`. */
const setObject = (name: string, unit: string): Obj => ({
  metadata: {
    name: `${name}-${unit}`,
    namespace: "default",
    uid: "set",
    annotations: { "superedge.io/grid-key": "zone", "superedge.io/unit": unit },
    ownerReferences: [{ uid: `${name}-default-0`, controller: true }]
  },
  spec: { serviceName: "svc" }
})

/** Some pods are on nodes of other units: nobody but the scheduler keeps them from it. */
const endpoint = fc
  .record({
    grid: fc.constantFrom(...GRIDS),
    unit: fc.constantFrom("-a", "-a", "-b", "-r", "-0a9f", ""),
    ordinal: fc.constantFrom(0, 1, 10),
    ready: fc.constantFrom(true, true, false, undefined),
    address: fc.nat(200),
    on: fc.constantFrom("n-a", "n-b", undefined)
  })
  .map(({ grid: of, unit, ordinal, ready, address, on }) => ({
    addresses: [`10.0.0.${address}`],
    hostname: `${of}${unit}-${ordinal}`,
    ...(on !== undefined && { nodeName: on }),
    conditions: ready === undefined ? {} : { ready },
    targetRef: { kind: "Pod", name: `${of}${unit}-${ordinal}` }
  }))

const sliceOf = fc
  .record({
    n: fc.nat(2),
    service: fc.constantFrom("svc", "svc", "svc2"),
    namespace: fc.constantFrom("default", "default", "other"),
    endpoints: fc.array(fc.oneof(endpoint, fc.constant({ addresses: ["10.9.9.9"] })), { maxLength: 5 }),
    uid: fc.nat(1),
    family: fc.constantFrom("IPv4", "IPv4", "IPv4", "IPv6", "FQDN")
  })
  .map(({ n, service, namespace, endpoints, uid, family }) => ({
    metadata: {
      name: `x${n}`,
      namespace,
      uid: `x${n}-${uid}`,
      labels: { [SERVICE]: service, [HEADLESS]: "" }
    },
    addressType: family,
    endpoints,
    ports: [{ name: "http", port: 80 }]
  }))

/** The headless Services of all namespaces. */
const servicesWith = (annotations: object): readonly Obj[] =>
  NAMESPACES.flatMap((namespace) =>
    SERVICES.map((name) => ({
      metadata: { name, namespace, uid: name, annotations },
      spec: { clusterIP: "None" }
    }))
  )

const put =
  (kind: Kind) =>
  (object: Obj): Act => ({ _tag: "Put", kind, object })
const gone = (kind: Kind, all: readonly string[]): fc.Arbitrary<Act> =>
  fc.constantFrom(...all).map((name) => ({ _tag: "Gone", kind, key: `default/${name}` }))

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: grid.map(gridObject).map(put("StatefulSetGrid")) },
  { weight: 6, arbitrary: setOf.map(put("StatefulSet")) },
  { weight: 8, arbitrary: sliceOf.map(put("EndpointSlice")) },
  { weight: 1, arbitrary: gone("StatefulSetGrid", GRIDS) },
  { weight: 2, arbitrary: gone("StatefulSet", ["web", "web-a", "a-a", "web-0a9f"]) },
  { weight: 2, arbitrary: gone("EndpointSlice", ["x0", "x1", "x2"]) },
  { weight: 2, arbitrary: fc.constantFrom("a", "b", "").map((zone): Act => ({ _tag: "Zone", zone })) }
)

const SCOPED = { topologyKeys: '["zone"]', "superedge.io/headless-scope": "unit" }

const serviceOf = ({ metadata }: EndpointSlice): string =>
  `${metadata.namespace}/${metadata.labels?.[SERVICE]}`
const isOf =
  (service: string) =>
  (slice: EndpointSlice): boolean =>
    serviceOf(slice) === service

/** What a Service's own name is answered with: the addresses of all ready endpoints. */
const addressesOf = (slices: readonly EndpointSlice[]): readonly string[] => {
  const ready = slices.flatMap(({ endpoints }) =>
    (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false)
  )
  return [...new Set(ready.flatMap(({ addresses }) => addresses ?? []))].sort()
}

const isShort = ({ metadata }: EndpointSlice): boolean => metadata.name.endsWith("~short")

/** R154, of the story's client: upstream's names as upstream has them, and besides the short ones that the daemon writes. */
const agrees = (story: Story): void => {
  const all = [...story.upstream.EndpointSlice.values()] as unknown as readonly EndpointSlice[]
  // Slices of FQDNs lead to no pod: names are neither made of them nor taken by them.
  const upstream = all.filter(isAddressed)
  const daemon = story.names
  const served = answers(story.slices.filter(isAddressed))
  for (const [name, addresses] of answers(upstream))
    expect([name, served.get(name)]).toEqual([name, addresses])
  const short = answers(story.slices.filter(isShort))
  const taken = new Set(
    upstream.flatMap(({ metadata, endpoints }) =>
      (endpoints ?? []).map(
        ({ hostname }) => `${hostname}.${metadata.labels?.[SERVICE]}.${metadata.namespace}.svc.d`
      )
    )
  )
  const added = new Map([...daemon].filter(([name]) => !taken.has(name)))
  expect(new Map(short)).toEqual(added)
  for (const [name, addresses] of daemon) expect([name, served.get(name)]).toEqual([name, addresses])
}

const isAddressed = ({ addressType }: EndpointSlice): boolean => addressType !== "FQDN"

/** A cluster in which each unit has a pod of the grid `web`, told in any order, and what happens to it. */
const BASE: readonly Act[] = [
  put("StatefulSetGrid")(
    gridObject({ name: "web", namespace: "default", turn: 0, taken: false, key: "zone" })
  ),
  ...["a", "b"].map((unit) => put("StatefulSet")(setObject("web", unit))),
  put("EndpointSlice")({
    metadata: { name: "x0", namespace: "default", uid: "x0-0", labels: { [SERVICE]: "svc", [HEADLESS]: "" } },
    addressType: "IPv4",
    endpoints: ["a", "b"].flatMap((unit, i) =>
      [0, 1].map((ordinal) => ({
        addresses: [`10.0.${i}.${ordinal}`],
        hostname: `web-${unit}-${ordinal}`,
        nodeName: `n-${unit}`
      }))
    )
  })
]
const story = fc
  .tuple(fc.shuffledSubarray([...BASE], { minLength: 3 }), fc.array(act, { maxLength: 20 }))
  .map(([base, acts]) => [...base, ...acts])

/** A slice of a Service with pods by name and node. */
const webSlice = (service: string, pods: readonly (readonly [string, string])[]): Obj => ({
  metadata: { name: "x0", namespace: "default", uid: "x0-0", labels: { [SERVICE]: service, [HEADLESS]: "" } },
  addressType: "IPv4",
  endpoints: pods.map(([hostname, nodeName], i) => ({ addresses: [`10.0.0.${i}`], hostname, nodeName }))
})

const shortNames = (told: Story): readonly unknown[] =>
  told.slices.filter(isShort).flatMap(({ endpoints }) => (endpoints ?? []).map(({ hostname }) => hostname))

describe("short slices", () => {
  it("R153 R154 give, after each event of any story, the names that the daemon writes, and take none away", () => {
    const shown: boolean[] = []
    fc.assert(
      fc.property(story, fc.boolean(), (acts, again) => {
        const told = new Story()
        for (const each of acts) {
          told.act(each)
          agrees(told)
        }
        shown.push(told.slices.some(isShort))
        if (!again) return
        told.restart()
        agrees(told)
      }),
      runs(3000)
    )
    expect(shown.filter((any) => any).length).toBeGreaterThan(shown.length / 8)
  })

  it("P7 leave the Service's name to what `reachable` shows, where its scope is the unit", () => {
    const dropped: boolean[] = []
    fc.assert(
      fc.property(story, (acts) => {
        const told = new Story(SCOPED)
        for (const each of acts) {
          told.act(each)
          for (const [service, all] of told.byService)
            expect([service, addressesOf(told.slices.filter(isOf(service)))]).toEqual([
              service,
              addressesOf(told.reachable(service, all))
            ])
        }
        dropped.push(
          [...told.byService].some(([service, all]) => {
            const shown = told.slices.filter(isOf(service))
            return addressesOf(all).length > addressesOf(shown).length
          })
        )
      }),
      runs(2000)
    )
    expect(dropped.filter((any) => any).length).toBeGreaterThan(dropped.length / 4)
  })

  it("R153 have no ports, labels that find the Service, and endpoints as they are but for the name", () => {
    const told = new Story()
    for (const each of BASE) told.act(each)
    expect(told.slices.filter(isShort)).toEqual([
      {
        kind: "EndpointSlice",
        apiVersion: V1,
        metadata: {
          name: "x0~short",
          namespace: "default",
          uid: "x0-0~short",
          resourceVersion: "1",
          labels: {
            [SERVICE]: "svc",
            [HEADLESS]: "",
            "endpointslice.kubernetes.io/managed-by": "servicegroup.superedge.io"
          }
        },
        addressType: "IPv4",
        endpoints: [0, 1].map((n) => ({ addresses: [`10.0.0.${n}`], hostname: `web-${n}`, nodeName: "n-a" })),
        ports: []
      }
    ])
  })

  it("P7 have no pod of the unit that is on a node which the scope of the Service leaves out", () => {
    const told = new Story(SCOPED)
    for (const each of BASE) told.act(each)
    expect(shortNames(told)).toEqual(["web-0", "web-1"])
    told.act(
      put("EndpointSlice")(
        webSlice("svc", [
          ["web-a-0", "n-b"],
          ["web-a-1", "n-a"]
        ])
      )
    )
    expect(shortNames(told)).toEqual(["web-1"])
  })

  it("go with a slice that is another Service's now, and come back with it", () => {
    const told = new Story()
    for (const each of BASE) told.act(each)
    const two = [
      ["web-a-0", "n-a"],
      ["web-a-1", "n-a"]
    ] as const
    told.act(put("EndpointSlice")(webSlice("svc2", two)))
    expect(shortNames(told)).toEqual([])
    told.act(put("StatefulSet")(setObject("web", "a")))
    expect(shortNames(told)).toEqual([])
    told.act(put("EndpointSlice")(webSlice("svc", two)))
    expect(shortNames(told)).toEqual(["web-0", "web-1"])
  })

  it("R153 are for clients that make names alone: others are shown slices as ever", () => {
    const told = new Story()
    for (const each of BASE) told.act(each)
    expect(
      told.board
        .journal("EndpointSlice")
        .list()
        .objects.map(({ value }) => subject(value).key)
    ).toEqual(["default/x0"])
    expect(told.board.journal("EndpointSlice").head).not.toBe(
      naming(told.board).journal("EndpointSlice").head
    )
  })

  it("let nobody who makes names be answered before grids and their sets were seen", () => {
    const board = new Board(OWN, "1000", BOUNDS, { naming: true })
    expect(naming(board).waitsFor("EndpointSlice")).toEqual([...NEEDED, "EndpointSlice", ...NAMING])
    expect(board.waitsFor("EndpointSlice")).toEqual([...NEEDED, "EndpointSlice"])
    expect(naming(board).waitsFor("Service")).toEqual([...NEEDED])
  })

  it("tell nothing anew where a set, a grid or this node changes in what makes no name", () => {
    const told = new Story()
    for (const each of BASE) told.act(each)
    const { head } = naming(told.board).journal("EndpointSlice")
    for (const each of BASE.slice(0, 3)) told.act(each)
    told.act({ _tag: "Zone", zone: "a" })
    told.act(put("StatefulSet")(setObject("other", "a")))
    expect(naming(told.board).journal("EndpointSlice").head).toBe(head)
  })
})
