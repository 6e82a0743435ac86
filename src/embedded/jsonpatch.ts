/**
 * JSON Patch (RFC 6902) as the API server does it, which is more lenient than the RFC: `replace` makes a key that isn't there, `copy` of one gives
 * null, `test` for null passes where there is none, and a negative index counts from the end of a list.
 */
import { byCode, get, isList, isObj, put, same, withAt, type Draft } from "./json.ts"

/** Why a body isn't a list of operations, in the server's words; the strict reading says it otherwise. */
export const patchProblem = (body: unknown, strict: boolean): string | undefined => {
  const [list, item] = strict
    ? ["[]handlers.jsonPatchOp", "handlers.jsonPatchOp"]
    : ["jsonpatch.Patch", "jsonpatch.Operation"]
  const wrong = (value: unknown, type: string): string =>
    `${strict ? "error decoding patch: " : ""}json: cannot unmarshal ${wordFor(value)} into Go value of type ${type}`
  if (body === null) return undefined
  if (!isList(body)) return wrong(body, list)
  const odd = body.find((each) => each !== null && !isObj(each))
  return odd === undefined ? undefined : wrong(odd, item)
}

const wordFor = (value: unknown): string =>
  isList(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value

/** The target after the operations; undefined where one of them can't be done. */
export const jsonPatched = (target: unknown, operations: readonly unknown[]): unknown => {
  let here = target
  for (const operation of operations) {
    const next = operated(here, operation)
    if (next === undefined) return undefined
    here = next
  }
  return here
}

const operated = (target: unknown, operation: unknown): unknown => {
  const path = pointer(get(operation, "path"))
  if (path === undefined) return undefined
  const value = get(operation, "value") ?? null
  switch (get(operation, "op")) {
    case "test":
      return tested(target, path, value) ? target : undefined
    case "remove":
      return removed(target, path)
    case "replace":
      return replaced(target, path, value)
    case "add":
      return added(target, path, value)
    case "move": {
      const from = pointer(get(operation, "from"))
      const moved = from && valueAt(target, from)
      return from && moved !== undefined ? added(removed(target, from), path, moved) : undefined
    }
    case "copy": {
      const from = pointer(get(operation, "from"))
      const copied = from && valueAt(target, from)
      return copied === undefined ? undefined : added(target, path, copied)
    }
    default:
      return undefined
  }
}

/** The keys of a JSON pointer; what stands before its first slash isn't looked at. */
const pointer = (path: unknown): readonly string[] | undefined =>
  typeof path === "string" && (path === "" || path.includes("/"))
    ? path
        .split("/")
        .slice(1)
        .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    : undefined

/** Null for a key that isn't there, undefined where what would hold it isn't there either. */
const valueAt = (target: unknown, path: readonly string[]): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return undefined
  if (!isList(target) && !isObj(target)) return undefined
  const value = isList(target) ? elementAt(target, key) : (get(target, key) ?? null)
  return rest.length === 0 ? value : valueAt(value, rest)
}

const elementAt = (list: readonly unknown[], key: string): unknown => {
  const index = indexOf(key, list.length)
  return index === undefined || index >= list.length ? undefined : (list[index] ?? null)
}

const indexOf = (key: string, length: number): number | undefined => {
  if (!/^[+-]?\d+$/.test(key)) return undefined
  const index = Number(key)
  if (index >= 0) return index
  return index >= -length ? index + length : undefined
}

const tested = (target: unknown, path: readonly string[], value: unknown): boolean =>
  path.length === 0 ? same(target, value) : same(valueAt(target, path), value)

const replaced = (target: unknown, path: readonly string[], value: unknown): unknown => {
  if (path.length === 0) return isObj(value) || isList(value) ? value : undefined
  return changed(target, path, (holder, key) => {
    if (!isList(holder)) return withKey(holder, key, value)
    const index = indexOf(key, holder.length)
    return index === undefined || index >= holder.length ? undefined : holder.with(index, value)
  })
}

const added = (target: unknown, path: readonly string[], value: unknown): unknown =>
  changed(target, path, (holder, key) => {
    if (!isList(holder)) return withKey(holder, key, value)
    const index = key === "-" ? holder.length : indexOf(key, holder.length + 1)
    return index === undefined || index > holder.length ? undefined : holder.toSpliced(index, 0, value)
  })

const removed = (target: unknown, path: readonly string[]): unknown =>
  changed(target, path, (holder, key) => {
    if (!isList(holder)) return Object.hasOwn(holder, key) ? withAt(holder, [key], undefined) : undefined
    const index = indexOf(key, holder.length)
    return index === undefined || index >= holder.length ? undefined : holder.toSpliced(index, 1)
  })

type Holder = readonly unknown[] | { readonly [key: string]: unknown }

/** Keys of what was changed come in order, which decides which of several errors is told. */
const withKey = (holder: object, key: string, value: unknown): unknown => {
  const draft: Draft = {}
  const entries = Object.entries(holder).filter(([name]) => name !== key)
  for (const [name, each] of [...entries, [key, value] as const].sort(([a], [b]) => byCode(a, b)))
    put(draft, name, each)
  return draft
}

/** The target with what holds the last key of a path changed; undefined where the path leads nowhere. */
const changed = (
  target: unknown,
  path: readonly string[],
  change: (holder: Holder, key: string) => unknown
): unknown => {
  const [key, ...rest] = path
  if (key === undefined || (!isList(target) && !isObj(target))) return undefined
  if (rest.length === 0) return change(target, key)
  const inner = changed(isList(target) ? elementAt(target, key) : get(target, key), rest, change)
  if (inner === undefined) return undefined
  return isList(target) ? target.with(indexOf(key, target.length) ?? 0, inner) : withKey(target, key, inner)
}
