/**
 * The patches that clients send instead of a whole object: JSON merge patch (RFC 7386), JSON patch (RFC 6902) and
 * Kubernetes' strategic merge patch, which finds the items of lists by their merge keys.
 */
import { get, isList, isObj, put, same, withAt, type Draft, type Obj } from "./json.ts"
import type { ListType, Type } from "./schema.ts"

/** The target with the patch merged in; null takes a key away. */
export const mergePatched = (target: unknown, patch: unknown): unknown => {
  if (!isObj(patch)) return patch
  const out: Draft = isObj(target) ? { ...target } : {}
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null) {
      if (Object.hasOwn(out, key)) delete out[key]
    } else put(out, key, mergePatched(Object.hasOwn(out, key) ? out[key] : undefined, value))
  }
  return out
}

/** The target after the operations of a JSON patch; undefined where one of them can't be done. */
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
  const from = pointer(get(operation, "from"))
  const value = get(operation, "value") ?? null
  const there = path && valueAt(target, path)
  switch (get(operation, "op")) {
    case "test":
      return path && same(there ?? null, value) ? target : undefined
    case "remove":
      return path && there !== undefined ? removedAt(target, path) : undefined
    case "replace":
      return path && there !== undefined ? placedAt(target, path, value, true) : undefined
    case "add":
      return path ? placedAt(target, path, value, false) : undefined
    case "move":
    case "copy": {
      const moved = from && valueAt(target, from)
      if (!path || !from || moved === undefined) return undefined
      const base = get(operation, "op") === "move" ? removedAt(target, from) : target
      return placedAt(base, path, moved, false)
    }
    default:
      return undefined
  }
}

const pointer = (path: unknown): readonly string[] | undefined =>
  typeof path === "string" && (path === "" || path.startsWith("/"))
    ? path
        .split("/")
        .slice(1)
        .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    : undefined

const valueAt = (target: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((here, key) => (isList(here) ? here[Number(key)] : get(here, key)), target)

const removedAt = (target: unknown, path: readonly string[]): unknown =>
  changedAt(target, path, (holder, key) =>
    isList(holder) ? holder.toSpliced(Number(key), 1) : withAt(holder, [key], undefined)
  )

const placedAt = (target: unknown, path: readonly string[], value: unknown, replaces: boolean): unknown =>
  path.length === 0
    ? value
    : changedAt(target, path, (holder, key) => {
        if (!isList(holder)) return isObj(holder) ? withAt(holder, [key], value) : undefined
        const index = key === "-" ? holder.length : Number(key)
        return Number.isInteger(index) && index >= 0 && index <= holder.length
          ? holder.toSpliced(index, replaces ? 1 : 0, value)
          : undefined
      })

/** The target with what holds the last key of a path changed; undefined where the path leads nowhere. */
const changedAt = (
  target: unknown,
  path: readonly string[],
  change: (holder: unknown, key: string) => unknown
): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return undefined
  if (rest.length === 0) return change(target, key)
  const inner = changedAt(isList(target) ? target[Number(key)] : get(target, key), rest, change)
  if (inner === undefined) return undefined
  return isList(target) ? target.with(Number(key), inner) : withAt(target, [key], inner)
}

/** The target after a strategic merge patch. */
export const strategicPatched = (type: Type | undefined, target: unknown, patch: unknown): unknown => {
  if (!isObj(patch)) return patch
  if (patch["$patch"] === "replace") return bare(patch)
  if (patch["$patch"] === "delete") return {}
  const retained = patch["$retainKeys"]
  const out: Draft = {}
  for (const key of Object.keys(isObj(target) ? target : {})) {
    if (!isList(retained) || retained.includes(key)) put(out, key, get(target, key))
  }
  for (const key of Object.keys(patch)) {
    if (key.startsWith("$")) continue
    const value = patch[key]
    const field = type?.map?.fields.get(key)?.type ?? type?.map?.element
    const before = Object.hasOwn(out, key) ? out[key] : undefined
    if (value === null) delete out[key]
    else if (isList(value)) put(out, key, listPatched(field, before, value, patch[`$setElementOrder/${key}`]))
    else put(out, key, isObj(value) ? strategicPatched(field, before, value) : value)
  }
  for (const key of Object.keys(patch)) {
    const list = /^\$deleteFromPrimitiveList\/(.*)$/.exec(key)?.[1]
    const gone = patch[key]
    if (list !== undefined && isList(gone) && isList(out[list])) {
      put(
        out,
        list,
        (out[list] as readonly unknown[]).filter((each) => !gone.includes(each))
      )
    }
  }
  return out
}

const bare = (patch: Obj): Obj =>
  Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith("$")))

const listPatched = (
  type: Type | undefined,
  before: unknown,
  patch: readonly unknown[],
  asked: unknown
): readonly unknown[] => {
  const list = type?.list
  const replaces = patch.some((each) => get(each, "$patch") === "replace")
  if (list?.mergeKey === undefined || replaces) {
    return patch
      .filter((each) => get(each, "$patch") !== "replace")
      .map((each) => (isObj(each) ? bare(each) : each))
  }
  const { mergeKey } = list
  const keyOf = (item: unknown): unknown => (mergeKey === "" ? item : get(item, mergeKey))
  const old = isList(before) ? before : []
  const gone = patch.filter((each) => get(each, "$patch") === "delete").map(keyOf)
  const kept = old.filter((each) => !gone.includes(keyOf(each)))
  const given = patch.filter((each) => get(each, "$patch") !== "delete")
  const merged = given.map((each) =>
    strategicPatched(
      list.element,
      kept.find((item) => keyOf(item) === keyOf(each)),
      each
    )
  )
  const order = isList(asked) ? asked.map(keyOf) : given.map(keyOf)
  return woven(list, old, kept, merged, order)
}

/** Items of the patch in its order, the others in theirs, told apart by where they stood before. */
const woven = (
  list: ListType,
  old: readonly unknown[],
  kept: readonly unknown[],
  merged: readonly unknown[],
  order: readonly unknown[]
): readonly unknown[] => {
  const keyOf = (item: unknown): unknown => (list.mergeKey ? get(item, list.mergeKey) : item)
  const mergedKeys = merged.map(keyOf)
  const all = [...kept.filter((each) => !mergedKeys.includes(keyOf(each))), ...merged]
  const ordered = all
    .filter((each) => order.includes(keyOf(each)))
    .sort((a, b) => order.indexOf(keyOf(a)) - order.indexOf(keyOf(b)))
  const others = all.filter((each) => !order.includes(keyOf(each)))
  const place = (item: unknown): number => old.findIndex((each) => keyOf(each) === keyOf(item))
  const out: unknown[] = []
  let [left, right] = [0, 0]
  while (left < others.length || right < ordered.length) {
    const [l, r] = [others[left], ordered[right]]
    const first = left < others.length && (right >= ordered.length || (place(r) >= 0 && place(l) < place(r)))
    out.push(first ? l : r)
    if (first) left++
    else right++
  }
  return out
}
