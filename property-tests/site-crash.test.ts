/**
 * The crash sweep for sites: in fixed stories the controller dies at every write, before it, between it and its answer, and after it.
 *
 * What nodes, units and groups are at the end, and how often units were made and deleted, is the same as without a death.
 */
import { describe, expect, it } from "vitest"
import type { Moment } from "./stories/faults.ts"
import { essence } from "./stories/essence.ts"
import { front, inZone, sayGroup, sayUnit } from "./stories/site-calm.ts"
import { sitesWrong } from "./stories/site-oracle.ts"
import { GROUPS, NODES, UNITS } from "./stories/site-places.ts"
import { Stage } from "./stories/stage.ts"
import { simple } from "./stories/words.ts"

/** What happens together; after each chapter the world has time to settle. */
type Chapters = readonly ((stage: Stage) => void)[]

const opening = ({ places }: Stage): void => {
  places.addNode("n1", { "kubernetes.io/os": "linux", zone: "a" })
  places.addNode("n2", { zone: "a" }, { taints: [{ key: "gpu", effect: "NoSchedule" }], unschedulable: true })
  places.addNode("n3", { zone: "b" })
}

const STORIES: Readonly<Record<string, Chapters>> = {
  "a unit and a group are made": [
    (stage) => {
      opening(stage)
      stage.world.make(0, { ...simple, key: "g" })
    },
    (stage) => {
      sayUnit(stage, "east", { ...inZone("a"), setNode: front })
      sayGroup(stage, "g", { nodeUnits: ["east"] })
    }
  ],
  "a unit with taints and a cordon is deleted": [
    (stage) => {
      opening(stage)
      sayUnit(stage, "east", {
        ...inZone("a"),
        setNode: front,
        unschedulable: true
      })
      sayGroup(stage, "g", { nodeUnits: ["east"] })
    },
    ({ places }) => places.drop(UNITS, "east")
  ],
  "a found unit comes and goes": [
    (stage) => {
      opening(stage)
      sayGroup(stage, "g", { autoFindNodeKeys: ["zone"] })
    },
    ({ places }) => places.dropNode("n3"),
    ({ places }) => places.addNode("n4", { zone: "c" }),
    ({ places }) => places.drop(GROUPS, "g")
  ]
}

interface Death {
  readonly write: number
  readonly moment: Moment
}

const MOMENTS: readonly Moment[] = ["before", "between", "after"]

describe("the loop over sites", () => {
  for (const [name, chapters] of Object.entries(STORIES)) {
    const whole = ending(chapters, undefined)

    it(`P1 P2 P3 ends as without a death, wherever it dies: ${name}`, () => {
      expect(whole.wrong).toBeUndefined()
      for (let write = 1; write <= whole.writes; write++)
        for (const moment of MOMENTS)
          expect([write, moment, ending(chapters, { write, moment })]).toEqual([
            write,
            moment,
            { ...whole, writes: expect.any(Number) as number }
          ])
    })
  }
})

interface Ending {
  readonly wrong: string | undefined
  readonly writes: number
  readonly made: readonly string[]
  readonly objects: readonly unknown[]
}

/** Tells a story with a death: what there is at the end, apart from what is made up (uids, times, revisions). */
function ending(chapters: Chapters, death: Death | undefined): Ending {
  const stage = new Stage({ seed: 0, pageSize: 100, concurrency: 16, sites: true, maxNodesChanged: 1 })
  if (death !== undefined) stage.server.faults.kill = { left: death.write, moment: death.moment }
  stage.start()
  for (const chapter of chapters) {
    chapter(stage)
    stage.advance(6000)
    stage.world.serve(undefined, "ready")
  }
  stage.calm()
  const sites = [UNITS, GROUPS, NODES] as const
  return {
    wrong: stage.settled(40_000) ?? sitesWrong(stage.places) ?? stage.still(15_000),
    writes: stage.server.wrote.length,
    made: stage.server.wrote
      .filter(({ code, resource, before, verb }) => {
        const makes = verb === "remove" || before === undefined
        return code < 300 && makes && resource === UNITS
      })
      .map(({ verb, name }) => `${verb} ${name}`)
      .sort(),
    objects: sites.flatMap((resource) =>
      (resource === NODES ? stage.places.nodes() : stage.places.sites(resource)).map((each) => essence(each))
    )
  }
}
