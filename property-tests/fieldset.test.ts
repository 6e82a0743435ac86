import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { setsOf, union } from "../src/core/fieldset.ts"

const spec = { "f:spec": { "f:paused": {} } }
const entry = (more: object) => ({
  manager: "m",
  operation: "Apply",
  fieldsType: "FieldsV1",
  fieldsV1: spec,
  ...more
})

describe("setsOf", () => {
  it("gives what the manager applied to the main resource, in every API version", () => {
    const entries = [
      entry({ apiVersion: "apps/v1" }),
      entry({ manager: "other" }),
      entry({ apiVersion: "apps/v2" })
    ]
    expect(setsOf(entries, "m")).toEqual([spec, spec])
  })

  it.each([
    ["an update", { operation: "Update" }],
    ["a subresource", { subresource: "status" }],
    ["an entry without fields", { fieldsV1: undefined }],
    ["fields that are no object", { fieldsV1: ["f:spec"] }],
    ["an empty set", { fieldsV1: {} }]
  ])("leaves out %s", (_, more) => {
    expect(setsOf([entry(more)], "m")).toEqual([])
  })

  it("never throws", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (managedFields, bad) => {
        expect(Array.isArray(setsOf(managedFields, "m"))).toBe(true)
        expect(Array.isArray(setsOf([bad, entry({ fieldsV1: bad, subresource: bad })], "m"))).toBe(true)
      }),
      { numRuns: 10_000 }
    )
  })
})

describe("union", () => {
  const { set } = fc.letrec<{ set: { readonly [step: string]: object } }>((tie) => ({
    set: fc.dictionary(
      fc.constantFrom("f:a", "f:b", ".", 'v:"x"', "__proto__"),
      fc.oneof(fc.constant({}), tie("set")),
      {
        maxKeys: 3,
        noNullPrototype: true
      }
    )
  }))

  it("does not depend on the order of the sets", () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        expect(union(a as never, b as never)).toEqual(union(b as never, a as never))
      }),
      { numRuns: 10_000 }
    )
  })

  it("adds nothing to itself", () => {
    fc.assert(
      fc.property(set, (a) => {
        expect(union(a as never, a as never)).toEqual(a)
      }),
      { numRuns: 10_000 }
    )
  })

  it("keeps a path that one owns itself and the other has parts of", () => {
    expect(union({ "f:a": {} }, { "f:a": { "f:b": {} } })).toEqual({ "f:a": { ".": {}, "f:b": {} } })
  })
})
