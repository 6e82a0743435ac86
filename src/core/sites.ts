/**
 * (node units, node groups, nodes) -> what each node must gain and lose, what each unit and group is, and what is refused.
 *
 * A pass over everything, from scratch: nothing is remembered but on the nodes themselves, by field ownership and in one annotation. So a
 * controller that was away cleans up what units let go of meanwhile.
 */
import { type Bundle, bundle, type Giver } from "./bundle.ts"
import { Complaints } from "./complaints.ts"
import { makers, type UnwantedUnit } from "./found-units.ts"
import { before } from "./given.ts"
import { gifts, type Gifts } from "./gifts.ts"
import type { Node } from "./kube.ts"
import { Ledger } from "./ledger.ts"
import { Nodes } from "./membership.ts"
import type { Moves } from "./moves.ts"
import { type NodePatch, nodePatch } from "./node-patch.ts"
import {
  byAge,
  byText,
  GIVEN,
  names,
  type NodeGroup,
  type NodeGroupStatus,
  type NodeUnit,
  type NodeUnitStatus,
  type Site,
  site,
  type SiteRefusal
} from "./site.ts"
import { type Places, placing } from "./places.ts"
import { SiteNode } from "./site-node.ts"
import { groupStatus, idleFields, type Told, unitStatus } from "./site-status.ts"

export interface SitesInput {
  readonly units: readonly NodeUnit[]
  readonly groups: readonly NodeGroup[]
  readonly nodes: readonly Node[]
  /** the share of nodes (0 to 1) that may leave their units at once without being confirmed; absent: all of them */
  readonly maxNodesChanged?: number
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
  /** units to make, or to apply anew: those that groups find, and `unit-node-all` */
  readonly wanted: readonly NodeUnit[]
  /** units that groups found and that are to be deleted */
  readonly unwanted: readonly UnwantedUnit[]
  /** entries `<group>: <unit>` of `setNode.labels` that go with a group's label, which the unit has no more */
  readonly spent: readonly { readonly unit: string; readonly label: string }[]
  /** those that are being deleted and have nothing on any node any more: their finalizers may go */
  readonly released: { readonly units: readonly string[]; readonly groups: readonly string[] }
  readonly moves: Moves
}

/**
 * What units and groups want of nodes, as all of them are now. Depends neither on the order of its arguments nor on what happened before,
 * but for what stands on the nodes: the first value of a group's label stays while it is one of those that are wanted. Once the patches
 * are written, nothing is wanted any more. Never throws on a stored object, never writes to its arguments.
 */
export const sites = (input: SitesInput): Sites => {
  const units = input.units.map((each) => site("NodeUnit", each))
  const groups = input.groups.map((each) => site("NodeGroup", each))
  const nodes = new Nodes(input.nodes.map((each) => new SiteNode(each)).filter(({ name }) => name !== ""))
  const { holders, refused: unserved } = names([...units, ...groups])
  const served = [...holders.values()].sort(byAge)
  const maker = makers(served.filter((each) => !isUnit(each)))
  const places = placing({ served, holders, maker, nodes, share: input.maxNodesChanged ?? 1 })
  const given = new Map(served.filter(isUnit).map((unit) => [unit, gifts(unit, holders)]))
  const complaints = new Complaints()
  const patches = patching(places, given, nodes, complaints)
  const refused = [
    ...unserved.values(),
    ...places.refused,
    ...[...given].flatMap(([unit, each]) => (unit.deleting ? [] : each.refused)),
    ...complaints.refusals()
  ].sort(byPlace)
  const notices = [...places.notices, ...served.flatMap(idleFields)].sort(byPlace)
  const telling = teller(unserved, refused, notices)
  const spent = spentOf(given, places)
  return {
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
    spent,
    released: released([...units, ...groups], busyNames(patches, spent, units, maker), given),
    moves: places.moves
  }
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
  const [bad, good] = [byObject(refused), byObject(notices)]
  return (each) => {
    const whole = unserved.get(each)
    const key = `${each.kind} ${each.name}`
    if (whole !== undefined) return { whole, refused: [whole], notices: [] }
    return { whole, refused: bad.get(key) ?? [], notices: good.get(key) ?? [] }
  }
}

const byObject = (all: readonly SiteRefusal[]): ReadonlyMap<string, readonly SiteRefusal[]> => {
  const found = new Map<string, SiteRefusal[]>()
  for (const each of all) {
    const key = each.unit === undefined ? `NodeGroup ${each.group ?? ""}` : `NodeUnit ${each.unit}`
    const list = found.get(key)
    if (list === undefined) found.set(key, [each])
    else list.push(each)
  }
  return found
}

interface Patched {
  readonly node: SiteNode
  readonly patch: NodePatch
}

/** What each node needs; nodes in the same units share what these give. */
const patching = (
  places: Places,
  given: ReadonlyMap<Site, Gifts>,
  nodes: Nodes,
  complaints: Complaints
): readonly Patched[] => {
  const givers = giversByNode(places, given)
  const bundles = new Map<string, Bundle>()
  const ledger = new Ledger()
  const patched: Patched[] = []
  for (const node of nodes.all) {
    const { key, list } = givers.get(node) ?? NO_GIVERS
    let made = bundles.get(key)
    if (made === undefined) bundles.set(key, (made = bundle(list)))
    const patch = nodePatch(node, made, ledger, complaints)
    if (patch !== undefined) patched.push({ node, patch })
  }
  return patched
}

interface Givers {
  /** the same for nodes in the same units */
  key: string
  readonly list: Giver[]
}

const NO_GIVERS: Givers = { key: "", list: [] }

/** The units of each node, oldest first. */
const giversByNode = (places: Places, given: ReadonlyMap<Site, Gifts>): ReadonlyMap<SiteNode, Givers> => {
  const holding = new Map<Site, Site[]>()
  for (const [group, units] of places.unitsOf)
    for (const unit of units) {
      const list = holding.get(unit)
      if (list === undefined) holding.set(unit, [group])
      else list.push(group)
    }
  const found = new Map<SiteNode, Givers>()
  let number = 0
  for (const [unit, gifts] of given) {
    number++
    const giver: Giver = { unit, gifts, groups: holding.get(unit) ?? [] }
    for (const node of places.nodesOf.get(unit) ?? []) {
      const known = found.get(node)
      if (known === undefined) found.set(node, { key: String(number), list: [giver] })
      else {
        known.key += ` ${number}`
        known.list.push(giver)
      }
    }
  }
  return found
}

const spentOf = (given: ReadonlyMap<Site, Gifts>, places: Places): Sites["spent"] => {
  const held = new Set<string>()
  for (const [group, units] of places.unitsOf)
    for (const unit of units) held.add(`${group.name} ${unit.name}`)
  return [...given]
    .filter(([unit]) => !unit.deleting)
    .flatMap(([unit, { groups }]) => groups.map((label) => ({ unit: unit.name, label })))
    .filter(({ unit, label }) => !held.has(`${label} ${unit}`))
    .sort((a, b) => byText(a.unit, b.unit) || byText(a.label, b.label))
}

/** Those that are being deleted and that nothing is waited for. */
const released = (
  all: readonly Site[],
  busy: ReadonlySet<string>,
  given: ReadonlyMap<Site, Gifts>
): Sites["released"] => {
  const free = (each: Site): boolean =>
    !busy.has(each.name) &&
    ![...(given.get(each)?.labels ?? [])].some(([key, { value }]) => busy.has(`${key}=${value}`))
  const gone = all.filter((each) => each.deleting && free(each))
  const names = (kind: Site["kind"]): readonly string[] =>
    gone
      .filter((each) => each.kind === kind)
      .map(({ name }) => name)
      .sort()
  return { units: names("NodeUnit"), groups: names("NodeGroup") }
}

/** What deletions wait for: names of units and groups, and labels that units give, as `key=value`. */
const busyNames = (
  patches: readonly Patched[],
  spent: Sites["spent"],
  units: readonly Site[],
  maker: (unit: Site) => Site | undefined
): ReadonlySet<string> => {
  const found = new Set(patches.flatMap((each) => takenFrom(each)))
  for (const { label } of spent) found.add(label)
  for (const unit of units) {
    const group = maker(unit)
    if (group !== undefined) found.add(group.name)
  }
  return found
}

/** What a patch takes away: names of units and groups, and labels as `key=value`. */
const takenFrom = ({ node, patch }: Patched): readonly string[] => {
  const found: string[] = []
  for (const key of Object.keys(patch.labels ?? {})) {
    const value = node.at("labels", key)
    if (value !== undefined) found.push(key, value, `${key}=${value}`)
  }
  if (Object.hasOwn(patch.annotations ?? {}, GIVEN))
    found.push(...before(node.at("annotations", GIVEN)).units)
  return found
}
