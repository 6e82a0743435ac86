/**
 * What is known of one kind: the fold of lists, watch events and the answers of our own writes.
 *
 * Each of them is a statement about an object at a revision, and they come late, twice, out of order and from
 * servers that lag. The store keeps, for each key, the newest statement it was told, so that it never goes back to
 * an older one; only a list that is complete says that something isn't there.
 *
 * Persistent: a step gives a new store and shares all that did not change (two short arrays, one bucket, and what is deleted but
 * not yet seen to be gone are copied), so a pass may read the store it was given while events go on.
 */

/** An item as it is kept: already reduced to what is needed. */
export interface Stored {
  /** `namespace/name`; `/name` where the kind has no namespaces */
  readonly key: string
  readonly uid: string
  /** resourceVersion, a decimal string of any length; comparable within a kind (KEP-5504) */
  readonly revision: string
}

export type Input<A extends Stored> =
  /** A complete list. `unread`: keys that are on it and couldn't be decoded; they stay as they were seen last. */
  | {
      readonly _tag: "Listed"
      readonly revision: string
      readonly items: readonly A[]
      readonly unread: readonly string[]
    }
  /** The watch says: added or modified. */
  | { readonly _tag: "Changed"; readonly item: A }
  /** The watch says: deleted, at the revision of the deletion. */
  | { readonly _tag: "Deleted"; readonly key: string; readonly revision: string }
  /** Our own deletion went well: the object of that revision is gone. Says nothing of how far the watch has got. */
  | { readonly _tag: "Dropped"; readonly key: string; readonly revision: string }
  /** The watch has got so far; nothing is said about any object. */
  | { readonly _tag: "Bookmark"; readonly revision: string }
  /** The answer of our own write; comes before its event, after it, or after later ones. */
  | { readonly _tag: "Written"; readonly item: A }

export type Change<A extends Stored> =
  | { readonly _tag: "Put"; readonly key: string; readonly before: A | undefined; readonly after: A }
  | { readonly _tag: "Removed"; readonly key: string; readonly before: A }

export interface Store<A extends Stored> {
  /** false until the first complete list: until then an absent key means nothing */
  readonly synced: boolean
  /** how far the lists and the watch have got */
  readonly revision: string | undefined
  readonly size: number
  readonly table: Table<A>
  /** by key: the revision at which we deleted an object, until after that the watch, a list or a newer object says that it is gone */
  readonly dropped: ReadonlyMap<string, string>
}

export interface Step<A extends Stored> {
  readonly store: Store<A>
  /** in the order in which they happened; folding them over a Map gives the store's items */
  readonly changes: readonly Change<A>[]
  /** the list was older than what was seen before: refused, to be asked for again */
  readonly stale: boolean
}

type Bucket<A> = readonly A[]
type Branch<A> = readonly Bucket<A>[]
type Table<A> = readonly Branch<A>[]

const width = 64
const noBucket: Bucket<never> = []
const noBranch: Branch<never> = Array.from({ length: width }, () => noBucket)
const noTable: Table<never> = Array.from({ length: width }, () => noBranch)
const noDrops: ReadonlyMap<string, string> = new Map()

/** The store that was told nothing yet. */
export const empty = <A extends Stored>(): Store<A> => ({
  synced: false,
  revision: undefined,
  size: 0,
  table: noTable,
  dropped: noDrops
})

/** Whether revision `a` is older than `b`. Never as numbers: revisions may have any length. */
export const olderRevision = (a: string, b: string): boolean =>
  a.length === b.length ? a < b : a.length < b.length

/** The item under the key as it was last known, or undefined; before `synced`, undefined doesn't mean absent. */
export const get = <A extends Stored>(store: Store<A>, key: string): A | undefined =>
  bucketOf(store.table, hash(key)).find((item) => item.key === key)

/** All items. Their order depends on the set of keys alone, not on the way they came. */
export const items = <A extends Stored>(store: Store<A>): Iterable<A> => each(store.table)

/**
 * The store after one input, what changed in it, and whether a list was refused as stale.
 *
 * An item whose uid changed is Removed and then Put. Equal revisions change nothing, older ones neither. A list
 * removes what isn't on it, except what is known to be newer than the list (written by us in the meantime). An
 * event about a key that isn't there, no newer than the store's own revision, is a late repetition from before
 * its deletion, and is ignored; so is one that is no newer than what we deleted ourselves.
 */
export const step = <A extends Stored>(store: Store<A>, input: Input<A>): Step<A> => steps(store, [input])

/** As `step`, for inputs that came together: each touched bucket is copied once. `stale` if any list was. */
export const steps = <A extends Stored>(store: Store<A>, inputs: readonly Input<A>[]): Step<A> => {
  const draft = new Draft(store)
  let stale = false
  for (const input of inputs) {
    if (input._tag === "Listed" && before(input.revision, draft.revision)) stale = true
    else take(draft, input)
  }
  return { store: draft.done(), changes: draft.changes, stale }
}

const take = <A extends Stored>(draft: Draft<A>, input: Input<A>): void => {
  switch (input._tag) {
    case "Listed":
      list(draft, input)
      draft.synced = true
      return draft.reach(input.revision)
    case "Changed":
      put(draft, input.item, draft.revision)
      return draft.reach(input.item.revision)
    case "Written":
      return put(draft, input.item, draft.revision)
    case "Dropped":
      draft.drop(input.key, input.revision)
      return gone(draft, input)
    case "Deleted":
      draft.settle(input.key, input.revision)
      gone(draft, input)
      return draft.reach(input.revision)
    case "Bookmark":
      return draft.reach(input.revision)
  }
}

const gone = <A extends Stored>(
  draft: Draft<A>,
  o: { readonly key: string; readonly revision: string }
): void => {
  const known = draft.get(o.key)
  if (known !== undefined && !olderRevision(o.revision, known.revision)) draft.remove(known)
}

/** Puts an item that is newer than what is known under its key, or, where nothing is, than `otherwise`. */
const put = <A extends Stored>(draft: Draft<A>, item: A, otherwise: string | undefined): void => {
  const known = draft.get(item.key)
  const newest = known === undefined ? otherwise : known.revision
  if (newest !== undefined && !olderRevision(newest, item.revision)) return
  if (draft.admits(item)) draft.put(known, item)
}

const list = <A extends Stored>(draft: Draft<A>, input: Extract<Input<A>, { _tag: "Listed" }>): void => {
  const listed = new Set(input.unread)
  for (const item of input.items) listed.add(item.key)
  for (const known of draft.all()) {
    if (!listed.has(known.key) && !olderRevision(input.revision, known.revision)) draft.remove(known)
  }
  for (const key of draft.dropped.keys()) if (!listed.has(key)) draft.settle(key, input.revision)
  for (const item of input.items) put(draft, item, undefined)
}

const before = (revision: string, reached: string | undefined): boolean =>
  reached !== undefined && olderRevision(revision, reached)

/** A store being changed: what this draft has copied once, it may write to. */
class Draft<A extends Stored> {
  synced: boolean
  revision: string | undefined
  dropped: ReadonlyMap<string, string>
  readonly changes: Change<A>[] = []
  #size: number
  #table: Table<A>
  readonly #base: Store<A>
  readonly #own = new Set<readonly unknown[]>()
  #ownDropped: Map<string, string> | undefined

  constructor(base: Store<A>) {
    this.#base = base
    this.synced = base.synced
    this.revision = base.revision
    this.#size = base.size
    this.#table = base.table
    this.dropped = base.dropped
  }

  done(): Store<A> {
    const same =
      this.#table === this.#base.table &&
      this.synced === this.#base.synced &&
      this.revision === this.#base.revision &&
      this.dropped === this.#base.dropped
    const { synced, revision, dropped } = this
    return same ? this.#base : { synced, revision, size: this.#size, table: this.#table, dropped }
  }

  reach(revision: string): void {
    if (this.revision === undefined || olderRevision(this.revision, revision)) this.revision = revision
  }

  /** We deleted the object of that revision. */
  drop(key: string, revision: string): void {
    const before = this.dropped.get(key)
    if (before === undefined || olderRevision(before, revision)) this.#drops().set(key, revision)
  }

  /** The watch or a list says at a revision that the key is free: what we deleted before can't be shown again. */
  settle(key: string, revision: string): void {
    const dropped = this.dropped.get(key)
    if (dropped !== undefined && !olderRevision(revision, dropped)) this.#drops().delete(key)
  }

  /** Lets in an item that is newer than what we deleted under its key, which says nothing from then on; else false. */
  admits(item: A): boolean {
    const dropped = this.dropped.get(item.key)
    if (dropped === undefined) return true
    if (!olderRevision(dropped, item.revision)) return false
    this.#drops().delete(item.key)
    return true
  }

  #drops(): Map<string, string> {
    this.#ownDropped ??= new Map(this.dropped)
    this.dropped = this.#ownDropped
    return this.#ownDropped
  }

  get(key: string): A | undefined {
    return bucketOf(this.#table, hash(key)).find((item) => item.key === key)
  }

  all(): readonly A[] {
    return [...each(this.#table)]
  }

  put(known: A | undefined, item: A): void {
    const key = item.key
    if (known !== undefined && known.uid !== item.uid) {
      this.changes.push({ _tag: "Removed", key, before: known })
      this.changes.push({ _tag: "Put", key, before: undefined, after: item })
    } else this.changes.push({ _tag: "Put", key, before: known, after: item })
    const bucket = this.#bucket(key)
    const at = bucket.findIndex((other) => other.key >= key)
    if (at === -1) bucket.push(item)
    else bucket.splice(at, known === undefined ? 0 : 1, item)
    if (known === undefined) this.#size += 1
  }

  remove(known: A): void {
    this.changes.push({ _tag: "Removed", key: known.key, before: known })
    const bucket = this.#bucket(known.key)
    bucket.splice(bucket.indexOf(known), 1)
    this.#size -= 1
  }

  #bucket(key: string): A[] {
    const code = hash(key)
    const table = this.#mine<Branch<A>>(this.#table)
    this.#table = table
    const branch = this.#mine<Bucket<A>>(table[code % width] ?? noBranch)
    table[code % width] = branch
    const bucket = this.#mine<A>(branch[(code >>> 6) % width] ?? noBucket)
    branch[(code >>> 6) % width] = bucket
    return bucket
  }

  #mine<T>(array: readonly T[]): T[] {
    if (this.#own.has(array)) return array as T[]
    const copy = [...array]
    this.#own.add(copy)
    return copy
  }
}

const bucketOf = <A>(table: Table<A>, code: number): Bucket<A> =>
  table[code % width]?.[(code >>> 6) % width] ?? noBucket

function* each<A>(table: Table<A>): Generator<A, void, undefined> {
  for (const branch of table) if (branch !== noBranch) for (const bucket of branch) yield* bucket
}

/** FNV-1a over UTF-16 code units, the halves folded together: the low 12 bits choose the bucket. */
const hash = (key: string): number => {
  let code = 0x811c9dc5
  for (let i = 0; i < key.length; i++) code = Math.imul(code ^ key.charCodeAt(i), 0x01000193)
  return (code ^ (code >>> 16)) >>> 0
}
