/**
 * Many effects, some at a time.
 */
import * as Effect from "effect/Effect"

/**
 * Runs an effect for each item, `atOnce` at a time. Holds no more than that many fibers, whatever the number of items (Effect.forEach keeps
 * one for each until the last has ended, with what it gave).
 */
export const each = <A, E, R>(
  items: Iterable<A>,
  atOnce: number,
  run: (item: A) => Effect.Effect<void, E, R>
): Effect.Effect<void, E, R> =>
  Effect.suspend(() => {
    const rest = items[Symbol.iterator]()
    const worker = Effect.gen(function* () {
      for (let next = rest.next(); next.done !== true; next = rest.next()) yield* run(next.value)
    })
    return Effect.all(
      Array.from({ length: atOnce }, () => worker),
      { concurrency: "unbounded", discard: true }
    )
  })
