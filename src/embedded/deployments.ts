/**
 * Deployment -> ReplicaSet: one replica set for each pod template, the newest scaled up and the older ones down.
 *
 * Simplified: replicas that change in the middle of a rollout all go to the newest replica set, where Kubernetes
 * shares them out in proportion; and two templates with one hash are not told apart.
 */
import type { Change, KubeObject, Request } from "./cluster.ts"
import { nothing, type Act, type Concern, type Controller } from "./controller.ts"
import { told } from "./events.ts"
import { hash, same } from "./hash.ts"
import {
  controlledBy,
  controllerOf,
  isActive,
  selects,
  valueOf,
  type Deployment,
  type Pod,
  type ReplicaSet
} from "./kinds.ts"
import { at as objectAt, controlled, keyOfObject, orphans, type Lookup } from "./lookup.ts"
import { create, patch, pathOf, remove, replace } from "./requests.ts"
import {
  boundsOf,
  deadlineOf,
  newReplicas,
  oldReplicas,
  replicasOf,
  statusOf,
  withCondition
} from "./rollout.ts"

export const deployments: Controller = {
  name: "deployments",
  concerns: (look, change) => concerns(look, change),
  act: (look, key, at) => {
    const deployment = objectAt(look, "apps/deployments", key) as Deployment | undefined
    return deployment === undefined || deployment.metadata.deletionTimestamp
      ? nothing
      : act(look, deployment, at)
  }
}

const concerns = (look: Lookup, { resource, object }: Change): readonly Concern[] => {
  if (resource === "apps/deployments") return [{ key: keyOfObject(object) }]
  if (resource !== "apps/replicasets" && resource !== "/pods") return []
  const owner = controllerOf(object)
  const namespace = object.metadata.namespace ?? ""
  if (resource === "apps/replicasets" && owner?.kind === "Deployment")
    return [{ key: `${namespace}/${owner.name}` }]
  if (resource === "/pods" && owner?.kind === "ReplicaSet") return recreating(look, namespace, owner.name)
  return []
}

/** Only the strategy Recreate waits for pods to be gone; all others read the replica sets' counts. */
const recreating = (look: Lookup, namespace: string, set: string): readonly Concern[] => {
  const replicaSet = objectAt(look, "apps/replicasets", `${namespace}/${set}`)
  const owner = replicaSet ? controllerOf(replicaSet) : undefined
  if (owner?.kind !== "Deployment") return []
  const key = `${namespace}/${owner.name}`
  const deployment = objectAt(look, "apps/deployments", key) as Deployment | undefined
  return deployment !== undefined && isRecreate(deployment) ? [{ key }] : []
}

const act = (look: Lookup, deployment: Deployment, at: number): Act => {
  const adopting = adoption(look, deployment, at)
  if (adopting.length > 0) return { requests: adopting }
  const sets = controlled<ReplicaSet>(look, deployment.metadata.uid, "apps/replicasets").filter(
    (each) => !each.metadata.deletionTimestamp
  )
  const name = hash(deployment.spec.template)
  const current = sets.find((each) => valueOf(each.metadata.labels, HASH) === name)
  const old = sets.filter((each) => each !== current).toSorted(byAge)
  const paused = deployment.spec["paused"] === true
  if (current === undefined && !paused) return begin(look, deployment, old, name, at)
  // The status goes first: it is refused if the Deployment changed since it was read.
  const requests = [
    ...reporting(deployment, current, old, at),
    ...(paused ? scalingOfPaused(deployment, sets, at) : scaling(deployment, current, old, at)),
    ...(paused || current === undefined ? [] : renumbering(deployment, current, old, at)),
    ...(paused ? [] : forgetting(deployment, old, at))
  ]
  return { requests, again: deadlineOf(deployment) }
}

/** The first step of a rollout: a replica set for the new template. With Recreate, after the old pods are gone. */
const begin = (
  look: Lookup,
  deployment: Deployment,
  old: readonly ReplicaSet[],
  name: string,
  at: number
): Act => {
  if (isRecreate(deployment)) {
    const running = old.filter((each) => replicasOf(each) > 0)
    const stopping = running.flatMap((each) => scaled(deployment, each, 0, at))
    const left = old.some((each) => controlled<Pod>(look, each.metadata.uid, "/pods").some(isUnfinished))
    if (left) return { requests: [...stopping, ...reporting(deployment, undefined, old, at)] }
  }
  const set = replicaSet(deployment, old, name)
  const made = create(AGENT, "apps/replicasets", deployment.metadata.namespace, set, at)
  const replicas = newReplicas(deployment, undefined, old)
  if (replicas === 0) return { requests: [made] }
  return { requests: [made, resized(deployment, `${deployment.metadata.name}-${name}`, 0, replicas, at)] }
}

/** Says that a replica set was given another size. */
const resized = (deployment: Deployment, set: string, from: number, to: number, at: number): Request => {
  const message = `Scaled ${from < to ? "up" : "down"} replica set ${set} from ${from} to ${to}`
  return told(AGENT, "deployment-controller", deployment, { reason: "ScalingReplicaSet", message }, at)
}

const replicaSet = (deployment: Deployment, old: readonly ReplicaSet[], name: string): object => {
  const { template, selector } = deployment.spec
  const labels = { ...template?.metadata?.labels, [HASH]: name }
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${deployment.metadata.name}-${name}`,
      namespace: deployment.metadata.namespace,
      labels,
      annotations: {
        ...copied(deployment),
        ...sizes(deployment),
        [REVISION]: String(latest(old) + 1)
      },
      ownerReferences: [controlledBy(deployment, "apps/v1", "Deployment")]
    },
    spec: {
      replicas: newReplicas(deployment, undefined, old),
      ...(deployment.spec["minReadySeconds"] ? { minReadySeconds: deployment.spec["minReadySeconds"] } : {}),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [HASH]: name } },
      template: { ...template, metadata: { ...template?.metadata, labels } }
    }
  }
}

/** Up first; only when the new replica set has what it may have do the old ones shrink. */
const scaling = (
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  at: number
): readonly Request[] => {
  if (current === undefined) return []
  const up = newReplicas(deployment, current, old)
  const minReadySeconds = deployment.spec["minReadySeconds"] ?? 0
  const wanted = { ...sizes(deployment) }
  if (
    up !== replicasOf(current) ||
    minReadySeconds !== (current.spec.minReadySeconds ?? 0) ||
    Object.entries(wanted).some(([key, value]) => valueOf(current.metadata.annotations, key) !== value)
  ) {
    const body = { metadata: { annotations: wanted }, spec: { replicas: up, minReadySeconds } }
    const written = patch(AGENT, "apps/replicasets", current, body, at)
    const before = replicasOf(current)
    return up === before ? [written] : [written, resized(deployment, current.metadata.name, before, up, at)]
  }
  const down = oldReplicas(deployment, current, old)
  return old.flatMap((each) => {
    const replicas = down.get(each) ?? 0
    return replicas === replicasOf(each) ? [] : scaled(deployment, each, replicas, at)
  })
}

/** A paused Deployment starts no rollout, but its size still follows `replicas`. */
const scalingOfPaused = (
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  at: number
): readonly Request[] => {
  const active = sets.filter((each) => replicasOf(each) > 0)
  const only = active.length === 1 ? active[0] : undefined
  return only === undefined || replicasOf(only) === replicasOf(deployment)
    ? []
    : scaled(deployment, only, replicasOf(deployment), at)
}

/** The newest replica set bears the highest revision, and the Deployment bears the same: also after going back. */
const renumbering = (
  deployment: Deployment,
  current: ReplicaSet,
  old: readonly ReplicaSet[],
  at: number
): readonly Request[] => {
  const revision = String(Math.max(latest(old) + 1, revisionOf(current)))
  const annotations = { [REVISION]: revision }
  const requests: Request[] = []
  if (String(revisionOf(current)) !== revision) {
    requests.push(patch(AGENT, "apps/replicasets", current, { metadata: { annotations } }, at))
  }
  if (valueOf(deployment.metadata.annotations, REVISION) !== revision) {
    // through the status, so that the generation doesn't rise
    const { namespace, name } = deployment.metadata
    const path = pathOf("apps/deployments", namespace, name, "status")
    const noted = patch(AGENT, "apps/deployments", deployment, { metadata: { annotations } }, at)
    requests.push({ ...noted, path })
  }
  return requests
}

/** Empty replica sets beyond `revisionHistoryLimit` are deleted, the oldest revision first. */
const forgetting = (deployment: Deployment, old: readonly ReplicaSet[], at: number): readonly Request[] => {
  const limit = (deployment.spec["revisionHistoryLimit"] as number | null | undefined) ?? 10
  const surplus = old.length - limit
  if (surplus <= 0) return []
  return old
    .toSorted((one, other) => revisionOf(one) - revisionOf(other))
    .slice(0, surplus)
    .filter((each) => replicasOf(each) === 0 && (each.status?.replicas ?? 0) === 0)
    .map((each) => remove(AGENT, "apps/replicasets", each, at, { propagationPolicy: "Background" }))
}

const reporting = (
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  at: number
): readonly Request[] => {
  const counted = statusOf(deployment, current, old, at)
  const status = {
    ...counted,
    conditions: conditions(deployment, counted?.conditions ?? [], current, old, at)
  }
  return same(status, deployment.status ?? {})
    ? []
    : [replace(AGENT, "apps/deployments", { ...deployment, status } as KubeObject, at, "status")]
}

const conditions = (
  deployment: Deployment,
  counted: NonNullable<NonNullable<Deployment["status"]>["conditions"]>,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  at: number
): typeof counted => {
  const progressing = counted.find((each) => each.type === "Progressing")
  const failure = [...(current ? [current] : []), ...old]
    .flatMap((each) => each.status?.conditions ?? [])
    .find((each) => each.type === "ReplicaFailure" && each.status === "True")
  let all = counted.filter((each) => each.type !== "ReplicaFailure" || failure !== undefined)
  if (failure) all = withCondition(all, { ...failure }, at).slice()
  if (deployment.spec["paused"] === true) {
    const message = "Deployment is paused"
    return withCondition(
      all,
      { type: "Progressing", status: "Unknown", reason: "DeploymentPaused", message },
      at
    )
  }
  if (progressing?.reason === "DeploymentPaused") {
    const message = "Deployment is resumed"
    return withCondition(
      all,
      { type: "Progressing", status: "Unknown", reason: "DeploymentResumed", message },
      at
    )
  }
  if (progressing !== undefined || current === undefined) return all
  const message = `Created new replica set "${current.metadata.name}"`
  return withCondition(
    all,
    { type: "Progressing", status: "True", reason: "NewReplicaSetCreated", message },
    at
  )
}

/** Replica sets without a controller that the selector matches become the Deployment's. */
const adoption = (look: Lookup, deployment: Deployment, at: number): readonly Request[] =>
  orphans<ReplicaSet>(look, "apps/replicasets", deployment.metadata.namespace ?? "")
    .filter((each) => !each.metadata.deletionTimestamp)
    .filter((each) => selects(deployment.spec.selector, each.metadata.labels ?? {}))
    .map((each) => {
      const owner = controlledBy(deployment, "apps/v1", "Deployment")
      const ownerReferences = [...(each.metadata.ownerReferences ?? []), owner]
      return patch(
        AGENT,
        "apps/replicasets",
        each,
        { metadata: { uid: each.metadata.uid, ownerReferences } },
        at
      )
    })

const scaled = (
  deployment: Deployment,
  set: ReplicaSet,
  replicas: number,
  at: number
): readonly Request[] => [
  patch(AGENT, "apps/replicasets", set, { spec: { replicas } }, at),
  resized(deployment, set.metadata.name, replicasOf(set), replicas, at)
]

const sizes = (deployment: Deployment): Readonly<Record<string, string>> => ({
  "deployment.kubernetes.io/desired-replicas": String(replicasOf(deployment)),
  "deployment.kubernetes.io/max-replicas": String(replicasOf(deployment) + boundsOf(deployment).surge)
})

/** The Deployment's annotations go along, except those that speak of the object they stand on. */
const copied = (deployment: Deployment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(deployment.metadata.annotations ?? {}).filter(
      ([key]) =>
        key !== "kubectl.kubernetes.io/last-applied-configuration" &&
        !key.startsWith("deployment.kubernetes.io/")
    )
  )

const revisionOf = (set: ReplicaSet): number => Number(valueOf(set.metadata.annotations, REVISION) ?? 0)

const latest = (sets: readonly ReplicaSet[]): number => Math.max(0, ...sets.map(revisionOf))

const isRecreate = (deployment: Deployment): boolean =>
  (deployment.spec["strategy"] as { readonly type?: string } | null | undefined)?.type === "Recreate"

const isUnfinished = (pod: Pod): boolean => isActive(pod) || Boolean(pod.metadata.deletionTimestamp)

const byAge = (one: ReplicaSet, other: ReplicaSet): number => revisionOf(one) - revisionOf(other)

const AGENT = "kube-controller-manager"
const HASH = "pod-template-hash"
const REVISION = "deployment.kubernetes.io/revision"
