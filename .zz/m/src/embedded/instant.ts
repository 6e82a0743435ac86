/**
 * Deployments and StatefulSets that are ready as soon as they are asked for, without any pod: for stories in which
 * only their status matters, at a fraction of the cost. It stands in for every other controller of workloads.
 */
import type { KubeObject, Request } from "./cluster.ts"
import { nothing, type Controller } from "./controller.ts"
import { hash, same } from "./hash.ts"
import type { Deployment, StatefulSet } from "./kinds.ts"
import { at as objectAt, keyOfObject, parsed } from "./lookup.ts"
import { replace } from "./requests.ts"
import { positive, withCondition } from "./rollout.ts"

export const instant: Controller = {
  name: "instant",
  concerns: (_, { resource, type, object }) =>
    type !== "DELETED" && RESOURCES.includes(resource) ? [{ key: `${resource}/${keyOfObject(object)}` }] : [],
  act: (look, key, at) => {
    const resource = RESOURCES.find((each) => key.startsWith(`${each}/`)) ?? ""
    const { namespace, name } = parsed(key.slice(resource.length + 1))
    const workload = objectAt(look, resource, `${namespace}/${name}`) as Deployment | StatefulSet | undefined
    if (workload === undefined || workload.metadata.deletionTimestamp) return nothing
    const status = resource === "apps/deployments" ? deployed(workload, at) : numbered(workload)
    return same(status, workload.status ?? {})
      ? nothing
      : { requests: [reported(resource, workload, status, at)] }
  }
}

const reported = (resource: string, workload: KubeObject, status: object, at: number): Request =>
  replace("kube-controller-manager", resource, { ...workload, status } as KubeObject, at, "status")

const deployed = ({ metadata, spec, status }: Deployment, at: number): object => {
  const replicas = spec.replicas ?? 1
  const available = {
    type: "Available",
    status: "True",
    reason: "MinimumReplicasAvailable",
    message: "Deployment has minimum availability."
  }
  const progressing = {
    type: "Progressing",
    status: "True",
    reason: "NewReplicaSetAvailable",
    message: `ReplicaSet "${metadata.name}-${hash(spec.template)}" has successfully progressed.`
  }
  const conditions = withCondition(withCondition(status?.conditions ?? [], available, at), progressing, at)
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas }
  return { observedGeneration: metadata.generation ?? 0, ...positive(counts), conditions }
}

const numbered = ({ metadata, spec }: StatefulSet): object => {
  const replicas = spec.replicas ?? 1
  const revision = `${metadata.name}-${hash(spec.template)}`
  return {
    observedGeneration: metadata.generation ?? 0,
    replicas,
    availableReplicas: replicas,
    ...positive({ readyReplicas: replicas, currentReplicas: replicas, updatedReplicas: replicas }),
    currentRevision: revision,
    updateRevision: revision,
    collisionCount: 0
  }
}

const RESOURCES: readonly string[] = ["apps/deployments", "apps/statefulsets"]
