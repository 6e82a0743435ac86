/**
 * Whether a value is what its type says: what server-side apply refuses before it looks at anything else.
 */
import { fieldElement, shownElement } from "./fieldset.ts"
import { child, itemElement, shape } from "./forms.ts"
import { goJson, isList, isObj, type Obj } from "./json.ts"
import type { ListType, MapType, Type } from "./schema.ts"

/** Where a value stands: put together only when something is wrong with it. */
interface Place {
  readonly up: Place | undefined
  readonly element: string
}

const shownPlace = (place: Place | undefined): string =>
  place ? shownPlace(place.up) + shownElement(place.element) : ""

/** What is wrong with a value, as the server words it (`.spec.foo: field not declared in schema`). */
export const problems = (type: Type, value: unknown, allowDuplicates: boolean): readonly string[] => {
  const found: string[] = []
  check(type, value, undefined, found, allowDuplicates)
  return found
}

const report = (found: string[], place: Place | undefined, message: string): void => {
  const path = shownPlace(place)
  found.push(path === "" ? message : `${path}: ${message}`)
}

const check = (
  type: Type,
  value: unknown,
  place: Place | undefined,
  found: string[],
  duplicates: boolean
): void => {
  if (value === null || value === undefined) return
  const form = shape(type, value)
  if (form.is === "map") {
    if (!isObj(value)) return report(found, place, `expected map, got &{${goValue(value)}}`)
    checkFields(form.of, value, place, found, duplicates)
  } else if (form.is === "list") {
    if (!isList(value)) return report(found, place, `expected list, got &{${goValue(value)}}`)
    checkItems(form.of, value, place, found, duplicates)
  } else {
    const wrong = scalarProblem(type, value)
    if (wrong !== undefined) report(found, place, wrong)
  }
}

const checkFields = (
  map: MapType,
  value: Obj,
  place: Place | undefined,
  found: string[],
  duplicates: boolean
): void => {
  const keys = Object.keys(value)
  const unknown = keys.filter((key) => !child(map, key)).sort()[0]
  if (unknown !== undefined) {
    report(found, { up: place, element: fieldElement(unknown) }, "field not declared in schema")
    return
  }
  for (const key of keys) {
    const of = child(map, key)
    const inner = value[key]
    if (of && inner !== null) check(of, inner, { up: place, element: fieldElement(key) }, found, duplicates)
  }
}

const checkItems = (
  list: ListType,
  items: readonly unknown[],
  place: Place | undefined,
  found: string[],
  duplicates: boolean
): void => {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    let element = `i:${index}`
    if (list.associative) {
      const key = itemElement(list, item)
      if (typeof key !== "string") return report(found, place, `element ${index}: ${key.problem}`)
      element = key
      if (seen.has(key) && !duplicates) report(found, place, `duplicate entries for key ${shownElement(key)}`)
      seen.add(key)
    }
    check(list.element, item, { up: place, element }, found, duplicates)
  }
}

const scalarProblem = (type: Type, value: unknown): string | undefined => {
  switch (type.scalar) {
    case "numeric":
      return typeof value === "number" ? undefined : `expected numeric (int or float), got ${goType(value)}`
    case "string":
      return typeof value === "string"
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goLiteral(value)}}`
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${goValue(value)}}`
    case "untyped":
    case undefined:
      return isObj(value) || isList(value) ? `expected any scalar, got &{${goValue(value)}}` : undefined
  }
}

const goType = (value: unknown): string => {
  if (isList(value)) return "[]interface {}"
  if (isObj(value)) return "map[string]interface {}"
  if (typeof value === "boolean") return "bool"
  return typeof value === "number" ? (Number.isInteger(value) ? "int64" : "float64") : "string"
}

const goValue = (value: unknown): string => {
  if (isList(value)) return `[${value.map(goValue).join(" ")}]`
  if (isObj(value)) {
    const keys = Object.keys(value).sort()
    return `map[${keys.map((key) => `${key}:${goValue(value[key])}`).join(" ")}]`
  }
  return value === null ? "<nil>" : String(value)
}

const goLiteral = (value: unknown): string => {
  if (isList(value)) return `[]interface {}{${value.map(goLiteral).join(", ")}}`
  if (isObj(value)) {
    const keys = Object.keys(value).sort()
    return `map[string]interface {}{${keys.map((key) => `${goJson(key)}:${goLiteral(value[key])}`).join(", ")}}`
  }
  return typeof value === "string" ? goJson(value) : String(value)
}
