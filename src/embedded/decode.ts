/**
 * Reading a built-in object as the API server reads it into its own types and writes it again.
 *
 * Unknown fields are dropped and reported, null is absent, optional zeros, empty lists and empty maps vanish,
 * structs that are always there appear, quantities get their canonical form.
 */
import { isList, isObj, put, type Draft, type Obj } from "./json.ts"
import { keepsZero } from "./pointers.ts"
import { quantity } from "./quantity.ts"
import type { Field, Type } from "./schema.ts"

export interface Decoded {
  readonly object: Obj
  /** `unknown field "spec.foo"` */
  readonly unknown: readonly string[]
}

/** The object as the server keeps it, or why it can't be read (as Go's JSON decoder words it). */
export const decoded = (type: Type, given: Obj): Decoded | { readonly problem: string } => {
  const reading: Reading = { unknown: [], problem: undefined }
  const object = decodeStruct(type, given, "", reading)
  if (reading.problem !== undefined) return { problem: reading.problem }
  return { object, unknown: reading.unknown }
}

interface Reading {
  readonly unknown: string[]
  problem: string | undefined
  /** the problem is that of a type which reads itself: it ends the reading, whatever was found before */
  isLast?: boolean
}

const lastProblem = (reading: Reading, problem: string): void => {
  if (reading.isLast === true) return
  reading.problem = problem
  reading.isLast = true
}

/** Optional lists that are written even when they are empty. */
const ALWAYS: ReadonlySet<string> = new Set([
  "ProjectedVolumeSource.sources",
  "ContainerImage.names",
  "EndpointSlice.endpoints",
  "EndpointSlice.ports",
  "CustomResourceDefinitionStatus.conditions",
  "CustomResourceDefinitionStatus.storedVersions"
])

/** What is left out where it is zero, although OpenAPI has that as its default. */
const OMITTED: ReadonlySet<string> = new Set(["ScaleSpec.replicas"])

const shortName = (type: Type): string => type.name.slice(type.name.lastIndexOf(".") + 1)

/** What reading a struct needs to know of its type, found once. */
interface Plan {
  /** fields that are written even when they aren't given, and as what */
  readonly always: readonly (readonly [string, unknown])[]
  /** fields whose zero is written */
  readonly zeros: ReadonlySet<string>
}

const plans = new WeakMap<Type, Plan>()

const planOf = (type: Type): Plan => {
  const known = plans.get(type)
  if (known) return known
  const fields = [...(type.map?.fields ?? [])].filter(([key]) => !OMITTED.has(`${shortName(type)}.${key}`))
  const always = fields.flatMap(([key, field]) => {
    const preset = absent(type, key, field)
    return preset === undefined ? [] : ([[key, preset]] as const)
  })
  const zeros = fields.filter(
    ([key, field]) =>
      field.default !== undefined || field.type.scalar === "untyped" || keepsZero(type.name, key)
  )
  const plan: Plan = { always, zeros: new Set(zeros.map(([key]) => key)) }
  plans.set(type, plan)
  return plan
}

const NO_FIELDS: ReadonlyMap<string, Field> = new Map()

/** The struct as it is written: the given object itself where it is written so already. */
const decodeStruct = (type: Type, given: Obj, path: string, reading: Reading): Obj => {
  const fields = type.map?.fields ?? NO_FIELDS
  const { always, zeros } = planOf(type)
  const keys = Object.keys(given)
  let out: Draft | undefined
  for (const [place, key] of keys.entries()) {
    const field = fields.get(key)
    const value = given[key]
    if (!field) reading.unknown.push(`unknown field "${path === "" ? key : `${path}.${key}`}"`)
    else if (value !== null && value !== undefined) {
      const read = decodeValue(field.type, value, path === "" ? key : `${path}.${key}`, reading, type)
      if (isKept(field, read) || (isZero(read) && zeros.has(key))) {
        if (read !== value) out ??= firstOf(given, keys, place)
        if (out) put(out, key, read)
        continue
      }
    }
    out ??= firstOf(given, keys, place)
  }
  for (const [key, preset] of always) {
    if (out ? Object.hasOwn(out, key) : Object.hasOwn(given, key)) continue
    out ??= { ...given }
    put(out, key, preset)
  }
  return out ?? given
}

/** A copy of an object with the first of its keys. */
const firstOf = (given: Obj, keys: readonly string[], count: number): Draft => {
  const out: Draft = {}
  for (let place = 0; place < count; place++) {
    const key = keys[place] as string
    put(out, key, given[key])
  }
  return out
}

/** What a field that isn't given is written as; undefined where it isn't written at all. */
const absent = (type: Type, key: string, field: Field): unknown => {
  if (isObj(field.default)) return emptyOf(field.type)
  if (field.default !== undefined) return field.default
  if (key === "divisor" && field.type.form === "quantity") return "0"
  if (isTime(field) && ALWAYS_TIMED.test(shortName(type))) return null
  const isArray = field.type.list !== undefined && field.type.map === undefined
  const always = (field.required && (isArray || isPointer(field))) || ALWAYS.has(`${shortName(type)}.${key}`)
  return always ? null : undefined
}

const isTime = ({ type }: Field): boolean => type.form === "time" || type.form === "microtime"

/** Types whose times are written even when they are unknown. */
const ALWAYS_TIMED = /Condition$|^ContainerState|^Event(Series)?$/

/** A struct that is required but has no default is a pointer without omitempty: null when it is absent. */
const isPointer = (field: Field): boolean => field.type.map !== undefined && field.type.map.fields.size > 0

const isZero = (value: unknown): boolean => value === "" || value === 0 || value === false

/** Whether a value is written whatever its field is: it is no zero, no empty list and no empty map. */
const isKept = (field: Field, value: unknown): boolean => {
  if (value === null || value === undefined || isZero(value)) return false
  if (isList(value)) return value.length > 0
  return !isObj(value) || !isOpenMap(field.type) || Object.keys(value).length > 0
}

const isOpenMap = (type: Type): boolean => type.map?.declared === true

const decodeValue = (type: Type, value: unknown, path: string, reading: Reading, owner: Type): unknown => {
  if (type.form === "raw" || (type.map && type.list)) return value
  if (type.map) {
    if (!isObj(value)) return mismatch(type, value, path, reading, owner)
    const { element, fields } = type.map
    if (fields.size > 0 || !element) return decodeStruct(type, value, path, reading)
    return decodeMap(element, value, path, reading, owner)
  }
  if (!type.list) return decodeScalar(type, value, path, reading, owner)
  if (!isList(value)) return mismatch(type, value, path, reading, owner)
  const { element } = type.list
  const items = value.map((item, index) =>
    item === null
      ? zero(element)
      : decodeValue(element, item, isObj(item) ? `${path}[${index}]` : path, reading, owner)
  )
  return items.every((item, index) => item === value[index]) ? value : items
}

const decodeMap = (element: Type, value: Obj, path: string, reading: Reading, owner: Type): Obj => {
  let changed = false
  const out: Draft = {}
  for (const key of Object.keys(value)) {
    const read = decodeValue(element, value[key] ?? zero(element), path, reading, owner)
    if (read !== value[key]) changed = true
    put(out, key, read)
  }
  return changed ? out : value
}

/** Texts that have a type of their own in Go, where messages name it. */
const NAMED: Readonly<Record<string, string>> = {
  "ServiceSpec.type": "v1.ServiceType",
  "ServiceSpec.sessionAffinity": "v1.ServiceAffinity",
  "ServicePort.protocol": "v1.Protocol",
  "ContainerPort.protocol": "v1.Protocol",
  "Container.imagePullPolicy": "v1.PullPolicy",
  "Taint.effect": "v1.TaintEffect",
  "Secret.type": "v1.SecretType",
  "EndpointSlice.addressType": "v1.AddressType",
  "EndpointPort.protocol": "v1.Protocol"
}

const mismatch = (type: Type, value: unknown, path: string, reading: Reading, owner: Type): undefined => {
  const names = path.replaceAll(/\[\d+\]/g, "")
  const field = `${shortName(owner)}.${names}`
  const known = NAMED[`${shortName(owner)}.${names.slice(names.lastIndexOf(".") + 1)}`]
  const problem = `json: cannot unmarshal ${jsonType(value)} into Go struct field ${field} of type ${known ?? goType(type)}`
  if (type.form === "intOrString") lastProblem(reading, problem)
  else reading.problem ??= problem
  return undefined
}

const zero = (type: Type): unknown => {
  if (type.form === "quantity") return "0"
  if (type.map)
    return type.map.fields.size > 0 ? decodeStruct(type, {}, "", { unknown: [], problem: undefined }) : {}
  if (type.list) return []
  return type.scalar === "numeric" ? 0 : type.scalar === "boolean" ? false : ""
}

const decodeScalar = (type: Type, value: unknown, path: string, reading: Reading, owner: Type): unknown => {
  switch (type.form) {
    case "quantity": {
      const canonical = quantity(value)
      if (canonical === undefined) lastProblem(reading, QUANTITY)
      return canonical
    }
    case "time":
    case "microtime":
      if (typeof value === "string") return timestamp(value, type.form, reading)
      break
    case "intOrString":
      if (typeof value === "number" || typeof value === "string") return value
      break
    case "int32":
    case "int64":
      if (Number.isInteger(value)) return value
      break
    case "double":
    case "bytes":
    case "raw":
    case undefined:
      if (type.scalar === "untyped" || typeof value === JSON_TYPE[type.scalar ?? "untyped"]) return value
      break
  }
  return mismatch(type, value, path, reading, owner)
}

const JSON_TYPE = { string: "string", boolean: "boolean", numeric: "number", untyped: "" } as const

const QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/** A time that is written as it is read. */
const PLAIN = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

const timestamp = (value: string, form: "time" | "microtime", reading: Reading): string => {
  if (form === "time" && PLAIN.test(value)) return value
  const read = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value)
    ? Date.parse(value)
    : NaN
  const layout = `2006-01-02T15:04:05${form === "time" ? "" : MICRO}Z07:00`
  const refuse = (rest: string, part: string): string => {
    const wrong = `cannot parse ${JSON.stringify(rest)} as "${part}"`
    lastProblem(reading, `parsing time ${JSON.stringify(value)} as "${layout}": ${wrong}`)
    return value
  }
  if (Number.isNaN(read)) return refuse(value, "2006")
  const seconds = new Date(read).toISOString().slice(0, 19)
  if (form === "time") return `${seconds}Z`
  const rest = value.slice(seconds.length)
  return /^\.\d{6}\D/.test(rest) ? `${seconds}${rest.slice(0, MICRO.length)}Z` : refuse(rest, MICRO)
}

const MICRO = ".000000"

const jsonType = (value: unknown): string => {
  if (isList(value)) return "array"
  if (isObj(value)) return "object"
  if (typeof value === "number") return Number.isInteger(value) ? "number" : `number ${value}`
  return typeof value === "boolean" ? "bool" : typeof value
}

const goType = (type: Type): string => {
  if (type.list) return `[]${goType(type.list.element)}`
  if (type.map) {
    const { element } = type.map
    return element && type.map.fields.size === 0 ? `map[string]${goType(element)}` : goName(type)
  }
  if (type.form === "int32" || type.form === "int64") return type.form
  if (type.form === "bytes") return "[]uint8"
  if (type.form === "intOrString") return "int32"
  if (type.scalar === "boolean") return "bool"
  return type.form === "double" ? "float64" : "string"
}

const goName = (type: Type): string => type.name.split(".").slice(-2).join(".")

/** The object that a kind's write starts from: everything that is always there, and nothing else. */
export const emptyOf = (type: Type): Obj => {
  const known = empties.get(type)
  if (known) return known
  const empty = decodeStruct(type, {}, "", { unknown: [], problem: undefined })
  empties.set(type, empty)
  return empty
}
const empties = new WeakMap<Type, Obj>()
