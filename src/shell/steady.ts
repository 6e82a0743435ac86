/**
 * Time that only goes forward, for waits and ages: the wall clock of an edge machine jumps when it is set.
 */
import * as Effect from "effect/Effect"

/** Milliseconds since some moment before the process began. No moment of the day: only differences mean anything. */
export const steady: Effect.Effect<number> = Effect.clockWith((clock) =>
  Effect.succeed(Number(clock.unsafeCurrentTimeNanos() / 1_000_000n))
)
