/** What is remembered of writes: who waits, how long, and what ends it. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failed, type Hold, holds, written } from "../src/core/hold.ts"
import type { Failure, FailureReason } from "../src/core/retry.ts"
import { frozen, NOW, RUNS, same, SECOND, shortChild } from "./given.ts"

const reasons = [
  "NotFound",
  "Conflict",
  "AlreadyExists",
  "Gone",
  "Invalid",
  "Forbidden",
  "Slow",
  "Unavailable",
  "Malformed"
] as const
const reason = fc.constantFrom<FailureReason>(...reasons)
const passing = fc.constantFrom<FailureReason>(...reasons.filter((each) => each !== "Invalid"))
const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const failure = (why: FailureReason, more: Partial<Failure> = {}): Failure =>
  frozen({ reason: why, code: 500, message: "no", ...more })

const MINUTES_5 = 300 * SECOND
const a = shortChild("web-a")

describe("holds", () => {
  it("is over when its time is over, whatever it was", () => {
    fc.assert(
      fc.property(anyHold, fc.nat(1e6), (hold, later) => {
        same(holds(hold, "d", a, hold.until + later), false)
      }),
      RUNS
    )
  })

  it("R44 lasts to its end where the server asked for time, whatever is wanted by then", () => {
    fc.assert(
      fc.property(
        anyHold,
        fc.constantFrom("d", "edited", ""),
        fc.constantFrom(a, undefined),
        (hold, wanted, child) => {
          const slow = frozen({ ...hold, _tag: "Failed" as const, failure: failure("Slow") })
          same(holds(slow, wanted, child, hold.until - 1), true)
        }
      ),
      RUNS
    )
  })

  it("R70 ends at once when something else is wanted", () => {
    fc.assert(
      fc.property(anyHold, (hold) => {
        fc.pre(hold.failure.reason !== "Slow")
        same(holds(hold, "edited", a, hold.until - 1), false)
      }),
      RUNS
    )
  })

  it("waits while nothing changes", () => {
    fc.assert(
      fc.property(anyHold, (hold) => {
        same(holds(hold, "d", a, hold.until - 1), true)
      }),
      RUNS
    )
  })

  it.each([
    ["Invalid", "changed", shortChild("web-a", { revision: "101" }), false],
    ["Invalid", "deleted", undefined, false],
    ["Forbidden", "changed", shortChild("web-a", { revision: "101" }), true],
    ["Unavailable", "deleted", undefined, true]
  ] as const)("after %s, and with the child %s since, is %s", (why, _, child, waits) => {
    expect(holds(holdOf({ failure: failure(why) }), "d", child, NOW)).toBe(waits)
  })

  it("ends for an Invalid creation when an object of the name appears", () => {
    expect(holds(holdOf({ failure: failure("Invalid"), revision: undefined }), "d", a, NOW)).toBe(false)
  })

  it.each(["Undone", "Contended"] as const)("R58 ends for a fight (%s) whose child is gone", (_tag) => {
    expect(holds(holdOf({ _tag }), "d", undefined, NOW)).toBe(false)
    expect(holds(holdOf({ _tag }), "d", shortChild("web-a", { revision: "999" }), NOW)).toBe(true)
  })
})

describe("failed", () => {
  it("P6 R43 waits at most half a minute, and tries for ever", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(passing, jitter), { minLength: 1, maxLength: 40 }), (story) => {
        let hold: Hold | undefined
        let now = NOW
        for (const [i, [why, j]] of story.entries()) {
          hold = frozen(failed(hold, { failure: failure(why), wanted: "d", revision: "1", now, jitter: j }))
          const pause = hold.until - now
          if (!(pause > 0 && pause <= 30 * SECOND && hold.attempt === i + 1)) same(hold, "in bounds")
          now = hold.until
        }
      }),
      RUNS
    )
  })

  it("waits five minutes where only an edit can help", () => {
    fc.assert(
      fc.property(fc.nat(50), jitter, (attempt, j) => {
        const hold = failed(holdOf({ attempt }), about({ failure: failure("Invalid"), jitter: j }))
        same(hold.until - NOW, MINUTES_5)
      }),
      RUNS
    )
  })

  it("R44 waits as long as the server asked, if that is longer", () => {
    fc.assert(
      fc.property(reason, fc.integer({ min: 1, max: 3600 }), jitter, (why, retryAfter, j) => {
        const hold = failed(undefined, about({ failure: failure(why, { retryAfter }), jitter: j }))
        expect(hold.until - NOW).toBeGreaterThanOrEqual(retryAfter * SECOND)
      }),
      RUNS
    )
  })

  it.each([
    ["something else is wanted", holdOf({ attempt: 7, wanted: "before" })],
    ["it was fought over before", holdOf({ attempt: 7, _tag: "Undone" })],
    ["it is the first", undefined]
  ])("counts from one where %s", (_, before) => {
    expect(failed(before, about({})).attempt).toBe(1)
  })

  it("remembers what was to be written, over what, and why not", () => {
    expect(failed(undefined, about({ failure: failure("Forbidden") }))).toMatchObject({
      _tag: "Failed",
      at: NOW,
      failure: failure("Forbidden"),
      wanted: "d",
      revision: "100"
    })
  })
})

describe("written", () => {
  const undone = ["spec.template.spec.hostNetwork", "spec.paused"]

  it("gives a webhook three rounds, then five minutes each time", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1, 59, 61, 400), { minLength: 4, maxLength: 8 }), (pauses) => {
        let hold: Hold | undefined
        let now = NOW
        const waits = pauses.map((pause) => {
          now += pause * SECOND
          hold = frozen(written(hold, { wanted: "d", revision: "1", undone, now }))
          return hold.until - now
        })
        same(
          waits,
          pauses.map((_, i) => (i < 2 ? 0 : MINUTES_5))
        )
      }),
      RUNS
    )
  })

  it("names the fields that the webhook changed", () => {
    expect(written(undefined, { wanted: "d", revision: "1", undone, now: NOW })).toMatchObject({
      _tag: "Undone",
      attempt: 1,
      failure: {
        message:
          "spec.template.spec.hostNetwork, spec.paused: set by this grid, and changed in the same request by an admission webhook"
      }
    })
  })

  it("begins anew for a webhook where something else is wanted", () => {
    const before = holdOf({ _tag: "Undone", attempt: 5, wanted: "before" })
    expect(written(before, { wanted: "d", revision: "1", undone, now: NOW })).toMatchObject({
      attempt: 1,
      until: NOW
    })
  })

  it("P6 corrects a child that is changed back at once at most 40 times in 10 minutes, and never stops", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(999), { minLength: 1, maxLength: 5 }), (delays) => {
        let hold: Hold | undefined
        let writes = 0
        for (let now = NOW; now < NOW + 600 * SECOND;) {
          hold = written(hold, { wanted: "d", revision: String(writes), undone: [], now })
          if (hold.until - now > 30 * SECOND) same(hold, "at most half a minute")
          now = Math.max(hold.until, now + (delays[writes % delays.length] ?? 0))
          if (++writes > 2000) break
        }
        expect(writes).toBeLessThanOrEqual(40)
        expect(writes).toBeGreaterThanOrEqual(20)
      }),
      RUNS
    )
  })

  it("R31 corrects rare edits at once", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 60, max: 600 }), { maxLength: 20 }), (pauses) => {
        let hold: Hold | undefined
        let now = NOW
        for (const pause of pauses) {
          hold = written(hold, { wanted: "d", revision: "1", undone: [], now })
          if (hold.until !== now) same(hold, "without pause")
          now += pause * SECOND
        }
      }),
      RUNS
    )
  })

  it("R41 lets the user's own edits through, however many", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2000), { minLength: 1, maxLength: 20 }), (pauses) => {
        let hold: Hold | undefined
        let now = NOW
        for (const [i, pause] of pauses.entries()) {
          hold = written(hold, { wanted: `edit ${i}`, revision: "1", undone: [], now })
          if (hold.until !== now) same(hold, "without pause")
          now += pause
        }
      }),
      RUNS
    )
  })
})

const about = (more: Partial<Parameters<typeof failed>[1]>): Parameters<typeof failed>[1] => ({
  failure: failure("Unavailable"),
  wanted: "d",
  revision: "100",
  now: NOW,
  jitter: 0.5,
  ...more
})

function holdOf(more: Partial<Hold>): Hold {
  return frozen({
    _tag: "Failed",
    attempt: 1,
    at: NOW - SECOND,
    until: NOW + SECOND,
    failure: failure("Unavailable"),
    wanted: "d",
    revision: "100",
    ...more
  })
}

const anyHold: fc.Arbitrary<Hold> = fc
  .tuple(
    fc.constantFrom("Failed", "Undone", "Contended"),
    fc.integer({ min: 1, max: 20 }),
    fc.nat(1e6),
    reason
  )
  .map(([tag, attempt, wait, why]) =>
    holdOf({
      _tag: tag as Hold["_tag"],
      attempt,
      until: NOW + wait,
      failure: failure(tag === "Failed" ? why : "Conflict")
    })
  )
