/**
 * Tells a story: carries its commands out, lets the loop run between them, then calms everything down and judges. It ends with
 * nothing left to do, or the story says what is wrong.
 */
import type { Story } from "./commands.ts"
import { Stage } from "./stage.ts"

const SHORT_RELIST_MS = 80_000
/** A while without a relist. */
const STILL_MS = 40_000

/** Whether a story is one of those that are watched over two relists at their end. */
const watched = ({ seed }: Story): boolean => seed % 16 === 1

/** Whether a story needs a relist to come right. */
const relists = (story: Story): boolean =>
  watched(story) || story.beats.some(({ command: { _tag } }) => _tag === "Lose" || _tag === "Garble")

/** Tells a story to its end: the stage as it is then, and what is wrong, if anything. */
export const tell = (story: Story): { readonly stage: Stage; readonly wrong: string | undefined } => {
  const relist = relists(story)
  const stage = new Stage({ ...story, ...(relist && { relistMs: SHORT_RELIST_MS }) })
  stage.start()
  for (const { command, steps } of story.beats) {
    stage.carryOut(command)
    stage.steps(steps)
  }
  stage.calm()
  const wrong = stage.settled() ?? tooMany(stage, story) ?? stage.still(watched(story) ? undefined : STILL_MS)
  return { stage, wrong }
}

/** What is wrong at the end of a story, or on its way; undefined where all is well. */
export const told = (story: Story): string | undefined => tell(story).wrong

/**
 * w(story) + r(t): each command may concern the children of every grid, each of them twice, and a status and an event of each grid;
 * each failure is answered by one more attempt, and so is each start of a controller.
 */
const tooMany = (stage: Stage, { beats }: Story): string | undefined => {
  const { wrote } = stage.server
  const failed = wrote.filter(({ code }) => code >= 300).length
  const most = WRITES * (beats.length + stage.starts) + 2 * failed
  return wrote.length > most
    ? `P6: ${wrote.length} writes, ${failed} of them refused, for ${beats.length} commands`
    : undefined
}

const WRITES = 6
