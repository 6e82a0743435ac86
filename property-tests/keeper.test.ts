/** Whoever writes snapshots, on a clock that the test moves and a disk in memory. */
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { describe, expect } from "vitest"
import { keeper } from "../src/shell/keeper.ts"
import { type Part, read } from "../src/shell/keep.ts"
import { effect, until } from "./effect.ts"
import { FakeDisk } from "./fake-disk.ts"

describe("keeper", () => {
  effect(
    "P10 writes soon after the first change, then once an interval, and at once when upstream is lost",
    () =>
      Effect.gen(function* () {
        const { on, kept, set, told } = yield* started
        set("one")
        kept.changed()
        yield* TestClock.adjust("9 seconds")
        expect(yield* told).toBeUndefined()
        yield* TestClock.adjust("1 second")
        yield* writes(on, 1)
        set("two")
        kept.changed()
        yield* TestClock.adjust("299 seconds")
        expect(yield* told).toBe("one")
        yield* TestClock.adjust("1 second")
        yield* writes(on, 2)
        set("three")
        kept.changed()
        yield* TestClock.adjust("20 seconds")
        expect(yield* told).toBe("two")
        kept.lost()
        yield* writes(on, 3)
        expect(yield* told).toBe("three")
        kept.lost()
        yield* TestClock.adjust("1 hour")
        expect(creations(on)).toBe(3)
      })
  )

  effect("P10 writes a last time when it ends, if something has changed", () =>
    Effect.gen(function* () {
      const on = new FakeDisk()
      for (const word of ["one", "one", "two"]) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { kept, set } = yield* startedOn(on)
            set(word)
            if (word !== (yield* wordOn(on))) kept.changed()
          })
        )
      }
      expect([yield* wordOn(on), creations(on)]).toEqual(["two", 2])
    })
  )

  effect("writes nothing before all is known, neither when it is due nor when it ends", () =>
    Effect.gen(function* () {
      const on = new FakeDisk()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { kept } = yield* startedOn(on)
          kept.changed()
          kept.lost()
          yield* TestClock.adjust("1 minute")
        })
      )
      expect(on.calls).toBe(0)
    })
  )

  effect("writes as soon as all is known", () =>
    Effect.gen(function* () {
      const { on, kept, set, told } = yield* started
      kept.changed()
      yield* TestClock.adjust("1 minute")
      expect(on.calls).toBe(0)
      set("one")
      yield* TestClock.adjust("10 seconds")
      yield* writes(on, 1)
      expect(yield* told).toBe("one")
    })
  )

  effect("says once that it can't write, goes on trying, and says that it can again", () =>
    Effect.gen(function* () {
      const lines: string[] = []
      const log = Logger.make(({ message }) => void lines.push(String(message)))
      yield* Effect.gen(function* () {
        const { on, kept, set, told } = yield* started
        on.room = 10
        set("one")
        kept.changed()
        yield* TestClock.adjust("10 seconds")
        yield* writes(on, 1)
        for (let n = 2; n <= 4; n += 1) {
          yield* TestClock.adjust("29 seconds")
          expect(creations(on)).toBe(n - 1)
          yield* TestClock.adjust("1 second")
          yield* writes(on, n)
        }
        expect(lines).toEqual([expect.stringMatching(/can't be written: ENOSPC/)])
        on.room = 10_000
        yield* TestClock.adjust("30 seconds")
        yield* until("the line that it is written again", () => lines.length === 2)
        expect(lines[1]).toMatch(/is written again/)
        expect(yield* told).toBe("one")
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, log)))
    })
  )
})

const startedOn = (on: FakeDisk) =>
  Effect.gen(function* () {
    let known: readonly Part[] | undefined
    const kept = yield* keeper({
      disk: on,
      folder: "/kept",
      node: "n1",
      pace: { interval: 300_000, gap: 10_000, retry: 30_000 },
      parts: () => known
    })
    const set = (word: string): void => {
      known = [{ kind: "Service", revision: "1", objects: [Buffer.from(word)] }]
    }
    return { on, kept, set, told: wordOn(on) }
  })

const started = Effect.suspend(() => startedOn(new FakeDisk()))

/** What was written last. */
const wordOn = (on: FakeDisk) =>
  Effect.map(read(on, "/kept", "n1"), (kept) => {
    const object = Option.getOrUndefined(kept)?.parts[0]?.objects[0]
    return object && Buffer.from(object).toString()
  })

const creations = (on: FakeDisk): number => on.log.filter((each) => each.startsWith("create")).length

/** Waits until so many writes have come to an end, well or not. */
const writes = (on: FakeDisk, count: number) =>
  until(`write ${count}`, () => {
    const last = on.log.at(-1) ?? ""
    return creations(on) === count && /^(sync names|remove|names|read)/.test(last)
  })
