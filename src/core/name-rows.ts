/**
 * What the sets of a grid, and the grid itself, say to a name of a pod: one row each, with the values that decided it.
 */
import type { AskedName } from "./asked-name.ts"
import type { HostEndpoint, PodName } from "./names.ts"
import {
  type Holder,
  isOwn,
  type NamedSet,
  nameIn,
  namespaceIn,
  type NamingGrid,
  holderOf,
  ordinalOf
} from "./own-sets.ts"
import type { Service, StringMap } from "./kube.ts"
import { HEADLESS_SCOPE } from "./topology.ts"
import { unitOf } from "./units.ts"
import { own } from "./value.ts"
import { naming } from "./words.ts"

/** What decided. `OwnPod`: the node's unit gives the name; `OtherUnit`, `OtherPod`, `ServiceName`: the cluster's DNS may. */
export type NameRule =
  | "OwnPod"
  | "OtherUnit"
  | "OtherPod"
  | "ServiceName"
  | "NotReady"
  | "NoAddress"
  | "NoPod"
  | "Taken"
  | "NoLabel"
  | "NoService"
  | "NotHeadless"
  | "OtherService"
  | "NoOwner"
  | "OtherKey"
  | "NoUnit"
  | "NoSet"
  | "NoGrid"
  | "OtherDomain"

/** What one thing says to a name. */
export interface NameRow {
  readonly rule: NameRule
  /** its addresses are the answer, or part of it */
  readonly given: boolean
  /** what is judged, such as `StatefulSet web-beijing` */
  readonly subject: string
  /** the unit that it is of */
  readonly unit?: string
  readonly addresses: readonly string[]
  /** in words, with the values that decided it */
  readonly reason: string
}

/** A pod's name, and all that may have a say. */
export interface Scene {
  readonly asked: AskedName & { readonly host: string }
  /** the Service that is asked for */
  readonly service: Service | undefined
  readonly node: string
  readonly labels: StringMap | undefined
  readonly grids: ReadonlyMap<string, NamingGrid>
  readonly sets: ReadonlyMap<string, NamedSet>
  /** why the Service gives pods no names; undefined: it does */
  readonly unnamed: { readonly rule: "NoService" | "NotHeadless"; readonly reason: string } | undefined
  /** those of the Service */
  readonly endpoints: readonly HostEndpoint[]
  /** those of the node's units that this Service publishes under any name */
  readonly podNames: readonly PodName[]
}

/** The rows of the set that would call a pod so, and of the grid whose pods would be called so in every unit. */
export const nameRows = (scene: Scene): readonly NameRow[] => {
  const { host, service } = scene.asked
  const key = `${namespaceIn(service)}/${host.slice(0, Math.max(0, host.lastIndexOf("-")))}`
  const set = scene.sets.get(key)
  const grid = [...scene.grids.values()].find((each) => each.key === key)
  const isNamed = ordinalOf(host, { name: nameIn(key) }) !== undefined
  if (!isNamed) return []
  return [
    ...(set === undefined ? [] : setRows(scene, set, false)),
    ...(grid === undefined ? [] : gridRows(scene, grid))
  ]
}

const gridRows = (scene: Scene, grid: NamingGrid): readonly NameRow[] => {
  const { labels, node } = scene
  const here = grid.gridKey === undefined ? undefined : unitOf(grid.gridKey, labels)
  const subject = `StatefulSetGrid ${nameIn(grid.key)}`
  const own = [...scene.sets.values()].filter((set) => set.owner === grid.uid)
  if (here === undefined) {
    const reason =
      grid.gridKey === undefined
        ? `it has no gridUniqKey, so it has no units`
        : `${node} has no label ${grid.gridKey}, so it is in no unit of it`
    return [{ rule: "NoUnit", given: false, subject, addresses: [], reason }]
  }
  const rows = own.flatMap((set) => setRows(scene, set, true))
  const mine = own.some((set) => holderOf(set, byUid(scene))._tag === "Grid" && isOwn(set, labels))
  if (mine) return rows
  const reason = `${inUnit(scene, grid.gridKey ?? "")}, and the grid has no StatefulSet there`
  return [{ rule: "NoSet", given: false, subject, unit: here, addresses: [], reason }, ...rows]
}

const byUid = ({ grids }: Scene) => ({ grid: (uid: string) => grids.get(uid) })

const inUnit = ({ node, labels }: Scene, key: string): string => {
  const here = unitOf(key, labels)
  return here === undefined
    ? `${node} has no label ${key}, so it is in no unit`
    : `${node} is in unit ${here} (${key}=${here})`
}

/** `short`: asked is the name that its pod would have in every unit. */
const setRows = (scene: Scene, set: NamedSet, short: boolean): readonly NameRow[] => {
  const { asked, unnamed } = scene
  const row = (rule: NameRule, reason: string): readonly NameRow[] => [
    {
      rule,
      given: false,
      subject: `StatefulSet ${nameIn(set.key)}`,
      ...(set.unit !== undefined && { unit: set.unit }),
      addresses: short || set.service !== asked.service ? [] : published(scene),
      reason: short || set.service !== asked.service ? reason : `${reason}; ${byItself(scene)}`
    }
  ]
  const stranger = strange(holderOf(set, byUid(scene)), set)
  if (stranger !== undefined) return row(stranger.rule, stranger.reason)
  if (!isOwn(set, scene.labels))
    return row("OtherUnit", `it is of unit ${set.unit ?? "none"}, while ${inUnit(scene, set.gridKey ?? "")}`)
  if (set.service !== asked.service)
    return row("OtherService", `its pods have names in Service ${nameIn(set.service)} (serviceName)`)
  if (unnamed !== undefined) return row(unnamed.rule, unnamed.reason)
  return podRows(scene, set)
}

/** Why a set gives its pods no names in a unit, whatever the node. */
const strange = (
  holder: Holder,
  { gridKey }: NamedSet
): { readonly rule: NameRule; readonly reason: string } | undefined => {
  switch (holder._tag) {
    case "Grid":
      return undefined
    case "Nobody":
      return { rule: "NoOwner", reason: "it has no owner, so it is of no unit" }
    case "Gone":
      return { rule: "NoOwner", reason: `its owner (uid ${holder.uid}) is no StatefulSetGrid that is there` }
    case "OtherKey":
      return {
        rule: "OtherKey",
        reason: `it was made for the key ${gridKey ?? "of nothing"}, while its grid has ${holder.grid.gridKey ?? "none"} by now`
      }
  }
}

const podRows = (scene: Scene, set: NamedSet): readonly NameRow[] => {
  const { asked, podNames } = scene
  const base = { subject: `StatefulSet ${nameIn(set.key)}`, unit: set.unit ?? "" }
  const mine = podNames.filter((each) => each.set.key === set.key)
  const found = mine.filter(({ host }) => host === asked.host)
  if (found.length > 0)
    return found.map((each) => ({ ...base, ...judged(scene, each, inUnit(scene, set.gridKey ?? "")) }))
  const pods = [...new Set(mine.map(({ endpoint }) => endpoint.host))]
  const others = pods.length === 0 ? "nor of another of its pods" : `only of ${naming(pods, MOST)}`
  return [
    {
      ...base,
      rule: "NoPod",
      given: false,
      addresses: [],
      reason: `Service ${nameIn(asked.service)} has no endpoint of that pod, ${others}`
    }
  ]
}

const judged = (
  { asked }: Scene,
  { endpoint, verdict }: PodName,
  unit: string
): Pick<NameRow, "rule" | "given" | "addresses" | "reason"> => {
  const { host, slice, addresses } = endpoint
  const no = (rule: NameRule, reason: string) => ({ rule, given: false, addresses: [], reason })
  switch (verdict._tag) {
    case "Given":
      if (addresses.length === 0) return no("NoAddress", `${host} has no address in slice ${slice}`)
      return { rule: "OwnPod", given: true, addresses, reason: `${unit}; ${host} is ready in slice ${slice}` }
    case "NotReady":
      return no("NotReady", `${host} isn't ready in slice ${slice}, so the Service doesn't publish it`)
    case "Taken":
      return no("Taken", `left out: ${verdict.by} bears ${asked.host} already; rename one of them`)
    case "NoLabel":
      return no("NoLabel", `left out: ${verdict.host} is no label of a DNS name`)
  }
}

/** What the cluster's DNS answers to the name, on every node alike. */
const published = ({ asked, endpoints }: Scene): readonly string[] =>
  endpoints.filter(({ host, ready }) => ready && host === asked.host).flatMap(({ addresses }) => addresses)

/** Who answers what no unit gives, and how far that is the same on all nodes. */
export const elsewhere = (service: Service | undefined): string =>
  own(own(service?.metadata, "annotations"), HEADLESS_SCOPE) === "unit"
    ? `CoreDNS answers it by itself; where it reads through the wrapper, with what is of the node's unit alone (${HEADLESS_SCOPE}: unit)`
    : "CoreDNS answers it by itself, as on every node"

const byItself = (scene: Scene): string => {
  const { asked, endpoints } = scene
  if (published(scene).length > 0) return elsewhere(scene.service)
  const unready = endpoints.find(({ host, ready }) => !ready && host === asked.host)
  return unready === undefined
    ? `Service ${nameIn(asked.service)} has no endpoint of that name`
    : `its endpoint in slice ${unready.slice} isn't ready, so nobody is given it`
}

/** Names that are written out at most. */
const MOST = 6
