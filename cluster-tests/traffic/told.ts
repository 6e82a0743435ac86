/** Tells all stories of real traffic in one mode of kube-proxy, on one scene. */
import { afterAll, beforeAll, describe, expect } from "vitest"
import { lasting, testUnless } from "../skip.ts"
import { obstacle } from "./obstacle.ts"
import type { Mode } from "./proxies.ts"
import { Scene, type Story } from "./scene.ts"
import { EDITS } from "./stories/edits.ts"
import { MOVES } from "./stories/moves.ts"
import { OUTAGES } from "./stories/outages.ts"

/** Each leaves the scene as it found it. */
const STORIES: readonly Story[] = [...MOVES, ...EDITS, ...OUTAGES]

export const told = (mode: Mode): void => {
  const missing = obstacle()
  const required = process.env["SERVICEGROUP_CLUSTER"] === "required"
  if (missing !== undefined && !required)
    process.stdout.write(`\ntraffic through kube-proxy is skipped: ${missing}\n`)
  let scene: Scene | undefined
  let failed = false
  const tell = async ({ play }: Story): Promise<void> => {
    if (scene === undefined) throw new Error("there is no scene")
    if (failed) await scene.mend()
    failed = false
    await play(scene)
    await scene.settled()
    for (const [node, count] of await scene.judge())
      expect(count.answered, `requests from ${node} answered meanwhile`).toBeGreaterThan(0)
  }
  describe(`traffic through kube-proxy in ${mode} mode`, () => {
    beforeAll(async () => {
      if (missing === undefined) scene = await Scene.open(mode)
    }, lasting(60))
    afterAll(async () => {
      await scene?.close()
    }, lasting(0))
    for (const story of STORIES)
      testUnless(missing, story.name, async (context) => {
        context.onTestFailed(() => {
          failed = true
          scene?.plane.keepLogs()
          process.stdout.write(`\nthe logs of the scene are in ${scene?.plane.folder}\n`)
        })
        await tell(story)
      })
  })
}
