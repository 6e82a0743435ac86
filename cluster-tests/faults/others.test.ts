/**
 * Others write too (faults 8, 17 and 18): a second manager that edits without end, somebody who takes a child's name at the last moment, a grid that is
 * deleted and made again, a second controller. The second manager edits for 12 s here, for 60 s with SERVICEGROUP_PLANS=40.
 */
import { describe, expect } from "vitest"
import { at } from "../client.ts"
import { until } from "../deadline.ts"
import { always, once, type Rule } from "../relay-script.ts"
import { clusterTest, lasting } from "../skip.ts"
import { withImage } from "../specs.ts"
import { condition, type Stage } from "../stage.ts"
import { share } from "./length.ts"
import { Behind, planeOfFile, Scene } from "./scene.ts"
import { BOTH, bothWith, came, newImage, rolledOut, STORIES } from "./stories.ts"
import { SWIFT, told, tried } from "./told.ts"

const plane = planeOfFile({ controllers: "collector" })

/** What is held goes on with calm, whatever is waited for before. */
const HELD = { _tag: "Hold", ms: 600_000 } as const

describe.concurrent("fault 8: a second manager", () => {
  const seconds = share(60)

  clusterTest(
    `P1 P3 edits fields of its own 50 times a second for ${seconds} s: they stay, nothing is written`,
    async () => {
      await using scene = await Scene.open(plane(), "second manager", { flags: SWIFT }, rolledOut)
      await came(scene.stage, BOTH)
      await scene.behind.still()
      const before = scene.childWrites().length
      const edits = await often(seconds, 50, (n) =>
        patched(scene.stage, "echo-a", {
          metadata: { annotations: { mine: `${n}` }, labels: { its: `${n}` } }
        })
      )
      expect(scene.childWrites().length).toBe(before)
      const [more] = await Promise.all([
        often(seconds / 2, 50, (n) =>
          patched(scene.stage, "echo-a", { metadata: { annotations: { mine: `${edits + n}` } } })
        ),
        newImage(2)(scene.stage).then(() => came(scene.stage, bothWith(2)))
      ])
      await scene.behind.still()
      const child = await scene.stage.get("Deployment", "echo-a")
      expect(at(child, "metadata", "annotations", "mine")).toBe(`${edits + more}`)
      expect(scene.childWrites().length).toBe(before + 2)
    },
    lasting(seconds * 1.5)
  )

  clusterTest(
    `P1 P6 edits a field of the grid's 50 times a second for ${seconds} s: set back, ever less often`,
    async () => {
      await using scene = await Scene.open(plane(), "contended field", { flags: SWIFT }, rolledOut)
      await came(scene.stage, BOTH)
      const before = scene.childWrites().length
      const edits = await often(seconds, 50, (n) =>
        patched(scene.stage, "echo-b", {
          spec: { template: { spec: { containers: [{ name: "echo", image: `evil:${n}` }] } } }
        })
      )
      const answers = scene.childWrites().slice(before)
      expect(edits).toBeGreaterThan(answers.length)
      // pauses from 200 ms, doubled each time, up to 30 s
      expect(answers.length).toBeLessThanOrEqual(3 + Math.log2(seconds / 0.2) + seconds / 30)
      await came(scene.stage, BOTH)
      await scene.behind.still()
      expect(await scene.counts()).toEqual({ "created echo-a": 1, "created echo-b": 1 })
    },
    lasting(seconds)
  )

  const held = (nth: number): readonly Rule[] => [
    once({ verb: "apply", kind: "deployments", name: "echo-b" }, nth, HELD)
  ]

  clusterTest("P3 takes the name while the child is being created: what it made is left alone", async () => {
    const casting = { flags: SWIFT, script: held(1) }
    await using scene = await Scene.open(plane(), "name taken", casting, rolledOut)
    await applied(scene, "echo-b", 1)
    const foreign = await scene.stage.create("Deployment", "echo-b", withImage("foreign:1"))
    await leftAlone(scene, foreign)
  })

  clusterTest("P3 replaces the child while it is being changed: what it made is left alone", async () => {
    await using scene = await Scene.open(plane(), "child replaced", { flags: SWIFT }, rolledOut)
    await came(scene.stage, BOTH)
    scene.relay.play(held(1))
    await newImage(2)(scene.stage)
    await applied(scene, "echo-b", 2)
    await scene.stage.client.remove(scene.stage.path("Deployment", "echo-b"))
    const foreign = await scene.stage.create("Deployment", "echo-b", withImage("foreign:1"))
    await leftAlone(scene, foreign)
  })
})

describe.concurrent("fault 17: a grid that is deleted and made again", () => {
  const remade = STORIES.find(({ name }) => name.startsWith("grid that is deleted"))
  if (remade === undefined) throw new Error("the story of the grid that is made again is missing")
  const late = (kind: string): readonly Rule[] => [
    always({ verb: "event", kind }, { _tag: "Hold", ms: 1500 })
  ]

  for (const kind of ["deploymentgrids", "deployments"])
    clusterTest(`P3 the successor's children are never deleted, though ${kind} come late`, () =>
      told(plane(), remade, [late(kind)], (scene) => {
        expect(scene.childWrites().filter(({ verb }) => verb === "delete")).toEqual([])
      })
    )

  clusterTest("P3 a deletion that was meant for the predecessor's child misses the successor's", async () => {
    const slow = always({ verb: "delete" }, HELD)
    const casting = { flags: SWIFT, script: [slow] }
    await using scene = await Scene.open(plane(), "late deletion", casting, rolledOut)
    await came(scene.stage, BOTH)
    await scene.stage.units({ a: ["bj-1"] })
    await until({ what: "the deletion of echo-b on its way", seconds: 45 }, () =>
      scene.behind.since(0).some(({ verb, name }) => verb === "delete" && name === "echo-b")
    )
    // another controller, which has not waited for so long, makes the successor's children meanwhile
    await using second = await Behind.open(plane(), scene.stage.namespace, { flags: ["--unit-grace", "10m"] })
    await second.relists(1)
    await scene.stage.client.remove(scene.stage.path("DeploymentGrid", "echo"))
    await scene.stage.goes("Deployment", "echo-b")
    await scene.stage.units({ a: ["bj-1"], b: ["gz-1"] })
    await scene.stage.create("DeploymentGrid", "echo", {
      gridUniqKey: scene.stage.key,
      template: withImage("echo:2")
    })
    await came(scene.stage, bothWith(2))
    const made = await scene.stage.get("Deployment", "echo-b")
    expect(scene.relay.done()[0]).toBeGreaterThan(0)
    scene.relay.calm()
    await until({ what: "the answer to the late deletion", seconds: 45 }, () =>
      scene.behind.since(0).some(({ verb, code }) => verb === "delete" && code === 409)
    )
    await scene.behind.still()
    const now = await scene.stage.get("Deployment", "echo-b")
    expect(at(now, "metadata", "uid")).toBe(at(made, "metadata", "uid"))
    expect(at(now, "metadata", "deletionTimestamp")).toBeUndefined()
  })
})

describe.concurrent("fault 18: two controllers at once, without a lease", () => {
  for (const story of STORIES.slice(0, 4))
    clusterTest(`P1 P2 ${story.name}`, () => told(plane(), story, [[], []]))

  clusterTest("P1 P2 one of them dies again and again", async () => {
    const [, , story] = STORIES
    if (story === undefined) throw new Error("there is no third story")
    const script = [1, 2, 4, 6].map((nth) =>
      once({ verb: "write" }, nth, { _tag: "Kill", moment: "between" } as const)
    )
    await tried(plane(), story, [script, []], async ({ behind }) => {
      const { starts } = behind
      // how many of its writes come depends on the other one
      expect(starts).toBeGreaterThan(1)
      expect(starts).toBeLessThanOrEqual(1 + script.length)
      // a second death before the first one's end is none
      behind.kill()
      behind.kill()
      await until({ what: "the next controller", seconds: 45 }, () => behind.starts > starts)
      await behind.still()
      expect(behind.starts).toBe(starts + 1)
    })
  })
})

/** Waits for the nth apply of a child. */
const applied = (scene: Scene, name: string, nth: number): Promise<unknown> =>
  until({ what: `apply ${nth} of ${name}`, seconds: 45 }, () => {
    const applies = scene.behind.since(0).filter((each) => each.verb === "apply" && each.name === name)
    return applies.length >= nth
  })

/** Lets go of what is held; the foreign object must stay as it is, and the grid must say so. */
const leftAlone = async ({ stage, relay, behind }: Scene, foreign: unknown): Promise<void> => {
  expect(relay.done()).toEqual([1])
  relay.calm()
  await stage.comes(
    "DeploymentGrid",
    "echo",
    "Degraded, as a child is foreign",
    (grid) => condition(grid, "Degraded", "reason") === "ForeignChild"
  )
  await behind.still()
  expect(await stage.get("Deployment", "echo-b")).toEqual(foreign)
}

const patched = (stage: Stage, name: string, patch: unknown): Promise<unknown> =>
  stage.client.patch(stage.path("Deployment", name), "strategic-merge", patch)

/** Does something so many times a second, one after the other; gives how often. */
const often = async (
  seconds: number,
  perSecond: number,
  does: (n: number) => Promise<unknown>
): Promise<number> => {
  const begin = performance.now()
  let n = 0
  while (performance.now() - begin < seconds * 1000) {
    await does(++n)
    const ahead = (n * 1000) / perSecond - (performance.now() - begin)
    if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead))
  }
  return n
}
