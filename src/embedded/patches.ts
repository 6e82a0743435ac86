/**
 * The patches that clients send as a part of the object: JSON merge patch (RFC 7386) and Kubernetes' strategic merge
 * patch, which finds the items of lists by their merge keys.
 */
import { get, isList, isObj, put, type Draft, type Obj } from "./json.ts"
import type { ListType, Type } from "./schema.ts"

/** The target with the patch merged in; null takes a key away, and what is new has no nulls, in lists neither. */
export const mergePatched = (target: unknown, patch: unknown): unknown => {
  if (!isObj(target)) return withoutNulls(patch)
  if (!isObj(patch)) return patch
  const out: Draft = { ...target }
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null) {
      if (Object.hasOwn(out, key)) delete out[key]
    } else put(out, key, mergePatched(Object.hasOwn(out, key) ? out[key] : undefined, value))
  }
  return out
}

/** The value without the fields that are null; an item of a list that is null stays. */
const withoutNulls = (value: unknown): unknown => {
  if (isList(value)) return value.map(withoutNulls)
  if (!isObj(value)) return value
  const out: Draft = {}
  for (const key of Object.keys(value)) if (value[key] !== null) put(out, key, withoutNulls(value[key]))
  return out
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
  const all = [...kept]
  for (const each of given) {
    // of several items of one key, the first is meant; the others stay
    const place = all.findIndex((item) => keyOf(item) === keyOf(each))
    const next = strategicPatched(list.element, place < 0 ? undefined : all[place], each)
    if (place < 0) all.push(next)
    else all[place] = next
  }
  const order = isList(asked) ? asked.map(keyOf) : given.map(keyOf)
  return woven(list, old, all, order)
}

/** Items of the patch in its order, the others in theirs, told apart by where they stood before. */
const woven = (
  list: ListType,
  old: readonly unknown[],
  all: readonly unknown[],
  order: readonly unknown[]
): readonly unknown[] => {
  const keyOf = (item: unknown): unknown => (list.mergeKey ? get(item, list.mergeKey) : item)
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
