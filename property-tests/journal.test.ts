/** The promises of a watch: in order, once, without gaps, or 410. The truth is a list of states that the test itself keeps. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Bounds, Journal } from "../src/core/journal.ts"
import { sent } from "../src/core/query.ts"
import { runs } from "./runs.ts"

interface Thing {
  readonly text: string
  readonly label: boolean
  readonly bytes: number
}

const roomy: Bounds = { count: 1000, bytes: 1_000_000 }
const size = (before: Thing | undefined): number => before?.bytes ?? 0
const starts = ["1", "4611686018427387903", "9007199254740991", "99", "123456789012345678"]

type Change = readonly [key: string, thing: Thing | undefined]

const keys = ["a", "b", "constructor", "__proto__"]
const change = fc.tuple(
  fc.constantFrom(...keys),
  fc.option(fc.record({ text: fc.constantFrom("x", "y", "z"), label: fc.boolean(), bytes: fc.nat(10) }), {
    freq: 3,
    nil: undefined
  })
)

/** What a watcher believes, from what it was sent alone. */
class Client {
  readonly table = new Map<string, Thing>()
  readonly selects: (thing: Thing) => boolean
  /** where it would resume */
  at: string
  constructor(selects: (thing: Thing) => boolean, list: ReadonlyMap<string, Thing>, at: string) {
    this.selects = selects
    this.at = at
    for (const [key, thing] of list) if (selects(thing)) this.table.set(key, thing)
  }
}

type Step =
  | { readonly what: "change"; readonly change: Change }
  /** client `who` reads at most `most` events, and with `bookmark` hears how far it has got */
  | { readonly what: "read"; readonly who: number; readonly most: number; readonly bookmark: boolean }
  /** client `who` lists anew */
  | { readonly what: "list"; readonly who: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: change.map((each) => ({ what: "change" as const, change: each })) },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant("read" as const),
      who: fc.nat(2),
      most: fc.integer({ min: 1, max: 6 }),
      bookmark: fc.boolean()
    })
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("list" as const), who: fc.nat(2) }) }
)
const bounds = fc.record({ count: fc.integer({ min: 1, max: 20 }), bytes: fc.integer({ min: 10, max: 400 }) })

const selectors: readonly ((thing: Thing) => boolean)[] = [
  () => true,
  (thing) => thing.label,
  (thing) => thing.text !== "x"
]

describe("Journal", () => {
  it("T4 P7 P8 R111 R112 R117 shows three clients who resume anywhere what a fresh list shows, or tells them 410", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...starts),
        bounds,
        fc.array(step, { maxLength: 60 }),
        (start, limits, steps) => {
          const journal = new Journal<Thing>(start, limits, size)
          const truth = new Map<string, Thing>()
          const states: ReadonlyMap<string, Thing>[] = [new Map()]
          const base = BigInt(start)
          const index = (revision: string) => Number(BigInt(revision) - base)
          const list = (who: number) => {
            const listed = new Map(entries(journal))
            expect(listed).toEqual(truth)
            return new Client(selectors[who] ?? (() => true), listed, journal.head)
          }
          const clients = [list(0), list(1), list(2)]
          for (const each of steps) {
            if (each.what === "change") {
              apply(journal, truth, states, each.change)
              expect(index(journal.head)).toBe(states.length - 1)
            } else if (each.what === "list") clients[each.who] = list(each.who)
            else if (!reads(journal, clients[each.who], each, states, index))
              clients[each.who] = list(each.who)
          }
          for (const [who, client] of clients.entries()) {
            while (client.at !== journal.head)
              if (!reads(journal, client, { most: 5, bookmark: true }, states, index)) break
            if (client.at === journal.head) expect(client.table).toEqual(list(who).table)
          }
        }
      ),
      runs(10_000)
    )
  })

  it("R112 expires exactly where an event is missing, a revision is of the future, or isn't one", () => {
    const journal = new Journal<Thing>("100", { count: 3, bytes: 1000 }, size)
    for (let i = 0; i < 5; i++) journal.put("a", { text: String(i), label: true, bytes: 1 })
    const found = (revision: string) => {
      const read = journal.since(revision, 100)
      return read._tag === "Expired" ? read._tag : read.events.map((each) => each.after?.text)
    }
    expect(["101", "102", "103", "104", "105", "106"].map(found)).toEqual([
      "Expired",
      ["2", "3", "4"],
      ["3", "4"],
      ["4"],
      [],
      "Expired"
    ])
    for (const wrong of [
      "",
      "0",
      "x",
      "0102",
      "-1",
      "1e2",
      " 102",
      "102.0",
      "9223372036854775808",
      "99999999999999999999"
    ])
      expect(found(wrong)).toBe("Expired")
  })

  it("R113 knows no revision of another process", () => {
    const journal = new Journal<Thing>("5000", roomy, size)
    expect(journal.since("4999", 10)).toEqual({ _tag: "Expired" })
    expect(journal.since("5000", 10)).toEqual({ _tag: "Read", events: [], cursor: "5000" })
    expect(["", "0", "5000"].map((each) => journal.lists(each))).toEqual([true, true, true])
    expect(["4999", "5001", "abc"].map((each) => journal.lists(each))).toEqual([false, false, false])
    expect(() => new Journal<Thing>("0", roomy, size)).toThrow()
  })

  it("P12 R114 keeps no more events and bytes than it may, and goes on for ever", () => {
    const limits = { count: 50, bytes: 300 }
    const journal = new Journal<Thing>("1", limits, size)
    for (let i = 0; i < 20_000; i++) {
      journal.put("a", { text: "x", label: true, bytes: i % 40 })
      expect(journal.kept.count).toBeLessThanOrEqual(limits.count)
      expect(journal.kept.bytes).toBeLessThanOrEqual(limits.bytes)
    }
    expect(journal.kept.count).toBeGreaterThan(2)
    expect(journal.size).toBe(1)
    expect(journal.since(String(BigInt(journal.head) - 2n), 10)).toMatchObject({
      events: [{ revision: "20000" }, { revision: "20001" }]
    })
  })

  it("P11 keeps the newest event though it is larger than all it may keep, and that one alone", () => {
    const journal = new Journal<Thing>("1", { count: 5, bytes: 10 }, size)
    journal.put("a", { text: "x", label: true, bytes: 100 })
    journal.put("a", { text: "y", label: true, bytes: 1 })
    expect(journal.kept).toEqual({ count: 1, bytes: 100 })
    expect(journal.since("2", 5)).toMatchObject({ events: [{ revision: "3", key: "a" }] })
    journal.put("a", { text: "z", label: true, bytes: 1 })
    expect([journal.kept, journal.since("2", 5)]).toEqual([{ count: 1, bytes: 1 }, { _tag: "Expired" }])
    expect(journal.since("3", 5)).toMatchObject({ events: [{ revision: "4", key: "a" }] })
  })

  it("R125 expires nobody who stood at the head when all objects change at once and share their bytes", () => {
    const shares = new Journal<Thing>("1", { count: 3, bytes: 10 }, (before, after) =>
      before === undefined || before.text === after?.text ? 0 : before.bytes
    )
    for (let i = 0; i < 100; i++) shares.put(`o${i}`, { text: "x", label: true, bytes: 1000 })
    const head = shares.head
    for (let i = 0; i < 100; i++) shares.put(`o${i}`, { text: "x", label: false, bytes: 1000 })
    expect(shares.since(head, 1000)).toMatchObject({ events: { length: 100 }, cursor: shares.head })
  })

  it("P8 lists what is there at one moment, whatever is told while the listing is read", () => {
    const journal = new Journal<Thing>("1", roomy, size)
    const thing = { text: "x", label: true, bytes: 1 }
    journal.put("a", thing)
    const listing = journal.list()
    journal.put("b", thing)
    journal.remove("a")
    expect(listing).toEqual({ revision: "2", objects: [{ revision: "2", value: thing }] })
  })

  it("R129 gives every object the revision of its own last change", () => {
    const journal = new Journal<Thing>("9007199254740991", roomy, size)
    const thing = { text: "x", label: true, bytes: 1 }
    journal.put("a", thing)
    journal.put("b", thing)
    journal.put("c", thing)
    journal.put("a", thing)
    expect(journal.remove("c")?.revision).toBe("9007199254740996")
    expect(journal.remove("c")).toBe(undefined)
    expect([journal.get("a")?.revision, journal.get("b")?.revision, journal.head]).toEqual([
      "9007199254740995",
      "9007199254740993",
      "9007199254740996"
    ])
  })
})

const entries = (journal: Journal<Thing>): readonly (readonly [string, Thing])[] =>
  keys.flatMap((key) => {
    const found = journal.get(key)
    return found === undefined ? [] : [[key, found.value] as const]
  })

const apply = (
  journal: Journal<Thing>,
  truth: Map<string, Thing>,
  states: ReadonlyMap<string, Thing>[],
  [key, thing]: Change
): void => {
  if (thing !== undefined) {
    journal.put(key, thing)
    truth.set(key, thing)
  } else {
    expect(journal.remove(key) === undefined).toBe(!truth.has(key))
    if (!truth.delete(key)) return
  }
  states.push(new Map(truth))
}

/** One read of a client, checked against the states; false where it was told 410. */
const reads = (
  journal: Journal<Thing>,
  client: Client | undefined,
  how: { readonly most: number; readonly bookmark: boolean },
  states: readonly ReadonlyMap<string, Thing>[],
  index: (revision: string) => number
): boolean => {
  if (client === undefined) return false
  const read = journal.since(client.at, how.most)
  if (read._tag === "Expired") {
    // 410 only where an event after its revision is gone
    expect(states.length - 1 - index(client.at)).toBeGreaterThan(journal.kept.count)
    return false
  }
  // nothing to read only at the head
  expect(read.events.length > 0 || index(client.at) === states.length - 1).toBe(true)
  for (const event of read.events) {
    const told = sent(event, client.selects)
    if (told === undefined) continue
    const has = client.table.has(event.key)
    expect([told.type, has]).toEqual([told.type, told.type !== "ADDED"])
    expect(index(told.revision)).toBeGreaterThan(index(client.at))
    if (told.type === "DELETED") {
      expect(told.value).toEqual(client.table.get(event.key))
      client.table.delete(event.key)
    } else client.table.set(event.key, told.value)
    client.at = told.revision
    same(client, states[index(told.revision)])
  }
  if (how.bookmark || read.events.length === 0) client.at = read.cursor
  same(client, states[index(client.at)])
  return true
}

const same = (client: Client, state: ReadonlyMap<string, Thing> | undefined): void => {
  const wanted = [...(state ?? [])].filter(([, thing]) => client.selects(thing))
  expect(client.table).toEqual(new Map(wanted))
}
