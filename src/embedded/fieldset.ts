/**
 * Sets of fields: what a manager owns, as a tree of path elements (KEP-555, `fieldsV1`).
 *
 * A path element is written as in `managedFields`: `f:replicas` a field, `k:{"name":"a"}` an item of a keyed list,
 * `v:"a"` an item of a set, `i:0` an index. The algebra is that of Kubernetes' structured-merge-diff.
 */
import { byCode, goJson, isObj, put, type Draft, type Obj } from "./json.ts"

export interface FieldSet {
  /** the path that leads here is in the set */
  readonly member: boolean
  readonly children: ReadonlyMap<string, FieldSet>
}

export type Path = readonly string[]

const NO_CHILDREN: ReadonlyMap<string, FieldSet> = new Map()
export const nothing: FieldSet = { member: false, children: NO_CHILDREN }
/** A path by itself. */
export const leaf: FieldSet = { member: true, children: NO_CHILDREN }

/** A set of what lies below, none of it empty, and of the path itself if that is a member. */
export const branch = (member: boolean, children: ReadonlyMap<string, FieldSet>): FieldSet =>
  children.size > 0 ? { member, children } : member ? leaf : nothing

export const isEmpty = (set: FieldSet): boolean => !set.member && set.children.size === 0

export const union = (a: FieldSet, b: FieldSet): FieldSet => {
  if (b.children.size === 0) return b.member && !a.member ? branch(true, a.children) : a
  if (a.children.size === 0) return a.member && !b.member ? branch(true, b.children) : b
  if (a === b) return a
  const children = new Map(a.children)
  for (const [element, child] of b.children) {
    const mine = children.get(element)
    children.set(element, mine ? union(mine, child) : child)
  }
  return branch(a.member || b.member, children)
}

export const intersection = (a: FieldSet, b: FieldSet): FieldSet => {
  if (a === b) return a
  if (a.children.size === 0 || b.children.size === 0) return a.member && b.member ? leaf : nothing
  const children = new Map<string, FieldSet>()
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    if (!other) continue
    const both = intersection(child, other)
    if (!isEmpty(both)) children.set(element, both)
  }
  return branch(a.member && b.member, children)
}

/** The members of a that aren't members of b; what lies below a member of b stays. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet => {
  if (isEmpty(b)) return a
  const member = a.member && !b.member
  if (a === b || a.children.size === 0) return member === a.member && a !== b ? a : nothing
  let untouched = member === a.member
  const children = new Map<string, FieldSet>()
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    const rest = other ? difference(child, other) : child
    if (rest !== child) untouched = false
    if (!isEmpty(rest)) children.set(element, rest)
  }
  return untouched ? a : branch(member, children)
}

/** As `difference`, but what lies below a member of b goes too. */
export const without = (a: FieldSet, b: FieldSet): FieldSet => {
  if (isEmpty(b) || !overlaps(a, b)) return a
  const children = new Map<string, FieldSet>()
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    const rest = !other ? child : other.member ? nothing : without(child, other)
    if (!isEmpty(rest)) children.set(element, rest)
  }
  return branch(a.member && !b.member, children)
}

const overlaps = (a: FieldSet, b: FieldSet): boolean => {
  if (a.member && b.member) return true
  for (const element of b.children.keys()) if (a.children.has(element)) return true
  return false
}

export const ofPaths = (...paths: readonly Path[]): FieldSet =>
  paths.reduce((set, path) => insert(set, path), nothing)

const insert = (set: FieldSet, path: Path): FieldSet => {
  const [first, ...rest] = path
  if (first === undefined) return branch(true, set.children)
  const children = new Map(set.children)
  children.set(first, insert(children.get(first) ?? nothing, rest))
  return branch(set.member, children)
}

/** The members in Kubernetes' order: those of a node first, then what lies deeper. */
export function* paths(set: FieldSet, prefix: Path = []): Generator<Path> {
  const elements = inOrder(set)
  for (const element of elements) if (set.children.get(element)?.member) yield [...prefix, element]
  for (const element of elements) {
    const child = set.children.get(element)
    if (child && child.children.size > 0) yield* paths(child, [...prefix, element])
  }
}

export const equal = (a: FieldSet, b: FieldSet): boolean => {
  if (a === b) return true
  if (a.member !== b.member || a.children.size !== b.children.size) return false
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    if (!other || !equal(child, other)) return false
  }
  return true
}

const decoded = new WeakMap<Obj, FieldSet>()
const encoded = new WeakMap<FieldSet, Obj>()

/** Reads `fieldsV1`; undefined where a key isn't a path element. */
export const decode = (fields: Obj): FieldSet | undefined => {
  const known = decoded.get(fields)
  if (known) return known
  const set = decodeNode(fields, false)
  if (set && Object.isFrozen(fields)) decoded.set(fields, set)
  return set
}

const decodeNode = (fields: Obj, inner: boolean): FieldSet | undefined => {
  const keys = Object.keys(fields)
  if (keys.length === 0) return inner ? leaf : nothing
  const children = new Map<string, FieldSet>()
  let member = false
  for (const key of keys) {
    if (key === ".") {
      member = inner
      continue
    }
    const element = canonical(key)
    const below = fields[key]
    const child = isObj(below) ? decodeNode(below, true) : undefined
    if (element === undefined || child === undefined) return undefined
    children.set(element, child)
  }
  return branch(member, children)
}

const canonical = (key: string): string | undefined => {
  const kind = key.slice(0, 2)
  if (kind === "f:" || kind === "i:") return key
  if (kind !== "k:" && kind !== "v:") return undefined
  try {
    const value: unknown = JSON.parse(key.slice(2))
    if (kind === "v:") return valueElement(value)
    return isObj(value) ? keyElement(Object.entries(value)) : undefined
  } catch {
    return undefined
  }
}

/** Writes `fieldsV1`, sorted as the server sorts it. */
export const encode = (set: FieldSet): Obj => {
  const known = encoded.get(set)
  if (known) return known
  const out = encodeNode(set, false)
  encoded.set(set, out)
  decoded.set(out, set)
  return out
}

const EMPTY: Obj = Object.freeze({})

const inOrder = (set: FieldSet): readonly string[] => {
  const elements = [...set.children.keys()]
  return elements.length > 1 ? elements.sort(byElement) : elements
}

const encodeNode = (set: FieldSet, inner: boolean): Obj => {
  if (set.children.size === 0) return EMPTY
  const out: Draft = {}
  if (inner && set.member) out["."] = EMPTY
  for (const element of inOrder(set))
    put(out, element, encodeNode(set.children.get(element) ?? nothing, true))
  return Object.freeze(out)
}

export const fieldElement = (name: string): string => `f:${name}`
export const valueElement = (value: unknown): string => `v:${goJson(value)}`

/** The element of a keyed list's item; entries in any order. */
export const keyElement = (entries: readonly (readonly [string, unknown])[]): string =>
  entries.length === 1 && entries[0]
    ? `k:{${pair(entries[0])}}`
    : `k:{${[...entries]
        .sort(([a], [b]) => byCode(a, b))
        .map(pair)
        .join(",")}}`

const pair = ([name, value]: readonly [string, unknown]): string => `${goJson(name)}:${goJson(value)}`

const RANK: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 }

const byElement = (a: string, b: string): number => {
  const ranks = (RANK[a[0] ?? ""] ?? 4) - (RANK[b[0] ?? ""] ?? 4)
  if (ranks !== 0) return ranks
  if (a[0] === "f") return byCode(a, b)
  if (a[0] === "i") return Number(a.slice(2)) - Number(b.slice(2))
  const [x, y] = [JSON.parse(a.slice(2)) as unknown, JSON.parse(b.slice(2)) as unknown]
  if (!isObj(x) || !isObj(y)) return byValue(x, y)
  const [left, right] = [Object.entries(x), Object.entries(y)]
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index]
    if (!other) return 1
    const order = byCode(name, other[0]) || byValue(value, other[1])
    if (order !== 0) return order
  }
  return left.length - right.length
}

const byValue = (a: unknown, b: unknown): number => {
  const rank = (value: unknown): number => ["number", "string", "boolean"].indexOf(typeof value)
  if (typeof a === "number" && typeof b === "number") return a - b
  if (typeof a === "string" && typeof b === "string") return byCode(a, b)
  return rank(a) - rank(b) || Number(a) - Number(b)
}

/** A path as messages show it: `.spec.ports[port=80,protocol="TCP"].name`. */
export const shown = (path: Path): string => path.map(shownElement).join("")

export const shownElement = (element: string): string => {
  const rest = element.slice(2)
  switch (element.slice(0, 1)) {
    case "f":
      return `.${rest}`
    case "k":
      return `[${Object.entries(JSON.parse(rest) as Obj)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(",")}]`
    case "v":
      return `[=${rest}]`
    default:
      return `[${rest}]`
  }
}
