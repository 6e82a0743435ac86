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
})
