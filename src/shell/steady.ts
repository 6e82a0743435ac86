/**
 * Time that only goes forward, for waits and ages: the wall clock of an edge machine jumps when it is set.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Milliseconds since some moment before the process began. No moment of the day: only differences mean anything. */
export const steady: Effect.Effect<number> = Effect.clockWith((clock) => Effect.succeed(steadily(clock)))

/** The same, for who has the clock and is in no effect. */
export const steadily = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n)
