/**
 * Lets so many be inside at a time; the others wait their turn.
 *
 * Guarantees: first come, first served; a place is handed to the one that waits longest, so that who leaves wakes exactly one;
 * whoever gives up, waiting or inside, gives back its place, and nobody does twice. (A semaphore of Effect wakes all that wait, and each that
 * finds no place goes back deeper on its stack: with some hundred waiting, that costs more than the requests.)
 */
import * as Effect from "effect/Effect"

/** Calls `enter` when there is a place, at once or later; what it is given, and what is returned, gives up the place or the wait for it. */
export type Gate = (enter: (leave: () => void) => void) => () => void

/** A gate with so many places. */
export const gate = (places: number): Gate => {
  let free = places
  const waiting = new Set<() => void>()
  return (enter) => {
    let state: "coming" | "inside" | "gone" = "coming"
    const come = (): void => {
      state = "inside"
      enter(leave)
    }
    const leave = (): void => {
      const was = state
      state = "gone"
      waiting.delete(come)
      if (was !== "inside") return
      const [next] = waiting
      if (next === undefined) return void free++
      waiting.delete(next)
      next()
    }
    if (free === 0) {
      waiting.add(come)
    } else {
      free--
      come()
    }
    return leave
  }
}

/** Runs an effect as soon as there is a place for it. */
export type Inside = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** What runs effects inside a gate. */
export const inside =
  (through: Gate): Inside =>
  (effect) =>
    Effect.uninterruptibleMask((interruptible) => {
      let entered = false
      let wake = (): void => undefined
      const leave = through(() => {
        entered = true
        wake()
      })
      const turn = Effect.async<void>((resume) => {
        wake = () => resume(Effect.void)
        if (entered) wake()
      })
      const run = interruptible(effect)
      return Effect.matchCauseEffect(entered ? run : Effect.zipRight(interruptible(turn), run), {
        onFailure: (cause) => {
          leave()
          return Effect.failCause(cause)
        },
        onSuccess: (given) => {
          leave()
          return Effect.succeed(given)
        }
      })
    })
