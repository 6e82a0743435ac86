/**
 * What every part of a pass shares: the stores, the gate before the writes, and whom to wake.
 */
import type { Effect } from "effect/Effect"
import type { Grid } from "../core/grid.ts"
import type { Gate } from "./gate.ts"
import type { Due, Observed } from "./observed.ts"
import { seenGrid } from "./seen.ts"
import { identity, isMalformed } from "./wire.ts"

export interface Desk {
  readonly observed: Observed
  /** bounds the writes in flight, over all grids */
  readonly writing: Gate
  readonly concurrency: number
  readonly legacy: readonly string[]
  /** has the grids looked at that a change makes due */
  readonly wake: (due: Due) => Effect<void>
  /** what makes times of day of the times of plans and memories, in milliseconds */
  readonly offset: number
}

/** Takes the answer of a write of a grid, or of its status, into the store, so that the next pass does not see the grid as it was before. */
export const takeInGrid = ({ observed }: Desk, kind: Grid["kind"], answer: unknown): void => {
  const id = identity(answer)
  if (!isMalformed(id)) observed.readGrids(kind, [{ _tag: "Written", item: seenGrid(kind)(answer, id) }])
}
