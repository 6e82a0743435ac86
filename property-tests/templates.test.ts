/** Which template a unit gets, which are refused, and which nobody needs. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { WorkloadGridSpec } from "../src/core/grid.ts"
import type { WorkloadSpec } from "../src/core/kube.ts"
import { overridden, templatePath, unusedTemplates, workloads } from "../src/core/workloads.ts"
import { asMap, nodesOf, podTemplate, RUNS, same, template, web } from "./given.ts"
import { imageOf, selectorOf, unitNamed, wantedIn } from "./planned.ts"
import { poolName, someUnits } from "./words.ts"

describe("workloads", () => {
  it("R10 R12 R13 takes each unit's template from where the grid says", () => {
    fc.assert(
      fc.property(sources, ({ spec, meant }) => {
        const units = Object.keys(meant).sort()
        const { wanted, refused } = wantedIn(web("zone", spec), units)
        same(refused, [])
        same(
          wanted.map(imageOf),
          units.map((unit) => meant[unit])
        )
      }),
      RUNS
    )
  })

  it("R11 refuses a unit without changing anything for the others", () => {
    const split = fc.tuple(someUnits(1), fc.nat(), fc.constantFrom(...broken))
    fc.assert(
      fc.property(split, ([units, pick, { name, reason }]) => {
        const bad = units.filter((_, i) => (pick >> i) % 2 === 1)
        const good = units.filter((unit) => !bad.includes(unit))
        const grid = web("zone", {
          templatePool: brokenPool,
          templates: asMap(bad.map((unit) => [unit, name]))
        })
        const { wanted, refused } = wantedIn(grid, units)
        same(
          refused.map((refusal) => [refusal.unit, refusal.reason]),
          bad.map((unit) => [unit, reason])
        )
        same(wanted, wantedIn(grid, good).wanted)
        same(wanted.map(unitNamed), good)
      }),
      RUNS
    )
  })

  it("R13 gives a unit its pool entry's replicas", () => {
    const grid = web("zone", {
      templatePool: { t1: template("nginx:1", { replicas: 3 }) },
      templates: { z1: "t1" }
    })
    expect(wantedIn(grid, ["z1", "z2"]).wanted.map(({ spec }) => spec.replicas)).toEqual([3, 1])
  })

  it("R10 is content without spec.template where every unit has another", () => {
    const grid = web("zone", {
      template: null,
      templatePool: { t1: template("t1:1") },
      defaultTemplateName: "t1"
    })
    expect(wantedIn(grid, ["a", "b"]).wanted.map(imageOf)).toEqual(["t1:1", "t1:1"])
  })

  it("R10 refuses a unit that has to do without", () => {
    const grid = web("zone", { template: null, templatePool: { t1: template() }, templates: { a: "t1" } })
    expect(wantedIn(grid, ["a", "b"]).refused).toEqual([
      {
        unit: "b",
        reason: "TemplateMissing",
        path: "spec.template",
        message:
          "unit b uses spec.template, which the grid does not have; add it, or name an entry of spec.templatePool in spec.templates or spec.defaultTemplateName"
      }
    ])
  })

  it("R11 names the unit and the template that is not there", () => {
    const grid = web("zone", { templatePool: { t2: template(), t1: template() }, templates: { b: "nope" } })
    const { wanted, refused } = wantedIn(grid, ["a", "b", "c"])
    expect(wanted.map(unitNamed)).toEqual(["a", "c"])
    expect(refused).toEqual([
      {
        unit: "b",
        reason: "TemplateMissing",
        path: "spec.templates[b]",
        message:
          'spec.templates[b]: unit b wants the template "nope", which is not in spec.templatePool (it has t1, t2)'
      }
    ])
  })

  it.each(["constructor", "__proto__", "toString"])(
    "does not find a template %s that nobody put there",
    (name) => {
      const grid = web("zone", { templatePool: { t1: template() }, defaultTemplateName: name })
      expect(wantedIn(grid, ["a"]).refused).toMatchObject([
        { unit: "a", reason: "TemplateMissing", path: "spec.defaultTemplateName" }
      ])
    }
  )

  it.each(["constructor", "toString"])(
    "uses spec.template for unit %s where templates don't name it",
    (unit) => {
      expect(wantedIn(web("zone", { templates: {} }), [unit]).wanted.map(imageOf)).toEqual(["nginx:1"])
    }
  )

  it("R54 R59 names each unit's template", () => {
    const grid = web("park", { templatePool: { t2: template("nginx:2") }, templates: { b: "t2" } })
    const { wanted } = wantedIn(grid, ["a", "b"])
    expect(wanted.map(selectorOf)).toEqual([{ park: "a" }, { park: "b" }])
    expect(wanted.map(imageOf)).toEqual(["nginx:1", "nginx:2"])
  })

  it.each([
    [
      "no pod spec",
      { template: null },
      "InvalidTemplate",
      "template.spec",
      "is missing; a template needs a pod spec with containers"
    ],
    [
      "no selector",
      { selector: null },
      "SelectorMissing",
      "selector",
      "is missing; use labels that the pods have, such as matchLabels: {app: web}"
    ],
    [
      "other pod labels than it selects",
      { selector: { matchLabels: { app: "other" } } },
      "SelectorMismatch",
      "selector",
      'does not match the pod labels {"app":"web"} in spec.template.template.metadata.labels'
    ],
    [
      "an env name twice",
      podTemplate({
        containers: [{ name: "c", env: [{ name: "A" }, { name: "B" }, { name: "A", value: "x" }] }]
      }),
      "DuplicateKey",
      "template.spec.containers[name=c].env",
      "has name=A twice; server-side apply takes each key once"
    ],
    [
      "a port twice, the protocol named once",
      podTemplate({
        containers: [{ name: "c", ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "TCP" }] }]
      }),
      "DuplicateKey",
      "template.spec.containers[name=c].ports",
      "has containerPort=80,protocol=TCP twice; server-side apply takes each key once"
    ],
    [
      "a node selector that is none",
      podTemplate({ nodeSelector: "ssd" }),
      "InvalidTemplate",
      "template.spec.nodeSelector",
      'is "ssd"; use labels of nodes, such as {disk: ssd}'
    ]
  ])("refuses a template with %s and names the field", (_, part, reason, field, message) => {
    const grid = web("zone", { template: template("nginx:1", part as Partial<WorkloadSpec>) })
    const path = `spec.template.${field}`
    expect(wantedIn(grid, ["a"]).refused).toEqual([
      { unit: "a", reason, path, message: `${path}: ${message}` }
    ])
  })

  it("R21 refuses a grid without a key as a whole", () => {
    const { wanted, refused } = workloads(web(""), nodesOf("zone", ["a"]))
    expect(wanted).toEqual([])
    expect(refused.map(({ unit, reason }) => [unit, reason])).toEqual([[undefined, "InvalidGridKey"]])
  })
})

describe("overridden", () => {
  it("names each template whose own node selector has the key, once", () => {
    const own = podTemplate({ nodeSelector: { zone: "x", disk: "ssd" } })
    const grid = web("zone", {
      templatePool: { t1: own, t2: own, t3: own },
      templates: { a: "t1", b: "t1", c: "t3" }
    })
    expect(overridden(grid, ["a", "b", "c", "d"])).toEqual([
      { path: "spec.templatePool[t1].template.spec.nodeSelector[zone]", value: "x" },
      { path: "spec.templatePool[t3].template.spec.nodeSelector[zone]", value: "x" }
    ])
  })
})

describe("templatePath", () => {
  it.each([
    ["a", "spec.templatePool[t1]"],
    ["b", "spec.template"],
    ["c", "spec.templates[c]"]
  ])("of unit %s is %s", (unit, path) => {
    const grid = web("zone", { templatePool: { t1: template() }, templates: { a: "t1", c: "nope" } })
    expect(templatePath(grid, unit)).toBe(path)
  })
})

describe("unusedTemplates", () => {
  it("R20 are the entries that nobody names, where the grid asks for it", () => {
    const pool = fc.uniqueArray(poolName, { minLength: 1 })
    fc.assert(
      fc.property(pool, fc.nat(), fc.nat(8), (names, pick, first) => {
        const used = names.filter((_, i) => (pick >> i) % 2 === 1)
        const grid = web("zone", {
          templatePool: asMap(names.map((name) => [name, template()])),
          templates: asMap(used.slice(1).map((name, i) => [`unit${i}`, name])),
          defaultTemplateName: used[0] ?? (first === 0 ? null : "default"),
          autoDeleteUnusedTemplate: true
        })
        same(unusedTemplates(grid), names.filter((name) => !used.includes(name)).sort())
      }),
      RUNS
    )
  })

  it("R20 keep what a unit without nodes names", () => {
    const templatePool = { t1: template(), t2: template(), t3: template() }
    const templates = { a: "t1", gone: "t2" }
    expect(unusedTemplates(web("zone", { templatePool, templates, autoDeleteUnusedTemplate: true }))).toEqual(
      ["t3"]
    )
  })

  it.each([undefined, null, false])("R19 are none where autoDeleteUnusedTemplate is %s", (flag) => {
    const spec: WorkloadGridSpec = { templatePool: { t1: template() } }
    expect(
      unusedTemplates(web("zone", flag === undefined ? spec : { ...spec, autoDeleteUnusedTemplate: flag }))
    ).toEqual([])
  })

  it("are none on a copy of another cluster's grid", () => {
    const spec = { templatePool: { t1: template() }, autoDeleteUnusedTemplate: true }
    expect(unusedTemplates(web("zone", spec, { labels: { "superedge.io/dis": "yes" } }))).toEqual([])
  })
})

/** A grid, and the image that each unit is meant to have. */
const sources = fc
  .record({
    units: someUnits(),
    names: fc.uniqueArray(poolName, { minLength: 1, maxLength: 4 }),
    byDefault: fc.constantFrom<string | null | undefined>(undefined, null, "", "default", "pool"),
    ways: fc.array(fc.constantFrom("silent", "pool", "default", "empty", "null"), {
      minLength: 6,
      maxLength: 6
    }),
    at: fc.nat()
  })
  .map(({ units, names, byDefault, ways, at }) => {
    const first = names[0] ?? ""
    const fallback = byDefault === "pool" ? `image-of-${first}` : "nginx:1"
    const chosen = units.map((unit, i) => {
      const name = names[(at + i) % names.length] ?? ""
      if (ways[i] === "pool") return { unit, name, image: `image-of-${name}` }
      if (ways[i] === "default" || ways[i] === "empty")
        return { unit, name: ways[i] === "empty" ? "" : "default", image: "nginx:1" }
      return { unit, name: ways[i] === "null" ? null : undefined, image: fallback }
    })
    const spec: WorkloadGridSpec = {
      templatePool: asMap(names.map((name) => [name, template(`image-of-${name}`)])),
      templates: asMap(
        chosen.flatMap(({ unit, name }) => (name === undefined ? [] : [[unit, name] as const]))
      ),
      ...(byDefault === undefined ? {} : { defaultTemplateName: byDefault === "pool" ? first : byDefault })
    }
    return { spec, meant: asMap(chosen.map(({ unit, image }) => [unit, image])) }
  })

const brokenPool = {
  "no-selector": template("nginx:1", { selector: null }),
  mismatch: template("nginx:1", { selector: { matchLabels: { app: "x" } } }),
  "no-pod": template("nginx:1", { template: {} }),
  twice: podTemplate({ containers: [{ name: "c" }, { name: "c" }] })
}
const broken = [
  { name: "nope", reason: "TemplateMissing" },
  { name: "__proto__", reason: "TemplateMissing" },
  { name: "no-selector", reason: "SelectorMissing" },
  { name: "mismatch", reason: "SelectorMismatch" },
  { name: "no-pod", reason: "InvalidTemplate" },
  { name: "twice", reason: "DuplicateKey" }
]
