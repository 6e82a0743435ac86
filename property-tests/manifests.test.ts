/** What must be so in every CustomResourceDefinition of manifests/crds, whatever it describes. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"

const FOLDER = join(import.meta.dirname, "../manifests/crds")
const FILES = readdirSync(FOLDER).filter((name) => name !== "kustomization.yaml")

interface Schema {
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean
  readonly "x-kubernetes-validations"?: readonly {
    readonly rule: string
    readonly optionalOldSelf?: boolean
  }[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly maxProperties?: number
}

describe("CustomResourceDefinitions", () => {
  // The API server lets pass what was wrong before and didn't change, but sees no change only where it knows every field below.
  it.each(FILES)("R21 let an older object pass by rules of their own over a template: %s", (file) => {
    const judging = (schema: Schema, path: string): readonly string[] => [
      ...(keepsUnknown(schema) && !passesOld(schema) ? [path] : []),
      ...innerOf(schema).flatMap(([name, inner]) => judging(inner, `${path}.${name}`))
    ]
    expect(judging(schemaOf(file), "")).toEqual([])
  })

  it("have less than 20 KB together", () => {
    const sizes = FILES.map((file) => readFileSync(join(FOLDER, file)).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(20_000)
  })
})

const schemaOf = (file: string): Schema => {
  const crd = parse(readFileSync(join(FOLDER, file), "utf8")) as {
    readonly spec: {
      readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }]
    }
  }
  return crd.spec.versions[0].schema.openAPIV3Schema
}

const innerOf = (schema: Schema): readonly (readonly [string, Schema])[] => [
  ...Object.entries(schema.properties ?? {}),
  ...(schema.additionalProperties === undefined ? [] : [["*", schema.additionalProperties] as const]),
  ...(schema.items === undefined ? [] : [["[]", schema.items] as const])
]

const keepsUnknown = (schema: Schema): boolean =>
  schema["x-kubernetes-preserve-unknown-fields"] === true ||
  innerOf(schema).some(([, inner]) => keepsUnknown(inner))

const passesOld = (schema: Schema): boolean =>
  schema.required === undefined &&
  schema.minProperties === undefined &&
  schema.maxProperties === undefined &&
  (schema["x-kubernetes-validations"] ?? []).every(
    ({ rule, optionalOldSelf }) => optionalOldSelf === true && rule.includes("oldSelf")
  )
