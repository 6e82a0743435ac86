import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parse, select } from "../../src/embedded/jsonpath.ts"

const GRID = {
  metadata: { name: "web", annotations: { "a.b/c": "dotted" } },
  spec: { units: ["a", "b", "c"], ports: [{ port: 80 }, { port: 443 }] },
  status: {
    conditions: [
      { type: "Progressing", status: "False" },
      { type: "Ready", status: "True", age: 3 }
    ]
  }
}

describe("select", () => {
  it.each([
    [".metadata.name", ["web"]],
    ["metadata.name", ["web"]],
    [".metadata.annotations.a\\.b/c", ["dotted"]],
    [".metadata.annotations['a.b/c']", ["dotted"]],
    ['.metadata.annotations["a.b/c"]', ["dotted"]],
    [".spec.units[1]", ["b"]],
    [".spec.units[-1]", ["c"]],
    [".spec.units[*]", ["a", "b", "c"]],
    [".spec.ports[*].port", [80, 443]],
    ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
    [".status.conditions[?(@.type=='Ready')].status", ["True"]],
    [".status.conditions[?(@.age>2)].type", ["Ready"]],
    [".status.conditions[?(@.type != 'Ready')].type", ["Progressing"]],
    [".status.absent.deeper", []],
    [".spec.units[9]", []],
    [".metadata.constructor", []]
  ])("of %s", (path, found) => {
    expect(select(parse(path) ?? [], GRID)).toEqual(found)
  })

  it("finds what stands at any field, however it is called", () => {
    const name = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom("__proto__", "constructor", "a.b", "x'y", "[0]")
    )
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), fc.integer(), (names, value) => {
        const object = names.reduceRight<unknown>((inner, each) => own(each, inner), value)
        const path = names.map((each) => `['${each.replace(/[\\']/g, "\\$&")}']`).join("")
        expect(select(parse(path) ?? [], object)).toEqual([value])
      }),
      { numRuns: 10_000 }
    )
  })
})

describe("parse", () => {
  it.each([".a[?(@.b)]", ".a[1:2]", ".a[", "$..name(", ".a..b"])("refuses %s", (path) => {
    expect(parse(path)).toBeUndefined()
  })
})

/** An object with this one field of its own. */
const own = (name: string, value: unknown): object =>
  Object.defineProperty({}, name, { value, enumerable: true, configurable: true, writable: true })
