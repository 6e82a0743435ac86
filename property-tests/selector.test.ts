/** Label selectors, against labels that were made to be selected or not. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { LabelSelector } from "../src/core/kube.ts"
import { selects } from "../src/core/selector.ts"
import { frozen, RUNS, same } from "./given.ts"

const names = ["app", "tier", "constructor", "toString", "__proto__"]
const labelled = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom("", "a", "b")), {
  selector: ([name]) => name,
  minLength: 1,
  maxLength: 4
})

/** Requirements that hold for these labels. */
const holding = (labels: readonly (readonly [string, string])[]) => {
  const had = fc.constantFrom(...labels)
  const lacked = fc.constantFrom("missing", ...names.filter((name) => labels.every(([own]) => own !== name)))
  return fc.oneof(
    had.map(([key, value]) => ({ key, operator: "In", values: ["other", value] })),
    had.map(([key]) => ({ key, operator: "NotIn", values: ["other"] })),
    had.map(([key]) => ({ key, operator: "Exists" })),
    lacked.map((key) => ({ key, operator: "NotIn", values: ["a", "b", ""] })),
    lacked.map((key) => ({ key, operator: "DoesNotExist", values: null }))
  )
}

/** Requirements that don't hold for these labels. */
const failing = (labels: readonly (readonly [string, string])[]) => {
  const had = fc.constantFrom(...labels)
  const lacked = fc.constantFrom("missing", ...names.filter((name) => labels.every(([own]) => own !== name)))
  return fc.oneof(
    had.map(([key]) => ({ key, operator: "In", values: ["other"] })),
    had.map(([key, value]) => ({ key, operator: "NotIn", values: [value] })),
    had.map(([key]) => ({ key, operator: "DoesNotExist" })),
    had.map(([key]) => ({ key, operator: "Like", values: ["*"] })),
    lacked.map((key) => ({ key, operator: "In", values: ["a", "b", ""] })),
    lacked.map((key) => ({ key, operator: "Exists" }))
  )
}

const story = labelled.chain((labels) =>
  fc.record({
    labels: fc.constant(labels),
    part: fc.subarray(labels, { minLength: 1 }),
    holds: fc.array(holding(labels), { maxLength: 3 }),
    fails: failing(labels)
  })
)

describe("selects", () => {
  it("P14 selects labels of which each requirement holds", () => {
    fc.assert(
      fc.property(story, ({ labels, part, holds }) => {
        const selector = { matchLabels: Object.fromEntries(part), matchExpressions: holds }
        same(selects(frozen(selector), frozen(Object.fromEntries(labels))), true)
      }),
      RUNS
    )
  })

  it("selects nothing of which one requirement does not hold", () => {
    fc.assert(
      fc.property(story, fc.nat(3), ({ labels, holds, fails }, at) => {
        const matchExpressions = [...holds.slice(0, at), fails, ...holds.slice(at)]
        same(selects(frozen({ matchExpressions }), frozen(Object.fromEntries(labels))), false)
      }),
      RUNS
    )
  })

  it("selects nothing where one label has another value", () => {
    fc.assert(
      fc.property(story, ({ labels, part }) => {
        const [first, ...rest] = part.map(([name, value]) => [name, value] as const)
        const matchLabels = Object.fromEntries([[first?.[0] ?? "", `${first?.[1]}x`], ...rest])
        same(selects({ matchLabels }, Object.fromEntries(labels)), false)
      }),
      RUNS
    )
  })

  it.each<LabelSelector>([{}, { matchLabels: {} }, { matchLabels: null, matchExpressions: [] }])(
    "selects nothing without a requirement: %j",
    (selector) => {
      expect(selects(selector, { app: "web" })).toBe(false)
    }
  )

  it.each([
    { matchExpressions: "app" },
    { matchExpressions: { key: "app", operator: "Exists" } },
    { matchExpressions: [null] },
    { matchExpressions: [{ key: "app", operator: "In", values: 5 }] },
    { matchLabels: { app: null } },
    { matchLabels: "app" }
  ])("R205 selects nothing where the selector is no selector: %j", (selector) => {
    expect(selects(selector as unknown as LabelSelector, { app: "web" })).toBe(false)
  })
})
