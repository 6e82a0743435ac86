/**
 * One kind, listed and then watched for ever, as inputs of the store.
 *
 * *Guarantees*: never ends and never fails. A list is delivered whole or not at all, and never one that is older
 * than what was seen; a refusal (403, 404) is no list. The watch resumes where it stopped; 410 anywhere, or a refusal
 * of the watch, leads to a new list, and so does the relist interval, in case that an event was lost. A watch that
 * says nothing for three minutes is opened again. An object that can't be read is reported once for each revision, stays as
 * it was seen last, and holds nothing up. Inputs come in order, those that came in together at once; inputs that are being
 * taken in are never interrupted. When its fiber is interrupted, the watch upstream ends.
 * *Assumes*: the server sends bookmarks about once a minute, the first one of a watch within two (kube-apiserver 1.37).
 * *Does not*: keep objects; decide about retries (core/retry.ts does).
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import { type Failure, patience, reconnect } from "../core/retry.ts"
import { type Input, olderRevision, type Stored } from "../core/store.ts"
import { Api, type ApiService, type FormName, type Kind, type ListOptions, type WatchOptions } from "./api.ts"
import { type Decoding, Decoder, unchanged } from "./decode.ts"
import { Readiness, type ReadinessService } from "./health.ts"
import { series } from "./series.ts"
import { steadily, steady } from "./steady.ts"
import { isMalformed, revisionReached, type WatchLine } from "./wire.ts"

export interface Reflection<A extends Stored> extends Decoding<A> {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** without it: all of them */
  readonly namespace?: string
  /** how `reduce` is given objects; without it: parsed */
  readonly form?: FormName
  /** its name in logs, metrics and readiness; without it: the kind's */
  readonly as?: string
  /** items a page of a list; without it: 100 */
  readonly page?: number
  /** seconds; the next list comes after four fifths of it to all of it */
  readonly relistSeconds: number
  /** told once when lists and watches begin to fail */
  readonly onTrouble?: () => void
  /** undefined: they are taken in already */
  readonly onInputs: (inputs: readonly Input<A>[]) => Effect.Effect<void> | undefined
}

const pageSize = 100
/** Milliseconds after which a relist that failed is tried again; the relist interval, where that is shorter. */
const RELIST_AGAIN_MS = 30_000
/** Milliseconds without a line after which a watch is opened again. */
const SILENCE_MS = 180_000
/** Milliseconds after which a watch has shown that all is well, and failures are counted anew. */
const proven = 30_000

const failures = series(
  "servicegroup_reflector_failures_total",
  "lists and watches that failed, by kind and reason",
  ["kind", "reason"]
)
const lists = series("servicegroup_reflector_lists_total", "complete lists that were taken in, by kind", [
  "kind"
])
const up = Metric.gauge("servicegroup_reflector_up", {
  description: "1 while the last list or watch of a kind went well, else 0"
})

/** Lists and watches one kind until it is interrupted, and tells Readiness how that goes. */
export const reflect = <A extends Stored>(of: Reflection<A>): Effect.Effect<never, never, Api | Readiness> =>
  Effect.gen(function* () {
    const name = of.as ?? nameOf(of.kind)
    const reflector = new Reflector(of, name, yield* Api, yield* Readiness)
    return yield* reflector.run.pipe(Effect.annotateLogs("kind", name))
  })

/** The state of one reflector: how far it got. Only its own fiber touches it. */
class Reflector<A extends Stored> {
  /** the newest revision that was seen, in a list, an event or a bookmark */
  #last: string | undefined
  #listAt = Number.NEGATIVE_INFINITY
  /** whether events may be gone, so that only a list tells what there is */
  #lost = true
  /** when the watch said something last, by the steady clock */
  #heardAt = 0
  /** failures in a row */
  #attempt = 0
  /** the trouble that was told last */
  #told: string | undefined
  readonly #of: Reflection<A>
  readonly #decoder: Decoder<A>
  readonly #name: string
  readonly #api: ApiService
  readonly #readiness: ReadinessService

  constructor(of: Reflection<A>, name: string, api: ApiService, readiness: ReadinessService) {
    this.#of = of
    this.#decoder = new Decoder(of)
    this.#name = name
    this.#api = api
    this.#readiness = readiness
  }

  get run(): Effect.Effect<never> {
    return Effect.zipRight(
      this.#readiness.waiting(this.#name, "the first list is not complete"),
      Effect.forever(Effect.suspend(() => this.#round()))
    ).pipe(
      Effect.ensuring(
        Effect.zipRight(
          this.#readiness.gone(this.#name),
          Metric.set(Metric.tagged(up, "kind", this.#name), 0)
        )
      )
    )
  }

  /** A list where one is due, then a watch to its end, then the pause that its end asks for. */
  #round(): Effect.Effect<void> {
    const once = Effect.gen(this, function* () {
      if ((yield* steady) >= this.#listAt) yield* this.#listed
      const opened = yield* steady
      const due = Effect.as(Effect.sleep(this.#listAt - opened), true)
      const watched = Effect.as(this.#watch(), false)
      const counted = Effect.map(steady, (now) => {
        if (now - opened >= proven) this.#attempt = 0
      })
      return yield* Effect.ensuring(Effect.raceFirst(watched, due), counted)
    })
    return Effect.matchEffect(once, {
      onSuccess: (relist) => (relist ? this.#forget : this.#pause(undefined)),
      onFailure: (failure) => Effect.zipRight(this.#failed(failure), this.#pause(failure))
    })
  }

  /** The next round begins with a list. Never left to a comparison of times: a clock may round. */
  get #forget(): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#listAt = Number.NEGATIVE_INFINITY
    })
  }

  /** A list; where it fails although the watch was well, the watch goes on, and the list is tried again later. */
  get #listed(): Effect.Effect<void, Failure> {
    return Effect.catchIf(
      this.#list(),
      (failure) => !this.#lost && resumable(failure),
      (failure) =>
        Effect.zipRight(
          this.#failed(failure),
          Effect.map(steady, (now) => {
            const soon = Math.min(RELIST_AGAIN_MS, this.#of.relistSeconds * 1000)
            this.#listAt = now + Math.max(soon, patience(failure))
          })
        )
    )
  }

  #pause(failure: Failure | undefined): Effect.Effect<void> {
    return Effect.flatMap(Random.next, (jitter) => Effect.sleep(reconnect(failure, this.#attempt++, jitter)))
  }

  #failed(failure: Failure): Effect.Effect<void> {
    // Where the server is out of reach or asks for patience, nothing is lost: the watch resumes. Anything else
    // may mean that events are gone.
    if (!resumable(failure)) {
      this.#lost = true
      this.#listAt = Number.NEGATIVE_INFINITY
    }
    const why = words(this.#of.kind, failure)
    const news = why !== this.#told
    if (this.#told === undefined) this.#of.onTrouble?.()
    this.#told = why
    failures(this.#name, failure.reason)
    return Effect.all(
      [
        Metric.set(Metric.tagged(up, "kind", this.#name), 0),
        this.#readiness.waiting(this.#name, why),
        Effect.when(Effect.logWarning(why), () => news)
      ],
      { discard: true }
    )
  }

  get #well(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const was = this.#told
      this.#told = undefined
      return Effect.all(
        [
          Metric.set(Metric.tagged(up, "kind", this.#name), 1),
          this.#readiness.ready(this.#name),
          Effect.when(Effect.logInfo("watching again"), () => was !== undefined)
        ],
        { discard: true }
      )
    })
  }

  #list(): Effect.Effect<void, Failure> {
    return Effect.gen(this, function* () {
      const { revision, items, unread } = yield* this.#whole()
      if (this.#last !== undefined && olderRevision(revision, this.#last)) {
        return yield* Effect.fail(staleList(revision, this.#last))
      }
      yield* this.#deliver([{ _tag: "Listed", revision, items, unread }], revision) ?? Effect.void
      const interval = this.#of.relistSeconds * 1000 * (0.8 + 0.2 * (yield* Random.next))
      this.#listAt = (yield* steady) + Math.round(interval)
      this.#lost = false
      lists(this.#name)
      yield* this.#well
    })
  }

  /** A list from its first page to its last. */
  #whole(): Effect.Effect<Listing<A>, Failure> {
    return Effect.gen(this, function* () {
      // A list in pages may take longer than the server remembers its revision: larger pages take less.
      const least = this.#of.page ?? pageSize
      for (const limit of [least, 5 * least, 20 * least]) {
        const listing = yield* this.#pages(limit)
        if (listing !== undefined) return listing
      }
      return yield* Effect.fail(forgotten)
    })
  }

  /** All pages of one list; undefined where the server forgot its revision halfway. */
  #pages(limit: number): Effect.Effect<Listing<A> | undefined, Failure> {
    return Effect.gen(this, function* () {
      const items: A[] = []
      const unread: string[] = []
      let page = yield* this.#api.list(this.#of.kind, { ...this.#where, limit })
      const { revision } = page
      for (;;) {
        for (const raw of page.items) {
          const read = this.#decoder.read(raw)
          if (!isMalformed(read)) items.push(read)
          else unread.push(...(yield* this.#decoder.report(raw, read.message)))
        }
        if (page.continue === undefined) return { revision, items, unread }
        const next = yield* this.#api
          .list(this.#of.kind, { ...this.#where, limit, continue: page.continue })
          .pipe(
            Effect.catchIf(
              ({ reason }) => reason === "Gone",
              () => Effect.succeed(undefined)
            )
          )
        if (next === undefined) return undefined
        page = next
      }
    })
  }

  #watch(): Effect.Effect<void, Failure> {
    return Effect.gen(this, function* () {
      const options: WatchOptions = {
        ...this.#where,
        revision: this.#last ?? "0",
        timeoutSeconds: yield* Random.nextIntBetween(300, 601),
        knows: (object) => unchanged(this.#of.known, object) !== undefined
      }
      const clock = yield* Effect.clock
      const watched = this.#api.watch(this.#of.kind, options, (lines) => {
        this.#heardAt = steadily(clock)
        return this.#absorb(lines)
      })
      this.#heardAt = steadily(clock)
      yield* Effect.raceFirst(watched, this.#silence)
    })
  }

  /** Fails when the watch has said nothing for too long. One fiber for the whole watch: a timeout of each line would cost more than the line. */
  get #silence(): Effect.Effect<never, Failure> {
    return Effect.gen(this, function* () {
      for (;;) {
        const left = this.#heardAt + SILENCE_MS - (yield* steady)
        if (left <= 0) return yield* Effect.fail(silent)
        yield* Effect.sleep(left)
      }
    })
  }

  /** Takes in what came together. */
  #absorb(lines: readonly WatchLine[]): Effect.Effect<void> | undefined {
    const inputs: Input<A>[] = []
    const unread: Effect.Effect<unknown>[] = []
    for (const line of lines) {
      const input = this.#decoder.input(line)
      if (!isMalformed(input)) {
        inputs.push(input)
        continue
      }
      unread.push(this.#decoder.report("object" in line ? line.object : undefined, input.message))
      const revision = revisionReached(line)
      if (revision !== undefined) inputs.push({ _tag: "Bookmark", revision })
    }
    const reached = inputs.reduce(newest, this.#last)
    const taken = reached === undefined || inputs.length === 0 ? undefined : this.#deliver(inputs, reached)
    // Most of the time there is nothing besides, and a second has hundreds of lines.
    if (unread.length === 0 && this.#told === undefined) return taken
    return Effect.all([...unread, taken ?? Effect.void, this.#well], { discard: true })
  }

  #deliver(inputs: readonly Input<A>[], reached: string): Effect.Effect<void> | undefined {
    const taken = this.#of.onInputs(inputs)
    if (taken !== undefined)
      return Effect.uninterruptible(
        Effect.map(taken, () => {
          this.#last = reached
        })
      )
    this.#last = reached
    return undefined
  }

  get #where(): Pick<ListOptions, "labelSelector" | "fieldSelector" | "namespace" | "form"> {
    const { labelSelector, fieldSelector, namespace, form } = this.#of
    return {
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
      ...(namespace !== undefined && { namespace }),
      ...(form !== undefined && { form })
    }
  }
}

interface Listing<A> {
  readonly revision: string
  readonly items: readonly A[]
  readonly unread: readonly string[]
}

/** The newer one of a revision and an input's. */
const newest = <A extends Stored>(reached: string | undefined, input: Input<A>): string => {
  const revision = "item" in input ? input.item.revision : input.revision
  return reached === undefined || olderRevision(reached, revision) ? revision : reached
}

/** Whether nothing is lost by a failure: a watch goes on where it was. */
const resumable = ({ reason }: Failure): boolean => reason === "Unavailable" || reason === "Slow"

/** `deploymentgrids.superedge.io`, `nodes` */
const nameOf = ({ plural, group }: Kind): string => (group === "" ? plural : `${plural}.${group}`)

/** The server lags behind what was seen before, for instance another one of several. */
const staleList = (listed: string, seen: string): Failure => ({
  reason: "Unavailable",
  code: 0,
  message: `a list at revision ${listed} is older than ${seen}, which was seen before; a cluster that was restored from a backup needs a restart of this process`
})

const silent: Failure = {
  reason: "Unavailable",
  code: 0,
  message: `the watch said nothing for ${SILENCE_MS / 1000} s, not even a bookmark`
}

const forgotten: Failure = { reason: "Gone", code: 410, message: "the list ended before its last page" }

/** Why there is no list or watch, in the words of a person. */
const words = ({ group }: Kind, { code, reason, message }: Failure): string => {
  if (code === 0) return message
  if (reason !== "NotFound") return `${code}, ${message}`
  return group.includes(".") && !group.endsWith(".k8s.io")
    ? `${code}, the CRD is not installed`
    : `${code}, the API server does not serve it`
}
