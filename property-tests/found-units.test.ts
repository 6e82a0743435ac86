/** Units that groups find on nodes: one for each combination of values. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { foundName } from "../src/core/found-units.ts"
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { sites } from "../src/core/sites.ts"
import { node, same } from "./given.ts"
import { runs } from "./runs.ts"
import { group, unit } from "./sited.ts"
import { labelText } from "./words.ts"

const isDnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

describe("foundName", () => {
  it("R166 is legal, and another one for other values", () => {
    const values = fc.array(labelText, { minLength: 2, maxLength: 2 })
    fc.assert(
      fc.property(values, values, (one, other) => {
        const [a, b] = [foundName(["a", "b"], one), foundName(["a", "b"], other)]
        same([isDnsLabel.test(a), a.length <= 63], [true, true])
        same(a === b, one.join(" ") === other.join(" "))
      }),
      runs(10_000)
    )
  })

  it("R166 tells apart where the values part", () => {
    expect(foundName(["a", "b"], ["x-y", "z"])).not.toBe(foundName(["a", "b"], ["x", "y-z"]))
  })

  it.each([
    [["bj"], "bj"],
    [["bj-1"], "bj-1"],
    [["bj", "p1"], "bj-p1"]
  ])("is SuperEdge's for %j", (values, name) => {
    expect(foundName(["city", "park"], values)).toBe(name)
  })
})

describe("autoFindNodeKeys", () => {
  const g = group("g", { autoFindNodeKeys: ["city", "park"] })
  const nodes = [
    node("n1", { city: "bj", park: "p1" }),
    node("n2", { city: "bj", park: "p1" }),
    node("n3", { city: "bj", park: "p2" }),
    node("n4", { city: "bj" }),
    node("n5", { city: "bj", park: "" })
  ]

  it("R165 wants a unit for each combination that nodes have", () => {
    expect(wanted([g], [], nodes)).toEqual([
      ["bj-p1", { city: "bj", park: "p1" }],
      ["bj-p2", { city: "bj", park: "p2" }]
    ])
    expect(sites({ units: [], groups: [g], nodes }).wanted[0]).toEqual({
      apiVersion: "site.superedge.io/v1alpha2",
      kind: "NodeUnit",
      metadata: {
        name: "bj-p1",
        ownerReferences: [
          {
            apiVersion: "site.superedge.io/v1alpha2",
            kind: "NodeGroup",
            name: "g",
            uid: "uid-of-g",
            controller: true,
            blockOwnerDeletion: true
          }
        ]
      },
      spec: { type: "edge", selector: { matchLabels: { city: "bj", park: "p1" } } }
    })
  })

  it("R165 makes them members of the group, and lets one go with its last node", () => {
    const units = [found("bj-p1", { city: "bj", park: "p1" }), found("bj-p2", { city: "bj", park: "p2" })]
    const all = sites({ units, groups: [g], nodes })
    expect(all.groups[0]).toMatchObject({ unitNumber: 2, nodeUnits: ["bj-p1", "bj-p2"] })
    expect(all.nodes.map(({ name, labels }) => [name, labels?.["g"]])).toEqual([
      ["n1", "bj-p1"],
      ["n2", "bj-p1"],
      ["n3", "bj-p2"]
    ])
    expect(wanted([g], units, nodes)).toEqual([])
    const less = nodes.filter(({ metadata }) => metadata.name !== "n3")
    expect(sites({ units, groups: [g], nodes: less }).unwanted.map(({ name }) => name)).toEqual(["bj-p2"])
  })

  it("R167 leaves a unit of that name alone that someone else made, and says so", () => {
    const hand = unit("bj-p1", { nodes: ["n9"] })
    const { refused, groups, unwanted } = sites({ units: [hand], groups: [g], nodes })
    expect(wanted([g], [hand], nodes).map(([name]) => name)).toEqual(["bj-p2"])
    expect(unwanted).toEqual([])
    expect(
      refused.map(({ group: of, reason, message }) => [of, reason, message.includes('"bj-p1"')])
    ).toEqual([["g", "FoundNameTaken", true]])
    expect(groups[0]?.nodeUnits).toEqual([])
  })

  it("has the unit of somebody else serve where the group names it", () => {
    const hand = unit("bj-p1", { nodes: ["n9"] })
    const both = group("g", { autoFindNodeKeys: ["city", "park"], nodeUnits: ["bj-p1"] })
    const { refused, groups, unwanted } = sites({ units: [hand], groups: [both], nodes })
    expect([refused, unwanted, groups[0]?.nodeUnits]).toEqual([[], [], ["bj-p1"]])
    expect(wanted([both], [hand], nodes).map(([name]) => name)).toEqual(["bj-p2"])
  })

  it("are the same in whatever order the keys stand", () => {
    const turned = group("g", { autoFindNodeKeys: ["park", "city", "park"] })
    expect(wanted([turned], [], nodes)).toEqual(wanted([g], [], nodes))
  })

  it("are only those whose controller is the group: others are collected with it, and stay till then", () => {
    const kept = unit(
      "kept",
      { nodes: ["n1"] },
      { ownerReferences: [{ kind: "NodeGroup", name: "g", uid: "uid-of-g" }] }
    )
    for (const each of [g, group("g", {})])
      expect(sites({ units: [kept], groups: [each], nodes }).unwanted).toEqual([])
  })

  it("stay while they name a node that is there", () => {
    const mine = (listed: readonly string[]) =>
      unit(
        "bj-p7",
        { selector: { matchLabels: { city: "bj", park: "p7" } }, nodes: listed },
        { ownerReferences: owner }
      )
    const gone = (listed: readonly string[]) =>
      sites({ units: [mine(listed)], groups: [g], nodes }).unwanted.map(({ name }) => name)
    expect([gone(["n4"]), gone(["n9"]), gone([])]).toEqual([[], ["bj-p7"], ["bj-p7"]])
  })

  it("stay where their group is deleted without its dependents", () => {
    const units = [found("bj-p1", { city: "bj", park: "p1" })]
    const going = (finalizers: readonly string[]) => {
      const { metadata, ...rest } = group("g", {}, { deleting: true })
      return sites({ units, groups: [{ ...rest, metadata: { ...metadata, finalizers } }], nodes }).unwanted
    }
    expect([going(["orphan"]).length, going(["foregroundDeletion"]).length]).toEqual([0, 1])
  })

  it("leaves the name of a group alone", () => {
    const same_ = group("bj-p2", {})
    expect(wanted([g, same_], [], nodes).map(([name]) => name)).toEqual(["bj-p1"])
  })

  it("R176 wants none of a group that is being deleted, and waits until they are gone", () => {
    const going = group("g", { autoFindNodeKeys: ["city", "park"] }, { deleting: true })
    const units = [found("bj-p1", { city: "bj", park: "p1" }), unit("hand", { nodes: ["n1"] })]
    const result = sites({ units, groups: [going], nodes })
    expect(result.unwanted.map(({ name }) => name)).toEqual(["bj-p1"])
    expect(result.released.groups).toEqual([])
    expect(sites({ units: units.slice(1), groups: [going], nodes }).released.groups).toEqual(["g"])
  })

  it("sets the selector of its own unit right, and leaves what people added", () => {
    const mine = found("bj-p1", { city: "sh", park: "p1" })
    expect(wanted([g], [mine], nodes)).toContainEqual(["bj-p1", { city: "bj", park: "p1" }])
    const more = found("bj-p1", { city: "bj", park: "p1", disk: "ssd" })
    expect(wanted([g], [more], nodes).map(([name]) => name)).toEqual(["bj-p2"])
  })

  it.each([[["a b"]], [[1]], ["city"], [[""]]])(
    "R167 refuses the keys %j, and keeps what was found before",
    (keys) => {
      const bad = group("g", { autoFindNodeKeys: keys })
      const { refused, unwanted } = sites({ units: [found("bj-p1", {})], groups: [bad], nodes })
      expect([refused.map(({ reason }) => reason), unwanted]).toEqual([["InvalidAutoKeys"], []])
    }
  )

  it("refuses the younger of two groups with the same keys, in whatever order", () => {
    const other = group("h", { autofindnodekeys: ["park", "city"] }, { born: 5 })
    const { refused, wanted: all } = sites({ units: [], groups: [other, g], nodes })
    expect(refused.map(({ group: of, reason }) => [of, reason])).toEqual([["h", "SameAutoKeys"]])
    expect(all.map(({ metadata }) => metadata.ownerReferences?.[0]?.name)).toEqual(["g", "g", undefined])
  })
})

const owner = [
  {
    apiVersion: "site.superedge.io/v1alpha2",
    kind: "NodeGroup",
    name: "g",
    uid: "uid-of-g",
    controller: true
  }
]

const found = (name: string, matchLabels: object): NodeUnit =>
  unit(name, { type: "edge", selector: { matchLabels } }, { ownerReferences: owner })

/** The units that are wanted, `unit-node-all` aside: name and labels. */
const wanted = (
  groups: readonly NodeGroup[],
  units: readonly NodeUnit[],
  nodes: Parameters<typeof sites>[0]["nodes"]
) =>
  sites({ units, groups, nodes })
    .wanted.filter(({ metadata }) => metadata.name !== "unit-node-all")
    .map(({ metadata, spec }) => [metadata.name, spec?.selector?.matchLabels])
