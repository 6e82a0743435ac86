/**
 * Whoever keeps the hosts file as it should be, and says how that goes.
 *
 * *Guarantees*: a change is in the file within a fifth of a second, where it can be written; a write that fails is counted, told once, and
 * tried again within ten seconds, for ever; an edit of our block by someone else is mended within a minute. Ready once the file was written.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import type { Name } from "../core/names.ts"
import { reconnect } from "../core/retry.ts"
import { Readiness } from "./health.ts"
import { type Outcome, writeHosts } from "./hosts-file.ts"
import { why } from "./why.ts"

export interface HostsKeeper {
  /** The names are others now. */
  readonly changed: () => void
  readonly keep: Effect.Effect<never>
}

/** What comes within this time is written together. CoreDNS tells two files apart by their times: they must not be closer than a clock's tick. */
const GATHER = "100 millis"
/** Someone else may edit the file. */
const LOOK = "1 minute"
const MOST_MS = 10_000

const failures = Metric.counter("servicegroup_hosts_failures_total", {
  description: "writes of the hosts file that failed",
  incremental: true
})
const count = Metric.gauge("servicegroup_hosts_names", { description: "names in the hosts file" })

/** Keeps the names in the file at the path; undefined: they are not known. */
export const hostsKeeper = (
  path: string,
  names: () => readonly Name[] | undefined
): Effect.Effect<HostsKeeper, never, Readiness> =>
  Effect.gen(function* () {
    const readiness = yield* Readiness
    const bell = yield* Effect.makeLatch(false)
    let attempt = 0
    let toldInPlace = false

    const succeeded = (outcome: Outcome, all: number) =>
      Effect.gen(function* () {
        if (attempt > 0) yield* Effect.logInfo(`${path} is written again`)
        attempt = 0
        yield* Metric.set(count, all)
        yield* readiness.ready(path)
        if (outcome !== "InPlace" || toldInPlace) return
        toldInPlace = true
        yield* Effect.logWarning(
          `${path} is written in place, since it is a mount of its own or its folder takes no files: who reads meanwhile may see a part of it; mount its folder instead`
        )
      })

    const failed = (message: string) =>
      Effect.gen(function* () {
        const words = `${path} can't be written: ${message}`
        yield* Metric.increment(failures)
        yield* readiness.waiting(path, words)
        if (attempt === 0) yield* Effect.logWarning(`${words}; what is in it stays, and it is tried again`)
        const failure = { reason: "Unavailable", code: 0, message } as const
        yield* Effect.sleep(Math.min(reconnect(failure, attempt++, yield* Random.next), MOST_MS))
        bell.unsafeOpen()
      })

    const round = Effect.suspend(() => {
      bell.unsafeClose()
      const all = names()
      if (all === undefined) return Effect.void
      // Not halfway even where it is written in place.
      const written = Effect.uninterruptible(Effect.tryPromise(() => writeHosts(path, all)))
      return Effect.matchEffect(written, {
        onSuccess: (outcome) => succeeded(outcome, all.length),
        onFailure: ({ error }) => failed(why(error))
      })
    })
    const due = Effect.raceFirst(Effect.zipRight(bell.await, Effect.sleep(GATHER)), Effect.sleep(LOOK))

    yield* readiness.waiting(path, "it was not written yet")
    return {
      changed: () => bell.unsafeOpen(),
      keep: Effect.forever(Effect.zipRight(round, due))
    }
  })
