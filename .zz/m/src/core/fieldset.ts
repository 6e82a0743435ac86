/**
 * Field sets as the API server writes them (`fieldsV1` in `metadata.managedFields`, KEP-555).
 *
 * A set is a trie: `f:` a field, `k:` an item by its keys, `v:` an item by its value, `.` the path itself. What can't be
 * read owns nothing.
 */
import { isObject } from "./json.ts"
import type { JsonObject } from "./kube.ts"

export type FieldSet = JsonObject

/** The field set of an entry of `managedFields` that is about the main resource, not about a subresource. */
export const setOf = (entry: unknown): FieldSet | undefined => {
  if (!isObject(entry) || (entry["subresource"] ?? "") !== "") return undefined
  const set = entry["fieldsV1"]
  return isObject(set) ? (set as FieldSet) : undefined
}

/** The field sets that a manager applied to the main resource. */
export const setsOf = (managedFields: unknown, manager: string): readonly FieldSet[] => {
  const found: FieldSet[] = []
  for (const entry of Array.isArray(managedFields) ? (managedFields as readonly unknown[]) : []) {
    const set =
      isObject(entry) && entry["manager"] === manager && entry["operation"] === "Apply"
        ? setOf(entry)
        : undefined
    if (set !== undefined && Object.keys(set).length > 0) found.push(set)
  }
  return found
}

/** The paths of both sets. A path that one owns as a leaf and the other only passes through is owned itself (`.`). */
export const union = (a: FieldSet, b: FieldSet): FieldSet => {
  const [left, right] = [itself(a, b), itself(b, a)]
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return Object.fromEntries([...names].map((name) => [name, both(at(left, name), at(right, name))]))
}

const both = (a: FieldSet[string], b: FieldSet[string]): FieldSet[string] =>
  isObject(a) && isObject(b) ? union(a as FieldSet, b as FieldSet) : isObject(a) ? a : (b ?? a)

const itself = (set: FieldSet, other: FieldSet): FieldSet =>
  Object.keys(set).length === 0 && Object.keys(other).length > 0 ? { ".": {} } : set

/** What stands below one step of a set. */
export const at = (set: FieldSet, name: string): FieldSet[string] =>
  Object.hasOwn(set, name) ? set[name] : undefined
