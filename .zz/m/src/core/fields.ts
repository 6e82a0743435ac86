/**
 * What a field manager owns of a Deployment, a StatefulSet or a Service, and what a wanted object would make it own.
 *
 * Server-side apply (KEP-555) remembers in `metadata.managedFields` which paths a manager applied. A child is as wanted
 * exactly where the wanted tree and the owned tree are equal: the same paths, and the same values there. Other
 * managers' fields and the server's own defaults are in neither.
 */
import { at, type FieldSet, setsOf, union } from "./fieldset.ts"
import { isObject } from "./json.ts"
import { byName, itemName } from "./items.ts"
import { type ChildKind, type Manageable, type Shape, shapeOf, shapes } from "./schema.ts"
import { digest, leaf, type Tree, tree } from "./tree.ts"
import { own, spelling } from "./value.ts"

type Fields = { readonly [field: string]: unknown }

/** A keyed list says in which order its items stand, where that has a meaning; a set never does. */
const list = (parts: ReadonlyMap<string, Tree>, shape: Shape): Tree =>
  tree(false, shape.ordered && parts.size > 1 ? [...parts.keys()].join(" ") : "", parts)

/** What an owned item says that the list has more than once, or no more. */
const count = (items: readonly unknown[]): string => (items.length === 1 ? "" : `${items.length} times`)

interface Remembered {
  readonly shape: Shape
  readonly tree: Tree | undefined
}

/**
 * Trees of subtrees that many wanted objects share, for the length of one call: a `new Map()` (or `WeakMap`) that the caller
 * drops afterwards. Objects must not change while it lives.
 */
export interface Memo {
  get(subtree: object): Remembered | undefined
  set(subtree: object, remembered: Remembered): unknown
}

/** As the API server makes a field set of what is applied; `undefined` where nothing is owned. */
const said = (value: unknown, shape: Shape, memo: Memo | undefined): Tree | undefined => {
  if (typeof value !== "object" || value === null)
    return value === undefined ? undefined : leaf(spelling(value, shape))
  const known = memo?.get(value)
  if (known?.shape === shape) return known.tree
  const made = saidParts(value, shape, memo)
  memo?.set(value, { shape, tree: made })
  return made
}

const saidParts = (value: object, shape: Shape, memo: Memo | undefined): Tree | undefined => {
  if (shape._tag === "Whole" || shape._tag === "Quantity") return leaf(spelling(value, shape))
  if (Array.isArray(value)) {
    if (shape._tag === "Parts") return leaf(spelling(value, shape))
    const parts = new Map<string, Tree>()
    for (const [name, items] of byName(value, shape)) parts.set(name, saidItem(items, shape, memo))
    return parts.size === 0 ? undefined : list(parts, shape)
  }
  return (
    saidFields(value as Fields, Object.keys(value), shape, memo) ??
    (Object.keys(value).length === 0 ? leaf("") : undefined)
  )
}

const saidItem = (items: readonly unknown[], shape: Shape, memo: Memo | undefined): Tree => {
  const item = items[0]
  if (shape._tag === "Set") return leaf(count(items))
  if (shape.wholeItems || !isObject(item)) return leaf(spelling(item, shape) + count(items))
  return tree(true, count(items), saidFields(item, Object.keys(item), shape, memo)?.parts ?? new Map())
}

const saidFields = (
  value: Fields,
  names: readonly string[],
  shape: Shape,
  memo: Memo | undefined
): Tree | undefined => {
  const parts = new Map<string, Tree>()
  for (const name of names) {
    const part = said(value[name], shapeOf(shape, name), memo)
    if (part !== undefined) parts.set(name, part)
  }
  return parts.size === 0 ? undefined : tree(false, "", parts)
}

/** Never owned by anyone: they say which object it is. */
const IDENTITY: ReadonlySet<string> = new Set(
  "name namespace uid resourceVersion generation creationTimestamp selfLink clusterName managedFields".split(
    " "
  )
)

const NOTHING: Tree = tree(false, "", new Map())

/**
 * What our manager will own after `object` was applied: labels, annotations, owner references, finalizers and spec. Depends on
 * the object as it is sent; apiVersion, kind, name, namespace, uid and resourceVersion are not part of it, nor is status.
 * Where the order of a keyed list has a meaning (containers, initContainers, env) it is part of the tree, since the
 * server follows the order that was applied.
 */
export const wantedTree = (kind: ChildKind, object: Manageable, memo?: Memo): Tree => {
  const root = shapes[kind]
  const parts = new Map<string, Tree>()
  if (isObject(object.metadata)) {
    const names = Object.keys(object.metadata).filter((name) => !IDENTITY.has(name))
    const metadata = saidFields(object.metadata, names, shapeOf(root, "metadata"), memo)
    if (metadata !== undefined) parts.set("metadata", metadata)
  }
  const spec = said(object.spec, shapeOf(root, "spec"), memo)
  if (spec !== undefined) parts.set("spec", spec)
  return tree(false, "", parts)
}

/** The digest of what will be owned. With a memo, objects that share subtrees cost little more than what they don't share. */
export const digestWanted = (kind: ChildKind, object: Manageable, memo?: Memo): string =>
  digest(wantedTree(kind, object, memo))

/**
 * What `manager` owns of the live object: the paths of its applies to the main resource, and the object's values there.
 * Only items that it owns count, also for their order. Ownership that can't be read is none.
 */
export const ownedTree = (kind: ChildKind, object: Manageable, manager: string): Tree => {
  const [first, ...more] = setsOf(own(object.metadata, "managedFields"), manager)
  if (first === undefined) return NOTHING
  return ownedAt(more.reduce(union, first), object, shapes[kind]) ?? NOTHING
}

const KNOWN: ReadonlySet<string> = new Set(["f:", "k:", "v:", "i:"])

const ownedAt = (set: FieldSet, value: unknown, shape: Shape): Tree | undefined => {
  const steps = Object.keys(set)
  const below = steps.filter((step) => KNOWN.has(step.slice(0, 2)) && isObject(set[step]))
  const itself = steps.length === 0 || isObject(at(set, "."))
  if (below.length === 0) return itself ? leaf(leafSpelling(value, shape)) : undefined
  const items = !below.every((step) => step.startsWith("f:"))
  if (shape._tag === "Whole" || shape._tag === "Quantity" || (items && shape._tag === "Parts"))
    return leaf(spelling(value, shape))
  const parts = items ? ownedItems(set, below, value, shape) : ownedFields(set, below, value, shape)
  if (parts.size === 0 && !itself) return undefined
  return items && !itself ? list(parts, shape) : tree(itself, "", parts)
}

/** An object or keyed list of which no part is owned was applied as null or empty, whatever others put there. */
const leafSpelling = (value: unknown, shape: Shape): string =>
  shape._tag !== "Whole" && (isObject(value) || (Array.isArray(value) && shape._tag !== "Parts"))
    ? ""
    : spelling(value, shape)

type Parts = ReadonlyMap<string, Tree>

const ownedFields = (set: FieldSet, steps: readonly string[], value: unknown, shape: Shape): Parts => {
  const fields = isObject(value) ? value : {}
  const parts = new Map<string, Tree>()
  for (const step of steps) {
    const name = step.slice(2)
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    const part = ownedAt(set[step] as FieldSet, field, shapeOf(shape, name))
    if (part !== undefined) parts.set(name, part)
  }
  return parts
}

/** In the order in which the live list has them; what it hasn't stands last. */
const ownedItems = (set: FieldSet, steps: readonly string[], value: unknown, shape: Shape): Parts => {
  const live = byName(value, shape)
  const owned = new Map<string, FieldSet>()
  for (const step of steps) {
    const item = parsed(step)
    if (item !== undefined) owned.set(itemName(item.value, shape), set[step] as FieldSet)
  }
  const parts = new Map<string, Tree>()
  for (const [name, items] of live) {
    const below = owned.get(name)
    if (below !== undefined) parts.set(name, ownedItem(below, items, shape))
  }
  for (const [name, below] of owned) if (!parts.has(name)) parts.set(name, ownedItem(below, [], shape))
  return parts
}

const ownedItem = (set: FieldSet, items: readonly unknown[], shape: Shape): Tree => {
  if (shape._tag === "Set") return leaf(count(items))
  if (shape.wholeItems) return leaf(spelling(items[0], shape) + count(items))
  const steps = Object.keys(set).filter((step) => step.startsWith("f:") && isObject(set[step]))
  const itself = steps.length === 0 || isObject(at(set, "."))
  return tree(itself, count(items), ownedFields(set, steps, items[0], shape))
}

/** `k:{"name":"x"}` and `v:"x"`; an index (`i:0`) never occurs in what the API server writes. */
const parsed = (step: string): { readonly value: unknown } | undefined => {
  if (!step.startsWith("k:") && !step.startsWith("v:")) return undefined
  try {
    return { value: JSON.parse(step.slice(2)) as unknown }
  } catch {
    return undefined
  }
}
