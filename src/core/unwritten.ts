/**
 * What the server refused to write, told to the units and groups that it is about.
 */
import type { Complaints } from "./complaints.ts"
import { type Givers, NO_GIVERS } from "./givers.ts"
import type { Places } from "./places.ts"
import { type Patched, takenFrom } from "./release.ts"
import { type Site, siteKey } from "./site.ts"
import type { SiteNode } from "./site-node.ts"

/** Why something was not written, in the server's words. */
export interface Unwritten {
  /** by name of the node */
  readonly nodes: ReadonlyMap<string, string>
  /** by name of a unit that is to be made, set right or deleted */
  readonly units: ReadonlyMap<string, string>
  /** by `siteKey`, where the finalizer could not be added or removed */
  readonly finalizers: ReadonlyMap<string, string>
}

export const allWritten: Unwritten = { nodes: new Map(), units: new Map(), finalizers: new Map() }

interface Judged {
  readonly patches: readonly Patched[]
  readonly places: Places
  readonly served: readonly Site[]
  readonly holders: ReadonlyMap<string, Site>
  readonly givers: ReadonlyMap<SiteNode, Givers>
  /** the group that found a unit */
  readonly maker: (unit: Site) => Site | undefined
}

/** Nodes are told to all whose labels, annotations or taints they are about; found units to their group. */
export const complainOfUnwritten = (unwritten: Unwritten, o: Judged, complaints: Complaints): void => {
  for (const each of unwritten.nodes.size === 0 ? [] : o.patches) {
    const why = unwritten.nodes.get(each.node.name)
    if (why !== undefined)
      for (const site of aboutNode(each, o)) complaints.add(node(site, why), each.node.name)
  }
  for (const [name, why] of unwritten.units) {
    const group = groupOf(name, o)
    if (group !== undefined) complaints.add(unit(group, why), name)
  }
  for (const site of unwritten.finalizers.size === 0 ? [] : o.served) {
    const why = unwritten.finalizers.get(siteKey(site))
    if (why !== undefined) complaints.add(finalizer(site, why), site.name)
  }
}

const aboutNode = (patched: Patched, { givers, holders }: Judged): ReadonlySet<Site> => {
  const about = new Set((givers.get(patched.node) ?? NO_GIVERS).list.map(({ unit }) => unit))
  for (const name of takenFrom(patched)) {
    const holder = holders.get(name)
    if (holder !== undefined) about.add(holder)
  }
  return about
}

/** The group that wants a unit, or has it deleted. */
const groupOf = (name: string, { places, holders, maker }: Judged): Site | undefined => {
  const holder = holders.get(name)
  if (places.unwanted.some((each) => each.name === name))
    return holder === undefined ? undefined : maker(holder)
  const wanted = places.wanted.find(({ metadata }) => metadata.name === name)
  return holders.get(wanted?.metadata.ownerReferences?.[0]?.name ?? "")
}

const AGAIN = "it is tried again"

const node = (about: Site, why: string) => ({
  about,
  reason: "NodeNotWritten",
  path: about.deleting ? "metadata.finalizers" : "spec",
  says: `what nodes carry could not be written: ${why}`,
  advice: AGAIN
})

const unit = (about: Site, why: string) => ({
  about,
  reason: "UnitNotWritten",
  path: "spec.autoFindNodeKeys",
  says: `units that it finds could not be made, set right or deleted: ${why}`,
  advice: AGAIN
})

const finalizer = (about: Site, why: string) => ({
  about,
  reason: "FinalizerNotWritten",
  path: "metadata.finalizers",
  says: `could not be written: ${why}`,
  advice: AGAIN
})
