/** What a node is shown of one Service: the named cases, and a naive answer for everything else. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Endpoints, EndpointSlice } from "../src/core/endpoints.ts"
import { explain, reachable, type Sight } from "../src/core/explain.ts"
import type { Service } from "../src/core/kube.ts"
import { frozen, frozenMap, node, RUNS } from "./given.ts"
import { naive, type Obj, without } from "./naive.ts"

const nodes = [
  node("n1", { zone: "a", rack: "r1", "kubernetes.io/hostname": "host-1" }),
  node("n2", { zone: "a", rack: "r2", "kubernetes.io/hostname": "host-2" }),
  node("n3", { zone: "b", rack: "r1", "kubernetes.io/hostname": "host-3" }),
  node("n4", { zone: "b", rack: "r3", "kubernetes.io/hostname": "host-4" }),
  node("n9", { rack: "" })
]
const byName = frozenMap(nodes.map((each) => [each.metadata.name, each] as const))

const service = (annotations: Obj | null = null, more: Obj = {}, name = "web"): Service =>
  frozen({
    metadata: { name, namespace: "default", annotations },
    spec: { clusterIP: "10.0.0.1", ...more }
  } as unknown as Service)
const kept = (...keys: readonly string[]) => service({ topologyKeys: JSON.stringify(keys) })

/** An endpoint written as `10.0.1.1@n1`, with what else it has. */
const at = (where: string, more: Obj = {}): Obj => {
  const [address = "", on] = where.split("@")
  return { addresses: [address], ...(on !== undefined && { nodeName: on }), ...more }
}
const down = { conditions: { ready: false, serving: false } }

const slice = (
  endpoints: unknown,
  more: Obj = {},
  labels: Obj = { "kubernetes.io/service-name": "web" },
  name = "web-x"
) =>
  frozen({
    metadata: { name, namespace: "default", labels },
    addressType: "IPv4",
    endpoints,
    ports: [{ port: 80, protocol: "TCP" }],
    ...more
  }) as unknown as EndpointSlice

const endpoints = (addresses: readonly string[], notReady: readonly string[] = [], name = "web") =>
  frozen({
    kind: "Endpoints",
    metadata: { name, namespace: "default" },
    subsets: [{ addresses: addresses.map(ip), notReadyAddresses: notReady.map(ip), ports: [{ port: 80 }] }]
  }) as unknown as Endpoints
const ip = (where: string): Obj => {
  const [address, on] = where.split("@")
  return { ip: address, ...(on !== undefined && { nodeName: on }) }
}

const sight = (
  own: string,
  says: Service | undefined,
  ...slices: readonly (EndpointSlice | Endpoints)[]
): Sight => ({
  service: says,
  slices,
  node: byName.get(own) ?? node(own),
  nodes: byName
})

/** The addresses that a node is shown. */
const shown = (own: string, says: Service | undefined, ...slices: readonly (EndpointSlice | Endpoints)[]) =>
  explain(sight(own, says, ...slices))
    .filter((row) => row.kept)
    .map((row) => row.address)

const rules = (own: string, says: Service | undefined, ...slices: readonly (EndpointSlice | Endpoints)[]) =>
  explain(sight(own, says, ...slices)).map((row) => row.verdict.rule)

const three = slice([at("10.0.1.1@n1"), at("10.0.2.1@n2"), at("10.0.3.1@n3")])

describe("explain", () => {
  it("R86 keeps the endpoints of nodes with this node's value, in slices", () => {
    expect(shown("n1", kept("zone"), three)).toEqual(["10.0.1.1", "10.0.2.1"])
    expect(shown("n2", kept("zone"), three)).toEqual(["10.0.1.1", "10.0.2.1"])
    expect(shown("n3", kept("zone"), three)).toEqual(["10.0.3.1"])
  })

  it("R86 keeps them in Endpoints objects", () => {
    const object = endpoints(["10.0.1.1@n1", "10.0.3.1@n3"], ["10.0.2.1@n2", "10.0.4.1@n4"])
    expect(shown("n1", kept("zone"), object)).toEqual(["10.0.1.1", "10.0.2.1"])
  })

  it("R88 places an endpoint by its host name where it names no node", () => {
    const topology = { "kubernetes.io/hostname": "host-3" }
    const old = slice([at("10.0.3.1", { topology }), at("10.0.1.1@n1", { topology })])
    expect(shown("n4", kept("zone"), old)).toEqual(["10.0.3.1"])
    expect(shown("n1", kept("zone"), old)).toEqual(["10.0.1.1"])
    expect(rules("n3", kept("zone"), old)).toEqual(["OwnNode", "OtherValue"])
    const converted = slice([at("10.0.3.1", { deprecatedTopology: topology })])
    expect(shown("n4", kept("zone"), converted)).toEqual(["10.0.3.1"])
    expect(shown("n1", kept("zone"), converted)).toEqual([])
  })

  it("R90 tries keys in their order", () => {
    const says = kept("kubernetes.io/hostname", "zone", "*")
    expect(shown("n1", says, three)).toEqual(["10.0.1.1"])
    expect(shown("n1", says, slice([at("10.0.2.1@n2"), at("10.0.3.1@n3")]))).toEqual(["10.0.2.1"])
    expect(shown("n1", says, slice([at("10.0.3.1@n3"), at("10.0.4.1@n4")]))).toEqual(["10.0.3.1", "10.0.4.1"])
  })

  it("R91 keeps what the first key gives, and nothing of the next", () => {
    expect(shown("n1", kept("rack", "zone"), slice([at("10.0.3.1@n3"), at("10.0.2.1@n2")]))).toEqual([
      "10.0.3.1"
    ])
  })

  it("R92 decides over all slices of the Service", () => {
    const far = slice([at("10.0.3.1@n3")])
    const near = slice([at("10.0.2.1@n2")], {}, { "kubernetes.io/service-name": "web" }, "web-y")
    expect(reachable(sight("n1", kept("zone", "*"), far, near))).toEqual([{ ...far, endpoints: [] }, near])
  })

  it("R93 decides each address family on its own", () => {
    const six = slice([at("fd00::3@n3"), at("fd00::4@n4")], { addressType: "IPv6" })
    expect(shown("n1", kept("zone", "*"), three, six)).toEqual(["10.0.1.1", "10.0.2.1", "fd00::3", "fd00::4"])
    expect(shown("n1", kept("zone"), three, six)).toEqual(["10.0.1.1", "10.0.2.1"])
    const both = endpoints(["10.0.1.1@n1", "fd00::3@n3"])
    expect(shown("n1", kept("zone", "*"), both)).toEqual(["10.0.1.1", "fd00::3"])
  })

  it("R94 keeps an endpoint on this very node, whatever its labels", () => {
    expect(shown("n9", kept("zone"), slice([at("10.0.9.1@n9"), at("10.0.1.1@n1")]))).toEqual(["10.0.9.1"])
    expect(
      shown("n9", service({ topologyKeys: "broken" }), slice([at("10.0.9.1@n9"), at("10.0.1.1@n1")]))
    ).toEqual(["10.0.9.1"])
  })

  it("R94 takes an empty label for none", () => {
    expect(shown("n9", kept("rack"), slice([at("10.0.8.1@n8")]))).toEqual([])
  })

  it("R95 keeps an endpoint without node, which is no match for a key", () => {
    const some = slice([at("192.0.2.1"), at("10.0.3.1@n3")])
    expect(shown("n1", kept("zone"), some)).toEqual(["192.0.2.1"])
    expect(shown("n1", kept("zone", "*"), some)).toEqual(["192.0.2.1", "10.0.3.1"])
    const unready = slice([at("192.0.2.1"), at("10.0.2.1@n2", down), at("10.0.3.1@n3", down)])
    expect(shown("n1", kept("zone", "*"), unready)).toEqual(["192.0.2.1", "10.0.2.1"])
  })

  it("R96 takes an endpoint of an unknown node for one elsewhere", () => {
    const lost = at("10.0.8.1@n8")
    expect(shown("n1", kept("zone"), slice([lost]))).toEqual([])
    expect(shown("n1", kept("zone", "*"), slice([lost]))).toEqual(["10.0.8.1"])
    expect(shown("n1", kept("zone", "*"), slice([lost, at("10.0.2.1@n2")]))).toEqual(["10.0.2.1"])
  })

  it("R97 removes nothing of default/kubernetes, and trims its neighbours", () => {
    const own = slice(
      [at("192.0.2.1@n3"), at("192.0.2.2")],
      {},
      { "kubernetes.io/service-name": "kubernetes" }
    )
    const says = service({ topologyKeys: '["zone"]' }, {}, "kubernetes")
    expect(shown("n1", says, own)).toEqual(["192.0.2.1", "192.0.2.2"])
    expect(shown("n1", undefined, own)).toEqual(["192.0.2.1", "192.0.2.2"])
    const other = frozen({ ...own, metadata: { ...own.metadata, namespace: "other" } })
    expect(shown("n1", says, other)).toEqual(["192.0.2.2"])
  })

  it("R98 R99 finds the Service by label, and leaves a slice without it", () => {
    expect(rules("n1", kept("zone"), slice([at("10.0.3.1@n3")], {}, {}, "web-abc"))).toEqual(["NoService"])
    expect(
      shown("n1", kept("zone"), slice([at("10.0.3.1@n3")], {}, { "kubernetes.io/service-name": "web" }, "x"))
    ).toEqual([])
  })

  it("R100 keeps own and unplaced endpoints alone while the Service isn't known", () => {
    const some = slice([at("10.0.1.1@n1"), at("10.0.2.1@n2"), at("192.0.2.1")])
    expect(rules("n1", undefined, some)).toEqual(["OwnNode", "UnknownService", "Unplaced"])
    const headless = slice(
      [at("10.0.2.1@n2")],
      {},
      { "kubernetes.io/service-name": "web", "service.kubernetes.io/headless": "" }
    )
    expect(shown("n1", undefined, headless)).toEqual([])
  })

  it("R101 keeps own and unplaced endpoints alone where the annotation is broken, and says what is wrong", () => {
    const rows = explain(
      sight(
        "n1",
        service({ topologyKeys: "zone" }),
        slice([at("10.0.1.1@n1"), at("10.0.2.1@n2"), at("192.0.2.1")])
      )
    )
    expect(rows.map((row) => row.kept)).toEqual([true, false, true])
    expect(rows[1]?.reason).toBe(
      'dropped: annotation topologyKeys: zone is no JSON array; write a JSON array of label keys, such as ["zone"]'
    )
  })

  it("R102 lets readiness pick the key, and shows all of that key", () => {
    const unready = slice([at("10.0.2.1@n2", down), at("10.0.3.1@n3")])
    expect(shown("n1", kept("zone", "*"), unready)).toEqual(["10.0.2.1", "10.0.3.1"])
    expect(shown("n1", kept("zone"), unready)).toEqual(["10.0.2.1"])
    const serving = at("10.0.4.1@n4", { conditions: { ready: false, serving: true, terminating: true } })
    expect(shown("n1", kept("zone", "*"), slice([at("10.0.2.1@n2", down), serving]))).toEqual([
      "10.0.2.1",
      "10.0.4.1"
    ])
    expect(shown("n1", kept("zone", "*"), slice([at("10.0.2.1@n2", down), at("10.0.4.1@n4", down)]))).toEqual(
      ["10.0.2.1"]
    )
    expect(shown("n1", kept("zone", "*"), slice([at("10.0.2.1@n2"), at("10.0.1.2@n1", down)]))).toEqual([
      "10.0.2.1",
      "10.0.1.2"
    ])
  })

  it("R104 takes null for absent, and what is no endpoint for one without node", () => {
    expect(explain(sight("n1", kept("zone"), slice(null, { ports: null }, null as unknown as Obj)))).toEqual(
      []
    )
    const odd = slice([{ addresses: null, nodeName: null, conditions: null, topology: null }, {}])
    expect(rules("n1", kept("zone"), odd)).toEqual(["Unplaced", "Unplaced"])
    const wrong = slice([{ addresses: ["10.0.1.1"], nodeName: 7 as unknown as string }])
    expect(rules("n1", kept("zone"), wrong)).toEqual(["NoMatch"])
    const label = { "kubernetes.io/service-name": "web", "service.kubernetes.io/headless": null }
    const headed = slice([at("10.0.3.1@n3")], {}, label as unknown as Record<string, string>)
    expect(rules("n1", kept("zone"), headed)).toEqual(["NoMatch"])
    expect(shown("n1", kept("zone"), endpoints([], []))).toEqual([])
    expect(
      shown(
        "n1",
        kept("zone"),
        frozen({ kind: "Endpoints", metadata: { name: "web" }, subsets: null }) as unknown as Endpoints
      )
    ).toEqual([])
  })

  it("R108 leaves a headless Service alone unless its scope is the unit", () => {
    const label = { "kubernetes.io/service-name": "web", "service.kubernetes.io/headless": "" }
    const far = [at("10.0.1.1@n1"), at("10.0.3.1@n3")]
    const annotations = { topologyKeys: '["zone"]' }
    const unit = { ...annotations, "superedge.io/headless-scope": "unit" }
    for (const [says, object] of [
      [service(annotations, { clusterIP: "None" }), slice(far)],
      [service(annotations), slice(far, {}, label)]
    ] as const)
      expect(shown("n1", says, object)).toEqual(["10.0.1.1", "10.0.3.1"])
    expect(shown("n1", service(unit, { clusterIP: "None" }), slice(far, {}, label))).toEqual(["10.0.1.1"])
  })

  it("names the values that decided, for people", () => {
    expect(
      explain(sight("n1", kept("zone"), three)).map((row) => [row.slice, row.address, row.reason])
    ).toEqual([
      ["web-x", "10.0.1.1", "kept: it is on this node, n1"],
      ["web-x", "10.0.2.1", "kept: n2 has zone=a, as this node has"],
      ["web-x", "10.0.3.1", "dropped: n3 has zone=b, this node has zone=a"]
    ])
    expect(explain(sight("n9", kept("zone", "rack"), slice([at("10.0.3.1@n3")])))[0]?.reason).toBe(
      'dropped: n3 is elsewhere, and no endpoint meets any of the keys ["zone","rack"]'
    )
  })

  it("shows default/kubernetes at this node's own address where it says so", () => {
    const annotations = { "superedge.io/local-endpoint": "127.0.0.1", "superedge.io/local-port": "51003" }
    const own = slice(
      [at("192.0.2.1")],
      { ports: [{ name: "https", appProtocol: "x", port: 6443, protocol: "TCP" }] },
      { "kubernetes.io/service-name": "kubernetes" }
    )
    const says = service(annotations, {}, "kubernetes")
    expect(explain(sight("n1", says, own)).map((row) => [row.address, row.kept])).toEqual([
      ["192.0.2.1", false],
      ["127.0.0.1", true]
    ])
    const [here] = reachable(sight("n1", says, own))
    expect(here).toMatchObject({
      endpoints: [{ addresses: ["127.0.0.1"] }],
      ports: [{ name: "https", appProtocol: "x", port: 51003, protocol: "TCP" }]
    })
    expect(reachable(sight("n1", service(annotations), own))).toEqual([own])
    const six = frozen({ ...own, addressType: "IPv6" })
    expect(reachable(sight("n1", says, six))).toEqual([six])
    const object = endpoints(["192.0.2.1"], [], "kubernetes")
    expect(
      reachable({
        ...sight("n1", undefined, object),
        apiServer: frozen({ metadata: { name: "kubernetes", annotations } })
      })
    ).toMatchObject([
      {
        subsets: [
          { addresses: [{ ip: "127.0.0.1" }], ports: [{ name: "https", port: 51003, protocol: "TCP" }] }
        ]
      }
    ])
  })
})

// ---- anything

const names = fc.constantFrom("n1", "n2", "n3", "n4", "n9", "n8", "constructor")
const anyEndpoint = fc.record(
  {
    addresses: fc.array(fc.ipV4(), { maxLength: 1 }),
    nodeName: fc.oneof({ weight: 6, arbitrary: names }, { weight: 1, arbitrary: fc.constantFrom(null, "") }),
    topology: fc.constantFrom(
      null,
      {},
      { "kubernetes.io/hostname": "host-2" },
      { "kubernetes.io/hostname": "n3" }
    ),
    deprecatedTopology: fc.constantFrom(null, {}, { "kubernetes.io/hostname": "host-2" }),
    conditions: fc.record(
      { ready: fc.constantFrom(true, false, false, null), serving: fc.constantFrom(true, false, null) },
      { requiredKeys: [] }
    )
  },
  { requiredKeys: ["addresses"] }
)
const anyKeys = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(fc.constantFrom("zone", "rack", "kubernetes.io/hostname", "*"), { maxLength: 3 })
      .map((keys) => JSON.stringify(keys))
  },
  { weight: 1, arbitrary: fc.constantFrom("zone", "[1]", "{}", '["-"]', "") }
)
const anyService = fc
  .record({
    topologyKeys: fc.option(anyKeys, { nil: undefined }),
    "superedge.io/headless-scope": fc.constantFrom("unit", "unit", "node", undefined)
  })
  .chain((annotations) =>
    fc
      .constantFrom("10.0.0.1", "10.0.0.1", "None", null)
      .map((clusterIP) => service(annotations, { clusterIP }))
  )
const serviceLabel = fc.constantFrom("web", "web", "web", undefined, "kubernetes")
const anySlice = fc
  .tuple(
    fc.array(anyEndpoint, { maxLength: 5 }),
    fc.constantFrom("IPv4", "IPv6"),
    serviceLabel,
    fc.constantFrom("", null, undefined, undefined)
  )
  .map(([all, addressType, label, headless]) =>
    slice(
      all,
      { addressType },
      { "kubernetes.io/service-name": label, "service.kubernetes.io/headless": headless }
    )
  )
const anyAddress = fc.record(
  { ip: fc.oneof(fc.ipV4(), fc.ipV6()), nodeName: names },
  { requiredKeys: ["ip"] }
)
const anyEndpoints = fc
  .array(
    fc.record(
      {
        addresses: fc.array(anyAddress, { maxLength: 3 }),
        notReadyAddresses: fc.array(anyAddress, { maxLength: 3 })
      },
      { requiredKeys: [] }
    ),
    { maxLength: 3 }
  )
  .map(
    (subsets) =>
      frozen({
        kind: "Endpoints",
        metadata: { name: "web", namespace: "default" },
        subsets
      }) as unknown as Endpoints
  )

const world = (own: string, says: Service | undefined) => ({
  own,
  ownLabels: byName.get(own)?.metadata.labels as Obj | undefined,
  services: new Map(says === undefined ? [] : [["default/web", says as unknown as Obj]]),
  nodes: new Map(nodes.map((each) => [each.metadata.name, each.metadata.labels as Obj])),
  apiServer: undefined
})

describe("reachable", () => {
  const slices = fc.oneof(
    fc.array(anySlice, { maxLength: 4 }),
    anyEndpoints.map((object) => [object])
  )
  const owns = fc.constantFrom("n1", "n3", "n9")
  const services = fc.option(anyService, { nil: undefined })

  it("P9 R109 P14 equals the naive answer, for any Service, slices and node", () => {
    fc.assert(
      fc.property(owns, services, slices, (own, says, all) => {
        const around = world(own, says)
        const objects = all as unknown as readonly Obj[]
        expect(reachable(sight(own, says, ...frozen(all)))).toEqual(
          objects.map((object) => without(object, naive(around, object, objects)))
        )
      }),
      RUNS
    )
  })

  it("keeps what explain calls kept, and the very object where nothing is dropped", () => {
    fc.assert(
      fc.property(owns, services, fc.array(anySlice, { maxLength: 3 }), (own, says, all) => {
        const rows = explain(sight(own, says, ...all))
        const left = reachable(sight(own, says, ...all)) as readonly EndpointSlice[]
        const total = left.reduce((sum, each) => sum + (each.endpoints?.length ?? 0), 0)
        expect(total).toBe(rows.filter((row) => row.kept).length)
        if (rows.every((row) => row.kept)) expect(left.every((each, i) => each === all[i])).toBe(true)
        for (const row of rows) expect(row.reason.startsWith(row.kept ? "kept: " : "dropped: ")).toBe(true)
      }),
      RUNS
    )
  })

  it("P9 does not depend on the order of slices", () => {
    fc.assert(
      fc.property(owns, services, fc.array(anySlice, { maxLength: 4 }), (own, says, all) => {
        const there = reachable(sight(own, says, ...all))
        const back = reachable(sight(own, says, ...all.toReversed()))
        expect(back.toReversed()).toEqual(there)
      }),
      RUNS
    )
  })
})
