/**
 * What is remembered of a child's earlier writes, so that a failing or fought-over child waits without delaying others.
 */
import type { Child } from "./child.ts"
import { delay, type Failure } from "./retry.ts"

export interface Hold {
  /**
   * Failed: the server said no. Undone: it said yes and kept other values. Contended: someone keeps changing it back.
   * Recreated: someone keeps deleting it.
   */
  readonly _tag: "Failed" | "Undone" | "Contended" | "Recreated"
  /** how often in a row, 1 at first */
  readonly attempt: number
  /** when the last of them was, in milliseconds */
  readonly at: number
  /** not tried again before, in milliseconds */
  readonly until: number
  readonly failure: Failure
  /** digest that was to be written; empty for a deletion */
  readonly wanted: string
  /** resourceVersion of the child when it was written, where there was one */
  readonly revision: string | undefined
}

/** How many rounds a webhook that changes our fields gets before it is given five minutes. */
const ROUNDS = 3
const LONG_MS = 5 * 60_000
/** Corrections further apart than this aren't counted together. */
const QUIET_MS = 60_000
const CONTENDED_MAX_MS = 30_000

/**
 * Whether a child still waits; `wanted` is the digest that is to be written now, empty for a deletion. What the server called invalid waits until what is wanted or what is observed changes; any
 * other failure until what is wanted changes, except that a server which asked for time (429) gets it.
 * A child that was written and is gone is made anew at once, unless it was made anew again and again; one that is there waits for
 * its making no longer.
 */
export const holds = (hold: Hold, wanted: string, child: Child | undefined, now: number): boolean => {
  if (hold.until <= now) return false
  if (hold.failure.reason === "Slow") return true
  if (hold.wanted !== wanted) return false
  if (hold._tag === "Recreated") return child === undefined
  if (child === undefined && hold._tag !== "Failed") return false
  return hold._tag !== "Failed" || hold.failure.reason !== "Invalid" || hold.revision === child?.revision
}

const again = (before: Hold | undefined, tag: Hold["_tag"], wanted: string): number =>
  before !== undefined && before._tag === tag && before.wanted === wanted ? before.attempt + 1 : 1

/** The hold after a write failed. `jitter` is in [0, 1). */
export const failed = (
  before: Hold | undefined,
  o: {
    readonly failure: Failure
    readonly wanted: string
    readonly revision: string | undefined
    readonly now: number
    readonly jitter: number
  }
): Hold => {
  const attempt = again(before, "Failed", o.wanted)
  const until = o.now + delay(o.failure, attempt - 1, o.jitter)
  return {
    _tag: "Failed",
    attempt,
    at: o.now,
    until,
    failure: o.failure,
    wanted: o.wanted,
    revision: o.revision
  }
}

const fought = (
  before: Hold | undefined,
  tag: "Contended" | "Recreated",
  message: string,
  o: { readonly wanted: string; readonly revision: string; readonly now: number }
): Hold => {
  const recent = before !== undefined && o.now - before.at < QUIET_MS
  const attempt = recent ? again(before, tag, o.wanted) : 1
  const pause = attempt < ROUNDS ? 0 : Math.min(CONTENDED_MAX_MS, 200 * 2 ** (attempt - ROUNDS))
  return {
    _tag: tag,
    attempt,
    at: o.now,
    until: o.now + pause,
    failure: { reason: "Conflict", code: 200, message },
    wanted: o.wanted,
    revision: o.revision
  }
}

/**
 * The hold after a child was created. One that is deleted and made again within a minute, again and again, waits longer each time, up to
 * 30 s: it may be the garbage collector that deletes it, while the end of its grid has not been seen yet.
 */
export const created = (
  before: Hold | undefined,
  o: { readonly wanted: string; readonly revision: string; readonly now: number }
): Hold => fought(before, "Recreated", "another writer keeps deleting this child", o)

/**
 * The hold after a write succeeded.
 *
 * @param undone paths whose values the server's answer has otherwise than they were sent: a mutating webhook changed them. After
 * three rounds the child waits five minutes. Where nothing was undone, a child that is corrected again and again within a minute
 * waits longer each time, up to 30 s.
 */
export const written = (
  before: Hold | undefined,
  o: {
    readonly wanted: string
    readonly revision: string
    readonly undone: readonly string[]
    readonly now: number
  }
): Hold => {
  if (o.undone.length === 0)
    return fought(before, "Contended", "another writer keeps changing fields that this grid sets", o)
  const attempt = again(before, "Undone", o.wanted)
  const message = `${o.undone.join(", ")}: set by this grid, and changed in the same request by an admission webhook`
  return {
    _tag: "Undone",
    attempt,
    at: o.now,
    until: o.now + (attempt < ROUNDS ? 0 : LONG_MS),
    failure: { reason: "Conflict", code: 200, message },
    wanted: o.wanted,
    revision: o.revision
  }
}
