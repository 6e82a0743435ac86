import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { nanos, quantity } from "../../src/embedded/quantity.ts"

describe("quantity", () => {
  // what a real API server wrote for these
  it.each([
    ["0.5", "500m"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["0.1Gi", "107374182400m"],
    ["1000m", "1"],
    ["1500", "1500"],
    ["2048", "2048"],
    ["0.5Ki", "512"],
    ["1e3", "1e3"],
    ["12e-1", "1200e-3"],
    ["1E", "1E"],
    ["100M", "100M"],
    ["0", "0"],
    ["64Mi", "64Mi"]
  ])("writes %s as %s", (given, written) => {
    expect(quantity(given)).toBe(written)
  })

  it.each(["", "abc", "1 Gi", "1gi", "--1", "1KiB", null, undefined, {}])("refuses %s", (given) => {
    expect(quantity(given)).toBeUndefined()
  })

  it("writes a binary amount that comes out whole without its suffix, which then is a decimal one", () => {
    expect(quantity("71218.750Ki")).toBe("72928000")
    expect(quantity("72928000")).toBe("72928k")
  })

  it("keeps the amount, and what is written twice stays", () => {
    const suffix = fc.constantFrom("", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-3")
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(999), suffix, (whole, part, unit) => {
        const given = `${whole}.${String(part).padStart(3, "0")}${unit}`
        const written = quantity(given) ?? ""
        const again = quantity(written) ?? ""
        expect([nanos(written), nanos(again)]).toEqual([nanos(given), nanos(given)])
        expect(quantity(again)).toBe(again)
      }),
      { numRuns: 10_000 }
    )
  })
})
