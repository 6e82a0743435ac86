/**
 * The property of all stories, for the files that share its runs.
 */
import fc from "fast-check"
import { expect, it } from "vitest"
import { runs } from "../runs.ts"
import { stories } from "./commands.ts"
import { told } from "./story.ts"

/** How many stories are told in all. */
export const STORIES = 4000

/** So many stories of their own seeds settle. */
export const settles = (count: number): void => {
  it("P1 P2 P3 P5 P6 P13 settles on what is wanted, whatever happens, and then is still", () => {
    fc.assert(
      fc.property(stories, (story) => {
        expect(told(story)).toBeUndefined()
      }),
      runs(count)
    )
  })
}
