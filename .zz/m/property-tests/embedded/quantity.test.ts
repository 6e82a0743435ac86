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

  it("keeps the amount, and what is written once stays", () => {
    const suffix = fc.constantFrom("", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-3")
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(999), suffix, (whole, part, unit) => {
        const given = `${whole}.${String(part).padStart(3, "0")}${unit}`
        const written = quantity(given) ?? ""
        expect(nanos(written)).toBe(nanos(given))
        expect(quantity(written)).toBe(written)
      }),
      { numRuns: 10_000 }
    )
  })
})
