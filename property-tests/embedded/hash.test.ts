import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { hash, same } from "../../src/embedded/hash.ts"

describe("hash", () => {
  it("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (map) => {
        const turned = Object.fromEntries(Object.entries(map).toReversed())
        expect(hash({ inner: turned })).toBe(hash({ inner: map }))
      }),
      { numRuns: 10_000 }
    )
  })

  it("is a legal end of a name", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(hash(value)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/)
      }),
      { numRuns: 10_000 }
    )
  })

  it("tells an edit of a template", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        fc.pre(one !== other)
        const of = (image: string): string => hash({ spec: { containers: [{ name: "c", image }] } })
        // 32 bits: two of these in 10,000 pairs would be one in 400,000
        expect(of(one)).not.toBe(of(other))
      }),
      { numRuns: 10_000, seed: 1 }
    )
  })

  it("takes null as absent", () => {
    expect(hash({ a: 1, b: null })).toBe(hash({ a: 1 }))
  })
})

describe("same", () => {
  it("holds of a copy", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(same(value, structuredClone(value))).toBe(true)
      }),
      { numRuns: 10_000 }
    )
  })

  it("fails where one leaf differs", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.string(), { maxLength: 4 }), (value, path) => {
        const at = (leaf: number): unknown =>
          path.reduceRight<unknown>((inner, name) => ({ list: [value, { [`_${name}`]: inner }] }), leaf)
        expect(same(at(1), at(2))).toBe(false)
      }),
      { numRuns: 10_000 }
    )
  })

  it.each([
    [{ a: null }, {}],
    [null, undefined],
    [{ a: undefined, b: 1 }, { b: 1 }]
  ])("takes null as absent: %j, %j", (one, other) => {
    expect(same(one, other)).toBe(true)
  })

  it.each([
    [[], {}],
    [{}, null],
    [[null], []],
    ["1", 1],
    [{ a: {} }, {}]
  ])("tells %j from %j", (one, other) => {
    expect(same(one, other)).toBe(false)
  })
})
