/**
 * Nodes as the API server keeps them: who owns which label, annotation and field, and what a merge patch makes of that.
 *
 * It knows besides, for each taint and for the cordon, who put them there, which the server doesn't: so it can judge what a
 * controller may take away. Nothing here is imported from the product but types.
 */
import type { JsonObject, Node } from "../src/core/kube.ts"
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { frozen } from "./given.ts"

export const US = "servicegroup"

export interface TaintHere {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

interface Owned<A> {
  readonly value: A
  readonly owners: readonly string[]
}

/** A node, with the owners of everything on it. */
export interface Seat {
  readonly name: string
  readonly uid: string
  readonly revision: number
  readonly ready: boolean
  readonly labels: ReadonlyMap<string, Owned<string>>
  readonly annotations: ReadonlyMap<string, Owned<string>>
  /** in their order; one owner each: who wrote this value */
  readonly taints: readonly { readonly taint: TaintHere; readonly owner: string }[]
  readonly cordon: string | undefined
  /** who owns the fields in the server's eyes */
  readonly taintsOwner: string | undefined
  readonly cordonOwner: string | undefined
}

export interface SeatInput {
  readonly labels?: { readonly [key: string]: string }
  readonly annotations?: { readonly [key: string]: string }
  readonly taints?: readonly TaintHere[]
  readonly unschedulable?: boolean
  readonly ready?: boolean
}

/** A node of others. */
export const seat = (name: string, o: SeatInput = {}): Seat => {
  const theirs = (map: { readonly [key: string]: string } = {}) =>
    new Map(Object.entries(map).map(([key, value]) => [key, { value, owners: ["kubelet"] }]))
  return {
    name,
    uid: `uid-of-${name}`,
    revision: 1,
    ready: o.ready ?? true,
    labels: theirs(o.labels),
    annotations: theirs(o.annotations),
    taints: (o.taints ?? []).map((taint) => ({ taint, owner: "kubelet" })),
    cordon: o.unschedulable === true ? "kubelet" : undefined,
    taintsOwner: (o.taints ?? []).length > 0 ? "kubelet" : undefined,
    cordonOwner: o.unschedulable === true ? "kubelet" : undefined
  }
}

const idOf = ({ key, effect }: TaintHere): string => `${key}:${effect}`
const textOf = (taint: TaintHere): string => `${taint.key}=${taint.value ?? ""}:${taint.effect}`

/** The node as the server gives it. */
export const stored = (o: Seat): Node => {
  const managers = new Map<string, { labels: string[]; annotations: string[]; spec: string[] }>()
  const of = (manager: string) => {
    const known = managers.get(manager) ?? { labels: [], annotations: [], spec: [] }
    managers.set(manager, known)
    return known
  }
  for (const [key, { owners }] of o.labels) for (const each of owners) of(each).labels.push(key)
  for (const [key, { owners }] of o.annotations) for (const each of owners) of(each).annotations.push(key)
  if (o.taintsOwner !== undefined) of(o.taintsOwner).spec.push("taints")
  if (o.cordonOwner !== undefined) of(o.cordonOwner).spec.push("unschedulable")
  const set = (names: readonly string[]) => Object.fromEntries(names.map((name) => [`f:${name}`, {}]))
  const values = (map: ReadonlyMap<string, Owned<string>>) =>
    Object.fromEntries([...map].map(([key, { value }]) => [key, value]))
  return frozen({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: o.name,
      uid: o.uid,
      resourceVersion: String(o.revision),
      labels: values(o.labels),
      annotations: values(o.annotations),
      managedFields: [...managers].map(([manager, { labels, annotations, spec }]) => ({
        manager,
        operation: "Update",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:labels": { ".": {}, ...set(labels) }, "f:annotations": set(annotations) },
          "f:spec": set(spec)
        } as JsonObject
      }))
    },
    spec: {
      podCIDR: "10.0.0.0/24",
      ...(o.taints.length > 0 && { taints: o.taints.map(({ taint }) => taint) }),
      ...(o.cordon !== undefined && { unschedulable: true })
    },
    status: { conditions: [{ type: "Ready", status: o.ready ? "True" : "False" }] }
  } as unknown as Node)
}

/** What stands on a node, without who put it there and without revisions. */
export const shown = (o: Seat) => ({
  name: o.name,
  labels: Object.fromEntries([...o.labels].map(([key, { value }]) => [key, value])),
  annotations: Object.fromEntries([...o.annotations].map(([key, { value }]) => [key, value])),
  taints: o.taints.map(({ taint }) => textOf(taint)).sort(),
  unschedulable: o.cordon !== undefined
})

type Map_ = ReadonlyMap<string, Owned<string>>
type Strings = { readonly [key: string]: string | null }

/** Of an object of which nobody owns anything the server keeps no owners, until a write says some or an apply comes. */
const isTracked = (o: Seat): boolean =>
  [...o.labels.values(), ...o.annotations.values()].some(({ owners }) => owners.length > 0) ||
  o.taintsOwner !== undefined ||
  o.cordonOwner !== undefined

/** A manager that sets a value owns it alone; one that sets what is there already doesn't own it. */
const changed = (before: Map_, changes: Strings | undefined, manager: string | undefined): Map_ => {
  const after = new Map(before)
  for (const [key, value] of Object.entries(changes ?? {}))
    if (value === null) after.delete(key)
    else if (after.get(key)?.value !== value)
      after.set(key, { value, owners: manager === undefined ? [] : [manager] })
  return after
}

/** As `kubectl label`, `annotate`, `taint` and `cordon` change a node; null takes away. */
export interface Edit {
  readonly labels?: Strings
  readonly annotations?: Strings
  /** put there, or set to another value */
  readonly taint?: TaintHere
  /** key and effect */
  readonly untaint?: string
  readonly unschedulable?: boolean
}

/** The node after someone's edit. */
export const edited = (o: Seat, edit: Edit, manager = "kubectl"): Seat => {
  let { taints, cordon } = o
  const { taint, untaint } = edit
  if (untaint !== undefined) taints = taints.filter((each) => idOf(each.taint) !== untaint)
  if (taint !== undefined && !taints.some((each) => textOf(each.taint) === textOf(taint)))
    taints = [...taints.filter((each) => idOf(each.taint) !== idOf(taint)), { taint, owner: manager }]
  if (edit.unschedulable === true) cordon ??= manager
  if (edit.unschedulable === false) cordon = undefined
  return written(o, { ...edit, taints, cordon }, isTracked(o) ? manager : undefined)
}

const written = (
  o: Seat,
  next: Pick<Seat, "taints" | "cordon"> & Pick<Edit, "labels" | "annotations">,
  owner: string | undefined
): Seat => ({
  ...o,
  revision: o.revision + 1,
  labels: changed(o.labels, next.labels, owner),
  annotations: changed(o.annotations, next.annotations, owner),
  taints: next.taints,
  cordon: next.cordon,
  taintsOwner: ownerOf(
    o.taints.map(({ taint }) => textOf(taint)),
    o.taintsOwner,
    next.taints.map(({ taint }) => textOf(taint)),
    owner
  ),
  cordonOwner: ownerOf(
    o.cordon === undefined ? [] : ["cordon"],
    o.cordonOwner,
    next.cordon === undefined ? [] : ["cordon"],
    owner
  )
})

/** Who owns a field that was `before` and is `after`. */
const ownerOf = (
  before: readonly string[],
  owner: string | undefined,
  after: readonly string[],
  writer: string | undefined
): string | undefined => {
  if (after.length === 0) return undefined
  return before.join() === after.join() ? owner : writer
}

/** The node after another manager applied a label (server-side apply): of a value that is there already it is an owner besides. */
export const appliedLabel = (o: Seat, key: string, value: string, manager: string): Seat => {
  const before = o.labels.get(key)
  const owners = before?.value === value ? [...new Set([...before.owners, manager])] : [manager]
  return { ...o, revision: o.revision + 1, labels: new Map(o.labels).set(key, { value, owners }) }
}

/** The node after a manager applied without a label that others own as well: the value stays. */
export const withoutOwner = (o: Seat, key: string, manager: string): Seat => {
  const before = o.labels.get(key)
  if (before === undefined) return o
  const owners = before.owners.filter((each) => each !== manager)
  return { ...o, revision: o.revision + 1, labels: new Map(o.labels).set(key, { ...before, owners }) }
}

interface Body {
  readonly metadata: {
    readonly uid?: string
    readonly resourceVersion?: string
    readonly labels?: Strings
    readonly annotations?: Strings
    readonly managedFields?: readonly unknown[]
  }
  readonly spec?: { readonly taints?: readonly TaintHere[] | null; readonly unschedulable?: boolean | null }
}

/** The node after our merge patch; throws where it is for another node or another revision, or would be refused. */
export const patched = (o: Seat, patch: object): Seat => {
  const { metadata, spec } = patch as Body
  if (metadata.uid !== o.uid || metadata.resourceVersion !== String(o.revision))
    throw new Error(`409 for ${o.name}: ${JSON.stringify(metadata)} is not ${o.uid} ${o.revision}`)
  const odd = Object.keys({ ...patch, ...metadata, ...spec }).filter((field) => !KNOWN.has(field))
  if (odd.length > 0) throw new Error(`touches ${odd.join(", ")}`)
  let { taints, cordon } = o
  if (spec?.taints !== undefined) {
    const list = spec.taints ?? []
    if (new Set(list.map(idOf)).size < list.length) throw new Error(`422 twice the same taint`)
    taints = list.map(
      (taint) => taints.find((each) => textOf(each.taint) === textOf(taint)) ?? { taint, owner: US }
    )
  }
  if (spec?.unschedulable === true) cordon ??= US
  else if (spec?.unschedulable !== undefined) cordon = undefined
  const { labels, annotations } = metadata
  const tracked = isTracked(o) || metadata.managedFields !== undefined
  return written(
    o,
    { taints, cordon, ...(labels && { labels }), ...(annotations && { annotations }) },
    tracked ? US : undefined
  )
}

const KNOWN = new Set(
  "metadata spec uid resourceVersion labels annotations managedFields taints unschedulable".split(" ")
)

// ---- units and groups

interface Meta {
  readonly born?: number
  readonly labels?: { readonly [key: string]: string }
  readonly annotations?: { readonly [key: string]: string }
  readonly deleting?: boolean
  readonly generation?: number
  readonly ownerReferences?: readonly object[]
}

const meta = (name: string, o: Meta) => ({
  name,
  uid: `uid-of-${name}`,
  resourceVersion: "7",
  generation: o.generation ?? 1,
  creationTimestamp: `2026-01-01T00:00:${String(o.born ?? 0).padStart(2, "0")}Z`,
  ...(o.deleting === true && { deletionTimestamp: "2026-02-01T00:00:00Z" }),
  ...(o.labels !== undefined && { labels: o.labels }),
  ...(o.annotations !== undefined && { annotations: o.annotations }),
  ...(o.ownerReferences !== undefined && { ownerReferences: o.ownerReferences })
})

export const unit = (name: string, spec: object = {}, o: Meta = {}): NodeUnit =>
  frozen({
    apiVersion: "site.superedge.io/v1alpha2",
    kind: "NodeUnit",
    metadata: meta(name, o),
    spec
  } as unknown as NodeUnit)

export const group = (name: string, spec: object = {}, o: Meta = {}): NodeGroup =>
  frozen({
    apiVersion: "site.superedge.io/v1alpha2",
    kind: "NodeGroup",
    metadata: meta(name, o),
    spec
  } as unknown as NodeGroup)
