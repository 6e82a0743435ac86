/**
 * Tell: the status and the events of a grid, once a burst is over.
 *
 * Guarantees: at most one status write a second for a grid, none where nothing changes, and none because of an earlier
 * one; a status that can't be written is tried again and delays nothing but by its own request. It is written under the revision that was read:
 * the API server does not compare uids there, and a grid made again under the same name must not get its predecessor's.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import { MANAGER } from "../core/child.ts"
import { owns } from "../core/plan.ts"
import { shortNameTaken } from "../core/rivals.ts"
import { status, statusDigest, troubles } from "../core/status.ts"
import { Api } from "./api.ts"
import { type Desk, takeInGrid } from "./desk.ts"
import { GRIDS } from "./kinds.ts"
import type { Memory } from "./memory.ts"
import { EVERY_MS } from "./pace.ts"
import { gridRef } from "./observed.ts"
import { report } from "./report.ts"
import type { SeenGrid } from "./seen.ts"
import { steady } from "./steady.ts"
import type { Thought } from "./think.ts"

const troubled = Metric.gauge("servicegroup_troubles", {
  description: "Refused units, foreign children and failed rollouts, over all grids"
})

/** Counts what is wrong with a grid, in place of what was counted before. */
export const count = (memory: Memory, troubles: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    const more = troubles - memory.troubles
    memory.troubles = troubles
    return Metric.modify(troubled, more)
  })

const write = (
  desk: Desk,
  { grid, uid, key, revision }: SeenGrid,
  memory: Memory,
  shown: object,
  digest: string
) => {
  const { name, namespace } = grid.metadata
  const object = {
    apiVersion: grid.apiVersion,
    kind: grid.kind,
    metadata: { name, namespace, uid, resourceVersion: revision },
    status: shown
  }
  const apply = Effect.flatMap(Api, (api) =>
    api.apply(GRIDS[grid.kind], object, { manager: MANAGER, force: true, subresource: "status" })
  )
  return Effect.gen(function* () {
    const answer = yield* Effect.either(desk.writing(apply))
    const now = yield* steady
    if (answer._tag === "Left") {
      memory.pace.failed(answer.left, now, yield* Random.next)
      const told = { grid: gridRef(grid.kind, key), error: answer.left.message }
      return yield* Effect.logWarning("the status was not written").pipe(Effect.annotateLogs(told))
    }
    memory.pace.wrote(digest, now)
    takeInGrid(desk, grid.kind, answer.right)
  })
}

/** Looks at status and events where they are due, and makes them due where a pass was the first of a burst. */
export const tell = (desk: Desk, thought: Thought, memory: Memory): Effect.Effect<void, never, Api> =>
  Effect.gen(function* () {
    const now = yield* steady
    if (!memory.pace.isDue(now, EVERY_MS)) return
    const { seen, units, plan } = thought
    const { grid } = seen
    const children = new Map([...thought.children].filter(([, child]) => owns(grid, child)))
    const bad = troubles(plan, children)
    yield* count(memory, bad.length)
    const rival = desk.observed.rival(grid)
    const shortNames = rival === "Unknown" ? rival : shortNameTaken(children.values(), rival)
    const besides = shortNames === undefined || shortNames === "Unknown" ? [] : [shortNames]
    yield* report(grid, memory.told, [...bad, ...thought.desired.notices, ...besides])
    const shown = status({
      grid,
      plan,
      units,
      children,
      notices: thought.desired.notices,
      shortNames,
      now: yield* Clock.currentTimeMillis,
      offset: desk.offset
    })
    const digest = statusDigest(shown)
    if (memory.pace.wants(digest, seen.statusDigest, now)) yield* write(desk, seen, memory, shown, digest)
  })
