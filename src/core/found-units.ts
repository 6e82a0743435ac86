/**
 * The NodeUnits that groups make of the values found on nodes (`autoFindNodeKeys`): one for every combination.
 *
 * A unit that is found belongs to its group by an owner reference. A unit of the same name that someone else made is left alone.
 */
import { hashed, isLabelKey } from "./grid.ts"
import { asText } from "./json.ts"
import { byText, type NodeUnit, refusal, type Site, SITE_API, type SiteRefusal, texts } from "./site.ts"
import type { SiteNode } from "./site-node.ts"
import { own } from "./value.ts"

/** A unit that should go, as it was read. */
export interface UnwantedUnit {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

export interface FoundUnits {
  /** units to make, or whose selector is to be set right (these bear their uid); whole objects for an apply */
  readonly wanted: readonly NodeUnit[]
  /** units whose combination no node has any more, and that name no node, with the group that made them */
  readonly unwanted: readonly { readonly unit: Site; readonly group: Site }[]
  readonly refused: readonly SiteRefusal[]
}

/** The group that made a unit: its controller owner, by uid. A unit that is only to be collected with a group is nobody's find. */
export const makers = (groups: readonly Site[]): ((unit: Site) => Site | undefined) => {
  const byUid = new Map(groups.filter(({ uid }) => uid !== "").map((group) => [group.uid, group]))
  return ({ ownerReferences }) => {
    for (const each of Array.isArray(ownerReferences) ? (ownerReferences as readonly unknown[]) : []) {
      const uid = own(each, "controller") === true ? own(each, "uid") : undefined
      const group = typeof uid === "string" ? byUid.get(uid) : undefined
      if (group !== undefined) return group
    }
    return undefined
  }
}

/** The keys of a group, each once and sorted: their order means nothing, and is in no name. A refusal where they can't be used. */
const keysOf = (group: Site): readonly string[] | SiteRefusal => {
  const path = "spec.autoFindNodeKeys"
  const keys = texts(own(group.spec, "autoFindNodeKeys") ?? own(group.spec, "autofindnodekeys"))
  const advice = `use keys of node labels, such as ["topology.kubernetes.io/zone"]`
  if ("wrong" in keys) return refusal(group, "InvalidAutoKeys", path, `${keys.wrong}; ${advice}`)
  const bad = keys.find((key) => !isLabelKey(key))
  return bad === undefined
    ? [...keys].sort()
    : refusal(group, "InvalidAutoKeys", path, `"${bad}" is no label key; ${advice}`)
}

/** The name of the unit for these values: as SuperEdge names it where that is legal and tells combinations apart, else with a hash. */
export const foundName = (keys: readonly string[], values: readonly string[]): string => {
  const plain = values.join("-")
  const clear = values.length === 1 || values.every((value) => !value.includes("-"))
  if (clear && plain.length <= 63 && dnsLabel.test(plain)) return plain
  const readable = plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
  return hashed(readable, JSON.stringify([keys, values]), 63)
}

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** The distinct combinations of values that nodes have under all of the keys. */
const combinations = (
  keys: readonly string[],
  nodes: readonly SiteNode[]
): readonly (readonly string[])[] => {
  const found = new Map<string, readonly string[]>()
  if (keys.length === 0) return []
  for (const node of nodes) {
    const values: string[] = []
    for (const key of keys) {
      const value = node.sees("labels", key)
      if (value === undefined || value === "") break
      values.push(value)
    }
    if (values.length === keys.length) found.set(JSON.stringify(values), values)
  }
  return [...found].sort(([a], [b]) => byText(a, b)).map(([, values]) => values)
}

const foundUnit = (
  group: Site,
  name: string,
  matchLabels: { readonly [key: string]: string },
  before: Site | undefined
): NodeUnit => ({
  apiVersion: SITE_API,
  kind: "NodeUnit",
  metadata: {
    name,
    ...(before !== undefined && { uid: before.uid }),
    ownerReferences: [
      {
        apiVersion: SITE_API,
        kind: "NodeGroup",
        name: group.name,
        uid: group.uid,
        controller: true,
        blockOwnerDeletion: true
      }
    ]
  },
  spec: { type: "edge", selector: { matchLabels } }
})

/**
 * What groups want of the units that they find. `groups` are those that are served; `holders` says whose each name is. A group whose keys are refused
 * leaves the units that it made as they are.
 */
export const foundUnits = (o: {
  /** oldest first */
  readonly groups: readonly Site[]
  readonly units: readonly Site[]
  readonly holders: ReadonlyMap<string, Site>
  readonly maker: (unit: Site) => Site | undefined
  /** whether a group names or selects a unit */
  readonly has: (group: Site, unit: Site) => boolean
  readonly nodes: readonly SiteNode[]
}): FoundUnits => {
  const wanted: NodeUnit[] = []
  const refused: SiteRefusal[] = []
  const spared = new Set<Site>()
  const names = new Map<Site, ReadonlySet<string>>()
  const usedBy = new Map<string, Site>()
  for (const group of o.groups) {
    if (group.deleting && group.finalizers.includes(ORPHAN)) {
      spared.add(group)
      continue
    }
    const keys = group.deleting ? [] : keysOf(group)
    const same = "reason" in keys ? undefined : usedBy.get(JSON.stringify(keys))
    if ("reason" in keys || (same !== undefined && keys.length > 0)) {
      spared.add(group)
      refused.push("reason" in keys ? keys : sameKeys(group, same))
      continue
    }
    usedBy.set(JSON.stringify(keys), group)
    const mine = new Set<string>()
    names.set(group, mine)
    for (const values of combinations(keys, o.nodes)) {
      const name = foundName(keys, values)
      const matchLabels = Object.fromEntries(keys.map((key, i) => [key, values[i] ?? ""]))
      const holder = o.holders.get(name)
      // One that was made by hand, or by SuperEdge, serves as well where the group has it.
      if (holder?.kind === "NodeUnit" && o.maker(holder) !== group && o.has(group, holder)) continue
      if (
        mine.has(name) ||
        (holder !== undefined && (holder.kind !== "NodeUnit" || o.maker(holder) !== group))
      )
        refused.push(nameTaken(group, name, matchLabels, holder))
      else {
        mine.add(name)
        if (holder === undefined || (!holder.deleting && !selectsSo(holder, matchLabels)))
          wanted.push(foundUnit(group, name, matchLabels, holder))
      }
    }
  }
  const unwanted = o.units.flatMap((unit) => {
    const group = unit.deleting ? undefined : o.maker(unit)
    return group === undefined ||
      spared.has(group) ||
      names.get(group)?.has(unit.name) !== false ||
      (!group.deleting && namesNode(unit, o.nodes))
      ? []
      : [{ unit, group }]
  })
  return { wanted: wanted.sort((a, b) => byText(a.metadata.name, b.metadata.name)), unwanted, refused }
}

/** Whether someone added a node to a unit by name that exists. */
const namesNode = (unit: Site, nodes: readonly SiteNode[]): boolean => {
  const listed = texts(own(unit.spec, "nodes"))
  return !("wrong" in listed) && listed.length > 0 && nodes.some(({ name }) => listed.includes(name))
}

/** The garbage collector's finalizer of what is deleted without its dependents. */
const ORPHAN = "orphan"

const selectsSo = (unit: Site, matchLabels: { readonly [key: string]: string }): boolean => {
  const live = own(own(unit.spec, "selector"), "matchLabels")
  return Object.entries(matchLabels).every(([key, value]) => own(live, key) === value)
}

const sameKeys = (group: Site, other: Site | undefined): SiteRefusal =>
  refusal(
    group,
    "SameAutoKeys",
    "spec.autoFindNodeKeys",
    `NodeGroup ${other?.name ?? ""}, which is older, finds units by the same keys; use other keys, or name its units in nodeUnits`
  )

const nameTaken = (group: Site, name: string, matchLabels: object, holder: Site | undefined): SiteRefusal =>
  refusal(
    group,
    "FoundNameTaken",
    "spec.autoFindNodeKeys",
    `the unit for ${asText(matchLabels)} would be called "${name}", which ${holder === undefined ? "another combination has" : `is ${holder.kind} ${holder.name}, not made by this group`}; delete that one, or add it to nodeUnits`
  )
