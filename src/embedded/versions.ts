/**
 * Versions of a custom kind: one store for all of them. An object is kept as it was last written, and shown to every request in the version
 * that the request names, which changes its apiVersion alone (conversion strategy None).
 */
import type { Resource } from "./cluster.ts"
import { get } from "./json.ts"

/** One object for all the watches that are told of it. */
const known = new WeakMap<object, object>()

/** A stored object in the version of a resource; the very same one where it has it already. */
export const inVersion = <A extends object>(resource: Resource, object: A): A => {
  if (!resource.custom) return object
  const apiVersion = `${resource.group}/${resource.version}`
  if (get(object, "apiVersion") === apiVersion) return object
  const made = known.get(object)
  if (get(made, "apiVersion") === apiVersion) return made as A
  const shown = { ...object, apiVersion }
  known.set(object, shown)
  return shown
}
