/**
 * Stories about sites: whatever people say of units and groups, whatever others do on nodes and whatever goes wrong, nodes end as they should be,
 * and what others put on them is there throughout.
 */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { runs } from "./runs.ts"
import type { SiteStory } from "./stories/site-commands.ts"
import { SITE_TAGS, siteStories } from "./stories/site-stories.ts"
import { tellSites } from "./stories/site-story.ts"

describe("the loop over sites", () => {
  it("P1 P2 P3 P5 P6 P13 settles on what is wanted, whatever happens, and then is still", () => {
    fc.assert(
      fc.property(siteStories, (story) => {
        expect(tellSites(story).wrong).toBeUndefined()
      }),
      runs(400)
    )
  }, 1_800_000)
})

describe("stories about sites", () => {
  it("are told the same when they are told again", () => {
    const log = (story: SiteStory): readonly string[] =>
      tellSites(story).stage.server.wrote.map(({ at, verb, resource, name, code, body }) =>
        JSON.stringify([at, verb, resource, name, code, body])
      )
    for (const story of fc.sample(siteStories, runs(5))) expect(log(story)).toEqual(log(story))
  })

  it("have each kind of command in one of twenty at least", () => {
    const counts = new Map<string, number>()
    const sample = fc.sample(siteStories, { numRuns: 1000, seed: 1 })
    for (const { beats } of sample)
      for (const tag of new Set(beats.map(({ command }) => command._tag)))
        counts.set(tag, (counts.get(tag) ?? 0) + 1)
    const rare = SITE_TAGS.filter((tag) => (counts.get(tag) ?? 0) < sample.length / 20)
    expect(rare).toEqual([])
  })
})
