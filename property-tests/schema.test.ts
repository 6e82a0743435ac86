import { describe, expect, it } from "vitest"
import { type ChildKind, type Shape, shapeOf, shapes } from "../src/core/schema.ts"
import { resolved, type Schema, schemaOf } from "./openapi.ts"

const KINDS = ["Deployment", "StatefulSet", "Service"] as const

describe("shapes", () => {
  it.each(KINDS)("agree with the API server's OpenAPI on every list and object of a %s", (kind) => {
    const lines = [...document(kind)]
    expect(lines.length).toBeGreaterThan(kind === "Service" ? 10 : 300)
    expect(lines.map(({ path, said }) => `${path} ${said}`)).toEqual(
      lines.map(({ path, expected }) => `${path} ${expected}`)
    )
  })

  it.each(KINDS)("name no field that a %s doesn't have", (kind) => {
    const known = new Set([...document(kind)].map(({ path }) => path))
    expect([...named(shapes[kind], "")].filter((path) => !known.has(path))).toEqual([])
  })

  it("name every amount as such, rounded to thousandths exactly in maps of amounts", () => {
    const amounts = [...document("StatefulSet")].filter(({ expected }) => expected.startsWith("amount"))
    expect(amounts.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        "spec.template.spec.containers.resources.limits.*",
        "spec.template.spec.overhead.*",
        "spec.template.spec.volumes.emptyDir.sizeLimit",
        "spec.template.spec.containers.env.valueFrom.resourceFieldRef.divisor",
        "spec.volumeClaimTemplates.spec.resources.requests.*"
      ])
    )
  })
})

/** One field of the document: what the table says, and what it has to say. */
interface Line {
  readonly path: string
  readonly said: string
  readonly expected: string
}

function* document(kind: ChildKind): Generator<Line> {
  for (const field of ["metadata", "spec"]) {
    const schema = resolved(schemaOf(kind)).properties?.[field] ?? {}
    yield* lines(schema, shapeOf(shapes[kind], field), field, false)
  }
}

/** The server's own: never sent, never compared. */
const UNUSED = /(^|\.)(managedFields|status)$/

/** `inside` of one value only amounts and maps matter. */
function* lines(schema: Schema, shape: Shape, path: string, inside: boolean): Generator<Line> {
  if (UNUSED.test(path)) {
    yield { path, said: "", expected: "" }
    return
  }
  const found = resolved(schema)
  const expected = rule(found, path.endsWith("*"))
  const whole = inside || expected === "whole" || (found.type === "array" && expected === "one value")
  const said = table(shape, found.type === "array")
  yield { path, said, expected: inside && !expected.startsWith("amount") ? said : expected }
  if (found.name === "Quantity") return
  if (found.type === "array") {
    const item = resolved(found.items ?? {})
    const items = item["x-kubernetes-map-type"] === "atomic" && expected.startsWith("keyed")
    if (items !== shape.wholeItems && !whole)
      yield { path: `${path}[]`, said: "", expected: items ? "items are one value each" : "items are merged" }
    yield* fields(item, shape, path, whole || items)
  } else yield* fields(found, shape, path, whole)
}

function* fields(
  schema: ReturnType<typeof resolved>,
  shape: Shape,
  path: string,
  inside: boolean
): Generator<Line> {
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    yield* lines(field, shapeOf(shape, name), `${path}.${name}`, inside)
  if (schema.additionalProperties !== undefined) {
    yield { path, said: shape.every === undefined ? "" : "a map", expected: "a map" }
    yield* lines(schema.additionalProperties, shapeOf(shape, "any"), `${path}.*`, inside)
  }
}

/** What the document says, in words. */
const rule = (schema: ReturnType<typeof resolved>, inMap: boolean): string => {
  if (schema.name === "Quantity") return inMap ? "amount in thousandths" : "amount"
  if (schema.type === "array") {
    const item = resolved(schema.items ?? {})
    const keys = schema["x-kubernetes-list-map-keys"] ?? []
    if (schema["x-kubernetes-list-type"] === "set") return "set"
    if (schema["x-kubernetes-list-type"] !== "map") return "one value"
    return `keyed by ${keys.map((key) => `${key}=${item.properties?.[key]?.default || "-"}`).join(" ")}`
  }
  return schema["x-kubernetes-map-type"] === "atomic" ? "whole" : "plain"
}

/** What the table says, in the same words. A list is one value without being listed. */
const table = (shape: Shape, list: boolean): string => {
  if (list && (shape._tag === "Parts" || shape._tag === "Whole")) return "one value"
  switch (shape._tag) {
    case "Quantity":
      return shape.milli ? "amount in thousandths" : "amount"
    case "Keyed":
      return `keyed by ${shape.keys.map(({ name, absent }) => `${name}=${absent ?? "-"}`).join(" ")}`
    case "Set":
      return "set"
    case "Whole":
      return "whole"
    case "Parts":
      return "plain"
  }
}

function* named(shape: Shape, path: string): Generator<string> {
  for (const [name, field] of shape.fields) {
    const at = path === "" ? name : `${path}.${name}`
    yield at
    yield* named(field, at)
  }
}
