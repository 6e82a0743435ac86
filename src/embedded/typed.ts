/**
 * Values with a type: what is in them, what two of them differ in, and how one is merged into the other.
 *
 * This is the arithmetic of server-side apply (KEP-555), after Kubernetes' structured-merge-diff: structs and
 * granular maps field by field, keyed lists item by item, sets value by value, atomic lists and maps as a whole.
 * `undefined` is a value that isn't there; null is one that is, and takes whatever form the other side has.
 */
import { branch, fieldElement, isEmpty as noFields, leaf, nothing, type FieldSet } from "./fieldset.ts"
import { child, elementOf, shape } from "./forms.ts"
import { isList, isObj, put, same, type Draft, type Obj } from "./json.ts"
import type { ListType, MapType, Type } from "./schema.ts"

/** Every leaf and every item that a value mentions. */
export const fieldsOf = (type: Type, value: unknown): FieldSet => below(type, value, false)

const below = (type: Type, value: unknown, member: boolean): FieldSet => {
  const form = shape(type, value)
  if (form.is === "scalar") return leaf
  const children = new Map<string, FieldSet>()
  const add = (element: string, fields: FieldSet): void => {
    if (!noFields(fields)) children.set(element, fields)
  }
  if (form.is === "list") {
    if (!form.of.associative) return leaf
    const { element: of } = form.of
    if (isList(value)) {
      eachItem(form.of, value, (element, item, once) => {
        add(element, once ? below(of, item, true) : leaf)
      })
    }
    return branch(member, children)
  }
  if (form.of.atomic) return leaf
  for (const key of isObj(value) ? Object.keys(value) : []) {
    const of = child(form.of, key)
    const inner = (value as Obj)[key]
    if (!of || inner === undefined) continue
    const bare = inner === null || (isObj(inner) && isBare(inner))
    add(fieldElement(key), below(of, inner, bare || !form.of.fields.has(key)))
  }
  return branch(member, children)
}

/** Items with their path elements; one that the list has twice is told so, each time. */
const eachItem = (
  list: ListType,
  items: readonly unknown[],
  visit: (element: string, item: unknown, once: boolean) => void
): void => {
  const elements = items.map((item) => elementOf(list, item))
  const doubled = new Set(elements).size < elements.length
  for (const [index, element] of elements.entries()) {
    const once = !doubled || elements.indexOf(element) === elements.lastIndexOf(element)
    visit(element, items[index], once)
  }
}

/** The value of `left` with everything that `right` mentions as `right` has it. */
export const merge = (type: Type, left: unknown, right: unknown): unknown => {
  const form = shape(type, right === undefined || (right === null && left !== undefined) ? left : right)
  if (form.is === "map") {
    const [l, r] = [isObj(left) ? left : {}, isObj(right) ? right : {}]
    if (form.of.atomic || (isBare(l) && isBare(r))) return chosen(left, right)
    return mergeMaps(form.of, l, r)
  }
  if (form.is === "list") {
    const [l, r] = [isList(left) ? left : [], isList(right) ? right : []]
    if (!form.of.associative || l.length + r.length === 0) return chosen(left, right)
    return mergeLists(form.of, l, r)
  }
  return chosen(left, right)
}

/** The right value, as the left one where they are equal. */
const chosen = (left: unknown, right: unknown): unknown =>
  right === undefined || (left !== undefined && same(left, right)) ? left : right

const isBare = (map: Obj): boolean => {
  for (const _ in map) return false
  return true
}

/** The left map itself where the right one changes nothing. */
const mergeMaps = (map: MapType, left: Obj, right: Obj): unknown => {
  let out: Draft | undefined
  for (const key of Object.keys(right)) {
    const given = right[key]
    if (given === undefined) continue
    const before = Object.hasOwn(left, key) ? left[key] : undefined
    const of = child(map, key)
    const merged = of ? merge(of, before, given) : given
    if (merged === before) continue
    out ??= { ...left }
    if (merged === undefined) delete out[key]
    else put(out, key, merged)
  }
  if (out) return isBare(out) ? undefined : out
  return isBare(left) ? undefined : left
}

/** Items in the order of `right`, those of `left` alone kept where they stood among the shared ones. */
const mergeLists = (list: ListType, left: readonly unknown[], right: readonly unknown[]): unknown => {
  const leftKeys = left.map((item) => elementOf(list, item))
  const rightKeys = right.map((item) => elementOf(list, item))
  const inLeft = new Map<string, unknown>()
  for (const [index, key] of leftKeys.entries()) inLeft.set(key, inLeft.has(key) ? null : left[index])
  const inRight = new Map(rightKeys.map((key, index) => [key, right[index]] as const))
  const shared = rightKeys.filter((key) => inLeft.has(key))
  const done = new Set<string>()
  const out: unknown[] = []
  const take = (key: string, l: unknown, r: unknown): void => {
    const merged = merge(list.element, l, r)
    if (merged !== undefined) out.push(merged)
    if (inRight.has(key)) done.add(key)
  }
  let next = shared.shift()
  for (let l = 0, r = 0; l < leftKeys.length || r < rightKeys.length;) {
    const [here, there] = [leftKeys[l], rightKeys[r]]
    if (here !== undefined && there !== undefined) {
      if (here === there) {
        take(here, inLeft.get(here), inRight.get(here))
        l++
        r++
        next = shared.shift()
        continue
      }
      if (inRight.has(here) && next !== undefined && next !== here) {
        l++
        continue
      }
    }
    if (here !== undefined) {
      if (!inRight.has(here)) {
        take(here, left[l], undefined)
        l++
        continue
      }
      if (done.has(here)) l++
    }
    if (there !== undefined) {
      take(there, inLeft.get(there), inRight.get(there))
      r++
      if (next === there) next = shared.shift()
    }
  }
  if (out.length === left.length && out.every((each, index) => each === left[index])) return left
  return out.length > 0 ? out : undefined
}

export interface Comparison {
  readonly removed: FieldSet
  readonly modified: FieldSet
  readonly added: FieldSet
}

const SAME: Comparison = { removed: nothing, modified: nothing, added: nothing }
const MODIFIED: Comparison = { ...SAME, modified: leaf }

/** What `right` removes, changes and adds. */
export const compare = (type: Type, left: unknown, right: unknown): Comparison => {
  if (left === right) return SAME
  if (left === undefined) return { ...SAME, added: everything(type, right) }
  if (right === undefined) return { ...SAME, removed: everything(type, left) }
  const form = shape(type, right === null ? left : right)
  if (form.is === "scalar") return same(left, right) ? SAME : MODIFIED
  if (form.is === "map") {
    const [l, r] = [isObj(left) ? left : {}, isObj(right) ? right : {}]
    if (form.of.atomic || (isBare(l) && isBare(r))) return same(left, right) ? SAME : MODIFIED
    return compareMaps(form.of, l, r, left !== null && !isObj(left))
  }
  const [l, r] = [isList(left) ? left : [], isList(right) ? right : []]
  if (!form.of.associative || l.length + r.length === 0) return same(left, right) ? SAME : MODIFIED
  return compareLists(form.of, l, r, left !== null && !isList(left))
}

/** All of a value that stands on one side alone: its leaves, its items, and what leads to them. */
const everything = (type: Type, value: unknown): FieldSet => {
  const form = shape(type, value)
  if (form.is === "scalar") return leaf
  const children = new Map<string, FieldSet>()
  if (form.is === "list") {
    if (!form.of.associative || !isList(value)) return leaf
    const { element: of } = form.of
    eachItem(form.of, value, (element, item, once) => {
      children.set(element, once ? everything(of, item) : leaf)
    })
    return branch(true, children)
  }
  if (form.of.atomic || !isObj(value)) return leaf
  for (const key of Object.keys(value)) {
    const of = child(form.of, key)
    if (of && value[key] !== undefined) children.set(fieldElement(key), everything(of, value[key]))
  }
  return branch(true, children)
}

/** Comparisons of the parts of a value, gathered into one. */
class Parts {
  readonly #removed = new Map<string, FieldSet>()
  readonly #modified = new Map<string, FieldSet>()
  readonly #added = new Map<string, FieldSet>()

  add(element: string, part: Comparison): void {
    if (part === SAME) return
    if (!noFields(part.removed)) this.#removed.set(element, part.removed)
    if (!noFields(part.modified)) this.#modified.set(element, part.modified)
    if (!noFields(part.added)) this.#added.set(element, part.added)
  }

  /** `swapped`: the left side was there in another form, a scalar that became a map and the like. */
  whole(swapped: boolean): Comparison {
    if (!swapped && this.#removed.size + this.#modified.size + this.#added.size === 0) return SAME
    return {
      removed: branch(false, this.#removed),
      modified: branch(swapped, this.#modified),
      added: branch(false, this.#added)
    }
  }
}

const compareMaps = (map: MapType, left: Obj, right: Obj, swapped: boolean): Comparison => {
  const parts = new Parts()
  for (const key of Object.keys(left)) {
    const other = Object.hasOwn(right, key) ? right[key] : undefined
    const of = child(map, key)
    if (of && left[key] !== other) parts.add(fieldElement(key), compare(of, left[key], other))
  }
  for (const key of Object.keys(right)) {
    const of = child(map, key)
    if (of && !Object.hasOwn(left, key)) parts.add(fieldElement(key), compare(of, undefined, right[key]))
  }
  return parts.whole(swapped)
}

const compareLists = (
  list: ListType,
  left: readonly unknown[],
  right: readonly unknown[],
  swapped: boolean
): Comparison => {
  const parts = new Parts()
  const [lefts, rights] = [grouped(list, left), grouped(list, right)]
  for (const [element, items] of lefts)
    parts.add(element, compareItems(list, items, rights.get(element) ?? []))
  for (const [element, items] of rights) {
    if (!lefts.has(element)) parts.add(element, compareItems(list, [], items))
  }
  return parts.whole(swapped)
}

const grouped = (list: ListType, items: readonly unknown[]): ReadonlyMap<string, readonly unknown[]> => {
  const groups = new Map<string, unknown[]>()
  for (const item of items) {
    const element = elementOf(list, item)
    const known = groups.get(element)
    if (known) known.push(item)
    else groups.set(element, [item])
  }
  return groups
}

/** Items that a list has twice are one value together. */
const compareItems = (list: ListType, left: readonly unknown[], right: readonly unknown[]): Comparison => {
  if (left.length <= 1 && right.length <= 1) return compare(list.element, left[0], right[0])
  if (left.length >= 2 && right.length >= 2) return same(left, right) ? SAME : MODIFIED
  if (left.length >= 2) {
    const single = right.length > 0 ? compare(list.element, undefined, right[0]) : SAME
    return { ...single, removed: branch(true, single.removed.children) }
  }
  const single = left.length > 0 ? compare(list.element, left[0], undefined) : SAME
  return { ...single, added: branch(true, single.added.children) }
}

/** The value without the fields and items of a set; what becomes empty by it is null, as the server leaves it. */
export const removeFields = (type: Type, value: unknown, fields: FieldSet): unknown => {
  const form = shape(type, value)
  if (form.is === "scalar") return value
  if (form.is === "list") {
    if (!isList(value) || value.length === 0 || !form.of.associative) return null
    const { of } = form
    const kept = value.flatMap((item) => {
      const below = fields.children.get(elementOf(of, item))
      if (!below) return [item]
      return below.member ? [] : [removeFields(of.element, item, below)]
    })
    return kept.length > 0 ? kept : null
  }
  if (!isObj(value) || isBare(value) || form.of.atomic) return null
  const out: Draft = {}
  for (const key of Object.keys(value)) {
    const below = fields.children.get(fieldElement(key))
    if (below?.member) continue
    const of = child(form.of, key)
    put(out, key, below && of ? removeFields(of, value[key], below) : value[key])
  }
  return isBare(out) ? null : out
}

/** The set with every named field that leads to a member as a member too. */
export const withNamedFields = (type: Type | undefined, set: FieldSet): FieldSet => {
  const children = new Map<string, FieldSet>()
  for (const [element, below] of set.children) {
    const name = element.slice(2)
    const isField = element.startsWith("f:")
    const known = isField && type?.map?.fields.has(name) === true
    const of = isField
      ? type?.map && child(type.map, name)
      : element.startsWith("k:")
        ? type?.list?.element
        : undefined
    const inner = withNamedFields(of, below)
    children.set(element, known ? branch(true, inner.children) : inner)
  }
  return branch(set.member, children)
}
