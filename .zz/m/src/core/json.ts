/**
 * JSON as users write it: anything may be anywhere, and null means absent.
 */

/** Whether a value is a JSON object: not null, no list. */
export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A value as a text: a string itself, anything else as JSON (an object from a user may not even have a `toString`). */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null)

/** A copy of a value in which every field that is null is absent, at any depth. Lists keep their entries. */
export const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null && field !== undefined)
      .map(([key, field]) => [key, withoutNulls(field)])
  )
}

/** JSON with the keys of every object sorted: the same value always gives the same text. Nulls and absent fields are left out. */
export const stableJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(stableJson).join(",")}]`
  if (!isObject(value)) return JSON.stringify(value ?? null)
  const fields = Object.keys(value)
    .filter((key) => value[key] !== null && value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${stableJson(value[key])}`)
  return `{${fields.join(",")}}`
}
