/**
 * What clients of this node are shown, of every kind: upstream's statements in, journals out.
 *
 * Slices and Endpoints come as the view trims them; other kinds as upstream has them. All that one statement changes is told at once, so
 * no client ever sees half of it.
 */
import { type Item, item } from "./item.ts"
import { inVersion, V1 } from "./beta.ts"
import { edited, put, type Sink } from "./bytes.ts"
import { rendering, sameItem, subject, type Thing } from "./cut.ts"
import { type Bounds, Journal } from "./journal.ts"
import type { StringMap } from "./kube.ts"
import { local } from "./local.ts"
import type { Malformed } from "./scan.ts"
import { endpoints, slice, type Slice } from "./slice.ts"
import { Source } from "./source.ts"
import type { Change, Input, Stored } from "./store.ts"
import { API_SERVER, known } from "./topology.ts"
import { type Told, View, type ViewChange } from "./view.ts"

/** What is watched upstream. `Node`: the labels of all nodes; `OwnNode`: this one, whole; `ApiServer`: Endpoints `default/kubernetes`. */
export const FEEDS = [
  "OwnNode",
  "Node",
  "Service",
  "ApiServer",
  "EndpointSlice",
  "Endpoints",
  "Namespace",
  "ServiceCIDR"
] as const
export type Feed = (typeof FEEDS)[number]

/** Feeds that every decision needs. */
export const NEEDED = ["OwnNode", "Node", "Service", "ApiServer"] as const satisfies readonly Feed[]

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

/** A node, as far as it decides. */
export interface NodeLabels extends Stored {
  readonly name: string
  readonly labels: StringMap
}

interface Items {
  readonly OwnNode: Item
  readonly Node: NodeLabels
  readonly Service: Item
  readonly ApiServer: Item
  readonly EndpointSlice: Slice
  readonly Endpoints: Slice
  readonly Namespace: Item
  readonly ServiceCIDR: Item
}
export type ItemOf<F extends Feed> = Items[F]

type Share = (text: string) => string

const nodeLabels = (bytes: Uint8Array, share: Share): NodeLabels | Malformed => {
  const found = item(bytes, share)
  if ("_tag" in found) return found
  const { key, uid, revision, name, labels } = found
  return { key, uid, revision, name: share(name), labels }
}

/** How the bytes of a feed's objects are read. */
export const READERS: { readonly [F in Feed]: (bytes: Uint8Array, share: Share) => ItemOf<F> | Malformed } = {
  OwnNode: item,
  Node: nodeLabels,
  Service: item,
  ApiServer: item,
  EndpointSlice: slice,
  Endpoints: endpoints,
  Namespace: item,
  ServiceCIDR: item
}

export class Board {
  readonly view: View
  readonly #sources: { readonly [F in Feed]: Source<ItemOf<F>> } = {
    OwnNode: new Source(),
    Node: new Source(),
    Service: new Source(),
    ApiServer: new Source(),
    EndpointSlice: new Source(),
    Endpoints: new Source(),
    Namespace: new Source(),
    ServiceCIDR: new Source()
  }
  readonly #journals: { readonly [K in ShownKind]: Journal<Thing> }
  /** feeds of which all was seen once */
  readonly #seen = new Set<Feed>()

  /** `start`: where revisions begin, see Journal. */
  constructor(own: string, start: string, bounds: Bounds) {
    this.view = new View(own)
    const journal = (): Journal<Thing> => new Journal<Thing>(start, bounds, alone)
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

  /** Puts a thing as a client is sent it: in its version, with the revision that it is to know. */
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

  /** What clients of a kind are told. Nobody may be answered from it before `waitsFor` is empty. */
  journal(kind: ShownKind): Journal<Thing> {
    return this.#journals[kind]
  }

  /** The journals of all kinds. */
  journals(): readonly (readonly [ShownKind, Journal<Thing>])[] {
    return Object.entries(this.#journals) as [ShownKind, Journal<Thing>][]
  }

  /** Whether all of a feed was seen once, from upstream or from what was kept. */
  seen(feed: Feed): boolean {
    return this.#seen.has(feed)
  }

  /** What has to be seen before clients of a kind may be answered; empty: they may. */
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
    for (const each of told) this.#trimmed(each)
  }

  #plain(kind: ShownKind, change: Change<Item>): void {
    const journal = this.#journals[kind]
    if (change._tag === "Removed") journal.remove(change.key)
    else if (change.before === undefined || !sameItem(kind, change.before, change.after))
      journal.put(change.key, change.after)
    else journal.replace(change.key, change.after)
  }

  #trimmed(told: Told): void {
    if (told._tag === "Removed") this.#journals[told.before.slice.kind].remove(told.key)
    else this.#journals[told.after.slice.kind].put(told.key, told.after)
  }
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
        return []
    }
  })

const facts = ({ annotations, clusterIP }: Item) => ({
  ...known(annotations, clusterIP),
  local: local(annotations)
})
