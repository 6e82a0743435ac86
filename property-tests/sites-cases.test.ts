/** Units and groups together, case by case: small situations whose right result is known. */
import { describe, expect, it } from "vitest"
import { desired } from "../src/core/desired.ts"
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { sites } from "../src/core/sites.ts"
import { unitsOf } from "../src/core/units.ts"
import { web } from "./given.ts"
import { MARK, settled } from "./site-world.ts"
import { group, unit } from "./sited.ts"

const NO_SCHEDULE = "NoSchedule"

describe("a group's label", () => {
  const [u1, u2] = [
    unit("u1", { nodes: ["n1"] }, { born: 1 }),
    unit("u2", { nodes: ["n1", "n2"] }, { born: 2 })
  ]
  const g = group("g", { nodeUnits: ["u1", "u2"] })

  it("names the node's unit", () => {
    expect(settled([u2], [group("g", { nodeUnits: ["u2"] })], { n1: {}, n2: {} }).at("n2").labels).toEqual({
      u2: MARK,
      g: "u2"
    })
  })

  it("R169 keeps its first value in two units, and becomes the other's when the first lets go", () => {
    const world = settled([u2], [g], { n1: {}, n2: {} })
    const result = world.settle([u1, u2], [g])
    expect(world.at("n1").labels).toMatchObject({ g: "u2" })
    expect(
      result.refused
        .filter(({ reason }) => reason === "NodeInTwoUnits")
        .map(({ unit: u, group: of }) => u ?? of)
    ).toEqual(["g", "u1", "u2"])
    world.settle([u1, unit("u2", { nodes: ["n2"] })], [g])
    expect(world.at("n1").labels).toEqual({ u1: MARK, g: "u1" })
  })

  it("R169 is that of the older unit where both come at once, in any order", () => {
    for (const units of [
      [u1, u2],
      [u2, u1]
    ])
      expect(settled(units, [g], { n1: {} }).at("n1").labels).toMatchObject({ g: "u1" })
  })

  it("R169 of two groups is no conflict", () => {
    const world = settled([u1, u2], [group("g", { nodeUnits: ["u1"] }), group("h", { nodeUnits: ["u2"] })], {
      n1: {},
      n2: {}
    })
    expect(world.at("n1").labels).toEqual({ u1: MARK, u2: MARK, g: "u1", h: "u2" })
    expect(world.last.refused).toEqual([])
  })

  it("R175 makes a grid's units, and follows a node from one to the other", () => {
    const at = (first: readonly string[], second: readonly string[]) => [
      unit("u1", { nodes: first }),
      unit("u2", { nodes: second })
    ]
    const world = settled(at(["n1", "n3"], ["n2"]), [g], { n1: {}, n2: {}, n3: {} })
    const children = () => desired(web("g"), unitsOf("g", world.nodes())).wanted.map(({ name }) => name)
    expect(children()).toEqual(["web-u1", "web-u2"])
    world.settle(at(["n1"], ["n2", "n3"]), [g])
    expect(unitsOf("g", [world.node("n3")])).toEqual(["u2"])
    expect(world.last.refused).toEqual([])
  })

  it("R176 leaves all nodes with its group, and the units stay", () => {
    const world = settled([u2], [g], { n1: {}, n2: {} })
    const going = group("g", { nodeUnits: ["u1", "u2"] }, { deleting: true })
    expect(world.pass([u2], [going]).released.groups).toEqual([])
    world.settle([u2], [going])
    expect(world.at("n1").labels).toEqual({ u2: MARK })
    expect(world.pass([u2], [going]).released.groups).toEqual(["g"])
  })

  it("R168 is given for no unit by an empty selector", () => {
    const world = settled([u2], [group("g", { selector: {} })], { n1: {}, n2: {} })
    expect(world.last.groups[0]).toMatchObject({ unitNumber: 0, nodeUnits: [] })
  })

  it("is given for units that the group selects by their labels and annotations", () => {
    const one = unit("u1", { nodes: ["n1"] }, { labels: { tier: "a" }, annotations: { note: "x" } })
    const chosen = group("g", { selector: { matchLabels: { tier: "a" }, annotations: { note: "x" } } })
    expect(settled([one, u2], [chosen], { n1: {}, n2: {} }).last.groups[0]?.nodeUnits).toEqual(["u1"])
  })

  it("is the only one where setNode repeats it, as SuperEdge writes it", () => {
    const repeated = unit("u1", { nodes: ["n1"], setNode: { labels: { u1: MARK, g: "u1" } } })
    const world = settled([repeated], [group("g", { nodeUnits: ["u1"] })], { n1: {} })
    expect(world.last.notices.map(({ reason, path }) => [reason, path])).toEqual([
      ["GroupsLabel", "spec.setNode.labels[g]"]
    ])
    const result = world.settle([repeated], [group("g", {}, { deleting: true })])
    expect(world.at("n1").labels).toEqual({ u1: MARK })
    expect(result.released.groups).toEqual(["g"])
  })

  it("is not put over what someone set by hand", () => {
    const world = settled([u2], [g], { n1: { labels: { g: "elsewhere" } }, n2: {} })
    expect(world.at("n1").labels).toEqual({ g: "elsewhere", u2: MARK })
    expect(world.last.refused.map(({ group: of, reason, path }) => [of, reason, path])).toEqual(
      [
        ["g", "UnitMissing", "spec.nodeUnits"],
        ["g", "ValueTaken", "metadata.name"]
      ].sort((a, b) => ((a[2] ?? "") < (b[2] ?? "") ? -1 : 1))
    )
  })
})

describe("two units", () => {
  const giving = (name: string, value: string, born: number) =>
    unit(
      name,
      {
        nodes: ["n1"],
        setNode: {
          labels: { x: value },
          annotations: { x: value },
          taints: [{ key: "x", value, effect: NO_SCHEDULE }]
        }
      },
      { born }
    )

  it("that want different values: the older one's stands, told to both", () => {
    const world = settled([giving("u1", "1", 2), giving("u2", "2", 1)], [], { n1: {} })
    expect(world.at("n1")).toMatchObject({ labels: { x: "2" }, taints: ["x=2:NoSchedule"] })
    expect(world.at("n1").annotations["x"]).toBe("2")
    expect(world.last.refused.map(({ unit: of, reason, path }) => [of, reason, path])).toEqual(
      ["u1", "u2"].flatMap((of) =>
        ["annotations[x]", "labels[x]", "taints[0]"].map((field) => [
          of,
          "UnitsContradict",
          `spec.setNode.${field}`
        ])
      )
    )
  })

  it("that want the same value: it stays until both let go", () => {
    const world = settled([giving("u1", "1", 1), giving("u2", "1", 2)], [], { n1: {} })
    world.settle([giving("u2", "1", 2)], [])
    expect(world.at("n1").labels).toEqual({ u2: MARK, x: "1" })
    expect(world.last.refused).toEqual([])
  })
})

describe("a selector and names", () => {
  it("that say different things are told, and the name counts", () => {
    const both = unit("u1", {
      nodes: ["n1"],
      selector: { matchExpressions: [{ key: "zone", operator: "NotIn", values: ["a"] }] }
    })
    const world = settled([both], [], { n1: { labels: { zone: "a" } }, n2: {} })
    expect(world.last.units[0]).toMatchObject({ readyNodes: ["n1", "n2"] })
    expect(world.last.notices.map(({ reason }) => reason)).toEqual(["NamedThoughShutOut"])
  })
})

describe("deletion", () => {
  it("R158 cleans all members first, and lets go afterwards", () => {
    const spec = { nodes: ["n1", "n2"], setNode: { labels: { x: "1" } } }
    const world = settled([unit("u1", spec)], [], { n1: {}, n2: {} })
    const going = unit("u1", spec, { deleting: true })
    const first = world.pass([going], [])
    expect(first.nodes.map(({ name, labels }) => [name, labels])).toEqual([
      ["n1", { u1: null, x: null }],
      ["n2", { u1: null, x: null }]
    ])
    expect(first.released.units).toEqual([])
    expect(first.units[0]?.conditions?.[0]).toMatchObject({
      type: "Ready",
      status: "False",
      reason: "Deleting"
    })
    world.write(first.nodes.slice(0, 1))
    expect(world.pass([going], []).released.units).toEqual([])
    world.settle([going], [])
    expect(world.pass([going], []).released.units).toEqual(["u1"])
  })

  it.each([
    { labels: { x: "1" } },
    { annotations: { x: "1" } },
    { taints: [{ key: "x", effect: NO_SCHEDULE }] }
  ])("waits for all that was given: %j", (setNode) => {
    const spec = { nodes: ["n1"], setNode }
    const world = settled([unit("u1", spec)], [], { n1: { labels: { u1: MARK } } })
    const going = unit("u1", spec, { deleting: true })
    expect(world.pass([going], []).released.units).toEqual([])
    world.settle([going], [])
    expect(world.last.released.units).toEqual(["u1"])
  })

  it("leaves nothing behind of a unit that vanished", () => {
    const world = settled([unit("u1", { nodes: ["n1"], unschedulable: true })], [], { n1: {} })
    world.settle([], [])
    expect(world.at("n1")).toEqual({
      name: "n1",
      labels: {},
      annotations: {},
      taints: [],
      unschedulable: false
    })
  })

  it("of a node that is made anew begins from nothing", () => {
    const world = settled([unit("u1", { nodes: ["n1"] })], [], { n1: {} })
    world.add("n1", {})
    expect(world.pass([unit("u1", { nodes: ["n1"] })], []).nodes).toMatchObject([
      { name: "n1", labels: { u1: MARK } }
    ])
  })
})

describe("names", () => {
  it("of a unit and a group are one space: the later one is refused", () => {
    const [early, late] = [{ born: 1 }, { born: 2 }]
    const first = settled([unit("x", { nodes: ["n1"] }, early)], [group("x", { nodeUnits: ["x"] }, late)], {
      n1: {}
    })
    expect(first.at("n1").labels).toEqual({ x: MARK })
    expect(first.last.refused.map(({ group: of, reason }) => [of, reason])).toEqual([["x", "NameTaken"]])
    const second = settled(
      [unit("x", { nodes: ["n1"] }, late), unit("u", { nodes: ["n1"] })],
      [group("x", { nodeUnits: ["u"] }, early)],
      { n1: {} }
    )
    expect(second.at("n1").labels).toEqual({ u: MARK, x: "u" })
    expect(second.last.refused.map(({ unit: of, reason }) => [of, reason])).toEqual([["x", "NameTaken"]])
    expect(second.last.units[0]?.conditions?.map(({ reason }) => reason)).toEqual(["NameTaken", "NameTaken"])
  })

  it.each(["", "n".repeat(64), "a/b", "kubernetes.io/hostname", "-a", "a b"])(
    "are refused where they are no label: %j",
    (name) => {
      const { last } = settled([unit(name, { nodes: ["n1"] })], [], { n1: {} })
      expect(last.nodes).toEqual([])
      expect(last.refused.map(({ unit: of, reason, path }) => [of, reason, path])).toEqual([
        [name, "InvalidName", "metadata.name"]
      ])
      expect(settled([], [group(name)], {}).last.refused.map(({ reason }) => reason)).toEqual(["InvalidName"])
    }
  )

  it("are those of who was served already, where both were made in the same second", () => {
    const served = (object: NodeUnit | NodeGroup) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: ["site.superedge.io/finalizer"] }
    })
    const [one, other] = [unit("x", { nodes: ["n1"] }), group("x", { nodeUnits: [] })]
    const told = (units: readonly NodeUnit[], groups: readonly NodeGroup[]) =>
      sites({ units, groups, nodes: [] }).refused.map(({ unit: u, group: g }) => u ?? `group ${g}`)
    expect(told([one], [other])).toEqual(["group x"])
    expect(told([one], [served(other)])).toEqual(["x"])
    expect(told([served(one)], [served(other)])).toEqual(["group x"])
  })

  it("that a deletion keeps are waited for", () => {
    const [one, other] = [unit("x", {}, { deleting: true }), group("x", {}, { born: 2 })]
    expect(sites({ units: [one], groups: [other], nodes: [] }).refused.map(({ message }) => message)).toEqual(
      ['NodeGroup x: metadata.name: "x" is the label of NodeUnit x until its deletion is done; wait for it']
    )
  })

  it("of units that a group names and nobody has are told", () => {
    const { last } = settled([unit("u1")], [group("g", { nodeUnits: ["u1", "u7", "u8"] })], {})
    expect(last.groups[0]).toMatchObject({ unitNumber: 1, nodeUnits: ["u1"] })
    expect(last.refused.map(({ message }) => message)).toEqual([
      "NodeGroup g: spec.nodeUnits: no NodeUnit that is served is called u7, u8; make or mend it, or take it from the list"
    ])
  })
})

describe("unit-node-all", () => {
  it("R173 is wanted where it is not there, and left alone where it is", () => {
    expect(sites({ units: [], groups: [], nodes: [] }).wanted).toEqual([
      {
        apiVersion: "site.superedge.io/v1alpha2",
        kind: "NodeUnit",
        metadata: { name: "unit-node-all" },
        spec: { type: "other", selector: { matchLabels: { "kubernetes.io/os": "linux" } } }
      }
    ])
    expect(
      sites({ units: [unit("unit-node-all", { nodes: ["n1"] })], groups: [], nodes: [] }).wanted
    ).toEqual([])
  })
})
