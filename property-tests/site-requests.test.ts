/**
 * How many requests sites cost, counted at the API server, and what their loop does with those that fail or come too late.
 */
import * as Metric from "effect/Metric"
import { describe, expect, it } from "vitest"
import { during, events } from "./stories/calm.ts"
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

const a = { zone: "a" }
const b = { zone: "b" }
/** How often all was looked at. */
const passes = (): unknown =>
  Metric.unsafeSnapshot().find(({ metricKey }) => metricKey.name === "servicegroup_site_passes_total")
    ?.metricState

describe("requests for sites", () => {
  it("P1 writes nothing for heartbeats", () => {
    const stage = sited(many(20, a))
    during(stage, () => sayUnit(stage, "u1", inZone("a")))
    const beats = (): void => {
      for (let i = 0; i < 200; i++) {
        stage.places.beat(`n${1 + (i % 20)}`)
        if (i % 20 === 0) stage.advance(1000)
      }
    }
    const before = passes()
    expect(during(stage, beats)).toEqual([])
    expect(passes()).toEqual(before)
  })

  it("tells a status once in ten seconds while nodes flap, and at once after an edit", () => {
    const stage = sited(many(5, a))
    during(stage, () => sayUnit(stage, "u1", inZone("a")), 30_000)
    const flapping = (seconds: number) =>
      during(
        stage,
        () => {
          for (let i = 0; i < seconds; i++) {
            stage.places.ready("n1", i % 2 === 1)
            stage.places.ready("n2", i % 3 === 1)
            stage.advance(1000)
          }
        },
        0
      )
    const calm = told(flapping(60))
    expect(calm.filter((each) => each !== "status unit u1")).toEqual([])
    expect(calm.length).toBeGreaterThan(3)
    expect(calm.length).toBeLessThan(8)
    const edited = during(stage, () => sayUnit(stage, "u1", { nodes: ["n1"] }), 1500)
    expect(told(edited)).toContain("status unit u1")
    expect(statusOf(stage, UNITS, "u1")).toMatchObject({ nodes: 1 })
  })

  it("tells a status although nodes come and go without end", () => {
    const stage = sited(many(5, a))
    during(stage, () => sayUnit(stage, "u1", inZone("a")), 30_000)
    const coming = (): void => {
      for (let i = 0; i < 300; i++) {
        stage.places.mark("labels", `n${1 + (i % 5)}`, "zone", i % 2 === 0 ? "b" : "a")
        stage.advance(1)
      }
    }
    expect(told(during(stage, coming, 0))).toContain("status unit u1")
  })

  it.each(["nodes", "nodeunits", "nodegroups"])("P5 changes nothing while %s can't be listed", (kind) => {
    const stage = sited({ n1: a, n2: b })
    during(stage, () => {
      sayUnit(stage, "u1", { ...inZone("a"), setNode: front })
      sayGroup(stage, "g", { nodeUnits: ["u1"] })
    })
    const before = ["n1", "n2"].map((name) => nodeAt(stage, name))
    const writes = during(
      stage,
      () =>
        restart(stage, () => {
          stage.carryOut({ _tag: "Forbid", kind, ms: 60_000 })
          stage.places.mark("labels", "n2", "zone", "a")
        }),
      55_000
    )
    expect(told(writes)).toEqual([])
    expect(nodeAt(stage, "n1")).toEqual(before[0])
    stage.advance(40_000)
    expect(nodeAt(stage, "n2").labels).toMatchObject({ u1: MARK, g: "u1" })
  })

  it("writes a node that changes once, and each of its units and groups once", () => {
    const stage = sited({ n1: { ...a, "kubernetes.io/os": "linux" }, n2: b })
    during(stage, () => {
      sayUnit(stage, "u1", { ...inZone("a"), setNode: front })
      sayUnit(stage, "u2", { ...inZone("b"), setNode: { ...front, taints: [], labels: { x: "2" } } })
      sayGroup(stage, "g", { nodeUnits: ["u1", "u2"] })
    })
    stage.advance(20_000)
    const writes = during(stage, () => stage.places.mark("labels", "n1", "zone", "b"), 20_000)
    expect([...told(writes)].sort()).toEqual(["merge node n1", "status unit u1", "status unit u2"])
    expect(nodeAt(stage, "n1").labels).toMatchObject({ x: "2", g: "u2" })
  })

  it.each(["nodes", "nodeunits"])("P2 writes everything once although events of %s are late", (kind) => {
    const stage = sited({ n1: a, n2: a })
    const writes = during(stage, () => {
      sayUnit(stage, "u1", inZone("a"))
      sayGroup(stage, "g", { autoFindNodeKeys: ["zone"] })
      stage.until(() => stage.server.moves().length === 0)
      stage.carryOut({ _tag: "Lag", kind, back: 0, ms: 4000 })
    })
    const written = told(writes).filter((each) => !each.startsWith("status"))
    expect([...written].sort()).toEqual([
      "apply unit a",
      "merge group g",
      "merge node n1",
      "merge node n2",
      "merge unit a",
      "merge unit u1"
    ])
  })

  it("writes a node that brings a unit about once", () => {
    const stage = sited({ n1: a })
    during(stage, () => {
      sayUnit(stage, "u1", { nodes: ["n2"], setNode: front })
      sayGroup(stage, "g", { autoFindNodeKeys: ["zone"] })
    })
    stage.advance(20_000)
    const writes = during(stage, () => stage.places.addNode("n2", { zone: "new" }), 20_000)
    expect([...told(writes)].sort()).toEqual([
      "apply unit new",
      "merge node n2",
      "merge unit new",
      "status group g",
      "status unit new",
      "status unit u1"
    ])
    expect(nodeAt(stage, "n2").labels).toEqual({ zone: "new", new: MARK, u1: MARK, x: "1", g: "new" })
  })

  it("does not write what it thought before an edit", () => {
    const stage = sited(many(100, a), { seed: 7, concurrency: 2 })
    const before = stage.server.wrote.length
    const since = () => ofNodes(stage.server.wrote.slice(before))
    sayUnit(stage, "u1", { ...inZone("a"), setNode: { labels: { x: "1" } } })
    stage.until(() => since().length > 4)
    sayUnit(stage, "u1", { ...inZone("a"), setNode: { labels: { x: "2" } } })
    stage.advance(10_000)
    const old = since().filter(({ after }) => after?.metadata.labels?.["x"] === "1")
    expect(old.length).toBeLessThan(25)
    expect(nodeAt(stage, "n99").labels).toMatchObject({ u1: MARK, x: "2" })
  })

  it("P3 R167 leaves a unit alone that someone makes while it is making one of that name", () => {
    const stage = sited({ n1: a })
    const sent = stage.server.sent.get("apply") ?? 0
    sayGroup(stage, "g", { autoFindNodeKeys: ["zone"] })
    stage.until(() => (stage.server.sent.get("apply") ?? 0) > sent)
    sayUnit(stage, "a", inZone("elsewhere"))
    stage.advance(30_000)
    expect(stage.truth.violations).toEqual([])
    expect(stage.places.site(UNITS, "a")?.spec).toEqual({ type: "edge", ...inZone("elsewhere") })
    expect(conditionOf(stage, GROUPS, "g")?.reason).toBe("FoundNameTaken")
  })

  it("P3 leaves a found unit alone that someone takes over while it is deleting it", () => {
    const stage = sited({ n1: a, n2: b })
    during(stage, () => sayGroup(stage, "g", { autoFindNodeKeys: ["zone"] }), 30_000)
    stage.places.dropNode("n1")
    stage.until(() => (stage.server.sent.get("remove") ?? 0) > 0)
    stage.places.adopt("a")
    stage.advance(30_000)
    expect(stage.places.sites(UNITS).map(({ metadata }) => metadata.name)).toEqual(["a", "b", EVERY_UNIT])
    expect(stage.places.site(UNITS, "a")?.metadata.deletionTimestamp).toBeUndefined()
  })

  it("P3 leaves finalizers alone that someone adds while it adds its own", () => {
    const stage = sited({ n1: a })
    const sent = stage.server.sent.get("merge") ?? 0
    sayUnit(stage, "u1", inZone("a"))
    stage.until(() => (stage.server.sent.get("merge") ?? 0) > sent)
    stage.places.finalize(UNITS, "u1", "hold")
    stage.advance(5000)
    expect(stage.truth.violations).toEqual([])
    expect([...(stage.places.site(UNITS, "u1")?.metadata.finalizers ?? [])].sort()).toEqual([
      "example.io/hold",
      "site.superedge.io/finalizer"
    ])
  })

  it("puts a status right that someone altered", () => {
    const stage = sited({ n1: a })
    during(stage, () => sayUnit(stage, "u1", inZone("a")))
    stage.places.alter(UNITS, "u1", { readyRate: "7/7" })
    stage.advance(310_000)
    expect(statusOf(stage, UNITS, "u1")).toMatchObject({ readyRate: "1/1" })
  })

  it("tells a refusal in an event", () => {
    const stage = sited({ n1: { x: "theirs" } })
    during(stage, () => sayUnit(stage, "u1", { nodes: ["n1"], setNode: front }))
    expect(nodeAt(stage, "n1").labels).toEqual({ x: "theirs", u1: MARK })
    expect(conditionOf(stage, UNITS, "u1")).toMatchObject({ status: "True", reason: "ValueTaken" })
    expect(events(stage)).toMatchObject([
      {
        metadata: { namespace: "default" },
        involvedObject: { kind: "NodeUnit", name: "u1" },
        type: "Warning",
        reason: "ValueTaken",
        count: 1
      }
    ])
  })

  it("tells a status again that was written without an answer", () => {
    const stage = sited({ n1: a })
    during(stage, () => sayUnit(stage, "u1", inZone("a")), 30_000)
    stage.server.faults.fails.push({ left: 1, trouble: TROUBLES.Unanswered })
    stage.places.ready("n1", false)
    stage.until(() => stage.server.faults.fails.length === 0)
    stage.places.ready("n1", true)
    stage.advance(30_000)
    expect(statusOf(stage, UNITS, "u1")).toMatchObject({ readyRate: "1/1" })
  })

  it("tries again what the server called invalid as soon as the node changes", () => {
    const stage = sited({ n1: a })
    stage.server.faults.fails.push({ left: 2, trouble: TROUBLES.Invalid })
    during(stage, () => sayUnit(stage, "u1", inZone("a")), 20_000)
    expect(nodeAt(stage, "n1").labels).toEqual(a)
    expect(conditionOf(stage, UNITS, "u1")?.reason).toBe("NodeNotWritten")
    during(stage, () => stage.places.mark("labels", "n1", "other", "1"))
    expect(nodeAt(stage, "n1").labels).toMatchObject({ u1: MARK })
  })

  it("has only one of a storm of failures be told", () => {
    const stage = sited(many(20, a))
    stage.server.faults.storm = { left: 30, trouble: TROUBLES.Unavailable }
    const writes = during(stage, () => sayUnit(stage, "u1", inZone("a")), 60_000)
    expect(statusOf(stage, UNITS, "u1")).toMatchObject({ readyRate: "20/20" })
    expect(told(writes).filter((each) => each === "status unit u1")).toHaveLength(1)
    expect(events(stage)).toEqual([])
  })
})
