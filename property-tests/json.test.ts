/** JSON as users write it. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isObject, stableJson, withoutNulls } from "../src/core/json.ts"
import { frozen, RUNS, same } from "./given.ts"
import { anyJson } from "./words.ts"

const field = fc.constantFrom("a", "b", "__proto__", "constructor", "z.io/y", "")

/** An object as a list of its fields, none of them null or absent. */
const fields = fc.uniqueArray(
  fc.tuple(
    field,
    anyJson.filter((value) => plain(value))
  ),
  {
    selector: ([name]) => name,
    maxLength: 5
  }
)

describe("isObject", () => {
  it.each([[null], [[]], ["{}"], [0], [true], [undefined]])("is false for %j", (value) => {
    expect(isObject(value)).toBe(false)
  })

  it("is true for an object", () => {
    expect(isObject({})).toBe(true)
  })
})

describe("withoutNulls", () => {
  it("leaves out fields that are null at any depth", () => {
    expect(withoutNulls({ a: null, b: { c: null, d: [{ e: null, f: 1 }] } })).toEqual({
      b: { d: [{ f: 1 }] }
    })
  })

  it("keeps the entries of lists", () => {
    expect(withoutNulls([null, 1])).toEqual([null, 1])
  })

  it("gives back what has no nulls", () => {
    fc.assert(
      fc.property(fields, (entries) => {
        const value = frozen(Object.fromEntries(entries))
        same(Object.entries(withoutNulls(value) as object), entries)
      }),
      RUNS
    )
  })
})

describe("stableJson", () => {
  it("P14 does not depend on the order of fields, nor on fields that are null or absent", () => {
    fc.assert(
      fc.property(fields, (entries) => {
        const forth = { one: Object.fromEntries(entries), two: 2 }
        const back = { three: undefined, two: 2, one: Object.fromEntries([...entries].reverse()), four: null }
        same(stableJson(frozen(back)), stableJson(frozen(forth)))
      }),
      RUNS
    )
  })

  it("says the same as the value", () => {
    fc.assert(
      fc.property(fields, (entries) => {
        const value = Object.fromEntries(entries)
        same(JSON.parse(stableJson(value)), value)
      }),
      RUNS
    )
  })

  it("sorts keys by code unit", () => {
    expect(stableJson({ b: 1, a: [{ d: "x", c: null }], Z: true })).toBe('{"Z":true,"a":[{"d":"x"}],"b":1}')
  })
})

/** Without null inside of an object. */
const plain = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.every((each) => each === null || plain(each))
  if (typeof value !== "object" || value === null) return value !== null && !Object.is(value, -0)
  return Object.values(value).every(plain)
}
