/**
 * Who is where: (node units, node groups, nodes) -> for each group its units, for each unit its nodes, for each node what it carries
 * and from whom.
 *
 * It is the pass that the controller makes, told instead of written: made of the same places, wishes and patches.
 */
import { type Carried, carried, type CarriedFrom, carriedFrom } from "./carried.ts"
import { byText, type Site, site, type SiteRefusal, text } from "./site.ts"
import { SiteNode } from "./site-node.ts"
import { type SitesInput, type Survey, survey } from "./sites.ts"
import { allWritten } from "./unwritten.ts"
import { own } from "./value.ts"

/** A group and its units. */
export interface RosterGroup {
  readonly name: string
  /** why it is ready or not: HasUnits, NoUnits, Deleting, InvalidName, NameTaken */
  readonly reason: string
  /** by name */
  readonly units: readonly string[]
  /** of its units, each counted once */
  readonly nodes: number
  readonly readyNodes: number
}

/** A unit and its nodes. */
export interface RosterUnit {
  readonly name: string
  /** edge, cloud, master or other */
  readonly type: string
  /** why it is ready or not: AllNodesReady, NodesNotReady, NoNodes, Deleting, InvalidName, NameTaken */
  readonly reason: string
  /** those that hold it, by name */
  readonly groups: readonly string[]
  /** by name */
  readonly nodes: readonly string[]
  readonly readyNodes: number
}

/** A node, with what it carries because of units and groups. */
export interface RosterNode {
  readonly name: string
  readonly ready: boolean
  readonly unschedulable: boolean
  /** of a node that is cordoned: the field managers that own that, ours aside */
  readonly cordonedBy: readonly string[]
  /** those that it is in, by name */
  readonly units: readonly string[]
  readonly carries: readonly Carried[]
  /** something is about to be written to it */
  readonly changing: boolean
}

/** An edit that moves many nodes and waits to be confirmed; the nodes are still where they were. */
export interface HeldEdit {
  readonly unit?: string
  readonly group?: string
  readonly nodes: readonly string[]
}

/** Everything by name; units and groups whose name is refused are among them, and have nobody. */
export interface Roster {
  readonly groups: readonly RosterGroup[]
  readonly units: readonly RosterUnit[]
  readonly nodes: readonly RosterNode[]
  /** units in no group */
  readonly unitsInNoGroup: readonly string[]
  /** nodes in no unit */
  readonly nodesInNoUnit: readonly string[]
  /** units that are about to be made, or whose selector is about to be set right */
  readonly unitsComing: readonly string[]
  /** units that groups found and that are about to be deleted */
  readonly unitsGoing: readonly string[]
  readonly held: readonly HeldEdit[]
  /** as `sites` says it: each with what to do */
  readonly refused: readonly SiteRefusal[]
  readonly notices: readonly SiteRefusal[]
}

/**
 * Who is where once the controller has written what it is about to. Depends neither on the order of its arguments nor on what happened
 * before, but for what stands on the nodes. Never throws on a stored object, never writes to its arguments.
 */
export const roster = (input: SitesInput): Roster => {
  const units = input.units.map((each) => site("NodeUnit", each))
  const groups = input.groups.map((each) => site("NodeGroup", each))
  const nodes = input.nodes.map((each) => new SiteNode(each)).filter(({ name }) => name !== "")
  const share = input.maxNodesChanged ?? 1
  const found = survey({ units, groups, nodes, maxNodesChanged: share, unwritten: allWritten })
  const { sites, places } = found
  const reasons = [sites.units, sites.groups].map((all) =>
    all.map(({ conditions }) => conditions?.find(({ type }) => type === "Ready")?.reason ?? "")
  )
  const unitsAt = turned(places.nodesOf)
  const groupsAt = turned(places.unitsOf)
  const shownUnits = units.map((unit, i): RosterUnit => {
    const members = places.nodesOf.get(unit) ?? NOBODY
    const type = text(own(unit.spec, "type"))
    return {
      name: unit.name,
      type: type === "" ? "edge" : type,
      reason: reasons[0]?.[i] ?? "",
      groups: namesOf(groupsAt.get(unit) ?? []),
      nodes: namesOf(members),
      readyNodes: countReady(members)
    }
  })
  const shownNodes = nodesShown(nodes, unitsAt, found)
  return {
    groups: groups
      .map((group, i): RosterGroup => {
        const held = [...(places.unitsOf.get(group) ?? [])]
        const members = new Set(held.flatMap((unit) => [...(places.nodesOf.get(unit) ?? NOBODY)]))
        return {
          name: group.name,
          reason: reasons[1]?.[i] ?? "",
          units: namesOf(held),
          nodes: members.size,
          readyNodes: countReady(members)
        }
      })
      .sort(byName),
    units: shownUnits.sort(byName),
    nodes: shownNodes,
    unitsInNoGroup: shownUnits.filter((unit) => unit.groups.length === 0).map(({ name }) => name),
    nodesInNoUnit: shownNodes.filter((node) => node.units.length === 0).map(({ name }) => name),
    unitsComing: sites.wanted.map(({ metadata }) => metadata.name).sort(byText),
    unitsGoing: sites.unwanted.map(({ name }) => name),
    held: sites.moves.held.map(({ site: each, nodes: leaving }) => ({ ...named(each), nodes: leaving })),
    refused: sites.refused,
    notices: sites.notices
  }
}

const NOBODY: ReadonlySet<SiteNode> = new Set()

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => byText(a.name, b.name)

const namesOf = (all: Iterable<{ readonly name: string }>): readonly string[] =>
  [...all].map(({ name }) => name).sort(byText)

const countReady = (nodes: Iterable<SiteNode>): number => [...nodes].filter(({ ready }) => ready).length

const named = ({ kind, name }: Site): Omit<HeldEdit, "nodes"> =>
  kind === "NodeUnit" ? { unit: name } : { group: name }

/** For each member those that it is in. */
const turned = <A>(members: ReadonlyMap<Site, ReadonlySet<A>>): ReadonlyMap<A, readonly Site[]> => {
  const found = new Map<A, Site[]>()
  for (const [whole, parts] of members)
    for (const part of parts) {
      const list = found.get(part)
      if (list === undefined) found.set(part, [whole])
      else list.push(whole)
    }
  return found
}

const refusedPath = (refused: readonly SiteRefusal[], end: string): string =>
  refused.find(({ path }) => path.endsWith(end))?.path ?? "spec"

const nodesShown = (
  nodes: readonly SiteNode[],
  unitsAt: ReadonlyMap<SiteNode, readonly Site[]>,
  { bundleOf, gifts, patches }: Survey
): readonly RosterNode[] => {
  const patched = new Map(patches.map(({ node, patch }) => [node, patch]))
  return nodes
    .map((node): RosterNode => {
      const units = unitsAt.get(node) ?? []
      const spares = (place: "labels" | "annotations", key: string): readonly CarriedFrom[] =>
        units
          .filter((unit) => gifts.get(unit)?.spared[place].has(key) === true)
          .map((unit) => carriedFrom(unit, refusedPath(gifts.get(unit)?.refused ?? [], `.${place}[${key}]`)))
      return {
        name: node.name,
        ready: node.ready,
        unschedulable: node.unschedulable,
        cordonedBy: node.unschedulable ? node.others("spec", "unschedulable") : [],
        units: namesOf(units),
        carries: carried(node, bundleOf(node), patched.get(node), spares),
        changing: patched.has(node)
      }
    })
    .sort(byName)
}
