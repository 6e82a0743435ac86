/**
 * The property of all stories, for the files that share its runs.
 */
import fc from "fast-check"
import { expect, it } from "vitest"
import { runs } from "../runs.ts"
import { stories } from "./commands.ts"
import { told } from "./story.ts"

/** How many stories are told in all: one takes about 50 ms, most of it in the fibers of the loop. SERVICEGROUP_RUNS=0.1 tells a tenth. */
export const STORIES = 10_000

const PATIENCE_MS = 1_800_000

/** So many stories of their own seeds settle. */
export const settles = (count: number, turn: number): void => {
  it(
    "P1 P2 P3 P5 P6 P13 settles on what is wanted, whatever happens, and then is still",
    () => {
      fc.assert(
        fc.property(stories, (story) => {
          expect(told(story)).toBeUndefined()
        }),
        runs(count, turn)
      )
    },
    PATIENCE_MS
  )
}
