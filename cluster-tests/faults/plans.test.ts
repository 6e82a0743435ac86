/**
 * T7: six stories, each under plans of faults that were drawn, and once without any. After each plan calm; then what there is, and how often
 * each child was created and deleted, is as without faults, and nothing is written for two relists. A failure's name is its plan; length.ts says
 * how to tell more of them, others, and one again.
 */
import { describe, expect, test } from "vitest"
import type { Passed } from "../relay.ts"
import { words } from "../relay-script.ts"
import { clusterTest } from "../skip.ts"
import { PLANS, SEED } from "./length.ts"
import { plans } from "./plans.ts"
import { planeOfFile } from "./scene.ts"
import { STORIES } from "./stories.ts"
import { type Done, told, tried } from "./told.ts"

const plane = planeOfFile({ controllers: "collector" })

describe("plans", () => {
  test("have each kind of fault often enough", () => {
    const rules = plans(2000, SEED).flat()
    for (const tag of ["Kill", "Fail", "Reset", "Hold", "Repeat", "Lose", "Cut"])
      expect(rules.filter(({ deed }) => deed._tag === tag).length).toBeGreaterThan(rules.length / 20)
  })

  test("are the same for the same seed, and others for another", () => {
    expect(plans(20, 7)).toEqual(plans(20, 7))
    expect(plans(20, 8)).not.toEqual(plans(20, 7))
  })
})

for (const [index, story] of STORIES.entries())
  describe.concurrent(`P1 P2 P3 ${story.name}`, () => {
    clusterTest("without a fault", () =>
      told(plane(), story, [[]], (scene) => {
        expect(scene.behind.starts).toBe(1)
        const refused = scene.relay.passed.filter(({ code }) => (code ?? 0) >= 400)
        expect(refused.filter((each) => !isOvertaken(each))).toEqual([])
      })
    )
    for (const [turn, script] of plans(PLANS, SEED * 1000 + index).entries())
      clusterTest(`seed ${SEED}, plan ${turn + 1}: ${script.map(words).join("; ")}`, async () => {
        const [done = []] = await tried(plane(), story, [script])
        played.push(done)
      })
  })

/** What the plans did that have been told so far. */
const played: Done[] = []

// after all of them, which are concurrent
clusterTest("most of the plans did something", async () => {
  const idle = played.filter((done) => done.every((times) => times === 0))
  expect(idle.length).toBeLessThanOrEqual(played.length / 2)
  const rules = played.flat()
  expect(rules.filter((times) => times === 0).length).toBeLessThanOrEqual(rules.length / 2)
})

/**
 * A status may be too late by intention: the grid was edited or has gone. What belongs to no namespace is written by the controllers of all
 * stories at once, each as it read it.
 */
const isOvertaken = ({ kind, code }: Passed): boolean =>
  (kind.endsWith("/status") && (code === 404 || code === 409)) || (SHARED.has(kind) && code === 409)

const SHARED: ReadonlySet<string> = new Set(["nodes", "nodeunits", "nodegroups"])
