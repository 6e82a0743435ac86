/**
 * What this node is shown of all slices: a change in, exactly the touched slices out.
 *
 * It holds upstream's bytes and a slim index, and which endpoints are dropped. A change decides only on the Services that it
 * concerns; what is shown always equals deciding everything from scratch. Nothing is shown before Services, nodes, this node
 * itself and the slices have been seen once.
 */
import { sameShown, type Shown } from "./cut.ts"
import type { StringMap } from "./kube.ts"
import { type Local, local, placing } from "./local.ts"
import type { Slice, SliceKind } from "./slice.ts"
import { API_SERVER, type Candidate, dropped, HOSTNAME, type Known, type Surroundings } from "./topology.ts"

/** What a view knows of a Service. */
export interface ServiceFacts extends Known {
  /** the address that `default/kubernetes` names for this node's pods */
  readonly local: Local | undefined
}

export type ViewChange =
  /** undefined: deleted */
  | { readonly _tag: "Service"; readonly key: string; readonly service: ServiceFacts | undefined }
  | {
      readonly _tag: "Slice"
      readonly kind: SliceKind
      readonly key: string
      readonly slice: Slice | undefined
    }
  | { readonly _tag: "Node"; readonly name: string; readonly labels: StringMap | undefined }
  /** the annotations of Endpoints `default/kubernetes`, which are read for clients of slices too */
  | { readonly _tag: "ApiServer"; readonly annotations: StringMap | undefined }
  /** all of a kind was seen once */
  | { readonly _tag: "Synced"; readonly kind: SyncedKind }

export type SyncedKind = "Service" | "Node" | "ApiServer" | SliceKind

/** What a watcher of slices must be told. */
export type Told =
  | {
      readonly _tag: "Shown"
      readonly key: string
      readonly before: Shown | undefined
      readonly after: Shown
    }
  | { readonly _tag: "Removed"; readonly key: string; readonly before: Shown }

interface Entry {
  slice: Slice
  group: Group | undefined
  shown: Mutable<Shown> | undefined
}

type Mutable<A> = { -readonly [field in keyof A]: A[field] }

/** All slices of one Service, or its Endpoints object. */
interface Group {
  readonly service: string | undefined
  readonly entries: Set<Entry>
}

class Kind {
  readonly entries = new Map<string, Entry>()
  /** by Service; a slice of no Service is a group of its own */
  readonly groups = new Map<string, Group>()
}

export class View {
  readonly own: string
  /** whether this node was deleted after it had been seen: its last labels stand */
  ownDeleted = false
  #ownLabels: StringMap | undefined
  readonly #synced = new Set<SyncedKind>()
  readonly #started = new Set<SliceKind>()
  readonly #services = new Map<string, ServiceFacts>()
  /** how many Services have a scope of each key */
  readonly #keys = new Map<string, number>()
  readonly #nodes = new Map<string, StringMap>()
  readonly #hosts = new Map<string, Set<string>>()
  readonly #kinds: { readonly [kind in SliceKind]: Kind } = {
    EndpointSlice: new Kind(),
    Endpoints: new Kind()
  }
  /** names of nodes that aren't now what they were, and, with a mark, host names: what has an endpoint there is decided anew */
  readonly #moved = new Set<string>()
  #local: Local | undefined
  readonly #around: Surroundings
  /** by key: the values of nodes that were asked for, since each event asks for those of all endpoints of a Service */
  readonly #values = new Map<string, Map<string, string | undefined>>()

  constructor(own: string) {
    this.own = own
    this.#around = {
      own,
      value: (node, key) => this.#value(node, key),
      named: (hostname) => this.#named(hostname)
    }
  }

  /** The labels of this node, the last ones where it is deleted; undefined before it was seen. */
  get ownLabels(): StringMap | undefined {
    return this.#ownLabels
  }

  /** Whether this node was ever seen. */
  get ownSeen(): boolean {
    return this.#ownLabels !== undefined
  }

  /** Whether clients of a kind may be answered. */
  ready(kind: SliceKind): boolean {
    return this.ownSeen && SYNCED_FIRST.every((each) => this.#synced.has(each)) && this.#synced.has(kind)
  }

  /** The Services whose annotation can't be read, and what is wrong with each: they are closed. */
  *closed(): Generator<{ readonly key: string; readonly message: string }, void, undefined> {
    for (const [key, { scope }] of this.#services)
      if (scope._tag === "Closed") yield { key, message: scope.message }
  }

  /** All that is shown of a kind, in no order; nothing before it is ready. */
  *shown(kind: SliceKind): Generator<Shown, void, undefined> {
    for (const { shown } of this.#kinds[kind].entries.values()) if (shown !== undefined) yield shown
  }

  /** One object as it is shown; undefined where there is none, or where it isn't ready. */
  get(kind: SliceKind, key: string): Shown | undefined {
    return this.#kinds[kind].entries.get(key)?.shown
  }

  /**
   * Takes in changes that came together (one event, or all of a relist), and gives what watchers must be told of it: each
   * slice once, unless it was replaced by another of its name, and only where they see a difference.
   */
  take(changes: readonly ViewChange[]): readonly Told[] {
    const told: Told[] = []
    const due = new Set<Group>()
    for (const change of changes) this.#change(change, due, told)
    this.#settle(due)
    for (const kind of KINDS) {
      if (!this.ready(kind)) continue
      const { groups } = this.#kinds[kind]
      if (!this.#started.has(kind)) for (const group of groups.values()) due.add(group)
      this.#started.add(kind)
    }
    for (const group of due) this.#decide(group, told)
    return told
  }

  #change(change: ViewChange, due: Set<Group>, told: Told[]): void {
    switch (change._tag) {
      case "Service":
        return this.#says(change.key, change.service, due)
      case "Slice":
        return this.#slice(change.kind, change.key, change.slice, due, told)
      case "Node":
        return this.#node(change.name, change.labels, due)
      case "ApiServer":
        this.#local = local(change.annotations)
        return this.#service(API_SERVER, due)
      case "Synced":
        this.#synced.add(change.kind)
    }
  }

  #says(key: string, service: ServiceFacts | undefined, due: Set<Group>): void {
    const before = this.#services.get(key)
    if (service === undefined) this.#services.delete(key)
    else this.#services.set(key, service)
    if (before !== undefined && service !== undefined && sameFacts(before, service)) return
    for (const each of keysOf(before)) this.#keys.set(each, (this.#keys.get(each) ?? 0) - 1)
    for (const each of keysOf(service)) this.#keys.set(each, (this.#keys.get(each) ?? 0) + 1)
    this.#service(key, due)
  }

  #service(key: string, due: Set<Group>): void {
    for (const kind of KINDS) {
      const group = this.#kinds[kind].groups.get(key)
      if (group !== undefined) due.add(group)
    }
  }

  #slice(kind: SliceKind, key: string, slice: Slice | undefined, due: Set<Group>, told: Told[]): void {
    const { entries } = this.#kinds[kind]
    const before = entries.get(key)
    if (before?.group !== undefined && slice !== undefined && isOfSame(before.slice, slice)) {
      before.slice = slice
      due.add(before.group)
      return
    }
    if (before !== undefined) this.#leave(kind, before, due)
    if (before !== undefined && slice?.uid !== before.slice.uid) {
      entries.delete(key)
      if (before.shown !== undefined) told.push({ _tag: "Removed", key, before: before.shown })
    }
    if (slice === undefined) return
    const entry = entries.get(key) ?? { slice, group: undefined, shown: undefined }
    entry.slice = slice
    entries.set(key, entry)
    this.#enter(kind, entry, due)
  }

  #enter(kind: SliceKind, entry: Entry, due: Set<Group>): void {
    const { slice } = entry
    const { groups } = this.#kinds[kind]
    const service = slice.service === undefined ? undefined : `${slice.namespace}/${slice.service}`
    const name = service ?? `${ALONE}${slice.key}`
    const group = groups.get(name) ?? { service, entries: new Set() }
    groups.set(name, group)
    group.entries.add(entry)
    entry.group = group
    due.add(group)
  }

  #leave(kind: SliceKind, entry: Entry, due: Set<Group>): void {
    const { group } = entry
    if (group === undefined) return
    group.entries.delete(entry)
    due.add(group)
    if (group.entries.size === 0)
      this.#kinds[kind].groups.delete(group.service ?? `${ALONE}${entry.slice.key}`)
  }

  #node(name: string, labels: StringMap | undefined, due: Set<Group>): void {
    if (name === this.own) {
      this.ownDeleted = labels === undefined && this.#ownLabels !== undefined
      if (labels === undefined) return
      const last = this.#ownLabels
      this.#ownLabels = labels
      this.#forget(name)
      if (last !== undefined && this.#sameToAll(labels, last)) return
      for (const kind of KINDS) for (const group of this.#kinds[kind].groups.values()) due.add(group)
      return
    }
    const before = this.#nodes.get(name)
    if (labels === undefined) this.#nodes.delete(name)
    else this.#nodes.set(name, labels)
    this.#forget(name)
    if (this.#sameToAll(labels, before)) return
    const was = label(before, HOSTNAME)
    const is = label(labels, HOSTNAME)
    this.#rehost(name, was, is)
    this.#moved.add(name)
    for (const host of [was, is, name]) this.#moved.add(`${HOST}${host ?? ""}`)
  }

  /**
   * What has an endpoint on a node that changed is decided anew. All slices are looked through for it: labels that count change rarely, and an
   * index of endpoints by node would be a quarter of the memory.
   */
  #settle(due: Set<Group>): void {
    if (this.#moved.size === 0) return
    for (const kind of this.#started)
      for (const { group, slice } of this.#kinds[kind].entries.values())
        if (group !== undefined && !due.has(group) && slice.endpoints.some((each) => this.#hasMoved(each)))
          due.add(group)
    this.#moved.clear()
  }

  #hasMoved({ node, hostname }: Candidate): boolean {
    if (node !== undefined) return this.#moved.has(node)
    return hostname !== undefined && this.#moved.has(`${HOST}${hostname}`)
  }

  /** Whether two label sets of a node are the same to all Services, and to endpoints that name its host. */
  #sameToAll(a: StringMap | undefined, b: StringMap | undefined): boolean {
    if (a === b) return true
    for (const [key, users] of this.#keys) if (users > 0 && label(a, key) !== label(b, key)) return false
    return label(a, HOSTNAME) === label(b, HOSTNAME)
  }

  #value(node: string, key: string): string | undefined {
    let known = this.#values.get(key)
    if (known === undefined) {
      if (this.#values.size >= MOST_KEYS) this.#values.clear()
      known = new Map()
      this.#values.set(key, known)
    }
    let value = known.get(node)
    if (value === undefined && !known.has(node)) {
      value = label(node === this.own ? this.#ownLabels : this.#nodes.get(node), key)
      known.set(node, value)
    }
    return value
  }

  #forget(node: string): void {
    for (const known of this.#values.values()) known.delete(node)
  }

  #rehost(name: string, before: string | undefined, after: string | undefined): void {
    if (before === after) return
    if (before !== undefined) {
      const there = this.#hosts.get(before)
      there?.delete(name)
      if (there?.size === 0) this.#hosts.delete(before)
    }
    if (after === undefined) return
    const there = this.#hosts.get(after)
    if (there === undefined) this.#hosts.set(after, new Set([name]))
    else there.add(name)
  }

  #named(hostname: string): string {
    if (label(this.#ownLabels, HOSTNAME) === hostname) return this.own
    const names = [...(this.#hosts.get(hostname) ?? [])]
    return names.sort()[0] ?? hostname
  }

  /**
   * Those that show less than before are told first, so that a watcher who is told of a Service's slices one by one never has the endpoints
   * of the old choice beside those of the new one.
   */
  #decide(group: Group, told: Told[]): void {
    const [first] = group.entries
    if (first === undefined || !this.ready(first.slice.kind)) return
    const entries = [...group.entries]
    const before = told.length
    const slices = entries.map(({ slice }) => slice)
    const service = group.service === undefined ? undefined : this.#services.get(group.service)
    const gone = dropped(service, slices, this.#around)
    const here = group.service === API_SERVER ? placing(this.#local ?? service?.local, slices) : undefined
    for (const [i, entry] of entries.entries()) {
      this.#show(entry, { slice: entry.slice, dropped: gone[i] ?? [], local: here?.get(entry.slice) }, told)
    }
    if (told.length - before > 1) told.push(...told.splice(before).sort((a, b) => growth(a) - growth(b)))
  }

  #show(entry: Entry, after: Mutable<Shown>, told: Told[]): void {
    const before = entry.shown
    if (before !== undefined && sameShown(before, after)) {
      // it goes on standing for the slice, so that nobody who holds it keeps older bytes alive for it
      before.slice = after.slice
      before.dropped = after.dropped
      before.local = after.local
      return
    }
    entry.shown = after
    told.push({ _tag: "Shown", key: entry.slice.key, before, after })
  }
}

/** Keys whose values are kept: more than people write into annotations. */
const MOST_KEYS = 32

const KINDS = ["EndpointSlice", "Endpoints"] as const
const SYNCED_FIRST = ["Service", "Node", "ApiServer"] as const

/** How many endpoints more a watcher is shown. */
const growth = (told: Told): number =>
  (told._tag === "Shown" ? count(told.after) : 0) - (told.before === undefined ? 0 : count(told.before))

const count = ({ slice, dropped, local: here }: Shown): number =>
  here === undefined ? slice.endpoints.length - dropped.length : here === "none" ? 0 : 1

const keysOf = (service: ServiceFacts | undefined): readonly string[] =>
  service?.scope._tag === "Within" ? service.scope.keys : []

const sameFacts = (a: ServiceFacts, b: ServiceFacts): boolean =>
  a.headless === b.headless &&
  a.unitScope === b.unitScope &&
  a.local?.address === b.local?.address &&
  a.local?.port === b.local?.port &&
  JSON.stringify(a.scope) === JSON.stringify(b.scope)

/** Can't stand in a Service's key, nor in a node's name. */
const ALONE = "\u0000"
const HOST = "\u0000"

const label = (labels: StringMap | undefined, key: string): string | undefined =>
  labels !== undefined && Object.hasOwn(labels, key) && labels[key] !== "" ? labels[key] : undefined

/** Whether one stands for the other in the same group. */
const isOfSame = (before: Slice, after: Slice): boolean =>
  before.uid === after.uid && before.service === after.service
