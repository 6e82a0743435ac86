/**
 * Which nodes are in which unit, and which units are in which group.
 *
 * What can't be read changes nothing: a unit whose selector is wrong keeps the nodes that it gave anything, a group keeps the units whose
 * nodes carry its label.
 */
import { isObject, asText } from "./json.ts"
import type { Leaving } from "./moves.ts"
import { byText, refusal, type Site, type SiteRefusal, texts } from "./site.ts"
import type { SiteNode } from "./site-node.ts"
import { NodeIndex, selected, selection, shutsOut } from "./site-selector.ts"
import { own } from "./value.ts"
import { naming } from "./words.ts"

/** Who is in it now, and who would leave it by what it says. */
export interface Membership<A> {
  readonly members: ReadonlySet<A>
  /** those that it has and names no more; it keeps them where it is held */
  readonly leaving: ReadonlySet<A>
  readonly refused: readonly SiteRefusal[]
  readonly notices: readonly SiteRefusal[]
}

const nobody: Membership<never> = { members: new Set(), leaving: new Set(), refused: [], notices: [] }

/** Nodes by name, by what they have, and by the units that gave them anything. */
export class Nodes {
  readonly all: readonly SiteNode[]
  readonly index: NodeIndex
  readonly named: ReadonlyMap<string, SiteNode>
  readonly holding: ReadonlyMap<string, readonly SiteNode[]>

  /** how many carry anything because of us */
  readonly placed: number

  constructor(all: readonly SiteNode[]) {
    this.all = all
    this.index = new NodeIndex(all)
    this.named = new Map(all.map((node) => [node.name, node]))
    const holding = new Map<string, SiteNode[]>()
    let placed = 0
    for (const node of all) {
      const units = node.units()
      if (units.length > 0 || node.ours.labels.size > 0) placed++
      for (const unit of units) {
        const list = holding.get(unit)
        if (list === undefined) holding.set(unit, [node])
        else list.push(node)
      }
    }
    this.placed = placed
    this.holding = holding
  }
}

/** The nodes of a unit: those that it names and that exist, and those that its selector selects. None of a unit that is being deleted. */
export const nodesOfUnit = (unit: Site, nodes: Nodes): Membership<SiteNode> => {
  if (unit.deleting) return nobody
  const had = nodes.holding.get(unit.name) ?? []
  const read = reading(unit, "nodes", own(unit.spec, "nodes"))
  if ("reason" in read) return { ...nobody, members: new Set(had), refused: [read] }
  const { listed, requirements } = read
  const members = new Set(listed.flatMap((name) => nodes.named.get(name) ?? []))
  const shut = [...members].filter((node) => shutsOut(requirements, node)).map(({ name }) => name)
  for (const node of nodes.index.select(requirements)) members.add(node)
  const missing = listed.filter((name) => !nodes.named.has(name))
  const notices: SiteRefusal[] = []
  if (missing.length > 0)
    notices.push(
      refusal(
        unit,
        "NodesMissing",
        "spec.nodes",
        `no node is called ${naming([...missing].sort())}; it joins as soon as it is there`
      )
    )
  if (shut.length > 0)
    notices.push(
      refusal(
        unit,
        "NamedThoughShutOut",
        "spec.nodes",
        `${naming(shut.sort())} is a member, although the selector shuts it out; take it from spec.nodes or correct spec.selector`
      )
    )
  return { members, leaving: new Set(had.filter((node) => !members.has(node))), refused: [], notices }
}

/** What a unit or group names and selects; a refusal where any of it can't be read. */
const reading = (site: Site, field: string, list: unknown) => {
  const { spec } = site
  if (spec !== undefined && spec !== null && !isObject(spec))
    return refusal(site, "InvalidSpec", "spec", `${asText(spec)} is no spec; what is in it stays as it is`)
  const listed = texts(list)
  if ("wrong" in listed)
    return refusal(site, "InvalidNames", `spec.${field}`, `${listed.wrong}; use a list of names`)
  const select = selection(own(spec, "selector"))
  if (select._tag === "Requires") return { listed, requirements: select.requirements }
  const path = select.field === "" ? "spec.selector" : `spec.selector.${select.field}`
  return refusal(site, "InvalidSelector", path, select.message)
}

export interface UnitsOfGroups {
  /** units that are served and not being deleted */
  readonly units: readonly Site[]
  readonly holders: ReadonlyMap<string, Site>
  readonly maker: (unit: Site) => Site | undefined
  /** the units whose nodes carry the group's label because of us */
  readonly had: (group: Site) => readonly Site[]
}

/** The units of a group: those that it names, those that its selector selects, those that it found. None of a group that is being deleted. */
export const unitsOfGroup = (group: Site, o: UnitsOfGroups): Membership<Site> => {
  if (group.deleting) return nobody
  const had = o.had(group)
  const found = o.units.filter((unit) => o.maker(unit) === group)
  const field = isAbsent(own(group.spec, "nodeUnits")) ? "nodeunits" : "nodeUnits"
  const read = reading(group, field, own(group.spec, field))
  if ("reason" in read) return { ...nobody, members: new Set([...had, ...found]), refused: [read] }
  const members = new Set(found)
  const missing: string[] = []
  for (const name of read.listed) {
    const unit = o.holders.get(name)
    if (unit?.kind !== "NodeUnit") missing.push(name)
    else if (!unit.deleting) members.add(unit)
  }
  for (const unit of o.units)
    if (selected(read.requirements, (place, key) => textAt(unit[place], key))) members.add(unit)
  const refused =
    missing.length === 0
      ? []
      : [
          refusal(
            group,
            "UnitMissing",
            `spec.${field}`,
            `no NodeUnit that is served is called ${naming(missing.sort())}; make or mend it, or take it from the list`
          )
        ]
  return { members, leaving: new Set(had.filter((unit) => !members.has(unit))), refused, notices: [] }
}

/** Null and an empty list say as little as nothing. */
const isAbsent = (list: unknown): boolean =>
  list === undefined || list === null || (Array.isArray(list) && list.length === 0)

const textAt = (map: unknown, key: string): string | undefined => {
  const value = own(map, key)
  return typeof value === "string" ? value : undefined
}

/** The nodes that leave, as a guard counts them. */
export const leavingOf = (site: Site, nodes: Iterable<SiteNode>): Leaving => ({
  site,
  nodes: [...new Set([...nodes].map(({ name }) => name))].sort(byText)
})
