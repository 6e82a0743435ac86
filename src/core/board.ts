/**
 * What clients of this node are shown, of every kind: upstream's statements in, journals out.
 *
 * Slices and Endpoints come as the view trims them; other kinds as upstream has them. All that one statement changes is told at once, so
 * no client ever sees half of it.
 */
import { inVersion, V1 } from "./beta.ts"
import { edited, put, type Sink } from "./bytes.ts"
import { rendering, sameItem, subject, type Thing } from "./cut.ts"
import { type Feed, type ItemOf, NAMING, NEEDED, type NodeLabels } from "./feed.ts"
import type { Item } from "./item.ts"
import { type Bounds, Journal } from "./journal.ts"
import { local } from "./local.ts"
import type { NamedSet, NamingGrid } from "./own-sets.ts"
import { ShortSlices } from "./short-slices.ts"
import type { Slice, SliceKind } from "./slice.ts"
import { Source } from "./source.ts"
import type { Change, Input } from "./store.ts"
import { API_SERVER, known } from "./topology.ts"
import { type Told, View, type ViewChange } from "./view.ts"

/** What clients may ask for, and the feed that it comes from. */
export const SHOWN = {
  Service: "Service",
  EndpointSlice: "EndpointSlice",
  Endpoints: "Endpoints",
  Node: "OwnNode",
  Namespace: "Namespace",
  ServiceCIDR: "ServiceCIDR"
} as const satisfies { readonly [kind: string]: Feed }
export type ShownKind = keyof typeof SHOWN

/** What the clients of one address are shown. */
export interface Showing {
  readonly view: View
  /** What has to be seen before clients of a kind may be answered; empty: they may. */
  waitsFor(kind: ShownKind): readonly Feed[]
  /** What clients of a kind are told. Nobody may be answered from it before `waitsFor` is empty. */
  journal(kind: ShownKind): Journal<Thing>
  /** Puts a thing as a client is sent it: in its version, with the revision that it is to know. */
  render(kind: ShownKind, thing: Thing, revision: string, apiVersion: string, sink: Sink): void
}

export class Board implements Showing {
  readonly view: View
  readonly #sources: { readonly [F in Feed]: Source<ItemOf<F>> } = {
    OwnNode: new Source(),
    Node: new Source(),
    Service: new Source(),
    ApiServer: new Source(),
    EndpointSlice: new Source(),
    Endpoints: new Source(),
    Namespace: new Source(),
    ServiceCIDR: new Source(),
    StatefulSetGrid: new Source(),
    StatefulSet: new Source()
  }
  readonly #journals: { readonly [K in ShownKind]: Journal<Thing> }
  /** feeds of which all was seen once */
  readonly #seen = new Set<Feed>()

  /** what clients that resolve names are shown of slices, besides; undefined: there are no such clients */
  readonly #short: { readonly slices: ShortSlices; readonly journal: Journal<Thing> } | undefined

  /** `start`: where revisions begin, see Journal. `naming`: whether `named` is used. */
  constructor(
    own: string,
    start: string,
    bounds: Bounds,
    o: { readonly naming: boolean } = { naming: false }
  ) {
    this.view = new View(own)
    const journal = (): Journal<Thing> => new Journal<Thing>(start, bounds, alone)
    this.#short = o.naming ? { slices: new ShortSlices(), journal: journal() } : undefined
    this.#journals = {
      Service: journal(),
      EndpointSlice: journal(),
      Endpoints: journal(),
      Node: journal(),
      Namespace: journal(),
      ServiceCIDR: journal()
    }
  }

  /** The version of discovery.k8s.io in which upstream gives slices. */
  sliceVersion: string = V1

  render(kind: ShownKind, thing: Thing, revision: string, apiVersion: string, sink: Sink): void {
    const slices = kind === "EndpointSlice"
    const { bytes, edits } = rendering(thing, {
      revision,
      kind,
      apiVersion: slices ? this.sliceVersion : apiVersion
    })
    if (!slices || apiVersion === this.sliceVersion) return put(bytes, edits, sink)
    const converted = inVersion(edited(bytes, edits), apiVersion)
    sink.bytes(converted, 0, converted.length)
  }

  /** What is known of a feed. */
  source<F extends Feed>(feed: F): Source<ItemOf<F>> {
    return this.#sources[feed]
  }

  journal(kind: ShownKind): Journal<Thing> {
    return this.#journals[kind]
  }

  /** The same for clients that make names of endpoints: slices with short names are among theirs. undefined: there are no such clients. */
  get named(): Showing | undefined {
    const short = this.#short
    if (short === undefined) return undefined
    return {
      view: this.view,
      waitsFor: (kind) =>
        kind === "EndpointSlice"
          ? [...this.waitsFor(kind), ...NAMING.filter((feed) => !this.#seen.has(feed))]
          : this.waitsFor(kind),
      journal: (kind) => (kind === "EndpointSlice" ? short.journal : this.journal(kind)),
      render: (...given) => this.render(...given)
    }
  }

  /** The journals of all kinds. */
  journals(): readonly (readonly [string, Journal<Thing>])[] {
    const named = this.#short === undefined ? [] : [["NamedEndpointSlice", this.#short.journal] as const]
    return [...Object.entries(this.#journals), ...named]
  }

  /** Whether anything is made of a feed. */
  takes(feed: Feed): boolean {
    return this.#short !== undefined || !(NAMING as readonly Feed[]).includes(feed)
  }

  /** Whether all of a feed was seen once, from upstream or from what was kept. */
  seen(feed: Feed): boolean {
    return this.#seen.has(feed)
  }

  waitsFor(kind: ShownKind): readonly Feed[] {
    const feeds = NEEDED.filter((feed) => !this.#seen.has(feed) || (feed === "OwnNode" && !this.view.ownSeen))
    const feed = SHOWN[kind]
    return this.#seen.has(feed) || (feeds as readonly Feed[]).includes(feed) ? feeds : [...feeds, feed]
  }

  /** Begins a feed with what an earlier process kept. */
  keep<F extends Feed>(feed: F, kept: readonly ItemOf<F>[]): void {
    this.#tell(feed, this.#sources[feed].keep(kept as never) as readonly Change<ItemOf<F>>[], true)
  }

  /** Takes in what came of a feed at once. */
  take<F extends Feed>(feed: F, inputs: readonly Input<ItemOf<F>>[]): void {
    const source: Source<ItemOf<F>> = this.#sources[feed]
    this.#tell(feed, source.take(inputs), source.listed)
  }

  #tell<F extends Feed>(feed: F, changes: readonly Change<ItemOf<F>>[], seen: boolean): void {
    const first = seen && !this.#seen.has(feed)
    if (seen) this.#seen.add(feed)
    const kind = PLAIN[feed]
    if (kind !== undefined) for (const change of changes) this.#plain(kind, change as Change<Item>)
    const told = this.view.take([
      ...viewChanges(feed, changes, this.view.own),
      ...(first ? synced(feed) : [])
    ])
    for (const each of told) tell(this.#journals[kindOf(each)], each)
    this.#names(feed, changes, told)
  }

  #names<F extends Feed>(feed: F, changes: readonly Change<ItemOf<F>>[], all: readonly Told[]): void {
    if (this.#short === undefined) return
    const told = all.filter((each) => kindOf(each) === "EndpointSlice")
    const { slices, journal } = this.#short
    const { removed, put } = slices.take({
      grids: feed === "StatefulSetGrid" ? (changes as readonly Change<NamingGrid>[]) : [],
      sets: feed === "StatefulSet" ? (changes as readonly Change<NamedSet>[]) : [],
      slices: feed === "EndpointSlice" ? changes.map(({ key }) => key) : [],
      shown: told,
      node: this.view.ownLabels
    })
    // What has no short name any more loses it before its address goes, and a new one comes after it.
    for (const key of removed) journal.remove(key)
    for (const each of told) tell(journal, each)
    for (const each of put) journal.put(each.slice.key, each)
  }

  #plain(kind: ShownKind, change: Change<Item>): void {
    const journal = this.#journals[kind]
    if (change._tag === "Removed") journal.remove(change.key)
    else if (change.before === undefined || !sameItem(kind, change.before, change.after))
      journal.put(change.key, change.after)
    else journal.replace(change.key, change.after)
  }
}

const kindOf = (told: Told): SliceKind => (told._tag === "Removed" ? told.before : told.after).slice.kind

const tell = (journal: Journal<Thing>, told: Told): void => {
  if (told._tag === "Removed") journal.remove(told.key)
  else journal.put(told.key, told.after)
}

/** The kinds that are shown as upstream has them. */
const PLAIN: { readonly [F in Feed]?: ShownKind } = {
  OwnNode: "Node",
  Service: "Service",
  Namespace: "Namespace",
  ServiceCIDR: "ServiceCIDR"
}

/** The bytes that an event alone keeps: those of what was there before, unless what is there now is made of the same. */
const alone = (before: Thing | undefined, after: Thing | undefined): number => {
  const bytes = before && subject(before).bytes
  return bytes === undefined || bytes === (after && subject(after).bytes) ? EVENT : EVENT + bytes.length
}
/** Bytes of an event without its objects. */
const EVENT = 100

const synced = (feed: Feed): readonly ViewChange[] =>
  feed === "Service" ||
  feed === "Node" ||
  feed === "ApiServer" ||
  feed === "EndpointSlice" ||
  feed === "Endpoints"
    ? [{ _tag: "Synced", kind: feed }]
    : []

const viewChanges = <F extends Feed>(
  feed: F,
  changes: readonly Change<ItemOf<F>>[],
  own: string
): readonly ViewChange[] =>
  changes.flatMap((change): readonly ViewChange[] => {
    const after = change._tag === "Put" ? change.after : undefined
    switch (feed) {
      case "EndpointSlice":
      case "Endpoints":
        return [{ _tag: "Slice", kind: feed, key: change.key, slice: after as Slice | undefined }]
      case "Service":
        return [{ _tag: "Service", key: change.key, service: after && facts(after as Item) }]
      case "ApiServer":
        return change.key === API_SERVER
          ? [{ _tag: "ApiServer", annotations: (after as Item | undefined)?.annotations }]
          : []
      case "Node":
      case "OwnNode": {
        const node = (change._tag === "Put" ? change.after : change.before) as NodeLabels
        // Two feeds say what this node's labels are, at two times: one of them counts.
        return (node.name === own) === (feed === "OwnNode")
          ? [{ _tag: "Node", name: node.name, labels: (after as NodeLabels | undefined)?.labels }]
          : []
      }
      case "Namespace":
      case "ServiceCIDR":
      case "StatefulSetGrid":
      case "StatefulSet":
        return []
    }
  })

const facts = ({ annotations, clusterIP }: Item) => ({
  ...known(annotations, clusterIP),
  local: local(annotations)
})
