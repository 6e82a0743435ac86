/**
 * The form that a value takes among those of its type, and what its fields and items are called in a path.
 */
import { keyElement, valueElement } from "./fieldset.ts"
import { goJson, isList, isObj } from "./json.ts"
import type { ListType, MapType, Type } from "./schema.ts"

/** One of its type's forms that a value has. */
export type Shape =
  | { readonly is: "scalar" }
  | { readonly is: "list"; readonly of: ListType }
  | { readonly is: "map"; readonly of: MapType }

/** Which of its type's forms a value has; null and what fits none have the type's first one. */
export const shape = (type: Type, value: unknown): Shape => {
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

/** The type of a key of a map; undefined where the map may not have it. */
export const child = (map: MapType, key: string): Type | undefined => map.fields.get(key)?.type ?? map.element

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

/** The path element of an item that is known to have one. */
export const elementOf = (list: ListType, item: unknown): string => {
  const element = itemElement(list, item)
  return typeof element === "string" ? element : `v:${goJson(item)}`
}
