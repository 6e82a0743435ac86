/**
 * The loop over sites, on a model of the API server and a virtual clock, case by case: who is in a unit, and what becomes of nodes.
 */
import { describe, expect, it } from "vitest"
import { child, during } from "./stories/calm.ts"
import { TROUBLES } from "./stories/faults.ts"
import {
  conditionOf,
  front,
  inZone,
  many,
  MARK,
  nodeAt,
  ofNodes,
  restart,
  sayGroup,
  sayUnit,
  sited,
  statusOf,
  told
} from "./stories/site-calm.ts"
import { EVERY_UNIT, GROUPS, UNITS } from "./stories/site-places.ts"
import { simple } from "./stories/words.ts"

const a = { zone: "a" }
const b = { zone: "b" }
const gpu = { key: "gpu", value: "yes", effect: "NoSchedule" }
const unreachable = { key: "node.kubernetes.io/unreachable", effect: "NoExecute" }
const NOT_READY = "node.kubernetes.io/not-ready=:NoSchedule"

describe("the loop over sites", () => {
  it("R157 takes from a node that leaves what its unit gave it", () => {
    const stage = sited({ n1: a, n2: a })
    during(stage, () => sayUnit(stage, "u1", { ...inZone("a"), setNode: front }))
    expect(nodeAt(stage, "n1")).toMatchObject({
      labels: { zone: "a", u1: MARK, x: "1" },
      annotations: { who: "us" },
      taints: [NOT_READY, "t=1:NoSchedule"]
    })
    during(stage, () => stage.places.mark("labels", "n1", "zone", undefined))
    expect(nodeAt(stage, "n1")).toEqual({
      name: "n1",
      labels: {},
      annotations: {},
      taints: [NOT_READY],
      unschedulable: false
    })
    expect(nodeAt(stage, "n2").labels).toHaveProperty("u1", MARK)
  })

  it("R158 cleans the nodes of a unit that is deleted before it lets go of it", () => {
    const stage = sited({ n1: a, n2: a })
    during(stage, () => sayUnit(stage, "u1", { ...inZone("a"), setNode: front, unschedulable: true }))
    const writes = during(stage, () => stage.places.drop(UNITS, "u1"))
    expect(told(writes).filter((each) => !each.startsWith("status"))).toEqual([
      "merge node n1",
      "merge node n2",
      "merge unit u1"
    ])
    expect(stage.places.site(UNITS, "u1")).toBeUndefined()
    expect(nodeAt(stage, "n1")).toMatchObject({ labels: a, taints: [NOT_READY], unschedulable: false })
  })

  it("R158 keeps a unit whose nodes it may not clean, which says so", () => {
    const stage = sited({ n1: a, n2: a })
    during(stage, () => sayUnit(stage, "u1", { ...inZone("a"), setNode: front }))
    stage.server.faults.always = { name: "n1", trouble: TROUBLES.Quota }
    during(stage, () => stage.places.drop(UNITS, "u1"), 60_000)
    expect(nodeAt(stage, "n2").labels).toEqual(a)
    expect(stage.places.site(UNITS, "u1")?.metadata.finalizers).toEqual(["site.superedge.io/finalizer"])
    const { status, reason, message } = conditionOf(stage, UNITS, "u1") ?? {}
    expect([status, reason]).toEqual(["True", "NodeNotWritten"])
    expect(message).toMatch(/exceeded quota.*\(n1\)/)
    stage.server.faults.always = undefined
    stage.advance(35_000)
    expect(stage.places.site(UNITS, "u1")).toBeUndefined()
    expect(nodeAt(stage, "n1").labels).toEqual(a)
  })

  it("R159 leaves a node alone that a selector selects beside the named ones", () => {
    const stage = sited({ n1: a, n2: b })
    const spec = { nodes: ["n1"], ...inZone("b"), setNode: front }
    during(stage, () => sayUnit(stage, "u1", spec))
    const before = nodeAt(stage, "n2")
    expect(before.labels).toMatchObject({ u1: MARK, x: "1" })
    const writes = during(stage, () => sayUnit(stage, "u1", { ...spec, type: "other" }), 300_000)
    expect(ofNodes(writes)).toEqual([])
    expect(nodeAt(stage, "n2")).toEqual(before)
  })

  it("R160 writes nothing at rest", () => {
    const stage = sited(many(100, { "kubernetes.io/os": "linux", zone: "a" }))
    during(stage, () => {
      for (let i = 0; i < 10; i++)
        sayUnit(stage, `u${i}`, { ...inZone("a"), setNode: { labels: { [`x${i}`]: "1" } } })
      sayGroup(stage, "g", { nodeUnits: ["u1"] })
    })
    stage.advance(20_000)
    expect(statusOf(stage, UNITS, "u9")).toMatchObject({ readyRate: "100/100" })
    expect(during(stage, () => {}, 120_000)).toEqual([])
  })

  it("R161 leaves taints of others alone while a node comes and goes", () => {
    const stage = sited({})
    stage.places.addNode("n1", a, { taints: [gpu] })
    stage.places.taint("n1", unreachable)
    const theirs = [NOT_READY, "gpu=yes:NoSchedule", "node.kubernetes.io/unreachable=:NoExecute"].sort()
    const with2 = { nodes: ["n1"], setNode: { taints: [...front.taints, gpu] } }
    during(stage, () => sayUnit(stage, "u1", with2))
    expect(nodeAt(stage, "n1").taints).toEqual([...theirs, "t=1:NoSchedule"].sort())
    during(stage, () => stage.places.drop(UNITS, "u1"))
    expect(nodeAt(stage, "n1").taints).toEqual(theirs)
    expect(stage.truth.violations).toEqual([])
  })

  it("R162 gives each taint once", () => {
    const stage = sited({})
    const [x, y, z] = ["x", "y", "z"].map((key) => ({ key, effect: "NoSchedule" }))
    stage.places.addNode("n1", {}, { taints: x === undefined ? [] : [x] })
    during(stage, () => sayUnit(stage, "u1", { nodes: ["n1"], setNode: { taints: [y, z] } }))
    const keys = nodeAt(stage, "n1").taints.filter((each) => each !== NOT_READY)
    expect(keys).toEqual(["x=:NoSchedule", "y=:NoSchedule", "z=:NoSchedule"])
    expect(stage.server.wrote.filter(({ code }) => code >= 300)).toEqual([])
  })

  it("R164 takes a new node in at once", () => {
    const stage = sited({ n1: a })
    during(stage, () => sayUnit(stage, "u1", { nodes: ["n9"], ...inZone("a"), setNode: front }))
    expect(conditionOf(stage, UNITS, "u1")?.reason).toBe("NodesMissing")
    const writes = during(stage, () => {
      stage.places.addNode("n2", a)
      stage.places.addNode("n9", {})
    })
    expect(nodeAt(stage, "n2").labels).toHaveProperty("u1", MARK)
    expect(nodeAt(stage, "n9").labels).toHaveProperty("u1", MARK)
    expect(ofNodes(writes)).toHaveLength(2)
    expect(statusOf(stage, UNITS, "u1")).toMatchObject({ readyRate: "3/3" })
  })

  it("R165 makes a unit for each combination of values, and lets it go with its last node", () => {
    const stage = sited({
      n1: { city: "bj", park: "p1" },
      n2: { city: "bj", park: "p1" },
      n3: { city: "bj", park: "p2" },
      n4: { city: "bj" }
    })
    during(stage, () => sayGroup(stage, "g", { autoFindNodeKeys: ["city", "park"] }))
    stage.advance(10_000)
    const found = stage.places.sites(UNITS).filter(({ metadata }) => metadata.name !== EVERY_UNIT)
    expect(found.map(({ metadata, spec }) => [metadata.name, spec])).toEqual([
      ["bj-p1", { type: "edge", selector: { matchLabels: { city: "bj", park: "p1" } } }],
      ["bj-p2", { type: "edge", selector: { matchLabels: { city: "bj", park: "p2" } } }]
    ])
    expect(statusOf(stage, GROUPS, "g")).toMatchObject({ nodeUnits: ["bj-p1", "bj-p2"], nodes: 3 })
    expect(["n1", "n2", "n3", "n4"].map((name) => nodeAt(stage, name).labels["g"])).toEqual([
      "bj-p1",
      "bj-p1",
      "bj-p2",
      undefined
    ])
    during(stage, () => stage.places.dropNode("n3"))
    expect(stage.places.site(UNITS, "bj-p2")).toBeUndefined()
    during(stage, () => stage.places.addNode("n5", { city: "bj", park: "p2" }))
    expect(nodeAt(stage, "n5").labels).toMatchObject({ "bj-p2": MARK, g: "bj-p2" })
    expect(statusOf(stage, GROUPS, "g")).toMatchObject({ nodeUnits: ["bj-p1", "bj-p2"], nodes: 3 })
  })

  it("R169 keeps the first value of a group's label where two of its units hold a node", () => {
    const stage = sited({ n1: {} })
    during(stage, () => {
      sayUnit(stage, "u1", {})
      sayUnit(stage, "u2", { nodes: ["n1"] })
      sayGroup(stage, "g", { nodeUnits: ["u1", "u2"] })
    })
    during(stage, () => sayUnit(stage, "u1", { nodes: ["n1"] }))
    const reported = (): readonly unknown[] => [
      nodeAt(stage, "n1").labels["g"],
      ...[UNITS, UNITS, GROUPS].map(
        (kind, i) => conditionOf(stage, kind as typeof UNITS, ["u1", "u2", "g"][i] ?? "")?.reason
      )
    ]
    const both = ["u2", "NodeInTwoUnits", "NodeInTwoUnits", "NodeInTwoUnits"]
    expect(reported()).toEqual(both)
    stage.advance(60_000)
    restart(stage)
    stage.advance(60_000)
    expect(reported()).toEqual(both)
    during(stage, () => sayUnit(stage, "u2", {}))
    expect(reported()).toEqual(["u1", "AsExpected", "AsExpected", "AsExpected"])
  })

  it("R172 frees the nodes that it cordoned, and no other", () => {
    const stage = sited({ n1: {}, n2: {} })
    stage.places.cordon("n2", true)
    const nodes = ["n1", "n2"]
    const cordoned = (): readonly boolean[] => nodes.map((name) => nodeAt(stage, name).unschedulable)
    during(stage, () => sayUnit(stage, "u1", { nodes, unschedulable: true }))
    expect(cordoned()).toEqual([true, true])
    during(stage, () => stage.places.cordon("n1", false))
    expect(cordoned()).toEqual([true, true])
    during(stage, () => sayUnit(stage, "u1", { nodes, unschedulable: false }))
    expect(cordoned()).toEqual([false, true])
  })

  it("R173 makes unit-node-all once, and leaves it as people want it", () => {
    const linux = { "kubernetes.io/os": "linux" }
    const stage = sited({ n1: { ...linux, ...a }, n2: { ...linux, ...b } })
    expect(stage.places.site(UNITS, EVERY_UNIT)?.spec).toEqual({
      type: "other",
      selector: { matchLabels: linux }
    })
    expect(statusOf(stage, UNITS, EVERY_UNIT)).toMatchObject({ readyRate: "2/2" })
    during(stage, () => sayUnit(stage, EVERY_UNIT, inZone("a")))
    expect(during(stage, () => restart(stage), 60_000)).toEqual([])
    expect(stage.places.site(UNITS, EVERY_UNIT)?.spec).toEqual({ type: "edge", ...inZone("a") })
    expect(statusOf(stage, UNITS, EVERY_UNIT)).toMatchObject({ readyNodes: ["n1"] })
  })

  it("R174 puts a label back that someone took, and cleans a node that is named no more", () => {
    const stage = sited({ n1: {}, n2: {} })
    during(stage, () => sayUnit(stage, "u1", { nodes: ["n1", "n2"], setNode: front }))
    during(stage, () => stage.places.mark("labels", "n1", "u1", undefined))
    expect(nodeAt(stage, "n1").labels).toEqual({ u1: MARK, x: "1" })
    during(stage, () => sayUnit(stage, "u1", { nodes: ["n2"], setNode: front }))
    expect(nodeAt(stage, "n1")).toMatchObject({ labels: {}, annotations: {}, taints: [NOT_READY] })
    expect(nodeAt(stage, "n2").labels).toEqual({ u1: MARK, x: "1" })
  })

  it("R175 has grids follow their units and nodes", () => {
    const stage = sited({ n1: { site: "1" }, n2: { site: "2" } })
    stage.world.make(0, { ...simple, key: "g" })
    during(stage, () => {
      sayUnit(stage, "east", { nodes: ["n1"] })
      sayUnit(stage, "west", { nodes: ["n2"] })
      sayGroup(stage, "g", { nodeUnits: ["east"] })
    })
    const children = (): readonly boolean[] =>
      ["east", "west"].map((unit) => child(stage, unit) !== undefined)
    expect(children()).toEqual([true, false])
    during(stage, () => sayGroup(stage, "g", { nodeUnits: ["east", "west"] }))
    expect(children()).toEqual([true, true])
    const writes = during(stage, () => {
      sayUnit(stage, "west", { nodes: ["n2", "n1"] })
      sayUnit(stage, "east", {})
    })
    expect(nodeAt(stage, "n1").labels).toMatchObject({ g: "west", west: MARK })
    expect(ofNodes(writes).filter(({ after }) => after?.metadata.labels?.["g"] === undefined)).toEqual([])
    expect(children()).toEqual([true, true])
    stage.advance(30_000)
    expect(children()).toEqual([false, true])
  })

  it("R176 takes a deleted group's label from nodes, and its found units with it", () => {
    const stage = sited({ n1: a, n2: a, n3: b })
    during(stage, () => {
      sayUnit(stage, "u1", { nodes: ["n3"] })
      sayGroup(stage, "g", { nodeUnits: ["u1"], autoFindNodeKeys: ["zone"] })
    })
    stage.advance(10_000)
    expect(nodeAt(stage, "n1").labels).toMatchObject({ a: MARK, g: "a" })
    const writes = during(stage, () => stage.places.drop(GROUPS, "g"))
    const last = told(writes).filter((each) => !each.startsWith("status"))
    expect(last.at(-1)).toBe("merge group g")
    expect(stage.places.sites(GROUPS)).toEqual([])
    expect(stage.places.sites(UNITS).map(({ metadata }) => metadata.name)).toEqual(["u1", EVERY_UNIT])
    expect(nodeAt(stage, "n1").labels).toEqual(a)
    expect(nodeAt(stage, "n3").labels).toEqual({ ...b, u1: MARK })
  })

  it("R177 counts nodes by their readiness, in order", () => {
    const stage = sited({ n3: a, n1: a, n2: a })
    stage.places.ready("n2", false)
    during(stage, () => sayUnit(stage, "u1", inZone("a")))
    expect(statusOf(stage, UNITS, "u1")).toMatchObject({
      nodes: 3,
      readyRate: "2/3",
      readyNodes: ["n1", "n3"],
      notReadyNodes: ["n2"]
    })
    expect(conditionOf(stage, UNITS, "u1", "Ready")?.reason).toBe("NodesNotReady")
  })

  it("holds an edit that moves too many nodes until it is confirmed", () => {
    const stage = sited(many(10, a), { maxNodesChanged: 0.2 })
    during(stage, () => sayUnit(stage, "u1", { ...inZone("a"), setNode: front }), 30_000)
    const few = { nodes: ["n1", "n2"], setNode: front }
    expect(ofNodes(during(stage, () => sayUnit(stage, "u1", few), 30_000))).toEqual([])
    const { reason, message } = conditionOf(stage, UNITS, "u1") ?? {}
    expect(reason).toBe("TooManyNodesLeave")
    expect(message).toContain('site.superedge.io/confirmed-generation: "2"')
    expect(statusOf(stage, UNITS, "u1")).toMatchObject({ nodes: 10 })
    const writes = during(stage, () => stage.places.confirm(UNITS, "u1"))
    expect(ofNodes(writes)).toHaveLength(8)
    expect(nodeAt(stage, "n3").labels).toEqual(a)
    expect(statusOf(stage, UNITS, "u1")).toMatchObject({ nodes: 2 })
    expect(conditionOf(stage, UNITS, "u1")?.reason).toBe("AsExpected")
  })

  it("cleans up what a unit let go of while no controller was there", () => {
    const stage = sited({ n1: {} })
    const spec = { nodes: ["n1"], setNode: front, unschedulable: true }
    during(stage, () => sayUnit(stage, "u1", spec))
    expect(nodeAt(stage, "n1")).toMatchObject({ unschedulable: true, labels: { u1: MARK, x: "1" } })
    during(stage, () => restart(stage, () => sayUnit(stage, "u1", { nodes: ["n1"] })))
    expect(nodeAt(stage, "n1")).toEqual({
      name: "n1",
      labels: { u1: MARK },
      annotations: {},
      taints: [NOT_READY],
      unschedulable: false
    })
  })
})
