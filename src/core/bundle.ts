/**
 * What the units of a node give it together: every label, annotation and taint with the units that want it.
 *
 * Where units want different values, the older unit's stands. Nodes in the same units share one bundle.
 */
import type { Complaint } from "./complaints.ts"
import type { Gifts } from "./gifts.ts"
import { MARK, type Site, type Taint, text } from "./site.ts"

/** A unit with what it gives and the groups that hold it. */
export interface Giver {
  readonly unit: Site
  readonly gifts: Gifts
  readonly groups: readonly Site[]
}

export interface Wish<A> {
  readonly value: A
  /** those who want it, oldest first, and where they say so */
  readonly by: readonly Wisher[]
}

export interface Bundle {
  readonly labels: ReadonlyMap<string, Wish<string>>
  readonly annotations: ReadonlyMap<string, Wish<string>>
  readonly taints: ReadonlyMap<string, Wish<Taint>>
  /** groups that hold several of the units, with these, oldest first */
  readonly contested: ReadonlyMap<Site, readonly Site[]>
  readonly cordoning: readonly string[]
  readonly spared: { readonly labels: ReadonlySet<string>; readonly annotations: ReadonlySet<string> }
  /** what units want against each other on every node that has this bundle */
  readonly clashes: readonly Complaint[]
}

/** Who wants something, and where that is said. */
interface Wisher {
  readonly site: Site
  readonly path: string
}

type Draft<A> = Map<string, { readonly value: A; readonly by: Wisher[] }>

/** A group's label with one of its units as the value. */
const groupWish = (group: Site, unit: Site): { readonly value: string; readonly by: Wisher[] } => ({
  value: unit.name,
  by: [{ site: group, path: "metadata.name" }]
})

/**
 * All labels that are wanted of a node. The label of a group that holds several of its units keeps its first value; of units that come at
 * once, the oldest is the first. `live`: the value that a label has there.
 */
export const labelsFor = (
  { labels, contested }: Bundle,
  live: (key: string) => string | undefined
): Bundle["labels"] => {
  if (contested.size === 0) return labels
  const all = new Map(labels)
  for (const [group, units] of contested) {
    const unit = units.find(({ name }) => name === live(group.name)) ?? units[0]
    if (unit !== undefined) all.set(group.name, groupWish(group, unit))
  }
  return all
}

/** What these units give together; oldest first. */
export const bundle = (givers: readonly Giver[]): Bundle => {
  const clashes: Complaint[] = []
  const labels: Draft<string> = new Map()
  const annotations: Draft<string> = new Map()
  const taints: Draft<Taint> = new Map()
  const groups = new Map<Site, Site[]>()
  const spared = { labels: new Set<string>(), annotations: new Set<string>() }
  for (const { unit, gifts, groups: holding } of givers) {
    const want = <A>(
      draft: Draft<A>,
      key: string,
      value: A,
      path: string,
      said: (value: A) => string
    ): void => {
      const before = draft.get(key)
      if (before === undefined) draft.set(key, { value, by: [{ site: unit, path }] })
      else if (said(before.value) === said(value)) before.by.push({ site: unit, path })
      else clashes.push(...clash(before, { site: unit, path }, said(before.value), said(value)))
    }
    want(labels, unit.name, MARK, "metadata.name", String)
    for (const [key, { value, path }] of gifts.labels) want(labels, key, value, path, String)
    for (const [key, { value, path }] of gifts.annotations) want(annotations, key, value, path, String)
    for (const [id, { taint, path }] of gifts.taints)
      want(taints, id, taint, path, ({ value }) => text(value))
    for (const group of holding) {
      const units = groups.get(group)
      if (units === undefined) groups.set(group, [unit])
      else units.push(unit)
    }
    for (const key of gifts.spared.labels) spared.labels.add(key)
    for (const key of gifts.spared.annotations) spared.annotations.add(key)
  }
  const contested = new Map([...groups].filter(([, units]) => units.length > 1))
  for (const [group, [unit]] of groups)
    if (unit !== undefined && !contested.has(group)) labels.set(group.name, groupWish(group, unit))
  const cordoning = givers.filter(({ gifts }) => gifts.cordons).map(({ unit }) => unit.name)
  return { labels, annotations, taints, contested, cordoning, spared, clashes }
}

/** Told to both: the first of those whose value stands, and the one whose value doesn't. */
const clash = (
  { by }: Wish<unknown>,
  other: Wisher,
  stands: string,
  wanted: string
): readonly Complaint[] => {
  const first = by[0]
  if (first === undefined) return []
  const reason = "UnitsContradict"
  const advice = "let both say the same, or one of them say nothing"
  return [
    {
      about: other.site,
      reason,
      path: other.path,
      says: `"${wanted}" is not given where NodeUnit ${first.site.name}, which is older, gives "${stands}"`,
      advice
    },
    {
      about: first.site,
      reason,
      path: first.path,
      says: `"${stands}" is given where NodeUnit ${other.site.name} wants "${wanted}"`,
      advice
    }
  ]
}
