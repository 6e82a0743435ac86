/**
 * Fault 1: the controller dies of SIGKILL at a write, before the write is sent, after it was carried out but before its answer, and after its
 * answer: 24 points in four stories. Each child is created and deleted exactly as often as without a death.
 *
 * All writes count, statuses and events too; each story has at least so many, the last of them perhaps after its children have come.
 */
import { describe, expect } from "vitest"
import { type Moment, once, words } from "../relay-script.ts"
import { clusterTest } from "../skip.ts"
import { planeOfFile } from "./scene.ts"
import { STORIES } from "./stories.ts"
import { told } from "./told.ts"

const plane = planeOfFile({ controllers: "collector" })

const MOMENTS: readonly Moment[] = ["before", "between", "after"]

/** The writes at which it dies, by the story's place. */
const WRITES: readonly (readonly [story: number, writes: readonly number[]])[] = [
  [0, [1, 3]],
  [1, [2, 5]],
  [2, [3, 6]],
  [3, [4, 7]]
]

describe.concurrent("fault 1: a controller that dies", () => {
  for (const [index, writes] of WRITES)
    for (const write of writes)
      for (const moment of MOMENTS) {
        const story = STORIES[index]
        if (story === undefined) throw new Error(`there is no story ${index}`)
        const rule = once({ verb: "write" }, write, { _tag: "Kill", moment })
        clusterTest(`P1 P2 P3 ends as without a death: ${story.name}; ${words(rule)}`, () =>
          told(plane(), story, [[rule]], (scene) => {
            expect(scene.behind.starts).toBe(2)
          })
        )
      }
})
