/**
 * The arithmetic of a rolling update, as kube-controller-manager does it: how many replicas the new replica set
 * may have, how many the old ones may lose, and what the Deployment's status says of it.
 */
import type { Condition, Deployment, ReplicaSet } from "./kinds.ts"
import { timestamp } from "./kinds.ts"

/** How many pods there may be beyond `replicas`, and how many may be missing. */
export interface Bounds {
  readonly surge: number
  readonly unavailable: number
}

export const boundsOf = (deployment: Deployment): Bounds => {
  const strategy = deployment.spec["strategy"] as Strategy | null | undefined
  const replicas = replicasOf(deployment)
  if (strategy?.type === "Recreate") return { surge: 0, unavailable: 0 }
  const surge = absolute(strategy?.rollingUpdate?.maxSurge ?? "25%", replicas, Math.ceil)
  const unavailable = absolute(strategy?.rollingUpdate?.maxUnavailable ?? "25%", replicas, Math.floor)
  return surge === 0 && unavailable === 0
    ? { surge: 0, unavailable: 1 }
    : { surge, unavailable: Math.min(unavailable, replicas) }
}

/** The replicas that the new replica set should have now; never below what it has, except down to what is wanted. */
export const newReplicas = (
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[]
): number => {
  const wanted = replicasOf(deployment)
  const has = current ? replicasOf(current) : 0
  if (has >= wanted) return wanted
  const room = wanted + boundsOf(deployment).surge - has - total(old, replicasOf)
  return has + Math.max(0, Math.min(room, wanted - has))
}

/** The replicas that each old replica set should have now: unhealthy ones go first, then as many as aren't needed. */
export const oldReplicas = (
  deployment: Deployment,
  current: ReplicaSet,
  old: readonly ReplicaSet[]
): ReadonlyMap<ReplicaSet, number> => {
  const needed = replicasOf(deployment) - boundsOf(deployment).unavailable
  const all = [current, ...old]
  const starting = replicasOf(current) - availableOf(current)
  let spare = total(all, replicasOf) - needed - starting
  const left = new Map(old.map((each) => [each, replicasOf(each)]))
  for (const each of old) {
    const sick = Math.max(0, Math.min(spare, replicasOf(each) - availableOf(each)))
    left.set(each, replicasOf(each) - sick)
    spare -= sick
  }
  let surplus = total(all, availableOf) - needed
  for (const each of old) {
    const has = left.get(each) ?? 0
    const going = Math.max(0, Math.min(surplus, has))
    left.set(each, has - going)
    surplus -= going
  }
  return left
}

/** The status after the replica sets as they are; conditions change only where they say something else. */
export const statusOf = (
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  at: number
): Deployment["status"] => {
  const all = current ? [current, ...old] : old
  const available = total(all, availableOf)
  const ready = total(all, (each) => each.status?.readyReplicas ?? 0)
  const replicas = total(all, (each) => each.status?.replicas ?? 0)
  const updated = current?.status?.replicas ?? 0
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...positive({
      replicas,
      updatedReplicas: updated,
      readyReplicas: ready,
      availableReplicas: available,
      unavailableReplicas: Math.max(0, total(all, replicasOf) - available)
    }),
    terminatingReplicas: total(all, (each) => each.status?.terminatingReplicas ?? 0),
    ...(deployment.status?.["collisionCount"] ? { collisionCount: deployment.status["collisionCount"] } : {})
  }
  const minimum = replicasOf(deployment) - boundsOf(deployment).unavailable
  const conditions = withCondition(
    deployment.status?.conditions ?? [],
    available >= minimum
      ? {
          type: "Available",
          status: "True",
          reason: "MinimumReplicasAvailable",
          message: "Deployment has minimum availability."
        }
      : {
          type: "Available",
          status: "False",
          reason: "MinimumReplicasUnavailable",
          message: "Deployment does not have minimum availability."
        },
    at
  )
  return { ...counts, conditions: progress(deployment, counts, conditions, current, at) }
}

/** The conditions with one more; equal status and reason change nothing, equal status keeps the transition time. */
export const withCondition = (
  conditions: readonly Condition[],
  condition: Condition,
  at: number
): readonly Condition[] => {
  const before = conditions.find((each) => each.type === condition.type)
  if (before?.status === condition.status && before.reason === condition.reason) return conditions
  const now = timestamp(at)
  return [
    ...conditions.filter((each) => each !== before),
    {
      ...condition,
      lastUpdateTime: now,
      lastTransitionTime: before?.status === condition.status ? (before.lastTransitionTime ?? now) : now
    }
  ]
}

/** When a rollout that makes no progress is to be called failed; undefined where none runs. */
export const deadlineOf = (deployment: Deployment): number | undefined => {
  const seconds = (deployment.spec["progressDeadlineSeconds"] as number | null | undefined) ?? 600
  const condition = deployment.status?.conditions?.find((each) => each.type === "Progressing")
  if (condition === undefined || DONE.includes(condition.reason ?? "")) return undefined
  return Date.parse(String(condition["lastUpdateTime"])) + seconds * 1000
}

export const replicasOf = (object: Deployment | ReplicaSet): number => object.spec.replicas ?? 1

export const total = <T>(all: readonly T[], count: (each: T) => number): number =>
  all.reduce((sum, each) => sum + count(each), 0)

/** Counts as the API writes them: zero is left out. */
export const positive = (counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))

type Counts = Readonly<Record<string, unknown>>

const progress = (
  deployment: Deployment,
  counts: Counts,
  conditions: readonly Condition[],
  current: ReplicaSet | undefined,
  at: number
): readonly Condition[] => {
  const before = conditions.find((each) => each.type === "Progressing")
  const updated = numberOf(counts, "updatedReplicas")
  if (before?.reason === "NewReplicaSetAvailable" && numberOf(counts, "replicas") === updated)
    return conditions
  const what = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`
  if (isComplete(deployment, counts)) {
    const message = `${what} has successfully progressed.`
    const done = { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable", message }
    return withCondition(conditions, done, at)
  }
  if (hasMoved(deployment.status ?? {}, counts)) {
    // Each bit of progress begins the deadline anew, so the time of the last update moves even where nothing else does.
    const moving = {
      type: "Progressing",
      status: "True",
      reason: "ReplicaSetUpdated",
      message: `${what} is progressing.`
    }
    const others = conditions.filter((each) => each !== before)
    const [fresh] = withCondition([], moving, at)
    if (fresh === undefined || before?.status !== "True") return withCondition(others, moving, at)
    return [
      ...others,
      { ...fresh, lastTransitionTime: before.lastTransitionTime ?? fresh.lastTransitionTime ?? null }
    ]
  }
  const deadline = deadlineOf(deployment)
  if (deadline === undefined || at < deadline || deployment.spec["paused"] === true) return conditions
  const message = `${what} has timed out progressing.`
  const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message }
  return withCondition(conditions, late, at)
}

/** Whether every replica is of the newest template and available, and none of an older one is left. */
const isComplete = (deployment: Deployment, counts: Counts): boolean => {
  const wanted = replicasOf(deployment)
  return ["updatedReplicas", "replicas", "availableReplicas"].every(
    (name) => numberOf(counts, name) === wanted
  )
}

const hasMoved = (before: Counts, now: Counts): boolean => {
  const old = (counts: Counts): number => numberOf(counts, "replicas") - numberOf(counts, "updatedReplicas")
  return (
    ["updatedReplicas", "readyReplicas", "availableReplicas"].some(
      (name) => numberOf(now, name) > numberOf(before, name)
    ) || old(now) < old(before)
  )
}

const numberOf = (counts: Counts, name: string): number => (counts[name] as number | null | undefined) ?? 0

const availableOf = (set: ReplicaSet): number => Math.min(replicasOf(set), set.status?.availableReplicas ?? 0)

interface Strategy {
  readonly type?: string | null
  readonly rollingUpdate?: {
    readonly maxSurge?: number | string | null
    readonly maxUnavailable?: number | string | null
  } | null
}

/** A number as it stands, or a percentage of the replicas; what is neither counts as none. */
const absolute = (value: number | string, of: number, round: (value: number) => number): number => {
  const number = typeof value === "number" ? value : Number.parseFloat(value)
  if (!Number.isFinite(number)) return 0
  return typeof value === "string" && value.endsWith("%") ? round((of * number) / 100) : number
}

const DONE = ["NewReplicaSetAvailable", "ProgressDeadlineExceeded", "DeploymentPaused"]
