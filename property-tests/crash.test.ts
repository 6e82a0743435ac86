/**
 * The crash sweep: in six fixed stories the controller dies at every write, before it, between it and its answer, and after it.
 *
 * What the cluster and its statuses are at the end, and how often each child was created and deleted, is the same as without a death.
 */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Model from "../src/embedded/model.ts"
import { runs } from "./runs.ts"
import type { Command } from "./stories/commands.ts"
import type { Moment } from "./stories/faults.ts"
import { essence } from "./stories/essence.ts"
import { Stage } from "./stories/stage.ts"
import { type GridWords, plain, simple } from "./stories/words.ts"
import { CHILD, GRID } from "./stories/world.ts"

/** Commands that come together; after each chapter the world has time to settle. */
type Chapters = readonly (readonly Command[])[]

const node = (n: number, value: string): Command => ({ _tag: "AddNode", node: n, key: "zone", value })
const made = (grid: number, words: GridWords = simple): Command => ({ _tag: "MakeGrid", grid, words })
const template = (change: object, grid = 0): Command => ({
  _tag: "EditGrid",
  grid,
  edit: { _tag: "Template", of: "", change }
})

const STORIES: Readonly<Record<string, Chapters>> = {
  "grids are made": [
    [node(1, "a"), node(2, "b")],
    [made(0), made(2), made(3)]
  ],
  "an image changes, and a variable goes": [
    [node(1, "a"), node(2, "b"), made(0, { ...simple, template: { ...plain, env: 2 } })],
    [template({ image: 2 })],
    [template({ env: 0 })]
  ],
  "a unit loses its node": [[node(1, "a"), node(2, "b"), made(0)], [{ _tag: "DropNode", node: 2 }]],
  "children of SuperEdge are taken over": [
    [made(0)],
    [{ _tag: "Plant", grid: 0, unit: "a", how: "legacy" }],
    [node(1, "a"), node(2, "b")]
  ],
  "replicas are let go": [
    [node(1, "a"), node(2, "b"), made(0, { ...simple, template: { ...plain, replicas: 3 } })],
    [template({ replicas: undefined })]
  ],
  "a service has node ports, then fewer of them": [
    [node(1, "a"), made(3, { ...simple, template: { ...plain, recreate: true, env: 2 } })],
    [template({ image: 2 }, 3)],
    [template({ env: 1 }, 3)]
  ]
}

interface Death {
  readonly write: number
  readonly moment: Moment
}

const MOMENTS: readonly Moment[] = ["before", "between", "after"]

describe("control", () => {
  for (const [name, chapters] of Object.entries(STORIES)) {
    const whole = ending(chapters, [])

    it(`P1 P2 P3 ends as without a death, wherever it dies: ${name}`, () => {
      expect(whole.wrong).toBeUndefined()
      for (let write = 1; write <= whole.writes; write++)
        for (const moment of MOMENTS)
          expect([write, moment, ending(chapters, [{ write, moment }])]).toEqual([
            write,
            moment,
            { ...whole, writes: expect.any(Number) as number }
          ])
    })
  }

  it("P1 P2 P3 ends as without a death, where it dies twice", () => {
    const death = fc.record({ write: fc.integer({ min: 1, max: 12 }), moment: fc.constantFrom(...MOMENTS) })
    const wholes = new Map(Object.keys(STORIES).map((name) => [name, ending(STORIES[name] ?? [], [])]))
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(STORIES)),
        death,
        death,
        fc.nat(0x7fffffff),
        (name, first, second, seed) => {
          const { writes: _, ...end } = ending(STORIES[name] ?? [], [first, second], seed)
          expect(wholes.get(name)).toMatchObject(end)
        }
      ),
      runs(2000)
    )
  }, 1_800_000)
})

interface Ending {
  readonly wrong: string | undefined
  readonly writes: number
  readonly created: readonly string[]
  readonly deleted: readonly string[]
  readonly objects: readonly unknown[]
}

/** Tells a story with the given deaths: what there is at the end, apart from what is made up (uids, times, revisions). */
function ending(chapters: Chapters, deaths: readonly Death[], seed = 0): Ending {
  const stage = new Stage({ seed, pageSize: 100, concurrency: 16 })
  const [first, ...later] = deaths.map(({ write, moment }) => ({ left: write, moment }))
  stage.server.faults.kill = first
  stage.server.faults.kills = later
  stage.start()
  for (const chapter of chapters) {
    for (const command of chapter) stage.carryOut(command)
    // Each death begins the grace time anew.
    stage.advance(chapter.some(({ _tag }) => _tag === "DropNode") ? 75_000 : 8000)
    stage.world.serve(undefined, "ready")
    stage.advance(6000)
  }
  stage.calm()
  const { created, deleted } = stage.truth
  return {
    wrong: stage.settled(5000) ?? stage.still(20_000),
    writes: stage.server.wrote.length,
    created: counts(created),
    deleted: counts(deleted),
    objects: [...Object.values(CHILD), ...Object.values(GRID)].flatMap((resource) =>
      Model.list(stage.server.cluster, resource).map((object) => essence(object))
    )
  }
}

const counts = (of: ReadonlyMap<string, number>): readonly string[] =>
  [...of].map((entry) => entry.join(": ")).sort()
