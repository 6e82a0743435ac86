/**
 * When the status of an object is looked at and written: once a burst is over, not too often, and not for ever against someone who alters it.
 *
 * All times in milliseconds, as `steady` counts them. Nothing here sends anything.
 */
import type { Failure } from "../core/retry.ts"
import { delay } from "../core/retry.ts"
import { earliest } from "../core/instant.ts"

/** How long a burst of changes is gathered before its status is looked at. */
export const GATHER_MS = 200
/** The least time between two writes of one status. */
export const EVERY_MS = 1000
/** A status that the server calls invalid is tried again after this. */
const INVALID_MS = 60_000
/** A status that someone alters on its way in is written again after this. */
const AGAIN_MS = 300_000

export class Pace {
  /** when the burst began that is being gathered */
  #since: number | undefined
  /** when it is over */
  #due: number | undefined
  /** not to be written before, since the server said no */
  #notBefore = 0
  #writtenAt = Number.NEGATIVE_INFINITY
  /** digest of the status that was written last */
  #written = ""
  #failures = 0
  /** when a status that someone alters is written again */
  #again: number | undefined

  /** Whether the status is to be looked at now; makes it due soon where this is the first change of a burst. `every`: between two writes. */
  isDue(now: number, every: number): boolean {
    if (this.#again !== undefined && this.#again <= now) this.#again = undefined
    this.#since ??= now
    this.#due = Math.max(this.#since + GATHER_MS, this.#writtenAt + every, this.#notBefore)
    if (this.#due > now) return false
    this.rest()
    return true
  }

  /** Nothing is to be looked at. */
  rest(): void {
    this.#since = undefined
    this.#due = undefined
    this.#again = undefined
  }

  /** Whether to write a status of this digest, where one of the digest `seen` stands. */
  wants(digest: string, seen: string, now: number): boolean {
    const differs = digest !== seen
    const altered = digest === this.#written && now - this.#writtenAt < AGAIN_MS
    this.#again = differs && altered ? this.#writtenAt + AGAIN_MS : undefined
    return differs && !altered
  }

  wrote(digest: string, now: number): void {
    this.#failures = 0
    this.#writtenAt = now
    this.#written = digest
  }

  /** `jitter` is in [0, 1). */
  failed(failure: Failure, now: number, jitter: number): void {
    const wait = delay(failure, this.#failures++, jitter)
    // It may have been written nevertheless: then what was written before says nothing any more.
    this.#written = ""
    // What the server calls invalid may be well with what is told next: an edit must not wait for minutes.
    const most = failure.reason === "Invalid" ? INVALID_MS : wait
    this.#notBefore = now + Math.max(EVERY_MS, Math.min(wait, most))
    this.#since = now
    this.#due = this.#notBefore
  }

  /** When it wants to be looked at next, if ever. */
  get next(): number | undefined {
    return earliest([this.#due, this.#again])
  }
}
