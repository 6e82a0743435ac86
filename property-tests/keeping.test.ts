/** When a snapshot is written: on a clock of the test's own, with writes that take time and fail. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  due,
  keeping,
  type Keeping,
  type Occasion,
  type Pace,
  unchanged,
  unwritten
} from "../src/core/keeping.ts"

const pace: Pace = { interval: 300_000, gap: 10_000, retry: 30_000 }

const runs = { numRuns: 10_000 }

describe("due", () => {
  it("begins no write sooner than the gap after another, nor sooner than the interval unless upstream was lost", () => {
    fc.assert(
      fc.property(stories, (story) => {
        const { writes, losses } = played(story)
        writes.forEach(({ began }, i) => {
          const before = writes[i - 1]
          if (before === undefined) return
          expect(began - before.began).toBeGreaterThanOrEqual(pace.gap)
          const excused =
            before.ended !== "Wrote" || losses.some((at) => at >= before.began - pace.retry && at <= began)
          if (!excused) expect(began - before.began).toBeGreaterThanOrEqual(pace.interval)
        })
      }),
      runs
    )
  })

  it("tries again just when the retry time after a failure is over", () => {
    fc.assert(
      fc.property(stories, (story) => {
        const { writes } = played(story)
        writes.forEach(({ ended, over }, i) => {
          const next = writes[i + 1]
          if (ended === "Failed" && next !== undefined) expect(next.began - over).toBe(pace.retry)
        })
      }),
      runs
    )
  })

  it("writes nothing unless something changed since the last write that went well began", () => {
    fc.assert(
      fc.property(stories, (story) => {
        const { writes, changes } = played(story)
        let from = Number.NEGATIVE_INFINITY
        for (const { began, ended } of writes) {
          expect(changes.some((at) => at >= from && at <= began)).toBe(true)
          if (ended === "Wrote") from = began
        }
      }),
      runs
    )
  })

  it("writes every change down within the interval and a write's time, once writes go well", () => {
    fc.assert(
      fc.property(stories, (story) => {
        const { writes, changes, state, over } = played(story)
        expect(unwritten(state)).toBe(false)
        const last = changes.at(-1)
        if (last === undefined) {
          expect(writes).toEqual([])
          return
        }
        expect(writes.at(-1)?.ended).toBe("Wrote")
        expect(writes.at(-1)?.began).toBeGreaterThanOrEqual(last)
        const lastMoment = Math.max(last, over)
        expect((writes.at(-1)?.began ?? 0) - lastMoment).toBeLessThanOrEqual(pace.interval)
      }),
      runs
    )
  })

  it("writes at once when upstream is lost, if there is something and the last write isn't just over", () => {
    const times = fc.tuple(fc.nat(pace.interval), fc.nat(pace.interval), fc.nat(pace.interval))
    fc.assert(
      fc.property(times, fc.boolean(), ([first, second, third], earlier) => {
        const [changedAt, lostAt] = [pace.gap + first + second, pace.gap + first + second + third]
        let state = unchanged
        if (earlier) {
          state = keeping(state, changed, 0)
          state = keeping(state, { _tag: "Began" }, first)
          state = keeping(state, { _tag: "Wrote" }, first)
        }
        state = keeping(state, changed, changedAt)
        state = keeping(state, { _tag: "Lost" }, lostAt)
        expect(due(state, pace) ?? Number.NaN).toBeLessThanOrEqual(lostAt)
      }),
      runs
    )
  })

  it("writes soon after the first change of all, and gives what came with it time to come", () => {
    expect(due(keeping(unchanged, changed, 5), pace)).toBe(5 + pace.gap)
  })

  it("waits for nothing while nothing has changed, lost or not", () => {
    expect(due(unchanged, pace)).toBeUndefined()
    expect(due(keeping(unchanged, { _tag: "Lost" }, 1), pace)).toBeUndefined()
  })

  it("lets a write end before the next, whatever changes and is lost meanwhile", () => {
    const under = keeping(keeping(unchanged, changed, 0), { _tag: "Began" }, 1)
    expect(due(keeping(keeping(under, changed, 2), { _tag: "Lost" }, 3), pace)).toBeUndefined()
  })
})

describe("unwritten", () => {
  it("is true from a change until a write that began after it went well", () => {
    const states: Keeping[] = [unchanged]
    const all: readonly (readonly [Occasion["_tag"], number])[] = [
      ["Changed", 1],
      ["Began", 2],
      ["Failed", 3],
      ["Began", 4],
      ["Changed", 5],
      ["Wrote", 6],
      ["Began", 7],
      ["Wrote", 8]
    ]
    for (const [_tag, at] of all) states.push(keeping(states.at(-1) ?? unchanged, { _tag }, at))
    expect(states.map(unwritten)).toEqual([false, true, true, true, true, true, true, true, false])
  })
})

const changed: Occasion = { _tag: "Changed" }

interface Deed {
  /** milliseconds after the one before */
  readonly after: number
  readonly what: "Changed" | "Lost"
}

interface Story {
  readonly deeds: readonly Deed[]
  /** how long each write takes, and whether it goes well; after the last of them all do, in no time */
  readonly writes: readonly { readonly takes: number; readonly well: boolean }[]
}

const stories: fc.Arbitrary<Story> = fc.record({
  deeds: fc.array(
    fc.record({
      after: fc.oneof(fc.nat(20), fc.nat(pace.gap * 2), fc.nat(pace.interval)),
      what: fc.oneof({ weight: 3, arbitrary: fc.constant("Changed" as const) }, fc.constant("Lost" as const))
    }),
    { maxLength: 30 }
  ),
  writes: fc.array(fc.record({ takes: fc.nat(5000), well: fc.boolean() }), { maxLength: 8 })
})

interface Write {
  readonly began: number
  readonly over: number
  readonly ended: "Wrote" | "Failed"
}

/** What happens: whoever writes looks at nothing but when the next write is due. */
const played = ({ deeds, writes: outcomes }: Story) => {
  let [state, now, under]: [Keeping, number, Write | undefined] = [unchanged, 0, undefined]
  const writes: Write[] = []
  const times: { readonly Changed: number[]; readonly Lost: number[] } = { Changed: [], Lost: [] }
  let at = 0
  const left = deeds.map(({ after, what }) => ({ at: (at += after), what }))
  for (;;) {
    const next = left[0]?.at ?? Number.POSITIVE_INFINITY
    const ends: number = under?.over ?? Number.POSITIVE_INFINITY
    const begins =
      under === undefined ? Math.max(now, due(state, pace) ?? Number.POSITIVE_INFINITY) : Infinity
    now = Math.min(next, ends, begins)
    if (now === Number.POSITIVE_INFINITY) break
    if (now === next) {
      const what = left.shift()?.what ?? "Lost"
      times[what].push(now)
      state = keeping(state, { _tag: what }, now)
    } else if (now === ends && under !== undefined) {
      state = keeping(state, { _tag: under.ended }, now)
      under = undefined
    } else {
      const { takes, well } = outcomes[writes.length] ?? { takes: 0, well: true }
      under = { began: now, over: now + takes, ended: well ? "Wrote" : "Failed" }
      writes.push(under)
      state = keeping(state, { _tag: "Began" }, now)
    }
  }
  const failures = writes.filter(({ ended }) => ended === "Failed").map(({ over }) => over + pace.retry)
  return { writes, changes: times.Changed, losses: times.Lost, state, over: Math.max(0, ...failures) }
}
