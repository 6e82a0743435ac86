/**
 * Writes the snapshot whenever it is due.
 *
 * *Guarantees*: one write at a time; what fails is told once, and so is that it works again; the last write happens when the scope ends, if there is something
 * to write. *Does not*: decide when (core/keeping.ts), or write before all is known that belongs into a snapshot.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { due, keeping, type Occasion, type Pace, unchanged, unwritten } from "../core/keeping.ts"
import type { Disk } from "./disk.ts"
import { type Part, write } from "./keep.ts"

export interface Keeper {
  /** What would be written is another now. */
  readonly changed: () => void
  /** Upstream doesn't answer any more: to be said once for each time that it is lost. */
  readonly lost: () => void
}

export interface Kept {
  readonly disk: Disk
  readonly folder: string
  readonly node: string
  readonly pace: Pace
  /** what is known; undefined: not all that belongs into a snapshot */
  readonly parts: () => readonly Part[] | undefined
}

/** Seconds that the last write may take: a disk that hangs must not hold up the stop. */
const LAST_S = 10

/** Writes until the scope ends. */
export const keeper = ({
  disk,
  folder,
  node,
  pace,
  parts
}: Kept): Effect.Effect<Keeper, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const bell = yield* Effect.makeLatch(false)
    const now = (): number => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n)
    let state = unchanged
    let troubled = false
    const happened = (occasion: Occasion): void => {
      state = keeping(state, occasion, now())
    }

    const attempt = Effect.gen(function* () {
      const known = parts()
      if (known === undefined) return yield* Effect.sleep(pace.gap)
      happened({ _tag: "Began" })
      const at = new Date(yield* Clock.currentTimeMillis).toISOString()
      const ended = yield* Effect.either(write(disk, folder, { node, at, parts: known }))
      happened({ _tag: ended._tag === "Right" ? "Wrote" : "Failed" })
      if (ended._tag === "Right") {
        if (troubled) yield* Effect.logInfo(`the snapshot in ${folder} is written again`)
      } else if (!troubled) {
        const { message } = ended.left
        yield* Effect.logWarning(
          `the snapshot in ${folder} can't be written: ${message}; what was written before stays`
        )
      }
      troubled = ended._tag === "Left"
    })
    const round = Effect.suspend(() => {
      const when = due(state, pace)
      bell.unsafeClose()
      if (when === undefined) return bell.await
      const wait = when - now()
      return wait <= 0 ? attempt : Effect.race(Effect.sleep(wait), bell.await)
    })

    // Before the fork: what ends with it comes first, a write that is under way too.
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() =>
        unwritten(state) && parts() !== undefined
          ? Effect.ignore(Effect.timeout(Effect.interruptible(attempt), `${LAST_S} seconds`))
          : Effect.void
      )
    )
    yield* Effect.forkScoped(Effect.forever(round))
    return {
      changed: () => {
        if (state.changed !== undefined) return
        happened({ _tag: "Changed" })
        bell.unsafeOpen()
      },
      lost: () => {
        happened({ _tag: "Lost" })
        bell.unsafeOpen()
      }
    }
  })
