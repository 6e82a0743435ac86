/**
 * The kinds that the built-in controllers read and write, as far as they look at them, and the few questions that
 * several of them ask of an object: who controls it, is a pod ready, does a selector match.
 */
import type {
  Condition,
  Deployment,
  JsonObject,
  KubeObject,
  LabelSelector,
  OwnerReference,
  PodTemplate,
  Service,
  StatefulSet,
  StringMap
} from "../core/kube.ts"

export interface Container {
  readonly name: string
  readonly image?: string
  readonly ports?: readonly {
    readonly name?: string
    readonly containerPort: number
    readonly protocol?: string
  }[]
  readonly [field: string]: unknown
}

export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
}

export interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string | null
    readonly nodeSelector?: StringMap | null
    readonly tolerations?: readonly Toleration[] | null
    readonly containers?: readonly Container[] | null
    readonly initContainers?: readonly Container[] | null
    readonly hostname?: string | null
    readonly subdomain?: string | null
    readonly hostNetwork?: boolean | null
    readonly affinity?: JsonObject | null
    readonly [field: string]: unknown
  }
  readonly status?: {
    readonly phase?: string
    readonly podIP?: string
    readonly podIPs?: readonly { readonly ip: string }[]
    readonly conditions?: readonly Condition[] | null
    readonly containerStatuses?: readonly JsonObject[] | null
    readonly [field: string]: unknown
  } | null
}

export interface ReplicaSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number | null
    readonly minReadySeconds?: number | null
    readonly selector?: LabelSelector | null
    readonly template?: PodTemplate | null
  }
  readonly status?: {
    readonly replicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly terminatingReplicas?: number
    readonly observedGeneration?: number
    readonly conditions?: readonly Condition[] | null
    readonly [field: string]: unknown
  } | null
}

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

export interface ClusterNode extends KubeObject {
  readonly spec?: {
    readonly podCIDR?: string | null
    readonly unschedulable?: boolean | null
    readonly taints?: readonly Taint[] | null
    readonly [field: string]: unknown
  } | null
  readonly status?: {
    readonly conditions?: readonly Condition[] | null
    readonly addresses?: readonly { readonly type: string; readonly address: string }[] | null
    readonly [field: string]: unknown
  } | null
}

export interface Endpoint {
  readonly addresses: readonly string[]
  readonly conditions?: {
    readonly ready?: boolean
    readonly serving?: boolean
    readonly terminating?: boolean
  }
  readonly hostname?: string
  readonly nodeName?: string
  readonly zone?: string
  readonly targetRef?: JsonObject
}

export interface EndpointPort {
  readonly name: string
  readonly port: number
  readonly protocol: string
  readonly appProtocol?: string
}

export interface EndpointSlice extends KubeObject {
  readonly addressType: string
  readonly endpoints?: readonly Endpoint[] | null
  readonly ports?: readonly EndpointPort[] | null
}

export type { Condition, Deployment, KubeObject, OwnerReference, PodTemplate, Service, StatefulSet }

/** The owner that controls the object. */
export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true)

/** The owner reference that makes the object the controller of another. */
export const controlledBy = (owner: KubeObject, apiVersion: string, kind: string): OwnerReference => ({
  apiVersion,
  kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true
})

export const conditionOf = (object: Pod | ClusterNode | Deployment, type: string): Condition | undefined =>
  (object.status?.conditions as readonly Condition[] | undefined)?.find((each) => each.type === type)

export const isReady = (pod: Pod): boolean => conditionOf(pod, "Ready")?.status === "True"

/** When a ready pod counts as available, in milliseconds; undefined while it isn't ready. */
export const availableFrom = (pod: Pod, minReadySeconds: number): number | undefined => {
  const ready = conditionOf(pod, "Ready")
  if (ready?.status !== "True") return undefined
  if (minReadySeconds <= 0) return 0
  return Date.parse(ready.lastTransitionTime ?? "") + minReadySeconds * 1000
}

/** Neither finished nor on its way out: what a controller of replicas counts. */
export const isActive = (pod: Pod): boolean =>
  !pod.metadata.deletionTimestamp && pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed"

/** Whether a label selector matches; one without any requirement matches everything, an absent one nothing. */
export const selects = (selector: LabelSelector | null | undefined, labels: StringMap): boolean => {
  if (!selector) return false
  const exact = Object.entries(selector.matchLabels ?? {})
  if (exact.some(([key, value]) => valueOf(labels, key) !== value)) return false
  return (selector.matchExpressions ?? []).every((each) => meets(each, labels))
}

/** One requirement of a selector, or of a node affinity (which adds Gt and Lt). */
export const meets = (
  requirement: {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[] | null | undefined
  },
  labels: StringMap
): boolean => {
  const value = valueOf(labels, requirement.key)
  const values = requirement.values ?? []
  switch (requirement.operator) {
    case "In":
      return value !== undefined && values.includes(value)
    case "NotIn":
      return value === undefined || !values.includes(value)
    case "Exists":
      return value !== undefined
    case "DoesNotExist":
      return value === undefined
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0])
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}

/** The value of a label; keys such as `constructor` are labels like any other. */
export const valueOf = (labels: StringMap | null | undefined, key: string): string | undefined =>
  labels && Object.hasOwn(labels, key) ? labels[key] : undefined

/** A point in time as Kubernetes writes it. */
export const timestamp = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z")
