/** Nodes to units: what counts is which values there are, nothing else about the nodes. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { unitOf, unitsOf } from "../src/core/units.ts"
import { frozen, node, RUNS, same } from "./given.ts"
import { labelKey, someUnits } from "./words.ts"

describe("unitOf", () => {
  it("is the value of the label", () => {
    expect(unitOf("zone", node("n1", { zone: "a", park: "b" }).metadata.labels)).toBe("a")
  })

  it.each([
    ["no labels", null],
    ["no such label", { park: "b" }],
    ["an empty value", { zone: "" }],
    ["null", { zone: null }],
    ["a number", { zone: 1 }]
  ])("is undefined for %s", (_, labels) => {
    expect(unitOf("zone", node("n1", labels).metadata.labels)).toBeUndefined()
  })

  it.each(["constructor", "toString", "__proto__"])("does not find %s where no label says it", (key) => {
    expect(unitOf(key, node("n1", { zone: "a" }).metadata.labels)).toBeUndefined()
  })

  it("reads a label called constructor", () => {
    expect(unitOf("constructor", node("n1", { constructor: "a" }).metadata.labels)).toBe("a")
  })
})

describe("unitsOf", () => {
  it("P14 gives each value once, in the order of code units, whatever the order of the nodes", () => {
    fc.assert(
      fc.property(
        labelKey,
        someUnits(),
        fc.array(fc.nat(9), { maxLength: 8 }),
        fc.nat(),
        (key, units, more, seed) => {
          const values = [...units, ...more.flatMap((i) => units[i] ?? [])]
          const members = values.map((unit, i) => node(`n${i}`, { [key]: unit, other: "x" }))
          const nodes = frozen(shuffled([...members, ...bystanders(key)], seed))
          same(unitsOf(key, nodes), units)
        }
      ),
      RUNS
    )
  })

  it("R5 makes one unit of 50 nodes, and the same of 51", () => {
    const nodes = Array.from({ length: 51 }, (_, i) => node(`n${i}`, { zone: "a" }))
    expect(unitsOf("zone", nodes.slice(0, 50))).toEqual(["a"])
    expect(unitsOf("zone", nodes)).toEqual(["a"])
  })

  it.each([
    ["not ready", { status: { conditions: [{ type: "Ready", status: "False" }] } }],
    ["tainted", { spec: { taints: [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }] } }],
    ["cordoned", { spec: { unschedulable: true } }]
  ])("R49 counts a node that is %s", (_, more) => {
    expect(unitsOf("zone", [node("n1", { zone: "b" }, more)])).toEqual(["b"])
  })

  it("R6 takes Zone_A as it is", () => {
    expect(unitsOf("zone", [node("n1", { zone: "b" }), node("n2", { zone: "Zone_A" })])).toEqual([
      "Zone_A",
      "b"
    ])
  })

  it("is empty without nodes", () => {
    expect(unitsOf("zone", [])).toEqual([])
  })
})

/** Nodes that belong to no unit of the key. */
const bystanders = (key: string) => [
  node("none", null),
  node("empty", { [key]: "" }),
  node("null", { [key]: null }),
  node("other", { [`${key}x`]: "elsewhere" })
]

const shuffled = <A>(list: readonly A[], seed: number): readonly A[] =>
  list
    .map((each, i) => ({ each, at: Math.imul(i + 1, seed * 2 + 1) % 1009 }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each)
