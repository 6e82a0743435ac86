/**
 * (node units, node groups, nodes) -> what each node must gain and lose, what each unit and group is, and what is refused.
 *
 * A pass over everything, from scratch: nothing is remembered but on the nodes themselves, by field ownership and in one annotation. So a
 * controller that was away cleans up what units let go of meanwhile.
 */
import { type Bundle, bundle } from "./bundle.ts"
import { Complaints } from "./complaints.ts"
import { type Givers, giversByNode, NO_GIVERS } from "./givers.ts"
import { allWritten, complainOfUnwritten, type Unwritten } from "./unwritten.ts"
import { type FinalizerPatch, finalizerPatches } from "./finalizer.ts"
import { makers, type UnwantedUnit } from "./found-units.ts"
import { gifts, type Gifts } from "./gifts.ts"
import type { Node } from "./kube.ts"
import { Ledger } from "./ledger.ts"
import { Nodes } from "./membership.ts"
import type { Moves } from "./moves.ts"
import { type NodePatch, nodePatch } from "./node-patch.ts"
import {
  byAge,
  bySite,
  byText,
  names,
  type NodeGroup,
  type NodeGroupStatus,
  type NodeUnit,
  type NodeUnitStatus,
  type Site,
  site,
  siteKey,
  type SiteRefusal
} from "./site.ts"
import { type Places, placing } from "./places.ts"
import { type Patched, released, type Released } from "./release.ts"
import { SiteNode } from "./site-node.ts"
import { groupStatus, idleFields, type Told, unitStatus } from "./site-status.ts"

export interface SitesInput {
  readonly units: readonly NodeUnit[]
  readonly groups: readonly NodeGroup[]
  readonly nodes: readonly Node[]
  /** the share of nodes (0 to 1) that may leave their units at once without being confirmed; absent: all of them */
  readonly maxNodesChanged?: number
}

/** The same, of objects that were read before. */
export interface SeenSites {
  readonly units: readonly Site[]
  readonly groups: readonly Site[]
  readonly nodes: readonly SiteNode[]
  readonly maxNodesChanged: number
  readonly unwritten: Unwritten
}

export interface Sites {
  /** by name; a node that needs nothing is not among them */
  readonly nodes: readonly NodePatch[]
  /** one for each of the units, in their order; the conditions without times */
  readonly units: readonly NodeUnitStatus[]
  /** one for each of the groups, in their order; the conditions without times */
  readonly groups: readonly NodeGroupStatus[]
  readonly refused: readonly SiteRefusal[]
  /** what owners should know, although nothing is refused */
  readonly notices: readonly SiteRefusal[]
  /** units to make, or to apply anew (these bear their uid): those that groups find, and `unit-node-all` */
  readonly wanted: readonly NodeUnit[]
  /** units that groups found and that are to be deleted */
  readonly unwanted: readonly UnwantedUnit[]
  /** those that are being deleted and have nothing on any node any more: their finalizers may go */
  readonly released: Released
  /** finalizers to write: of those that have ours not yet, and of the released */
  readonly finalizers: readonly FinalizerPatch[]
  readonly moves: Moves
}

/**
 * What units and groups want of nodes, as all of them are now. Depends neither on the order of its arguments nor on what happened before,
 * but for what stands on the nodes: the first value of a group's label stays while it is one of those that are wanted. Once the patches
 * are written, nothing is wanted any more. Never throws on a stored object, never writes to its arguments.
 */
export const sites = (input: SitesInput): Sites =>
  sitesOf({
    units: input.units.map((each) => site("NodeUnit", each)),
    groups: input.groups.map((each) => site("NodeGroup", each)),
    nodes: input.nodes.map((each) => new SiteNode(each)),
    maxNodesChanged: input.maxNodesChanged ?? 1,
    unwritten: allWritten
  })

/** As `sites`, of objects that were read before. */
export const sitesOf = (seen: SeenSites): Sites => survey(seen).sites

/** What `sites` says, and what it is made from. */
export interface Survey {
  readonly sites: Sites
  readonly places: Places
  /** by unit; of those that are served */
  readonly gifts: ReadonlyMap<Site, Gifts>
  /** what the units of a node give it together */
  readonly bundleOf: (node: SiteNode) => Bundle
  readonly patches: readonly Patched[]
}

export const survey = ({ units, groups, maxNodesChanged: share, ...seen }: SeenSites): Survey => {
  const nodes = new Nodes(seen.nodes.filter(({ name }) => name !== ""))
  const { holders, refused: unserved } = names([...units, ...groups])
  const served = [...holders.values()].sort(byAge)
  const maker = makers(served.filter((each) => !isUnit(each)))
  const places = placing({ served, holders, maker, nodes, share })
  const given = new Map(served.filter(isUnit).map((unit) => [unit, gifts(unit, holders)]))
  const complaints = new Complaints()
  const givers = giversByNode(places, given)
  const bundleOf = bundling(givers)
  const patches = patching(bundleOf, nodes, complaints)
  complainOfUnwritten(seen.unwritten, { patches, places, served, holders, givers, maker }, complaints)
  const refused = [
    ...unserved.values(),
    ...places.refused,
    ...[...given].flatMap(([unit, each]) => (unit.deleting ? [] : each.refused)),
    ...complaints.refusals()
  ].sort(byPlace)
  const notices = [
    ...places.notices,
    ...[...given].flatMap(([unit, each]) => (unit.deleting ? [] : each.notices)),
    ...served.flatMap(idleFields)
  ].sort(byPlace)
  const telling = teller(unserved, refused, notices)
  const free = released({ units, groups, patches, given, maker })
  const sites: Sites = {
    nodes: patches.map(({ patch }) => patch).sort((a, b) => byText(a.name, b.name)),
    units: units.map((unit) => unitStatus(unit, places.nodesOf.get(unit) ?? [], telling(unit))),
    groups: groups.map((group) => {
      const members = places.unitsOf.get(group) ?? []
      return groupStatus(group, members, countNodes(members, places), telling(group))
    }),
    refused,
    notices,
    wanted: places.wanted,
    unwanted: places.unwanted,
    released: free,
    finalizers: finalizerPatches([...units, ...groups], new Set(served), free),
    moves: places.moves
  }
  return { sites, places, gifts: given, bundleOf, patches }
}

const countNodes = (units: Iterable<Site>, { nodesOf }: Places): number => {
  const found = new Set<SiteNode>()
  for (const unit of units) for (const node of nodesOf.get(unit) ?? []) found.add(node)
  return found.size
}

const isUnit = (each: Site): boolean => each.kind === "NodeUnit"

/** By object, then by field. */
const byPlace = (a: SiteRefusal, b: SiteRefusal): number =>
  byText(a.unit ?? "", b.unit ?? "") ||
  byText(a.group ?? "", b.group ?? "") ||
  byText(a.path, b.path) ||
  byText(a.reason, b.reason) ||
  byText(a.message, b.message)

const teller = (
  unserved: ReadonlyMap<Site, SiteRefusal>,
  refused: readonly SiteRefusal[],
  notices: readonly SiteRefusal[]
): ((site: Site) => Told) => {
  const [bad, good] = [bySite(refused), bySite(notices)]
  return (each) => {
    const whole = unserved.get(each)
    const key = siteKey(each)
    if (whole !== undefined) return { whole, refused: [whole], notices: [] }
    return { whole, refused: bad.get(key) ?? [], notices: good.get(key) ?? [] }
  }
}

/** What the units of a node give it; nodes in the same units share it. */
const bundling = (givers: ReadonlyMap<SiteNode, Givers>): Survey["bundleOf"] => {
  const bundles = new Map<string, Bundle>()
  return (node) => {
    const { key, list } = givers.get(node) ?? NO_GIVERS
    let made = bundles.get(key)
    if (made === undefined) bundles.set(key, (made = bundle(list)))
    return made
  }
}

/** What each node needs. */
const patching = (bundleOf: Survey["bundleOf"], nodes: Nodes, complaints: Complaints): readonly Patched[] => {
  const ledger = new Ledger()
  const patched: Patched[] = []
  for (const node of nodes.all) {
    const patch = nodePatch(node, bundleOf(node), ledger, complaints)
    if (patch !== undefined) patched.push({ node, patch })
  }
  return patched
}
