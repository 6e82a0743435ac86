import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { quantity } from "../src/core/quantity.ts"

const RUNS = { numRuns: 10_000 }
const DECIMAL = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]

describe("quantity", () => {
  it("gives one spelling to all decimal spellings of an amount", () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 12n), anyScale, anyScale, fc.boolean(), (n, one, other, milli) => {
        expect(quantity(spell(n, one), milli)).toBe(quantity(spell(n, other), milli))
      }),
      RUNS
    )
  })

  it("gives one spelling to all binary spellings of an amount", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4000 }), fc.nat(4), fc.boolean(), (n, i, milli) => {
        const smaller = `${n * 1024}${BINARY[i]}`
        expect(quantity(smaller, milli)).toBe(quantity(`${n}${BINARY[i + 1]}`, milli))
        expect(quantity(`${n}${BINARY[i]}`, milli)).toBe(
          quantity(String(BigInt(n) << BigInt(10 * i + 10)), milli)
        )
      }),
      RUNS
    )
  })

  it("gives different spellings to different amounts", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 12n), anyScale, (a, b, scale) => {
        expect(quantity(spell(a, scale), false) === quantity(spell(b, scale), false)).toBe(a === b)
      }),
      RUNS
    )
  })

  it("is a spelling of the same amount", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 12n), anyScale, (n, scale) => {
        const once = quantity(spell(n, scale), false)
        expect(quantity(once, false)).toBe(once)
      }),
      RUNS
    )
  })

  it.each([
    ["0.5", "500m"],
    ["500m", "500m"],
    [0.5, "500m"],
    ["1024Mi", "1Gi"],
    ["1e3", "1000"],
    ["1E3", "1000"],
    ["1k", "1000"],
    ["1.5Gi", "1536Mi"],
    ["0.0000000001", "1n"],
    ["-1.50", "-1500m"],
    ["+1", "1"],
    [".5", "500m"],
    ["5.", "5"],
    ["0", "0"],
    [0, "0"],
    ["0Gi", "0"],
    ["16Ei", "9223372036854775807"],
    ["1e-100", "1n"]
  ])("spells %s as %s", (value, spelling) => {
    expect(quantity(value, false)).toBe(spelling)
  })

  it.each([
    ["100.4m", "101m"],
    ["0.0001", "1m"],
    ["-0.0001", "-1m"],
    ["1500u", "2m"],
    ["7", "7"]
  ])("rounds %s up to %s in lists of resources", (value, spelling) => {
    expect(quantity(value, true)).toBe(spelling)
  })

  it.each(["", "x", "1 Gi", "1gi", "1Zi", "--1", ".", "e3", "1e999999999", "Infinity", null, true, {}, []])(
    "is nothing for %s",
    (value) => {
      expect(quantity(value, false)).toBeUndefined()
    }
  )
})

type Scale = keyof typeof DECIMAL

const anyScale = fc.constantFrom(...(Object.keys(DECIMAL) as Scale[]))

/** `n` billionths, written with a suffix. */
const spell = (n: bigint, scale: Scale): string => {
  const shift = 9 + DECIMAL[scale]
  const digits = n.toString().padStart(shift + 1, "0")
  const whole = digits.slice(0, digits.length - shift)
  const fraction = shift === 0 ? "" : digits.slice(digits.length - shift)
  return `${whole}${fraction === "" ? "" : `.${fraction}`}${scale}`
}
