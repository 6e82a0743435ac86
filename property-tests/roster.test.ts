/** Who is where: every node under its units, and everything that it carries because of us explained by who gives it. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Carried } from "../src/core/carried.ts"
import { mergePatch } from "../src/core/node-patch.ts"
import { type Roster, roster, type RosterNode } from "../src/core/roster.ts"
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { sites } from "../src/core/sites.ts"
import { same } from "./given.ts"
import { naiveHolds, naiveMember } from "./naive-sites.ts"
import { runs } from "./runs.ts"
import { MARK, settled } from "./site-world.ts"
import { anEdit, type Said, said, seats, someUnit } from "./site-words.ts"
import { edited, group, patched, type Seat, seat, shown, stored, unit, US } from "./sited.ts"
import { poisoned } from "./words.ts"

const RUNS = runs(10_000)
const FEWER = runs(1000)
const NOTE = "site.superedge.io/given"

describe("roster", () => {
  it("lists every node exactly under the units whose member it is", () => {
    fc.assert(
      fc.property(scenes, ({ now, says }) => {
        const found = view(now, says)
        for (const each of says.units)
          same(
            found.units.find(({ name }) => name === each.metadata.name)?.nodes,
            now.filter((node) => naiveMember(each, node)).map(({ name }) => name)
          )
        const unitsOf = (node: Seat) =>
          says.units.filter((each) => naiveMember(each, node)).map(({ metadata }) => metadata.name)
        same(
          found.nodes.map(({ name, units }) => [name, units]),
          now.map((node) => [node.name, unitsOf(node).sort()])
        )
        same(
          found.nodesInNoUnit,
          now.filter((node) => unitsOf(node).length === 0).map(({ name }) => name)
        )
      }),
      RUNS
    )
  })

  it("lists every unit exactly under the groups that hold it, with the nodes counted once", () => {
    fc.assert(
      fc.property(scenes, ({ now, says: { units, groups } }) => {
        const found = view(now, { units, groups })
        const alive = units.filter(({ metadata }) => typeof metadata.deletionTimestamp !== "string")
        const expected = groups.map((each) => {
          const held = alive.filter((one) => naiveHolds(each, one))
          const nodes = now.filter((node) => held.some((one) => naiveMember(one, node)))
          const names = held.map(({ metadata }) => metadata.name).sort()
          return [each.metadata.name, names, nodes.length, nodes.filter(({ ready }) => ready).length] as const
        })
        same(
          found.groups.map(({ name, units: held, nodes, readyNodes }) => [name, held, nodes, readyNodes]),
          expected
        )
        for (const { name, groups: holding } of found.units)
          same(
            holding,
            expected.filter(([, names]) => names.includes(name)).map(([each]) => each)
          )
        same(
          found.unitsInNoGroup,
          found.units
            .filter(({ name }) => !expected.some(([, names]) => names.includes(name)))
            .map(({ name }) => name)
        )
      }),
      FEWER
    )
  })

  it("explains all that is ours on a settled node by those who give it", () => {
    fc.assert(
      fc.property(scenes, ({ now, says }) => {
        const still = written(now, says)
        const { nodes } = view(still, says)
        for (const [i, node] of still.entries()) {
          const given = (nodes[i]?.carries ?? []).filter(({ state }) => state === "Given")
          same(given.map(wordOf).sort(), oursOn(node).sort())
          for (const each of given) judgeGivers(each, node, says)
          same(nodes[i]?.changing, false)
        }
      }),
      RUNS
    )
  })

  it("says what comes and goes exactly as the next pass writes it", () => {
    fc.assert(
      fc.property(scenes, ({ now, says }) => {
        const { nodes } = view(now, says)
        const then = written(now, says)
        for (const [i, node] of now.entries()) {
          const carries = nodes[i]?.carries ?? []
          const [before, after] = [wordsOn(node), wordsOn(then[i] ?? node)]
          const of = (state: Carried["state"]) =>
            carries
              .filter((each) => each.state === state)
              .map(wordOf)
              .sort()
          same(of("Coming"), after.filter((word) => !before.includes(word)).sort())
          const replaced = carries.flatMap((each) =>
            each.state === "Coming" && each.there !== undefined
              ? [wordOf({ ...each, value: each.there })]
              : []
          )
          same([...of("Going"), ...replaced].sort(), before.filter((word) => !after.includes(word)).sort())
        }
      }),
      FEWER
    )
  })

  it("says of what is refused which value stands, and of what is shared that someone else says it, too", () => {
    fc.assert(
      fc.property(scenes, ({ now, says }) => {
        const { nodes } = view(now, says)
        const then = written(now, says)
        for (const [i, node] of then.entries()) {
          const after = wordsOn(node)
          for (const each of nodes[i]?.carries ?? []) {
            if (each.state === "Refused")
              same(
                [after.includes(wordOf({ ...each, value: each.there ?? "" })), after.includes(wordOf(each))],
                [true, false]
              )
            if (each.state === "Shared")
              same([after.includes(wordOf(each)), oursOn(node).includes(wordOf(each))], [true, false])
          }
        }
      }),
      FEWER
    )
  })

  it("does not depend on the order of units, groups and nodes", () => {
    fc.assert(
      fc.property(scenes, ({ now, says: { units, groups } }) => {
        const turned = { units: units.toReversed(), groups: groups.toReversed() }
        same(view(now.toReversed(), turned), view(now, { units, groups }))
      }),
      FEWER
    )
  })

  it("P11 never throws on a malformed unit, group or node", () => {
    const bad = fc.tuple(
      poisoned(
        unit("u9", {
          nodes: ["n1"],
          selector: { matchLabels: { zone: "a" } },
          setNode: { labels: { x: "1" } }
        })
      ),
      poisoned(group("g9", { nodeUnits: ["u9"], autoFindNodeKeys: ["zone"] })),
      poisoned(stored(seat("n9", { labels: { zone: "a" }, taints: [{ key: "t", effect: "NoSchedule" }] })))
    )
    fc.assert(
      fc.property(scenes, bad, ({ now, says: { units, groups } }, [oddUnit, oddGroup, oddNode]) => {
        const found = roster({
          units: [...units, oddUnit],
          groups: [...groups, oddGroup],
          nodes: [...now.map(stored), oddNode]
        })
        same([found.units.length, found.groups.length], [units.length + 1, groups.length + 1])
      }),
      FEWER
    )
  })
})

describe("what a node carries", () => {
  const u1 = unit("u1", { nodes: ["n1"], setNode: { labels: { x: "1" } } }, { born: 1 })

  it("names the field that says it", () => {
    const both = unit("u2", { nodes: ["n1"], setnode: { labels: { x: "1" } } }, { born: 2 })
    const world = settled([u1, both], [group("g", { nodeUnits: ["u1"] })], { n1: {} })
    const { carries } = at(
      roster({ units: [u1, both], groups: [group("g", { nodeUnits: ["u1"] })], nodes: world.nodes() })
    )
    expect(carries).toEqual([
      { kind: "Label", key: "g", value: "u1", state: "Given", from: [{ group: "g", path: "metadata.name" }] },
      {
        kind: "Label",
        key: "u1",
        value: MARK,
        state: "Given",
        from: [{ unit: "u1", path: "metadata.name" }]
      },
      {
        kind: "Label",
        key: "u2",
        value: MARK,
        state: "Given",
        from: [{ unit: "u2", path: "metadata.name" }]
      },
      {
        kind: "Label",
        key: "x",
        value: "1",
        state: "Given",
        from: [
          { unit: "u1", path: "spec.setNode.labels[x]" },
          { unit: "u2", path: "spec.setnode.labels[x]" }
        ]
      }
    ])
  })

  it("is kept where its entry is refused, and the field is named", () => {
    const world = settled([u1], [], { n1: {} })
    const wrong = unit("u1", { nodes: ["n1"], setNode: { labels: { x: "not a value" } } })
    expect(about("x", roster({ units: [wrong], groups: [], nodes: world.nodes() }))).toEqual([
      {
        kind: "Label",
        key: "x",
        value: "1",
        state: "Kept",
        from: [{ unit: "u1", path: "spec.setNode.labels[x]" }]
      }
    ])
  })

  it("R163 is shared where the node had it already, with the manager that set it", () => {
    const world = settled([u1], [], { n1: { labels: { x: "1" } } })
    expect(about("x", roster({ units: [u1], groups: [], nodes: world.nodes() }))).toMatchObject([
      { state: "Shared", owners: ["kubelet"] }
    ])
  })

  it("is refused where someone set another value, which stands", () => {
    const world = settled([u1], [], { n1: { labels: { x: "theirs" } } })
    expect(about("x", roster({ units: [u1], groups: [], nodes: world.nodes() }))).toMatchObject([
      { value: "1", state: "Refused", there: "theirs", owners: ["kubelet"], from: [{ unit: "u1" }] }
    ])
  })

  it("R169 is the first of two units in a group's label", () => {
    const units = [u1, unit("u2", { nodes: ["n1"] }, { born: 2 })]
    const g = group("g", { nodeUnits: ["u1", "u2"] })
    const world = settled(units, [g], { n1: {} })
    const found = roster({ units, groups: [g], nodes: world.nodes() })
    expect(about("g", found)).toMatchObject([{ value: "u1", state: "Given", from: [{ group: "g" }] }])
    expect(found.refused.map(({ reason }) => reason)).toContain("NodeInTwoUnits")
  })

  it("R172 is a cordon of a unit, or one that someone else set", () => {
    const cordoning = unit("u1", { nodes: ["n1", "n2"], unschedulable: true })
    const world = settled([cordoning], [], {
      n1: {},
      n2: { unschedulable: true },
      n3: { unschedulable: true }
    })
    const cordons = roster({ units: [cordoning], groups: [], nodes: world.nodes() }).nodes.map((node) => [
      node.unschedulable,
      node.cordonedBy,
      node.carries.filter(({ kind }) => kind === "Cordon").map(({ state, from }) => [state, from[0]?.unit])
    ])
    expect(cordons).toEqual([
      [true, [], [["Given", "u1"]]],
      [true, ["kubelet"], [["Shared", "u1"]]],
      [true, ["kubelet"], []]
    ])
  })
})

describe("edits that are held", () => {
  it("leave the nodes where they are, and name them", () => {
    const all = { n1: {}, n2: {}, n3: {} }
    const world = settled([unit("u1", { nodes: Object.keys(all) })], [], all)
    const empty = unit("u1", { nodes: [] })
    const found = roster({ units: [empty], groups: [], nodes: world.nodes(), maxNodesChanged: 0.2 })
    expect(found.held).toEqual([{ unit: "u1", nodes: ["n1", "n2", "n3"] }])
    expect(found.units[0]?.nodes).toEqual(["n1", "n2", "n3"])
    expect(found.nodes.map(({ changing }) => changing)).toEqual([false, false, false])
  })
})

describe("units and groups that are not served", () => {
  it("are there with the reason, and have nobody", () => {
    const units = [
      unit("g", { nodes: ["n1"] }, { born: 9 }),
      unit("u1", { nodes: ["n1"] }, { deleting: true })
    ]
    const found = roster({ units, groups: [group("g", { nodeUnits: ["u1"] })], nodes: [stored(seat("n1"))] })
    expect(found.units.map(({ name, reason, nodes }) => [name, reason, nodes])).toEqual([
      ["g", "NameTaken", []],
      ["u1", "Deleting", []]
    ])
    expect(found.groups).toEqual([{ name: "g", reason: "NoUnits", units: [], nodes: 0, readyNodes: 0 }])
  })

  it("R165 R173 are about to come where nobody made them yet", () => {
    const g = group("g", { autoFindNodeKeys: ["zone"] })
    const found = roster({ units: [], groups: [g], nodes: [stored(seat("n1", { labels: { zone: "a" } }))] })
    expect(found.unitsComing).toEqual(["a", "unit-node-all"])
  })

  it("R165 are about to go where their last node went", () => {
    const g = group("g", { autoFindNodeKeys: ["zone"] })
    const ownerReferences = [
      {
        apiVersion: "site.superedge.io/v1alpha2",
        kind: "NodeGroup",
        name: "g",
        uid: "uid-of-g",
        controller: true
      }
    ]
    const lost = unit("a", { selector: { matchLabels: { zone: "a" } } }, { ownerReferences })
    expect(roster({ units: [lost], groups: [g], nodes: [] }).unitsGoing).toEqual(["a"])
  })
})

/** Nodes on which units did and others do something, and what units and groups say now. */
const scenes = fc
  .tuple(
    seats,
    fc.option(said, { nil: undefined }),
    fc.array(anEdit, { maxLength: 3 }),
    said,
    fc.option(someUnit)
  )
  .map(
    ([before, earlier, edits, { units, groups }, more]): {
      readonly now: readonly Seat[]
      readonly says: Said
    } => {
      const then = earlier === undefined ? before : written(before, earlier)
      const now = then.map((node, i) =>
        edits.filter(({ at: where }) => where === i).reduce((seen, { edit }) => edited(seen, edit), node)
      )
      return { now, says: { units: more === null ? units : [...units, more], groups } }
    }
  )

const view = (now: readonly Seat[], { units, groups }: Said): Roster =>
  roster({ units, groups, nodes: now.map(stored) })

const written = (now: readonly Seat[], { units, groups }: Said): readonly Seat[] => {
  const patches = new Map(
    sites({ units, groups, nodes: now.map(stored) }).nodes.map((each) => [each.name, each])
  )
  return now.map((node) => {
    const patch = patches.get(node.name)
    return patch === undefined ? node : patched(node, mergePatch(patch))
  })
}

const at = (found: Roster, name = "n1"): RosterNode => {
  const node = found.nodes.find((each) => each.name === name)
  if (node === undefined) throw new Error(`no node ${name}`)
  return node
}

const about = (key: string, found: Roster): readonly Carried[] =>
  at(found).carries.filter((each) => each.key === key)

const wordOf = ({ kind, key, value, effect }: Pick<Carried, "kind" | "key" | "value" | "effect">): string =>
  `${kind} ${key}=${value}${effect === undefined ? "" : `:${effect}`}`

/** All that stands on a node, the note of what was given aside. */
const wordsOn = (node: Seat): readonly string[] => {
  const { labels, annotations, taints, unschedulable } = shown(node)
  return [
    ...Object.entries(labels).map(([key, value]) => `Label ${key}=${value}`),
    ...Object.entries(annotations)
      .filter(([key]) => key !== NOTE)
      .map(([key, value]) => `Annotation ${key}=${value}`),
    ...taints.map((taint) => `Taint ${taint}`),
    ...(unschedulable ? ["Cordon unschedulable=true"] : [])
  ]
}

/** All of that which we put there, and nobody else. */
const oursOn = (node: Seat): string[] => {
  const ours = (map: Seat["labels"], kind: string) =>
    [...map]
      .filter(([key, { owners }]) => key !== NOTE && owners.length > 0 && owners.every((each) => each === US))
      .map(([key, { value }]) => `${kind} ${key}=${value}`)
  return [
    ...ours(node.labels, "Label"),
    ...ours(node.annotations, "Annotation"),
    ...node.taints
      .filter(({ owner }) => owner === US)
      .map(({ taint: { key, value, effect } }) => `Taint ${key}=${value ?? ""}:${effect}`),
    ...(node.cordon === US ? ["Cordon unschedulable=true"] : [])
  ]
}

interface Says {
  readonly setNode?: { readonly [place: string]: unknown }
  readonly unschedulable?: boolean
}

/** Whoever is named holds the node and says so in the field that is named. */
const judgeGivers = (each: Carried, node: Seat, { units, groups }: Said): void => {
  same(each.from.length > 0, true)
  for (const { unit: name, group: holder, path } of each.from) {
    if (name === undefined) {
      const giver = groups.find(({ metadata }) => metadata.name === holder)
      const held = units.find(({ metadata }) => metadata.name === each.value)
      same([each.key, isIn(giver, held), held !== undefined && naiveMember(held, node)], [holder, true, true])
      continue
    }
    const giver = units.find(({ metadata }) => metadata.name === name)
    if (giver === undefined || !naiveMember(giver, node)) throw new Error(`${name} holds no ${node.name}`)
    same(saidAt(giver, path, each), true)
  }
}

const isIn = (giver: NodeGroup | undefined, held: NodeUnit | undefined): boolean =>
  giver !== undefined && held !== undefined && naiveHolds(giver, held)

const saidAt = (giver: NodeUnit, path: string, { kind, key, value, effect }: Carried): boolean => {
  const { setNode = {}, unschedulable } = (giver.spec ?? {}) as unknown as Says
  if (path === "metadata.name") return key === giver.metadata.name && value === MARK
  if (path === "spec.unschedulable") return kind === "Cordon" && unschedulable === true
  const [, place = "", step = ""] = /^spec\.setNode\.(\w+)\[(.*)\]$/.exec(path) ?? []
  const found = Object.entries(setNode[place] as object).find(([each]) => each === step)?.[1] as unknown
  return kind === "Taint"
    ? JSON.stringify(found) === JSON.stringify({ key, ...(value !== "" && { value }), effect })
    : found === value
}
