/**
 * Which units and groups that are being deleted may go: those that left nothing behind.
 */
import { before } from "./given.ts"
import type { Gifts } from "./gifts.ts"
import type { NodePatch } from "./node-patch.ts"
import { GIVEN, type Site } from "./site.ts"
import type { SiteNode } from "./site-node.ts"

/** A node with what it needs. */
export interface Patched {
  readonly node: SiteNode
  readonly patch: NodePatch
}

export interface Released {
  readonly units: readonly string[]
  readonly groups: readonly string[]
}

export interface Release {
  readonly units: readonly Site[]
  readonly groups: readonly Site[]
  readonly patches: readonly Patched[]
  readonly given: ReadonlyMap<Site, Gifts>
  /** the group that found a unit */
  readonly maker: (unit: Site) => Site | undefined
}

/** Those that are being deleted and that nothing is waited for: no node has anything of them, no unit that a group found is left. */
export const released = (o: Release): Released => {
  const busy = busyNames(o)
  const free = (each: Site): boolean => {
    const gifts = o.given.get(each)
    return (
      !busy.has(each.name) &&
      ![...(gifts?.labels ?? [])].some(([key, { value }]) => busy.has(`label ${key}=${value}`)) &&
      ![...(gifts?.annotations ?? [])].some(([key, { value }]) => busy.has(`annotation ${key}=${value}`))
    )
  }
  const names = (all: readonly Site[]): readonly string[] =>
    all
      .filter((each) => each.deleting && free(each))
      .map(({ name }) => name)
      .sort()
  return { units: names(o.units), groups: names(o.groups) }
}

/** What deletions wait for: names of units and groups, and what units gave. */
const busyNames = ({ patches, units, maker }: Release): ReadonlySet<string> => {
  const found = new Set(patches.flatMap((each) => takenFrom(each)))
  for (const unit of units) {
    const group = maker(unit)
    if (group !== undefined) found.add(group.name)
  }
  return found
}

/** What a patch takes away, or changes: keys and values of labels, which units and groups bear as names; and each with its value. */
export const takenFrom = ({ node, patch }: Patched): readonly string[] => {
  const found: string[] = []
  for (const key of Object.keys(patch.labels ?? {})) {
    const value = node.at("labels", key)
    if (value !== undefined) found.push(key, value, `label ${key}=${value}`)
  }
  for (const key of Object.keys(patch.annotations ?? {})) {
    const value = node.at("annotations", key)
    if (value !== undefined) found.push(`annotation ${key}=${value}`)
    if (key === GIVEN) found.push(...before(value).units)
  }
  return found
}
