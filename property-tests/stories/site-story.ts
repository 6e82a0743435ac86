/**
 * Tells a story about sites: carries its commands out, lets the loop run between them, then calms everything down and judges.
 */
import { carryOutSite, isSiteCommand, type SiteBeat, type SiteStory } from "./site-commands.ts"
import { sitesWrong } from "./site-oracle.ts"
import { Stage } from "./stage.ts"

const SHORT_RELIST_MS = 80_000
/** A while without a relist. */
const STILL_MS = 40_000

/** Whether a story is one of those that are watched over two relists at their end. */
const watched = ({ seed }: SiteStory): boolean => seed % 16 === 1

const relists = (story: SiteStory): boolean =>
  watched(story) || story.beats.some(({ command: { _tag } }) => _tag === "Lose" || _tag === "Garble")

const carryOut = (stage: Stage, { command, steps }: SiteBeat): void => {
  if (isSiteCommand(command)) carryOutSite(stage.places, command)
  else {
    if (!QUIET.has(command._tag)) stage.siteTruth.disturb()
    stage.carryOut(command)
  }
  stage.steps(steps)
}

/** Commands of all stories that are no faults. */
const QUIET: ReadonlySet<string> = new Set(["MakeGrid", "Wait"])

/** Tells a story to its end: the stage as it is then, and what is wrong, if anything. */
export const tellSites = (
  story: SiteStory
): { readonly stage: Stage; readonly wrong: string | undefined } => {
  const relist = relists(story)
  const stage = new Stage({ ...story, sites: true, ...(relist && { relistMs: SHORT_RELIST_MS }) })
  stage.start()
  for (const beat of story.beats) carryOut(stage, beat)
  stage.calm()
  const wrong = ended(stage, story) ?? stage.still(watched(story) ? undefined : STILL_MS)
  return { stage, wrong }
}

const ended = (stage: Stage, story: SiteStory): string | undefined => {
  if (story.maxNodesChanged < 1) {
    // What is held waits for ever, unless somebody means it.
    stage.advance(1000)
    stage.places.confirmAll()
  }
  const wrong = stage.settled()
  if (wrong !== undefined) return wrong
  const sites = sitesWrong(stage.places)
  return sites === undefined ? tooMany(stage, story) : `P1: ${sites}`
}

/**
 * w(story) + r(t): each command may concern every node, a status and an event of each unit and group, and the children of a grid; each failure
 * is answered by one more attempt, and so is each start of a controller.
 */
const tooMany = (stage: Stage, { beats }: SiteStory): string | undefined => {
  const { wrote } = stage.server
  const failed = wrote.filter(({ code }) => code >= 300).length
  const most = WRITES * (beats.length + stage.starts) + 2 * failed
  return wrote.length > most
    ? `P6: ${wrote.length} writes, ${failed} of them refused, for ${beats.length} commands`
    : undefined
}

const WRITES = 10
