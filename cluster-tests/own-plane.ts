/** A control plane for one test file: started before its tests, stopped after them; its logs stay when one of them fails. */
import { afterAll, beforeAll, beforeEach } from "vitest"
import { type ControlPlane, controlPlane, type Options } from "./control-plane.ts"
import { available } from "./skip.ts"

/** More than what is waited for inside: a hook that ran out of time wouldn't say what did not come. */
const HOOK_MS = 300_000

/** `begins`: what is done on it before the first test. Where the programs are missing there is none, and nobody may ask for it. */
export const ownPlane = (
  options: Options,
  begins: (plane: ControlPlane) => Promise<unknown>
): (() => ControlPlane) => {
  let plane: ControlPlane | undefined
  let failed = false
  beforeAll(async () => {
    if (!available()) return
    plane = await controlPlane(options)
    try {
      await begins(plane)
    } catch (error) {
      failed = true
      throw error
    }
  }, HOOK_MS)
  beforeEach((context) => {
    context.onTestFailed(() => {
      failed = true
    })
  })
  afterAll(async () => {
    if (failed && plane !== undefined) {
      plane.keepLogs()
      process.stdout.write(`\nthe logs of the control plane are in ${plane.folder}\n`)
    }
    await plane?.stop()
  }, HOOK_MS)
  return () => {
    if (plane === undefined) throw new Error("the control plane is asked for before it is there")
    return plane
  }
}
