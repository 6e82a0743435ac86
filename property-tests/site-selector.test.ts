/** Which nodes a selector selects, and which selectors can't be read. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { NodeIndex, selection } from "../src/core/site-selector.ts"
import { SiteNode } from "../src/core/site-node.ts"
import { same } from "./given.ts"
import { naiveSelects } from "./naive-sites.ts"
import { runs } from "./runs.ts"
import { seat, stored } from "./sited.ts"
import { anyJson } from "./words.ts"

const key = fc.constantFrom("zone", "constructor", "a.io/b")
const value = fc.constantFrom("a", "b", "toString", "")
const map = fc.dictionary(key, value, { maxKeys: 2 })
const values = fc.array(value, { minLength: 1, maxLength: 2 })

const expression = fc.oneof(
  fc.record({ key, operator: fc.constantFrom("In", "NotIn"), values }),
  fc.record({ key, operator: fc.constantFrom("Exists", "DoesNotExist") })
)

const selector = fc.record(
  { matchLabels: map, annotations: map, matchExpressions: fc.array(expression, { maxLength: 3 }) },
  { requiredKeys: [] }
)

const nodes = fc.array(fc.record({ labels: map, annotations: map }), { maxLength: 5 })

const indexed = (all: readonly object[]): NodeIndex =>
  new NodeIndex(all.map((o, i) => new SiteNode(stored(seat(`n${i}`, o)))))

describe("NodeIndex", () => {
  it("selects what a naive look at each node selects, unless the selector contradicts itself", () => {
    fc.assert(
      fc.property(selector, nodes, (given, all) => {
        const read = selection(given)
        const expected = all.flatMap((o, i) =>
          naiveSelects(given, new Map(Object.entries(o.labels)), new Map(Object.entries(o.annotations)))
            ? [`n${i}`]
            : []
        )
        if (read._tag === "Requires")
          same(
            indexed(all)
              .select(read.requirements)
              .map(({ name }) => name)
              .sort(),
            expected
          )
        else same([expected, read.message.includes("contradicts itself")], [[], true])
      }),
      runs(10_000)
    )
  })
})

describe("selection", () => {
  it("P11 never throws, whatever a selector is", () => {
    fc.assert(
      fc.property(anyJson, anyJson, anyJson, (matchLabels, matchExpressions, annotations) => {
        const { _tag } = selection({ matchLabels, matchExpressions, annotations })
        same(["Requires", "Wrong"].includes(_tag), true)
      }),
      runs(10_000)
    )
  })

  it.each([
    [{}],
    [null],
    [undefined],
    [{ matchLabels: null, matchExpressions: [], annotations: {} }],
    [{ matchLabels: { zone: null } }]
  ])("R168 requires nothing where it says nothing: %j", (given) => {
    expect(selection(given)).toEqual({ _tag: "Requires", requirements: [] })
    expect(indexed([{ labels: { zone: "a" } }]).select([])).toEqual([])
  })

  it.each([
    ["x", ""],
    [{ matchLabels: ["zone"] }, "matchLabels"],
    [{ matchLabels: { zone: 1 } }, "matchLabels[zone]"],
    [{ matchLabels: { zone: "a b" } }, "matchLabels[zone]"],
    [{ matchLabels: { "a b": "c" } }, "matchLabels[a b]"],
    [{ annotations: { note: true } }, "annotations[note]"],
    [{ matchExpressions: {} }, "matchExpressions"],
    [{ matchExpressions: ["zone"] }, "matchExpressions[0]"],
    [{ matchExpressions: [{ key: "zone", operator: "Gt", values: ["1"] }] }, "matchExpressions[0]"],
    [{ matchExpressions: [{ key: "zone", operator: "In" }] }, "matchExpressions[0]"],
    [{ matchExpressions: [{ key: "zone", operator: "Exists", values: ["a"] }] }, "matchExpressions[0]"],
    [{ matchExpressions: [{ key: "", operator: "Exists" }] }, "matchExpressions[0]"]
  ])("names the field that is wrong in %j", (given, field) => {
    expect(selection(given)).toMatchObject({ _tag: "Wrong", field })
  })

  it.each([
    [{ matchLabels: { zone: "a" }, matchExpressions: [{ key: "zone", operator: "NotIn", values: ["a"] }] }],
    [{ matchLabels: { zone: "a" }, matchExpressions: [{ key: "zone", operator: "DoesNotExist" }] }],
    [
      {
        matchExpressions: [
          { key: "zone", operator: "Exists" },
          { key: "zone", operator: "DoesNotExist" }
        ]
      }
    ]
  ])("tells that it contradicts itself: %j", (given) => {
    expect(selection(given)).toMatchObject({ _tag: "Wrong" })
  })

  it("takes a prefix with capital letters in annotations alone", () => {
    expect(selection({ annotations: { "Example.io/note": "x" } })._tag).toBe("Requires")
    expect(selection({ matchLabels: { "Example.io/note": "x" } })._tag).toBe("Wrong")
  })
})
