/**
 * What is watched upstream, and how its bytes are read: whole where clients are shown them, else as little as decisions need.
 */
import { asciiBytes, asciiJson, text } from "./bytes.ts"
import { type Item, item } from "./item.ts"
import { isObject } from "./json.ts"
import type { StringMap } from "./kube.ts"
import {
  type NamedSet,
  namedSet,
  type NamingGrid,
  namingGrid,
  namingGridJson,
  namedSetJson
} from "./own-sets.ts"
import type { Malformed } from "./scan.ts"
import { endpoints, slice, type Slice } from "./slice.ts"
import type { Stored } from "./store.ts"

/** What is watched upstream. `Node`: the labels of all nodes; `OwnNode`: this one, whole; `ApiServer`: Endpoints `default/kubernetes`. */
export const FEEDS = [
  "OwnNode",
  "Node",
  "Service",
  "ApiServer",
  "EndpointSlice",
  "Endpoints",
  "Namespace",
  "ServiceCIDR",
  "StatefulSetGrid",
  "StatefulSet"
] as const
export type Feed = (typeof FEEDS)[number]

/** Feeds that every decision needs. */
export const NEEDED = ["OwnNode", "Node", "Service", "ApiServer"] as const satisfies readonly Feed[]

/** Feeds that short names need. `StatefulSet`: those of grids. */
export const NAMING = ["StatefulSetGrid", "StatefulSet"] as const satisfies readonly Feed[]

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
  readonly StatefulSetGrid: NamingGrid
  readonly StatefulSet: NamedSet
}
export type ItemOf<F extends Feed> = Items[F]

type Share = (text: string) => string

const nodeLabels = (bytes: Uint8Array, share: Share): NodeLabels | Malformed => {
  const found = item(bytes, share)
  if ("_tag" in found) return found
  const { key, uid, revision, name, labels } = found
  return { key, uid, revision, name: share(name), labels }
}

/** A reader of objects of which no bytes are kept. */
const reduced =
  <A>(read: (raw: unknown) => A) =>
  (bytes: Uint8Array): A | Malformed => {
    try {
      const raw = JSON.parse(text(bytes, 0, bytes.length)) as unknown
      if (isObject(raw) && isObject(raw["metadata"])) return read(raw)
      return { _tag: "Malformed", message: "the object has no metadata" }
    } catch {
      return { _tag: "Malformed", message: "the object is no JSON" }
    }
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
  ServiceCIDR: item,
  StatefulSetGrid: reduced(namingGrid),
  StatefulSet: reduced(namedSet)
}

/** The bytes of an object, as its reader takes them: upstream's, or where those aren't kept, what is known of it. */
export const bytesOf = (object: ItemOf<Feed>): Uint8Array => {
  if ("bytes" in object) return object.bytes
  if ("owner" in object) return asciiBytes(asciiJson(namedSetJson(object)))
  if ("gridKey" in object) return asciiBytes(asciiJson(namingGridJson(object)))
  const { name, uid, revision: resourceVersion, labels } = object
  return asciiBytes(asciiJson({ metadata: { name, uid, resourceVersion, labels } }))
}
