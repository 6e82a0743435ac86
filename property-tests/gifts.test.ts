/** What a unit gives, and which of its entries are refused by name. */
import { describe, expect, it } from "vitest"
import { gifts, type Gifts } from "../src/core/gifts.ts"
import { names, site } from "../src/core/site.ts"
import { group, unit } from "./sited.ts"

/** What unit u1 gives, beside unit u2 and group g. */
const given = (spec: object): Gifts => {
  const u1 = site("NodeUnit", unit("u1", spec))
  return gifts(u1, names([u1, site("NodeUnit", unit("u2")), site("NodeGroup", group("g"))]).holders)
}

const refused = (spec: object) => given(spec).refused.map(({ reason, path }) => [reason, path])
const values = (map: Gifts["labels"]) => Object.fromEntries([...map].map(([key, { value }]) => [key, value]))

describe("gifts", () => {
  it("are what setNode says, in either spelling", () => {
    const old = { labels: { a: "1", b: "1" }, taints: [{ key: "t", effect: "NoSchedule" }] }
    const all = given({
      setnode: old,
      setNode: { labels: { b: "2", c: "3" }, annotations: { "Example.io/x": "any text" } },
      taints: [{ key: "s", value: "1", effect: "NoExecute" }],
      unschedulable: true
    })
    expect(values(all.labels)).toEqual({ a: "1", b: "2", c: "3" })
    expect(all.labels.get("a")?.path).toBe("spec.setnode.labels[a]")
    expect(values(all.annotations)).toEqual({ "Example.io/x": "any text" })
    expect([...all.taints].map(([id, { path }]) => [id, path])).toEqual([
      ["t:NoSchedule", "spec.setnode.taints[0]"],
      ["s:NoExecute", "spec.taints[0]"]
    ])
    expect([all.cordons, all.refused]).toEqual([true, []])
  })

  it("are none where nothing is said", () => {
    for (const spec of [
      {},
      { setNode: null },
      { setNode: { labels: null, taints: null, annotations: { x: null } } }
    ]) {
      const { labels, annotations, taints, cordons, refused: bad } = given(spec)
      expect([labels.size, annotations.size, taints.size, cordons, bad]).toEqual([0, 0, 0, false, []])
    }
  })

  it.each([
    ["a b", "1", "InvalidLabel"],
    ["x", "a b", "InvalidLabel"],
    ["x", "v".repeat(64), "InvalidLabel"],
    ["x", 1, "InvalidLabel"],
    ["u2", "nodeunits.superedge.io", "ReservedLabel"],
    ["u1", "mine", "ReservedLabel"],
    ["g", "other", "ReservedLabel"]
  ])("are without the label %j: %j", (key, value, reason) => {
    const spec = { setNode: { labels: { [key]: value, good: "1" } } }
    expect(refused(spec)).toEqual([[reason, `spec.setNode.labels[${key}]`]])
    expect(values(given(spec).labels)).toEqual({ good: "1" })
    expect([...given(spec).spared.labels]).toEqual([key])
  })

  it("are without the unit's mark and its group's label, which are told of nobody", () => {
    const all = given({ setNode: { labels: { u1: "nodeunits.superedge.io", g: "u1" } } })
    expect([all.labels.size, all.refused]).toEqual([0, []])
    expect(all.notices.map(({ path }) => path)).toEqual(["spec.setNode.labels[g]"])
  })

  it.each([
    ["site.superedge.io/given", "{}", "ReservedAnnotation"],
    ["a b", "1", "InvalidAnnotation"],
    ["x", 1, "InvalidAnnotation"],
    ["x", "v".repeat(65_537), "InvalidAnnotation"]
  ])("are without the annotation %j", (key, value, reason) => {
    expect(refused({ setNode: { annotations: { [key]: value, good: "1" } } })).toEqual([
      [reason, `spec.setNode.annotations[${key}]`]
    ])
  })

  it.each([
    [{ key: "t", effect: "NoShedule" }],
    [{ key: "t" }],
    [{ key: "a b", effect: "NoSchedule" }],
    [{ key: "t", value: "a b", effect: "NoSchedule" }],
    [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }],
    [{ key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" }],
    ["t"],
    [null]
  ])("are without the taint %j", (bad) => {
    const spec = { setNode: { taints: [bad, { key: "good", effect: "NoSchedule" }] } }
    expect(refused(spec)).toEqual([["InvalidTaint", "spec.setNode.taints[0]"]])
    expect([...given(spec).taints.keys()]).toEqual(["good:NoSchedule"])
  })

  it("have each taint once: of two values the first stands", () => {
    const taints = ["1", "2"].map((value) => ({ key: "t", value, effect: "NoSchedule" }))
    expect(refused({ setNode: { taints } })).toEqual([["InvalidTaint", "spec.setNode.taints[1]"]])
    expect(given({ setNode: { taints } }).taints.get("t:NoSchedule")?.taint.value).toBe("1")
  })

  it("tell what is no map and no list", () => {
    expect(refused({ setNode: { labels: ["x"], annotations: "x", taints: {} } })).toEqual([
      ["InvalidSetNode", "spec.setNode.labels"],
      ["InvalidSetNode", "spec.setNode.annotations"],
      ["InvalidSetNode", "spec.setNode.taints"]
    ])
  })
})
