/**
 * Deleting: preconditions, finalizers, grace, and what is to become of dependents.
 *
 * The object goes at once, or stays with a deletion time until its last finalizer, or its grace, is over. The
 * collector that deletes or orphans dependents is a controller like any other.
 */
import type { Change, Cluster, Resource, Response } from "./cluster.ts"
import { get, isObj, listAt, objAt, same, text, withAt, type Obj } from "./json.ts"
import { ANSWERS_OBJECT } from "./served.ts"
import * as Status from "./status.ts"
import { Refusal } from "./status.ts"
import * as Store from "./store.ts"
import { finished, gone, type Outcome } from "./writes.ts"

export interface Deletion {
  readonly resource: Resource
  readonly at: number
  readonly dryRun: boolean
  readonly options: Obj
}

/** The options of a DELETE, from its body and its query. */
export const deleteOptions = (body: unknown, query: Readonly<Record<string, string>>): Obj => {
  const given = isObj(body) ? body : {}
  const grace = query["gracePeriodSeconds"]
  const policy = query["propagationPolicy"]
  return {
    ...given,
    ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    ...(query["orphanDependents"] === undefined
      ? {}
      : { orphanDependents: query["orphanDependents"] === "true" })
  }
}

/** DELETE of one object. */
export const remove = (cluster: Cluster, deletion: Deletion, existing: Obj): Outcome => {
  const { resource, options } = deletion
  const name = text(existing, "metadata", "name")
  checkPreconditions(deletion, existing, name)
  if (resource.group === "" && resource.kind === "Namespace")
    return removeNamespace(cluster, deletion, existing)
  if (resource.kind === "CustomResourceDefinition") return removeDefinition(cluster, deletion, existing)
  const graceful = resource.group === "" && resource.kind === "Pod" ? graceOf(existing, deletion) : undefined
  if (graceful === "pending") return unchanged(cluster, deletion, existing)
  const finalizers = finalizersFor(existing, options)
  const marked = withFinalizers(existing, finalizers)
  const held = finalizers.length > 0
  if (graceful !== undefined) {
    const dying = withGrace(marked, graceful, deletion.at)
    if (held || graceful > 0) return stored(cluster, deletion, dying, existing)
    return removeAfter(stored(cluster, deletion, dying, existing), deletion, dying)
  }
  if (held) return stored(cluster, deletion, asDeleting(marked, deletion.at), existing)
  return removeNow(cluster, deletion, existing)
}

const unchanged = (cluster: Cluster, deletion: Deletion, existing: Obj): Outcome => ({
  cluster,
  response: answerOf(deletion.resource, existing, 200),
  changes: []
})

const answerOf = (resource: Resource, object: Obj, code: number): Response => ({
  code,
  body: ANSWERS_OBJECT.has(resource.kind) && !resource.custom ? object : success(resource, object)
})

const success = (resource: Resource, object: Obj): Obj => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: {
    name: text(object, "metadata", "name"),
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
    uid: text(object, "metadata", "uid")
  }
})

export const checkOptions = (options: Obj): void => {
  const policy = options["propagationPolicy"]
  const known = ["Background", "Foreground", "Orphan"]
  if (policy !== undefined && policy !== null && !known.includes(String(policy))) {
    const problem = Status.unsupported("propagationPolicy", policy, [
      "Foreground",
      "Background",
      "Orphan",
      "nil"
    ])
    throw new Refusal(Status.invalid("meta.k8s.io", "DeleteOptions", "", [problem]))
  }
}

const checkPreconditions = ({ resource, options }: Deletion, existing: Obj, name: string): void => {
  const of = { group: resource.group, plural: resource.kind }
  const uid = get(options, "preconditions", "uid")
  const current = text(existing, "metadata", "uid")
  if (typeof uid === "string" && uid !== current) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${current}). The object might have been deleted and then recreated`
    throw new Refusal(Status.conflict(of, name, why))
  }
  const version = get(options, "preconditions", "resourceVersion")
  const stored = text(existing, "metadata", "resourceVersion")
  if (typeof version === "string" && version !== stored) {
    const why = `the ResourceVersion in the precondition (${version}) does not match the ResourceVersion in record (${stored}). The object might have been modified`
    throw new Refusal(Status.conflict(of, name, why))
  }
}

const [ORPHAN, FOREGROUND] = ["orphan", "foregroundDeletion"]

/** The finalizers of an object that is being deleted: the policy adds or takes away those of the collector. */
const finalizersFor = (object: Obj, options: Obj): readonly string[] => {
  const given = listAt(object, "metadata", "finalizers").map(String)
  const others = given.filter((each) => each !== ORPHAN && each !== FOREGROUND)
  const orphans = options["orphanDependents"]
  const policy = options["propagationPolicy"]
  if (typeof orphans === "boolean") return orphans ? [...others, ORPHAN as string] : others
  if (policy === "Orphan") return [...others, ORPHAN as string]
  if (policy === "Foreground") return [...others, FOREGROUND as string]
  return policy === "Background" ? others : given
}

const withFinalizers = (object: Obj, finalizers: readonly string[]): Obj =>
  withAt(object, ["metadata", "finalizers"], finalizers.length > 0 ? finalizers : undefined)

/** Seconds of grace for a pod; `pending` where it is being deleted already and nothing gets shorter. */
const graceOf = (pod: Obj, { options }: Deletion): number | "pending" | undefined => {
  const asked = options["gracePeriodSeconds"]
  const period = typeof asked === "number" ? Math.max(asked, asked < 0 ? 1 : 0) : undefined
  if (Store.isDeleted(pod)) {
    const now = Number(get(pod, "metadata", "deletionGracePeriodSeconds") ?? 0)
    if (now === 0) return undefined
    return period !== undefined && period < now ? period : "pending"
  }
  const phase = text(pod, "status", "phase")
  const idle = text(pod, "spec", "nodeName") === "" || phase === "Failed" || phase === "Succeeded"
  return idle ? 0 : (period ?? Number(get(pod, "spec", "terminationGracePeriodSeconds") ?? 30))
}

const withGrace = (pod: Obj, seconds: number, at: number): Obj => {
  const meta = objAt(pod, "metadata")
  const first = !Store.isDeleted(pod)
  const generation = Number(meta["generation"] ?? 0)
  return {
    ...pod,
    metadata: {
      ...meta,
      deletionTimestamp: Store.timestamp(at + seconds * 1000),
      deletionGracePeriodSeconds: seconds,
      ...(first && generation > 0 ? { generation: generation + 1 } : {})
    }
  }
}

const asDeleting = (object: Obj, at: number): Obj => {
  const meta = objAt(object, "metadata")
  if (Store.isDeleted(object)) return { ...object, metadata: { ...meta, deletionGracePeriodSeconds: 0 } }
  const generation = meta["generation"]
  return {
    ...object,
    metadata: {
      ...meta,
      ...(typeof generation === "number" && generation > 0 ? { generation: generation + 1 } : {}),
      deletionTimestamp: Store.timestamp(at),
      deletionGracePeriodSeconds: 0
    }
  }
}

const stored = (cluster: Cluster, deletion: Deletion, object: Obj, existing: Obj): Outcome => {
  const changes: Change[] = []
  if (same(object, existing) || deletion.dryRun)
    return { cluster, response: { code: 200, body: object }, changes }
  const { cluster: after, change } = Store.written(cluster, Store.keyOfResource(deletion.resource), object)
  return finished(deletion, {
    cluster: after,
    response: { code: 200, body: change.object },
    changes: [change]
  })
}

const removeNow = (cluster: Cluster, deletion: Deletion, existing: Obj): Outcome => {
  if (deletion.dryRun) return unchanged(cluster, deletion, existing)
  const { cluster: after, changes } = gone(cluster, deletion.resource, existing)
  const last = (changes[0]?.object ?? existing) as unknown as Obj
  return finished(deletion, { cluster: after, response: answerOf(deletion.resource, last, 200), changes })
}

/** A pod without grace is marked first and taken away then: watches see both. */
const removeAfter = (outcome: Outcome, deletion: Deletion, object: Obj): Outcome => {
  if (deletion.dryRun) return outcome
  const { cluster, changes } = gone(outcome.cluster, deletion.resource, object)
  const last = (changes[0]?.object ?? object) as unknown as Obj
  return {
    cluster,
    response: answerOf(deletion.resource, last, 200),
    changes: [...outcome.changes, ...changes]
  }
}

const CLEANUP = "customresourcecleanup.apiextensions.k8s.io"

/** A definition is marked first; then its objects go, and it with them. */
const removeDefinition = (cluster: Cluster, deletion: Deletion, existing: Obj): Outcome => {
  if (Store.isDeleted(existing)) return unchanged(cluster, deletion, existing)
  const time = Store.timestamp(deletion.at)
  const meta = objAt(existing, "metadata")
  const finalizers = [...listAt(meta, "finalizers"), CLEANUP]
  const condition = {
    type: "Terminating",
    status: "True",
    lastTransitionTime: time,
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
  }
  const conditions = [...listAt(existing, "status", "conditions"), condition]
  const marked = {
    ...existing,
    metadata: { ...meta, deletionTimestamp: time, finalizers },
    status: { ...objAt(existing, "status"), conditions }
  }
  const first = stored(cluster, deletion, marked, existing)
  if (deletion.dryRun || finalizers.length > 1) return first
  const { cluster: after, changes } = gone(first.cluster, deletion.resource, marked)
  const last = finished(deletion, { ...first, cluster: after, changes })
  return { ...last, response: first.response, changes: [...first.changes, ...last.changes] }
}

/** A namespace terminates first; it goes when its spec's finalizers are emptied. */
const removeNamespace = (cluster: Cluster, deletion: Deletion, existing: Obj): Outcome => {
  if (["default", "kube-system", "kube-public"].includes(text(existing, "metadata", "name"))) {
    const why = "this namespace may not be deleted"
    throw new Refusal(Status.forbidden(deletion.resource, text(existing, "metadata", "name"), why))
  }
  const finalizers = listAt(existing, "spec", "finalizers")
  const held = finalizers.length > 0 || listAt(existing, "metadata", "finalizers").length > 0
  if (!held) return removeNow(cluster, deletion, existing)
  if (Store.isDeleted(existing)) return unchanged(cluster, deletion, existing)
  const meta = { ...objAt(existing, "metadata"), deletionTimestamp: Store.timestamp(deletion.at) }
  const status = { ...objAt(existing, "status"), phase: "Terminating" }
  return stored(cluster, deletion, { ...existing, metadata: meta, status }, existing)
}
