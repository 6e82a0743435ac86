/**
 * How many live nodes each unit has, for every grid key in use: tells when a unit appears and when it loses its last node.
 *
 * A node that joins or leaves a unit that has others changes nothing here, so that no grid is looked at for it.
 */
import type { StringMap } from "./kube.ts"
import { unitOf } from "./units.ts"

/** A node, as far as units need it. */
export interface Member {
  readonly labels: StringMap
}

export interface Census {
  /** key -> unit -> number of nodes */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** key -> its units, sorted; the same array as long as the units are the same */
  readonly units: ReadonlyMap<string, readonly string[]>
}

export const empty: Census = { counts: new Map(), units: new Map() }

/** The census with a further key counted; the same one where it is counted already. */
export const counting = (census: Census, key: string, members: Iterable<Member>): Census => {
  if (census.counts.has(key)) return census
  const count = new Map<string, number>()
  for (const member of members) {
    const unit = unitOf(key, member.labels)
    if (unit !== undefined) count.set(unit, (count.get(unit) ?? 0) + 1)
  }
  return {
    counts: new Map(census.counts).set(key, count),
    units: new Map(census.units).set(key, [...count.keys()].sort())
  }
}

/** The census without keys that nobody uses. */
export const forgetting = (census: Census, used: ReadonlySet<string>): Census => {
  if ([...census.counts.keys()].every((key) => used.has(key))) return census
  const keep = <A>(map: ReadonlyMap<string, A>): ReadonlyMap<string, A> =>
    new Map([...map].filter(([key]) => used.has(key)))
  return { counts: keep(census.counts), units: keep(census.units) }
}

/** What one node's change makes of the census, and the keys whose units changed: a unit appeared or lost its last node. */
export const moved = (
  census: Census,
  before: Member | undefined,
  after: Member | undefined
): { readonly census: Census; readonly keys: readonly string[] } => {
  let { counts, units } = census
  const keys: string[] = []
  for (const [key, count] of census.counts) {
    const from = unitOf(key, before?.labels)
    const to = unitOf(key, after?.labels)
    if (from === to) continue
    const next = new Map(count)
    if (from !== undefined) {
      const left = (next.get(from) ?? 1) - 1
      if (left === 0) next.delete(from)
      else next.set(from, left)
    }
    if (to !== undefined) next.set(to, (next.get(to) ?? 0) + 1)
    counts = new Map(counts).set(key, next)
    if ((from !== undefined && !next.has(from)) || (to !== undefined && !count.has(to))) {
      units = new Map(units).set(key, [...next.keys()].sort())
      keys.push(key)
    }
  }
  return { census: { counts, units }, keys }
}
