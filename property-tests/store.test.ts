/** The list-and-watch fold against a server whose whole history is known. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Store from "../src/core/store.ts"

interface Item extends Store.Stored {
  readonly text: string
}

/** What the server did: write `n` has revision `base + n`. A deletion has no item. */
interface Write {
  readonly key: string
  readonly revision: string
  readonly item: Item | undefined
}

const runs = { numRuns: 10_000 }
const keys = ["ns/a", "ns/b", "/__proto__", "constructor/toString"] as const

/** Revisions of any length: 1, around a new digit, and beyond what a number holds. */
const bases = fc.constantFrom(0n, 6n, 95n, 9007199254740985n, 99999999999999999999999990n)

const history = (base: bigint, script: readonly (readonly [number, "put" | "drop"])[]): Write[] => {
  const live = new Map<string, Item>()
  return script.map(([k, what], n) => {
    const key = keys[k % keys.length] ?? keys[0]
    const revision = String(base + BigInt(n + 1))
    const before = live.get(key)
    const item =
      what === "drop" && before !== undefined
        ? undefined
        : { key, uid: before?.uid ?? `uid-${revision}`, revision, text: `at ${revision}` }
    if (item === undefined) live.delete(key)
    else live.set(key, item)
    return { key, revision, item }
  })
}

const writes = fc.record({
  base: bases,
  script: fc.array(fc.tuple(fc.nat(3), fc.constantFrom("put", "put", "drop" as const)), {
    minLength: 1,
    maxLength: 14
  })
})

/** One thing that happens between server and store; `n` picks where, modulo what is possible. */
const happening = fc.record({
  what: fc.oneof(
    { weight: 5, arbitrary: fc.constant("deliver" as const) },
    { weight: 2, arbitrary: fc.constantFrom("repeat", "written", "dropped", "list", "bookmark" as const) },
    { weight: 1, arbitrary: fc.constantFrom("lose", "unread" as const) }
  ),
  n: fc.nat(1000)
})

/** Carries happenings to inputs as an API server and a reflector would; `told` is what they amount to. */
class World {
  readonly writes: readonly Write[]
  readonly base: bigint
  /** how many writes the watch has passed */
  cursor = 0
  reached = -1
  constructor(base: bigint, script: readonly (readonly [number, "put" | "drop"])[]) {
    this.base = base
    this.writes = history(base, script)
  }
  revision(n: number): string {
    return String(this.base + BigInt(n))
  }
  /** what the server held under a key after its first n writes */
  at(n: number, key: string): Item | undefined {
    return this.writes.slice(0, n).findLast((write) => write.key === key)?.item
  }
  listed(n: number, unread: readonly string[]): Store.Input<Item> {
    const items = keys.flatMap((key) => this.at(n, key) ?? []).filter((item) => !unread.includes(item.key))
    return { _tag: "Listed", revision: this.revision(n), items, unread: unread.filter((k) => this.at(n, k)) }
  }
  event(n: number): Store.Input<Item> | undefined {
    const write = this.writes[n]
    if (write === undefined) return undefined
    return write.item === undefined
      ? { _tag: "Deleted", key: write.key, revision: write.revision }
      : { _tag: "Changed", item: write.item }
  }
}

const fold = (changes: readonly Store.Change<Item>[], view: Map<string, Item>): void => {
  for (const change of changes) {
    expect(view.get(change.key)).toBe(change.before)
    if (change._tag === "Removed") view.delete(change.key)
    else view.set(change.key, change.after)
  }
}

const content = (store: Store.Store<Item>): ReadonlyMap<string, Item> =>
  new Map([...Store.items(store)].map((item) => [item.key, item]))

/** All inputs of a story, with the number of writes that each input vouches for: per key, or for all keys. */
const story = (world: World, happenings: readonly { what: string; n: number }[]) =>
  happenings.flatMap(({ what, n }): readonly { input: Store.Input<Item>; own?: string; upTo: number }[] => {
    const total = world.writes.length
    if (what === "list" || what === "unread") {
      const upTo = n % (total + 1)
      const input = world.listed(upTo, what === "unread" ? [keys[n % keys.length] ?? keys[0]] : [])
      world.cursor = Math.max(world.cursor, upTo)
      return [{ input, upTo }]
    }
    if (what === "bookmark") {
      return [{ input: { _tag: "Bookmark", revision: world.revision(world.cursor) }, upTo: world.cursor }]
    }
    if (what === "written") {
      const at = n % total
      const item = world.writes[at]?.item
      return item === undefined ? [] : [{ input: { _tag: "Written", item }, own: item.key, upTo: at + 1 }]
    }
    if (what === "dropped") {
      // only the newest state of an object can be deleted
      const at = n % total
      const key = world.writes[at]?.key ?? ""
      const before = world.at(at, key)
      if (before === undefined || world.writes[at]?.item !== undefined) return []
      return [{ input: { _tag: "Dropped", key, revision: before.revision }, own: key, upTo: at + 1 }]
    }
    const at = what === "repeat" && world.cursor > 0 ? n % world.cursor : world.cursor
    if (at === world.cursor && at < total) world.cursor += 1
    const input = world.event(at)
    return input === undefined || what === "lose" ? [] : [{ input, upTo: at + 1 }]
  })

describe("step", () => {
  it("P4 holds what the server held at the newest revision told of each key", () => {
    fc.assert(
      fc.property(writes, fc.array(happening, { maxLength: 30 }), ({ base, script }, happenings) => {
        const world = new World(base, script)
        const lossless = happenings.filter(({ what }) => what !== "lose" && what !== "unread")
        let store = Store.step(Store.empty<Item>(), world.listed(0, [])).store
        let all = 0
        const own = new Map<string, number>()
        for (const { input, own: key, upTo } of story(world, lossless)) {
          const { store: next, stale } = Store.step(store, input)
          expect(stale).toBe(input._tag === "Listed" && upTo < all)
          store = next
          if (key === undefined) all = Math.max(all, upTo)
          else own.set(key, Math.max(own.get(key) ?? 0, upTo))
          for (const k of keys) {
            expect(Store.get(store, k)).toBe(world.at(Math.max(all, own.get(k) ?? 0), k))
          }
        }
      }),
      runs
    )
  })

  it("P4 never goes back to a revision at or below what was known of the key", () => {
    fc.assert(
      fc.property(writes, fc.array(happening, { maxLength: 30 }), ({ base, script }, happenings) => {
        let store = Store.empty<Item>()
        const known = new Map<string, bigint>()
        for (const { input } of story(new World(base, script), happenings)) {
          const before = store
          store = Store.step(store, input).store
          for (const key of keys) {
            const now = Store.get(store, key)
            if (now === Store.get(before, key)) continue
            const told = BigInt(now?.revision ?? atOf(input))
            expect(told).toBeGreaterThan((known.get(key) ?? -1n) - (now === undefined ? 1n : 0n))
            known.set(key, told)
          }
          expect(BigInt(store.revision ?? 0)).toBeGreaterThanOrEqual(BigInt(before.revision ?? 0))
        }
      }),
      runs
    )
  })

  it("P1 equals the server after a relist, whatever was lost before", () => {
    fc.assert(
      fc.property(writes, fc.array(happening, { maxLength: 30 }), ({ base, script }, happenings) => {
        const world = new World(base, script)
        const inputs = story(world, happenings).map(({ input }) => input)
        const { store } = Store.steps(Store.empty<Item>(), [...inputs, world.listed(world.writes.length, [])])
        for (const key of keys) expect(Store.get(store, key)).toEqual(world.at(world.writes.length, key))
        expect(store.synced).toBe(true)
      }),
      runs
    )
  })

  it("P5 is not synced before the first complete list", () => {
    fc.assert(
      fc.property(writes, fc.array(happening, { maxLength: 12 }), ({ base, script }, happenings) => {
        let store = Store.empty<Item>()
        let accepted = false
        for (const { input } of story(new World(base, script), happenings)) {
          const result = Store.step(store, input)
          accepted ||= input._tag === "Listed" && !result.stale
          store = result.store
          expect(store.synced).toBe(accepted)
        }
      }),
      runs
    )
  })

  it("tells changes that fold to the items", () => {
    fc.assert(
      fc.property(writes, fc.array(happening, { maxLength: 30 }), ({ base, script }, happenings) => {
        let store = Store.empty<Item>()
        const view = new Map<string, Item>()
        for (const { input } of story(new World(base, script), happenings)) {
          const result = Store.step(store, input)
          store = result.store
          fold(result.changes, view)
          expect(content(store)).toEqual(view)
          expect(store.size).toBe(view.size)
        }
      }),
      runs
    )
  })

  it("P14 leaves the store that it was given, and the input, as they were", () => {
    fc.assert(
      fc.property(writes, fc.array(happening, { maxLength: 20 }), ({ base, script }, happenings) => {
        const all: { store: Store.Store<Item>; content: ReadonlyMap<string, Item> }[] = []
        let store = Store.empty<Item>()
        for (const { input } of story(new World(base, script), happenings)) {
          store = Store.step(store, deepFrozen(input)).store
          all.push({ store, content: content(store) })
        }
        for (const then of all) expect(content(then.store)).toEqual(then.content)
      }),
      runs
    )
  })

  it("says nothing when it is told the same list again", () => {
    fc.assert(
      fc.property(writes, ({ base, script }) => {
        const world = new World(base, script)
        const list = world.listed(world.writes.length, [])
        const once = Store.step(Store.empty<Item>(), list).store
        const twice = Store.step(once, list)
        expect(twice.changes).toEqual([])
        expect(twice.store).toBe(once)
      }),
      runs
    )
  })

  it("turns a new uid into Removed, then Put", () => {
    const [old, young] = [item("ns/a", "u1", "5"), item("ns/a", "u2", "8")]
    const store = Store.step(Store.empty<Item>(), listed("5", [old])).store
    expect(Store.step(store, { _tag: "Changed", item: young }).changes).toEqual([
      { _tag: "Removed", key: "ns/a", before: old },
      { _tag: "Put", key: "ns/a", before: undefined, after: young }
    ])
  })

  it("keeps what we wrote after the list was made, though it isn't on it", () => {
    const ours = item("ns/a", "u1", "12")
    const { store } = Store.steps(Store.empty<Item>(), [listed("9", []), { _tag: "Written", item: ours }])
    const again = Store.step(store, listed("10", []))
    expect(again.changes).toEqual([])
    expect(Store.get(again.store, "ns/a")).toBe(ours)
    expect(Store.step(again.store, listed("12", [])).changes).toEqual([
      { _tag: "Removed", key: "ns/a", before: ours }
    ])
  })

  it("P11 keeps the last good state of an item that is on the list and can't be read", () => {
    const good = item("ns/a", "u1", "5")
    const { store } = Store.steps(Store.empty<Item>(), [listed("5", [good])])
    const next = Store.step(store, { _tag: "Listed", revision: "9", items: [], unread: ["ns/a"] })
    expect(next.changes).toEqual([])
  })

  it("P4 doesn't take back what we deleted, though events and a list from before come late", () => {
    const [made, changed] = [item("ns/a", "u1", "5"), item("ns/a", "u1", "8")]
    const { store } = Store.steps(Store.empty<Item>(), [
      listed("4", []),
      written(made),
      written(changed),
      { _tag: "Dropped", key: "ns/a", revision: "8" }
    ])
    const late: readonly Store.Input<Item>[] = [
      { _tag: "Changed", item: made },
      { _tag: "Changed", item: changed },
      listed("9", [changed]),
      { _tag: "Changed", item: changed },
      listed("10", [changed])
    ]
    const after = Store.steps(store, late)
    expect(after.changes).toEqual([])
    const again = item("ns/a", "u2", "14")
    const next = Store.steps(after.store, [
      { _tag: "Deleted", key: "ns/a", revision: "11" },
      { _tag: "Changed", item: again }
    ])
    expect(next.changes).toEqual([{ _tag: "Put", key: "ns/a", before: undefined, after: again }])
    expect([after.store.dropped.size, next.store.dropped.size]).toEqual([1, 0])
  })

  it("ignores a deletion from before the item was made again", () => {
    const { store } = Store.steps(Store.empty<Item>(), [
      listed("4", []),
      { _tag: "Changed", item: item("ns/a", "u2", "8") }
    ])
    expect(Store.step(store, { _tag: "Deleted", key: "ns/a", revision: "7" }).changes).toEqual([])
  })

  it("takes a deletion that bears the revision of the last change", () => {
    const last = item("ns/a", "u1", "8")
    const store = Store.step(Store.empty<Item>(), listed("8", [last])).store
    expect(Store.step(store, { _tag: "Deleted", key: "ns/a", revision: "8" }).store.size).toBe(0)
  })

  it("copies one branch and one bucket of 20,000 items for one event", () => {
    const many = Array.from({ length: 20_000 }, (_, n) => item(`ns/app-unit-${n}`, `u${n}`, "5"))
    const full = Store.step(Store.empty<Item>(), listed("5", many)).store
    expect(full.size).toBe(20_000)
    const next = Store.step(full, { _tag: "Changed", item: item("ns/app-unit-77", "u77", "6") }).store
    const other = next.table.filter((branch, n) => branch !== full.table[n])
    expect(other.length).toBe(1)
    const buckets = full.table.flatMap((branch) => branch)
    expect(next.table.flatMap((branch) => branch).filter((bucket, n) => bucket !== buckets[n]).length).toBe(1)
    expect(Math.max(...buckets.map((bucket) => bucket.length))).toBeLessThan(25)
  })
})

describe("steps", () => {
  it("gives what its inputs give one by one", () => {
    fc.assert(
      fc.property(writes, fc.array(happening, { maxLength: 30 }), ({ base, script }, happenings) => {
        const inputs = story(new World(base, script), happenings).map(({ input }) => input)
        const together = Store.steps(Store.empty<Item>(), inputs)
        let store = Store.empty<Item>()
        const changes: Store.Change<Item>[] = []
        for (const input of inputs) {
          const result = Store.step(store, input)
          store = result.store
          changes.push(...result.changes)
        }
        expect(together.changes).toEqual(changes)
        expect(together.store).toEqual(store)
      }),
      runs
    )
  })
})

describe("items", () => {
  it("come in an order that depends on the keys alone", () => {
    fc.assert(
      fc.property(
        fc
          .uniqueArray(fc.string(), { maxLength: 40 })
          .chain((all) =>
            fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }), fc.subarray(all))
          ),
        ([one, other, gone]) => {
          const order = (all: readonly string[]) => {
            const put = all.map((key, n) => written(item(key, key, String(n + 10))))
            const drop = gone.map((key) => ({ _tag: "Deleted", key, revision: "99" }) as const)
            const { store } = Store.steps(Store.empty<Item>(), [...put, ...drop])
            return [...Store.items(store)].map(({ key }) => key)
          }
          expect(order(one)).toEqual(order(other))
        }
      ),
      runs
    )
  })
})

describe("olderRevision", () => {
  it("compares decimals of any length", () => {
    const decimal = fc.bigInt({ min: 0n, max: 10n ** 40n })
    const near = decimal.chain((n) =>
      fc.tuple(
        fc.constant(n),
        fc.bigInt({ min: 0n, max: 20n }).map((d) => n + d)
      )
    )
    fc.assert(
      fc.property(fc.oneof(fc.tuple(decimal, decimal), near), ([a, b]) => {
        expect(Store.olderRevision(String(a), String(b))).toBe(a < b)
        expect(Store.olderRevision(String(b), String(a))).toBe(b < a)
      }),
      runs
    )
  })
})

const item = (key: string, uid: string, revision: string): Item => ({ key, uid, revision, text: revision })
const written = (it: Item): Store.Input<Item> => ({ _tag: "Written", item: it })
const listed = (revision: string, items: readonly Item[]): Store.Input<Item> => ({
  _tag: "Listed",
  revision,
  items,
  unread: []
})
/** the revision of a statement that something isn't there, or of the item that took its place */
const atOf = (input: Store.Input<Item>): string =>
  input._tag === "Changed" || input._tag === "Written" ? input.item.revision : input.revision
const deepFrozen = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const field of Object.values(value)) deepFrozen(field)
  }
  return value
}
