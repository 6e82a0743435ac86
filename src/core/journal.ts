/**
 * The last things told, by revisions of our own: a client that resumes anywhere gets exactly what came after, or is told that it
 * can't be had (410).
 *
 * Revisions are positive decimals, one for each change, without a gap. Any number of clients read with a cursor each; none of
 * them holds anything up, and one that falls behind the oldest event kept is Expired, never skipped.
 */

/** An object, and the revision of its last change. */
export interface Told<A> {
  readonly revision: string
  readonly value: A
}

/** One change: `before` undefined where it is new, `after` undefined where it is gone. */
export interface Event<A> {
  readonly revision: string
  readonly key: string
  readonly before: A | undefined
  readonly after: A | undefined
}

export interface Expired {
  readonly _tag: "Expired"
}

/** Events in order, and the revision up to which a reader of them knows all: where it goes on, and what a bookmark says. */
export interface Read<A> {
  readonly _tag: "Read"
  readonly events: readonly Event<A>[]
  readonly cursor: string
}

/** All objects at one moment. */
export interface Listing<A> {
  readonly revision: string
  /** in no order, each with the revision of its last change */
  readonly objects: readonly Told<A>[]
}

export interface Bounds {
  /** how many events are kept at most; as many as there are objects, where those are more: each of them may change at once */
  readonly count: number
  /** how many bytes are kept for events alone at most, the newest event aside */
  readonly bytes: number
}

/**
 * How many bytes an event alone keeps in memory: those of `before` that `after` doesn't share. What is there now is kept anyway, and what was
 * before is the `after` of the event before.
 */
export type Size<A> = (before: A | undefined, after: A | undefined) => number

interface Kept<A> extends Event<A> {
  readonly bytes: number
}

const expired: Expired = { _tag: "Expired" }

export class Journal<A> {
  readonly #bounds: Bounds
  readonly #size: Size<A>
  readonly #start: bigint
  readonly #table = new Map<string, Told<A>>()
  #head: bigint
  /** the events kept stand from `#from` on; those before are undefined */
  #events: (Kept<A> | undefined)[] = []
  #from = 0
  #bytes = 0

  /** `start`: the first revision, a positive decimal below 2^62, which no earlier process may have reached. */
  constructor(start: string, bounds: Bounds, size: Size<A>) {
    if ((parse(start) ?? MOST) >= FIRST) throw new RangeError(`${start} is no revision to start at`)
    this.#start = BigInt(start)
    this.#head = this.#start
    this.#bounds = bounds
    this.#size = size
  }

  /** The revision of the last change: what lists carry. */
  get head(): string {
    return String(this.#head)
  }

  /** How many objects there are. */
  get size(): number {
    return this.#table.size
  }

  /** How many events are kept, and the bytes that are kept for them alone. */
  get kept(): Bounds {
    return { count: this.#events.length - this.#from, bytes: this.#bytes }
  }

  /** All objects as they are now; what is told later doesn't change the listing. */
  list(): Listing<A> {
    return { revision: this.head, objects: [...this.#table.values()] }
  }

  /** One object. */
  get(key: string): Told<A> | undefined {
    return this.#table.get(key)
  }

  /** An object is new or has changed. */
  put(key: string, value: A): Event<A> {
    const before = this.#table.get(key)?.value
    const event = this.#tell(key, before, value)
    this.#table.set(key, { revision: event.revision, value })
    return event
  }

  /** An object looks as it did: the new one stands for it from now on, and nobody is told. */
  replace(key: string, value: A): void {
    const before = this.#table.get(key)
    if (before !== undefined) this.#table.set(key, { revision: before.revision, value })
  }

  /** An object is gone; undefined where there was none. */
  remove(key: string): Event<A> | undefined {
    const before = this.#table.get(key)
    if (before === undefined) return undefined
    this.#table.delete(key)
    return this.#tell(key, before.value, undefined)
  }

  /** Whether a list that may not be older than a revision can be answered: absent, "0", or one of this journal's. */
  lists(revision: string | undefined): boolean {
    if (revision === undefined || revision === "" || revision === "0") return true
    const asked = parse(revision)
    return asked !== undefined && asked >= this.#start && asked <= this.#head
  }

  /** At most `most` events after a revision; Expired where one of them is gone, or where the revision isn't ours. */
  since(revision: string, most: number): Read<A> | Expired {
    const asked = parse(revision)
    if (asked === undefined || asked > this.#head) return expired
    const behind = this.#head - asked
    const held = BigInt(this.#events.length - this.#from)
    if (asked < this.#start || behind > held) return expired
    const from = this.#events.length - Number(behind)
    const events = this.#events.slice(from, from + most).filter((event) => event !== undefined)
    return { _tag: "Read", events, cursor: String(asked + BigInt(events.length)) }
  }

  #tell(key: string, before: A | undefined, after: A | undefined): Event<A> {
    this.#head += 1n
    const bytes = this.#size(before, after)
    const event = { revision: String(this.#head), key, before, after, bytes }
    this.#events.push(event)
    this.#bytes += bytes
    this.#forget()
    return event
  }

  #forget(): void {
    for (;;) {
      const { count } = this.kept
      const most = Math.max(this.#bounds.count, this.#table.size)
      if (count <= most && this.#bytes <= this.#bounds.bytes) break
      const oldest = this.#events[this.#from]
      // The newest stays whatever its size: else one large object would expire all who stand at the head.
      if (oldest === undefined || count === 1) break
      this.#events[this.#from] = undefined
      this.#bytes -= oldest.bytes
      this.#from += 1
    }
    if (this.#from > 1000 && this.#from * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#from)
      this.#from = 0
    }
  }
}

const MOST = 2n ** 63n
/** Where revisions may begin: as many again are left for what is told. */
const FIRST = 2n ** 62n

/** A positive decimal below 2^63, without leading zeros. */
const parse = (text: string): bigint | undefined => {
  if (!/^[1-9][0-9]{0,18}$/.test(text)) return undefined
  const value = BigInt(text)
  return value < MOST ? value : undefined
}
