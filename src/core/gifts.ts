/**
 * What a unit gives each of its nodes: labels, annotations, taints, and whether it cordons them.
 *
 * An entry of `setNode` that the API server would refuse, or that belongs to the system, is refused by its name; the others are given.
 */
import { isLabelKey, isLabelValue } from "./grid.ts"
import { asText, isObject } from "./json.ts"
import { GIVEN, MARK, refusal, type Site, type SiteRefusal, type Taint, text } from "./site.ts"
import { taintId } from "./given.ts"
import { own } from "./value.ts"

export interface Entry {
  readonly value: string
  /** where it stands in the unit, such as `spec.setNode.labels[x]` */
  readonly path: string
}

export interface Gifts {
  readonly labels: ReadonlyMap<string, Entry>
  readonly annotations: ReadonlyMap<string, Entry>
  /** by key and effect */
  readonly taints: ReadonlyMap<string, { readonly taint: Taint; readonly path: string }>
  readonly cordons: boolean
  /** keys of refused entries: what nodes have there stays as it is */
  readonly spared: { readonly labels: ReadonlySet<string>; readonly annotations: ReadonlySet<string> }
  readonly refused: readonly SiteRefusal[]
  /** of labels that say `<group>: <unit>`, as SuperEdge wrote them into units: they are the group's to give */
  readonly notices: readonly SiteRefusal[]
}

/** The two spellings of the field, the one that wins last. */
const SPELLINGS = ["setnode", "setNode"] as const

/** What a unit gives, as its spec says it. `holders`: whose label each name of a unit or group is. */
export const gifts = (unit: Site, holders: ReadonlyMap<string, Site>): Gifts => {
  const refused: SiteRefusal[] = []
  const refuse = (reason: string, path: string, message: string): void => {
    refused.push(refusal(unit, reason, path, message))
  }
  const labels = entries(unit, "labels", refuse)
  const annotations = entries(unit, "annotations", refuse)
  const spared = { labels: new Set<string>(), annotations: new Set<string>() }
  const notices: SiteRefusal[] = []
  for (const [key, { value, path }] of labels) {
    const holder = holders.get(key)
    const wrong = holder === undefined ? badLabel(key, value) : undefined
    if (holder !== undefined && isSystems(unit, holder, value)) {
      if (holder.kind === "NodeGroup") notices.push(groupsLabel(unit, holder, path))
    } else if (holder !== undefined) {
      spared.labels.add(key)
      refuse(
        "ReservedLabel",
        path,
        `"${key}" is the label of ${holder.kind} ${holder.name}; use another key, or put the node there`
      )
    } else if (wrong !== undefined) {
      spared.labels.add(key)
      refuse("InvalidLabel", path, wrong)
    } else continue
    labels.delete(key)
  }
  for (const [key, { value, path }] of annotations) {
    const wrong = badAnnotation(key, value)
    if (wrong === undefined) continue
    annotations.delete(key)
    if (key !== GIVEN) spared.annotations.add(key)
    refuse(key === GIVEN ? "ReservedAnnotation" : "InvalidAnnotation", path, wrong)
  }
  return {
    labels: labels as ReadonlyMap<string, Entry>,
    annotations: annotations as ReadonlyMap<string, Entry>,
    taints: taints(unit, refuse),
    cordons: own(unit.spec, "unschedulable") === true,
    spared,
    refused,
    notices
  }
}

type Refuse = (reason: string, path: string, message: string) => void
type Raw = { readonly value: unknown; readonly path: string }

/** The unit's own mark, and a group's label with the unit as its value, stand for themselves. */
const isSystems = (unit: Site, holder: Site, value: unknown): boolean =>
  holder.kind === "NodeGroup" ? value === unit.name : holder === unit && value === MARK

const groupsLabel = (unit: Site, group: Site, path: string): SiteRefusal =>
  refusal(
    unit,
    "GroupsLabel",
    path,
    `is NodeGroup ${group.name}'s to give, and goes where the unit leaves that group; remove the entry, which is a label like others once the group is deleted`
  )

const entries = (unit: Site, field: "labels" | "annotations", refuse: Refuse): Map<string, Raw> => {
  const found = new Map<string, Raw>()
  for (const spelling of SPELLINGS) {
    const map = own(own(unit.spec, spelling), field) ?? undefined
    const path = `spec.${spelling}.${field}`
    if (map !== undefined && !isObject(map))
      refuse("InvalidSetNode", path, `${asText(map)} is no map; use keys and values`)
    for (const [key, value] of Object.entries(isObject(map) ? map : {}))
      if (value !== null && value !== undefined) found.set(key, { value, path: `${path}[${key}]` })
  }
  return found
}

const badLabel = (key: string, value: unknown): string | undefined => {
  if (!isLabelKey(key)) return `"${key}" is no label key; use one such as "zone" or "example.com/zone"`
  if (typeof value === "string" && (value === "" || isLabelValue(value))) return undefined
  return `${asText(value)} is no label value; use at most 63 letters, digits, "-", "_" and "." that begin and end with a letter or digit`
}

/** The server takes 256 KiB of annotations on a node, from all who write there. */
const LONG = 65_536

const badAnnotation = (key: string, value: unknown): string | undefined => {
  if (key === GIVEN) return "says what units gave a node, and is written by nobody else; remove the entry"
  if (!isLabelKey(key.toLowerCase()))
    return `"${key}" is no annotation key; use one such as "example.com/zone"`
  if (typeof value !== "string") return `${asText(value)} is no text; quote it`
  return value.length > LONG ? `has ${value.length} characters; use at most ${LONG}` : undefined
}

const EFFECTS: ReadonlySet<string> = new Set(["NoSchedule", "PreferNoSchedule", "NoExecute"])

/** Taints that the control plane sets and removes itself: it would never rest. */
const CONTROL_PLANE =
  /^node\.(cloudprovider\.)?kubernetes\.io\/(not-ready|unreachable|unschedulable|memory-pressure|disk-pressure|pid-pressure|network-unavailable|uninitialized|shutdown)$/

const taints = (unit: Site, refuse: Refuse): Gifts["taints"] => {
  const found = new Map<string, { readonly taint: Taint; readonly path: string }>()
  const lists = [
    { path: "spec.setNode.taints", list: own(own(unit.spec, "setNode"), "taints") },
    { path: "spec.setnode.taints", list: own(own(unit.spec, "setnode"), "taints") },
    { path: "spec.taints", list: own(unit.spec, "taints") }
  ]
  for (const { path, list } of lists) {
    if (list !== undefined && list !== null && !Array.isArray(list))
      refuse("InvalidSetNode", path, `${asText(list)} is no list of taints`)
    for (const [i, each] of (Array.isArray(list) ? (list as readonly unknown[]) : []).entries()) {
      const at = `${path}[${i}]`
      const wrong = badTaint(each)
      const value = text(own(each, "value"))
      const before = found.get(taintId(each))
      if (wrong !== undefined) refuse("InvalidTaint", at, wrong)
      else if (before !== undefined && text(before.taint.value) !== value)
        refuse(
          "InvalidTaint",
          at,
          `${before.path} has the same key and effect and another value; remove one of them`
        )
      else if (before === undefined)
        found.set(taintId(each), {
          taint: {
            key: text(own(each, "key")),
            ...(value !== "" && { value }),
            effect: text(own(each, "effect"))
          },
          path: at
        })
    }
  }
  return found
}

const badTaint = (taint: unknown): string | undefined => {
  const [key, value, effect] = [own(taint, "key"), own(taint, "value") ?? "", own(taint, "effect")]
  if (typeof key !== "string" || !isLabelKey(key)) return `key ${asText(key)} is no label key`
  if (CONTROL_PLANE.test(key))
    return `"${key}" is set and removed by the control plane; use another key, or unschedulable`
  if (typeof value !== "string" || (value !== "" && !isLabelValue(value)))
    return `value ${asText(value)} is no label value`
  if (typeof effect !== "string" || !EFFECTS.has(effect))
    return `effect ${asText(effect)} is none of NoSchedule, PreferNoSchedule and NoExecute`
  return undefined
}
