/** Everything that is wanted of a grid, in short, and what its owner should know. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { childObject, desired, graceSeconds, nameOf, pathOf } from "../src/core/desired.ts"
import { workloads } from "../src/core/workloads.ts"
import { nodesOf, podTemplate, RUNS, same, template, web, webService, webSet } from "./given.ts"
import { someUnits } from "./words.ts"

const grace = (text: unknown) =>
  web("zone", {}, { annotations: { "superedge.io/unit-grace": text as string } })

describe("desired", () => {
  it("P14 wants one child for each unit that isn't refused, in their order", () => {
    fc.assert(
      fc.property(someUnits(), fc.nat(), (units, pick) => {
        const bad = units.filter((_, i) => (pick >> i) % 2 === 1)
        const grid = web("zone", { templates: Object.fromEntries(bad.map((unit) => [unit, "nope"])) })
        const { wanted, refused } = desired(grid, units)
        same(
          wanted.map(({ unit }) => unit),
          units.filter((unit) => !bad.includes(unit))
        )
        same(
          refused.map(({ unit }) => unit),
          bad
        )
      }),
      RUNS
    )
  })

  it("R59 changes only the digest of the unit whose template changed", () => {
    fc.assert(
      fc.property(someUnits(1), fc.nat(), (units, at) => {
        const one = units[at % units.length] ?? ""
        const pool = { t2: template("nginx:2") }
        const before = desired(web("zone", { templatePool: pool }), units).wanted
        const after = desired(web("zone", { templatePool: pool, templates: { [one]: "t2" } }), units).wanted
        const changed = units.filter((_, i) => before[i]?.digest !== after[i]?.digest)
        same(changed, [one])
      }),
      RUNS
    )
  })

  it("R39 gives the same digests in every process", () => {
    expect(desired(web("zone"), ["a"]).wanted.map(({ digest }) => digest)).toEqual(
      desired(web("zone"), ["a", "b"])
        .wanted.slice(0, 1)
        .map(({ digest }) => digest)
    )
  })

  it("R69 wants the Service of a grid without units", () => {
    expect(desired(webService("zone"), []).wanted.map(({ name, unit }) => [name, unit])).toEqual([
      ["web-svc", undefined]
    ])
  })

  it("tells once that a template sets the grid key itself", () => {
    const own = podTemplate({ nodeSelector: { zone: "x" } })
    expect(desired(web("zone", { template: own }), ["a", "b"]).notices).toEqual([
      {
        reason: "NodeSelectorOverridden",
        path: "spec.template.template.spec.nodeSelector[zone]",
        message:
          'spec.template.template.spec.nodeSelector[zone]: "x" is replaced by each unit\'s own value; remove it from the template'
      }
    ])
  })

  it("tells that a grace is no duration", () => {
    expect(desired(grace("5"), []).notices).toEqual([
      {
        reason: "InvalidUnitGrace",
        path: "metadata.annotations[superedge.io/unit-grace]",
        message:
          'metadata.annotations[superedge.io/unit-grace]: "5" is no duration such as "5s", "10m" or "0s"; the default is used'
      }
    ])
  })

  it("tells nothing of a grid as it should be", () => {
    expect(desired(grace("10m"), ["a"]).notices).toEqual([])
  })
})

describe("graceSeconds", () => {
  it.each([
    ["5s", 5],
    ["10m", 600],
    ["0s", 0],
    ["1.5s", 1.5]
  ])("R48 is what the annotation %j says", (text, seconds) => {
    expect(graceSeconds(grace(text), 60)).toBe(seconds)
  })

  it.each(["", "5", "-5s", "soon", null, 5])("is the default where the annotation is %j", (text) => {
    expect(graceSeconds(grace(text), 60)).toBe(60)
  })

  it("is the default without annotations", () => {
    expect(graceSeconds(web("zone", {}, { annotations: null }), 42)).toBe(42)
  })
})

describe("childObject", () => {
  it("is the child that workloads want for the unit", () => {
    fc.assert(
      fc.property(someUnits(1), fc.nat(), (units, at) => {
        const i = at % units.length
        same(
          childObject(webSet("zone"), units[i]),
          workloads(webSet("zone"), nodesOf("zone", units)).wanted[i]
        )
      }),
      RUNS
    )
  })

  it("is undefined for a refused unit", () => {
    expect(childObject(web("zone", { templates: { a: "nope" } }), "a")).toBeUndefined()
  })

  it("is the Service of a ServiceGrid", () => {
    expect(childObject(webService("zone"), undefined)).toMatchObject({
      kind: "Service",
      metadata: { name: "web-svc" }
    })
  })
})

describe("nameOf", () => {
  it("is the child's name, refused or not", () => {
    const grid = web("zone", { templates: { a: "nope" } })
    expect(["a", "b"].map((unit) => nameOf(grid, unit))).toEqual(["web-a", "web-b"])
    expect(nameOf(webService("zone"), undefined)).toBe("web-svc")
  })
})

describe("pathOf", () => {
  it("says where the template stands", () => {
    const grid = web("zone", { templatePool: { t1: template() }, templates: { a: "t1" } })
    expect(["a", "b", undefined].map((unit) => pathOf(grid, unit))).toEqual([
      "spec.templatePool[t1]",
      "spec.template",
      "spec.template"
    ])
    expect(pathOf(webService("zone"), undefined)).toBe("spec.template")
  })
})
