/** One kind that begins with what was kept: changes folded over what was kept give what upstream last said. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Source } from "../src/core/source.ts"
import type { Change, Input, Stored } from "../src/core/store.ts"
import { same } from "./given.ts"
import { runs } from "./runs.ts"

const KEYS = ["a", "b", "c", "__proto__"]
const key = fc.constantFrom(...KEYS)
const objects = (most: number) =>
  fc.uniqueArray(
    fc.record({
      key,
      uid: fc.constantFrom("u1", "u1", "u2"),
      revision: fc.integer({ min: 1, max: most }).map(String)
    }),
    { selector: (each) => each.key }
  )

/** What the changes make of a table, each of which must fit it. */
const fold = (table: Map<string, Stored>, changes: readonly Change<Stored>[]): void => {
  for (const change of changes) {
    same(table.get(change.key), change.before)
    if (change._tag === "Removed") table.delete(change.key)
    else {
      const { before, after } = change
      if (before !== undefined && (before.uid !== after.uid || before.revision === after.revision))
        expect.fail(`${JSON.stringify(before)} became ${JSON.stringify(after)}`)
      table.set(change.key, after)
    }
  }
}
const byKey = (all: Iterable<Stored>): ReadonlyMap<string, Stored> =>
  new Map([...all].map((each) => [each.key, each]))

type Kind = Input<Stored>["_tag"]

describe("Source", () => {
  it("P10 R137 R139 tells, after what was kept, exactly the difference to the first list", () => {
    fc.assert(
      fc.property(
        objects(20),
        objects(20),
        fc.array(key, { maxLength: 2 }),
        fc.boolean(),
        fc.constantFrom("5", "30"),
        (kept, listed, hidden, twice, revision) => {
          const source = new Source<Stored>()
          const table = new Map<string, Stored>()
          fold(table, source.keep(kept))
          same([source.listed, table], [false, byKey(kept)])
          const before = new Map(table)
          const items = listed.filter((each) => !hidden.includes(each.key))
          const input: Input<Stored> = { _tag: "Listed", revision, items, unread: hidden }
          fold(table, source.take(twice ? [input, input] : [input]))
          // What is on the list and can't be read stays as it was kept; whatever else was kept is gone.
          const wanted = new Map<string, Stored>()
          for (const each of KEYS) {
            const found = hidden.includes(each) ? before.get(each) : items.find((one) => one.key === each)
            if (found !== undefined) wanted.set(each, found)
          }
          same(table, wanted)
          same([source.listed, byKey(source.items())], [true, table])
          for (const each of KEYS) same(source.get(each), table.get(each))
        }
      ),
      runs(10_000)
    )
  })

  it("P10 P7 follows lists, events and late repetitions, whether or not something was kept", () => {
    const kinds = fc.constantFrom<Kind>("Listed", "Changed", "Deleted", "Bookmark")
    const steps = fc.array(
      fc.record({
        what: kinds,
        key,
        uid: fc.constantFrom("u1", "u2"),
        late: fc.boolean(),
        other: objects(1)
      }),
      { maxLength: 12 }
    )
    fc.assert(
      fc.property(fc.option(objects(20), { nil: undefined }), steps, (kept, all) => {
        const source = new Source<Stored>()
        const table = new Map<string, Stored>()
        if (kept !== undefined) fold(table, source.keep(kept))
        /** upstream, as it is */
        const truth = new Map<string, Stored>()
        let at = 100
        let listed = false
        for (const { what, key: of, uid, late, other } of all) {
          at += 1
          const revision = String(at)
          const say = (input: Input<Stored>) => {
            const changes = source.take([input])
            fold(table, changes)
            return changes
          }
          if (what === "Listed") {
            for (const each of other) truth.set(each.key, { ...each, revision })
            if (uid === "u2") truth.delete(of)
            // A list of a server that lags is refused whole, once there was another.
            if (late && listed) {
              same(say({ _tag: "Listed", revision: "50", items: [], unread: [] }), [])
            }
            say({ _tag: "Listed", revision, items: [...truth.values()], unread: [] })
            listed = true
          } else if (!listed) continue
          else if (what === "Changed") {
            const before = truth.get(of)
            truth.set(of, { key: of, uid, revision })
            say({ _tag: "Changed", item: { key: of, uid, revision } })
            if (late && before !== undefined) say({ _tag: "Changed", item: before })
          } else if (what === "Deleted") {
            const before = truth.get(of)
            truth.delete(of)
            say({ _tag: "Deleted", key: of, revision })
            if (late && before !== undefined) say({ _tag: "Changed", item: before })
          } else say({ _tag: "Bookmark", revision })
          same([table, source.revision], [truth, revision])
        }
        same(byKey(source.items()), table)
      }),
      runs(10_000)
    )
  })
})
