/**
 * Values with a type: what is in them, what two of them differ in, and how one is merged into the other.
 *
 * This is the arithmetic of server-side apply (KEP-555), after Kubernetes' structured-merge-diff: structs and
 * granular maps field by field, keyed lists item by item, sets value by value, atomic lists and maps as a whole.
 * `undefined` is a value that isn't there; null is one that is, and takes whatever form the other side has.
 */
import {
  fieldElement,
  isEmpty as noFields,
  keyElement,
  nothing,
  shownElement,
  tree,
  valueElement,
  type FieldSet
} from "./fieldset.ts"
import { goJson, isList, isObj, put, same, type Draft, type Obj } from "./json.ts"
import type { ListType, MapType, Type } from "./schema.ts"

type Shape =
  | { readonly is: "scalar" }
  | { readonly is: "list"; readonly of: ListType }
  | { readonly is: "map"; readonly of: MapType }

/** Which of its type's forms a value has; null and what fits none have the type's first one. */
const shape = (type: Type, value: unknown): Shape => {
  if (isList(value)) {
    if (type.list) return { is: "list", of: type.list }
  } else if (isObj(value)) {
    if (type.map) return { is: "map", of: type.map }
  } else if (value !== null && value !== undefined && type.scalar) return SCALAR
  if (type.map) return { is: "map", of: type.map }
  if (type.scalar) return SCALAR
  return type.list ? { is: "list", of: type.list } : SCALAR
}
const SCALAR: Shape = { is: "scalar" }

const child = (map: MapType, key: string): Type | undefined => map.fields.get(key)?.type ?? map.element

/** What is wrong with a value, as the server words it (`.spec.foo: field not declared in schema`). */
export const problems = (type: Type, value: unknown, allowDuplicates: boolean): readonly string[] => {
  const found: string[] = []
  check(type, value, "", found, allowDuplicates)
  return found
}

const check = (type: Type, value: unknown, path: string, found: string[], duplicates: boolean): void => {
  if (value === null || value === undefined) return
  const report = (message: string): void => {
    found.push(path === "" ? message : `${path}: ${message}`)
  }
  const form = shape(type, value)
  if (form.is === "map") {
    if (!isObj(value)) return report(`expected map, got &{${goValue(value)}}`)
    const unknown = Object.keys(value)
      .filter((key) => !child(form.of, key))
      .sort()[0]
    if (unknown !== undefined) {
      found.push(`${path}.${unknown}: field not declared in schema`)
      return
    }
    for (const key of Object.keys(value)) {
      const of = child(form.of, key)
      if (of) check(of, value[key], `${path}.${key}`, found, duplicates)
    }
  } else if (form.is === "list") {
    if (!isList(value)) return report(`expected list, got &{${goValue(value)}}`)
    checkItems(form.of, value, path, found, duplicates)
  } else checkScalar(type, value, report)
}

const checkItems = (
  list: ListType,
  items: readonly unknown[],
  path: string,
  found: string[],
  duplicates: boolean
): void => {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    let element = `i:${index}`
    if (list.associative) {
      const key = itemElement(list, item)
      if (typeof key !== "string") {
        found.push(`${path === "" ? "" : `${path}: `}element ${index}: ${key.problem}`)
        return
      }
      element = key
      if (seen.has(key) && !duplicates) {
        found.push(`${path === "" ? "" : `${path}: `}duplicate entries for key ${shownElement(key)}`)
      }
      seen.add(key)
    }
    check(list.element, item, path + shownElement(element), found, duplicates)
  }
}

const checkScalar = (type: Type, value: unknown, report: (message: string) => void): void => {
  switch (type.scalar) {
    case "numeric":
      if (typeof value !== "number") report(`expected numeric (int or float), got ${goType(value)}`)
      return
    case "string":
      if (typeof value !== "string")
        report(`expected string, got &value.valueUnstructured{Value:${goLiteral(value)}}`)
      return
    case "boolean":
      if (typeof value !== "boolean") report(`expected boolean, got &{${goValue(value)}}`)
      return
    default:
      if (isObj(value) || isList(value)) report(`expected any scalar, got &{${goValue(value)}}`)
  }
}

const goType = (value: unknown): string => {
  if (isList(value)) return "[]interface {}"
  if (isObj(value)) return "map[string]interface {}"
  if (typeof value === "boolean") return "bool"
  return typeof value === "number" ? (Number.isInteger(value) ? "int64" : "float64") : "string"
}

const goValue = (value: unknown): string => {
  if (isList(value)) return `[${value.map(goValue).join(" ")}]`
  if (isObj(value)) {
    const keys = Object.keys(value).sort()
    return `map[${keys.map((key) => `${key}:${goValue(value[key])}`).join(" ")}]`
  }
  return value === null ? "<nil>" : String(value)
}

const goLiteral = (value: unknown): string => {
  if (isList(value)) return `[]interface {}{${value.map(goLiteral).join(", ")}}`
  if (isObj(value)) {
    const keys = Object.keys(value).sort()
    return `map[string]interface {}{${keys.map((key) => `${goJson(key)}:${goLiteral(value[key])}`).join(", ")}}`
  }
  return typeof value === "string" ? goJson(value) : String(value)
}

/** The path element of a list's item, or why it has none. */
export const itemElement = (list: ListType, item: unknown): string | { readonly problem: string } => {
  if (list.keys.length === 0) {
    if (isObj(item)) return { problem: "associative list without keys has an element that's a map type" }
    if (isList(item)) return { problem: "not supported: associative list with lists as elements" }
    if (item === null)
      return { problem: "associative list without keys has an element that's an explicit null" }
    return valueElement(item)
  }
  if (item === null) return { problem: "associative list with keys may not have a null element" }
  if (!isObj(item)) return { problem: "associative list with keys may not have non-map elements" }
  const keys: [string, unknown][] = []
  for (const key of list.keys) {
    const preset = list.element.map?.fields.get(key)?.default
    if (Object.hasOwn(item, key) && item[key] !== undefined) keys.push([key, item[key]])
    else if (preset !== undefined) keys.push([key, preset])
  }
  if (keys.length > 0) return keyElement(keys)
  const names = list.keys.map((key) => `"${key}"`).join(" ")
  return {
    problem: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`
  }
}

const elementOf = (list: ListType, item: unknown): string => {
  const element = itemElement(list, item)
  return typeof element === "string" ? element : `v:${goJson(item)}`
}

/** Every leaf and every item that a value mentions. */
export const fieldsOf = (type: Type, value: unknown): FieldSet => below(type, value, false)

const below = (type: Type, value: unknown, member: boolean): FieldSet => {
  const form = shape(type, value)
  if (form.is === "scalar") return tree(true, [])
  if (form.is === "list") {
    if (!form.of.associative) return tree(true, [])
    return isList(value) ? tree(member, itemFields(form.of, value)) : tree(member, [])
  }
  if (form.of.atomic) return tree(true, [])
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
    yield [element, once ? below(list.element, items[index], true) : tree(true, [])]
  }
}

/** The value of `left` with everything that `right` mentions as `right` has it. */
export const merge = (type: Type, left: unknown, right: unknown): unknown => {
  const form = shape(type, right === undefined || (right === null && left !== undefined) ? left : right)
  if (form.is === "map") {
    const [l, r] = [isObj(left) ? left : {}, isObj(right) ? right : {}]
    if (form.of.atomic || (isBare(l) && isBare(r))) return right !== undefined ? right : left
    return mergeMaps(form.of, l, r)
  }
  if (form.is === "list") {
    const [l, r] = [isList(left) ? left : [], isList(right) ? right : []]
    if (!form.of.associative || l.length + r.length === 0) return right !== undefined ? right : left
    return mergeLists(form.of, l, r)
  }
  return right !== undefined ? right : left
}

const isBare = (map: Obj): boolean => {
  for (const _ in map) return false
  return true
}

const mergeMaps = (map: MapType, left: Obj, right: Obj): unknown => {
  const out: Draft = {}
  let size = 0
  const add = (key: string, l: unknown, r: unknown): void => {
    if (l === undefined && r === undefined) return
    const of = child(map, key)
    const merged = of ? merge(of, l, r) : r !== undefined ? r : l
    if (merged === undefined) return
    put(out, key, merged)
    size++
  }
  for (const key of Object.keys(left)) {
    const other = Object.hasOwn(right, key) ? right[key] : undefined
    if (other === undefined && left[key] !== undefined) {
      put(out, key, left[key])
      size++
    } else add(key, left[key], other)
  }
  for (const key of Object.keys(right)) {
    if (!Object.hasOwn(left, key)) add(key, undefined, right[key])
  }
  return size > 0 ? out : undefined
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
  return out.length > 0 ? out : undefined
}

export interface Comparison {
  readonly removed: FieldSet
  readonly modified: FieldSet
  readonly added: FieldSet
}

const SAME: Comparison = { removed: nothing, modified: nothing, added: nothing }
const REMOVED: Comparison = { ...SAME, removed: tree(true, []) }
const MODIFIED: Comparison = { ...SAME, modified: tree(true, []) }
const ADDED: Comparison = { ...SAME, added: tree(true, []) }

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
