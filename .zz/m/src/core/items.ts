/**
 * Items of lists that are merged item by item: what they are called, and which of them stand twice.
 */
import { isObject } from "./json.ts"
import { type ChildKind, type Manageable, type Shape, shapeOf, shapes } from "./schema.ts"
import { own } from "./value.ts"

/** Texts that need no quotes: nothing else is written like them, and they don't end a key. */
const PLAIN = /^(?!(?:true|false|null)$)[A-Za-z_/.][\w/.:-]*$/

const plain = (value: unknown): string =>
  typeof value === "string" && PLAIN.test(value) ? value : JSON.stringify(value ?? null)

/** How an item of a list is called: `[name=nginx]`, `[containerPort=80,protocol=TCP]`, `["x"]`. */
export const itemName = (item: unknown, shape: Shape): string => {
  if (shape._tag === "Set") return `[${JSON.stringify(item ?? null)}]`
  return `[${shape.keys.map(({ name, absent }) => `${name}=${plain(own(item, name) ?? absent)}`).join(",")}]`
}

/** The items of a list by name; a name that stands twice has two. */
export const byName = (list: unknown, shape: Shape): ReadonlyMap<string, readonly unknown[]> => {
  const found = new Map<string, unknown[]>()
  for (const item of Array.isArray(list) ? list : []) {
    const name = itemName(item, shape)
    const same = found.get(name)
    if (same === undefined) found.set(name, [item])
    else same.push(item)
  }
  return found
}

/** A key that a keyed list has twice, or a value that a set has twice. */
export interface Duplicate {
  /** the list, such as `spec.template.spec.containers[name=nginx].env` */
  readonly path: string
  /** such as `name=A` */
  readonly key: string
}

/** All keys that stand twice in lists that are merged by key: server-side apply refuses them with 500. */
export const duplicates = (kind: ChildKind, object: Manageable): readonly Duplicate[] => {
  const found: Duplicate[] = []
  for (const field of ["metadata", "spec"] as const)
    twice(object[field], shapeOf(shapes[kind], field), field, found)
  return found
}

const twice = (value: unknown, shape: Shape, path: string, found: Duplicate[]): void => {
  if (shape._tag === "Whole" || typeof value !== "object" || value === null) return
  if (!Array.isArray(value)) {
    for (const field of Object.keys(value))
      twice(own(value, field), shapeOf(shape, field), `${path}.${field}`, found)
    return
  }
  if (shape._tag === "Parts") return
  for (const [name, items] of byName(value, shape)) {
    if (items.length > 1) found.push({ path, key: name.slice(1, -1) })
    for (const item of items)
      if (isObject(item))
        for (const field of Object.keys(item))
          twice(item[field], shapeOf(shape, field), `${path}${name}.${field}`, found)
  }
}
