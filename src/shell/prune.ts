/**
 * The one write to a user's spec: where a grid asks for it (`autoDeleteUnusedTemplate`), pool entries that nobody names are removed.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { MANAGER } from "../core/child.ts"
import { failed } from "../core/hold.ts"
import { unusedTemplates } from "../core/workloads.ts"
import { Api } from "./api.ts"
import { type Desk, takeInGrid } from "./desk.ts"
import { GRIDS } from "./kinds.ts"
import type { Memory } from "./memory.ts"
import { gridRef } from "./observed.ts"
import type { SeenGrid } from "./seen.ts"
import { steady } from "./steady.ts"

/** Removes the pool entries that nobody names, where the grid asks for it. */
export const prune = (
  desk: Desk,
  { grid, key, revision }: SeenGrid,
  memory: Memory
): Effect.Effect<void, never, Api> => {
  const apart = grid.kind === "ServiceGrid" || typeof grid.metadata.deletionTimestamp === "string"
  const unused = apart ? [] : unusedTemplates(grid)
  if (unused.length === 0) return Effect.sync(() => void (memory.pruning = undefined))
  const { name, namespace } = grid.metadata
  const templatePool = Object.fromEntries(unused.map((entry) => [entry, null]))
  const patch = { metadata: { resourceVersion: revision }, spec: { templatePool } }
  const told = { grid: gridRef(grid.kind, key), templates: unused.join(", ") }
  return Effect.gen(function* () {
    const now = yield* steady
    const before = memory.pruning
    if (before !== undefined && before.until > now && before.wanted === told.templates) return
    const jitter = yield* Random.next
    const api = yield* Api
    const answer = yield* Effect.either(
      desk.writing(api.merge(GRIDS[grid.kind], namespace ?? "", name, patch, { manager: MANAGER }))
    )
    if (answer._tag === "Right") {
      memory.pruning = undefined
      takeInGrid(desk, grid.kind, answer.right)
      return yield* Effect.logInfo("unused templates removed").pipe(Effect.annotateLogs(told))
    }
    const about = { failure: answer.left, wanted: told.templates, revision, now, jitter }
    memory.pruning = failed(before, about)
    const error = answer.left.message
    yield* Effect.logWarning("unused templates were not removed").pipe(
      Effect.annotateLogs({ ...told, error })
    )
  })
}
