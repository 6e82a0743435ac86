/**
 * Objects of custom kinds: pruned, defaulted and validated by the structural schema of their definition.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv"
import { isRatcheted, ruleProblems, schemaOf } from "./cel.ts"
import type { Resource } from "./cluster.ts"
import { decoded, type Decoded } from "./decode.ts"
import { byCode, get, goJson, isList, isObj, objAt, put, text, type Draft, type Obj } from "./json.ts"
import { changeProblems, creationProblems } from "./metadata.ts"
import { subdomainProblems } from "./names.ts"
import { typeNamed } from "./schema.ts"
import { duplicate, invalidValue, required, tooLong, unsupported, type Problem } from "./status.ts"

const META = typeNamed("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")

/** The object as the server keeps it: fields that its schema doesn't have are dropped, defaults filled in. */
export const readCustom = (schema: Obj, given: Obj): Decoded | { readonly problem: string } => {
  const unknown: string[] = []
  const meta = decoded(META, objAt(given, "metadata"))
  if ("problem" in meta) return meta
  for (const each of meta.unknown) unknown.push(each.replace('"', '"metadata.'))
  const { metadata: _, apiVersion, kind, ...rest } = given
  const pruned = prune(schema, rest, "", unknown)
  const whole = withDefaults(schema, pruned)
  unknown.sort(byCode)
  return {
    object: { apiVersion, kind, metadata: meta.object, ...(isObj(whole) ? whole : {}) },
    unknown
  }
}

/** What an apply made: its metadata in order and defaults filled in, but nothing pruned any more. */
export const completedCustom = (schema: Obj, merged: Obj): Decoded | { readonly problem: string } => {
  const meta = decoded(META, objAt(merged, "metadata"))
  if ("problem" in meta) return meta
  const whole = withDefaults(schema, merged)
  return { object: { ...(isObj(whole) ? whole : merged), metadata: meta.object }, unknown: [] }
}

const prune = (schema: Obj, value: unknown, path: string, unknown: string[]): unknown => {
  if (isList(value)) {
    const items = schema["items"]
    if (!isObj(items)) return value
    return value.map((item, index) => prune(items, item, `${path}[${index}]`, unknown))
  }
  if (!isObj(value)) return value
  const properties = objAt(schema, "properties")
  const additional = schema["additionalProperties"]
  const keep = schema["x-kubernetes-preserve-unknown-fields"] === true || additional === true
  const open = keep || schema["type"] === undefined
  const out: Draft = {}
  for (const key of Object.keys(value)) {
    const inner = value[key]
    const at = path === "" ? key : `${path}.${key}`
    const of = Object.hasOwn(properties, key)
      ? objAt(properties, key)
      : isObj(additional)
        ? additional
        : undefined
    if (of) {
      if (
        inner === null &&
        of["nullable"] !== true &&
        of["default"] === undefined &&
        of["type"] !== undefined
      )
        continue
      put(out, key, prune(of, inner, at, unknown))
    } else if (open) put(out, key, inner)
    else unknown.push(`unknown field "${at}"`)
  }
  return out
}

const withDefaults = (schema: Obj, value: unknown): unknown => {
  if (!hasDefaults(schema)) return value
  if (isList(value)) {
    const items = objAt(schema, "items")
    return value.map((item) => withDefaults(items, item))
  }
  if (!isObj(value)) return value
  const out: Draft = { ...value }
  for (const [key, property] of Object.entries(objAt(schema, "properties"))) {
    const missing = !Object.hasOwn(out, key) || (out[key] === null && get(property, "nullable") !== true)
    const preset = get(property, "default")
    if (missing && preset !== undefined) put(out, key, preset)
    if (Object.hasOwn(out, key) && isObj(property)) put(out, key, withDefaults(property, out[key]))
  }
  const additional = schema["additionalProperties"]
  if (isObj(additional)) {
    const properties = objAt(schema, "properties")
    for (const key of Object.keys(out)) {
      if (!Object.hasOwn(properties, key)) put(out, key, withDefaults(additional, out[key]))
    }
  }
  return out
}

const defaulted = new WeakMap<Obj, boolean>()

const hasDefaults = (schema: Obj): boolean => {
  const known = defaulted.get(schema)
  if (known !== undefined) return known
  const inner = [
    ...Object.values(objAt(schema, "properties")),
    schema["items"],
    schema["additionalProperties"]
  ]
  const found = schema["default"] !== undefined || inner.some((each) => isObj(each) && hasDefaults(each))
  defaulted.set(schema, found)
  return found
}

const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false, verbose: true, logger: false })
const validators = new WeakMap<Obj, ValidateFunction>()

const validator = (schema: Obj): ValidateFunction => {
  const known = validators.get(schema)
  if (known) return known
  const compiled = ajv.compile(forAjv(schema) as Obj)
  validators.set(schema, compiled)
  return compiled
}

/** `x-kubernetes-int-or-string` in the words of JSON Schema; everything else is that already. */
const forAjv = (schema: unknown): unknown => {
  if (isList(schema)) return schema.map(forAjv)
  if (!isObj(schema)) return schema
  const out: Draft = {}
  for (const [key, value] of Object.entries(schema)) put(out, key, forAjv(value))
  if (schema["x-kubernetes-int-or-string"] === true) out["type"] = ["integer", "string"]
  return out
}

/** What is wrong with an object of a custom kind; `status` where only its status is written. */
export const customProblems = (
  resource: Resource,
  object: Obj,
  before: Obj | undefined,
  part: "all" | "status"
): readonly Problem[] => {
  const schema = resource.schema ?? {}
  const apiVersion = `${resource.group}/${resource.version}`
  if (text(object, "kind") !== resource.kind) {
    return [invalidValue("kind", text(object, "kind"), `must be ${resource.kind}`)]
  }
  if (text(object, "apiVersion") !== apiVersion) {
    return [invalidValue("apiVersion", text(object, "apiVersion"), `must be ${apiVersion}`)]
  }
  const meta = before
    ? [...changeProblems(object, before), ...changeProblems(object, before).filter(isToldTwice)]
    : creationProblems(object, resource.namespaced, subdomainProblems)
  const problems = [
    ...meta,
    ...schemaProblems(schema, object, before, part),
    ...(before && doubled(schema, before, "").length > 0 ? [] : doubled(schema, object, ""))
  ]
  if (problems.some(({ type }) => BLOCKING.has(type))) {
    const why =
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
    return [...problems, invalidValue("<nil>", null, why)]
  }
  return [...problems, ...ruleProblems(schema, object, before)]
}

/** The server tells these twice for custom kinds: once for all kinds, once for custom ones. */
const isToldTwice = ({ body }: Problem): boolean =>
  body.endsWith("field is immutable") || body.startsWith("Forbidden: no new finalizers")

/** Items that a set or a keyed list has twice. */
const doubled = (schema: Obj, value: unknown, path: string): readonly Problem[] => {
  if (!hasKeyedLists(schema)) return []
  if (isList(value)) {
    const items = objAt(schema, "items")
    const kind = text(schema, "x-kubernetes-list-type")
    const keys = (schema["x-kubernetes-list-map-keys"] ?? []) as readonly string[]
    const seen = new Set<string>()
    return value.flatMap((item, index) => {
      const at = `${path}[${index}]`
      const key = kind === "map" ? Object.fromEntries(keys.map((each) => [each, get(item, each)])) : item
      const again = (kind === "map" || kind === "set") && seen.has(goJson(key))
      seen.add(goJson(key))
      return [...(again ? [duplicate(at, key)] : []), ...doubled(items, item, at)]
    })
  }
  if (!isObj(value)) return []
  return Object.keys(value).flatMap((key) => {
    const inner = get(schema, "properties", key) ?? schema["additionalProperties"]
    return isObj(inner) ? doubled(inner, value[key], path === "" ? key : `${path}.${key}`) : []
  })
}

const keyed = new WeakMap<Obj, boolean>()

const hasKeyedLists = (schema: Obj): boolean => {
  const known = keyed.get(schema)
  if (known !== undefined) return known
  const inner = [
    ...Object.values(objAt(schema, "properties")),
    schema["items"],
    schema["additionalProperties"]
  ]
  const own = ["map", "set"].includes(text(schema, "x-kubernetes-list-type"))
  const found = own || inner.some((each) => isObj(each) && hasKeyedLists(each))
  keyed.set(schema, found)
  return found
}

const BLOCKING: ReadonlySet<string> = new Set([
  "unsupported",
  "required",
  "tooLong",
  "tooMany",
  "typeInvalid"
])

const schemaProblems = (
  schema: Obj,
  object: Obj,
  before: Obj | undefined,
  part: "all" | "status"
): readonly Problem[] => {
  const [whole, value, at] =
    part === "all"
      ? [schema, object, ""]
      : [objAt(schema, "properties", "status"), object["status"], "status"]
  if (value === undefined) return []
  const validate = validator(whole)
  if (validate(value)) return []
  return (validate.errors ?? [])
    .filter((error) => !(before && isUnchanged(schema, error, { object, before, at })))
    .map((error) => problemOf(error, at))
}

/** What was wrong before and didn't change is let through. */
const isUnchanged = (
  schema: Obj,
  error: ErrorObject,
  { object, before, at }: { readonly object: Obj; readonly before: Obj; readonly at: string }
): boolean => {
  const path = [...(at === "" ? [] : [at]), ...pointer(error.instancePath)]
  const [now, then] = [valueAt(object, path), valueAt(before, path)]
  const inner = path.reduce<Obj | undefined>(
    (here, key) => here && (isObj(here["items"]) ? here["items"] : schemaOf(here, key)),
    schema
  )
  return inner !== undefined && then !== undefined && isRatcheted(inner, now, then)
}

const valueAt = (object: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((here, key) => (isList(here) ? here[Number(key)] : get(here, key)), object)

const pointer = (path: string): readonly string[] =>
  path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))

const problemOf = (error: ErrorObject, at: string): Problem => {
  const path = pointer(error.instancePath).map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
  const field = (at + path.join("")).replace(/^\./, "")
  const { data, params } = error as { data?: unknown; params: Readonly<Record<string, unknown>> }
  const name = at === "" ? field : field.slice(at.length + 1)
  const inBody = (rule: string): Problem => invalidValue(field, data, `${name} in body ${rule}`)
  switch (error.keyword) {
    case "required":
      return required([field, String(params["missingProperty"])].filter((each) => each !== "").join("."), "")
    case "type":
      return typeProblem(field, name, data, params["type"])
    case "enum":
      return unsupported(
        field,
        data,
        (params["allowedValues"] as readonly unknown[]).map((each) =>
          typeof each === "string" ? each : goJson(each)
        )
      )
    case "maxLength":
      return tooLong(field, Number(params["limit"]))
    case "minLength":
      return inBody(`should be at least ${String(params["limit"])} chars long`)
    case "maxItems":
      return {
        type: "tooMany",
        field,
        body: `Too many: ${(data as readonly unknown[]).length}: must have at most ${String(params["limit"])} items`
      }
    case "minItems":
      return inBody(`should have at least ${String(params["limit"])} items`)
    case "pattern":
      return inBody(`should match '${String(params["pattern"])}'`)
    case "minimum":
      return inBody(`should be greater than or equal to ${String(params["limit"])}`)
    case "maximum":
      return inBody(`should be less than or equal to ${String(params["limit"])}`)
    default:
      return invalidValue(field, data, error.message ?? "")
  }
}

const typeProblem = (field: string, name: string, data: unknown, wanted: unknown): Problem => {
  const is = isList(data)
    ? "array"
    : isObj(data)
      ? "object"
      : data === null
        ? "null"
        : typeof data === "number"
          ? Number.isInteger(data)
            ? "integer"
            : "number"
          : typeof data
  const expected = isList(wanted) ? wanted.join(",") : String(wanted)
  return {
    type: "typeInvalid",
    field,
    body: `Invalid value: ${goJson(is)}: ${name} in body must be of type ${expected}: ${goJson(is)}`
  }
}
