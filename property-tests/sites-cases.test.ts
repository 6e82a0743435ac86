/** Sites, case by case: small situations whose right result is known. */
import { describe, expect, it } from "vitest"
import type { Node } from "../src/core/kube.ts"
import { mergePatch, type NodePatch } from "../src/core/node-patch.ts"
import { desired } from "../src/core/desired.ts"
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { sites, type Sites } from "../src/core/sites.ts"
import { dated } from "../src/core/site-status.ts"
import { unitsOf } from "../src/core/units.ts"
import { web } from "./given.ts"
import {
  appliedLabel,
  withoutOwner,
  type Edit,
  edited,
  group,
  patched,
  type Seat,
  seat,
  type SeatInput,
  shown,
  stored,
  unit
} from "./sited.ts"

const MARK = "nodeunits.superedge.io"
const NO_SCHEDULE = "NoSchedule"

describe("a member", () => {
  const u1 = unit("u1", {
    selector: { matchLabels: { zone: "a" } },
    setNode: { labels: { x: "1" }, annotations: { who: "u1" }, taints: [{ key: "t", effect: NO_SCHEDULE }] }
  })

  it("carries the unit's mark and what setNode says", () => {
    expect(settled([u1], [], { n1: { labels: { zone: "a" } } }).at("n1")).toEqual({
      name: "n1",
      labels: { zone: "a", u1: MARK, x: "1" },
      annotations: { who: "u1", "site.superedge.io/given": '{"u1":{"taints":["t:NoSchedule"]}}' },
      taints: ["t=:NoSchedule"],
      unschedulable: false
    })
  })

  it("R157 loses all of it when its label goes", () => {
    const world = settled([u1], [], { n1: { labels: { zone: "a" } } })
    world.edit("n1", { labels: { zone: null } })
    world.settle([u1], [])
    expect(world.at("n1")).toEqual({
      name: "n1",
      labels: {},
      annotations: {},
      taints: [],
      unschedulable: false
    })
  })

  it("loses what a unit gave no more while nobody looked", () => {
    const world = settled([u1], [], { n1: { labels: { zone: "a" } } })
    world.settle([unit("u1", { selector: { matchLabels: { zone: "a" } } })], [])
    expect(world.at("n1")).toMatchObject({ labels: { zone: "a", u1: MARK }, annotations: {}, taints: [] })
  })

  it("R159 stays by either of names and selector, whatever else is edited", () => {
    const spec = { nodes: ["n1"], selector: { matchLabels: { zone: "b" } } }
    const world = settled([unit("u1", spec)], [], { n1: {}, n2: { labels: { zone: "b" } } })
    const result = world.settle([unit("u1", { ...spec, type: "other" })], [])
    expect(result.nodes).toEqual([])
    expect(result.units[0]?.readyRate).toBe("2/2")
  })

  it("R160 R170 counts once, however often it is named and selected", () => {
    const twice = unit("u1", { nodes: ["n1", "n1"], selector: { matchLabels: { zone: "a" } } })
    const world = settled([twice], [group("g", { nodeUnits: ["u1", "u1"] })], {
      n1: { labels: { zone: "a" } }
    })
    const result = world.settle([twice], [group("g", { nodeUnits: ["u1", "u1"] })])
    expect(result.nodes).toEqual([])
    expect(result.units[0]).toMatchObject({ readyRate: "1/1", readyNodes: ["n1"] })
    expect(result.groups[0]).toMatchObject({ unitNumber: 1, nodeUnits: ["u1"] })
  })

  it("R163 keeps a label that it had before", () => {
    const os = unit("u1", { nodes: ["n1"], setNode: { labels: { "kubernetes.io/os": "linux", x: "1" } } })
    const world = settled([os], [], { n1: { labels: { "kubernetes.io/os": "linux" } } })
    expect(world.at("n1").labels).toEqual({ "kubernetes.io/os": "linux", u1: MARK, x: "1" })
    expect(world.settle([unit("u1", { nodes: [] })], []).refused).toEqual([])
    expect(world.at("n1").labels).toEqual({ "kubernetes.io/os": "linux" })
  })

  it("R164 is a node as soon as it is there", () => {
    const world = settled([unit("u1", { nodes: ["n1", "n2"] })], [], { n1: {} })
    expect(world.last.notices.map(({ message }) => message)).toEqual([
      "NodeUnit u1: spec.nodes: no node is called n2; it joins as soon as it is there"
    ])
    world.add("n2", {})
    world.settle([unit("u1", { nodes: ["n1", "n2"] })], [])
    expect(world.at("n2").labels).toEqual({ u1: MARK })
  })

  it("R171 that leaves one unit keeps everything of the other", () => {
    const [one, two] = [{ x: "1" }, { x: "1", y: "1" }].map((labels) => ({
      setNode: { labels, taints: [{ key: "t", effect: NO_SCHEDULE }] },
      unschedulable: true
    }))
    const world = settled(
      [unit("u1", { ...one, nodes: ["n1"] }), unit("u2", { ...two, nodes: ["n1"] })],
      [],
      { n1: {} }
    )
    world.settle([unit("u1", one), unit("u2", { ...two, nodes: ["n1"] })], [])
    expect(world.at("n1")).toMatchObject({
      labels: { u2: MARK, x: "1", y: "1" },
      taints: ["t=:NoSchedule"],
      unschedulable: true
    })
  })

  it("R174 gets back what is removed by hand, and is clean once it is named no more", () => {
    const world = settled([unit("u1", { nodes: ["n1"] })], [], { n1: {} })
    world.edit("n1", { labels: { u1: null } })
    world.settle([unit("u1", { nodes: ["n1"] })], [])
    expect(world.at("n1").labels).toEqual({ u1: MARK })
    world.settle([unit("u1", { nodes: [] })], [])
    expect(world.at("n1").labels).toEqual({})
  })

  it("keeps a label that someone else applies as well, until that one lets go", () => {
    const world = settled([u1], [], { n1: { labels: { zone: "a" } } })
    world.change("n1", (node) => appliedLabel(node, "x", "1", "argocd"))
    world.edit("n1", { labels: { zone: null } })
    world.settle([u1], [])
    expect(world.at("n1").labels).toEqual({ x: "1" })
    world.change("n1", (node) => withoutOwner(node, "x", "argocd"))
    world.settle([u1], [])
    expect(world.at("n1").labels).toEqual({})
  })

  it("is not held by what its unit gives it, nor pushed out by it", () => {
    const selfish = unit("u1", { selector: { matchLabels: { x: "1" } }, setNode: { labels: { x: "1" } } })
    const shy = unit("u2", {
      selector: { matchExpressions: [{ key: "y", operator: "DoesNotExist" }] },
      setNode: { labels: { y: "1" } }
    })
    const world = settled([selfish, shy], [], { n1: {} })
    expect(world.at("n1").labels).toEqual({ u2: MARK, y: "1" })
  })

  it("is patched under the uid and the revision that were read", () => {
    const [patch] = sites({
      units: [u1],
      groups: [],
      nodes: [stored(seat("n1", { labels: { zone: "a" } }))]
    }).nodes
    expect(patch).toMatchObject({ name: "n1", uid: "uid-of-n1", resourceVersion: "1" })
    expect(patch === undefined ? {} : mergePatch(patch)).toEqual({
      metadata: {
        uid: "uid-of-n1",
        resourceVersion: "1",
        labels: { u1: MARK, x: "1" },
        annotations: { who: "u1", "site.superedge.io/given": '{"u1":{"taints":["t:NoSchedule"]}}' }
      },
      spec: { taints: [{ key: "t", effect: "NoSchedule" }] }
    })
  })
})

describe("taints", () => {
  const taint = (key: string, value = "", effect = NO_SCHEDULE) => ({
    key,
    ...(value !== "" && { value }),
    effect
  })
  const giving = (...taints: readonly object[]) => unit("u1", { nodes: ["n1"], setNode: { taints } })

  it("R161 of others are there throughout", () => {
    const theirs = [taint("gpu", "yes"), taint("node.kubernetes.io/unreachable", "", "NoExecute")]
    const world = settled([giving(taint("t"))], [], { n1: { taints: theirs } })
    expect(world.at("n1").taints).toHaveLength(3)
    world.settle([unit("u1")], [])
    expect(world.at("n1").taints).toEqual(["gpu=yes:NoSchedule", "node.kubernetes.io/unreachable=:NoExecute"])
  })

  it("R162 are each there once", () => {
    const world = settled([giving(taint("b"), taint("c"), taint("b"))], [], { n1: { taints: [taint("a")] } })
    expect(world.at("n1").taints).toEqual(["a=:NoSchedule", "b=:NoSchedule", "c=:NoSchedule"])
  })

  it("that a node had before stay when the unit goes", () => {
    const world = settled([giving(taint("t", "1"))], [], { n1: { taints: [taint("t", "1")] } })
    expect(world.last.nodes.map(({ taints }) => taints)).toEqual([])
    world.settle([], [])
    expect(world.at("n1").taints).toEqual(["t=1:NoSchedule"])
  })

  it("that someone set to another value are told, and stay", () => {
    const world = settled([giving(taint("t", "1"))], [], { n1: {} })
    world.edit("n1", { taint: taint("t", "2") })
    const result = world.settle([giving(taint("t", "1"))], [])
    expect(world.at("n1").taints).toEqual(["t=2:NoSchedule"])
    expect(result.refused.map(({ reason, message }) => [reason, message])).toEqual([
      [
        "ValueTaken",
        'NodeUnit u1: spec.setNode.taints[0]: "t=1:NoSchedule" is not given where there is "t=2:NoSchedule" (n1); remove it from the nodes, or from the NodeUnit'
      ]
    ])
    world.settle([], [])
    expect(world.at("n1")).toMatchObject({ taints: ["t=2:NoSchedule"], annotations: {} })
  })

  it("follow the value of the unit", () => {
    const world = settled([giving(taint("t", "1"))], [], { n1: {} })
    world.settle([giving(taint("t", "2"))], [])
    expect(world.at("n1").taints).toEqual(["t=2:NoSchedule"])
  })

  it("keep fields that are not looked at", () => {
    const odd = { key: "x", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" }
    const world = settled([giving(taint("t"))], [], { n1: { taints: [odd] } })
    expect(world.node("n1").spec?.["taints"]).toEqual([odd, { key: "t", effect: NO_SCHEDULE }])
  })

  it("are nobody's where the annotation can't be read", () => {
    const world = settled([], [], {
      n1: { taints: [taint("t")], annotations: { "site.superedge.io/given": "[oops" } }
    })
    expect(world.at("n1")).toMatchObject({ taints: ["t=:NoSchedule"], annotations: {} })
  })
})

describe("unschedulable", () => {
  const cordoning = (unschedulable: boolean) => unit("u1", { nodes: ["n1"], unschedulable })

  it("R172 cordons members, and frees them", () => {
    const world = settled([cordoning(true)], [], { n1: {} })
    expect(world.at("n1")).toMatchObject({
      unschedulable: true,
      annotations: { "site.superedge.io/given": '{"u1":{"unschedulable":true}}' }
    })
    world.settle([cordoning(false)], [])
    expect(world.at("n1")).toMatchObject({ unschedulable: false, annotations: {} })
  })

  it("R172 never frees a node that someone had cordoned before", () => {
    const world = settled([cordoning(true)], [], { n1: { unschedulable: true } })
    expect(world.at("n1").annotations).toEqual({})
    world.settle([cordoning(false)], [])
    expect(world.at("n1").unschedulable).toBe(true)
  })

  it("never frees a node that someone freed and cordoned again", () => {
    const world = settled([cordoning(true)], [], { n1: {} })
    world.edit("n1", { unschedulable: false })
    world.edit("n1", { unschedulable: true })
    world.settle([cordoning(false)], [])
    expect(world.at("n1")).toMatchObject({ unschedulable: true, annotations: {} })
  })

  it("cordons a member again that someone freed", () => {
    const world = settled([cordoning(true)], [], { n1: {} })
    world.edit("n1", { unschedulable: false })
    world.settle([cordoning(true)], [])
    expect(world.at("n1").unschedulable).toBe(true)
  })
})

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
    expect(world.last.spent).toEqual([])
    const result = world.settle([repeated], [group("g", {}, { deleting: true })])
    expect(world.at("n1").labels).toEqual({ u1: MARK })
    expect(result.spent).toEqual([{ unit: "u1", label: "g" }])
    expect(result.released.groups).toEqual([])
    expect(
      world.pass([unit("u1", { nodes: ["n1"] })], [group("g", {}, { deleting: true })]).released.groups
    ).toEqual(["g"])
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

  it("waits for what was given although the mark was there before", () => {
    const spec = { nodes: ["n1"], setNode: { labels: { x: "1" } } }
    const world = settled([unit("u1", spec)], [], { n1: { labels: { u1: MARK } } })
    expect(world.pass([unit("u1", spec, { deleting: true })], []).released.units).toEqual([])
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

describe("status", () => {
  it("R177 says who is ready, and how many", () => {
    const u1 = unit("u1", { nodes: ["n3", "n1", "n2"] }, { generation: 4 })
    const world = settled([u1], [], { n1: {}, n2: { ready: false }, n3: {} })
    expect(world.last.units[0]).toEqual({
      observedGeneration: 4,
      readyRate: "2/3",
      readyNodes: ["n1", "n3"],
      notReadyNodes: ["n2"],
      conditions: [
        {
          type: "Ready",
          status: "False",
          reason: "NodesNotReady",
          message: "2/3 nodes are ready, waiting for n2",
          observedGeneration: 4
        },
        {
          type: "Degraded",
          status: "False",
          reason: "AsExpected",
          message: "nothing is refused",
          observedGeneration: 4
        }
      ]
    })
  })

  it("keeps the time of a condition until its status changes", () => {
    const conditions = [{ type: "Ready", status: "True", reason: "A", message: "a" }]
    const first = dated(conditions, undefined, Date.UTC(2026, 0, 1))
    expect(first[0]?.lastTransitionTime).toBe("2026-01-01T00:00:00Z")
    const again = dated(
      [{ ...conditions[0], type: "Ready", status: "True", reason: "B" }],
      first,
      Date.UTC(2026, 1, 1)
    )
    expect(again[0]).toMatchObject({ reason: "B", lastTransitionTime: "2026-01-01T00:00:00Z" })
    const other = dated([{ type: "Ready", status: "False" }], first, Date.UTC(2026, 1, 1))
    expect(other[0]?.lastTransitionTime).toBe("2026-02-01T00:00:00Z")
  })

  it("says which fields have no effect", () => {
    const units = [
      unit("u1", { autonomyLevel: "L4", unitClusterInfo: {} }),
      unit("u2", { autonomyLevel: "L3" })
    ]
    const world = settled(units, [group("g", { workload: [{ name: "w" }] })], {})
    expect(world.last.notices.map(({ path, reason }) => [path, reason])).toEqual([
      ["spec.workload", "FieldHasNoEffect"],
      ["spec.autonomyLevel", "FieldHasNoEffect"],
      ["spec.unitClusterInfo", "FieldHasNoEffect"]
    ])
    expect(world.last.units[0]?.conditions?.[1]).toMatchObject({
      status: "False",
      reason: "FieldHasNoEffect"
    })
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

  it("of units that a group names and nobody has are told", () => {
    const { last } = settled([unit("u1")], [group("g", { nodeUnits: ["u1", "u7", "u8"] })], {})
    expect(last.groups[0]).toMatchObject({ unitNumber: 1, nodeUnits: ["u1"] })
    expect(last.refused.map(({ message }) => message)).toEqual([
      "NodeGroup g: spec.nodeUnits: no NodeUnit is called u7, u8; make it, or take it from the list"
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

/** Nodes on a server, and a controller that passes over them when it is told to. */
class World {
  last: Sites
  #seats = new Map<string, Seat>()

  constructor(
    units: readonly NodeUnit[],
    groups: readonly NodeGroup[],
    nodes: { readonly [name: string]: SeatInput }
  ) {
    for (const [name, input] of Object.entries(nodes)) this.add(name, input)
    this.last = this.pass(units, groups)
    this.settle(units, groups)
  }

  add(name: string, input: SeatInput): void {
    this.#seats.set(name, seat(name, input))
  }

  change(name: string, step: (node: Seat) => Seat): void {
    const before = this.#seats.get(name)
    if (before === undefined) throw new Error(`no node ${name}`)
    this.#seats.set(name, step(before))
  }

  edit(name: string, edit: Edit): void {
    this.change(name, (node) => edited(node, edit))
  }

  nodes(): readonly Node[] {
    return [...this.#seats.values()].map(stored)
  }

  node(name: string): Node {
    const found = this.nodes().find(({ metadata }) => metadata.name === name)
    if (found === undefined) throw new Error(`no node ${name}`)
    return found
  }

  at(name: string): ReturnType<typeof shown> {
    const found = this.#seats.get(name)
    if (found === undefined) throw new Error(`no node ${name}`)
    return shown(found)
  }

  pass(units: readonly NodeUnit[], groups: readonly NodeGroup[]): Sites {
    return sites({ units, groups, nodes: this.nodes() })
  }

  write(patches: readonly NodePatch[]): void {
    for (const patch of patches) this.change(patch.name, (node) => patched(node, mergePatch(patch)))
  }

  /** Passes and writes until nothing is wanted, which is after one pass; gives the last. */
  settle(units: readonly NodeUnit[], groups: readonly NodeGroup[]): Sites {
    this.write(this.pass(units, groups).nodes)
    this.last = this.pass(units, groups)
    expect(this.last.nodes).toEqual([])
    return this.last
  }
}

const settled = (
  units: readonly NodeUnit[],
  groups: readonly NodeGroup[],
  nodes: { readonly [name: string]: SeatInput }
): World => new World(units, groups, nodes)
