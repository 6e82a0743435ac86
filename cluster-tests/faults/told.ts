/** Tells a story with scripts of faults, and holds its end and its way against what the story says: P1, P2 and P3. */
import { expect } from "vitest"
import type { ControlPlane } from "../control-plane.ts"
import type { Script } from "../relay-script.ts"
import { bystanders, came, type Story } from "./stories.ts"
import { Behind, blind, Scene } from "./scene.ts"

/** Grace and relist as short as they may be: a lost event is made good within a second. */
export const SWIFT = ["--unit-grace", "1s", "--relist-interval", "1s"]

/** One controller for each script. `more` is held against the scene before it closes. */
export const told = async (
  plane: ControlPlane,
  story: Story,
  scripts: readonly [Script, ...Script[]],
  more: (scene: Scene) => unknown = () => undefined
): Promise<void> => {
  const [first, ...rest] = scripts
  let others: () => Promise<readonly unknown[]> = () => Promise.resolve([])
  await using scene = await Scene.open(plane, story.name, { flags: SWIFT, script: first }, async (stage) => {
    others = await bystanders(stage)
  })
  await using further = new AsyncDisposableStack()
  const all = [scene.behind]
  for (const script of rest) {
    const behind = await Behind.open(plane, scene.stage.namespace, { flags: SWIFT, script })
    all.push(further.use(behind))
  }
  const before = await others()
  for (const { does, children } of story.chapters) {
    await does(scene.stage)
    await came(scene.stage, children)
  }
  for (const { relay } of all) relay.calm()
  const end = story.chapters.at(-1)?.children ?? {}
  await came(scene.stage, end)
  await Promise.all(all.map((behind) => behind.still()))
  await came(scene.stage, end)
  expect(await scene.counts()).toEqual(story.counts)
  expect(blind(scene.childWrites())).toEqual([])
  expect(await others()).toEqual(before)
  await more(scene)
}
