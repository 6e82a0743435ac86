/** A sequence told to both sides, and the first turn that they answer differently. */
import { isAside } from "./aside.ts"
import { type Difference, differences } from "./differences.ts"
import { settled } from "./settled.ts"
import type { Player, Side } from "./sides.ts"
import { type Answer, type Ask, isWatching, type Sequence, target, type Turn } from "./turns.ts"

export interface Disagreement {
  readonly index: number
  readonly turn: Turn
  readonly real: unknown
  readonly model: unknown
  readonly differences: readonly Difference[]
  /** the turns up to the one that differs */
  readonly before: readonly Turn[]
}

/** Undefined where both sides agree on every answer and every line of a watch. */
export const disagreement = async (
  { turns }: Sequence,
  namespace: string,
  real: Side,
  model: Side
): Promise<Disagreement | undefined> => {
  const [a, b] = await Promise.all(
    [real, model].map(async (side) => told(await side(namespace), turns, namespace))
  )
  const all = [...turns, ...turns.filter(isWatching)]
  for (const [index, turn] of all.entries()) {
    const found = [...differences(a?.[index], b?.[index], "")].filter((each) => !isAside(each, turn))
    if (found.length > 0)
      return {
        index,
        turn,
        real: a?.[index],
        model: b?.[index],
        differences: found,
        before: turns.slice(0, index)
      }
  }
  return undefined
}

/** The settled answers to the turns (of a watch: nothing), then the lines of each watch. */
const told = async (
  player: Player,
  turns: readonly Turn[],
  namespace: string
): Promise<readonly unknown[]> => {
  try {
    const answers: unknown[] = []
    for (const turn of turns) {
      if (isWatching(turn)) {
        await player.watch(turn)
        answers.push(undefined)
      } else answers.push(await answered(player, turn))
    }
    const markers = new Map(turns.filter(isWatching).map(({ marker }) => [marker.path, marker]))
    for (const marker of markers.values()) await player.ask(marker)
    return settled([...answers, ...(await player.lines(LAST))], namespace)
  } finally {
    await player.end()
  }
}

/** A real server that fails within itself closes the connection: the request that made it do so must be told. */
const answered = async (player: Player, ask: Ask): Promise<Answer> => {
  try {
    return await player.ask(ask)
  } catch (error) {
    throw new Error(`no answer to ${line(ask)}`, { cause: error })
  }
}

/** The name of what is created at the end for watches to see. */
export const LAST = "<ns>-last"

/** A disagreement as it is read by whoever has to mend it: the turns before, the one that differs, both answers. */
export const shown = ({ turn, before, real, model, differences: found }: Disagreement): string =>
  [
    ...before.map((each) => `  ${line(each)}`),
    `> ${line(turn)}`,
    ...found.map((each) => {
      const [a, b] = excerpts(JSON.stringify(each.real) ?? "absent", JSON.stringify(each.model) ?? "absent")
      return `${each.path}\n  real:  ${a}\n  model: ${b}`
    }),
    `real answered: ${JSON.stringify(real)}`,
    `model answered: ${JSON.stringify(model)}`
  ].join("\n")

const line = (turn: Turn): string => {
  const as = turn.accept === undefined ? "" : ` as ${turn.accept}`
  if (isWatching(turn)) return `WATCH ${target({ path: turn.watched, query: turn.query })}${as}`
  const { method, contentType = "", body } = turn
  return `${method} ${target(turn)}${as} ${contentType} ${JSON.stringify(body) ?? ""}`.trimEnd()
}

const LONG = 300

/** Two long texts from shortly before they differ. */
const excerpts = (a: string, b: string): readonly [string, string] => {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const from = Math.max(a.length, b.length) > LONG ? Math.max(0, at - LONG / 3) : 0
  const cut = (text: string): string =>
    `${from > 0 ? "..." : ""}${text.slice(from, from + LONG)}${text.length > from + LONG ? "..." : ""}`
  return [cut(a), cut(b)]
}
