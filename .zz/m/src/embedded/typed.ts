/**
 * Values with a type: what is in them, what two of them differ in, and how one is merged into the other.
 *
 * This is the arithmetic of server-side apply (KEP-555), after Kubernetes' structured-merge-diff: structs and
 * granular maps field by field, keyed lists item by item, sets value by value, atomic lists and maps as a whole.
 * `undefined` is a value that isn't there; null is one that is, and takes whatever form the other side has.
 */
import { fieldElement, isEmpty as noFields, leaf, nothing, tree, type FieldSet } from "./fieldset.ts"
import { child, elementOf, shape } from "./forms.ts"
import { isList, isObj, put, same, type Draft, type Obj } from "./json.ts"
import type { ListType, MapType, Type } from "./schema.ts"

/** Every leaf and every item that a value mentions. */
export const fieldsOf = (type: Type, value: unknown): FieldSet => below(type, value, false)

const below = (type: Type, value: unknown, member: boolean): FieldSet => {
  const form = shape(type, value)
  if (form.is === "scalar") return leaf
  if (form.is === "list") {
    if (!form.of.associative) return leaf
    return isList(value) ? tree(member, itemFields(form.of, value)) : tree(member, [])
  }
  if (form.of.atomic) return leaf
  if (!isObj(value)) return tree(member, [])
  const children: [string, FieldSet][] = []
  for (const key of Object.keys(value)) {
    const of = child(form.of, key)
    const inner = value[key]
    if (!of || inner === undefined) continue
    const bare = inner === null || (isObj(inner) && Object.keys(inner).length === 0)
    children.push([fieldElement(key), below(of, inner, bare || !form.of.fields.has(key))])
  }
  return tree(member, children)
}

function* itemFields(list: ListType, items: readonly unknown[]): Generator<readonly [string, FieldSet]> {
  const counts = new Map<string, number>()
  const elements = items.map((item) => elementOf(list, item))
  for (const element of elements) counts.set(element, (counts.get(element) ?? 0) + 1)
  for (const [index, element] of elements.entries()) {
    const once = counts.get(element) === 1
    yield [element, once ? below(list.element, items[index], true) : leaf]
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
const REMOVED: Comparison = { ...SAME, removed: leaf }
const MODIFIED: Comparison = { ...SAME, modified: leaf }
const ADDED: Comparison = { ...SAME, added: leaf }

/** What `right` removes, changes and adds. */
export const compare = (type: Type, left: unknown, right: unknown): Comparison => {
  if (left === right) return SAME
  const nullish = right === undefined || (right === null && left !== undefined)
  const form = shape(type, nullish ? left : right)
  if (form.is === "map") {
    const [l, r] = [isObj(left) ? left : {}, isObj(right) ? right : {}]
    if (form.of.atomic || (isBare(l) && isBare(r))) return leafOf(left, right)
    return gathered(left, right, mapParts(form.of, l, r), swapped(left, isObj))
  }
  if (form.is === "list") {
    const [l, r] = [isList(left) ? left : [], isList(right) ? right : []]
    if (!form.of.associative || l.length + r.length === 0) return leafOf(left, right)
    return gathered(left, right, listParts(form.of, l, r), swapped(left, isList))
  }
  return leafOf(left, right)
}

const leafOf = (left: unknown, right: unknown): Comparison =>
  left === undefined ? ADDED : right === undefined ? REMOVED : same(left, right) ? SAME : MODIFIED

/** Whether the left side is there in another form: a scalar that became a map, and the like. */
const swapped = (left: unknown, is: (value: unknown) => boolean): boolean =>
  left !== undefined && left !== null && !is(left)

const gathered = (
  left: unknown,
  right: unknown,
  parts: Iterable<readonly [string, Comparison]>,
  modifiedHere: boolean
): Comparison => {
  const [removed, modified, added]: [string, FieldSet][][] = [[], [], []]
  for (const [element, part] of parts) {
    if (part === SAME) continue
    if (!noFields(part.removed)) removed?.push([element, part.removed])
    if (!noFields(part.modified)) modified?.push([element, part.modified])
    if (!noFields(part.added)) added?.push([element, part.added])
  }
  return {
    removed: tree(right === undefined, removed ?? []),
    modified: tree(modifiedHere, modified ?? []),
    added: tree(left === undefined, added ?? [])
  }
}

function* mapParts(map: MapType, left: Obj, right: Obj): Generator<readonly [string, Comparison]> {
  for (const key of Object.keys(left)) {
    const other = Object.hasOwn(right, key) ? right[key] : undefined
    const of = child(map, key)
    if (of && left[key] !== other) yield [fieldElement(key), compare(of, left[key], other)]
  }
  for (const key of Object.keys(right)) {
    const of = child(map, key)
    if (of && !Object.hasOwn(left, key) && right[key] !== undefined) {
      yield [fieldElement(key), compare(of, undefined, right[key])]
    }
  }
}

function* listParts(
  list: ListType,
  left: readonly unknown[],
  right: readonly unknown[]
): Generator<readonly [string, Comparison]> {
  const group = (items: readonly unknown[]): Map<string, unknown[]> => {
    const groups = new Map<string, unknown[]>()
    for (const item of items) {
      const element = elementOf(list, item)
      const known = groups.get(element)
      if (known) known.push(item)
      else groups.set(element, [item])
    }
    return groups
  }
  const [lefts, rights] = [group(left), group(right)]
  for (const element of new Set([...lefts.keys(), ...rights.keys()])) {
    yield [element, compareItems(list, lefts.get(element) ?? [], rights.get(element) ?? [])]
  }
}

/** Items that a list has twice are one value together. */
const compareItems = (list: ListType, left: readonly unknown[], right: readonly unknown[]): Comparison => {
  if (left.length <= 1 && right.length <= 1) return compare(list.element, left[0], right[0])
  if (left.length >= 2 && right.length >= 2) return same(left, right) ? SAME : MODIFIED
  if (left.length >= 2) {
    const single = right.length > 0 ? compare(list.element, undefined, right[0]) : SAME
    return { ...single, removed: tree(true, single.removed.children) }
  }
  const single = left.length > 0 ? compare(list.element, left[0], undefined) : SAME
  return { ...single, added: tree(true, single.added.children) }
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
  const children: [string, FieldSet][] = []
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
    children.push([element, known ? tree(true, inner.children) : inner])
  }
  return tree(set.member, children)
}
