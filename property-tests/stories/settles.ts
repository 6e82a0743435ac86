/**
 * The property of all stories, for the files that share its runs.
 */
import fc from "fast-check"
import { expect, it } from "vitest"
import { runs } from "../runs.ts"
import { stories } from "./commands.ts"
import { told } from "./story.ts"

/**
 * How many stories are told in all. One takes about 80 ms, most of it in the fibers of the loop: these take about a minute and a
 * half on two busy cores. SERVICEGROUP_RUNS=10 tells ten times as many.
 */
export const STORIES = 1000

/** So many stories of their own seeds settle. */
export const settles = (count: number, turn: number): void => {
  it("P1 P2 P3 P5 P6 P13 settles on what is wanted, whatever happens, and then is still", () => {
    fc.assert(
      fc.property(stories, (story) => {
        expect(told(story)).toBeUndefined()
      }),
      runs(count, turn)
    )
  })
}
