/**
 * What the board knows, as the bytes of objects by feed, and back: what is kept across restarts.
 */
import { V1, V1BETA1 } from "./beta.ts"
import type { Board } from "./board.ts"
import { bytesOf, type Feed, FEEDS, type ItemOf, NEEDED, READERS } from "./feed.ts"

/** All objects of a feed. */
export interface FeedPart {
  /** the feed, and of slices the version, where that isn't v1: `EndpointSlice/v1beta1` */
  readonly kind: string
  readonly revision: string
  readonly objects: Iterable<Uint8Array>
}

/** What is to be kept of the board; undefined before all is known that decisions need. */
export const parts = (board: Board): readonly FeedPart[] | undefined => {
  if (board.waitsFor("EndpointSlice").length > 0) return undefined
  return FEEDS.filter((feed) => board.seen(feed)).map((feed) => ({
    kind: feed === "EndpointSlice" && board.sliceVersion === V1BETA1 ? BETA_SLICES : feed,
    revision: board.source(feed).revision ?? "0",
    objects: objects(board, feed)
  }))
}

const BETA_SLICES = "EndpointSlice/v1beta1"

function* objects(board: Board, feed: Feed): Generator<Uint8Array, void, undefined> {
  for (const each of board.source(feed).items()) yield bytesOf(each)
}

/** Begins the board with what was kept; gives the feeds. An object that can't be read is left out: upstream tells of it anew. */
export const restore = (
  board: Board,
  kept: readonly { readonly kind: string; readonly objects: Iterable<Uint8Array> }[],
  share: (text: string) => string
): readonly Feed[] => {
  const found = new Map(kept.map(({ kind, objects: all }) => [kind, all]))
  const beta = found.get(BETA_SLICES)
  if (beta !== undefined) found.set("EndpointSlice", beta)
  board.sliceVersion = beta === undefined ? V1 : V1BETA1
  const feeds = FEEDS.filter((feed) => found.has(feed) && board.takes(feed))
  // Half of what a decision needs is no snapshot.
  if (![...NEEDED, "EndpointSlice" as const].every((feed) => feeds.includes(feed))) return []
  for (const feed of feeds) put(board, feed, found.get(feed) ?? [], share)
  return feeds
}

const put = <F extends Feed>(
  board: Board,
  feed: F,
  all: Iterable<Uint8Array>,
  share: (text: string) => string
): void => {
  const items: ItemOf<F>[] = []
  for (const bytes of all) {
    const read = READERS[feed](bytes, share)
    if (!("_tag" in read)) items.push(read)
  }
  board.keep(feed, items)
}
