import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { age } from "../../src/embedded/ages.ts"

const MOMENT = Date.parse("2026-11-29T12:00:00Z")
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe("age", () => {
  it.each([
    [0, "0s"],
    [119 * SECOND, "119s"],
    [120 * SECOND, "2m"],
    [9 * MINUTE + 59 * SECOND, "9m59s"],
    [10 * MINUTE + 1 * SECOND, "10m"],
    [179 * MINUTE, "179m"],
    [180 * MINUTE, "3h"],
    [7 * HOUR + 59 * MINUTE, "7h59m"],
    [8 * HOUR + 1 * MINUTE, "8h"],
    [47 * HOUR, "47h"],
    [48 * HOUR, "2d"],
    [50 * HOUR, "2d2h"],
    [8 * DAY + 5 * HOUR, "8d"],
    [729 * DAY, "729d"],
    [730 * DAY, "2y"],
    [735 * DAY, "2y5d"],
    [365 * 8 * DAY + DAY, "8y"],
    [-1500, "0s"],
    [-2 * SECOND, "<invalid>"]
  ])("of %i milliseconds is %s", (ago, shown) => {
    expect(age(new Date(MOMENT - ago).toISOString(), MOMENT)).toBe(shown)
  })

  it("of an unknown time is unknown", () => {
    expect([age(undefined, MOMENT), age("", MOMENT), age("yesterday", MOMENT)]).toEqual(
      Array(3).fill("<unknown>")
    )
  })

  it("is two units at most", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 * 365 * DAY }), (ago) => {
        expect(age(new Date(MOMENT - ago).toISOString(), MOMENT)).toMatch(/^\d+[smhdy](\d+[smhd])?$/)
      }),
      { numRuns: 10_000 }
    )
  })
})
