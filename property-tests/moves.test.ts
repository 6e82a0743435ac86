/** How many nodes may leave their units at once, and what holds them back. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { mergePatch } from "../src/core/node-patch.ts"
import { heldRefusals, type Leaving, moves } from "../src/core/moves.ts"
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { site } from "../src/core/site.ts"
import { sites } from "../src/core/sites.ts"
import { same } from "./given.ts"
import { runs } from "./runs.ts"
import { edited, group, patched, type Seat, seat, shown, stored, unit } from "./sited.ts"

const CONFIRMED = "site.superedge.io/confirmed-generation"

const leaving = (name: string, nodes: readonly string[], confirmed = "", generation = 3): Leaving => ({
  site: site("NodeUnit", unit(name, {}, { generation, annotations: { [CONFIRMED]: confirmed } })),
  nodes
})

const numbered = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, i) => `n${from + i}`)

describe("moves", () => {
  it("holds all that nobody confirmed exactly where more nodes leave than may", () => {
    const count = fc.nat(8)
    fc.assert(
      fc.property(count, count, count, fc.nat(40), fc.nat(100), (open, also, sure, more, percent) => {
        const placed = open + also + sure + more
        const all = [
          leaving("u1", numbered(0, open)),
          leaving("u2", numbered(open, open + also)),
          leaving("u3", numbered(50, 50 + sure), "3")
        ]
        const limit = Math.max(1, Math.floor((placed * percent) / 100))
        const found = moves(all, placed, percent / 100)
        const expected = open + also > limit ? all.slice(0, 2).filter(({ nodes }) => nodes.length > 0) : []
        same(
          [found.nodes, found.held.map(({ site: { name } }) => name)],
          [open + also, expected.map(({ site: { name } }) => name)]
        )
      }),
      runs(10_000)
    )
  })

  it("counts a node once, however many units it leaves", () => {
    expect(moves([leaving("u1", ["n1"]), leaving("u2", ["n1"])], 2, 0.2)).toMatchObject({
      nodes: 1,
      held: []
    })
  })

  it("always lets one node go", () => {
    expect(moves([leaving("u1", ["n1"])], 1, 0)).toMatchObject({ limit: 1, held: [] })
  })

  it.each(["2", "", "true", "03"])("takes %j for no confirmation of generation 3", (confirmed) => {
    expect(moves([leaving("u1", ["n1", "n2"], confirmed)], 2, 0.2).held).toHaveLength(1)
  })

  it("tells how many, which, and how to confirm", () => {
    expect(heldRefusals(moves([leaving("u1", ["n1", "n2"])], 6, 0.2)).map(({ message }) => message)).toEqual([
      'NodeUnit u1: spec: 2 of 6 nodes would leave their units at once, 2 of them by this edit (n1, n2), and at most 1 may; they stay until you undo it, or set the annotation site.superedge.io/confirmed-generation: "3" on the NodeUnit'
    ])
  })
})

describe("sites", () => {
  const all = ["n1", "n2", "n3"]
  const g = group("g", { nodeUnits: ["u1", "u2"] })
  const u1 = (nodes: readonly string[], more: object = {}) =>
    unit("u1", { nodes, setNode: { labels: { x: "1" } } }, more)

  it("keeps nodes of an edit that is held, and says so", () => {
    const before = settled([u1(all)], [g])
    const held = guarded(before, [u1([])], [g])
    expect(held.nodes).toEqual([])
    expect(held.units[0]).toMatchObject({ readyRate: "3/3" })
    expect(held.units[0]?.conditions?.[1]).toMatchObject({ status: "True", reason: "TooManyNodesLeave" })
  })

  it("lets them go once the generation is confirmed", () => {
    const confirmed = u1([], { generation: 2, annotations: { [CONFIRMED]: "2" } })
    expect(guarded(settled([u1(all)], [g]), [confirmed], [g]).nodes).toHaveLength(3)
    const older = u1([], { generation: 3, annotations: { [CONFIRMED]: "2" } })
    expect(guarded(settled([u1(all)], [g]), [older], [g]).nodes).toEqual([])
  })

  it("R157 lets one node go", () => {
    expect(guarded(settled([u1(all)], [g]), [u1(["n1", "n2"])], [g]).nodes.map(({ name }) => name)).toEqual([
      "n3"
    ])
  })

  it("R158 holds no deletion", () => {
    expect(guarded(settled([u1(all)], [g]), [u1(all, { deleting: true })], [g]).nodes).toHaveLength(3)
    const going = group("g", { nodeUnits: ["u1"] }, { deleting: true })
    expect(guarded(settled([u1(all)], [g]), [u1(all)], [going]).nodes).toHaveLength(3)
  })

  it("holds a group that lets go of a unit", () => {
    const less = group("g", { nodeUnits: ["u2"] })
    const held = guarded(settled([u1(all)], [g]), [u1(all)], [less])
    expect(held.nodes).toEqual([])
    expect(held.groups[0]).toMatchObject({ nodeUnits: ["u1"] })
    const confirmed = group("g", { nodeUnits: ["u2"] }, { annotations: { [CONFIRMED]: "1" } })
    expect(guarded(settled([u1(all)], [g]), [u1(all)], [confirmed]).nodes).toHaveLength(3)
  })

  it("holds a unit and its group together", () => {
    const held = guarded(settled([u1(all)], [g]), [u1([])], [group("g", {})])
    expect(held.nodes).toEqual([])
  })

  it("holds the keys of a group that would lose the units it found", () => {
    const by = (key: string, annotations = {}) => group("g", { autoFindNodeKeys: [key] }, { annotations })
    const owner = [{ kind: "NodeGroup", name: "g", uid: "uid-of-g", controller: true }]
    const found = unit("a", { selector: { matchLabels: { zone: "a" } } }, { ownerReferences: owner })
    const before = settled([found], [by("zone")])
    expect(guarded(before, [found], [by("zone")]).unwanted).toEqual([])
    expect(guarded(before, [found], [by("park")])).toMatchObject({ nodes: [], unwanted: [] })
    const confirmed = guarded(before, [found], [by("park", { [CONFIRMED]: "1" })])
    expect(confirmed.unwanted).toEqual([{ name: "a", uid: "uid-of-a", resourceVersion: "7" }])
  })

  it("keeps a found unit whose nodes all lose the label at once", () => {
    const finding = group("g", { autoFindNodeKeys: ["zone"] })
    const owner = [{ kind: "NodeGroup", name: "g", uid: "uid-of-g", controller: true }]
    const found = unit("a", { selector: { matchLabels: { zone: "a" } } }, { ownerReferences: owner })
    const bare = settled([found], [finding]).map((node) => edited(node, { labels: { zone: null } }))
    expect(guarded(bare, [found], [finding])).toMatchObject({ nodes: [], unwanted: [] })
  })

  it("keeps no found unit whose group is being deleted", () => {
    const finding = (deleting: boolean) => group("g", { autoFindNodeKeys: ["zone"] }, { deleting })
    const owner = [{ kind: "NodeGroup", name: "g", uid: "uid-of-g", controller: true }]
    const found = unit("a", { selector: { matchLabels: { zone: "a" } } }, { ownerReferences: owner })
    const bare = settled([found], [finding(false)]).map((node) => edited(node, { labels: { zone: null } }))
    expect(guarded(bare, [found], [finding(true)]).unwanted.map(({ name }) => name)).toEqual(["a"])
  })

  it("holds nodes whose mark is someone else's, too: what else the unit gave is ours", () => {
    const tainting = (nodes: readonly string[]) =>
      unit("u1", { nodes, setNode: { taints: [{ key: "t", effect: "NoSchedule" }] } })
    const marked = all.map((name) => seat(name, { labels: { u1: "nodeunits.superedge.io" } }))
    const patches = new Map(
      sites({ units: [tainting(all)], groups: [], nodes: marked.map(stored) }).nodes.map((each) => [
        each.name,
        each
      ])
    )
    const before = marked.map((node) => {
      const patch = patches.get(node.name)
      return patch === undefined ? node : patched(node, mergePatch(patch))
    })
    expect(guarded(before, [tainting(all)], []).nodes).toEqual([])
    expect(guarded(before, [tainting([])], []).nodes).toEqual([])
  })

  it("counts nodes that units gave anything, though others took their marks over", () => {
    const [one, other] = [unit("u1", { nodes: ["n1"], unschedulable: true }), unit("u2", { nodes: ["n2"] })]
    const before = settled([one, other], []).map((node) =>
      node.name === "n1" ? edited(node, { labels: { u1: "a" } }) : node
    )
    const { nodes, moves: all } = sites({
      units: [unit("u1"), unit("u2")],
      groups: [],
      nodes: before.map(stored)
    })
    expect([all.held, all.placed, nodes.map(({ name }) => name)]).toEqual([[], 2, ["n1", "n2"]])
  })

  it("holds nothing where no share is said", () => {
    const found = unit(
      "a",
      { selector: { matchLabels: { park: "a" } } },
      { ownerReferences: [{ uid: "uid-of-g", controller: true }] }
    )
    const nodes = ["n1", "n2"].map((name) => stored(seat(name, { labels: { park: "a" } })))
    const { unwanted, moves: none } = sites({ units: [found], groups: [group("g", {})], nodes })
    expect([unwanted.map(({ name }) => name), none.held]).toEqual([["a"], []])
  })

  it("gives joining nodes what they get, whoever is held", () => {
    const before = settled([u1(all)], [g])
    const held = guarded([...before, seat("n4")], [u1(["n4"])], [g])
    expect(held.nodes).toMatchObject([
      { name: "n4", labels: { u1: "nodeunits.superedge.io", g: "u1", x: "1" } }
    ])
  })

  it.each([
    [{ selector: { matchLabels: { zone: 1 } } }, "InvalidSelector"],
    [
      {
        selector: {
          matchLabels: { zone: "a" },
          matchExpressions: [{ key: "zone", operator: "DoesNotExist" }]
        }
      },
      "InvalidSelector"
    ],
    [{ nodes: "n1" }, "InvalidNames"],
    ["nothing", "InvalidSpec"]
  ])("keeps all nodes of a unit that can't be read: %j", (spec, reason) => {
    const bad = unit("u1", spec as object)
    const before = settled([unit("u1", { nodes: all })], [g])
    const result = sites({ units: [bad], groups: [g], nodes: before.map(stored) })
    expect(result.nodes).toEqual([])
    expect(result.units[0]).toMatchObject({ readyRate: "3/3" })
    expect(result.refused.filter(({ unit: of }) => of === "u1").map((each) => each.reason)).toEqual([reason])
  })

  it("keeps all units of a group that can't be read", () => {
    const before = settled([u1(all)], [g])
    const result = sites({
      units: [u1(all)],
      groups: [group("g", { selector: [] })],
      nodes: before.map(stored)
    })
    expect(result.nodes).toEqual([])
    expect(result.groups[0]).toMatchObject({ nodeUnits: ["u1"] })
  })
})

const settled = (units: readonly NodeUnit[], groups: readonly NodeGroup[]): readonly Seat[] => {
  const before = ["n1", "n2", "n3"].map((name) => seat(name, { labels: { zone: "a" } }))
  const patches = sites({ units, groups, nodes: before.map(stored) }).nodes
  const after = before.map((node) => {
    const patch = patches.find(({ name }) => name === node.name)
    return patch === undefined ? node : patched(node, mergePatch(patch))
  })
  expect(after.map(shown)).not.toEqual(before.map(shown))
  return after
}

const guarded = (nodes: readonly Seat[], units: readonly NodeUnit[], groups: readonly NodeGroup[]) =>
  sites({ units, groups, nodes: nodes.map(stored), maxNodesChanged: 0.2 })
