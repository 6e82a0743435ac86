/**
 * NodeUnits and NodeGroups, and every label and annotation that they put on nodes.
 *
 * Kinds, fields and labels are those of SuperEdge. Objects are read in the spellings of v1alpha2 and of v1alpha1
 * (`setnode`, `nodeunits`, `spec.taints`), since both are served from one stored object.
 */
import { isLabelValue, type Refusal } from "./grid.ts"
import { asText } from "./json.ts"
import type { Condition, KubeObject, LabelSelector, StringMap } from "./kube.ts"
import { own } from "./value.ts"

type Maybe<T> = T | null | undefined

export const SITE_API = "site.superedge.io/v1alpha2"
/** The value of the label that every member of a unit carries under the unit's name. */
export const MARK = "nodeunits.superedge.io"
/** On a node: which taints and which cordon are ours, and from which units. */
export const GIVEN = "site.superedge.io/given"
/** On a unit or group: the generation whose effect on many nodes is wanted. */
export const CONFIRMED = "site.superedge.io/confirmed-generation"

export interface Taint {
  readonly key: string
  readonly value?: Maybe<string>
  readonly effect: string
}

export interface SetNode {
  readonly labels?: Maybe<StringMap>
  readonly annotations?: Maybe<StringMap>
  readonly taints?: Maybe<readonly Taint[]>
}

/** All of it must hold; a selector that says nothing selects nothing. */
export interface SiteSelector extends LabelSelector {
  readonly annotations?: Maybe<StringMap>
}

export interface NodeUnitSpec {
  /** edge, cloud, master or other */
  readonly type?: Maybe<string>
  readonly unschedulable?: Maybe<boolean>
  readonly nodes?: Maybe<readonly string[]>
  readonly selector?: Maybe<SiteSelector>
  readonly setNode?: Maybe<SetNode>
  /** as v1alpha1 spells it */
  readonly setnode?: Maybe<SetNode>
  /** v1alpha1 */
  readonly taints?: Maybe<readonly Taint[]>
  readonly [field: string]: unknown
}

export interface NodeUnitStatus {
  readonly observedGeneration?: Maybe<number>
  /** how many */
  readonly nodes?: Maybe<number>
  /** such as `2/3` */
  readonly readyRate?: Maybe<string>
  /** sorted; the first of them where they are more than 400,000 characters, and so below */
  readonly readyNodes?: Maybe<readonly string[]>
  readonly notReadyNodes?: Maybe<readonly string[]>
  readonly conditions?: Maybe<readonly Condition[]>
}

export interface NodeUnit extends KubeObject {
  readonly spec?: Maybe<NodeUnitSpec>
  readonly status?: Maybe<NodeUnitStatus>
}

export interface NodeGroupSpec {
  readonly nodeUnits?: Maybe<readonly string[]>
  readonly selector?: Maybe<SiteSelector>
  readonly autoFindNodeKeys?: Maybe<readonly string[]>
  readonly [field: string]: unknown
}

export interface NodeGroupStatus {
  readonly observedGeneration?: Maybe<number>
  readonly nodeUnits?: Maybe<readonly string[]>
  readonly unitNumber?: Maybe<number>
  /** how many nodes its units have, each counted once */
  readonly nodes?: Maybe<number>
  readonly conditions?: Maybe<readonly Condition[]>
}

export interface NodeGroup extends KubeObject {
  readonly spec?: Maybe<NodeGroupSpec>
  readonly status?: Maybe<NodeGroupStatus>
}

/** A refusal of a unit (`unit`) or of a group (`group`), or of one field of it. */
export interface SiteRefusal extends Refusal {
  readonly group?: string
}

/** A unit or a group, as far as all rules need it. */
export interface Site {
  readonly kind: "NodeUnit" | "NodeGroup"
  readonly name: string
  readonly uid: string
  /** when it was created; what has no time yet is the youngest */
  readonly born: string
  readonly generation: number
  readonly deleting: boolean
  readonly confirmed: boolean
  readonly labels: unknown
  readonly annotations: unknown
  readonly ownerReferences: unknown
  readonly finalizers: readonly string[]
  readonly resourceVersion: string
  readonly spec: unknown
}

/** On every unit and group that is served, as SuperEdge calls it: goes once nothing of a deleted one is on any node. */
export const FINALIZER = "site.superedge.io/finalizer"

/** A text, or the empty one. */
export const text = (value: unknown): string => (typeof value === "string" ? value : "")

const NOT_YET = "~"

/** What all rules need of an object, whatever it holds. */
export const site = (kind: Site["kind"], object: unknown): Site => {
  const meta = own(object, "metadata")
  const generation = own(meta, "generation")
  const annotations = own(meta, "annotations")
  const finalizers = own(meta, "finalizers")
  const said = typeof generation === "number" ? generation : 0
  return {
    kind,
    name: text(own(meta, "name")),
    uid: text(own(meta, "uid")),
    born: text(own(meta, "creationTimestamp")) || NOT_YET,
    generation: said,
    deleting: typeof own(meta, "deletionTimestamp") === "string",
    confirmed: own(annotations, CONFIRMED) === String(said),
    labels: own(meta, "labels"),
    annotations,
    ownerReferences: own(meta, "ownerReferences"),
    finalizers: Array.isArray(finalizers)
      ? (finalizers as readonly unknown[]).filter((each) => typeof each === "string")
      : [],
    resourceVersion: text(own(meta, "resourceVersion")),
    spec: own(object, "spec")
  }
}

/** By code unit, as everything that is shown is sorted. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Older ones first; of the same age units before groups, then by name. */
export const byAge = (a: Site, b: Site): number =>
  byText(a.born, b.born) || byText(b.kind, a.kind) || byText(a.name, b.name)

/** A refusal that names the object, the field and what to do. */
export const refusal = (
  { kind, name }: Pick<Site, "kind" | "name">,
  reason: string,
  path: string,
  message: string
): SiteRefusal => ({
  ...(kind === "NodeUnit" ? { unit: name } : { group: name }),
  reason,
  path,
  message: `${kind} ${name}: ${path}: ${message}`
})

/** What tells units and groups apart. */
export const siteKey = ({ kind, name }: Pick<Site, "kind" | "name">): string => `${kind} ${name}`

/** Refusals by the unit or group that they are of, in their order. */
export const bySite = (all: readonly SiteRefusal[]): ReadonlyMap<string, readonly SiteRefusal[]> => {
  const found = new Map<string, SiteRefusal[]>()
  for (const each of all) {
    const key =
      each.unit === undefined
        ? siteKey({ kind: "NodeGroup", name: each.group ?? "" })
        : siteKey({ kind: "NodeUnit", name: each.unit })
    const list = found.get(key)
    if (list === undefined) found.set(key, [each])
    else list.push(each)
  }
  return found
}

/** Older ones first; of the same second those that were served already. */
const bySeniority = (a: Site, b: Site): number =>
  byText(a.born, b.born) ||
  Number(b.finalizers.includes(FINALIZER)) - Number(a.finalizers.includes(FINALIZER)) ||
  byAge(a, b)

export interface Names {
  /** the object that a name belongs to, deleted ones included until they are gone */
  readonly holders: ReadonlyMap<string, Site>
  readonly refused: ReadonlyMap<Site, SiteRefusal>
}

/**
 * Whose each name is. A name is a label key and a label value at once, and units and groups share one space of them: the older object
 * keeps it.
 */
export const names = (all: readonly Site[]): Names => {
  const holders = new Map<string, Site>()
  const refused = new Map<Site, SiteRefusal>()
  for (const each of [...all].sort(bySeniority)) {
    const holder = holders.get(each.name)
    if (!isLabelValue(each.name)) refused.set(each, invalidName(each))
    else if (holder === undefined) holders.set(each.name, each)
    else refused.set(each, taken(each, holder))
  }
  return { holders, refused }
}

const invalidName = (each: Site): SiteRefusal =>
  refusal(
    each,
    "InvalidName",
    "metadata.name",
    `"${each.name}" has to be a node label's key and value at once; use at most 63 letters, digits, "-", "_" and "." without a slash, that begin and end with a letter or digit`
  )

const taken = (each: Site, holder: Site): SiteRefusal =>
  refusal(
    each,
    "NameTaken",
    "metadata.name",
    holder.deleting
      ? `"${each.name}" is the label of ${holder.kind} ${holder.name} until its deletion is done; wait for it`
      : `"${each.name}" is the label of ${holder.kind} ${holder.name}, which is older; make this ${each.kind} anew under another name`
  )

/** A list of texts, each once, or what is wrong with it. */
export const texts = (value: unknown): readonly string[] | { readonly wrong: string } => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return { wrong: `${asText(value)} is no list` }
  const odd: unknown = value.find((each) => typeof each !== "string")
  return odd === undefined ? [...new Set(value as string[])] : { wrong: `${asText(odd)} is no text` }
}
