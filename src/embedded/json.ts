/**
 * Raw JSON, read and rebuilt without ever writing to it.
 *
 * Keys come from users: `__proto__` and `constructor` are ordinary ones here, and a missing key is `undefined`.
 */
export type Obj = { readonly [key: string]: unknown }
export type Draft = { [key: string]: unknown }

export const isObj = (value: unknown): value is Obj =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

/** The value at a path of keys; undefined where something on the way isn't an object. */
export const get = (value: unknown, ...path: readonly string[]): unknown => {
  let here = value
  for (const key of path) {
    if (!isObj(here) || !Object.hasOwn(here, key)) return undefined
    here = here[key]
  }
  return here
}

/** The string at a path, empty where there is none. */
export const text = (value: unknown, ...path: readonly string[]): string => {
  const found = get(value, ...path)
  return typeof found === "string" ? found : ""
}

export const objAt = (value: unknown, ...path: readonly string[]): Obj => {
  const found = get(value, ...path)
  return isObj(found) ? found : {}
}

export const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = get(value, ...path)
  return isList(found) ? found : []
}

/** Writes a key of an object that is being built. */
export const put = (draft: Draft, key: string, value: unknown): void => {
  if (key === "__proto__") {
    Object.defineProperty(draft, key, { value, enumerable: true, configurable: true, writable: true })
  } else draft[key] = value
}

/** The object with the value at a path; undefined takes the key away. Objects on the way are made. */
export const withAt = <T>(object: T, path: readonly string[], value: unknown): T => {
  const [key, ...rest] = path
  if (key === undefined) return value as T
  const base: Obj = isObj(object) ? object : {}
  if (rest.length > 0) {
    const inner = withAt<unknown>(Object.hasOwn(base, key) ? base[key] : undefined, rest, value)
    return withKey(base, key, inner) as T
  }
  return withKey(base, key, value) as T
}

const withKey = (base: Obj, key: string, value: unknown): Obj => {
  if (value === undefined) {
    if (!Object.hasOwn(base, key)) return base
    const rest: Draft = {}
    for (const each of Object.keys(base)) if (each !== key) put(rest, each, base[each])
    return rest
  }
  const draft: Draft = { ...base }
  put(draft, key, value)
  return draft
}

/** Deep equality of JSON values; a key that is undefined is absent. */
export const same = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((each, index) => same(each, b[index]))
  }
  if (!isObj(a) || !isObj(b)) return false
  let count = 0
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue
    count++
    if (!Object.hasOwn(b, key) || !same(a[key], b[key])) return false
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) count--
  return count === 0
}

/** Equality as Kubernetes compares specs: null, absent, empty lists and empty maps are one value. */
export const semantic = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b)
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((each, index) => semantic(each, b[index]))
  }
  if (!isObj(a) || !isObj(b)) return false
  return (
    Object.keys(a).every((key) => semantic(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) &&
    Object.keys(b).every((key) => Object.hasOwn(a, key) || isEmpty(b[key]))
  )
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isObj(value) && Object.keys(value).length === 0)

/** JSON as Go prints it inside keys and messages: `<`, `>` and `&` escaped. */
export const goJson = (value: unknown): string => {
  const json = JSON.stringify(value)
  return /[<>&\u2028\u2029]/.test(json) ? escaped(json) : json
}

const escaped = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Order by UTF-16 code units, which for the names of Kubernetes is the order of bytes. */
export const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
