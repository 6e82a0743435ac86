/**
 * (StatefulSetGrids, their sets, a node's labels) -> the sets of the node's own units, and the short names of their pods there.
 *
 * In every unit `<grid>-<ordinal>` is the unit's own pod of that ordinal. Which set is whose is told by owner references and by what the set
 * says of its unit; names are never searched for other names. Rule of Kubernetes: a pod of a set is called `<set>-<ordinal>`.
 */
import { GRID_KEY, UNIT } from "./grid.ts"
import type { StringMap } from "./kube.ts"
import type { Stored } from "./store.ts"
import { unitOf } from "./units.ts"
import { own } from "./value.ts"

/** A StatefulSetGrid, as far as names need it. */
export interface NamingGrid extends Stored {
  readonly gridKey: string | undefined
  /** its condition `ShortNames` says that a StatefulSet of its name has the short names: the controller sees those that are no grid's, too */
  readonly taken: boolean
}

/** A StatefulSet, as far as names need it. */
export interface NamedSet extends Stored {
  /** the uid of its controller owner */
  readonly owner: string | undefined
  readonly gridKey: string | undefined
  readonly unit: string | undefined
  /** the Service that publishes its pods, `namespace/name` */
  readonly service: string
}

/** A set of one of the node's units. */
export interface OwnSet {
  readonly key: string
  /** before an ordinal it is the host name of a pod */
  readonly name: string
  readonly service: string
  /** the name of its grid, which stands before an ordinal in short names */
  readonly grid: string
  /** the set that is called as the grid is, and whose pods bear the short names: they were there first */
  readonly takenBy: string | undefined
}

/** A grid of raw JSON. */
export const namingGrid = (raw: unknown): NamingGrid => ({
  ...stored(raw),
  gridKey: textOf(own(own(raw, "spec"), "gridUniqKey")),
  taken: hasTaken(own(own(raw, "status"), "conditions"))
})

const hasTaken = (conditions: unknown): boolean =>
  Array.isArray(conditions) &&
  (conditions as readonly unknown[]).some(
    (each) => own(each, "type") === SHORT_NAMES && own(each, "status") === "False"
  )

/** The condition of a StatefulSetGrid whose pods have no short names. */
export const SHORT_NAMES = "ShortNames"

/** A set of raw JSON. */
export const namedSet = (raw: unknown): NamedSet => {
  const metadata = own(raw, "metadata")
  const annotations = own(metadata, "annotations")
  return {
    ...stored(raw),
    owner: ownerOf(own(metadata, "ownerReferences")),
    gridKey: textOf(own(annotations, GRID_KEY)),
    unit: textOf(own(annotations, UNIT)),
    service: `${namespaceOf(metadata)}/${textOf(own(own(raw, "spec"), "serviceName")) ?? ""}`
  }
}

/** A grid as JSON, as far as it is known here. */
export const namingGridJson = (grid: NamingGrid) => ({
  metadata: metadataOf(grid),
  spec: { gridUniqKey: grid.gridKey },
  ...(grid.taken && { status: { conditions: [{ type: SHORT_NAMES, status: "False" }] } })
})

/** A set as JSON, as far as it is known here. */
export const namedSetJson = (set: NamedSet) => ({
  metadata: {
    ...metadataOf(set),
    annotations: { [GRID_KEY]: set.gridKey, [UNIT]: set.unit },
    ownerReferences: set.owner === undefined ? [] : [{ uid: set.owner, controller: true }]
  },
  spec: { serviceName: nameIn(set.service) }
})

const metadataOf = ({ key, uid, revision }: Stored) => ({
  name: nameIn(key),
  namespace: namespaceIn(key),
  uid,
  resourceVersion: revision
})

/** Whether a set is one of the units that a node with these labels is in. */
export const isOwn = ({ gridKey, unit }: NamedSet, labels: StringMap | undefined): boolean =>
  gridKey !== undefined && unit !== undefined && unitOf(gridKey, labels) === unit

/** The known grids, by uid, and the known sets, by `namespace/name`. */
interface Known {
  readonly grid: (uid: string) => NamingGrid | undefined
  readonly set: (key: string) => NamedSet | undefined
}

/** Whose a set is. */
export type Holder =
  | { readonly _tag: "Grid"; readonly grid: NamingGrid }
  /** it has no controller owner */
  | { readonly _tag: "Nobody" }
  /** its owner is no grid that is there */
  | { readonly _tag: "Gone"; readonly uid: string }
  /** it was made for another key than its grid has now */
  | { readonly _tag: "OtherKey"; readonly grid: NamingGrid }

/** Whose a set is, by its owner reference and by the key that it was made for. */
export const holderOf = (set: NamedSet, { grid: known }: Pick<Known, "grid">): Holder => {
  if (set.owner === undefined) return { _tag: "Nobody" }
  const grid = known(set.owner)
  if (grid === undefined || namespaceIn(grid.key) !== namespaceIn(set.key))
    return { _tag: "Gone", uid: set.owner }
  return { _tag: grid.gridKey === set.gridKey ? "Grid" : "OtherKey", grid }
}

/** The set as its grid sees it; undefined where no such grid owns it, or where the grid's key has become another. */
export const ownSet = (set: NamedSet, o: Known): OwnSet | undefined => {
  const holder = holderOf(set, o)
  if (holder._tag !== "Grid") return undefined
  const { grid } = holder
  return {
    key: set.key,
    name: nameIn(set.key),
    service: set.service,
    grid: nameIn(grid.key),
    takenBy: grid.taken || o.set(grid.key)?.service === set.service ? grid.key : undefined
  }
}

/** The ordinal in the name of a set's pod; undefined where the pod is not the set's. */
export const ordinalOf = (host: string, { name }: Pick<OwnSet, "name">): number | undefined => {
  if (!host.startsWith(`${name}-`)) return undefined
  return ordinal(host.slice(name.length + 1))
}

/** A number from 0 up to what an int32 holds, as Kubernetes writes it; undefined where it is none. */
export const ordinal = (digits: string): number | undefined =>
  /^(?:0|[1-9]\d{0,9})$/.test(digits) && Number(digits) < 2 ** 31 ? Number(digits) : undefined

/** Why a pod has no short name, or the name. `has`: whether an endpoint of the Service bears this host name, ready or not. */
export type Alias =
  | { readonly _tag: "Given"; readonly host: string }
  /** another pod, or another set's pods, bear it */
  | { readonly _tag: "Taken"; readonly host: string; readonly by: string }
  /** it is no label of a DNS name */
  | { readonly _tag: "NoLabel"; readonly host: string }

/** The short name of a set's pod. */
export const aliasOf = (
  { grid, takenBy }: OwnSet,
  ordinal: number,
  has: (host: string) => boolean
): Alias => {
  const host = `${grid}-${ordinal}`
  if (!isDnsLabel(host)) return { _tag: "NoLabel", host }
  if (takenBy !== undefined) return { _tag: "Taken", host, by: `StatefulSet ${takenBy}` }
  return has(host) ? { _tag: "Taken", host, by: "another pod" } : { _tag: "Given", host }
}

/** Whether it may be one label of a DNS name (RFC 1123). */
export const isDnsLabel = (text: string): boolean => /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text)

/** Whether slices of an address type have addresses: those of FQDNs have none. */
export const isAddressed = (type: unknown): boolean => type === "IPv4" || type === "IPv6"

const stored = (raw: unknown): Stored => {
  const metadata = own(raw, "metadata")
  return {
    key: `${namespaceOf(metadata)}/${textOf(own(metadata, "name")) ?? ""}`,
    uid: textOf(own(metadata, "uid")) ?? "",
    revision: textOf(own(metadata, "resourceVersion")) ?? ""
  }
}

/** Objects of a file may leave it out. */
export const namespaceOf = (metadata: unknown): string => textOf(own(metadata, "namespace")) || "default"

const ownerOf = (references: unknown): string | undefined => {
  if (!Array.isArray(references)) return undefined
  const owner = (references as readonly unknown[]).find((each) => own(each, "controller") === true)
  return textOf(own(owner, "uid"))
}

/** A text; undefined where it is none. */
export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

export const nameIn = (key: string): string => key.slice(key.indexOf("/") + 1)
export const namespaceIn = (key: string): string => key.slice(0, key.indexOf("/"))
