/** Durations are read as Go reads them. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { duration } from "../src/core/duration.ts"

const runs = { numRuns: 10_000 }

describe("duration", () => {
  it.each([
    ["5s", 5],
    ["10m", 600],
    ["0s", 0],
    ["0", 0],
    ["1h30m", 5400],
    ["1.5h", 5400],
    [".5m", 30],
    ["1.s", 1],
    ["+2s", 2],
    ["250ms", 0.25],
    ["1m1m", 120],
    ["2562047h", 9223369200]
  ])("reads %s as %d seconds", (text, seconds) => {
    expect(duration(text)).toBeCloseTo(seconds, 9)
  })

  it.each([
    "",
    "60",
    "-5s",
    "abc",
    "5",
    "5 s",
    " 5s",
    "5s ",
    "5x",
    "s",
    ".s",
    "1h30",
    "--5s",
    "++5s",
    "5S",
    "1e3s",
    "５s",
    "Infinity",
    "NaNs",
    "2562048h",
    "9".repeat(400) + "h",
    "1,5h",
    "1_000s",
    "1h\n"
  ])("refuses %j", (text) => {
    expect(duration(text)).toBeUndefined()
  })

  it("adds up its parts in any order", () => {
    const part = fc.tuple(fc.nat(1000), fc.constantFrom(["h", 3600], ["m", 60], ["s", 1], ["ms", 0.001]))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const text = parts.map(([n, [unit]]) => `${n}${unit}`).join("")
        const sum = parts.reduce((total, [n, [, factor]]) => total + n * Number(factor), 0)
        expect(duration(text)).toBeCloseTo(sum, 6)
      }),
      runs
    )
  })

  it("gives undefined or a number of seconds from 0 on for any text", () => {
    const alphabet = fc.constantFrom(...Array.from("0159.+-hmsunµ \n"))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: alphabet })), (text) => {
        const seconds = duration(text)
        if (seconds !== undefined) expect(seconds).toBeGreaterThanOrEqual(0)
      }),
      runs
    )
  })
})
