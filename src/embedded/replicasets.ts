/**
 * ReplicaSet -> Pods: as many active pods as `replicas` says; the surplus goes, least useful pods first.
 */
import type { KubeObject, Request, Response } from "./cluster.ts"
import { nothing, type Act, type Concern, type Controller } from "./controller.ts"
import { same } from "./hash.ts"
import {
  availableFrom,
  controlledBy,
  controllerOf,
  isActive,
  isReady,
  selects,
  timestamp,
  type OwnerReference,
  type Pod,
  type PodTemplate,
  type ReplicaSet
} from "./kinds.ts"
import { at as objectAt, controlled, keyOfObject, orphans, type Lookup } from "./lookup.ts"
import { list } from "./model.ts"
import { create, patch, remove, replace } from "./requests.ts"
import { positive, replicasOf } from "./rollout.ts"

export const replicasets: Controller = {
  name: "replicasets",
  concerns: (look, { resource, object, before }) => {
    if (resource === "apps/replicasets") return [{ key: keyOfObject(object) }]
    return resource === "/pods" ? ownersOf(look, [object, before]) : []
  },
  act: (look, key, at) => {
    const set = objectAt(look, "apps/replicasets", key) as ReplicaSet | undefined
    return set === undefined || set.metadata.deletionTimestamp ? nothing : act(look, set, at)
  },
  refused: (look, key, response, at) => {
    const set = objectAt(look, "apps/replicasets", key) as ReplicaSet | undefined
    return set === undefined ? [] : failing(set, response, at)
  }
}

/** A pod as a template has it, for a controller of pods. */
export const podOf = (
  template: PodTemplate | null | undefined,
  metadata: object,
  owner: OwnerReference,
  spec: object = {}
): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...(template?.metadata?.["annotations"] ? { annotations: template.metadata["annotations"] } : {}),
    ...(template?.metadata?.["finalizers"] ? { finalizers: template.metadata["finalizers"] } : {}),
    labels: template?.metadata?.labels ?? {},
    ...metadata,
    ownerReferences: [owner]
  },
  spec: { ...template?.spec, ...spec }
})

/** The replica set that controls a pod, or those that may want it if nobody does. */
const ownersOf = (look: Lookup, pods: readonly (KubeObject | undefined)[]): readonly Concern[] => {
  const keys = new Set<string>()
  for (const pod of pods) {
    const owner = pod ? controllerOf(pod) : undefined
    if (owner?.kind === "ReplicaSet") keys.add(`${pod?.metadata.namespace}/${owner.name}`)
    if (pod !== undefined && owner === undefined) for (const key of admirers(look, pod)) keys.add(key)
  }
  return [...keys].map((key) => ({ key }))
}

/** Replica sets that may adopt a pod which nobody controls. */
const admirers = (look: Lookup, pod: KubeObject): readonly string[] =>
  (list(look.cluster, "apps/replicasets", pod.metadata.namespace ?? "") as readonly ReplicaSet[])
    .filter((each) => selects(each.spec.selector, pod.metadata.labels ?? {}))
    .map(keyOfObject)

const act = (look: Lookup, set: ReplicaSet, at: number): Act => {
  const adopting = adoption(look, set, at)
  if (adopting.length > 0) return { requests: adopting }
  const own = controlled<Pod>(look, set.metadata.uid, "/pods")
  const pods = own.filter(isActive)
  const missing = replicasOf(set) - pods.length
  const requests: Request[] = [...reporting(set, pods, own.filter(isTerminating).length, at)]
  for (let count = 0; count < missing; count++) requests.push(birth(set, at))
  for (const pod of pods.toSorted(byUse).slice(0, Math.max(0, -missing))) {
    requests.push(remove(AGENT, "/pods", pod, at))
  }
  return { requests, again: nextAvailable(pods, set.spec.minReadySeconds ?? 0, at) }
}

/** The first moment at which a ready pod becomes available. */
export const nextAvailable = (
  pods: readonly Pod[],
  minReadySeconds: number,
  at: number
): number | undefined => {
  const times = pods
    .map((pod) => availableFrom(pod, minReadySeconds))
    .filter((time) => time !== undefined && time > at)
  return times.length === 0 ? undefined : Math.min(...times.map(Number))
}

const birth = (set: ReplicaSet, at: number): Request => {
  const { namespace, name } = set.metadata
  const metadata = { generateName: `${name}-`, namespace }
  const pod = podOf(set.spec.template, metadata, controlledBy(set, "apps/v1", "ReplicaSet"))
  return create(AGENT, "/pods", namespace, pod, at)
}

const isTerminating = (pod: Pod): boolean =>
  Boolean(pod.metadata.deletionTimestamp) &&
  pod.status?.phase !== "Succeeded" &&
  pod.status?.phase !== "Failed"

const reporting = (
  set: ReplicaSet,
  pods: readonly Pod[],
  terminatingReplicas: number,
  at: number
): readonly Request[] => {
  const minReadySeconds = set.spec.minReadySeconds ?? 0
  const labels = set.spec.template?.metadata?.labels ?? {}
  const status = {
    replicas: pods.length,
    ...positive({
      fullyLabeledReplicas: pods.filter((pod) => selects({ matchLabels: labels }, pod.metadata.labels ?? {}))
        .length,
      readyReplicas: pods.filter(isReady).length,
      availableReplicas: pods.filter((pod) => (availableFrom(pod, minReadySeconds) ?? Infinity) <= at).length
    }),
    terminatingReplicas,
    observedGeneration: set.metadata.generation ?? 0,
    ...(pods.length < replicasOf(set) && set.status?.conditions ? { conditions: set.status.conditions } : {})
  }
  return same(status, set.status ?? {})
    ? []
    : [replace(AGENT, "apps/replicasets", { ...set, status } as ReplicaSet, at, "status")]
}

/** A pod that the server refuses shows as a condition; it goes once there are enough pods. */
const failing = (set: ReplicaSet, response: Response, at: number): readonly Request[] => {
  const message = String(
    (response.body as { readonly message?: string } | undefined)?.message ?? response.code
  )
  const before = set.status?.conditions?.find((each) => each.type === "ReplicaFailure")
  if (before?.message === message || response.code === 409) return []
  const condition = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message }
  const status = { ...set.status, conditions: [{ ...condition, lastTransitionTime: timestamp(at) }] }
  return [replace(AGENT, "apps/replicasets", { ...set, status } as KubeObject, at, "status")]
}

/** Pods without a controller that the selector matches become the replica set's. */
const adoption = (look: Lookup, set: ReplicaSet, at: number): readonly Request[] =>
  orphans<Pod>(look, "/pods", set.metadata.namespace ?? "")
    .filter((pod) => isActive(pod) && selects(set.spec.selector, pod.metadata.labels ?? {}))
    .map((pod) => {
      const owner = controlledBy(set, "apps/v1", "ReplicaSet")
      const ownerReferences = [...(pod.metadata.ownerReferences ?? []), owner]
      return patch(AGENT, "/pods", pod, { metadata: { uid: pod.metadata.uid, ownerReferences } }, at)
    })

/** What is missed least goes first: without a node, not running, not ready, youngest. */
const byUse = (one: Pod, other: Pod): number => {
  const use = (pod: Pod): number =>
    (pod.spec.nodeName ? 4 : 0) + (pod.status?.phase === "Running" ? 2 : 0) + (isReady(pod) ? 1 : 0)
  const age = (pod: Pod): number => -Date.parse(pod.metadata.creationTimestamp ?? "")
  return use(one) - use(other) || age(one) - age(other) || (one.metadata.name < other.metadata.name ? -1 : 1)
}

const AGENT = "kube-controller-manager"
