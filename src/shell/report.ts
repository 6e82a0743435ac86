/**
 * Events about grids, units and groups, as `kubectl describe` shows them.
 *
 * Guarantees: one event when a trouble begins, and one more where its message changes; when it comes back, the same Event object counts
 * on (its name is made of object and reason), so that a failure never leaves hundreds of them. An event that can't
 * be written is dropped: the conditions say the same. Does not remember across restarts what it told.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { MANAGER } from "../core/child.ts"
import type { Refusal } from "../core/grid.ts"
import { hash } from "../core/hash.ts"
import { iso } from "../core/instant.ts"
import { byReason } from "../core/status.ts"
import { Api } from "./api.ts"
import type { Unread } from "./decode.ts"
import { EVENT } from "./kinds.ts"

/** What an event is about: a grid, a unit or a group. */
export interface Subject {
  readonly apiVersion?: string | null | undefined
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string | null | undefined
    readonly uid?: string | null | undefined
  }
}

/** What was told of one object, by reason: the message, and how often it began. */
export type Told = Map<string, { message: string; count: number; since: string; open: boolean }>

const send = (
  { apiVersion, kind, metadata: { name, namespace, uid } }: Subject,
  type: "Normal" | "Warning",
  o: {
    readonly reason: string
    readonly message: string
    readonly count: number
    readonly since: string
    readonly at: string
  }
) => {
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: {
      name: `${name.slice(0, 200)}.${hash(`${uid ?? ""}/${o.reason}`)}`,
      // events about what has no namespace are kept there
      namespace: namespace ?? "default"
    },
    involvedObject: {
      apiVersion: apiVersion ?? "",
      kind,
      ...(typeof namespace === "string" && { namespace }),
      name,
      uid: uid ?? ""
    },
    type,
    reason: o.reason,
    message: o.message.slice(0, 1000),
    count: o.count,
    firstTimestamp: o.since,
    lastTimestamp: o.at,
    source: { component: MANAGER },
    reportingComponent: MANAGER,
    reportingInstance: MANAGER
  }
  return Effect.flatMap(Api, (api) => api.apply(EVENT, event, { manager: MANAGER, force: true })).pipe(
    Effect.timeout("5 seconds"),
    Effect.catchAll((error) =>
      Effect.logDebug("an event was not written", { reason: o.reason, error: error.message })
    )
  )
}

const begin = (about: Subject, told: Told, type: "Normal" | "Warning", reason: string, message: string) =>
  Effect.gen(function* () {
    const before = told.get(reason)
    const clock = yield* Clock.currentTimeMillis
    if (before?.open === true && before.message === message) return
    const at = iso(clock)
    const now = {
      message,
      count: (before?.count ?? 0) + 1,
      since: before?.since ?? at,
      open: true
    }
    told.set(reason, now)
    yield* send(about, type, { reason, at, ...now })
  })

/** Tells the troubles of an object that weren't told yet, one event for each reason, and closes those that are over. */
export const report = (about: Subject, told: Told, troubles: readonly Refusal[]) =>
  Effect.gen(function* () {
    const reasons = byReason(troubles)
    for (const [reason, each] of told) if (!reasons.has(reason)) each.open = false
    for (const [reason, message] of reasons) yield* begin(about, told, "Warning", reason, message)
  })

/** Tells of an object that can't be read, and so has no conditions; of nothing that lacks name or uid. `stays`: what is left as it is. */
export const tellUnread = ({ kind: of, key, uid, message }: Unread, stays: string) => {
  if (key === undefined || uid === undefined) return Effect.void
  const slash = key.indexOf("/")
  const about = {
    apiVersion: `${of.group}/${of.version}`,
    kind: of.kind,
    metadata: { ...(slash > 0 && { namespace: key.slice(0, slash) }), name: key.slice(slash + 1), uid }
  }
  return begin(about, new Map(), "Warning", "Unreadable", `it can't be read, and ${stays}: ${message}`)
}

/** Tells that something was done, such as a deletion. */
export const announce = (about: Subject, told: Told, reason: string, message: string) =>
  Effect.suspend(() => {
    const before = told.get(reason)
    if (before !== undefined) before.open = false
    return begin(about, told, "Normal", reason, message)
  })
