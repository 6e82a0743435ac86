/** The incremental view against deciding everything from scratch, after any order of events. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Shown } from "../src/core/cut.ts"
import type { Told } from "../src/core/view.ts"
import { same } from "./given.ts"
import type { Obj } from "./naive.ts"
import { runs } from "./runs.ts"
import { type Act, changeOf, own, seen, Story } from "./viewed.ts"

// ---- anything

const pair = { default: fc.constantFrom("a", "b") }
const anyLabels = fc.record(
  {
    zone: fc.constantFrom("a", "b", "a", "b", ""),
    rack: pair.default,
    "kubernetes.io/hostname": fc.constantFrom("h1", "h2", "n3"),
    other: fc.constantFrom("x", "y")
  },
  { requiredKeys: [] }
)
const others = fc.constantFrom("n2", "n3", "n4")
const anyEndpoint = fc.record(
  {
    addresses: fc.constant(["10.0.0.1"]),
    nodeName: fc.constantFrom("n1", "n2", "n2", "n3", "n4"),
    topology: fc.constantFrom(
      { "kubernetes.io/hostname": "h1" },
      { "kubernetes.io/hostname": "h2" },
      { "kubernetes.io/hostname": "n3" }
    ),
    conditions: fc.record({ ready: fc.boolean(), serving: fc.boolean() }, { requiredKeys: [] })
  },
  { requiredKeys: ["addresses"] }
)
const anyKeys = fc
  .oneof(
    { weight: 3, arbitrary: fc.constant(["zone"]) },
    {
      weight: 4,
      arbitrary: fc.array(fc.constantFrom("zone", "rack", "kubernetes.io/hostname", "*"), { maxLength: 3 })
    }
  )
  .map((keys) => JSON.stringify(keys))
const anyService = fc
  .record(
    {
      topologyKeys: fc.oneof(
        { weight: 8, arbitrary: anyKeys },
        { weight: 1, arbitrary: fc.constant("broken") }
      ),
      "superedge.io/headless-scope": fc.constantFrom("unit", "node")
    },
    { requiredKeys: [] }
  )
  .chain((annotations) =>
    fc
      .constantFrom("10.0.0.1", "10.0.0.1", "None")
      .map((clusterIP): Obj => ({ metadata: { annotations }, spec: { clusterIP } }))
  )

const serviceNames = fc.constantFrom("s1", "s1", "s2")
const anySlice = fc
  .record({
    uid: fc.constantFrom("u1", "u1", "u1", "u2"),
    revision: fc.nat(3),
    service: fc.option(fc.constantFrom("s1", "s1", "s2", "kubernetes"), { freq: 8, nil: undefined }),
    headless: fc.option(fc.constant(""), { freq: 2, nil: undefined }),
    addressType: fc.constantFrom("IPv4", "IPv4", "IPv6"),
    endpoints: fc.array(anyEndpoint, { maxLength: 4 })
  })
  .map(({ uid, revision, service, headless, addressType, endpoints }) => (name: string): Obj => ({
    metadata: {
      name,
      namespace: "default",
      uid,
      resourceVersion: String(revision),
      labels: { "kubernetes.io/service-name": service, "service.kubernetes.io/headless": headless && "" }
    },
    addressType,
    endpoints
  }))
const anyAddress = fc.record(
  { ip: fc.constantFrom("10.0.0.1", "fd00::1"), nodeName: fc.constantFrom("n1", "n2", "n3") },
  { requiredKeys: ["ip"] }
)
const anyEndpoints = fc
  .array(
    fc.record(
      {
        addresses: fc.array(anyAddress, { maxLength: 2 }),
        notReadyAddresses: fc.array(anyAddress, { maxLength: 2 })
      },
      { requiredKeys: [] }
    ),
    { maxLength: 2 }
  )
  .map((subsets) => (name: string): Obj => ({ metadata: { name, namespace: "default", uid: "u" }, subsets }))

const SYNCED = ["Service", "Node", "ApiServer", "EndpointSlice", "Endpoints"] as const

const maybe = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { freq: 5, nil: undefined })

const serviceAct = fc
  .tuple(serviceNames, maybe(anyService))
  .map(([name, service]): Act => ({ _tag: "Service", key: `default/${name}`, service }))
const sliceAct = fc.tuple(fc.constantFrom("x1", "x2", "x3"), maybe(anySlice)).map(([name, make]): Act => ({
  _tag: "Slice",
  kind: "EndpointSlice",
  key: `default/${name}`,
  object: make?.(name)
}))
const endpointsAct = fc.tuple(serviceNames, maybe(anyEndpoints)).map(([name, make]): Act => ({
  _tag: "Slice",
  kind: "Endpoints",
  key: `default/${name}`,
  object: make?.(name)
}))
const nodeAct = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: others }, { weight: 1, arbitrary: fc.constant(own) }),
    maybe(anyLabels)
  )
  .map(([name, labels]): Act => ({ _tag: "Node", name, labels }))
const anyLocal = fc.constantFrom("127.0.0.1", "fd00::1").map((ip): Obj => ({
  "superedge.io/local-endpoint": ip,
  "superedge.io/local-port": "51003"
}))
/** What concerns the address of the API server. */
const apiServerAct = fc.oneof(
  maybe(anyLocal).map((annotations): Act => ({ _tag: "ApiServer", annotations })),
  maybe(anyLocal).map((annotations): Act => ({
    _tag: "Service",
    key: "default/kubernetes",
    service: annotations && { metadata: { annotations } }
  })),
  maybe(anyEndpoints).map((make): Act => ({
    _tag: "Slice",
    kind: "Endpoints",
    key: "default/kubernetes",
    object: make?.("kubernetes")
  }))
)
const syncedAct = fc.constantFrom(...SYNCED).map((kind): Act => ({ _tag: "Synced", kind }))

const anyAct = fc.oneof(
  { weight: 3, arbitrary: serviceAct },
  { weight: 5, arbitrary: sliceAct },
  { weight: 2, arbitrary: endpointsAct },
  { weight: 4, arbitrary: nodeAct },
  { weight: 2, arbitrary: apiServerAct },
  { weight: 2, arbitrary: syncedAct }
)
const anyStory = fc.array(fc.array(anyAct, { minLength: 1, maxLength: 3 }), { maxLength: 14 })
const allSynced: readonly Act[] = SYNCED.map((kind) => ({ _tag: "Synced", kind }))
const ownNode: Act = {
  _tag: "Node",
  name: own,
  labels: { zone: "a", rack: "a", "kubernetes.io/hostname": "h1" }
}

describe("take", () => {
  it("P9 R97 R109 R127 tells what makes a client see what deciding from scratch gives, after each event of any story", () => {
    fc.assert(
      fc.property(anyStory, fc.boolean(), (batches, started) => {
        const story = new Story()
        if (started) story.act([...allSynced, ownNode])
        for (const batch of batches) {
          story.act(batch)
          for (const kind of ["EndpointSlice", "Endpoints"] as const) {
            same(story.view.ready(kind), story.ready(kind))
            same(story.client[kind], story.wanted(kind))
          }
        }
        for (const kind of ["EndpointSlice", "Endpoints"] as const) {
          const shown = [...story.view.shown(kind)].map((each) => [each.slice.key, seen(each)] as const)
          same(new Map(shown), story.client[kind])
        }
      }),
      runs(10_000)
    )
  })

  it("P9 R100 R122 shows no endpoint, in whatever order a cluster becomes known, that isn't allowed in the end", () => {
    const cluster = fc.record({
      services: fc.tuple(anyStrict, anyStrict),
      slices: fc.array(fc.tuple(fc.constantFrom("s1", "s2"), fc.array(strictEndpoint, { maxLength: 4 })), {
        maxLength: 4
      }),
      zones: fc.array(fc.constantFrom("a", "b", undefined), { minLength: 4, maxLength: 4 })
    })
    fc.assert(
      fc.property(cluster, fc.array(fc.nat()), ({ services, slices, zones }, picks) => {
        const acts: readonly Act[] = [
          ...services.map((service, i): Act => ({ _tag: "Service", key: `default/s${i + 1}`, service })),
          ...zones.map((zone, i): Act => ({
            _tag: "Node",
            name: `n${i + 1}`,
            labels: zone === undefined ? {} : { zone }
          })),
          ...slices.map(([service, endpoints], i): Act => ({
            _tag: "Slice",
            kind: "EndpointSlice",
            key: `default/x${i}`,
            object: plainSlice(`x${i}`, service, endpoints)
          })),
          ...allSynced
        ]
        const end = new Story()
        end.act(acts)
        const story = new Story()
        for (const act of mixed(acts, picks)) {
          story.act([act])
          for (const [key, object] of story.client.EndpointSlice) {
            const allowed = addressesOf(end.wanted("EndpointSlice").get(key))
            same(
              addressesOf(object).filter((address) => !allowed.includes(address)),
              []
            )
          }
        }
        same(story.client, end.client)
      }),
      runs(10_000)
    )
  })

  const kept = (...keys: readonly string[]): Obj => ({
    metadata: { annotations: { topologyKeys: JSON.stringify(keys) } }
  })
  const started = (...acts: readonly Act[]): Story => {
    const story = new Story()
    story.act([...allSynced, ownNode, ...acts])
    return story
  }
  const slice = (name: string, service: string, ...nodes: readonly string[]): Act => ({
    _tag: "Slice",
    kind: "EndpointSlice",
    key: `default/${name}`,
    object: plainSlice(
      name,
      service,
      nodes.map((nodeName) => ({ addresses: [nodeName], nodeName }))
    )
  })
  const node = (name: string, zone: string): Act => ({ _tag: "Node", name, labels: { zone } })
  const says = (name: string, service: Obj | undefined): Act => ({
    _tag: "Service",
    key: `default/${name}`,
    service
  })
  const keys = (told: readonly Told[]) => told.map(({ key }) => key).sort()

  it("R124 tells of exactly the slices with an endpoint on a node that changed", () => {
    const story = started(
      says("s1", kept("zone")),
      says("s2", {}),
      node("n2", "a"),
      node("n3", "a"),
      slice("x1", "s1", "n2"),
      slice("x2", "s1", "n3"),
      slice("x3", "s2", "n2")
    )
    expect(keys(story.act([node("n2", "b")]))).toEqual(["default/x1"])
    expect(keys(story.act([node("n4", "a")]))).toEqual([])
    expect(keys(story.act([node("n2", "a"), node("n3", "b")]))).toEqual(["default/x1", "default/x2"])
  })

  it("R109 decides on a Service's other slices when one of them gains a nearer endpoint", () => {
    const story = started(
      says("s1", kept("zone", "*")),
      node("n2", "a"),
      node("n3", "b"),
      slice("x1", "s1", "n3"),
      slice("x2", "s1", "n3")
    )
    expect(keys(story.act([slice("x2", "s1", "n2")]))).toEqual(["default/x1", "default/x2"])
  })

  it.each(["Service", "Node", "ApiServer", "EndpointSlice"] as const)(
    "R122 shows nothing before it has seen all of %s",
    (last) => {
      const story = new Story()
      const others = allSynced.filter((each) => each._tag !== "Synced" || each.kind !== last)
      expect(story.act([...others, ownNode, says("s1", {}), slice("x1", "s1", "n2")])).toEqual([])
      expect(keys(story.act([{ _tag: "Synced", kind: last }]))).toEqual(["default/x1"])
    }
  )

  it("R125 tells each slice that changes once, when this node's own label changes", () => {
    const story = started(
      says("s1", kept("zone")),
      node("n2", "a"),
      node("n3", "b"),
      slice("x1", "s1", "n2", "n3"),
      slice("x2", "s1", "n1")
    )
    expect(keys(story.act([node("n1", "b")]))).toEqual(["default/x1"])
  })

  it("R126 tells of a Service's own slices when its annotation changes", () => {
    const story = started(
      says("s1", {}),
      says("s2", {}),
      slice("x1", "s1", "n2"),
      slice("x2", "s1", "n1"),
      slice("x3", "s2", "n2")
    )
    expect(keys(story.act([says("s1", kept("zone"))]))).toEqual(["default/x1"])
    expect(keys(story.act([says("s1", kept("rack"))]))).toEqual([])
    expect(keys(story.act([says("s1", undefined)]))).toEqual([])
    expect(keys(story.act([says("s1", {})]))).toEqual(["default/x1"])
  })

  it("R127 tells nothing of heartbeats, unrelated Services, and an identical relist", () => {
    const acts = [says("s1", kept("zone")), node("n2", "a"), slice("x1", "s1", "n2", "n3")]
    const story = started(...acts)
    expect(story.act([...acts, ownNode])).toEqual([])
    expect(
      story.act([says("s9", kept("zone")), { _tag: "Node", name: "n2", labels: { zone: "a", beat: "2" } }])
    ).toEqual([])
  })

  it("R127 P12 lets go of older bytes where a client sees no difference", () => {
    const far = slice("x1", "s1", "n1", "n2") as Extract<Act, { _tag: "Slice" }>
    const farther = {
      ...far,
      object: plainSlice("x1", "s1", [{ addresses: ["n1"], nodeName: "n1" }, { nodeName: "n3" }])
    }
    const story = started(says("s1", kept("zone")), far)
    const before = story.view.get("EndpointSlice", far.key)
    expect(before?.dropped).toEqual([1])
    expect(story.act([farther])).toEqual([])
    expect(story.view.get("EndpointSlice", far.key)).toBe(before)
    expect(before?.slice.endpoints.map((each) => each.node)).toEqual(["n1", "n3"])
  })

  it("R107 keeps the last labels of this node when it is deleted, and takes those of a new one", () => {
    const story = started(
      says("s1", kept("zone")),
      node("n2", "a"),
      node("n3", "b"),
      slice("x1", "s1", "n2", "n3")
    )
    expect(story.act([{ _tag: "Node", name: own, labels: undefined }])).toEqual([])
    expect(story.view.ownDeleted).toBe(true)
    expect(keys(story.act([node("n1", "b")]))).toEqual(["default/x1"])
    expect(story.view.ownDeleted).toBe(false)
  })

  it("R128 removes what is gone, and tells of another object of the same name as removed and new", () => {
    const story = started(says("s1", {}), slice("x1", "s1", "n2"))
    const again = slice("x1", "s1", "n2") as Extract<Act, { _tag: "Slice" }>
    const object = { ...again.object, metadata: { ...(again.object?.["metadata"] as Obj), uid: "another" } }
    expect(story.act([{ ...again, object }]).map(({ _tag }) => _tag)).toEqual(["Removed", "Shown"])
    expect(story.act([{ ...again, object: undefined }]).map(({ _tag }) => _tag)).toEqual(["Removed"])
    expect(story.act([{ ...again, object: undefined }])).toEqual([])
  })

  it("R97 takes the local endpoint of default/kubernetes from its Endpoints, for slices too", () => {
    const annotations = { "superedge.io/local-endpoint": "127.0.0.1", "superedge.io/local-port": "51003" }
    const story = new Story()
    const tell = (...acts: readonly Act[]) => story.view.take(acts.map(changeOf))
    tell(...allSynced, ownNode, slice("kubernetes", "kubernetes", "m1", "m2"))
    const shown = () => story.view.get("EndpointSlice", "default/kubernetes")
    const addresses = () => addressesOf(shown() && seen(shown() as Shown))
    expect(addresses()).toEqual(["m1", "m2"])
    expect(tell({ _tag: "ApiServer", annotations })).toHaveLength(1)
    expect(addresses()).toEqual(["127.0.0.1"])
    expect(tell({ _tag: "ApiServer", annotations })).toEqual([])
    expect(tell(slice("kubernetes-2", "kubernetes", "m3"))).toHaveLength(1)
    const second = story.view.get("EndpointSlice", "default/kubernetes-2")
    expect(addressesOf(second && seen(second))).toEqual([])
    tell({ _tag: "ApiServer", annotations: undefined })
    expect(addresses()).toEqual(["m1", "m2"])
    tell(says("kubernetes", { metadata: { annotations } }))
    expect(addresses()).toEqual(["127.0.0.1"])
  })
})

// ---- a cluster whose rules only ever allow more as more is known

const anyStrict = fc.constantFrom<Obj>(
  {},
  { metadata: { annotations: { topologyKeys: '["zone"]' } } },
  { metadata: { annotations: { topologyKeys: "broken" } } },
  {
    metadata: { annotations: { topologyKeys: '["zone"]', "superedge.io/headless-scope": "unit" } },
    spec: { clusterIP: "None" }
  }
)
const strictEndpoint = fc.constantFrom("n1", "n2", "n3", "n4", undefined).map((nodeName) => ({ nodeName }))

const plainSlice = (name: string, service: string, endpoints: readonly Obj[]): Obj => ({
  metadata: {
    name,
    namespace: "default",
    uid: `uid-${name}`,
    labels: { "kubernetes.io/service-name": service }
  },
  addressType: "IPv4",
  endpoints: endpoints.map((each, i) => ({ addresses: [`10.0.0.${i}`], ...each }))
})

const addressesOf = (object: Obj | undefined): readonly unknown[] =>
  ((object?.["endpoints"] ?? []) as Obj[]).map((each) => (each["addresses"] as unknown[])[0])

const mixed = <A>(list: readonly A[], picks: readonly number[]): readonly A[] => {
  const left = [...list]
  return list.flatMap((_, i) => left.splice((picks[i % Math.max(picks.length, 1)] ?? 0) % left.length, 1))
}
