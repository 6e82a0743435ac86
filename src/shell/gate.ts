/**
 * Lets so many effects run at a time; the others wait their turn.
 *
 * *Guarantees*: first come, first served; a place is handed to the one that waits longest, so that who leaves wakes exactly one;
 * whoever is interrupted, waiting or inside, gives back its place.
 */
import * as Effect from "effect/Effect"

/** Runs an effect as soon as there is a place for it. */
export type Gate = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Guest {
  state: "waiting" | "inside" | "gone"
  wake: () => void
}

/**
 * A gate with so many places. Not a semaphore of Effect: that wakes all that wait, and each that finds no place goes back deeper on its
 * stack; with some hundred waiting, this costs more than the requests.
 */
export const gate = (places: number): Gate => {
  let free = places
  const waiting = new Set<Guest>()
  const come = (): Guest => {
    const guest: Guest = { state: free > 0 ? "inside" : "waiting", wake: () => undefined }
    if (free > 0) free--
    else waiting.add(guest)
    return guest
  }
  const leave = (guest: Guest): void => {
    const { state } = guest
    guest.state = "gone"
    waiting.delete(guest)
    if (state !== "inside") return
    const [next] = waiting
    if (next === undefined) return void free++
    waiting.delete(next)
    next.state = "inside"
    next.wake()
  }
  const turn = (guest: Guest): Effect.Effect<void> =>
    Effect.async((resume) => {
      guest.wake = () => resume(Effect.void)
      if (guest.state === "inside") guest.wake()
    })
  return (effect) =>
    Effect.uninterruptibleMask((interruptible) => {
      const guest = come()
      const run = interruptible(effect)
      const inTurn = guest.state === "inside" ? run : Effect.zipRight(interruptible(turn(guest)), run)
      return Effect.matchCauseEffect(inTurn, {
        onFailure: (cause) => {
          leave(guest)
          return Effect.failCause(cause)
        },
        onSuccess: (given) => {
          leave(guest)
          return Effect.succeed(given)
        }
      })
    })
}
