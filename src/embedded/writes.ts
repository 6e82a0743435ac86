/**
 * Creating and replacing objects: the road that every write takes once it is known what is to be stored.
 *
 * Admission, addresses, rules, the version that was read, no-ops, and the last finalizer of an object that is being
 * deleted, in the order in which the API server looks at them.
 */
import { admitted } from "./admission.ts"
import { keyOf, type Change, type Cluster, type Resource, type Response } from "./cluster.ts"
import { definitionChanged } from "./definitions.ts"
import { get, isObj, listAt, objAt, same, text, withAt, type Obj } from "./json.ts"
import { allocated, asRead, pretended, reallocated, released, type Allocated } from "./addresses.ts"
import * as Status from "./status.ts"
import { Refusal } from "./status.ts"
import * as Store from "./store.ts"
import type { Part, Strategy } from "./strategy.ts"
import { warningsOf } from "./warnings.ts"
import { homeOf, PUT_CONDITIONAL } from "./served.ts"

/** What a write is about, and how it was asked for. */
export interface Call {
  readonly cluster: Cluster
  readonly strategy: Strategy
  readonly part: Part
  readonly namespace: string | undefined
  /** empty for a create that leaves the name to the server */
  readonly name: string
  readonly manager: string
  readonly at: number
  readonly dryRun: boolean
  readonly warnings: readonly string[]
}

export interface Outcome {
  readonly cluster: Cluster
  readonly response: Response
  readonly changes: readonly Change[]
}

/** The answer to a write, with its warnings. */
export const answer = (call: Pick<Call, "warnings">, code: number, body: unknown): Response =>
  call.warnings.length === 0
    ? { code, body }
    : {
        code,
        body,
        headers: { warning: call.warnings.map((each) => `299 - ${JSON.stringify(each)}`).join(", ") }
      }

const refuseInvalid = (call: Call, object: Obj, problems: readonly Status.Problem[]): void => {
  if (problems.length === 0) return
  const { group, kind } = call.strategy.resource
  throw new Refusal(
    warned(call, Status.invalid(homeOf(group), kind, text(object, "metadata", "name"), problems))
  )
}

const warned = (call: Call, response: Response): Response => ({
  ...answer(call, response.code, response.body)
})

/** Stores a new object. */
export const create = (call: Call, given: Obj): Outcome => {
  const { resource } = call.strategy
  const [named, cluster] = withName(call, withoutSystemFields(given, call.dryRun ? SHOWN : SYSTEM))
  const [owned, afterUid] = withIdentity(call, admitted(cluster, resource, named), cluster)
  const name = text(owned, "metadata", "name")
  // a PUT of a status that creates the Service hands nothing out
  const placed =
    isService(resource) && call.part === "all"
      ? allocated(owned, keyOf(call.namespace, name), call.dryRun ? pretended(afterUid) : afterUid)
      : unallocated(owned, afterUid)
  refuseInvalid(call, placed.object, placed.problems)
  const object = call.strategy.created(placed.object)
  refuseInvalid(call, object, call.strategy.problems(object, undefined, "all"))
  const told = withWarnings(call, warningsOf(resource, object, undefined))
  const existing = Store.find(cluster, Store.keyOfResource(resource), call.namespace, name)
  if (existing) {
    const taken = Status.alreadyExists(resource, name, Store.isDeleted(existing))
    throw new Refusal(warned(told, taken))
  }
  return stored(told, afterUid, placed, object, 201)
}

const withIdentity = (call: Call, object: Obj, cluster: Cluster): readonly [Obj, Cluster] => {
  const [uid, next] = Store.nextUid(cluster)
  const meta = { ...objAt(object, "metadata"), uid, creationTimestamp: Store.timestamp(call.at) }
  return [{ ...object, metadata: meta }, next]
}

const withWarnings = (call: Call, warnings: readonly string[]): Call =>
  warnings.length === 0 ? call : { ...call, warnings: [...call.warnings, ...warnings] }

const stored = (call: Call, cluster: Cluster, placed: Allocated, object: Obj, code: number): Outcome => {
  if (call.dryRun) {
    // what was made up for the answer isn't made up again
    const tried = { ...call.cluster, counters: cluster.counters }
    return { cluster: tried, response: answer(call, code, object), changes: [] }
  }
  const key = Store.keyOfResource(call.strategy.resource)
  const { cluster: after, change } = Store.written({ ...cluster, ...placed.pool }, key, object)
  return finished(call, { cluster: after, response: answer(call, code, change.object), changes: [change] })
}

const isService = (resource: Resource): boolean => resource.group === "" && resource.kind === "Service"

const unallocated = (object: Obj, pool: Cluster): Allocated => ({ object, pool: poolOf(pool), problems: [] })

const poolOf = ({ addresses, ports, counters }: Cluster): Allocated["pool"] => ({
  addresses,
  ports,
  counters
})

/** What the server says itself; a dry run answers the resourceVersion that it was given. */
const SHOWN = ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"]

const SYSTEM = [...SHOWN, "resourceVersion"]

const withoutSystemFields = (object: Obj, fields: readonly string[]): Obj => {
  const meta = Object.entries(objAt(object, "metadata")).filter(([key]) => !fields.includes(key))
  return withAt(object, ["metadata"], Object.fromEntries(meta))
}

const withName = (call: Call, object: Obj): readonly [Obj, Cluster] => {
  const base = text(object, "metadata", "generateName")
  if (base === "" || text(object, "metadata", "name") !== "") return [object, call.cluster]
  const [name, cluster] = Store.generatedName(base, call.cluster)
  return [withAt(object, ["metadata", "name"], name), cluster]
}

/** Stores an object in place of another one. */
export const replace = (call: Call, existing: Obj, given: Obj): Outcome => {
  const { strategy, part, cluster } = call
  const kept = withSystemFields(withVersion(call, existing, given), existing)
  const placed =
    isService(strategy.resource) && part === "all"
      ? reallocated(
          kept,
          existing,
          keyOf(call.namespace, call.name),
          call.dryRun ? pretended(cluster) : cluster
        )
      : unallocated(kept, cluster)
  refuseInvalid(call, placed.object, placed.problems)
  const whole = strategy.replaced(placed.object, existing, part)
  refuseInvalid(call, whole, strategy.problems(whole, existing, part))
  const object = withOldTimes(isService(strategy.resource) ? asRead(whole) : whole, existing)
  const told = part === "all" ? withWarnings(call, warningsOf(strategy.resource, object, existing)) : call
  if (isLastFinalizer(object, existing)) return vanished(told, placed.pool, object, existing)
  if (same(object, existing)) return { cluster, response: answer(told, 200, existing), changes: [] }
  return stored(told, cluster, placed, object, 200)
}

/** The version that the client read must be the one that is stored; where it names none, some kinds don't mind. */
const withVersion = (call: Call, existing: Obj, given: Obj): Obj => {
  const { resource } = call.strategy
  const current = text(existing, "metadata", "resourceVersion")
  const asked = text(given, "metadata", "resourceVersion")
  if (asked !== "" && !/^\d+$/.test(asked)) {
    throw new Refusal(Status.internal(`strconv.ParseUint: parsing ${JSON.stringify(asked)}: invalid syntax`))
  }
  if (asked === "" || asked === "0") {
    if (!resource.custom && !PUT_CONDITIONAL.has(resource.kind)) {
      return withAt(given, ["metadata", "resourceVersion"], current)
    }
    const problem = Status.invalidValue("metadata.resourceVersion", 0, "must be specified for an update")
    throw new Refusal(warned(call, Status.invalid(resource.group, resource.plural, call.name, [problem])))
  }
  if (asked === current) return given
  throw new Refusal(Status.conflict(resource, call.name, Status.MODIFIED))
}

const withSystemFields = (object: Obj, existing: Obj): Obj => {
  const [meta, old] = [objAt(object, "metadata"), objAt(existing, "metadata")]
  const kept: Record<string, unknown> = { ...meta, creationTimestamp: old["creationTimestamp"] }
  if (!meta["uid"]) kept["uid"] = old["uid"]
  if (old["deletionTimestamp"] !== undefined) {
    kept["deletionTimestamp"] = old["deletionTimestamp"]
    kept["deletionGracePeriodSeconds"] =
      meta["deletionGracePeriodSeconds"] ?? old["deletionGracePeriodSeconds"]
  }
  return { ...object, metadata: kept }
}

/** A write that changes nothing but the times of managedFields changes nothing. */
const withOldTimes = (object: Obj, existing: Obj): Obj => {
  const [now, then] = [
    listAt(object, "metadata", "managedFields"),
    listAt(existing, "metadata", "managedFields")
  ]
  if (now.length !== then.length || now.length === 0 || same(now, then)) return object
  const timeless = (entries: readonly unknown[]): unknown =>
    entries.map((entry) => (isObj(entry) ? { ...entry, time: undefined } : entry))
  if (!same(timeless(now), timeless(then))) return object
  const restored = withAt(object, ["metadata", "managedFields"], then)
  return same(restored, existing) ? restored : object
}

const isLastFinalizer = (object: Obj, existing: Obj): boolean =>
  listAt(object, "metadata", "finalizers").length === 0 &&
  Store.isDeleted(existing) &&
  !get(existing, "metadata", "deletionGracePeriodSeconds") &&
  !(object["kind"] === "Namespace" && listAt(object, "spec", "finalizers").length > 0)

/** The last thing that held a deleted object is gone: so is the object, though the answer still shows it. */
const vanished = (call: Call, { counters }: Allocated["pool"], object: Obj, existing: Obj): Outcome => {
  const response = answer(call, 200, object)
  if (call.dryRun) return { cluster: call.cluster, response, changes: [] }
  const { cluster, changes } = gone({ ...call.cluster, counters }, call.strategy.resource, existing)
  return finished(call, { cluster, changes, response })
}

/** Takes an object out of the cluster, with what was handed out to it. */
export const gone = (
  cluster: Cluster,
  resource: Resource,
  object: Obj
): { readonly cluster: Cluster; readonly changes: readonly Change[] } => {
  const pool = isService(resource) ? released(object, cluster) : poolOf(cluster)
  const { cluster: after, change } = Store.removed(
    { ...cluster, ...pool },
    Store.keyOfResource(resource),
    object
  )
  return { cluster: after, changes: [change] }
}

/** A changed definition changes which kinds are served, and is told so itself. */
export const finished = (call: Pick<Call, "at">, outcome: Outcome): Outcome => {
  const { cluster, changes } = definitionChanged(outcome.cluster, outcome.changes, call.at)
  return { ...outcome, cluster, changes }
}
