/**
 * How many requests things cost, counted at the API server, and what the loop does with those that fail.
 */
import * as Metric from "effect/Metric"
import * as MetricState from "effect/MetricState"
import { describe, expect, it } from "vitest"
import { child, condition, during, events, ofChildren, ofStatus, settled } from "./stories/calm.ts"
import { TROUBLES } from "./stories/faults.ts"
import type { Stage } from "./stories/stage.ts"
import { type Edit, plain, simple } from "./stories/words.ts"

const abc = { n1: "a", n2: "b", n3: "c" }
const template = (change: object, of = ""): Edit => ({ _tag: "Template", of, change }) as Edit

describe("requests", () => {
  it("are one write a child and one status a burst, where children are made", () => {
    const stage = settled(
      Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`n${i}`, `u${i}`])),
      "no grid"
    )
    const writes = during(stage, () => stage.world.make(0, simple))
    expect(ofChildren(writes)).toHaveLength(50)
    expect(ofStatus(writes)).toBe(1)
    expect(writes).toHaveLength(51)
  })

  it("R5 are none where a node joins a unit that has others", () => {
    const stage = settled(abc)
    expect(during(stage, () => stage.world.node("n4", { zone: "a" }))).toEqual([])
    expect(during(stage, () => stage.world.dropNode("n4"))).toEqual([])
  })

  it("are none where nothing changes", () => {
    const stage = settled(abc)
    expect(during(stage, () => stage.server.cut(), 1_300_000)).toEqual([])
  })

  it("R53 are none where nodes change in what no grid uses", () => {
    const stage = settled(abc)
    const before = [...stage.server.sent]
    const passed = passes()
    const beats = (): void => {
      for (let i = 0; i < 1000; i++) {
        stage.world.beat("n1")
        if (i % 100 === 0) stage.steps(100)
      }
      stage.world.label("n2", "other", "x")
    }
    expect(during(stage, beats)).toEqual([])
    expect([...stage.server.sent]).toEqual(before)
    expect(passes()).toBe(passed)
  })

  it("R59 are one where one unit's template is edited", () => {
    const words = { ...simple, pool: new Map([["t1", plain]]), templates: new Map([["b", "t1"]]) }
    const stage = settled(abc, words)
    const writes = during(stage, () => stage.world.edit(0, template({ image: 2 }, "t1")))
    expect(ofChildren(writes)).toEqual(["apply app-b"])
  })

  it("R57 are two where replicas is handed over, and the number stays", () => {
    const stage = settled({ n1: "a" }, { ...simple, template: { ...plain, replicas: 3 } })
    const writes = during(stage, () => stage.world.edit(0, template({ replicas: undefined })))
    expect(ofChildren(writes)).toEqual(["apply app-a", "apply app-a"])
    expect(child(stage, "a")?.spec).toMatchObject({ replicas: 3 })
    for (const { after } of writes.filter(({ resource }) => resource === "apps/deployments"))
      expect(after).toMatchObject({ spec: { replicas: 3 } })
  })

  it("R40 are two where a child of SuperEdge is taken over, whose pods stay and whose old fields go", () => {
    const stage = settled({ n2: "b" }, simple)
    stage.world.plant(0, "a", "legacy")
    stage.advance(1000)
    const writes = during(stage, () => stage.world.node("n1", { zone: "a" }))
    expect(ofChildren(writes)).toEqual(["apply app-a", "merge app-a"])
    expect(child(stage, "a")?.spec).toMatchObject({
      replicas: 2,
      template: {
        metadata: { labels: { app: "web", "superedge.io/template-hash-key": "abc" } },
        spec: { containers: [{ image: "nginx:1", env: [{ name: "E0" }] }] }
      }
    })
  })

  it("R36 are no writes where the controller starts anew", () => {
    const stage = settled(abc)
    for (const place of [1, 2, 3, 4]) stage.world.make(place, simple)
    stage.advance(5000)
    stage.world.serve(undefined, "ready")
    stage.advance(5000)
    const again = (): void => {
      stage.kill()
      stage.start()
    }
    expect(during(stage, again, 60_000)).toEqual([])
  })

  it("R81 are one status a second at most, whatever children do", () => {
    const stage = settled(abc)
    const burst = (): void => {
      for (let i = 0; i < 40; i++) {
        stage.world.serve(i, i % 2 === 0 ? "unready" : "ready")
        stage.advance(50)
      }
    }
    const writes = during(stage, burst)
    expect(ofChildren(writes)).toEqual([])
    expect(ofStatus(writes)).toBeLessThanOrEqual(4)
    expect(ofStatus(writes)).toBeGreaterThan(0)
  })

  it("R52 are as many at once as the controller was told to send, at most", () => {
    const zones = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`n${i}`, `u${i}`]))
    const stage = settled(zones, simple, { concurrency: 7 })
    expect(stage.server.wrote.filter(({ code }) => code === 201)).toHaveLength(200)
    expect(stage.server.crowd).toBe(7)
  })
})

describe("failures", () => {
  /** Every write of one child is answered so. */
  const failing = (stage: Stage, name: string, trouble: keyof typeof TROUBLES): void => {
    stage.server.faults.always = { name, trouble: TROUBLES[trouble] }
  }

  it("R42 delay no other child, are told, and are over within 30 s of their cause", () => {
    const stage = settled(abc, "no grid")
    failing(stage, "app-b", "Quota")
    const first = during(stage, () => stage.world.make(0, simple), 0)
    expect(ofChildren(first)).toEqual(["apply app-a", "apply app-c"])
    stage.advance(90_000)
    expect(condition(stage, "Degraded")).toMatchObject({ status: "True", reason: "Forbidden" })
    expect(condition(stage, "Degraded")?.message).toContain("exceeded quota")
    expect(JSON.stringify(events(stage))).toContain("exceeded quota")
    stage.server.faults.always = undefined
    stage.advance(30_000)
    expect(child(stage, "b")).toBeDefined()
  })

  it.each(["Quota", "Conflict", "Internal", "Reset"] as const)(
    "R43 are tried again every 30 s at least, for ever (%s)",
    (trouble) => {
      const stage = settled({ n1: "a" }, "no grid")
      failing(stage, "app-a", trouble)
      const times: number[] = []
      stage.server.onFail = () => times.push(stage.clock.elapsed)
      stage.world.make(0, simple)
      stage.advance(600_000)
      const gaps = times.map((time, i) => time - (times[i - 1] ?? time))
      expect(Math.max(...gaps)).toBeLessThanOrEqual(30_000)
      expect(times.length).toBeLessThan(140)
      stage.server.faults.always = undefined
      stage.advance(30_000)
      expect(child(stage, "a")).toBeDefined()
    }
  )

  it("R44 wait as long as Retry-After says, and others don't", () => {
    const stage = settled(abc, "no grid")
    failing(stage, "app-b", "Slow")
    const times: number[] = []
    stage.server.onFail = () => times.push(stage.clock.elapsed)
    const writes = during(stage, () => stage.world.make(0, simple), 60_000)
    expect(ofChildren(writes)).toEqual(["apply app-a", "apply app-c"])
    const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(7000)
  })

  it("R51 of two grids leave the others as quick as they were", () => {
    const stage = settled(abc, "no grid")
    stage.world.make(0, { ...simple, template: undefined })
    stage.world.make(1, { ...simple, template: { ...plain, flaw: "illegal" } })
    const writes = during(
      stage,
      () => {
        for (const place of [2, 3, 4]) stage.world.make(place, simple)
      },
      0
    )
    expect(ofChildren(writes).filter((write) => !write.includes("app-edge-"))).toHaveLength(7)
  })

  it("R50 of the node list lead to no child, and to no deletion", () => {
    const stage = settled(abc)
    const forbid = (): void => {
      stage.server.faults.forbidden.add("nodes")
      stage.server.cut("nodes")
    }
    expect(ofChildren(during(stage, forbid, 300_000))).toEqual([])
    const again = (): void => {
      stage.kill()
      stage.start()
      stage.world.make(1, simple)
    }
    expect(during(stage, again, 300_000)).toEqual([])
    stage.server.faults.forbidden.clear()
    expect(ofChildren(during(stage, () => {}, 60_000))).toEqual([
      "apply app-edge-a",
      "apply app-edge-b",
      "apply app-edge-c"
    ])
  })

  it("R80 of a status delay no work, and are tried again", () => {
    const stage = settled(abc)
    failing(stage, "app", "Internal")
    const writes = during(stage, () => stage.world.edit(0, template({ image: 2 })), 60_000)
    expect(ofChildren(writes)).toEqual(["apply app-a", "apply app-b", "apply app-c"])
    expect(ofStatus(writes)).toBe(0)
    stage.server.faults.always = undefined
    expect(ofStatus(during(stage, () => {}, 30_000))).toBeGreaterThan(0)
  })
})

describe("children", () => {
  it("R58 that are deleted by hand are back at once", () => {
    const stage = settled(abc)
    expect(ofChildren(during(stage, () => stage.world.meddle(0, "delete"), 100))).toEqual(["apply app-a"])
  })

  it("R58 that are being deleted are sent nothing", () => {
    const stage = settled(abc)
    expect(ofChildren(during(stage, () => stage.world.meddle(0, "hold"), 300_000))).toEqual([])
    expect(ofChildren(during(stage, () => stage.world.release(), 100))).toEqual(["apply app-a"])
  })

  it("R47 R48 of a unit without nodes stay for its grace, and as they are where a node comes back", () => {
    const stage = settled(abc, { ...simple, grace: "1m" })
    stage.world.make(2, simple)
    stage.advance(1000)
    const uid = child(stage, "c")?.metadata.uid
    stage.world.dropNode("n3")
    stage.advance(19_000)
    expect(child(stage, "c", 2)).toBeDefined()
    stage.advance(2000)
    expect(child(stage, "c", 2)).toBeUndefined()
    stage.world.node("n3", { zone: "c" })
    stage.advance(1000)
    expect(child(stage, "c")?.metadata.uid).toBe(uid)
    stage.world.dropNode("n3")
    stage.advance(59_000)
    expect(child(stage, "c")?.metadata.uid).toBe(uid)
    stage.advance(2000)
    expect(child(stage, "c")).toBeUndefined()
  })

  it("R29 that belong to someone else are told, and replaced within 30 s of their end", () => {
    const stage = settled(abc, "no grid")
    stage.world.plant(0, "a", "foreign")
    stage.world.make(0, simple)
    stage.advance(5000)
    expect(condition(stage, "Degraded")).toMatchObject({ status: "True", reason: "ForeignChild" })
    expect(condition(stage, "Degraded")?.message).toContain("app-a exists and has no owner")
    expect(child(stage, "b")).toBeDefined()
    stage.world.uproot()
    stage.advance(31_000)
    expect(child(stage, "a")?.spec).toMatchObject({ replicas: 2 })
  })

  it("R27 that were left behind get the new grid as their owner, and stay", () => {
    const stage = settled(abc)
    const uid = child(stage, "a")?.metadata.uid
    stage.world.unmake(0, "orphaned")
    stage.advance(1000)
    stage.world.make(0, simple)
    stage.advance(1000)
    expect(child(stage, "a")?.metadata).toMatchObject({
      uid,
      ownerReferences: [
        {
          uid: stage.world.stored({ kind: "DeploymentGrid", namespace: "default", name: "app" })?.metadata.uid
        }
      ]
    })
  })

  it("R41 are as the last edit says, though it came while the status was written", () => {
    const stage = settled({ n1: "a" })
    const before = stage.server.wrote.length
    stage.world.serve(0, "unready")
    stage.until(() => stage.server.wrote.length > before)
    expect(stage.server.wrote.at(-1)?.subresource).toBe("status")
    stage.server.faults.answers = "wait"
    stage.world.edit(0, template({ image: 2 }))
    stage.world.node("n2", { zone: "b" })
    stage.steps(100)
    stage.server.faults.answers = "pass"
    stage.advance(100)
    expect(child(stage, "a")?.spec).toMatchObject({
      template: { spec: { containers: [{ image: "nginx:2" }] } }
    })
    expect(child(stage, "b")).toBeDefined()
  })

  it("R41 are as the last edit says, though it came in the middle of a write", () => {
    const stage = settled(abc)
    stage.world.edit(0, template({ image: 2 }))
    stage.steps(3)
    stage.world.edit(0, template({ image: 3 }))
    stage.advance(1000)
    for (const unit of ["a", "b", "c"])
      expect(child(stage, unit)?.spec).toMatchObject({
        template: { spec: { containers: [{ image: "nginx:3" }] } }
      })
  })

  it("P11 stay as they are where their grid can't be read, which one event tells", () => {
    const stage = settled({ n1: "a" })
    const metadata = { name: "app", namespace: "default", uid: "u", resourceVersion: "999" }
    const garbled = { type: "MODIFIED", object: { kind: "Other", metadata } } as const
    const writes = during(stage, () => {
      stage.server.slip("deploymentgrids", garbled)
      stage.server.slip("deploymentgrids", garbled)
    })
    expect(writes.map(({ resource }) => resource)).toEqual(["/events"])
    expect(events(stage)).toMatchObject([
      {
        type: "Warning",
        reason: "Unreadable",
        involvedObject: { kind: "DeploymentGrid", namespace: "default", name: "app", uid: "u" },
        message: "it can't be read, and its children stay as they are: its kind is Other, not DeploymentGrid"
      }
    ])
    expect(child(stage, "a")).toBeDefined()
  })

  it.each([
    ["made", false],
    ["adopted", true]
  ])("P6 are given five minutes where a webhook takes away that they are %s", (_, adopted) => {
    const stage = settled({ n1: "a" }, "no grid")
    stage.server.faults.strips = true
    if (adopted) stage.world.plant(0, "a", "adoptable")
    const writes = during(
      stage,
      () => stage.world.make(0, { ...simple, template: { ...plain, recreate: true } }),
      200_000
    )
    expect(ofChildren(writes).length).toBeGreaterThanOrEqual(3)
    expect(ofChildren(writes).length).toBeLessThanOrEqual(9)
    expect(condition(stage, "Degraded")?.message).toContain("admission webhook")
  })

  it("P2 R47 delete no child whose unit was back, though a write took all that time", () => {
    const stage = settled(abc)
    const gone = (): boolean => child(stage, "c") === undefined
    stage.world.dropNode("n3")
    stage.advance(1000)
    stage.server.faults.answers = "wait"
    stage.world.edit(0, template({ image: 2 }))
    stage.advance(1000)
    stage.world.node("n3", { zone: "c" })
    stage.advance(60_000)
    stage.world.dropNode("n3")
    stage.advance(1000)
    stage.server.faults.answers = "pass"
    stage.advance(15_000)
    expect(gone()).toBe(false)
    stage.advance(6000)
    expect(gone()).toBe(true)
  })
})

/** How many passes the controllers of this process ran. */
const passes = (): number => {
  const found = Metric.unsafeSnapshot().find(
    ({ metricKey }) => metricKey.name === "servicegroup_passes_total"
  )
  const state = found?.metricState
  return state !== undefined && MetricState.isCounterState(state) ? Number(state.count) : 0
}
