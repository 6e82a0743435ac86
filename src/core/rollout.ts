/**
 * A workload's own status: whether its rollout is through, and whether it failed.
 */
import { type Child, statusOf } from "./child.ts"
import { asText, isObject } from "./json.ts"
import type { WorkloadStatus } from "./kube.ts"

const desired = (child: Child): number => child.replicas ?? 1

/** A count of a status; absent is none. */
const count = (value: unknown): number => (typeof value === "number" ? value : 0)

const updated = (child: Child, status: WorkloadStatus): boolean => {
  const fresh = count(status.updatedReplicas) >= desired(child) - child.partition
  if (child.kind === "Deployment") return fresh
  return fresh || (status.updateRevision !== undefined && status.updateRevision === status.currentRevision)
}

/**
 * Whether a child runs what its spec says with all its replicas ready: its controller has seen this generation, every replica
 * but those of a partition is of the new template (as `kubectl rollout status` judges), none is left over, and each is ready. A
 * Service is ready when it exists.
 */
export const isReady = (child: Child): boolean => {
  if (child.kind === "Service") return true
  const status = statusOf(child)
  return (
    count(status.observedGeneration) >= child.generation &&
    updated(child, status) &&
    count(status.replicas) === desired(child) &&
    count(status.readyReplicas) === desired(child)
  )
}

/** Why a rollout failed, in Kubernetes' own words: its deadline passed, or pods can't be created. */
export const rolloutFailure = (child: Child): string | undefined => {
  if (child.kind === "Service") return undefined
  const conditions: unknown = statusOf(child).conditions
  if (!Array.isArray(conditions)) return undefined
  for (const each of conditions as readonly unknown[]) {
    if (!isObject(each)) continue
    const stuck =
      each["type"] === "Progressing" &&
      each["status"] === "False" &&
      each["reason"] === "ProgressDeadlineExceeded"
    const refused = each["type"] === "ReplicaFailure" && each["status"] === "True"
    if (stuck || refused) return `${asText(each["reason"] ?? each["type"])}: ${asText(each["message"] ?? "")}`
  }
  return undefined
}
