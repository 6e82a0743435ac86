/**
 * Names that stay in the unit, asked of a real CoreDNS in both forms, at two places: the daemon's hosts file, and the wrapper's own answers.
 *
 * What is asked is the same for both; where they differ, questions.ts says so. Each story leaves the scene as it found it, but for the last ones,
 * which take grids away.
 */
import { afterAll, beforeAll, describe } from "vitest"
import { binaries } from "../binaries.ts"
import { lasting, testUnless } from "../skip.ts"
import { obstacleToNetworks } from "../traffic/obstacle.ts"
import { PROGRAMS } from "./desks.ts"
import { Scene } from "./scene.ts"
import { ANSWERS } from "./stories/answers.ts"
import { CHANGES } from "./stories/changes.ts"
import { ENDS } from "./stories/ends.ts"
import { OUTAGES } from "./stories/outages.ts"

const missing = ((): string | undefined => {
  const found = binaries(PROGRAMS)
  return found._tag === "Missing" ? found.reason : obstacleToNetworks()
})()

describe("a real CoreDNS in both forms", () => {
  let scene: Scene | undefined
  beforeAll(async () => {
    if (missing === undefined) scene = await Scene.open()
    else if (process.env["SERVICEGROUP_CLUSTER"] !== "required")
      process.stdout.write(`\nnames on a real CoreDNS are skipped: ${missing}\n`)
  }, lasting(60))
  afterAll(async () => {
    await scene?.close()
  }, lasting(0))
  for (const { name, play } of [...ANSWERS, ...CHANGES, ...OUTAGES, ...ENDS])
    testUnless(missing, name, async (context) => {
      if (scene === undefined) throw new Error("there is no scene")
      const { plane } = scene
      context.onTestFailed(() => {
        plane.keepLogs()
        process.stdout.write(`\nthe logs of the scene are in ${plane.folder}\n`)
      })
      await play(scene)
    })
})
