/**
 * What of units and groups is refused, for people: what is told to several with the same words is told once.
 */
import type { SiteRefusal } from "../core/site.ts"
import type { Paint } from "./demo/paint.ts"

const aboutOf = ({ unit, group }: SiteRefusal): string =>
  unit === undefined ? `NodeGroup ${group ?? ""}` : `NodeUnit ${unit}`

/** What is told to several with the same words, told once. */
export interface Telling {
  readonly reason: string
  readonly says: string
  readonly to: readonly string[]
}

export const tellings = (all: readonly SiteRefusal[]): readonly Telling[] => {
  const found = new Map<string, Telling & { readonly to: string[] }>()
  for (const each of all) {
    const { reason, path, message } = each
    const start = `${aboutOf(each)}: ${path}: `
    const says = message.startsWith(start) ? message.slice(start.length) : message
    const to = `${aboutOf(each)} (${path})`
    const known = found.get(`${reason} ${says}`)
    if (known === undefined) found.set(`${reason} ${says}`, { reason, says, to: [to] })
    else known.to.push(to)
  }
  return [...found.values()]
}

/** A block with a title, or none. */
export const told = (
  title: string,
  all: readonly Telling[],
  colour: (text: string) => string,
  paint: Paint
): readonly (readonly string[])[] => {
  if (all.length === 0) return []
  const lines = all.flatMap(({ reason, says, to }) => [
    `  ${colour(reason)}  ${clean(to.join(", "))}`,
    `    ${clean(says)}`
  ])
  return [[paint.bold(title), ...lines]]
}

/** The reasons of what is refused, by whom it is about: `NodeUnit beijing`. */
export const reasons = (refused: readonly SiteRefusal[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, Set<string>>()
  for (const each of refused) {
    const about = aboutOf(each)
    const known = found.get(about)
    if (known === undefined) found.set(about, new Set([each.reason]))
    else known.add(each.reason)
  }
  return found
}

/** Values of annotations are anybody's text: nothing of it may steer a terminal. */
export const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�")
