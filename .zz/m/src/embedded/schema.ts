/**
 * Types of objects, from OpenAPI: what server-side apply and the decoder need to know of a field.
 *
 * Built-in kinds come from the recorded OpenAPI of a real API server, custom ones from their definition. A type
 * says how its lists and maps are owned (keyed, set, atomic, granular: KEP-555 and structural schemas).
 */
import { get, isList, isObj, listAt, objAt, text, type Obj } from "./json.ts"
import openapi from "./openapi.json" with { type: "json" }

export type Scalar = "string" | "numeric" | "boolean" | "untyped"

/** How the JSON of a built-in value is read and written again. */
export type Form =
  "quantity" | "time" | "microtime" | "intOrString" | "int32" | "int64" | "double" | "bytes" | "raw"

export interface Field {
  readonly type: Type
  readonly default: unknown
  readonly required: boolean
}

export interface ListType {
  readonly element: Type
  readonly associative: boolean
  readonly keys: readonly string[]
  /** what a strategic merge patch finds items by; empty for a set of values, undefined where it replaces the list */
  readonly mergeKey?: string
}

export interface MapType {
  readonly fields: ReadonlyMap<string, Field>
  /** the type of keys that aren't fields; undefined where there may be none */
  readonly element: Type | undefined
  readonly atomic: boolean
  /** a map by its declaration, rather than a struct without known fields */
  readonly declared: boolean
}

export interface Type {
  readonly name: string
  readonly scalar?: Scalar
  readonly list?: ListType
  readonly map?: MapType
  readonly form?: Form
}

type Building = { -readonly [K in keyof Type]: Type[K] }

/** Anything, lists and maps as one value each. */
const untyped: Building = { name: "any", scalar: "untyped", form: "raw" }
untyped.list = { element: untyped, associative: false, keys: [] }
untyped.map = { fields: new Map(), element: untyped, atomic: true, declared: false }

/** Anything, maps key by key, lists as one value each. */
const deduced: Building = { name: "any", scalar: "untyped", form: "raw" }
deduced.list = { element: untyped, associative: false, keys: [] }
deduced.map = { fields: new Map(), element: deduced, atomic: false, declared: false }

export const anything: Type = deduced

const schemas: Obj = openapi.components.schemas
const named = new Map<string, Building>()

/** The type with this OpenAPI name. */
export const typeNamed = (name: string): Type => {
  const known = named.get(name)
  if (known) return known
  const type: Building = { name }
  named.set(name, type)
  Object.assign(type, FORMS[name] ?? parse(objAt(schemas, name), name, false), { name })
  return type
}

const FORMS: Readonly<Record<string, Omit<Type, "name">>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { scalar: "untyped", form: "quantity" },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { scalar: "untyped", form: "intOrString" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": { scalar: "untyped", form: "time" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": { scalar: "untyped", form: "microtime" },
  "io.k8s.apimachinery.pkg.runtime.RawExtension": { ...untyped },
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": { ...deduced }
}

const byKind = new Map<string, string>(
  Object.entries(schemas).flatMap(([name, schema]) =>
    listAt(schema, "x-kubernetes-group-version-kind").map(
      (gvk) => [`${text(gvk, "group")}/${text(gvk, "version")}/${text(gvk, "kind")}`, name] as const
    )
  )
)

/** The type of a built-in kind; undefined where OpenAPI has none. */
export const typeOfKind = (group: string, version: string, kind: string): Type | undefined => {
  const name = byKind.get(`${group}/${version}/${kind}`)
  return name === undefined ? undefined : typeNamed(name)
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
const custom = new WeakMap<Obj, Type>()

/** The type of a custom kind, from the schema of its version. */
export const typeOfSchema = (kind: string, schema: Obj): Type => {
  const known = custom.get(schema)
  if (known) return known
  const type = parse(schema, kind, false)
  const fields = new Map(type.map?.fields)
  const string: Type = { name: "string", scalar: "string" }
  for (const [name, of] of [
    ["apiVersion", string],
    ["kind", string],
    ["metadata", typeNamed(META)]
  ] as const) {
    fields.set(name, { type: of, default: undefined, required: false })
  }
  const whole: Type = {
    name: kind,
    map: { fields, element: type.map?.element, atomic: type.map?.atomic ?? false, declared: false }
  }
  custom.set(schema, whole)
  return whole
}

const parse = (schema: Obj, name: string, keepUnknown: boolean): Type => {
  const keep = keepUnknown || schema["x-kubernetes-preserve-unknown-fields"] === true
  if (schema["x-kubernetes-int-or-string"] === true) return { name, scalar: "untyped", form: "intOrString" }
  switch (text(schema, "type")) {
    case "object":
      return { name, map: parseMap(schema, name, keep) }
    case "array":
      return { name, list: parseList(schema, name, keep) }
    case "":
      return {
        name,
        scalar: "untyped",
        list: parseList(schema, name, keep),
        map: parseMap(schema, name, keep),
        form: "raw"
      }
    default:
      return parseScalar(text(schema, "type"), text(schema, "format"), name)
  }
}

const parseScalar = (type: string, format: string, name: string): Type => {
  if (type === "boolean") return { name, scalar: "boolean" }
  if (type === "integer") return { name, scalar: "numeric", form: format === "int64" ? "int64" : "int32" }
  if (type === "number") return { name, scalar: "numeric", form: "double" }
  if (format === "byte") return { name, scalar: "string", form: "bytes" }
  return { name, scalar: format === "" ? "string" : "untyped" }
}

const reference = (schema: Obj): string => {
  const all = listAt(schema, "allOf")
  const ref = text(schema, "$ref") || (all.length === 1 ? text(all[0], "$ref") : "")
  return ref.slice(ref.lastIndexOf("/") + 1)
}

const resolve = (schema: Obj, name: string, keep: boolean): Type => {
  const ref = reference(schema)
  if (ref === "") return parse(schema, name, keep)
  const type = typeNamed(ref)
  const relation = text(schema, "x-kubernetes-map-type")
  if (relation === "" || type.map === undefined) return type
  return { ...type, map: { ...type.map, atomic: relation === "atomic" } }
}

const parseMap = (schema: Obj, name: string, keep: boolean): MapType => {
  const properties = objAt(schema, "properties")
  const required = listAt(schema, "required")
  const fields = new Map(
    Object.entries(properties).map(([key, property]) => [
      key,
      {
        type: resolve(isObj(property) ? property : {}, key, keep),
        default: get(property, "default"),
        required: required.includes(key)
      }
    ])
  )
  const additional = schema["additionalProperties"]
  const open = additional === true || (additional === undefined && (keep || fields.size === 0))
  const element = isObj(additional) ? resolve(additional, name, keep) : open ? deduced : undefined
  const atomic = text(schema, "x-kubernetes-map-type") === "atomic"
  return { fields, element, atomic, declared: additional !== undefined }
}

const parseList = (schema: Obj, name: string, keep: boolean): ListType => {
  const items = schema["items"]
  const element = isObj(items) ? resolve(items, name, keep) : untyped
  const kind = text(schema, "x-kubernetes-list-type")
  const keys = schema["x-kubernetes-list-map-keys"]
  const merges = text(schema, "x-kubernetes-patch-strategy").includes("merge")
  const mergeKey = text(schema, "x-kubernetes-patch-merge-key")
  const patch = merges ? { mergeKey } : {}
  if (kind !== "") {
    return {
      element,
      associative: kind === "map" || kind === "set",
      keys: kind === "map" && isList(keys) ? (keys as readonly string[]) : [],
      ...patch
    }
  }
  return { element, associative: merges, keys: mergeKey === "" ? [] : [mergeKey], ...patch }
}
