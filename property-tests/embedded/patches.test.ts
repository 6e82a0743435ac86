/** JSON merge patches, as the server's library merges them. */
import { describe, expect, it } from "vitest"
import { mergePatched } from "../../src/embedded/patches.ts"

describe("mergePatched", () => {
  it.each([
    ["takes a key away where it is null", { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ["merges an object into one", { a: { b: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    ["makes a new object without nulls", {}, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ["makes a new list whose objects have no nulls", {}, { a: [{ b: null }, null] }, { a: [{}, null] }],
    ["puts a list in place of a list without nulls", { a: [1] }, { a: [{ b: null }] }, { a: [{}] }],
    ["puts a list in place of an object as it is", { a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }]
  ])("%s", (_, target, patch, result) => {
    expect(mergePatched(target, patch)).toEqual(result)
  })

  it("takes a key of any name for a key", () => {
    const patch: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": null}')
    expect(JSON.stringify(mergePatched({}, patch))).toBe('{"__proto__":{"a":1}}')
  })
})
