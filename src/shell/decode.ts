/**
 * Raw objects and watch lines of one kind, as items and inputs of the store.
 *
 * *Guarantees*: an object that can't be read is a value, reported once for each of its revisions, and never an
 * exception; what is read already is not read again.
 * *Assumes*: one caller at a time.
 * *Does not*: know what an object means; that is the reducer's part.
 */
import * as Effect from "effect/Effect"
import type { Input, Stored } from "../core/store.ts"
import type { Kind } from "./api.ts"
import { series } from "./series.ts"
import {
  type Identity,
  identity,
  isMalformed,
  keyOf,
  type Malformed,
  malformed,
  revisionOf,
  type WatchLine
} from "./wire.ts"

/** An object that couldn't be read; key, uid and revision as far as they could be. */
export interface Unread {
  readonly kind: Kind
  readonly key: string | undefined
  readonly uid: string | undefined
  readonly revision: string | undefined
  readonly message: string
}

export interface Decoding<A extends Stored> {
  readonly kind: Kind
  /** what its objects may say that they are besides: `PartialObjectMetadata` */
  readonly says?: string
  /** Pure. A throw counts as Malformed: what users store must not end the process. */
  readonly reduce: (raw: unknown, identity: Identity) => A | Malformed
  /** What is in the store: an object of the same uid and revision is taken from there, not reduced again. */
  readonly known?: (key: string) => A | undefined
  readonly onUnread?: (unread: Unread) => Effect.Effect<void>
}

const unreads = series(
  "servicegroup_malformed_objects_total",
  "objects and watch lines that could not be read, by kind",
  ["kind"]
)

/** An object as it is in the store, where it is there at this revision already. */
export const unchanged = <A extends Stored>(
  known: Decoding<A>["known"],
  { key, uid, revision }: Pick<Identity, "key" | "uid" | "revision">
): A | undefined => {
  const before = known?.(key)
  return before?.uid === uid && before.revision === revision ? before : undefined
}

/** An object as it is in the store, where it is there at this revision already; else reduced, and Malformed where that throws. */
export const decoded = <A extends Stored>(
  { known, reduce }: Pick<Decoding<A>, "known" | "reduce">,
  raw: unknown,
  who: Identity
): A | Malformed => {
  const before = unchanged(known, who)
  if (before !== undefined) return before
  try {
    return reduce(raw, who)
  } catch (error) {
    return malformed(`it could not be read: ${String(error)}`)
  }
}

/** So many objects are remembered as reported; beyond that all of them are reported again. */
const mostReported = 1000

export class Decoder<A extends Stored> {
  /** revisions of objects that were reported as unread, by key */
  readonly #reported = new Map<string, string | undefined>()
  readonly #of: Decoding<A>

  constructor(of: Decoding<A>) {
    this.#of = of
  }

  input(line: WatchLine): Input<A> | Malformed {
    if (line.type === "MALFORMED") return malformed(line.message)
    if (line.type === "KNOWN") return { _tag: "Bookmark", revision: line.revision }
    if (line.type === "BOOKMARK") {
      const revision = revisionOf(line.object)
      return revision === undefined ? malformed("a bookmark has no revision") : { _tag: "Bookmark", revision }
    }
    if (line.type === "DELETED") {
      const key = keyOf(line.object)
      const revision = revisionOf(line.object)
      if (key === undefined || revision === undefined)
        return malformed("a deleted object has no name or revision")
      this.#reported.delete(key)
      return { _tag: "Deleted", key, revision }
    }
    const item = this.read(line.object)
    return isMalformed(item) ? item : { _tag: "Changed", item }
  }

  read(raw: unknown): A | Malformed {
    const { kind, known, says } = this.#of
    const who = identity(raw)
    if (isMalformed(who)) return who
    if (who.kind !== undefined && who.kind !== kind.kind && who.kind !== says)
      return malformed(`its kind is ${who.kind}, not ${kind.kind}`)
    const item = decoded(this.#of, raw, who)
    if (!isMalformed(item) && item !== known?.(who.key)) this.#reported.delete(who.key)
    return item
  }

  /** Says once for each revision that an object can't be read. Gives its key, where it has one. */
  report(raw: unknown, message: string): Effect.Effect<readonly string[]> {
    return Effect.gen(this, function* () {
      const key = keyOf(raw)
      const revision = revisionOf(raw)
      const keys = key === undefined ? [] : [key]
      unreads(this.#of.kind.kind)
      if (key !== undefined && this.#reported.has(key) && this.#reported.get(key) === revision) return keys
      if (this.#reported.size >= mostReported) this.#reported.clear()
      if (key !== undefined) this.#reported.set(key, revision)
      yield* Effect.logWarning(`an object can't be read, and stays as it was seen last: ${message}`).pipe(
        Effect.annotateLogs({ object: key ?? "unknown", revision: revision ?? "unknown" })
      )
      yield* (
        this.#of.onUnread?.({ kind: this.#of.kind, key, uid: uidOf(raw), revision, message }) ?? Effect.void
      )
      return keys
    })
  }
}

const uidOf = (raw: unknown): string | undefined => {
  const who = identity(raw)
  return isMalformed(who) ? undefined : who.uid
}
