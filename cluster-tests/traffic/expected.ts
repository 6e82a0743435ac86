/** Where a node's rules must lead, from the objects in the API server and the published decision of what a node is shown. */
import type { EndpointSlice, Endpoints, Node, Service } from "../../src/core/index.ts"
import { reachable, type SliceEndpoint } from "../../src/core/index.ts"
import { at, type Client } from "../client.ts"
import type { Rules } from "./rules.ts"

export interface Objects {
  readonly nodes: ReadonlyMap<string, Node>
  readonly services: readonly Service[]
  readonly slices: readonly EndpointSlice[]
  /** Endpoints of the API server itself */
  readonly apiServer: Endpoints | undefined
}

export const objects = async (client: Client): Promise<Objects> => {
  const [nodes, services, slices, apiServer] = await Promise.all([
    client.items("/api/v1/nodes"),
    client.items("/api/v1/services"),
    client.items("/apis/discovery.k8s.io/v1/endpointslices"),
    client.find("/api/v1/namespaces/default/endpoints/kubernetes")
  ])
  return {
    nodes: new Map((nodes as readonly Node[]).map((node) => [node.metadata.name, node])),
    services: services as readonly Service[],
    slices: slices as readonly EndpointSlice[],
    apiServer: apiServer as Endpoints | undefined
  }
}

/** The slices of one Service as a node is shown them. */
export const shown = (
  { nodes, slices, apiServer }: Objects,
  service: Service,
  name: string
): readonly EndpointSlice[] => {
  const node = nodes.get(name)
  if (node === undefined) throw new Error(`there is no node ${name}`)
  const own = slices.filter(
    ({ metadata }) =>
      metadata.namespace === service.metadata.namespace &&
      metadata.labels?.["kubernetes.io/service-name"] === service.metadata.name
  )
  return reachable({ service, slices: own, node, nodes, apiServer })
}

/** What kube-proxy makes of that for every Service with a cluster IP. */
export const expected = (found: Objects, name: string): Rules => {
  const rules = new Map<string, readonly string[]>()
  for (const service of found.services) {
    const ip = at(service, "spec", "clusterIP")
    if (typeof ip !== "string" || ip === "None" || ip === "") continue
    const slices = shown(found, service, name)
    for (const port of at(service, "spec", "ports") as readonly unknown[]) {
      const protocol = String(at(port, "protocol")).toLowerCase()
      const own = slices.flatMap((slice) => led(slice, at(port, "name")))
      rules.set(`${ip}:${String(at(port, "port"))}/${protocol}`, used(own))
    }
  }
  return rules
}

interface Led {
  readonly address: string
  readonly endpoint: SliceEndpoint
}

const led = (slice: EndpointSlice, port: unknown): readonly Led[] =>
  (slice.ports ?? [])
    .filter((each) => (at(each, "name") ?? "") === (port ?? ""))
    .flatMap((each) =>
      (slice.endpoints ?? []).map((endpoint) => ({
        address: `${endpoint.addresses?.[0] ?? ""}:${String(at(each, "port"))}`,
        endpoint
      }))
    )

/** kube-proxy's own choice (KEP-1669): the ready ones; without any, those that still serve while they end. */
const used = (all: readonly Led[]): readonly string[] => {
  const ready = all.filter(({ endpoint }) => at(endpoint, "conditions", "ready") !== false)
  const ending = all.filter(
    ({ endpoint }) =>
      at(endpoint, "conditions", "serving") === true && at(endpoint, "conditions", "terminating") === true
  )
  return (ready.length > 0 ? ready : ending).map(({ address }) => address).sort()
}
