/**
 * Look and think: what the stores know of a grid, and what the core makes of it.
 */
import type { Child } from "../core/child.ts"
import { desired, type Desired } from "../core/desired.ts"
import { plan, type Plan } from "../core/plan.ts"
import type { Memory } from "./memory.ts"
import type { Observed } from "./observed.ts"
import type { SeenGrid } from "./seen.ts"

/** What a pass saw and thought: everything that acting and telling need. */
export interface Thought {
  readonly seen: SeenGrid
  readonly units: readonly string[]
  readonly desired: Desired
  readonly children: ReadonlyMap<string, Child>
  readonly plan: Plan
}

/** A hold that is over for this long says nothing any more. */
export const FORGET_MS = 120_000

const forget = (memory: Memory, now: number): void => {
  for (const [name, hold] of memory.held) if (now - hold.until > FORGET_MS) memory.held.delete(name)
  for (const [name, { until }] of memory.strangers) if (until <= now) memory.strangers.delete(name)
}

/** The children that a plan looks at: those that the stores show, and strangers met on the way. */
const childrenOf = (
  observed: Observed,
  seen: SeenGrid,
  wanted: Desired,
  memory: Memory
): ReadonlyMap<string, Child> => {
  const children = observed.childrenOf(
    seen.grid,
    wanted.wanted.map(({ name }) => name)
  )
  for (const [name, { child }] of memory.strangers)
    if (children.has(name)) memory.strangers.delete(name)
    else children.set(name, child)
  return children
}

/**
 * The plan for a grid as it is known now. What is wanted is computed anew only when grid or units changed. Keeps in the memory what the
 * next plan needs, and forgets there what is over.
 */
export const think = (
  observed: Observed,
  seen: SeenGrid,
  memory: Memory,
  o: { readonly unitGrace: number; readonly now: number }
): Thought => {
  const { grid } = seen
  const units = observed.units(grid)
  if (memory.thought?.grid !== grid || memory.thought.units !== units)
    memory.thought = { grid, units, desired: desired(grid, units) }
  forget(memory, o.now)
  const wanted = memory.thought.desired
  const children = childrenOf(observed, seen, wanted, memory)
  const planned = plan({
    grid,
    desired: wanted,
    children,
    held: memory.held,
    vanished: memory.vanished,
    ...o
  })
  memory.vanished = planned.vanished
  return { seen, units, desired: wanted, children, plan: planned }
}
