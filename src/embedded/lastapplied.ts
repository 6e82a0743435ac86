/**
 * The annotation in which `kubectl apply` keeps what was applied on the client's side. The server minds it where kubectl
 * applies on the server's side afterwards: fields that were applied before are no conflict, and the annotation follows.
 */
import type { FieldSet } from "./fieldset.ts"
import * as Fields from "./fieldset.ts"
import { get, goJson, isList, isObj, text, withAt, type Obj } from "./json.ts"
import type { Conflict } from "./managers.ts"
import type { Type } from "./schema.ts"
import { compare, fieldsOf } from "./typed.ts"

/** The only field manager to whom this applies. */
export const KUBECTL = "kubectl"

const ANNOTATION = ["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"] as const

/** The conflicts that are left when fields that are live as they were applied before count as kubectl's own. */
export const remaining = (
  type: Type,
  live: Obj,
  apiVersion: string,
  conflicts: readonly Conflict[]
): readonly Conflict[] => {
  const own = appliedBefore(type, live, apiVersion)
  return own === undefined
    ? conflicts
    : conflicts.filter(({ path }) => Fields.isEmpty(Fields.intersection(Fields.ofPaths(path), own)))
}

const appliedBefore = (type: Type, live: Obj, apiVersion: string): FieldSet | undefined => {
  const last = parsed(text(live, ...ANNOTATION))
  if (last === undefined || text(last, "apiVersion") !== apiVersion) return undefined
  const { modified, added, removed } = compare(type, last, live)
  return [modified, added, removed].reduce(Fields.difference, fieldsOf(type, last))
}

const parsed = (annotation: string): Obj | undefined => {
  try {
    const value: unknown = JSON.parse(annotation)
    return isObj(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The object with the annotation brought up to what was applied now; one without it stays without. */
export const withLastApplied = (object: Obj, config: Obj): Obj => {
  if (text(object, ...ANNOTATION) === "") return object
  const kept = get(config, ...ANNOTATION) === undefined ? config : withAt(config, ANNOTATION, undefined)
  return withAt(object, ANNOTATION, `${goJson(inOrder(kept))}\n`)
}

/** The value with the keys of every object in order, as Go writes maps. */
const inOrder = (value: unknown): unknown => {
  if (isList(value)) return value.map(inOrder)
  if (!isObj(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key])]))
}
