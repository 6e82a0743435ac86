/**
 * One more slice for each slice of a headless Service that has pods of this node's units: the same endpoints under their short names.
 *
 * CoreDNS makes a name of each host name in any slice of a Service, so these add names, and nothing else: they have no ports, since each
 * port of an endpoint is one more line in SRV answers. Only endpoints that this node is shown are in them, as they are: readiness too. What
 * there is always equals making all of it from scratch.
 */
import { asciiBytes, asciiJson, text } from "./bytes.ts"
import { sameShown, type Shown } from "./cut.ts"
import type { StringMap } from "./kube.ts"
import {
  aliasOf,
  isAddressed,
  isOwn,
  type NamedSet,
  type NamingGrid,
  ordinalOf,
  type OwnSet,
  ownSet
} from "./own-sets.ts"
import { type Slice, slice } from "./slice.ts"
import type { Change } from "./store.ts"
import { HEADLESS, SERVICE_NAME } from "./topology.ts"
import { grouped, own } from "./value.ts"
import type { Told } from "./view.ts"

/** What came at once. */
export interface NamingChanges {
  readonly grids: readonly Change<NamingGrid>[]
  readonly sets: readonly Change<NamedSet>[]
  /** keys of slices that upstream said something of, whether or not they are shown otherwise now */
  readonly slices: readonly string[]
  /** how slices are shown now */
  readonly shown: readonly Told[]
  /** the labels of this node */
  readonly node: StringMap | undefined
}

/** What is to be told of slices with short names: those that are gone, by key, and those that are new or have changed. */
export interface NamingTold {
  readonly removed: readonly string[]
  readonly put: readonly Shown[]
}

/** A slice of a headless Service. */
interface Entry {
  readonly shown: Shown
  /** by host name: the numbers of the endpoints that bear it, in `read` */
  hosts: ReadonlyMap<string, readonly number[]> | undefined
  /** the slice of which they were read; undefined: of none yet */
  read: Slice | undefined
  short: Shown | undefined
}

export class ShortSlices {
  #labels: StringMap | undefined
  /** by uid */
  readonly #grids = new Map<string, NamingGrid>()
  /** by key */
  readonly #sets = new Map<string, NamedSet>()
  /** keys of sets of this node's units */
  readonly #own = new Set<string>()
  /** by Service */
  #bearing: ReadonlyMap<string, readonly OwnSet[]> = new Map()
  /** by key of the slice */
  readonly #entries = new Map<string, Entry>()
  /** by Service: the keys of its slices */
  readonly #services = new Map<string, Set<string>>()

  take(changes: NamingChanges): NamingTold {
    const due = new Set<string>()
    const removed: string[] = []
    for (const key of changes.slices) this.#touch(key, due)
    for (const told of changes.shown) this.#slice(told, due, removed)
    if (this.#learn(changes)) this.#bear(due)
    const put: Shown[] = []
    for (const service of due) this.#decide(service, removed, put)
    return { removed, put }
  }

  /** Takes in grids, sets and this node; false where nothing of it can change a name. */
  #learn({ grids, sets, node }: NamingChanges): boolean {
    let matters = false
    for (const change of grids) {
      const after = change._tag === "Put" ? change.after : undefined
      const before = change.before
      if (before !== undefined) this.#grids.delete(before.uid)
      if (after !== undefined) this.#grids.set(after.uid, after)
      matters ||=
        before?.uid !== after?.uid || before?.gridKey !== after?.gridKey || before?.taken !== after?.taken
    }
    for (const change of sets) matters = this.#set(change) || matters
    if (node !== this.#labels) {
      this.#labels = node
      this.#own.clear()
      for (const [key, set] of this.#sets) if (isOwn(set, node)) this.#own.add(key)
      matters = true
    }
    return matters
  }

  #set({ key, ...change }: Change<NamedSet>): boolean {
    const before = this.#sets.get(key)
    const after = change._tag === "Put" ? change.after : undefined
    if (after === undefined) this.#sets.delete(key)
    else this.#sets.set(key, after)
    if (before !== undefined && after !== undefined && sameSet(before, after)) return false
    const was = this.#own.delete(key)
    const is = after !== undefined && isOwn(after, this.#labels)
    if (is) this.#own.add(key)
    return was || is || this.#takes(key)
  }

  /** Whether a set is called as a grid is. */
  #takes(key: string): boolean {
    for (const grid of this.#grids.values()) if (grid.key === key) return true
    return false
  }

  /** Finds the sets that give short names anew; Services whose sets change are due. */
  #bear(due: Set<string>): void {
    const by = { grid: (uid: string) => this.#grids.get(uid), set: (key: string) => this.#sets.get(key) }
    const found = [...this.#own].sort().flatMap((key) => {
      const set = this.#sets.get(key)
      return (set && ownSet(set, by)) ?? []
    })
    const before = this.#bearing
    this.#bearing = grouped(found, ({ service }) => service)
    for (const service of new Set([...before.keys(), ...this.#bearing.keys()]))
      if (JSON.stringify(before.get(service)) !== JSON.stringify(this.#bearing.get(service))) due.add(service)
  }

  /** Also what isn't shown bears names, and who bears one keeps others from it. */
  #touch(key: string, due: Set<string>): void {
    const service = this.#entries.get(key)?.shown.slice
    if (service !== undefined) due.add(serviceOf(service))
  }

  #slice(told: Told, due: Set<string>, removed: string[]): void {
    const before = this.#entries.get(told.key)
    const after = told._tag === "Shown" && isNamed(told.after.slice) ? told.after : undefined
    if (before !== undefined) {
      const service = serviceOf(before.shown.slice)
      due.add(service)
      if (after === undefined || serviceOf(after.slice) !== service) this.#leave(told.key, service)
      if (after === undefined) {
        if (before.short !== undefined) removed.push(before.short.slice.key)
        this.#entries.delete(told.key)
      }
    }
    if (after === undefined) return
    const service = serviceOf(after.slice)
    due.add(service)
    const keys = this.#services.get(service)
    if (keys === undefined) this.#services.set(service, new Set([told.key]))
    else keys.add(told.key)
    this.#entries.set(told.key, {
      shown: after,
      hosts: before?.hosts,
      read: before?.read,
      short: before?.short
    })
  }

  #leave(key: string, service: string): void {
    const keys = this.#services.get(service)
    keys?.delete(key)
    if (keys?.size === 0) this.#services.delete(service)
  }

  #decide(service: string, removed: string[], put: Shown[]): void {
    const sets = this.#bearing.get(service) ?? []
    const entries = [...(this.#services.get(service) ?? [])].flatMap((key) => this.#entries.get(key) ?? [])
    if (sets.length > 0) for (const entry of entries) look(entry)
    const has = (host: string): boolean => entries.some(({ hosts }) => hosts?.has(host) === true)
    for (const entry of entries) {
      const before = entry.short
      const after = sets.length === 0 ? undefined : shortened(entry, sets, has)
      if (after === undefined) {
        if (before !== undefined) removed.push(before.slice.key)
        entry.short = undefined
      } else if (before === undefined || !sameShown(before, after)) {
        entry.short = after
        put.push(after)
      }
    }
  }
}

/** Whether names are made of a slice: the label is what the API server's own controller gives to those of headless Services. */
const isNamed = ({ headless, service, family }: Slice): boolean =>
  headless && service !== undefined && isAddressed(family)

const serviceOf = ({ namespace, service }: Slice): string => `${namespace}/${service ?? ""}`

const sameSet = (a: NamedSet, b: NamedSet): boolean =>
  a.owner === b.owner && a.gridKey === b.gridKey && a.unit === b.unit && a.service === b.service

/** Reads the host names of a slice, unless they are known. */
const look = (entry: Entry): void => {
  const { slice: now } = entry.shown
  if (entry.read === now) return
  const hosts = new Map<string, number[]>()
  for (let i = 0; i < now.endpoints.length; i++) {
    const host = own(endpointAt(now, i), "hostname")
    if (typeof host !== "string") continue
    const known = hosts.get(host)
    if (known === undefined) hosts.set(host, [i])
    else known.push(i)
  }
  entry.hosts = hosts
  entry.read = now
}

const endpointAt = ({ bytes, spots }: Slice, i: number): unknown =>
  JSON.parse(text(bytes, spots[2 * i] ?? 0, spots[2 * i + 1] ?? 0)) as unknown

/** The slice that adds short names to one; undefined where it has none. */
const shortened = (
  { shown, hosts }: Entry,
  sets: readonly OwnSet[],
  has: (host: string) => boolean
): Shown | undefined => {
  const { slice: of, dropped, local } = shown
  if (local !== undefined) return undefined
  const gone = new Set(dropped)
  const endpoints: (readonly [number, unknown])[] = []
  for (const [host, places] of hosts ?? [])
    for (const set of sets) {
      const ordinal = ordinalOf(host, set)
      const alias = ordinal === undefined ? undefined : aliasOf(set, ordinal, has)
      if (alias?._tag !== "Given") continue
      for (const i of places)
        if (!gone.has(i)) endpoints.push([i, { ...(endpointAt(of, i) as object), hostname: alias.host }])
    }
  if (endpoints.length === 0) return undefined
  endpoints.sort(([a], [b]) => a - b)
  return made(
    of,
    endpoints.map(([, endpoint]) => endpoint)
  )
}

/** A name that no object of the API server can have. */
const SHORT = "~short"

const made = (of: Slice, endpoints: readonly unknown[]): Shown | undefined => {
  const object = {
    metadata: {
      name: `${of.name}${SHORT}`,
      namespace: of.namespace,
      uid: `${of.uid}${SHORT}`,
      labels: {
        [SERVICE_NAME]: of.service,
        [HEADLESS]: "",
        "endpointslice.kubernetes.io/managed-by": MANAGER
      }
    },
    addressType: of.family,
    endpoints,
    ports: []
  }
  const found = slice(asciiBytes(asciiJson(object)), (each) => each)
  return "_tag" in found ? undefined : { slice: found, dropped: [], local: undefined }
}

const MANAGER = "servicegroup.superedge.io"
