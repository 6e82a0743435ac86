/** How lists and watches begin, over all options: from what the API server documents of resourceVersion, for a server with a window. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Journal } from "../src/core/journal.ts"
import { listing, opening } from "../src/core/opening.ts"
import type { Options } from "../src/core/route.ts"
import { runs } from "./runs.ts"

const START = 1000

/** Ten changes were made, of three objects; the last four are remembered. */
const journal = () => {
  const made = new Journal<number>(String(START), { count: 4, bytes: 1000 }, () => 0)
  for (let i = 1; i <= 10; i++) made.put(["a", "b", "c"][i % 3] ?? "", i)
  return made
}
const HEAD = START + 10
const OLDEST = HEAD - 4

const revision = fc.constantFrom(
  undefined,
  "0",
  "1",
  String(START - 1),
  String(START),
  ...[OLDEST - 1, OLDEST, HEAD - 1, HEAD, HEAD + 1].map(String),
  "9223372036854775808",
  "abc",
  "01010",
  "-5",
  `${HEAD}.0`
)
const options: fc.Arbitrary<Options> = fc.record({
  resourceVersion: revision,
  resourceVersionMatch: fc.constant(undefined),
  sendInitialEvents: fc.constantFrom(true, false, undefined),
  allowWatchBookmarks: fc.boolean(),
  timeoutSeconds: fc.constant(undefined)
})

const number = (text: string | undefined): number =>
  text !== undefined && /^[1-9][0-9]{0,17}$/.test(text) ? Number(text) : Number.NaN
const isAny = (text: string | undefined): boolean => text === undefined || text === "0"
const objects = (all: { readonly objects: readonly { readonly value: number }[] }): readonly number[] =>
  all.objects.map(({ value }) => value).toSorted((a, b) => a - b)

describe("opening", () => {
  it("R111 R112 R113 R116 begins a watch with all, after a revision that is remembered, or with 410", () => {
    fc.assert(
      fc.property(options, (o) => {
        const at = number(o.resourceVersion)
        const began = opening(journal(), o)
        const all =
          o.sendInitialEvents === true || (isAny(o.resourceVersion) && o.sendInitialEvents === undefined)
        if (all) {
          // Not older than a revision: one that this process gave.
          const can = isAny(o.resourceVersion) || (at >= START && at <= HEAD)
          if (!can) {
            expect(began).toEqual({ _tag: "Expired" })
            return
          }
          if (began._tag !== "All") return expect.fail(`began with ${began._tag}`)
          expect([objects(began.listing), began.listing.revision]).toEqual([[8, 9, 10], String(HEAD)])
          // The end of the beginning is said to those who asked for it, and who take bookmarks.
          expect(began.marked).toBe(o.sendInitialEvents === true && o.allowWatchBookmarks)
        } else if (isAny(o.resourceVersion)) expect(began).toEqual({ _tag: "After", revision: String(HEAD) })
        else
          expect(began).toEqual(
            at >= OLDEST && at <= HEAD ? { _tag: "After", revision: o.resourceVersion } : { _tag: "Expired" }
          )
      }),
      runs(10_000)
    )
  })

  it("R116 begins with nothing, and its end marked, where there is nothing", () => {
    const empty = new Journal<number>("1", { count: 4, bytes: 10 }, () => 0)
    const o = { ...plain, sendInitialEvents: true, allowWatchBookmarks: true }
    expect(opening(empty, o)).toEqual({ _tag: "All", listing: { revision: "1", objects: [] }, marked: true })
  })

  it("R111 R129 misses nothing between a list and a watch at its revision", () => {
    const kept = journal()
    const listed = listing(kept, plain)
    kept.put("d", 11)
    const began = opening(kept, { ...plain, resourceVersion: listed?.revision })
    if (began._tag !== "After") return expect.fail(began._tag)
    expect(kept.since(began.revision, 10)).toMatchObject({ events: [{ key: "d", after: 11 }] })
  })
})

describe("listing", () => {
  it("R112 R113 gives all that is there to who asks for no newer than it is, and to nobody else", () => {
    fc.assert(
      fc.property(revision, fc.constantFrom(undefined, "NotOlderThan", "Exact"), (resourceVersion, match) => {
        const found = listing(journal(), { ...plain, resourceVersion, resourceVersionMatch: match })
        const at = number(resourceVersion)
        const can = match === "Exact" ? at === HEAD : isAny(resourceVersion) || (at >= START && at <= HEAD)
        expect(found && objects(found)).toEqual(can ? [8, 9, 10] : undefined)
      }),
      runs(10_000)
    )
  })
})

const plain: Options = {
  resourceVersion: undefined,
  resourceVersionMatch: undefined,
  sendInitialEvents: undefined,
  allowWatchBookmarks: false,
  timeoutSeconds: undefined
}
