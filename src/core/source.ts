/**
 * What upstream has said of one kind, beginning, where there is one, with what was kept of an earlier process.
 *
 * What was kept stands until the first list says what there is; then only the difference is told. Revisions aren't compared with what was
 * kept: the list asks for the newest state, and a cluster that was restored from a backup may be behind.
 */
import { empty, get, type Input, items, type Change, type Stored, steps, type Store } from "./store.ts"

export class Source<A extends Stored> {
  #store: Store<A> = empty()
  #kept: ReadonlyMap<string, A> | undefined

  /** Whether a list was taken in: from then on upstream itself says what there is. */
  get listed(): boolean {
    return this.#store.synced
  }

  /** The newest revision of upstream's that was seen. */
  get revision(): string | undefined {
    return this.#store.revision
  }

  get(key: string): A | undefined {
    return get(this.#store, key) ?? this.#kept?.get(key)
  }

  items(): Iterable<A> {
    return this.#kept?.values() ?? items(this.#store)
  }

  /** Begins with what an earlier process kept. */
  keep(kept: readonly A[]): readonly Change<A>[] {
    this.#kept = new Map(kept.map((item) => [item.key, item]))
    return kept.map((after) => ({ _tag: "Put", key: after.key, before: undefined, after }))
  }

  /** What changes with what came at once. A list that is older than what was seen changes nothing. */
  take(inputs: readonly Input<A>[]): readonly Change<A>[] {
    const kept = this.#kept
    const { store, changes } = steps(this.#store, kept === undefined ? inputs : inputs.map(whole(kept)))
    this.#store = store
    if (kept === undefined || !store.synced) return changes
    this.#kept = undefined
    return [...difference(kept, store)]
  }
}

/** An object on the list that couldn't be read stays as it was kept. */
const whole =
  <A extends Stored>(kept: ReadonlyMap<string, A>) =>
  (input: Input<A>): Input<A> => {
    if (input._tag !== "Listed") return input
    const stay = input.unread.flatMap((key) => kept.get(key) ?? [])
    return { ...input, items: [...input.items, ...stay] }
  }

function* difference<A extends Stored>(
  kept: ReadonlyMap<string, A>,
  store: Store<A>
): Generator<Change<A>, void, undefined> {
  for (const [key, before] of kept) {
    const after = get(store, key)
    if (after?.uid !== before.uid) yield { _tag: "Removed", key, before }
  }
  for (const after of items(store)) {
    const before = kept.get(after.key)
    const same = before?.uid === after.uid
    if (!same || before.revision !== after.revision)
      yield { _tag: "Put", key: after.key, before: same ? before : undefined, after }
  }
}
