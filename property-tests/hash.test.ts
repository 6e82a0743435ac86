/** The hash stands in names of stored objects: it may never change. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { hash } from "../src/core/hash.ts"
import { RUNS } from "./given.ts"

describe("hash", () => {
  // The lower 53 bits, as the author of cyrb53 publishes them.
  it.each([
    ["a", 7929297801672961n],
    ["b", 8684336938537663n],
    ["revenge", 4051478007546757n],
    ["revenue", 8309097637345594n]
  ])("of %s has the lower 53 bits that cyrb53 gives", (text, low53) => {
    expect(BigInt(`0x${hash(text)}`) & ((1n << 53n) - 1n)).toBe(low53)
  })

  it("is 16 hexadecimal digits for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(hash(text)).toMatch(/^[0-9a-f]{16}$/)
      }),
      RUNS
    )
  })

  it("tells 20,000 names of children apart, in their first ten digits too", () => {
    const seen = new Set<string>()
    for (let grid = 0; grid < 20; grid++)
      for (let unit = 0; unit < 1000; unit++) seen.add(hash(`grid-${grid}/unit-${unit}`).slice(0, 10))
    expect(seen.size).toBe(20_000)
  })

  it("changes with any one character", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat(), (text, at) => {
        const i = at % text.length
        const other = text.charCodeAt(i) === 120 ? "y" : "x"
        expect(hash(text.slice(0, i) + other + text.slice(i + 1))).not.toBe(hash(text))
      }),
      RUNS
    )
  })
})
