/**
 * How long to wait after the API server said no.
 *
 * One policy for all that is sent: short where a fresh look is likely to help, growing to half a minute where the
 * server or the network is in trouble, five minutes where only an edit can help. Waiting ends, trying never does.
 */

export type FailureReason =
  | "NotFound"
  | "Conflict"
  | "AlreadyExists"
  | "Gone"
  | "Invalid"
  | "Forbidden"
  | "Slow"
  | "Unavailable"
  | "Malformed"

/** One field that the server named, and what it said about it. */
export interface Cause {
  readonly field: string
  readonly message: string
}

/** What came back instead of an answer. */
export interface Failure {
  readonly reason: FailureReason
  /** the HTTP status; 0 where there was no answer at all */
  readonly code: number
  readonly message: string
  /** seconds that the server asks to wait */
  readonly retryAfter?: number
  readonly causes?: readonly Cause[]
}

interface Pace {
  /** milliseconds */
  readonly first: number
  readonly most: number
}

const look: Pace = { first: 100, most: 10_000 }
const wait: Pace = { first: 200, most: 30_000 }

const paces: { readonly [R in Exclude<FailureReason, "Invalid">]: Pace } = {
  NotFound: look,
  Conflict: look,
  AlreadyExists: look,
  Gone: look,
  Forbidden: { first: 1000, most: 30_000 },
  Slow: wait,
  Unavailable: wait,
  Malformed: wait
}

const minutes5 = 300_000

/** A server that asks for more than an hour is mistaken, and timers of more than 24 days never ring. */
const mostAsked = 3_600_000

/** Milliseconds for which the server asked to be left alone: up to an hour. */
export const patience = (failure: Failure | undefined): number => {
  const milliseconds = (failure?.retryAfter ?? 0) * 1000
  return milliseconds > 0 ? Math.min(milliseconds, mostAsked) : 0
}

const grown = (pace: Pace, attempt: number, jitter: number): number => {
  const full = Math.min(pace.first * 2 ** Math.min(attempt, 32), pace.most)
  return full * (0.5 + jitter / 2)
}

/**
 * Milliseconds until the same request is worth sending again.
 *
 * `attempt` counts the failures in a row before this one (0, 1, 2 ...); `jitter` is a random number in [0, 1) that
 * spreads the upper half of the wait. What the server asked for (`Retry-After`) is kept where it is longer, up to
 * an hour. An Invalid object waits five minutes whatever the attempt: who edits it, or sees that what was observed
 * changed, tries at once without asking here.
 */
export const delay = (failure: Failure, attempt: number, jitter: number): number =>
  Math.max(
    patience(failure),
    failure.reason === "Invalid" ? minutes5 : grown(paces[failure.reason], attempt, jitter)
  )

/**
 * Milliseconds until a list or a watch is opened again: as `delay`, but never more than 30 s on account of what
 * the failure is, since it costs one request and a kind may be installed, or allowed, at any time. No failure: the
 * watch ended as watches do.
 */
export const reconnect = (failure: Failure | undefined, attempt: number, jitter: number): number =>
  Math.max(patience(failure), grown(wait, attempt, jitter))
