/**
 * (wanted, observed, now) -> one step for each child: what would be created, changed, kept, refused or deleted.
 *
 * The controller carries these steps out, `servicegroup plan` prints them, and the status tells them: one decision.
 */
import type { Child, Owner, Wanted } from "./child.ts"
import { type Desired, graceSeconds, nameOf, pathOf } from "./desired.ts"
import { type Grid, gridSelector, type Refusal } from "./grid.ts"
import { type Hold, holds } from "./hold.ts"
import { earliest } from "./instant.ts"

interface About {
  /** absent for a Service, and for a child that bears no unit */
  readonly unit: string | undefined
  readonly name: string
}

export type Step =
  /** not there: created by an apply that succeeds only where no object has the name */
  | ({ readonly _tag: "Create" } & About)
  /** differs from what is wanted, or has no owner yet: applied under its uid */
  | ({ readonly _tag: "Change"; readonly uid: string } & About)
  /** nobody's, and nothing else may be applied to it yet: only the owner reference is written */
  | ({ readonly _tag: "Adopt"; readonly uid: string } & About)
  /** SuperEdge's: its fields become ours first */
  | ({ readonly _tag: "TakeOver"; readonly uid: string } & About)
  /** the template let go of `replicas`: another manager of ours holds the running number first */
  | ({ readonly _tag: "HandOver"; readonly uid: string; readonly replicas: number } & About)
  /** wants a strategy that a default of the live object contradicts: the default is written away first */
  | ({ readonly _tag: "Switch"; readonly uid: string } & About)
  /** wanted no more, its grace is over */
  | ({ readonly _tag: "Delete"; readonly uid: string } & About)
  /** as wanted */
  | ({ readonly _tag: "Keep" } & About)
  /** wanted no more, deleted at `until` (milliseconds) */
  | ({ readonly _tag: "Grace"; readonly until: number } & About)
  /** being deleted: waited for */
  | ({ readonly _tag: "Terminating" } & About)
  /** a write failed; tried again at `until` (milliseconds) */
  | ({ readonly _tag: "Held"; readonly until: number; readonly hold: Hold } & About)
  /** can't be served as it is; its child, if any, stays as it is */
  | ({ readonly _tag: "Refused"; readonly refusal: Refusal } & About)

export interface Plan {
  /** in the order of names */
  readonly steps: readonly Step[]
  /** refusals of the whole grid: where there is one, nothing is planned */
  readonly refused: readonly Refusal[]
  /** uid of an owned child that is wanted no more -> since when, in milliseconds */
  readonly vanished: ReadonlyMap<string, number>
  /** when the passing of time alone will change the plan, in milliseconds */
  readonly wakeAt: number | undefined
}

export interface PlanInput {
  readonly grid: Grid
  /** what is wanted of this grid with the units that its key has now */
  readonly desired: Desired
  /** by name: every known child of the grid's namespace and child kind that the grid owns or that bears a wanted name */
  readonly children: ReadonlyMap<string, Child>
  /** by name: what happened to earlier writes */
  readonly held: ReadonlyMap<string, Hold>
  /** as the last plan gave it; empty after a start */
  readonly vanished: ReadonlyMap<string, number>
  /** how long a workload stays after its unit lost its last node, in seconds, where the grid doesn't say; a Service goes at once */
  readonly unitGrace: number
  /** milliseconds, by a clock that never jumps: a grace must not end because someone set the time */
  readonly now: number
}

/** Whether a grid is a child's controller owner, by uid. A grid that the API never stored owns nothing. */
export const owns = (grid: Grid, child: Child): boolean =>
  (grid.metadata.uid ?? "") !== "" && child.owner?.uid === grid.metadata.uid

const ownerText = (owner: Owner | undefined): string =>
  owner === undefined ? "has no owner" : `belongs to ${owner.kind} ${owner.name}`

const foreign = (child: Child, unit: string | undefined): Refusal => ({
  ...(unit === undefined ? {} : { unit }),
  reason: "ForeignChild",
  path: "metadata.name",
  message: `${child.kind} ${child.key} exists and ${ownerText(child.owner)}; it is left alone. Delete it or rename it, or rename the grid`
})

const immutableField = (child: Child, wanted: Wanted, templatePath: string): Refusal | undefined => {
  const field = Object.keys(wanted.fixed).find((path) => {
    const live = Object.hasOwn(child.fixed, path) ? child.fixed[path] : undefined
    return live !== undefined && live !== wanted.fixed[path]
  })
  if (field === undefined) return undefined
  const path = field.replace(/^spec/, templatePath)
  return {
    ...(wanted.unit === undefined ? {} : { unit: wanted.unit }),
    reason: "ImmutableField",
    path,
    message: `${path}: Kubernetes does not let ${field} of ${child.kind} ${child.key} change, so the child runs on as it is; set the field back, or delete the child to have it made anew`
  }
}

const step = (input: PlanInput, wanted: Wanted): Step => {
  const about = { unit: wanted.unit, name: wanted.name }
  const child = input.children.get(wanted.name)
  const hold = input.held.get(wanted.name)
  if (hold !== undefined && holds(hold, wanted.digest, child, input.now))
    return { _tag: "Held", ...about, until: hold.until, hold }
  if (child === undefined) return { _tag: "Create", ...about }
  const refused = (refusal: Refusal): Step => ({ _tag: "Refused", ...about, refusal })
  const mine = owns(input.grid, child)
  const orphan = child.owner === undefined && child.gridSelector === gridSelector(input.grid)
  if (!mine && !orphan) return refused(foreign(child, wanted.unit))
  if (child.deleting) return { _tag: "Terminating", ...about }
  const blocked = immutableField(child, wanted, pathOf(input.grid, wanted.unit))
  if (blocked !== undefined) return refused(blocked)
  const uid = child.uid
  if (mine && child.legacy) return { _tag: "TakeOver", ...about, uid }
  if (child.aloneOnReplicas && wanted.replicas === undefined && child.replicas !== undefined)
    return { _tag: "HandOver", ...about, uid, replicas: child.replicas }
  if (!wanted.rolls && child.defaultRolling) return { _tag: mine ? "Switch" : "Adopt", ...about, uid }
  return child.owned === wanted.digest && mine
    ? { _tag: "Keep", ...about }
    : { _tag: "Change", ...about, uid }
}

/** What becomes of an owned child that no unit wants. */
const farewell = (input: PlanInput, child: Child, since: number): Step => {
  const about = { unit: child.unit, name: child.name }
  if (child.deleting) return { _tag: "Terminating", ...about }
  const until = child.kind === "Service" ? since : since + graceSeconds(input.grid, input.unitGrace) * 1000
  if (until > input.now) return { _tag: "Grace", ...about, until }
  const hold = input.held.get(child.name)
  if (hold !== undefined && holds(hold, "", child, input.now))
    return { _tag: "Held", ...about, until: hold.until, hold }
  return { _tag: "Delete", ...about, uid: child.uid }
}

const untilOf = (step: Step): number | undefined => ("until" in step ? step.until : undefined)

/**
 * One step for each wanted child, each refused unit and each owned child that is wanted no more.
 *
 * A grid that is being deleted, or that is refused as a whole, gets no steps: its children are left alone, and what
 * was on its way out begins its grace anew afterwards. A child whose controller owner is not this
 * grid (by uid) is never changed or deleted, but for an orphan that carries the grid's label and a wanted name, which is
 * adopted. A refused or held unit changes nothing for the others.
 */
export const plan = (input: PlanInput): Plan => {
  const { grid, desired } = input
  const whole = desired.refused.filter((refusal) => refusal.unit === undefined)
  if (typeof grid.metadata.deletionTimestamp === "string" || whole.length > 0)
    return { steps: [], refused: whole, vanished: new Map(), wakeAt: undefined }
  const steps = desired.wanted.map((wanted) => step(input, wanted))
  for (const refusal of desired.refused)
    steps.push({ _tag: "Refused", unit: refusal.unit, name: nameOf(grid, refusal.unit), refusal })
  const spared = new Set(steps.map(({ name }) => name))
  const vanished = new Map<string, number>()
  for (const child of input.children.values()) {
    if (spared.has(child.name) || !owns(grid, child)) continue
    const since = input.vanished.get(child.uid) ?? input.now
    vanished.set(child.uid, since)
    steps.push(farewell(input, child, since))
  }
  steps.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return { steps, refused: [], vanished, wakeAt: earliest(steps.map(untilOf)) }
}
