/**
 * Pod -> Node: by node selector, required node affinity and taints, to the node with the fewest pods.
 *
 * A pod that fits nowhere waits, and says why in its condition PodScheduled. Resources other than the number of
 * pods on a node, spreading rules and affinity between pods are not looked at.
 */
import type { Change, KubeObject, Request } from "./cluster.ts"
import { nothing, type Act, type Concern, type Controller } from "./controller.ts"
import { same } from "./hash.ts"
import {
  conditionOf,
  isActive,
  meets,
  timestamp,
  valueOf,
  type ClusterNode,
  type Pod,
  type Taint,
  type Toleration
} from "./kinds.ts"
import { at as objectAt, keyOfObject, loadOf, nodesLabelled, waitingPods, type Lookup } from "./lookup.ts"
import { create, replace } from "./requests.ts"

export const scheduler: Controller = {
  name: "scheduler",
  concerns: (look, change) => concerns(look, change),
  act: (look, key, at) => {
    const pod = objectAt(look, "/pods", key) as Pod | undefined
    return pod === undefined || pod.spec.nodeName || !isActive(pod) ? nothing : place(look, pod, at)
  }
}

const concerns = (look: Lookup, { resource, type, object, before }: Change): readonly Concern[] => {
  if (resource === "/pods") {
    const pod = object as Pod
    if (type !== "DELETED") return pod.spec.nodeName ? [] : [{ key: keyOfObject(pod) }]
    return pod.spec.nodeName ? waitingPods(look).map((key) => ({ key })) : []
  }
  if (resource !== "/nodes" || type === "DELETED") return []
  const old = before as ClusterNode | undefined
  const node = object as ClusterNode
  const matters = !(
    old &&
    same(old.metadata.labels, node.metadata.labels) &&
    same(old.spec, node.spec) &&
    conditionOf(old, "Ready")?.status === conditionOf(node, "Ready")?.status
  )
  return matters ? waitingPods(look).map((key) => ({ key })) : []
}

const place = (look: Lookup, pod: Pod, at: number): Act => {
  const selector = pod.spec.nodeSelector ?? {}
  const fitting = nodesLabelled(look, selector).filter((node) => obstacle(look, pod, node) === undefined)
  let best: { readonly name: string; readonly load: number } | undefined
  for (const { metadata } of fitting) {
    const load = loadOf(look, metadata.name)
    if (best === undefined || load < best.load) best = { name: metadata.name, load }
  }
  return { requests: best === undefined ? waiting(look, pod, at) : [binding(pod, best.name, at)] }
}

const binding = (pod: Pod, node: string, at: number): Request => {
  const { name, namespace, uid } = pod.metadata
  const body = {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name, namespace, uid },
    target: { apiVersion: "v1", kind: "Node", name: node }
  }
  const request = create("kube-scheduler", "/pods", namespace, body, at)
  return { ...request, path: `${request.path}/${name}/binding` }
}

const waiting = (look: Lookup, pod: Pod, at: number): readonly Request[] => {
  const message = reasonsOf(look, pod)
  const before = conditionOf(pod, "PodScheduled")
  if (before?.status === "False" && before.message === message) return []
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message,
    lastProbeTime: null,
    lastTransitionTime: before?.status === "False" ? before.lastTransitionTime : timestamp(at)
  }
  const others = (pod.status?.conditions ?? []).filter((each) => each.type !== "PodScheduled")
  const status = { ...pod.status, phase: "Pending", conditions: [...others, condition] }
  return [replace("kube-scheduler", "/pods", { ...pod, status } as KubeObject, at, "status")]
}

/** Why no node fits, as kube-scheduler says it: `0/6 nodes are available: 2 node(s) were unschedulable, ...`. */
const reasonsOf = (look: Lookup, pod: Pod): string => {
  const nodes = nodesLabelled(look, {})
  const counts = new Map<string, number>()
  for (const node of nodes) {
    const reason = obstacle(look, pod, node) ?? ""
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  if (nodes.length === 0) return "no nodes available to schedule pods"
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`)
  return `0/${nodes.length} nodes are available: ${reasons.toSorted().join(", ")}.`
}

/** What keeps the pod off the node; undefined where it fits. */
const obstacle = (look: Lookup, pod: Pod, node: ClusterNode): string | undefined => {
  const tolerations = pod.spec.tolerations ?? []
  const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }
  if (node.spec?.unschedulable && !isTolerated(cordon, tolerations)) return "node(s) were unschedulable"
  if (!isChosen(pod, node)) return "node(s) didn't match Pod's node affinity/selector"
  if (untolerated(node, tolerations) !== undefined) return "node(s) had untolerated taint(s)"
  return loadOf(look, node.metadata.name) >= capacityOf(node) ? FULL : undefined
}

const isChosen = (pod: Pod, node: ClusterNode): boolean => {
  const labels = node.metadata.labels ?? {}
  const selector = Object.entries(pod.spec.nodeSelector ?? {})
  if (!selector.every(([key, value]) => valueOf(labels, key) === value)) return false
  const affinity = pod.spec.affinity as Affinity | null | undefined
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  if (!terms) return true
  const fields = { "metadata.name": node.metadata.name }
  return terms.some((term) => {
    const expressions = term.matchExpressions ?? []
    const ofFields = term.matchFields ?? []
    if (expressions.length + ofFields.length === 0) return false
    return expressions.every((each) => meets(each, labels)) && ofFields.every((each) => meets(each, fields))
  })
}

/** A taint that keeps pods away and that none of the tolerations covers. */
export const untolerated = (
  node: ClusterNode,
  tolerations: readonly Toleration[],
  effects: readonly string[] = ["NoSchedule", "NoExecute"]
): Taint | undefined =>
  (node.spec?.taints ?? []).find(
    (taint) => effects.includes(taint.effect) && !isTolerated(taint, tolerations)
  )

const isTolerated = (taint: Taint, tolerations: readonly Toleration[]): boolean =>
  tolerations.some(({ key, operator, value, effect }) => {
    if (effect && effect !== taint.effect) return false
    if (!key) return operator === "Exists"
    if (key !== taint.key) return false
    return operator === "Exists" || (value ?? "") === (taint.value ?? "")
  })

const capacityOf = (node: ClusterNode): number => {
  const allocatable = node.status?.["allocatable"] as Readonly<Record<string, unknown>> | null | undefined
  const pods = Number(allocatable?.["pods"] ?? 110)
  return Number.isFinite(pods) ? pods : 110
}

interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms?: readonly {
        readonly matchExpressions?: readonly Requirement[]
        readonly matchFields?: readonly Requirement[]
      }[]
    }
  }
}

const FULL = "Too many pods"
