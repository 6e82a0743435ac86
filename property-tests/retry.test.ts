/** The waits after failures: bounded, growing, never shorter than asked. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { delay, type Failure, type FailureReason, reconnect } from "../src/core/retry.ts"

const runs = { numRuns: 10_000 }
const fresh = fc.constantFrom<FailureReason>("NotFound", "Conflict", "AlreadyExists", "Gone")
const trouble = fc.constantFrom<FailureReason>("Forbidden", "Slow", "Unavailable", "Malformed")
const reason = fc.oneof(fresh, trouble, fc.constant<FailureReason>("Invalid"))
const attempt = fc.oneof(fc.nat(12), fc.nat({ max: 2 ** 31 }))
const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe("delay", () => {
  it("P6 lies between a twentieth of a second and half a minute, Invalid aside", () => {
    fc.assert(
      fc.property(fc.oneof(fresh, trouble), attempt, jitter, (why, n, j) => {
        const wait = delay(failure(why), n, j)
        expect(wait).toBeGreaterThanOrEqual(50)
        expect(wait).toBeLessThanOrEqual(30_000)
      }),
      runs
    )
  })

  it("never shrinks as failures go on", () => {
    fc.assert(
      fc.property(reason, attempt, fc.nat(5), jitter, (why, n, more, j) => {
        expect(delay(failure(why), n + more, j)).toBeGreaterThanOrEqual(delay(failure(why), n, j))
      }),
      runs
    )
  })

  it("R43 reaches a wait of at least 15 s, so that a server in trouble gets room", () => {
    fc.assert(
      fc.property(trouble, fc.integer({ min: 8, max: 1000 }), jitter, (why, n, j) => {
        expect(delay(failure(why), n, j)).toBeGreaterThanOrEqual(15_000)
      }),
      runs
    )
  })

  it("stays under ten seconds where a fresh look is likely to help", () => {
    fc.assert(
      fc.property(fresh, attempt, jitter, (why, n, j) => {
        expect(delay(failure(why), n, j)).toBeLessThanOrEqual(10_000)
      }),
      runs
    )
  })

  it("R44 is never shorter than the server asked, up to an hour", () => {
    fc.assert(
      fc.property(reason, attempt, jitter, fc.integer({ min: 0, max: 3600 }), (why, n, j, seconds) => {
        const asked = { ...failure(why), retryAfter: seconds }
        expect(delay(asked, n, j)).toBe(Math.max(seconds * 1000, delay(failure(why), n, j)))
      }),
      runs
    )
  })

  it("takes a request for more than an hour, for less than nothing or for no number as a mistake", () => {
    const asked = (retryAfter: number) => delay({ ...failure("Slow"), retryAfter }, 0, 0)
    expect(asked(1e9)).toBe(3_600_000)
    expect(asked(Infinity)).toBe(3_600_000)
    expect(asked(-5)).toBe(100)
    expect(asked(Number.NaN)).toBe(100)
  })

  it("is five minutes for Invalid, whatever the attempt", () => {
    fc.assert(
      fc.property(attempt, jitter, (n, j) => {
        expect(delay(failure("Invalid"), n, j)).toBe(300_000)
      }),
      runs
    )
  })

  it("spreads callers over the upper half of the wait", () => {
    expect(delay(failure("Unavailable"), 3, 0)).toBe(800)
    expect(delay(failure("Unavailable"), 3, 0.5)).toBe(1200)
    expect(delay(failure("Unavailable"), 20, 0)).toBe(15_000)
  })
})

describe("reconnect", () => {
  it("lies between a tenth of a second and half a minute whatever the reason", () => {
    fc.assert(
      fc.property(fc.option(reason, { nil: undefined }), attempt, jitter, (why, n, j) => {
        const wait = reconnect(why === undefined ? undefined : failure(why), n, j)
        expect(wait).toBeGreaterThanOrEqual(100)
        expect(wait).toBeLessThanOrEqual(30_000)
      }),
      runs
    )
  })

  it("is never shorter than the server asked", () => {
    expect(reconnect({ ...failure("Slow"), retryAfter: 47 }, 0, 0)).toBe(47_000)
  })
})

const failure = (why: FailureReason): Failure => ({ reason: why, code: 500, message: "no" })
