/**
 * What the API server's default admission does to new objects: namespaces must be there, nodes begin with a taint,
 * pods get tolerations, a priority and a service account.
 */
import type { Cluster, Resource } from "./cluster.ts"
import { get, listAt, objAt, text, withAt, type Obj } from "./json.ts"
import * as Sorted from "./sorted.ts"
import { forbidden, notFound, Refusal } from "./status.ts"

/** The object as admission lets it in; refused where its namespace isn't there, or is going away. */
export const admitted = (cluster: Cluster, resource: Resource, object: Obj): Obj => {
  const namespace = text(object, "metadata", "namespace")
  if (resource.namespaced) checkNamespace(cluster, resource, namespace, text(object, "metadata", "name"))
  if (resource.kind === "Node") return withTaint(object)
  return resource.kind === "Pod" ? withPodDefaults(object) : object
}

const checkNamespace = (cluster: Cluster, resource: Resource, namespace: string, name: string): void => {
  const found = Sorted.at(cluster.objects.get("/namespaces") ?? Sorted.none, namespace)
  if (!found) throw new Refusal(notFound({ group: "", plural: "namespaces" }, namespace))
  if (get(found, "metadata", "deletionTimestamp") === undefined) return
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  throw new Refusal(
    forbidden(resource, name, why, [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace"
      }
    ])
  )
}

const NOT_READY = "node.kubernetes.io/not-ready"

const withTaint = (node: Obj): Obj => {
  const taints = listAt(node, "spec", "taints")
  if (taints.some((each) => text(each, "key") === NOT_READY && text(each, "effect") === "NoSchedule"))
    return node
  return withAt(node, ["spec", "taints"], [...taints, { key: NOT_READY, effect: "NoSchedule" }])
}

const withPodDefaults = (pod: Obj): Obj => {
  const spec = objAt(pod, "spec")
  const account = text(spec, "serviceAccountName") || "default"
  const tolerations = listAt(spec, "tolerations")
  const missing = [NOT_READY, "node.kubernetes.io/unreachable"].filter(
    (key) => !tolerations.some((each) => tolerates(each, key))
  )
  const added = missing.map((key) => ({
    key,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300
  }))
  return withAt(pod, ["spec"], {
    ...spec,
    serviceAccountName: account,
    serviceAccount: account,
    tolerations: [...tolerations, ...added],
    priority: spec["priority"] ?? 0,
    preemptionPolicy: spec["preemptionPolicy"] ?? "PreemptLowerPriority"
  })
}

const tolerates = (toleration: unknown, key: string): boolean => {
  const [of, effect] = [text(toleration, "key"), text(toleration, "effect")]
  return (of === key || of === "") && (effect === "NoExecute" || effect === "")
}
