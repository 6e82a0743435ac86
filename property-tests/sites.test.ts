/** Sites: what nodes carry because of units and groups, and that nothing of anyone else is ever touched. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { mergePatch, type NodePatch } from "../src/core/node-patch.ts"
import type { NodeUnit } from "../src/core/site.ts"
import { sites, type Sites } from "../src/core/sites.ts"
import { frozen, same } from "./given.ts"
import { naiveMember, naiveNode } from "./naive-sites.ts"
import { runs } from "./runs.ts"
import { anEdit, NODES, type Said, said, seats, someUnit } from "./site-words.ts"
import { edited, group, patched, type Seat, seat, shown, stored, unit } from "./sited.ts"
import { poisoned } from "./words.ts"

const RUNS = runs(10_000)
/** For what is judged by one pass alone, or by the other properties besides. */
const FEWER = runs(2000)
/** For what takes five passes a run. */
const FIVE_PASSES = runs(5000)
const GIVEN = "site.superedge.io/given"

describe("sites", () => {
  it("P1 gives nodes what a naive pass over all units and groups gives them, and then wants nothing", () => {
    fc.assert(
      fc.property(seats, stories, (before, story) => {
        let now = before
        for (const { edits, ...says } of story) {
          now = disturbed(now, edits)
          const expected = now.map((node) => naiveNode(node, says.units, says.groups))
          now = written(now, pass(now, says))
          same(now.map(withoutGiven), expected)
          same(pass(now, says).nodes, [])
        }
      }),
      RUNS
    )
  })

  it("P3 leaves every node as it was where a unit came and went, whatever others changed meanwhile", () => {
    fc.assert(
      fc.property(seats, said, someUnit, fc.array(anEdit, { maxLength: 4 }), (before, base, more, edits) => {
        const cordons = (more.spec as { readonly unschedulable?: boolean }).unschedulable === true
        // To cordon what a unit cordoned already leaves no trace on a node.
        const kept = edits.filter(({ edit }) => edit.unschedulable !== true || !cordons)
        const settled = written(before, pass(before, base))
        const without = disturbed(settled, kept)
        const added = { ...base, units: [...base.units, more] }
        const during = disturbed(written(settled, pass(settled, added)), kept)
        const then = written(during, pass(during, added))
        const after = written(then, pass(then, base))
        same(after.map(shown), written(without, pass(without, base)).map(shown))
      }),
      FIVE_PASSES
    )
  })

  it("does not depend on the order of units, groups, nodes and keys", () => {
    fc.assert(
      fc.property(seats, said, fc.nat(), (before, { units, groups }, turn) => {
        const nodes = before.map(stored)
        const one = sites({ units, groups, nodes })
        const other = sites({
          units: turned(units, turn),
          groups: turned(groups, turn),
          nodes: turned(nodes.map(reversed), turn)
        })
        same({ ...other, units: turned(one.units, turn), groups: turned(one.groups, turn) }, other)
        same(other.nodes, one.nodes)
        same(other.refused, one.refused)
        same(other.notices, one.notices)
      }),
      RUNS
    )
  })

  it("R177 counts members by whether they are ready, sorted", () => {
    fc.assert(
      fc.property(seats, said, (before, says) => {
        const { units } = pass(before, says)
        for (const [i, each] of says.units.entries()) {
          const members = before.filter((node) => naiveMember(each, node))
          const ready = members.filter((node) => node.ready).map(({ name }) => name)
          const shownUnit = units[i]
          same(shownUnit?.readyNodes, ready)
          same(
            shownUnit?.notReadyNodes,
            members.map(({ name }) => name).filter((name) => !ready.includes(name))
          )
          same(shownUnit?.readyRate, `${ready.length}/${members.length}`)
        }
      }),
      FEWER
    )
  })

  it("releases a unit that is being deleted exactly where no node has anything of it", () => {
    fc.assert(
      fc.property(seats, said, (before, says) => {
        const alive = { ...says, units: says.units.map(living) }
        const settled = written(before, pass(before, alive))
        const going = { ...says, units: says.units.map(dying) }
        const first = pass(settled, going)
        const clean = written(settled, first)
        same(pass(clean, going).released.units, going.units.map(({ metadata }) => metadata.name).sort())
        for (const each of going.units)
          if (
            settled.some(
              (node) => node.labels.get(each.metadata.name)?.owners.includes("servicegroup") === true
            )
          )
            same(first.released.units.includes(each.metadata.name), false)
      }),
      FEWER
    )
  })

  it("P11 gives all other nodes the same where one node is malformed", () => {
    const victim = stored(seat("n1", { labels: { zone: "a", x: "1" } }))
    fc.assert(
      fc.property(seats, said, poisoned(victim), (before, says, poison) => {
        const others = before.slice(1).map(stored)
        const with_ = sites({ ...says, nodes: [...others, poison] }).nodes
        const names = new Set(others.map(({ metadata }) => metadata.name))
        same(
          with_.filter(({ name }) => names.has(name)),
          sites({ ...says, nodes: others }).nodes
        )
      }),
      FEWER
    )
  })

  it("P11 gives nodes the same where a unit that does not hold them is malformed", () => {
    const victim = unit("victim", {
      nodes: ["n9"],
      selector: {
        matchLabels: { zone: "v" },
        matchExpressions: [{ key: "v", operator: "In", values: ["v"] }]
      },
      setNode: { labels: { v: "1" }, annotations: { v: "1" }, taints: [{ key: "v", effect: "NoExecute" }] },
      unschedulable: true
    })
    fc.assert(
      fc.property(seats, said, poisoned(victim), (before, { units, groups }, poison) => {
        // Under another name it is a label that others may give.
        fc.pre(!JSON.stringify(poison).includes('"name":"x"'))
        const nodes = before.map(stored)
        same(sites({ units: [...units, poison], groups, nodes }).nodes, sites({ units, groups, nodes }).nodes)
      }),
      FEWER
    )
  })

  it("P11 never throws for a malformed group", () => {
    const victim = group("victim", {
      nodeUnits: ["u1"],
      selector: { matchLabels: { tier: "a" } },
      autoFindNodeKeys: ["zone"],
      workload: [{ name: "w" }]
    })
    fc.assert(
      fc.property(seats, said, poisoned(victim), (before, { units, groups }, poison) => {
        const { nodes } = sites({ units, groups: [...groups, poison], nodes: before.map(stored) })
        same(nodes.length <= NODES.length, true)
      }),
      FEWER
    )
  })

  it("takes null as absent", () => {
    const bare = frozen({
      metadata: { name: "n1", labels: null, annotations: null, managedFields: null },
      spec: null,
      status: null
    })
    const empty = frozen({
      metadata: { name: "u1", labels: null },
      spec: { nodes: ["n1"], selector: null, setNode: null, setnode: null }
    })
    const result = sites({
      units: [empty],
      groups: [frozen({ metadata: { name: "g" }, spec: null })],
      nodes: [bare]
    })
    expect(result.nodes).toMatchObject([
      { name: "n1", uid: "", resourceVersion: "", labels: { u1: "nodeunits.superedge.io" } }
    ])
    expect(result.refused).toEqual([])
  })
})

const stories = fc.array(
  fc.tuple(said, fc.array(anEdit, { maxLength: 3 })).map(([says, edits]) => ({ ...says, edits })),
  { minLength: 1, maxLength: 2 }
)

const pass = (now: readonly Seat[], { units, groups }: Said): Sites =>
  sites({ units, groups, nodes: now.map(stored) })

const written = (
  now: readonly Seat[],
  { nodes }: { readonly nodes: readonly NodePatch[] }
): readonly Seat[] => {
  const patches = new Map(nodes.map((patch) => [patch.name, patch]))
  return now.map((node) => {
    const patch = patches.get(node.name)
    return patch === undefined ? node : patched(node, mergePatch(patch))
  })
}

const disturbed = (
  now: readonly Seat[],
  edits: readonly { readonly at: number; readonly edit: Parameters<typeof edited>[1] }[]
): readonly Seat[] =>
  now.map((node, i) =>
    edits.filter(({ at }) => at === i).reduce((seen, { edit }) => edited(seen, edit), node)
  )

const withoutGiven = (node: Seat) => {
  const all = shown(node)
  return {
    ...all,
    annotations: Object.fromEntries(Object.entries(all.annotations).filter(([key]) => key !== GIVEN))
  }
}

const turned = <A>(list: readonly A[], by: number): readonly A[] => {
  const at = list.length === 0 ? 0 : by % list.length
  const moved = [...list.slice(at), ...list.slice(0, at)]
  return by % 2 === 0 ? moved : moved.reverse()
}

/** The same object with its keys the other way round. */
const reversed = <A>(value: A): A => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value as A
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reversed(part as unknown)])
  ) as A
}

const living = (each: NodeUnit): NodeUnit => ({
  ...each,
  metadata: { ...each.metadata, deletionTimestamp: null }
})

const dying = (each: NodeUnit): NodeUnit => ({
  ...each,
  metadata: { ...each.metadata, deletionTimestamp: "2026-02-01T00:00:00Z" }
})
