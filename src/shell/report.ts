/**
 * Events about grids, as `kubectl describe` shows them.
 *
 * Guarantees: one event when a trouble begins, and one more where its message changes; when it comes back, the same Event object counts
 * on (its name is made of grid and reason), so that a failure never leaves hundreds of them. An event that can't
 * be written is dropped: the conditions say the same. Does not remember across restarts what it told.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { MANAGER } from "../core/child.ts"
import { type Grid, GRID_API, type Refusal } from "../core/grid.ts"
import { hash } from "../core/hash.ts"
import { iso } from "../core/instant.ts"
import { byReason } from "../core/status.ts"
import { Api } from "./api.ts"
import type { Unread } from "./decode.ts"
import { EVENT } from "./kinds.ts"

/** What was told of one grid, by reason: the message, and how often it began. */
export type Told = Map<string, { message: string; count: number; since: string; open: boolean }>

const send = (
  grid: Grid,
  type: "Normal" | "Warning",
  o: {
    readonly reason: string
    readonly message: string
    readonly count: number
    readonly since: string
    readonly at: string
  }
) => {
  const namespace = grid.metadata.namespace ?? "default"
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: {
      name: `${grid.metadata.name.slice(0, 200)}.${hash(`${grid.metadata.uid ?? ""}/${o.reason}`)}`,
      namespace
    },
    involvedObject: {
      apiVersion: GRID_API,
      kind: grid.kind,
      namespace,
      name: grid.metadata.name,
      uid: grid.metadata.uid ?? ""
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

const begin = (grid: Grid, told: Told, type: "Normal" | "Warning", reason: string, message: string) =>
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
    yield* send(grid, type, { reason, at, ...now })
  })

/** Tells the troubles of a grid that weren't told yet, one event for each reason, and closes those that are over. */
export const report = (grid: Grid, told: Told, troubles: readonly Refusal[]) =>
  Effect.gen(function* () {
    const reasons = byReason(troubles)
    for (const [reason, each] of told) if (!reasons.has(reason)) each.open = false
    for (const [reason, message] of reasons) yield* begin(grid, told, "Warning", reason, message)
  })

/** Tells of a grid that can't be read, and so has no conditions; of nothing that lacks name or uid. */
export const tellUnread = (kind: Grid["kind"], { key, uid, message }: Unread) => {
  if (key === undefined || uid === undefined) return Effect.void
  const slash = key.indexOf("/")
  const metadata = { namespace: key.slice(0, slash), name: key.slice(slash + 1), uid }
  const trouble = `the grid can't be read, and its children stay as they are: ${message}`
  return begin(
    { apiVersion: GRID_API, kind, metadata, spec: {} },
    new Map(),
    "Warning",
    "Unreadable",
    trouble
  )
}

/** Tells that something was done, such as a deletion. */
export const announce = (grid: Grid, told: Told, reason: string, message: string) =>
  Effect.suspend(() => {
    const before = told.get(reason)
    if (before !== undefined) before.open = false
    return begin(grid, told, "Normal", reason, message)
  })
