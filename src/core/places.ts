/**
 * Who is where once this pass is done: the nodes of every unit and the units of every group, with those that a held edit would have
 * moved still at their places.
 */
import { type FoundUnits, foundUnits, type UnwantedUnit } from "./found-units.ts"
import { leavingOf, type Membership, type Nodes, nodesOfUnit, unitsOfGroup } from "./membership.ts"
import { heldRefusals, moves, type Moves } from "./moves.ts"
import { byText, type NodeUnit, type Site, type SiteRefusal } from "./site.ts"
import type { SiteNode } from "./site-node.ts"
import { unitNodeAll } from "./unit-node-all.ts"

export interface Placing {
  /** units and groups whose name is theirs, oldest first */
  readonly served: readonly Site[]
  readonly holders: ReadonlyMap<string, Site>
  /** the group that found a unit */
  readonly maker: (unit: Site) => Site | undefined
  readonly nodes: Nodes
  /** of the nodes, 0 to 1: so many may leave their units at once */
  readonly share: number
}

export interface Places {
  /** none for a unit that is being deleted */
  readonly nodesOf: ReadonlyMap<Site, ReadonlySet<SiteNode>>
  /** none for a group that is being deleted */
  readonly unitsOf: ReadonlyMap<Site, ReadonlySet<Site>>
  readonly refused: readonly SiteRefusal[]
  readonly notices: readonly SiteRefusal[]
  readonly wanted: readonly NodeUnit[]
  readonly unwanted: readonly UnwantedUnit[]
  readonly moves: Moves
}

/** Who is where. */
export const placing = (o: Placing): Places => {
  const units = o.served.filter(({ kind }) => kind === "NodeUnit")
  const groups = o.served.filter(({ kind }) => kind === "NodeGroup")
  const live = units.filter(({ deleting }) => !deleting)
  const inUnits = new Map(units.map((unit) => [unit, nodesOfUnit(unit, o.nodes)]))
  const labelled = labelledBy(groups, o)
  const had = (group: Site): readonly Site[] => [...(labelled.get(group)?.keys() ?? [])]
  const inGroups = new Map(
    groups.map((group) => [
      group,
      unitsOfGroup(group, { units: live, holders: o.holders, maker: o.maker, had })
    ])
  )
  const has = (group: Site, unit: Site): boolean => inGroups.get(group)?.members.has(unit) === true
  const found = foundUnits({ groups, units, holders: o.holders, maker: o.maker, has, nodes: o.nodes.all })
  const leaving = [
    ...[...inUnits].map(([unit, each]) => leavingOf(unit, each.leaving)),
    ...groups.map((group) => leavingOf(group, leavingGroup(group, inUnits, inGroups, labelled, found)))
  ]
  const moved = moves(leaving, o.nodes.placed, o.share)
  const held = new Set(moved.held.map(({ site }) => site))
  const both: readonly Membership<unknown>[] = [...inUnits.values(), ...inGroups.values()]
  return {
    nodesOf: staying(inUnits, held),
    unitsOf: staying(inGroups, held),
    refused: [...both.flatMap(({ refused }) => refused), ...found.refused, ...heldRefusals(moved)],
    notices: both.flatMap(({ notices }) => notices),
    wanted: o.holders.has(unitNodeAll.metadata.name) ? found.wanted : [...found.wanted, unitNodeAll],
    unwanted: found.unwanted
      .filter(({ unit, group }) => group.deleting || (!held.has(unit) && !held.has(group)))
      .map(({ unit: { name, uid, resourceVersion } }) => ({ name, uid, resourceVersion }))
      .sort((a, b) => byText(a.name, b.name)),
    moves: moved
  }
}

/** Who is in it, with those that would leave where it is held. */
const staying = <A>(
  all: ReadonlyMap<Site, Membership<A>>,
  held: ReadonlySet<Site>
): ReadonlyMap<Site, ReadonlySet<A>> =>
  new Map(
    [...all].map(([site, { members, leaving }]) => [
      site,
      held.has(site) ? new Set([...members, ...leaving]) : members
    ])
  )

type Labelled = ReadonlyMap<Site, ReadonlyMap<Site, readonly SiteNode[]>>

/** For each group the units that its label, where it is ours, says on nodes; with these nodes. */
const labelledBy = (groups: readonly Site[], { nodes, holders }: Placing): Labelled => {
  const found = new Map(groups.map((group) => [group, new Map<Site, SiteNode[]>()]))
  for (const node of nodes.all)
    for (const key of node.ours.labels) {
      const group = holders.get(key)
      const unit = holders.get(node.at("labels", key) ?? "")
      if (group?.kind !== "NodeGroup" || unit?.kind !== "NodeUnit" || unit.deleting) continue
      const units = found.get(group)
      const list = units?.get(unit)
      if (list === undefined) units?.set(unit, [node])
      else list.push(node)
    }
  return found
}

/** Nodes that lose a group's label by what the group says, although they are in their unit, or will be taken out of it by that unit alone. */
function* leavingGroup(
  group: Site,
  inUnits: ReadonlyMap<Site, Membership<SiteNode>>,
  inGroups: ReadonlyMap<Site, Membership<Site>>,
  labelled: Labelled,
  found: FoundUnits
): Generator<SiteNode, void, undefined> {
  if (group.deleting) return
  for (const unit of inGroups.get(group)?.leaving ?? [])
    for (const node of labelled.get(group)?.get(unit) ?? []) {
      const units = inUnits.get(unit)
      if (units?.members.has(node) === true || units?.leaving.has(node) === true) yield node
    }
  for (const { unit, group: maker } of found.unwanted)
    for (const node of maker === group ? (inUnits.get(unit)?.members ?? []) : [])
      if (node.ours.labels.has(unit.name)) yield node
}
