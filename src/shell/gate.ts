/**
 * Lets so many effects run at a time; the others wait their turn.
 *
 * Guarantees: first come, first served; a place is handed to the one that waits longest, so that a leaving effect wakes exactly one;
 * whoever is interrupted, waiting or inside, gives up its place. (A semaphore of Effect wakes all that wait, and each that finds no place
 * goes back deeper on its stack: with some hundred waiting, that costs more than the requests.)
 */
import * as Effect from "effect/Effect"

/** Runs an effect as soon as there is a place for it. */
export type Gate = <A, E, R>(inside: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Guest {
  state: "coming" | "inside" | "gone"
  enter: () => void
}

/** A gate with so many places. */
export const gate = (places: number): Gate => {
  let free = places
  const waiting = new Set<Guest>()
  const admit = (guest: Guest): void => {
    guest.state = "inside"
    guest.enter()
  }
  const come = (guest: Guest): Effect.Effect<void> =>
    Effect.async((resume) => {
      guest.enter = () => resume(Effect.void)
      if (free === 0) return void waiting.add(guest)
      free--
      admit(guest)
    })
  const leave = (guest: Guest): void => {
    const { state } = guest
    guest.state = "gone"
    waiting.delete(guest)
    if (state !== "inside") return
    const [next] = waiting
    if (next === undefined) return void free++
    waiting.delete(next)
    admit(next)
  }
  return (inside) =>
    Effect.suspend(() => {
      const guest: Guest = { state: "coming", enter: () => undefined }
      return Effect.ensuring(
        Effect.zipRight(come(guest), inside),
        Effect.sync(() => leave(guest))
      )
    })
}
