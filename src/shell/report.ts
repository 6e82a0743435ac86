/**
 * Events about grids, as `kubectl describe` shows them.
 *
 * Guarantees: one event when a trouble begins and none while it lasts; when it comes back, the same Event object counts
 * on (its name is made of grid, reason and unit), so that a failure never leaves hundreds of them. An event that can't
 * be written is dropped: the conditions say the same. Does not remember across restarts what it told.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { MANAGER } from "../core/child.ts"
import { type Grid, GRID_API, type Refusal } from "../core/grid.ts"
import { hash } from "../core/hash.ts"
import { Api } from "./api.ts"
import { EVENT } from "./kinds.ts"

/** What was told of one grid: of each trouble its message, and how often it began. */
export type Told = Map<string, { message: string; count: number; since: string; open: boolean }>

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z")

const send = (
  grid: Grid,
  type: "Normal" | "Warning",
  o: {
    readonly id: string
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
      name: `${grid.metadata.name.slice(0, 200)}.${hash(`${grid.metadata.uid ?? ""}/${o.id}`)}`,
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
    Effect.catchAll((error) =>
      Effect.logDebug("an event was not written", { reason: o.reason, error: error.message })
    )
  )
}

const begin = (grid: Grid, told: Told, type: "Normal" | "Warning", each: Refusal) =>
  Effect.gen(function* () {
    const at = iso(yield* Clock.currentTimeMillis)
    const id = `${each.reason}/${each.unit ?? ""}`
    const before = told.get(id)
    if (before !== undefined && before.open && before.message === each.message) return
    const now = {
      message: each.message,
      count: (before?.count ?? 0) + 1,
      since: before?.since ?? at,
      open: true
    }
    told.set(id, now)
    yield* send(grid, type, { id, reason: each.reason, at, ...now })
  })

/** Tells the troubles of a grid that weren't told yet, and closes those that are over. */
export const report = (grid: Grid, told: Told, troubles: readonly Refusal[], notices: readonly Refusal[]) =>
  Effect.gen(function* () {
    const ids = new Set([...troubles, ...notices].map((each) => `${each.reason}/${each.unit ?? ""}`))
    for (const [id, each] of told) if (!ids.has(id)) each.open = false
    for (const each of troubles) yield* begin(grid, told, "Warning", each)
    for (const each of notices) yield* begin(grid, told, "Warning", each)
  })

/** Tells that something was done, such as a deletion. */
export const announce = (grid: Grid, told: Told, reason: string, message: string) =>
  Effect.gen(function* () {
    const each = { reason, path: "", message }
    const before = told.get(`${reason}/`)
    if (before !== undefined) before.open = false
    yield* begin(grid, told, "Normal", each)
  })
