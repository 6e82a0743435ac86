/**
 * The fields of a former field manager become ours, without a change of any value.
 *
 * A manager that wrote by PUT or PATCH (SuperEdge's) owns its fields by the operation Update: they would stay for ever, whatever we
 * apply later. Moved into our own Apply entry, what is wanted no more goes with the next apply.
 */
import { type FieldSet, setOf, union } from "./fieldset.ts"
import { isObject } from "./json.ts"
import type { ManagedFieldsEntry } from "./kube.ts"

/** Names of fields from the root, such as `["spec", "replicas"]`. */
export type FieldPath = readonly string[]

export interface Takeover {
  /** the managers whose fields become ours */
  readonly from: readonly string[]
  /** our manager */
  readonly to: string
  /** what stays with the managers that had it */
  readonly except: readonly FieldPath[]
  /** of our entry, such as `apps/v1` */
  readonly apiVersion: string
}

/**
 * `managedFields` in which `to` has all that `from` had of the main resource, but for `except`; `undefined` where nothing would
 * move. Other managers' entries, entries of subresources and what can't be read stay as they are.
 */
export const takeover = (managedFields: unknown, o: Takeover): readonly ManagedFieldsEntry[] | undefined => {
  const all = Array.isArray(managedFields) ? (managedFields as readonly ManagedFieldsEntry[]) : []
  const kept: ManagedFieldsEntry[] = []
  const ours: FieldSet[] = []
  let time: ManagedFieldsEntry["time"]
  let moved = false
  for (const entry of all) {
    const set = setOf(entry)
    if (set === undefined || Object.keys(set).length === 0) kept.push(entry)
    else if (o.from.includes(entry.manager ?? "")) {
      const { inside, outside } = split(set, o.except)
      if (inside !== undefined) kept.push({ ...entry, fieldsV1: inside })
      if (outside === undefined) continue
      ours.push(outside)
      moved = true
      time ??= entry.time
    } else if (entry.manager === o.to && entry.operation === "Apply") {
      ours.push(set)
      time = entry.time ?? time
    } else kept.push(entry)
  }
  if (!moved) return undefined
  return [...kept, ourEntry(o, time, ours.reduce(union))]
}

const ourEntry = (o: Takeover, time: ManagedFieldsEntry["time"], fieldsV1: FieldSet): ManagedFieldsEntry => ({
  manager: o.to,
  operation: "Apply",
  apiVersion: o.apiVersion,
  ...(time === undefined || time === null ? {} : { time }),
  fieldsType: "FieldsV1",
  fieldsV1
})

interface Split {
  readonly inside: FieldSet | undefined
  readonly outside: FieldSet | undefined
}

/** What of a field set stands at the paths, and the rest; a set that holds nothing is `undefined`. */
const split = (set: FieldSet, paths: readonly FieldPath[]): Split => {
  if (paths.some((path) => path.length === 0)) return { inside: set, outside: undefined }
  if (Object.keys(set).length === 0) return { inside: undefined, outside: set }
  const inside: (readonly [string, FieldSet[string]])[] = []
  const outside: (readonly [string, FieldSet[string]])[] = []
  for (const [step, below] of Object.entries(set)) {
    const further = paths.filter((path) => step === `f:${path[0]}`).map((path) => path.slice(1))
    if (further.length === 0 || !isObject(below)) {
      outside.push([step, below])
      continue
    }
    const parted = split(below as FieldSet, further)
    if (parted.inside !== undefined) inside.push([step, parted.inside])
    if (parted.outside !== undefined) outside.push([step, parted.outside])
  }
  return { inside: some(inside), outside: some(outside) }
}

const some = (entries: readonly (readonly [string, FieldSet[string]])[]): FieldSet | undefined =>
  entries.length === 0 ? undefined : Object.fromEntries(entries)
