/** Names of headless Services: every unit's own pods under the grid's name. */
import { describe, expect, it } from "vitest"
import { names } from "../src/core/names.ts"
import type { StatefulSetGrid } from "../src/core/grid.ts"
import type { Node, Service, StatefulSet } from "../src/core/kube.ts"
import type { EndpointSlice, SliceEndpoint } from "../src/core/endpoints.ts"
import { frozen } from "./given.ts"

const DOMAIN = "cluster.local"

const grid = (name: string, key = "zone", namespace = "default"): StatefulSetGrid =>
  ({
    kind: "StatefulSetGrid",
    metadata: { name, namespace, uid: `uid-of-${namespace}-${name}` },
    spec: { gridUniqKey: key }
  }) as unknown as StatefulSetGrid

const set = (
  of: StatefulSetGrid,
  unit: string,
  service: string,
  name = `${of.metadata.name}-${unit}`
): StatefulSet =>
  ({
    kind: "StatefulSet",
    metadata: {
      name,
      namespace: of.metadata.namespace,
      annotations: {
        "superedge.io/grid": of.metadata.name,
        "superedge.io/grid-key": of.spec.gridUniqKey,
        "superedge.io/unit": unit
      },
      ownerReferences: [
        { kind: "StatefulSetGrid", name: of.metadata.name, uid: of.metadata.uid, controller: true }
      ]
    },
    spec: { serviceName: service }
  }) as unknown as StatefulSet

const headless = (name: string, namespace = "default"): Service =>
  ({ metadata: { name, namespace }, spec: { clusterIP: "None" } }) as Service

const pod = (hostname: string, address: string, conditions: object = { ready: true }): SliceEndpoint => ({
  addresses: [address],
  hostname,
  conditions
})

const slice = (
  service: string,
  endpoints: readonly SliceEndpoint[],
  o: { readonly family?: string; readonly namespace?: string } = {}
): EndpointSlice => ({
  metadata: {
    name: `${service}-${o.family ?? "IPv4"}`,
    namespace: o.namespace ?? "default",
    labels: { "kubernetes.io/service-name": service, "service.kubernetes.io/headless": "" }
  },
  addressType: o.family ?? "IPv4",
  endpoints
})

const node = (labels: object): Node => ({
  metadata: { name: "n1", labels: labels as Record<string, string> }
})

const asked = (o: Partial<Parameters<typeof names>[0]> & { readonly zone?: string }) => {
  const { zone = "beijing", ...rest } = o
  const given = frozen({
    grids: [],
    sets: [],
    services: [headless("web-svc")],
    slices: [],
    node: node({ zone }),
    clusterDomain: DOMAIN,
    ...rest
  })
  return Object.fromEntries(
    names(given as Parameters<typeof names>[0]).map(({ name, addresses }) => [
      name.replace(`.svc.${DOMAIN}`, ""),
      addresses
    ])
  )
}

const web = grid("web")
const sets = [set(web, "beijing", "web-svc"), set(web, "guangzhou", "web-svc")]
const slices = [slice("web-svc", [pod("web-beijing-0", "10.1.0.5"), pod("web-guangzhou-0", "10.2.0.5")])]

describe("names", () => {
  it("R142 are the unit's own pods, short and full", () => {
    expect(asked({ grids: [web], sets, slices })).toEqual({
      "web-0.web-svc.default": ["10.1.0.5"],
      "web-beijing-0.web-svc.default": ["10.1.0.5"]
    })
    expect(asked({ grids: [web], sets, slices, zone: "guangzhou" })).toEqual({
      "web-0.web-svc.default": ["10.2.0.5"],
      "web-guangzhou-0.web-svc.default": ["10.2.0.5"]
    })
  })

  it("are none on a node in no unit, or in one without pods", () => {
    for (const zone of ["", "shanghai"]) expect(asked({ grids: [web], sets, slices, zone })).toEqual({})
    expect(asked({ grids: [web], sets, slices, node: node({}) })).toEqual({})
  })

  it("R141 are told by owners, not by searching for the unit in names", () => {
    const db = grid("zone1-db")
    expect(
      asked({
        grids: [db],
        sets: [set(db, "zone1", "db")],
        services: [headless("db")],
        slices: [slice("db", [pod("zone1-db-zone1-0", "10.1.0.5")])],
        zone: "zone1"
      })
    ).toEqual({ "zone1-db-0.db.default": ["10.1.0.5"], "zone1-db-zone1-0.db.default": ["10.1.0.5"] })
  })

  it("R143 of two grids with one Service are apart", () => {
    const [demo, mine] = [grid("demo"), grid("my-demo")]
    expect(
      asked({
        grids: [demo, mine],
        sets: [set(demo, "beijing", "web-svc"), set(mine, "beijing", "web-svc")],
        slices: [slice("web-svc", [pod("demo-beijing-0", "10.0.0.1"), pod("my-demo-beijing-0", "10.0.0.2")])]
      })
    ).toEqual({
      "demo-0.web-svc.default": ["10.0.0.1"],
      "demo-beijing-0.web-svc.default": ["10.0.0.1"],
      "my-demo-0.web-svc.default": ["10.0.0.2"],
      "my-demo-beijing-0.web-svc.default": ["10.0.0.2"]
    })
  })

  it("R148 are of published pods alone", () => {
    const of = (conditions: object) =>
      Object.keys(
        asked({
          grids: [web],
          sets,
          slices: [slice("web-svc", [pod("web-beijing-0", "10.1.0.5", conditions)])]
        })
      )
    expect(of({ ready: false })).toEqual([])
    expect(of({ ready: false, serving: true, terminating: true })).toEqual([])
    expect(of({})).toHaveLength(2)
    expect(of({ ready: null })).toHaveLength(2)
  })

  it("R149 have all addresses, in any cluster domain", () => {
    const two = [
      slice("web-svc", [pod("web-beijing-0", "10.1.0.5")]),
      slice("web-svc", [pod("web-beijing-0", "fd00::5")], { family: "IPv6" }),
      slice("web-svc", [pod("web-beijing-0", "host.example")], { family: "FQDN" })
    ]
    const given = {
      grids: [web],
      sets,
      slices: two,
      services: [headless("web-svc")],
      node: node({ zone: "beijing" })
    }
    expect(names({ ...given, clusterDomain: "edge.local" })).toEqual([
      { name: "web-0.web-svc.default.svc.edge.local", addresses: ["10.1.0.5", "fd00::5"] },
      { name: "web-beijing-0.web-svc.default.svc.edge.local", addresses: ["10.1.0.5", "fd00::5"] }
    ])
  })

  it("R150 are there under a key with a slash", () => {
    const zoned = grid("web", "topology.kubernetes.io/zone")
    const own = { grids: [zoned], sets: [set(zoned, "beijing", "web-svc")], slices }
    expect(
      Object.keys(asked({ ...own, node: node({ "topology.kubernetes.io/zone": "beijing" }) }))
    ).toHaveLength(2)
  })

  it.each([
    ["no such Service", []],
    [
      "a Service with a cluster IP",
      [{ metadata: { name: "web-svc", namespace: "default" }, spec: { clusterIP: "10.96.0.1" } }]
    ],
    ["a Service in another namespace", [headless("web-svc", "other")]]
  ])("R151 are none where there is %s", (_, services) => {
    expect(asked({ grids: [web], sets, slices, services: services as readonly Service[] })).toEqual({})
  })

  it("R152 are under the grid's name where the set's name is hashed", () => {
    const odd = set(web, "Bei_Jing", "web-svc", "web-bei-jing-x7f3")
    expect(
      asked({
        grids: [web],
        sets: [odd],
        slices: [slice("web-svc", [pod("web-bei-jing-x7f3-0", "10.1.0.5")])],
        zone: "Bei_Jing"
      })
    ).toEqual({ "web-0.web-svc.default": ["10.1.0.5"], "web-bei-jing-x7f3-0.web-svc.default": ["10.1.0.5"] })
  })

  it("are of ten pods and more, from any ordinal on, and of nobody whose name only begins alike", () => {
    const hosts = [
      "web-beijing-9",
      "web-beijing-10",
      "web-beijing-007",
      "web-beijing-",
      "web-beijing-1-0",
      "web-beijing-x"
    ]
    const many = slice(
      "web-svc",
      hosts.map((host, i) => pod(host, `10.0.0.${i}`))
    )
    expect(Object.keys(asked({ grids: [web], sets, slices: [many] }))).toEqual([
      "web-10.web-svc.default",
      "web-9.web-svc.default",
      "web-beijing-10.web-svc.default",
      "web-beijing-9.web-svc.default"
    ])
  })

  it("leave out a short name that a real pod or set bears", () => {
    const both = [
      slice("web-svc", [pod("web-beijing-0", "10.1.0.5"), pod("web-0", "10.9.9.9", { ready: false })])
    ]
    expect(Object.keys(asked({ grids: [web], sets, slices: both }))).toEqual([
      "web-beijing-0.web-svc.default"
    ])
    const real = {
      metadata: { name: "web", namespace: "default" },
      spec: { serviceName: "web-svc" }
    } as unknown as StatefulSet
    expect(Object.keys(asked({ grids: [web], sets: [...sets, real], slices }))).toEqual([
      "web-beijing-0.web-svc.default"
    ])
  })

  it.each([
    ["False", ["web-beijing-0.web-svc.default"]],
    ["True", ["web-0.web-svc.default", "web-beijing-0.web-svc.default"]]
  ])("leave out short names where the grid's condition ShortNames is False (%s)", (status, wanted) => {
    const told = { ...web, status: { conditions: [null, { type: "ShortNames", status }] } } as StatefulSetGrid
    const one = [slice("web-svc", [pod("web-beijing-0", "10.1.0.5")])]
    expect(Object.keys(asked({ grids: [told], sets, slices: one }))).toEqual(wanted)
  })

  it("leave out short names that are no DNS label", () => {
    const dotted = grid("a.b")
    const one = set(dotted, "beijing", "web-svc", "a-b-beijing")
    const found = asked({
      grids: [dotted],
      sets: [one],
      slices: [slice("web-svc", [pod("a-b-beijing-0", "10.0.0.1")])]
    })
    expect(Object.keys(found)).toEqual(["a-b-beijing-0.web-svc.default"])
  })

  it("are none of sets of another grid, another key, or of nobody", () => {
    const [other] = [grid("web", "zone", "other")]
    const foreign = [
      set(other, "beijing", "web-svc"),
      {
        ...set(web, "beijing", "web-svc"),
        metadata: { ...set(web, "beijing", "web-svc").metadata, ownerReferences: [] }
      },
      set(grid("web", "rack"), "beijing", "web-svc")
    ]
    for (const each of foreign) expect(asked({ grids: [web], sets: [each], slices })).toEqual({})
  })
})
