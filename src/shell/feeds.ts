/**
 * Upstream's lists and watches, one for each kind, taken in by the board.
 *
 * *Guarantees*: a feed is listed and watched once, however many clients ask for it, from its beginning until the scope ends; all that came in
 * together is shown together. Objects are kept as the bytes in which they came. The version of EndpointSlices is the newest that upstream serves.
 * *Does not*: decide what is shown (core/board.ts does), or end a feed that nobody asks for any more.
 */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { V1, V1BETA1 } from "../core/beta.ts"
import type { Board } from "../core/board.ts"
import { type Feed, type ItemOf, NAMING, NEEDED, READERS } from "../core/feed.ts"
import { GRID_SELECTOR } from "../core/grid.ts"
import { reconnect } from "../core/retry.ts"
import type { Input } from "../core/store.ts"
import { Api, type Kind } from "./api.ts"
import { Readiness } from "./health.ts"
import { CHILDREN, ENDPOINTS, GRIDS, kind, NODE, slicesIn } from "./kinds.ts"
import { type Reflection, reflect } from "./reflect.ts"

export interface Feeds {
  /** Begins a feed, unless it has begun. */
  readonly begin: (feed: Feed) => void
  /** Those that have begun. */
  readonly begun: () => readonly Feed[]
  /** Milliseconds of the steady clock at which upstream said something of a feed last; undefined: it didn't yet. */
  readonly heard: (feed: Feed) => number | undefined
}

export interface FeedSettings {
  readonly node: string
  /** seconds */
  readonly relistInterval: number
  /** one copy of texts that are the same in many objects */
  readonly share: (text: string) => string
  /** feeds that a client asked for before the process was restarted */
  readonly asked: readonly Feed[]
  /** what the board is shown may have changed */
  readonly changed: () => void
  /** upstream doesn't answer any more */
  readonly lost: () => void
}

/** Feeds into the board, of which those begin at once that every decision needs. */
export const feeds = (
  board: Board,
  settings: FeedSettings
): Effect.Effect<Feeds, never, Api | Readiness | Scope.Scope> =>
  Effect.gen(function* () {
    const run = yield* FiberSet.makeRuntime<Api | Readiness>()
    const heard = new Map<Feed, number>()
    const begun = new Set<Feed>()
    const begin = (feed: Feed): void => {
      if (begun.has(feed)) return
      begun.add(feed)
      const told = { ...settings, heard: () => void heard.set(feed, performance.now()) }
      run(feed === "EndpointSlice" ? slices(board, told) : fed(board, feed, KINDS[feed], told))
    }
    const naming = NAMING.filter((feed) => board.takes(feed))
    for (const feed of [...NEEDED, "EndpointSlice" as const, ...naming, ...settings.asked]) begin(feed)
    return { begin, begun: () => [...begun], heard: (feed) => heard.get(feed) }
  })

interface Told extends FeedSettings {
  readonly heard: () => void
}

const KINDS: { readonly [F in Feed]: Kind } = {
  OwnNode: NODE,
  Node: NODE,
  Service: CHILDREN.Service,
  ApiServer: ENDPOINTS,
  EndpointSlice: slicesIn("v1"),
  Endpoints: ENDPOINTS,
  Namespace: kind("", "v1", "namespaces", "Namespace", false),
  ServiceCIDR: kind("networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", false),
  StatefulSetGrid: GRIDS.StatefulSetGrid,
  StatefulSet: CHILDREN.StatefulSet
}

/** Objects a page of a list: a page is held in memory as a whole. */
const PAGE = 500

const fed = <F extends Feed>(
  board: Board,
  feed: F,
  of: Kind,
  settings: Told
): Effect.Effect<never, never, Api | Readiness> => {
  const source = board.source(feed)
  const reflection: Reflection<ItemOf<F>> = {
    kind: of,
    as: feed,
    page: PAGE,
    relistSeconds: settings.relistInterval,
    ...narrowed(feed, settings.node),
    known: (key) => source.get(key),
    reduce: (raw) => READERS[feed](raw as Uint8Array, settings.share),
    onTrouble: settings.lost,
    onInputs: (inputs) => taken(board, feed, inputs, settings)
  }
  return reflect(reflection)
}

const taken = <F extends Feed>(
  board: Board,
  feed: F,
  inputs: readonly Input<ItemOf<F>>[],
  { changed, heard }: Told
): undefined => {
  heard()
  board.take(feed, inputs)
  changed()
}

const narrowed = (
  feed: Feed,
  own: string
): Pick<Reflection<never>, "fieldSelector" | "labelSelector" | "form" | "says" | "namespace"> => {
  switch (feed) {
    case "OwnNode":
      return { form: "Bytes", fieldSelector: `metadata.name=${own}` }
    case "Node":
      return { form: "MetadataBytes", says: "PartialObjectMetadata" }
    case "ApiServer":
      return { form: "Bytes", namespace: "default", fieldSelector: "metadata.name=kubernetes" }
    case "Service":
    case "EndpointSlice":
    case "Endpoints":
    case "Namespace":
    case "ServiceCIDR":
    case "StatefulSetGrid":
      return { form: "Bytes" }
    case "StatefulSet":
      return { form: "Bytes", labelSelector: GRID_SELECTOR }
  }
}

/** EndpointSlices in v1, or where upstream doesn't serve that, in v1beta1. */
const slices = (board: Board, settings: Told) =>
  Effect.gen(function* () {
    const version = yield* served
    board.sliceVersion = version === "v1" ? V1 : V1BETA1
    return yield* fed(board, "EndpointSlice", slicesIn(version), settings)
  })

const served: Effect.Effect<"v1" | "v1beta1", never, Api | Readiness> = Effect.gen(function* () {
  const api = yield* Api
  const { waiting } = yield* Readiness
  // Before the first question: nobody may be told that all is ready while it isn't answered.
  yield* waiting("EndpointSlice", "the version in which upstream serves them is not known")
  let told: string | undefined
  for (let attempt = 0; ; attempt++) {
    const asked = yield* Effect.either(api.list(slicesIn("v1"), { limit: 1, form: "Bytes" }))
    // What refuses it otherwise will be told of by the feed itself.
    if (asked._tag === "Right" || ["Forbidden", "Invalid"].includes(asked.left.reason)) return "v1"
    const { code, reason, message } = asked.left
    if (reason === "NotFound") return "v1beta1"
    const why = code === 0 ? message : `${code}, ${message}`
    yield* waiting("EndpointSlice", why)
    if (why !== told) yield* Effect.logWarning(why)
    told = why
    yield* Effect.sleep(reconnect(asked.left, attempt, 0.5))
  }
})
