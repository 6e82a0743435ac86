/**
 * A queue of keys: one pass per key at a time, many keys at once, and a key that is due while it runs runs once more.
 *
 * Guarantees: no wake-up is lost (whether a key is due again is asked and answered in one step); of several times asked
 * for, the earliest counts. Assumes that a pass doesn't fail: a defect ends the queue, and with it the process.
 * Does not retry, nor bound how many keys run: writes are bounded where they are sent.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { steady } from "./steady.ts"

export interface Queue {
  /** runs a pass for the key as soon as none is running */
  readonly now: (key: string) => Effect.Effect<void>
  /** the same at a time, in milliseconds as `steady` counts them */
  readonly at: (key: string, time: number) => Effect.Effect<void>
  /** never returns; dies where a pass died */
  readonly run: Effect.Effect<never>
}

/** Timers of more than 24 days never ring; one that rings early is set again. */
const LONGEST_MS = 86_400_000

interface Timer {
  readonly time: number
  readonly fiber: Fiber.RuntimeFiber<void>
}

/** A queue over a pass, which may give the time at which its key wants to be looked at again. */
export const queue = <R>(
  pass: (key: string) => Effect.Effect<number | undefined, never, R>
): Effect.Effect<Queue, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const fibers = yield* FiberSet.make<void, never>()
    const fork = yield* FiberSet.runtime(fibers)<R>()
    const due = new Set<string>()
    const running = new Set<string>()
    const timers = new Map<string, Timer>()

    const once = (key: string): Effect.Effect<void, never, R> =>
      Effect.suspend(() => (due.delete(key), pass(key))).pipe(
        Effect.flatMap((time) => (time === undefined ? Effect.void : at(key, time)))
      )
    const again = (key: string): boolean => due.has(key) || (running.delete(key), false)
    const now = (key: string): void => {
      due.add(key)
      if (running.has(key)) return
      running.add(key)
      fork(Effect.repeat(once(key), { while: () => again(key) }).pipe(Effect.asVoid))
    }
    const ring = (key: string, time: number) =>
      Effect.suspend(() => {
        if (timers.get(key)?.time === time) timers.delete(key)
        now(key)
        return Effect.void
      })
    const at = (key: string, time: number): Effect.Effect<void> =>
      Effect.flatMap(steady, (present) => {
        const set = timers.get(key)
        if (set !== undefined && set.time <= time) return Effect.void
        const fiber = fork(Effect.delay(ring(key, time), Math.min(Math.max(0, time - present), LONGEST_MS)))
        timers.set(key, { time, fiber })
        return set === undefined ? Effect.void : Fiber.interruptFork(set.fiber)
      })
    return {
      now: (key) => Effect.sync(() => now(key)),
      at,
      run: Effect.zipRight(FiberSet.join(fibers), Effect.never)
    }
  })
