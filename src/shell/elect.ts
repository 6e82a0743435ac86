/**
 * One of several replicas works, the others stand by: a Lease says which.
 *
 * Guarantees: the work runs only while the Lease is ours, and is interrupted 5 s before another may take it; whoever is stopped in good
 * order lets the Lease go, so that the next one begins at its next look. Standing by costs a request in less than 2 s, leading one every 2 s.
 * Assumes that clocks run equally fast, that nobody else writes the Lease, and that the work ends at once when it is interrupted. Where
 * that fails, two work at once for a while: the controller's writes then still find the child that they are meant for, by uid, or
 * nothing; an older template may come back for the moment that it takes to be set right.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { MANAGER } from "../core/child.ts"
import { DEADLINE_MS, type Known, known, mayTake, released, RETRY_MS, taken } from "../core/lease.ts"
import { Api, ApiError } from "./api.ts"
import { Readiness } from "./health.ts"
import { LEASE } from "./kinds.ts"
import { steady } from "./steady.ts"

export interface Election {
  readonly namespace: string
  readonly name: string
  /** of this replica, unlike all others */
  readonly identity: string
}

/** A candidate's part: what it knows, and when it last had the Lease in hand for certain. */
class Candidate {
  readonly #of: Election
  #known: Known | undefined
  /** when the last successful request for the Lease began */
  #held = Number.NEGATIVE_INFINITY

  constructor(of: Election) {
    this.#of = of
  }

  get holder(): string {
    return this.#known?.holder ?? ""
  }

  /** Looks at the Lease and takes or renews it where that is allowed; whether it is ours now. */
  attempt(): Effect.Effect<boolean, ApiError, Api> {
    return Effect.gen(this, function* () {
      const began = yield* steady
      const seen = this.holder === this.#of.identity ? this.#known : yield* this.#look()
      if (seen === undefined || !mayTake(this.#of.identity, seen, yield* steady)) return false
      const answer = yield* Effect.either(this.#write(seen, (lease) => lease))
      if (answer._tag === "Left") {
        // Somebody was quicker, or we don't know: the next attempt begins with a look.
        this.#known = yield* this.#look()
        return false
      }
      this.#known = known(undefined, answer.right, yield* steady)
      this.#held = began
      return true
    })
  }

  #look(): Effect.Effect<Known, ApiError, Api> {
    const { namespace, name } = this.#of
    return Effect.gen(this, function* () {
      const api = yield* Api
      const raw = yield* api.get(LEASE, namespace, name).pipe(
        Effect.catchIf(
          ({ reason }) => reason === "NotFound",
          () => Effect.succeed(undefined)
        )
      )
      return (this.#known = known(this.#known, raw, yield* steady))
    })
  }

  #write(
    seen: Known,
    as: (lease: ReturnType<typeof taken>) => ReturnType<typeof taken>
  ): Effect.Effect<unknown, ApiError, Api> {
    const { namespace, name, identity } = this.#of
    return Effect.gen(function* () {
      const api = yield* Api
      const lease = taken(identity, { namespace, name }, seen, yield* Clock.currentTimeMillis)
      return yield* api.apply(LEASE, as(lease), { manager: MANAGER, force: true })
    })
  }

  /** Milliseconds for which the Lease may still be thought ours. */
  left(now: number): number {
    return this.#held + DEADLINE_MS - now
  }

  /** Ends when the Lease could not be renewed for too long, or is another's. */
  get kept(): Effect.Effect<void, never, Api> {
    return Effect.gen(this, function* () {
      for (;;) {
        yield* Effect.sleep(Math.max(0, Math.min(RETRY_MS, this.left(yield* steady))))
        const left = this.left(yield* steady)
        if (left <= 0) return
        const ours = yield* this.attempt().pipe(
          // A connection that hangs leaves time for a second one.
          Effect.timeout(Math.min(left, DEADLINE_MS / 2)),
          Effect.orElseSucceed(() => false)
        )
        if (!ours && this.holder !== this.#of.identity && this.holder !== "") return
      }
    })
  }

  /** Lets the Lease go, where it is ours; within a second or not at all. */
  get release(): Effect.Effect<void, never, Api> {
    return this.#letGo.pipe(
      // What was interrupted in the middle of a renewal knows an older revision than there is.
      Effect.catchAll(() => Effect.zipRight(this.#look(), this.#letGo)),
      // A finalizer is uninterruptible, but what has its time must be.
      Effect.interruptible,
      Effect.timeout("1 second"),
      Effect.ignore
    )
  }

  get #letGo(): Effect.Effect<unknown, ApiError, Api> {
    return Effect.suspend(() =>
      this.#known === undefined || this.holder !== this.#of.identity
        ? Effect.void
        : this.#write(this.#known, released)
    )
  }
}

const unanswered = new ApiError({
  reason: "Unavailable",
  code: 0,
  message: `no answer within ${DEADLINE_MS / 2000} s`,
  request: "lease"
})

/** Whether the Lease may still be thought ours, at a time in milliseconds as `steady` counts them. */
export type StillOurs = (now: number) => boolean

/**
 * Runs the work while the Lease is ours, again and again: it is interrupted when the Lease is lost. A process that slept hears what was said
 * meanwhile before its timers ring, so the work has to ask before each write. Failures of the API are told (log, and
 * readiness as `lease namespace/name`, which a standby is ready by) and ridden out; a defect of the work ends it.
 */
export const whileLeading = <R>(
  election: Election,
  work: (still: StillOurs) => Effect.Effect<never, never, R>
): Effect.Effect<never, never, R | Api | Readiness> =>
  Effect.gen(function* () {
    const { identity, namespace, name } = election
    const readiness = yield* Readiness
    const lease = `lease ${namespace}/${name}`
    const candidate = new Candidate(election)
    let told: string | undefined
    const tell = (text: string, error?: ApiError) =>
      Effect.suspend(() => {
        if (told === text) return Effect.void
        told = text
        const log = error === undefined ? Effect.logInfo(text) : Effect.logWarning(text)
        return Effect.annotateLogs(log, { lease: `${namespace}/${name}`, identity })
      })
    const look = candidate.attempt().pipe(
      Effect.timeoutFail({
        duration: DEADLINE_MS / 2,
        onTimeout: () => unanswered
      }),
      Effect.tap((ours) =>
        ours ? tell("leading") : tell(`standing by: ${candidate.holder || "nobody"} leads`)
      ),
      Effect.tap(() => readiness.ready(lease)),
      Effect.catchAll((error) =>
        Effect.as(Effect.zipRight(tell(error.message, error), readiness.waiting(lease, error.message)), false)
      )
    )
    // Less than the 2 s in which a Lease that was let go is to be taken.
    const pause = Effect.flatMap(Random.next, (jitter) => Effect.sleep(RETRY_MS * (0.7 + 0.2 * jitter)))
    const worked = work((now) => candidate.left(now) > 0)
    const lead = Effect.zipRight(Effect.raceFirst(worked, candidate.kept), tell("no longer leading"))
    const turn = Effect.flatMap(look, (ours) =>
      ours ? Effect.zipRight(Effect.ensuring(lead, candidate.release), pause) : pause
    )
    return yield* Effect.ensuring(Effect.forever(turn), candidate.release)
  })
