/**
 * The kinds that the controller reads and writes, as the API addresses them.
 */
import type { ChildKind } from "../core/schema.ts"
import type { Grid } from "../core/grid.ts"
import type { Site } from "../core/site.ts"
import type { Kind } from "./api.ts"

/** A kind as the API's paths name it. */
export const kind = (
  group: string,
  version: string,
  plural: string,
  name: string,
  namespaced = true
): Kind => ({
  group,
  version,
  plural,
  kind: name,
  namespaced
})

export const ENDPOINTS = kind("", "v1", "endpoints", "Endpoints")
/** EndpointSlices in a version of discovery.k8s.io. */
export const slicesIn = (version: "v1" | "v1beta1"): Kind =>
  kind("discovery.k8s.io", version, "endpointslices", "EndpointSlice")

export const NODE = kind("", "v1", "nodes", "Node", false)
export const EVENT = kind("", "v1", "events", "Event")

export const LEASE = kind("coordination.k8s.io", "v1", "leases", "Lease")

export const GRIDS: { readonly [K in Grid["kind"]]: Kind } = {
  DeploymentGrid: kind("superedge.io", "v1", "deploymentgrids", "DeploymentGrid"),
  StatefulSetGrid: kind("superedge.io", "v1", "statefulsetgrids", "StatefulSetGrid"),
  ServiceGrid: kind("superedge.io", "v1", "servicegrids", "ServiceGrid")
}

export const SITES: { readonly [K in Site["kind"]]: Kind } = {
  NodeUnit: kind("site.superedge.io", "v1alpha2", "nodeunits", "NodeUnit", false),
  NodeGroup: kind("site.superedge.io", "v1alpha2", "nodegroups", "NodeGroup", false)
}

export const CHILDREN: { readonly [K in ChildKind]: Kind } = {
  Deployment: kind("apps", "v1", "deployments", "Deployment"),
  StatefulSet: kind("apps", "v1", "statefulsets", "StatefulSet"),
  Service: kind("", "v1", "services", "Service")
}
