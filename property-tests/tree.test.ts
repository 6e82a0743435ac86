import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Difference, differences, digest, type Tree, tree } from "../src/core/tree.ts"

const RUNS = { numRuns: 10_000 }

describe("digest", () => {
  it("is equal for equal trees, in whatever order their parts stand", () => {
    fc.assert(
      fc.property(anyModel, (model) => {
        expect(digest(build(model))).toBe(digest(build(mirrored(model))))
      }),
      RUNS
    )
  })

  it("differs where the trees do, and only there", () => {
    fc.assert(
      fc.property(anyModel, anyModel, (one, other) => {
        const same = text(one) === text(other)
        expect(digest(build(one)) === digest(build(other))).toBe(same)
      }),
      RUNS
    )
  })

  it("changes with every node: its value, whether it is owned, its name, its being there", () => {
    fc.assert(
      fc.property(anyModel, fc.nat(), fc.constantFrom(...changes), (model, at, change) => {
        const edited = editNode(model, at % size(model), change)
        expect(digest(build(edited)) === digest(build(model))).toBe(text(edited) === text(model))
      }),
      RUNS
    )
  })

  it("is a text of 14 letters and digits", () => {
    expect(digest(tree(false, "", new Map()))).toMatch(/^[0-9a-z]{14}$/)
  })
})

describe("differences", () => {
  it("are none exactly where the digests are equal", () => {
    fc.assert(
      fc.property(anyModel, fc.nat(), fc.constantFrom(...changes), (model, at, change) => {
        const [wanted, owned] = [build(model), build(editNode(model, at % size(model), change))]
        expect(differences(wanted, owned).length === 0).toBe(digest(wanted) === digest(owned))
        expect(differences(wanted, build(mirrored(model)))).toEqual([])
      }),
      RUNS
    )
  })

  it("are sorted, and the same from the other side with sides changed", () => {
    fc.assert(
      fc.property(anyModel, anyModel, (one, other) => {
        const there = differences(build(one), build(other))
        const back = differences(build(other), build(one))
        expect(back).toEqual(there.map(({ path, wanted, owned }) => ({ path, wanted: owned, owned: wanted })))
        expect(there.map(({ path }) => path)).toEqual(there.map(({ path }) => path).sort())
      }),
      RUNS
    )
  })

  const at = (names: readonly string[], value: string | undefined): Tree =>
    names.reduceRight(
      (below, name) =>
        below.owned || below.parts.size > 0 ? tree(false, "", new Map([[name, below]])) : below,
      value === undefined ? tree(false, "", new Map()) : tree(true, value, new Map())
    )

  it.each<[readonly string[], string]>([
    [
      ["spec", "template", "spec", "containers", "[name=nginx]", "image"],
      "spec.template.spec.containers[name=nginx].image"
    ],
    [["metadata", "labels", "app.kubernetes.io/name"], "metadata.labels[app.kubernetes.io/name]"],
    [["metadata", "finalizers", '["a.io/b"]'], 'metadata.finalizers["a.io/b"]'],
    [["metadata", "labels", "__proto__"], "metadata.labels.__proto__"],
    [["metadata", "labels", ""], "metadata.labels[]"]
  ])("write the path %j as %s", (names, path) => {
    expect(differences(at(names, "a"), at(names, "b"))).toEqual([{ path, wanted: "a", owned: "b" }])
    expect(differences(at(names, "a"), at(names, undefined))).toEqual([
      { path, wanted: "a", owned: undefined }
    ])
  })

  it("tell an item that one side lacks once, with what it holds", () => {
    const item = tree(
      true,
      "",
      new Map([
        ["name", tree(true, "a", new Map())],
        ["image", tree(true, "b", new Map())]
      ])
    )
    const found = differences(tree(false, "", new Map([["[name=a]", item]])), tree(false, "", new Map()))
    expect(found).toEqual<Difference[]>([
      { path: "[name=a]", wanted: "{name: a, image: b}", owned: undefined }
    ])
  })

  it("show where long values part", () => {
    const [a, b] = [`${"x".repeat(500)}a`, `${"x".repeat(500)}b`]
    const [found] = differences(at(["f"], a), at(["f"], b))
    expect(found?.wanted?.length).toBeLessThan(90)
    expect(found?.wanted).toMatch(/^…x+a$/)
    expect(found?.owned).toMatch(/^…x+b$/)
  })

  it("tell another order of the same items, and not where the items differ anyway", () => {
    const list = (order: string, ...names: readonly string[]): Tree =>
      tree(false, order, new Map(names.map((name) => [name, tree(true, "", new Map())])))
    expect(differences(list("a b", "a", "b"), list("b a", "b", "a"))).toEqual([
      { path: "", wanted: "a b", owned: "b a" }
    ])
    expect(differences(list("a b", "a", "b"), list("", "a"))).toEqual([
      { path: "b", wanted: "empty", owned: undefined }
    ])
  })
})

// ---- trees that are known without the core

interface Model {
  readonly owned: boolean
  readonly value: string
  readonly parts: readonly (readonly [string, Model])[]
}

const names = fc.constantFrom("a", "b", "ab", "[name=a]", "spec", "__proto__")
const { model: anyModel } = fc.letrec<{ model: Model }>((tie) => ({
  model: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({
      owned: fc.constant(true),
      value: fc.constantFrom("", "1", "x", "xy"),
      parts: fc.constant([])
    }),
    fc.record({
      owned: fc.boolean(),
      value: fc.constantFrom("", "1"),
      parts: fc.uniqueArray(fc.tuple(names, tie("model")), {
        minLength: 1,
        maxLength: 3,
        selector: ([name]) => name
      })
    })
  )
}))

const build = ({ owned, value, parts }: Model): Tree =>
  tree(owned, owned ? value : "", new Map(parts.map(([name, part]) => [name, build(part)])))

const mirrored = (model: Model): Model => ({
  ...model,
  parts: model.parts.map(([name, part]) => [name, mirrored(part)] as const).reverse()
})

/** One text a tree, made without hashing. */
const text = ({ owned, value, parts }: Model): string => {
  const below = parts.map(([name, part]) => `${JSON.stringify(name)}:${text(part)}`).sort()
  return `(${owned ? `!${JSON.stringify(value)}` : ""}${below.join(",")})`
}

const size = ({ parts }: Model): number => parts.reduce((sum, [, part]) => sum + size(part), 1)

const changes: readonly ((model: Model) => Model)[] = [
  (model) => ({ ...model, value: `${model.value}z` }),
  (model) => ({ ...model, owned: !model.owned }),
  (model) => ({ ...model, parts: [...model.parts, ["new", { owned: true, value: "", parts: [] }]] }),
  (model) => ({ ...model, parts: model.parts.slice(1) }),
  (model) => ({ ...model, parts: model.parts.map(([name, part]) => [`${name}z`, part]) })
]

const editNode = (model: Model, at: number, change: (model: Model) => Model): Model => {
  if (at === 0) return change(model)
  let skipped = 1
  return {
    ...model,
    parts: model.parts.map(([name, part]) => {
      const here = at - skipped
      skipped += size(part)
      return [name, here >= 0 && here < size(part) ? editNode(part, here, change) : part]
    })
  }
}
