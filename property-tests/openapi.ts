/**
 * Who owns what, by the API server's own recorded OpenAPI document: an oracle that shares nothing with the core.
 */
import { readFileSync } from "node:fs"

export type Value = null | boolean | number | string | readonly Value[] | { readonly [field: string]: Value }
export type Fields = { readonly [field: string]: Value }
export type Kind = "Deployment" | "StatefulSet" | "Service"

export interface Schema {
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly type?: string
  readonly properties?: { readonly [name: string]: Schema }
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly default?: Value
  readonly "x-kubernetes-list-type"?: string
  readonly "x-kubernetes-list-map-keys"?: readonly string[]
  readonly "x-kubernetes-map-type"?: string
}

const document = JSON.parse(
  readFileSync(new URL("../src/embedded/openapi.json", import.meta.url), "utf8")
) as { readonly components: { readonly schemas: { readonly [name: string]: Schema } } }

const refOf = (schema: Schema): string | undefined => schema.$ref ?? schema.allOf?.[0]?.$ref

type Resolved = Schema & { readonly name: string }
const known = new WeakMap<Schema, Resolved>()

/** A schema with what it refers to merged in, and the short name of that (`Quantity`). */
export const resolved = (schema: Schema): Resolved => {
  let found = known.get(schema)
  if (found === undefined) known.set(schema, (found = merged(schema)))
  return found
}

const merged = (schema: Schema): Resolved => {
  const ref = refOf(schema)
  const name = ref?.split("/").at(-1) ?? ""
  return {
    ...(ref === undefined ? {} : document.components.schemas[name]),
    ...schema,
    name: name.split(".").at(-1) ?? ""
  }
}

const NO_SCHEMA: Schema = {}

const group = { Deployment: "apps", StatefulSet: "apps", Service: "core" }

const roots = new Map<Kind, Schema>(
  (["Deployment", "StatefulSet", "Service"] as const).map((kind) => [
    kind,
    { $ref: `#/components/schemas/io.k8s.api.${group[kind]}.v1.${kind}` }
  ])
)

export const schemaOf = (kind: Kind): Schema => roots.get(kind) ?? NO_SCHEMA

export type FieldSet = { readonly [step: string]: FieldSet }

const STRIPPED = ["apiVersion", "kind", "status"]
const STRIPPED_META = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]

/** What the API server notes in `managedFields` for an applied object. */
export const fieldSet = (kind: Kind, sent: Fields): FieldSet => {
  const metadata = sent["metadata"] as Fields
  const body = {
    ...omit(sent, STRIPPED),
    metadata: omit(metadata, STRIPPED_META)
  }
  if (Object.keys(body.metadata).length === 0) return setAt(schemaOf(kind), omit(body, ["metadata"])) ?? {}
  return setAt(schemaOf(kind), body) ?? {}
}

const omit = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

const setAt = (schema: Schema, value: Value): FieldSet | undefined => {
  const shape = resolved(schema)
  if (value === null || typeof value !== "object") return {}
  if (shape["x-kubernetes-map-type"] === "atomic") return {}
  if (Array.isArray(value)) return listSet(shape, value as readonly Value[])
  const fields = value as Fields
  if (Object.keys(fields).length === 0) return {}
  const steps = Object.entries(fields).flatMap(([name, field]) => {
    const below = setAt(shape.properties?.[name] ?? shape.additionalProperties ?? NO_SCHEMA, field)
    return below === undefined ? [] : [[`f:${name}`, below] as const]
  })
  return steps.length === 0 ? undefined : Object.fromEntries(steps)
}

const listSet = (shape: Schema, items: readonly Value[]): FieldSet | undefined => {
  const item = shape.items ?? NO_SCHEMA
  if (shape["x-kubernetes-list-type"] === "set")
    return items.length === 0
      ? undefined
      : Object.fromEntries(items.map((each) => [`v:${JSON.stringify(each)}`, {}]))
  if (shape["x-kubernetes-list-type"] !== "map") return {}
  if (items.length === 0) return undefined
  return Object.fromEntries(
    items.map((each) => {
      const below = setAt(item, each) ?? {}
      return [itemStep(shape, each as Fields), Object.keys(below).length === 0 ? {} : { ".": {}, ...below }]
    })
  )
}

const keysOf = new WeakMap<Schema, readonly (readonly [string, Value])[]>()

/** The keys of a list's items, sorted, with their defaults. */
const keys = (list: Schema): readonly (readonly [string, Value])[] => {
  const known = keysOf.get(list)
  if (known !== undefined) return known
  const properties = resolved(list.items ?? NO_SCHEMA).properties ?? {}
  const found = [...(list["x-kubernetes-list-map-keys"] ?? [])].sort()
  const made = found.map((key) => [key, properties[key]?.default ?? null] as const)
  keysOf.set(list, made)
  return made
}

/** `k:{"containerPort":80,"protocol":"TCP"}` */
const itemStep = (list: Schema, item: Fields): string =>
  `k:${JSON.stringify(Object.fromEntries(keys(list).map(([key, absent]) => [key, item[key] ?? absent])))}`
