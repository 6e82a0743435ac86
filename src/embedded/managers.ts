/**
 * Who owns which fields: `metadata.managedFields`, read, brought up to date by a write, and written again.
 *
 * The rules are those of Kubernetes' field manager: an apply owns exactly what it mentions and takes away what it
 * no longer does and nobody else owns; any other write owns what it changed.
 */
import * as Fields from "./fieldset.ts"
import type { FieldSet } from "./fieldset.ts"
import { byCode, isList, isObj, same, text, type Obj } from "./json.ts"
import type { Type } from "./schema.ts"
import { compare, fieldsOf, merge, removeFields, withNamedFields, type Comparison } from "./typed.ts"

export interface Manager {
  readonly manager: string
  readonly operation: "Apply" | "Update"
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string | undefined
  readonly set: FieldSet
}

/** Managers by their identity: an applier is one whatever its version. */
export type Managers = ReadonlyMap<string, Manager>

export interface Conflict {
  readonly manager: Manager
  readonly path: Fields.Path
}

/** Who writes, with what, and which fields this endpoint never lets it own. */
export interface Writer {
  readonly manager: string
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string
  readonly reset: FieldSet
}

const MAX_UPDATERS = 10

const identity = (of: Pick<Manager, "manager" | "operation" | "apiVersion" | "subresource">): string =>
  JSON.stringify([of.manager, of.operation, of.operation === "Apply" ? "" : of.apiVersion, of.subresource])

/** Reads managedFields; undefined where an entry isn't one. */
export const read = (entries: unknown): Managers | undefined => {
  const managers = new Map<string, Manager>()
  if (!isList(entries)) return managers
  for (const entry of entries) {
    const operation = text(entry, "operation")
    const fields = isObj(entry) ? (entry["fieldsV1"] ?? {}) : undefined
    const set = isObj(fields) ? Fields.decode(fields) : undefined
    if (!isObj(entry) || (operation !== "Apply" && operation !== "Update") || !set) return undefined
    if (text(entry, "apiVersion") === "" || text(entry, "fieldsType") !== "FieldsV1") return undefined
    const manager: Manager = {
      manager: text(entry, "manager"),
      operation,
      apiVersion: text(entry, "apiVersion"),
      subresource: text(entry, "subresource"),
      time: text(entry, "time") || undefined,
      set
    }
    managers.set(identity(manager), manager)
  }
  return managers
}

/** Writes managedFields in the server's order; undefined where nobody owns anything. */
export const write = (managers: Managers): readonly Obj[] | undefined => {
  if (managers.size === 0) return undefined
  return [...managers.values()].sort(byOrder).map((each) => ({
    ...(each.manager === "" ? {} : { manager: each.manager }),
    operation: each.operation,
    apiVersion: each.apiVersion,
    ...(each.time === undefined ? {} : { time: each.time }),
    fieldsType: "FieldsV1",
    fieldsV1: Fields.encode(each.set),
    ...(each.subresource === "" ? {} : { subresource: each.subresource })
  }))
}

const byOrder = (a: Manager, b: Manager): number =>
  byCode(a.operation, b.operation) ||
  byCode(a.time ?? "", b.time ?? "") ||
  byCode(a.manager, b.manager) ||
  byCode(a.apiVersion, b.apiVersion) ||
  byCode(a.subresource, b.subresource)

/** What no manager ever owns. */
const STRIPPED = Fields.ofPaths(
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion"
  ].map((field) => ["f:metadata", `f:${field}`])
)

/** The managers after a write that isn't an apply: whatever it changed is the writer's. */
export const updated = (
  type: Type,
  live: unknown,
  next: unknown,
  managers: Managers,
  writer: Writer
): Managers => {
  const change = filtered(compare(type, live, next), writer.reset)
  const others = settle(managers, change, undefined, true)
  if (!(others instanceof Map)) return managers
  const taken = Fields.difference(Fields.union(change.modified, change.added), STRIPPED)
  if (Fields.isEmpty(taken)) return others
  const mine: Manager = { ...writer, operation: "Update", set: taken }
  const id = identity(mine)
  const before = others.get(id)
  const result = new Map(others)
  result.set(id, before ? { ...mine, set: Fields.union(taken, before.set) } : mine)
  return capped(result)
}

export interface Applied {
  /** undefined where the apply changes nothing */
  readonly object: Obj | undefined
  readonly managers: Managers
}

/** The object and its managers after an apply, or the fields that others own. */
export const applied = (
  type: Type,
  live: Obj,
  config: Obj,
  managers: Managers,
  writer: Writer,
  force: boolean
): Applied | { readonly conflicts: readonly Conflict[] } => {
  const merged = merge(type, live, config)
  const mentioned = Fields.without(fieldsOf(type, config), writer.reset)
  const id = identity({ ...writer, operation: "Apply" })
  const last = managers.get(id)
  const set = last && Fields.equal(Fields.difference(mentioned, STRIPPED), last.set) ? last.set : mentioned
  const mine: Manager = { ...writer, operation: "Apply", time: last?.time, set }
  const claimed = new Map(managers).set(id, mine)
  const object = last ? pruned(type, merged, claimed, last.set) : merged
  const change = filtered(compare(type, live, object), writer.reset)
  const settled = settle(claimed, change, id, force)
  if (!(settled instanceof Map)) return settled
  const noop = same(live, object)
  const owned = Fields.difference(set, STRIPPED)
  if (Fields.isEmpty(owned)) settled.delete(id)
  else settled.set(id, { ...mine, set: owned, time: noop ? last?.time : writer.time })
  return { object: noop ? undefined : (object as Obj), managers: settled }
}

const REPLICAS = Fields.ofPaths(["f:spec", "f:replicas"])
const SCALE_VERSION = "autoscaling/v1"

const owns = ({ set }: Manager, fields: FieldSet): boolean =>
  !Fields.isEmpty(Fields.intersection(set, fields))

/** Those of an object who own its replicas, as the managers of its Scale. */
export const ofScale = (managers: Managers, path: readonly string[]): Managers => {
  const replicas = Fields.ofPaths(path.map(Fields.fieldElement))
  const owners = [...managers.values()].filter((each) => owns(each, replicas))
  const own = owners.map((each) => ({ ...each, apiVersion: SCALE_VERSION, set: REPLICAS }))
  return new Map(own.map((each) => [identity(each), each]))
}

/**
 * The managers of an object after a write of its Scale. An updater of the object is another one to the Scale, so that it
 * loses the replicas to itself, as a second entry without a time, which the next write drops: so does the server.
 */
export const afterScale = (
  managers: Managers,
  scale: Managers,
  apiVersion: string,
  path: readonly string[]
): Managers => {
  const replicas = Fields.ofPaths(path.map(Fields.fieldElement))
  const result = new Map<string, Manager>()
  for (const [id, each] of managers) {
    const set = owns(each, replicas) && !scale.has(id) ? Fields.difference(each.set, replicas) : each.set
    if (!Fields.isEmpty(set)) result.set(id, { ...each, set })
  }
  for (const [id, each] of scale) {
    const before = managers.get(id)
    if (!owns(each, REPLICAS) || (before !== undefined && owns(before, replicas))) continue
    result.set(id, { ...each, apiVersion, set: replicas, time: before?.time })
  }
  return result
}

const filtered = (change: Comparison, reset: FieldSet): Comparison =>
  Fields.isEmpty(reset)
    ? change
    : {
        removed: Fields.without(change.removed, reset),
        modified: Fields.without(change.modified, reset),
        added: Fields.without(change.added, reset)
      }

/** Takes what a write changed from everyone but the writer, or says who would lose what. */
const settle = (
  managers: Managers,
  change: Comparison,
  writer: string | undefined,
  force: boolean
): Map<string, Manager> | { readonly conflicts: readonly Conflict[] } => {
  const changed = Fields.union(change.modified, change.added)
  const conflicts: Conflict[] = []
  const result = new Map<string, Manager>()
  for (const [id, manager] of managers) {
    if (id === writer) {
      if (!Fields.isEmpty(manager.set)) result.set(id, manager)
      continue
    }
    const lost = Fields.intersection(manager.set, changed)
    if (!force) for (const path of Fields.paths(lost)) conflicts.push({ manager, path })
    const rest = Fields.difference(Fields.difference(manager.set, lost), change.removed)
    if (!Fields.isEmpty(rest)) result.set(id, rest === manager.set ? manager : { ...manager, set: rest })
  }
  return conflicts.length > 0 ? { conflicts } : result
}

/** Nothing that the applier owned is let go. */
const isKept = (last: FieldSet, managers: Managers): boolean =>
  [...managers.values()].some(({ set }) => Fields.isEmpty(Fields.difference(last, set)))

/** Takes away what the applier owned alone and mentions no more. */
const pruned = (type: Type, merged: unknown, managers: Managers, last: FieldSet): unknown => {
  if (isKept(last, managers)) return merged
  const named = (set: FieldSet): FieldSet => withNamedFields(type, set)
  const lastNamed = named(last)
  const cut = removeFields(type, merged, lastNamed)
  if (same(cut, merged)) return merged
  const owned = [...managers.values()].map((each) => each.set).reduce(Fields.union, Fields.nothing)
  const whole = named(fieldsOf(type, merged))
  const kept = Fields.union(named(fieldsOf(type, cut)), named(owned))
  const back = removeFields(type, merged, Fields.difference(whole, kept))
  const gone = Fields.difference(whole, named(fieldsOf(type, back)))
  return removeFields(type, merged, Fields.intersection(gone, lastNamed))
}

/** At most ten updaters are told apart; the oldest are gathered under one name. */
const capped = (managers: Map<string, Manager>): Managers => {
  const updaters = [...managers].filter(([, each]) => each.operation === "Update")
  let surplus = updaters.length - MAX_UPDATERS
  if (surplus <= 0) return managers
  updaters.sort(([a, x], [b, y]) => byCode(x.time ?? "", y.time ?? "") || byCode(a, b))
  const first = new Map<string, string>()
  for (const [id, manager] of updaters) {
    if (surplus <= 0) break
    const seen = first.get(manager.apiVersion)
    if (seen === undefined) {
      first.set(manager.apiVersion, id)
      continue
    }
    const bucket: Manager = { ...manager, manager: "ancient-changes", subresource: "" }
    const into = identity(bucket)
    const base = managers.get(into) ?? managers.get(seen)
    if (!managers.has(into)) managers.delete(seen)
    managers.delete(id)
    managers.set(into, { ...bucket, set: Fields.union(manager.set, base?.set ?? Fields.nothing) })
    surplus--
  }
  return managers
}
