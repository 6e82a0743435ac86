/** What annotations of a Service mean. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { known, scope } from "../src/core/topology.ts"
import { RUNS } from "./given.ts"

describe("scope", () => {
  const of = (topologyKeys: unknown) => scope({ topologyKeys })

  it("is everywhere without the annotation, with null, and with an empty list", () => {
    for (const annotations of [undefined, null, {}, { topologyKeys: null }, { topologyKeys: " [ ] " }])
      expect(scope(annotations)).toEqual({ _tag: "Everywhere" })
  })

  it("has the keys in their order", () => {
    expect(of('["zone", "topology.kubernetes.io/zone", "*", "rack"]')).toEqual({
      _tag: "Within",
      keys: ["zone", "topology.kubernetes.io/zone", "*", "rack"]
    })
    expect(of('["__proto__x","constructor"]')._tag).toBe("Closed")
    expect(of('["constructor"]')).toEqual({ _tag: "Within", keys: ["constructor"] })
  })

  it("R101 is closed for whatever else it is, and says why", () => {
    for (const [given, why] of [
      ["zone", "is no JSON array"],
      ['{"a":1}', "is no JSON array"],
      ['"zone"', "is no JSON array"],
      ["null", "is no JSON array"],
      ["", "is no JSON array"],
      ["[1]", "has 1, which is no label key"],
      ["[null]", "has null, which is no label key"],
      ['[""]', 'has "", which is no label key'],
      ['["zone","a b"]', 'has "a b", which is no label key'],
      [1, "is no text"]
    ] as const) {
      const found = of(given)
      expect(found._tag === "Closed" && found.message).toContain(why)
    }
  })

  it("R101 is total: everywhere for an empty list alone, within for lists of texts alone", () => {
    const annotation = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.constantFrom("zone", "*", "-", 7)).map((each) => JSON.stringify(each))
    )
    fc.assert(
      fc.property(annotation, (text) => {
        const { _tag } = of(text)
        const plain = /^\s*\[\s*\]\s*$/.test(text)
        const listed = /^\s*\[\s*("(\*|[A-Za-z0-9][\w./-]*)"\s*,?\s*)+\]\s*$/.test(text)
        expect(_tag === "Everywhere").toBe(plain)
        if (_tag === "Within") expect(listed).toBe(true)
      }),
      RUNS
    )
  })
})

describe("known", () => {
  it("R108 is headless with cluster IP None, and of the unit's scope with exactly that annotation", () => {
    expect(known({}, "None")).toEqual({ scope: { _tag: "Everywhere" }, headless: true, unitScope: false })
    expect(known({ "superedge.io/headless-scope": "unit" }, "None").unitScope).toBe(true)
    expect(known({ "superedge.io/headless-scope": "Unit" }, null)).toMatchObject({
      headless: false,
      unitScope: false
    })
  })
})
