/** One step for each child: what each child's own situation asks for, whatever the others do. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Refusal } from "../src/core/grid.ts"
import type { Hold } from "../src/core/hold.ts"
import { plan, type Step } from "../src/core/plan.ts"
import {
  byName,
  desiring,
  frozen,
  frozenMap,
  NOW,
  ownerOf,
  planInput,
  RUNS,
  same,
  SECOND,
  shortChild,
  shortWanted,
  web,
  webService
} from "./given.ts"
import { fought, inputOf, scenes, waiting } from "./situations.ts"

describe("plan", () => {
  it("P3 P14 R51 gives each child the step that its own situation asks for, and no other", () => {
    fc.assert(
      fc.property(scenes, (scene) => {
        same(
          plan(inputOf(scene)).steps,
          scene.flatMap(({ steps }) => steps)
        )
      }),
      RUNS
    )
  })

  it("P3 R28 changes or deletes nothing whose controller is another, by uid", () => {
    const owner = fc.constantFrom(undefined, ownerOf("uid-of-web"), ownerOf("other"), {
      kind: "DeploymentGrid",
      name: "web",
      uid: "uid-of-the-web-before"
    })
    const kids = fc.array(
      fc.record({
        unit: fc.constantFrom("a", "b", "c", "d"),
        owner,
        gridSelector: fc.constantFrom(undefined, "web", "other"),
        owned: fc.constantFrom("same", "different"),
        deleting: fc.boolean(),
        legacy: fc.boolean(),
        aloneOnReplicas: fc.boolean(),
        defaultRolling: fc.boolean()
      }),
      { maxLength: 4 }
    )
    fc.assert(
      fc.property(kids, fc.nat(15), (chosen, pick) => {
        const children = byName(chosen.map(({ unit, ...more }) => shortChild(`web-${unit}`, more)))
        const wanted = ["a", "b", "c", "d"].filter((_, i) => (pick >> i) % 2 === 1)
        const desired = desiring(
          wanted.map((unit) => shortWanted(`web-${unit}`, { replicas: undefined, rolls: false }))
        )
        const since = frozenMap([...children.values()].map(({ uid }) => [uid, 0] as const))
        for (const step of plan(planInput({ children, desired, vanished: since })).steps) {
          if (!("uid" in step)) continue
          const child = children.get(step.name)
          const mine = child?.owner?.uid === "uid-of-web"
          const orphan = child?.owner === undefined && child?.gridSelector === "web"
          const adopts = ["Change", "HandOver", "Adopt"].includes(step._tag) && orphan
          same([step.uid, mine || adopts], [child?.uid, true])
          same(step._tag === "Delete" && wanted.includes(step.unit ?? ""), false)
        }
      }),
      RUNS
    )
  })

  it("P13 depends on the clock by differences alone", () => {
    fc.assert(
      fc.property(scenes, fc.integer({ min: -1e12, max: 1e12 }), (scene, shift) => {
        const here = plan(inputOf(scene))
        const there = plan(inputOf(scene, shift))
        same(
          there.steps.map((step) => moved(step, -shift)),
          here.steps
        )
        same(there.wakeAt, here.wakeAt === undefined ? undefined : here.wakeAt + shift)
      }),
      RUNS
    )
  })

  it("wakes at the first time that a step names", () => {
    fc.assert(
      fc.property(scenes, (scene) => {
        const { steps, wakeAt } = plan(inputOf(scene))
        const times = steps.flatMap((step) => ("until" in step ? [step.until] : []))
        same(wakeAt ?? Infinity, Math.min(...times))
      }),
      RUNS
    )
  })

  it("R47 deletes a child exactly when its unit was away for the whole grace, and a restart begins it anew", () => {
    const moments = fc.array(
      fc.record({
        after: fc.constantFrom(0, 1, 5, 29, 30, 31, 59, 60, 61),
        happens: fc.constantFrom("away", "away", "away", "there", "restart", "refused")
      }),
      { minLength: 1, maxLength: 8 }
    )
    fc.assert(
      fc.property(moments, (story) => {
        let now = NOW
        let awaySince: number | undefined
        let vanished: ReadonlyMap<string, number> = frozenMap([])
        for (const { after, happens } of story) {
          now += after * SECOND
          if (happens === "restart") vanished = frozenMap([])
          if (happens !== "away") awaySince = undefined
          else awaySince ??= now
          const whole: Refusal = { reason: "InvalidGridKey", path: "spec.gridUniqKey", message: "no" }
          const desired = desiring(happens === "there" ? [shortWanted("web-a")] : [], {
            refused: happens === "refused" ? [whole] : []
          })
          if (happens === "restart") continue
          const told = plan(planInput({ desired, children: byName([shortChild("web-a")]), vanished, now }))
          vanished = frozenMap(told.vanished)
          const over = awaySince !== undefined && now - awaySince >= 60 * SECOND
          same(
            told.steps.some(({ _tag }) => _tag === "Delete"),
            over
          )
        }
      }),
      RUNS
    )
  })

  it("forgets since when a unit was away once it is back, or its child is gone", () => {
    const vanished = frozenMap([
      ["uid-of-web-a", 1],
      ["uid-of-web-b", 2],
      ["uid-of-gone", 3]
    ])
    const children = byName([shortChild("web-a"), shortChild("web-b"), shortChild("web-c")])
    const told = plan(planInput({ children, vanished, desired: desiring([shortWanted("web-b")]) }))
    expect([...told.vanished]).toEqual([
      ["uid-of-web-a", 1],
      ["uid-of-web-c", NOW]
    ])
  })

  it.each([
    ["R26 is being deleted", web("zone", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }), []],
    [
      "R21 is refused as a whole",
      web(""),
      [{ reason: "InvalidGridKey", path: "spec.gridUniqKey", message: "no" }]
    ]
  ])("plans nothing for a grid that %s", (_, grid, refused) => {
    fc.assert(
      fc.property(scenes, (scene) => {
        const input = inputOf(scene)
        const told = plan({ ...input, grid, desired: { ...input.desired, refused } })
        expect(told).toMatchObject({ steps: [], refused, wakeAt: undefined })
      }),
      RUNS
    )
  })

  it("P3 owns nothing where the API never stored the grid", () => {
    const children = byName([shortChild("web-a", { owner: ownerOf("") })])
    const { uid: _, ...metadata } = web("zone").metadata
    for (const uid of ["", null, undefined]) {
      const grid = frozen({
        ...web("zone"),
        metadata: { ...metadata, ...(uid === undefined ? {} : { uid }) }
      })
      expect(plan(planInput({ grid, children })).steps).toEqual([])
    }
  })

  it("R48 gives each grid the grace that it says", () => {
    const children = byName([shortChild("web-a")])
    const graces = [undefined, "5s", "0s", "10m", "bad"].map((text) => {
      const annotations = text === undefined ? {} : { "superedge.io/unit-grace": text }
      const [step] = plan(planInput({ grid: web("zone", {}, { annotations }), children })).steps
      return step?._tag === "Grace" ? (step.until - NOW) / SECOND : step?._tag
    })
    expect(graces).toEqual([60, 5, "Delete", 600, 60])
  })

  it("deletes a Service that is wanted no more at once", () => {
    const child = shortChild("old-svc", { kind: "Service", unit: undefined })
    expect(plan(planInput({ grid: webService("zone"), children: byName([child]) })).steps).toEqual([
      { _tag: "Delete", unit: undefined, name: "old-svc", uid: "uid-of-old-svc" }
    ])
  })

  it("R58 makes a child anew that was deleted, though an earlier write of it was fought over", () => {
    const told = (_tag: Hold["_tag"]) => {
      const hold: Hold = { ...waiting("same"), _tag, until: NOW + 300 * SECOND, failure: fought }
      return plan(
        planInput({ desired: desiring([shortWanted("web-a")]), held: frozenMap([["web-a", hold]]) })
      ).steps.map((step) => step._tag)
    }
    expect([told("Undone"), told("Contended")]).toEqual([["Create"], ["Create"]])
  })
})

/** The same step at another time. */
const moved = (step: Step, shift: number): Step => {
  if (step._tag === "Grace") return { ...step, until: step.until + shift }
  if (step._tag !== "Held") return step
  const { hold } = step
  return {
    ...step,
    until: step.until + shift,
    hold: { ...hold, at: hold.at + shift, until: hold.until + shift }
  }
}
