/**
 * What the controller remembers of one grid between passes. It is never needed to be right, only to be calm: a restart begins
 * it anew, and with it every grace time.
 */
import type { Child } from "../core/child.ts"
import type { Desired } from "../core/desired.ts"
import type { Grid } from "../core/grid.ts"
import type { Hold } from "../core/hold.ts"
import type { Plan } from "../core/plan.ts"
import { Pace } from "./pace.ts"
import type { Told } from "./report.ts"

export interface Memory {
  readonly uid: string
  /** by name of the child */
  readonly held: Map<string, Hold>
  /** what became of the last removal of unused templates, where it failed */
  pruning: Hold | undefined
  vanished: Plan["vanished"]
  /** objects with a wanted name that no watch shows, since they lack our label: looked at again when `until` is over */
  readonly strangers: Map<string, { readonly child: Child; readonly until: number }>
  readonly told: Told
  /** what was wanted the last time, good as long as grid and units are the same objects */
  thought: { readonly grid: Grid; readonly units: readonly string[]; readonly desired: Desired } | undefined
  /** of its status */
  readonly pace: Pace
  /** what was counted for the metric */
  troubles: number
}

/** The memory of a grid that was never looked at. */
export const remember = (uid: string): Memory => ({
  uid,
  held: new Map(),
  pruning: undefined,
  vanished: new Map(),
  strangers: new Map(),
  told: new Map(),
  thought: undefined,
  pace: new Pace(),
  troubles: 0
})
