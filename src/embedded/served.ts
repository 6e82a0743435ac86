/**
 * The built-in kinds that are served: those that grids, their children and the controllers around them meet.
 */
import type { Resource } from "./cluster.ts"

type Trait = "cluster" | "status" | "scale" | "all"

const kind = (
  group: string,
  version: string,
  plural: string,
  name: string,
  shortNames: readonly string[],
  ...traits: readonly Trait[]
): Resource => ({
  group,
  version,
  plural,
  singular: name.toLowerCase(),
  kind: name,
  listKind: `${name}List`,
  namespaced: !traits.includes("cluster"),
  shortNames,
  categories: traits.includes("all") ? ["all"] : [],
  status: traits.includes("status"),
  scale: traits.includes("scale"),
  custom: false
})

/** The newer group of events, which are kept once, as the core group has them. */
export const EVENTS = "events.k8s.io"

/** The group as which a kind is kept. */
export const homeOf = (group: string): string => (group === EVENTS ? "" : group)

export const BUILT_IN: readonly Resource[] = [
  kind("", "v1", "configmaps", "ConfigMap", ["cm"]),
  kind("", "v1", "endpoints", "Endpoints", ["ep"]),
  kind("", "v1", "events", "Event", ["ev"]),
  kind("", "v1", "namespaces", "Namespace", ["ns"], "cluster", "status"),
  kind("", "v1", "nodes", "Node", ["no"], "cluster", "status"),
  kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", ["pvc"], "status"),
  kind("", "v1", "pods", "Pod", ["po"], "status", "all"),
  kind("", "v1", "secrets", "Secret", []),
  kind("", "v1", "serviceaccounts", "ServiceAccount", ["sa"]),
  kind("", "v1", "services", "Service", ["svc"], "status", "all"),
  kind("apps", "v1", "controllerrevisions", "ControllerRevision", []),
  kind("apps", "v1", "deployments", "Deployment", ["deploy"], "status", "scale", "all"),
  kind("apps", "v1", "replicasets", "ReplicaSet", ["rs"], "status", "scale", "all"),
  kind("apps", "v1", "statefulsets", "StatefulSet", ["sts"], "status", "scale", "all"),
  kind(EVENTS, "v1", "events", "Event", ["ev"]),
  kind("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", []),
  kind("networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", [], "cluster", "status"),
  kind("coordination.k8s.io", "v1", "leases", "Lease", []),
  {
    ...kind(
      "apiextensions.k8s.io",
      "v1",
      "customresourcedefinitions",
      "CustomResourceDefinition",
      ["crd", "crds"],
      "cluster",
      "status"
    ),
    categories: ["api-extensions"]
  }
]

/** Kinds whose `metadata.generation` counts changes of the spec. */
export const COUNTED: ReadonlySet<string> = new Set([
  "Deployment",
  "ReplicaSet",
  "StatefulSet",
  "Pod",
  "EndpointSlice",
  "CustomResourceDefinition"
])

/** Kinds whose DELETE answers the object, rather than a Status. */
export const ANSWERS_OBJECT: ReadonlySet<string> = new Set([
  "Namespace",
  "PersistentVolumeClaim",
  "Pod",
  "Service",
  "ServiceAccount"
])

/** Kinds that a PUT creates where they are absent. */
export const PUT_CREATES: ReadonlySet<string> = new Set(["Service", "Lease", "Endpoints", "Event"])

/** Kinds that a PUT must name the resourceVersion for; custom kinds too. */
export const PUT_CONDITIONAL: ReadonlySet<string> = new Set(["Lease", "CustomResourceDefinition"])
