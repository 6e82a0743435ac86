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
  if (typeof value === "string") return value === "" ? "" : `"${value}"`
  if (typeof value === "number" || typeof value === "boolean") return value ? String(value) : ""
  if (typeof value !== "object" || value === null) return ""
  const text = json(value, shape)
  return text === "[]" || text === "{}" ? "" : text
}

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
  const texts: string[] = []
  for (const [field, { absent }] of shape.fields)
    if (absent !== undefined && blank(own(value, field)))
      texts.push(`${JSON.stringify(field)}:${JSON.stringify(absent)}`)
  for (const field of Object.keys(value)) {
    const inner = shapeOf(shape, field)
    const text = fieldJson(value[field], inner, shape.every !== undefined || inner.counts)
    if (text !== undefined) texts.push(`${JSON.stringify(field)}:${text}`)
  }
  return `{${texts.sort().join(",")}}`
}

/** A field inside of one value; `undefined` where it says nothing. */
const fieldJson = (value: unknown, shape: Shape, counts: boolean): string | undefined => {
  if (shape.ignored || value === null || value === undefined) return undefined
  const text = json(value, shape)
  if (shape.absent !== undefined) return blank(value) ? undefined : text
  if (text === "[]" || (!counts && EMPTY.has(text))) return undefined
  return text
}

const EMPTY: ReadonlySet<string> = new Set(["{}", '""', "0", "false", '"0"'])

const blank = (value: unknown): boolean => value === undefined || value === null || value === ""
