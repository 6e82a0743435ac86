/**
 * Stories: whatever the world does and whatever goes wrong, the loop settles on what is wanted, by the least that it takes.
 *
 * The other half of the runs is in settle-more.test.ts, so that two cores work on them.
 */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { runs } from "./runs.ts"
import { type Story, stories, TAGS } from "./stories/commands.ts"
import { KNOWN } from "./stories/known.ts"
import { STORIES, settles } from "./stories/settles.ts"
import { tell, told } from "./stories/story.ts"

describe("control", () => {
  settles(STORIES / 2, 0)

  it.each(KNOWN)("P1 P2 P3 P5 P6 P13 settles after $name", ({ story }) => {
    expect(told(story)).toBeUndefined()
  })
})

describe("stories", () => {
  it("have each kind of command in one of twenty at least", () => {
    const counts = new Map<string, number>()
    const sample = fc.sample(stories, { numRuns: 2000, seed: 1 })
    for (const { beats } of sample)
      for (const tag of new Set(beats.map(({ command }) => command._tag)))
        counts.set(tag, (counts.get(tag) ?? 0) + 1)
    const rare = TAGS.filter((tag) => (counts.get(tag) ?? 0) < sample.length / 20)
    expect(rare).toEqual([])
  })

  it("are told the same when they are told again", () => {
    for (const story of fc.sample(stories, runs(20))) expect(log(story)).toEqual(log(story))
  })
})

/** Everything that was written, and when. */
const log = (story: Story): readonly string[] =>
  tell(story).stage.server.wrote.map(({ at, verb, resource, name, code, body }) =>
    JSON.stringify([at, verb, resource, name, code, body])
  )
