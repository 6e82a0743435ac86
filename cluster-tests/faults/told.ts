/** Tells a story with scripts of faults, and holds its end and its way against what the story says: P1, P2 and P3. */
import { expect } from "vitest"
import type { ControlPlane } from "../control-plane.ts"
import { until } from "../deadline.ts"
import { type Script, words } from "../relay-script.ts"
import { bystanders, came, type Story } from "./stories.ts"
import { Behind, blind, Scene } from "./scene.ts"

/** Grace and relist as short as they may be: a lost event is made good within a second. */
export const SWIFT = ["--unit-grace", "1s", "--relist-interval", "1s"]

/** Of each rule of one script, how often it was carried out. */
export type Done = readonly number[]

/** One controller for each script, and every rule must be carried out. `more` is held against the scene before it closes. */
export const told = async (
  plane: ControlPlane,
  story: Story,
  scripts: readonly [Script, ...Script[]],
  more: (scene: Scene) => unknown = () => undefined
): Promise<void> => {
  await acted(plane, story, scripts, { faulted: haveHappened, more })
}

/** The same with rules that need not find anything, as drawn ones; gives what each script has done. */
export const tried = (
  plane: ControlPlane,
  story: Story,
  scripts: readonly [Script, ...Script[]],
  more: (scene: Scene) => unknown = () => undefined
): Promise<readonly Done[]> => acted(plane, story, scripts, { faulted: () => Promise.resolve(), more })

/** Waits until each rule has been carried out: what a death has to interrupt may come after the children. */
const haveHappened = async (behind: Behind, script: Script): Promise<void> => {
  for (const [index, rule] of script.entries())
    await until(
      { what: `the fault itself (${words(rule)}; log: ${behind.log})`, seconds: 45 },
      () => (behind.relay.done()[index] ?? 0) > 0
    )
}

interface Judges {
  /** before calm, for each controller */
  readonly faulted: (behind: Behind, script: Script) => Promise<void>
  readonly more: (scene: Scene) => unknown
}

const acted = async (
  plane: ControlPlane,
  story: Story,
  scripts: readonly [Script, ...Script[]],
  { faulted, more }: Judges
): Promise<readonly Done[]> => {
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
  for (const [index, behind] of all.entries()) await faulted(behind, scripts[index] ?? [])
  for (const { relay } of all) relay.calm()
  const end = story.chapters.at(-1)?.children ?? {}
  await came(scene.stage, end)
  await Promise.all(all.map((behind) => behind.still()))
  await came(scene.stage, end)
  expect(await scene.counts()).toEqual(story.counts)
  expect(blind(scene.childWrites())).toEqual([])
  expect(await others()).toEqual(before)
  await more(scene)
  return all.map(({ relay }) => relay.done())
}
