/**
 * Values in one spelling: two values are the same to Kubernetes exactly where their texts are equal.
 *
 * Null, absence, `[]`, `{}`, `""`, 0 and false are one value, the empty text: the server stores none of them where
 * its type is not a pointer. Where it is and the difference has a meaning, the schema says `counts`.
 */
import { isObject } from "./json.ts"
import { quantity } from "./quantity.ts"
import { type Shape, shapeOf, unlisted } from "./schema.ts"

/** A field of raw JSON: own fields alone, whatever they are called. */
export const own = (value: unknown, field: string): unknown =>
  isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined

/** A value on its own: a plain one, an amount, or an object or list that is one value. */
export const spelling = (value: unknown, shape: Shape): string => {
  if (shape._tag === "Quantity") return amount(value, shape)
  if (typeof value === "string") return plain(value) ? value : `"${value}"`
  if (typeof value === "number" || typeof value === "boolean") return value ? String(value) : ""
  if (typeof value !== "object" || value === null) return ""
  const text = json(value, shape)
  return text === "[]" || text === "{}" ? "" : text
}

/** Texts that nothing else is spelled like need no quotes, nor does the empty one. */
const plain = (text: string): boolean => {
  const first = text.charCodeAt(0)
  if (first === SLASH) return true
  return (
    !(first < UPPER_A) &&
    text !== "true" &&
    text !== "false" &&
    !text.startsWith("[") &&
    !text.startsWith("{")
  )
}
const SLASH = 47
const UPPER_A = 65

const amount = (value: unknown, shape: Shape): string => {
  const text = quantity(value, shape.milli)
  if (text === undefined) return spelling(value, unlisted)
  return text === "0" ? "" : text
}

const json = (value: unknown, shape: Shape): string => {
  if (shape._tag === "Quantity") return JSON.stringify(quantity(value, shape.milli) ?? value ?? null)
  if (Array.isArray(value)) return `[${value.map((item) => json(item, shape)).join(",")}]`
  if (isObject(value)) return jsonObject(value, shape)
  return JSON.stringify(value ?? null)
}

const jsonObject = (value: { readonly [field: string]: unknown }, shape: Shape): string => {
  let text = ""
  for (const field of fieldsOf(value, shape)) {
    const inner = shapeOf(shape, field)
    const said = fieldJson(own(value, field), inner, shape.every !== undefined || inner.counts)
    if (said !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(field)}:${said}`
  }
  return `{${text}}`
}

/** The fields that are there and those that the server fills in, sorted. */
const fieldsOf = (value: { readonly [field: string]: unknown }, shape: Shape): readonly string[] => {
  const names = Object.keys(value)
  for (const name of shape.filled) if (!Object.hasOwn(value, name)) names.push(name)
  return names.sort()
}

/** A field inside of one value; `undefined` where it says nothing. */
const fieldJson = (value: unknown, shape: Shape, counts: boolean): string | undefined => {
  if (shape.ignored) return undefined
  const filled = shape.absent !== undefined && (value === undefined || value === null || value === "")
  const said = filled ? shape.absent : value
  if (said === undefined || said === null) return undefined
  const text = json(said, shape)
  return text === "[]" || (!counts && EMPTY.has(text)) ? undefined : text
}

const EMPTY: ReadonlySet<string> = new Set(["{}", '""', "0", "false", '"0"'])

/** All of a list by the key of each, in its order: as Map.groupBy, which Node.js 20 has not. */
export const grouped = <A>(
  all: Iterable<A>,
  keyOf: (each: A) => string
): ReadonlyMap<string, readonly A[]> => {
  const found = new Map<string, A[]>()
  for (const each of all) {
    const key = keyOf(each)
    const known = found.get(key)
    if (known === undefined) found.set(key, [each])
    else known.push(each)
  }
  return found
}
