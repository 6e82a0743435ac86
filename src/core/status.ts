/**
 * (grid, plan, children) -> the grid's status: is it all right, and if not, which unit and why.
 *
 * Everything is told from the plan's steps, so that status, events and `servicegroup plan` never disagree.
 */
import type { Child } from "./child.ts"
import { nameOf } from "./desired.ts"
import { type GridStatus, gridKey, type Grid, type Refusal, type ServiceGridStatus } from "./grid.ts"
import { hash } from "./hash.ts"
import { stableJson } from "./json.ts"
import type { Condition, JsonObject } from "./kube.ts"
import type { Plan, Step } from "./plan.ts"
import { iso } from "./instant.ts"
import { isReady, rolloutFailure } from "./rollout.ts"
import { SHORT_NAMES } from "./own-sets.ts"
import { states } from "./states.ts"
import { naming } from "./words.ts"

/** The conditions that are ours; others on the object belong to someone else and stay. */
export const CONDITIONS = ["Ready", "Progressing", "Degraded", SHORT_NAMES] as const

export interface StatusInput {
  readonly grid: Grid
  readonly plan: Plan
  /** sorted; none for a ServiceGrid */
  readonly units: readonly string[]
  /** by name, those that the grid owns */
  readonly children: ReadonlyMap<string, Child>
  /** what the grid's owner should know, although nothing is refused */
  readonly notices: readonly Refusal[]
  /** why pods have no short names; `Unknown`: what stands there still holds */
  readonly shortNames?: Refusal | "Unknown" | undefined
  /** the time of day, in milliseconds since the epoch */
  readonly now: number
  /** what makes times of day of the plan's times, in milliseconds */
  readonly offset: number
}

/** How often a write may fail for want of an answer before the grid counts as degraded. */
const PATIENCE = 3
const NAMED = 10
const MESSAGE_LIMIT = 2000

const subject = (step: { readonly unit: string | undefined; readonly name: string }): string =>
  step.unit === undefined ? step.name : `unit ${step.unit}`

const heldRefusal = (step: Step & { readonly _tag: "Held" }): Refusal | undefined => {
  const { hold } = step
  const unit = step.unit === undefined ? {} : { unit: step.unit }
  const { failure } = hold
  const path = failure.causes?.[0]?.field ?? ""
  const told = (reason: string): Refusal => ({
    ...unit,
    reason,
    path,
    message: `${subject(step)}: ${failure.message}`
  })
  if (hold._tag === "Undone") return told("ChangedByWebhook")
  if (hold._tag === "Contended") return told("Contended")
  if (failure.reason === "Invalid" || failure.reason === "Forbidden") return told(failure.reason)
  return hold.attempt > PATIENCE ? told("WriteFailed") : undefined
}

const rolloutRefusal = (step: Step, child: Child | undefined): Refusal | undefined => {
  const failure = child === undefined || step._tag !== "Keep" ? undefined : rolloutFailure(child)
  if (failure === undefined) return undefined
  const unit = step.unit === undefined ? {} : { unit: step.unit }
  return { ...unit, reason: "RolloutFailed", path: "", message: `${subject(step)}: ${failure}` }
}

/**
 * What is wrong with a grid, unit by unit, in the order of units: refusals, foreign children, writes that the server refuses, and rollouts
 * that failed. It is what `Degraded` and the events tell.
 */
export const troubles = (plan: Plan, children: ReadonlyMap<string, Child>): readonly Refusal[] => {
  const found: Refusal[] = [...plan.refused]
  for (const step of plan.steps) {
    const refusal =
      step._tag === "Refused"
        ? step.refusal
        : step._tag === "Held"
          ? heldRefusal(step)
          : rolloutRefusal(step, children.get(step.name))
    if (refusal !== undefined) found.push(refusal)
  }
  return found.sort((a, b) =>
    (a.unit ?? "") < (b.unit ?? "") ? -1 : (a.unit ?? "") > (b.unit ?? "") ? 1 : 0
  )
}

/** Half a character at the end would be stored as another one, and differ for ever. */
const short = (text: string): string =>
  text.length <= MESSAGE_LIMIT ? text : `${text.slice(0, MESSAGE_LIMIT - 1).replace(/[\uD800-\uDBFF]$/, "")}…`

interface Verdict {
  readonly status: "True" | "False"
  readonly reason: string
  readonly message: string
}

const ready = (input: StatusInput, readyUnits: number, bad: readonly Refusal[]): Verdict => {
  const { grid, plan, units } = input
  const no = (reason: string, message: string): Verdict => ({ status: "False", reason, message })
  const whole = plan.refused[0]
  if (whole !== undefined) return no(whole.reason, whole.message)
  if (typeof grid.metadata.deletionTimestamp === "string") return no("Deleting", "the grid is being deleted")
  if (grid.kind !== "ServiceGrid" && units.length === 0)
    return no(
      "NoUnits",
      `no node has the label "${String(gridKey(grid))}"; label nodes with it, each value is a unit`
    )
  const lagging = wantedSteps(input)
    .filter((step) => !stepReady(step, input.children))
    .map((step) => step.unit ?? step.name)
    .sort()
  if (lagging.length > 0) {
    const reason = bad.length > 0 ? "Degraded" : "NotReady"
    return no(
      reason,
      grid.kind === "ServiceGrid"
        ? `${naming(lagging)} is not in place`
        : `${readyUnits} of ${units.length} units are ready, waiting for ${naming(lagging)}`
    )
  }
  return grid.kind === "ServiceGrid"
    ? { status: "True", reason: "InPlace", message: "the Service is as the grid says" }
    : { status: "True", reason: "AllUnitsReady", message: `${readyUnits} of ${units.length} units are ready` }
}

/** The steps about children that should exist, and not about one that is on its way out. */
const wantedSteps = ({ grid, plan, units }: StatusInput): readonly Step[] => {
  const known = new Set<string | undefined>(grid.kind === "ServiceGrid" ? [undefined] : units)
  return plan.steps.filter((step) => known.has(step.unit) && step.name === nameOf(grid, step.unit))
}

const stepReady = (step: Step, children: ReadonlyMap<string, Child>): boolean => {
  const child = children.get(step.name)
  return step._tag === "Keep" && child !== undefined && isReady(child)
}

const progressing = (input: StatusInput, bad: readonly Refusal[]): Verdict => {
  const yes = (reason: string, message: string): Verdict => ({ status: "True", reason, message })
  const told = new Set(bad.map(({ unit }) => unit))
  const about = (tags: readonly Step["_tag"][]): readonly Step[] =>
    input.plan.steps.filter((step) => tags.includes(step._tag))
  const names = (steps: readonly Step[]): string => naming(steps.map((step) => step.unit ?? step.name).sort())
  const grace = about(["Grace"])
  const rolling = input.plan.steps.filter(
    (step) =>
      !told.has(step.unit) &&
      (["Create", "Change", "Adopt", "TakeOver", "HandOver", "Switch", "Terminating", "Delete"].includes(
        step._tag
      ) ||
        (step._tag === "Keep" && !stepReady(step, input.children)))
  )
  const retrying = about(["Held"]).filter((step) => !told.has(step.unit))
  const parts: string[] = []
  if (rolling.length > 0) parts.push(`rolling out ${names(rolling)}`)
  if (retrying.length > 0) parts.push(`trying ${names(retrying)} again`)
  for (const step of grace.slice(0, NAMED))
    if (step._tag === "Grace")
      parts.push(
        `${step.name} is deleted at ${iso(step.until + input.offset)} unless a node of ${step.unit ?? "its unit"} returns`
      )
  if (grace.length > NAMED) parts.push(`${grace.length - NAMED} more are in their grace time`)
  if (parts.length === 0) return { status: "False", reason: "Settled", message: "nothing is on its way" }
  return yes(
    rolling.length > 0 ? "RollingOut" : retrying.length > 0 ? "Retrying" : "UnitGrace",
    parts.join("; ")
  )
}

/** Messages one after the other, each once, the first ten of them. */
const together = (refusals: readonly Refusal[]): string => {
  const messages = [...new Set(refusals.map(({ message }) => message))]
  const rest = messages.length - NAMED
  return short(messages.slice(0, NAMED).join("; ") + (rest > 0 ? `; and ${rest} more` : ""))
}

/** Troubles by reason, each with one message for all units: what an event tells. */
export const byReason = (refusals: readonly Refusal[]): ReadonlyMap<string, string> => {
  const reasons = new Set(refusals.map(({ reason }) => reason))
  return new Map(
    [...reasons].map((reason) => [reason, together(refusals.filter((each) => each.reason === reason))])
  )
}

const degraded = (bad: readonly Refusal[], notices: readonly Refusal[]): Verdict => {
  const first = bad[0]
  const notice = notices[0]
  if (first === undefined && notice !== undefined)
    return { status: "False", reason: notice.reason, message: together(notices) }
  if (first === undefined)
    return { status: "False", reason: "AsExpected", message: "no unit is refused, no rollout failed" }
  const reason = bad.every((each) => each.reason === first.reason) ? first.reason : "SeveralReasons"
  return { status: "True", reason, message: together(bad) }
}

/** The condition of a type that stands there now. */
export const standing = (grid: Grid, type: string): Condition | undefined => {
  const conditions: unknown = grid.status?.conditions
  const all = Array.isArray(conditions) ? (conditions as readonly (Condition | null)[]) : []
  return all.find((each) => each?.type === type) ?? undefined
}

const condition = (input: StatusInput, type: string, verdict: Verdict): Condition => {
  const before = standing(input.grid, type)
  const same = before?.status === verdict.status && typeof before.lastTransitionTime === "string"
  return {
    type,
    status: verdict.status,
    reason: verdict.reason,
    message: short(verdict.message),
    observedGeneration: input.grid.metadata.generation ?? 0,
    lastTransitionTime: same ? before.lastTransitionTime : iso(input.now)
  }
}

/** There only while something is wrong: most grids' names are their own. */
const shortNames = (input: StatusInput): readonly Condition[] => {
  const { grid, shortNames: taken } = input
  if (taken === undefined) return []
  if (taken !== "Unknown") return [condition(input, SHORT_NAMES, { status: "False", ...taken })]
  const before = standing(grid, SHORT_NAMES)
  return before === undefined ? [] : [before]
}

/**
 * The status to show. Depends on the plan, on the children's own statuses and, for transition times alone, on the
 * status that stands there now and the clock: a condition's time changes only when its status does.
 */
export const status = (input: StatusInput): GridStatus & ServiceGridStatus => {
  const { grid, plan, children } = input
  const bad = troubles(plan, children)
  const readyUnits = wantedSteps(input).filter((step) => stepReady(step, children)).length
  const conditions = [
    condition(input, "Ready", ready(input, readyUnits, bad)),
    condition(input, "Progressing", progressing(input, bad)),
    condition(input, "Degraded", degraded(bad, input.notices)),
    ...shortNames(input)
  ]
  const observedGeneration = grid.metadata.generation ?? 0
  if (grid.kind === "ServiceGrid") {
    const child = children.get(nameOf(grid, undefined))
    return { observedGeneration, conditions, ...(child === undefined ? {} : serviceStatus(child)) }
  }
  return { observedGeneration, units: input.units.length, readyUnits, conditions, states: states(children) }
}

const serviceStatus = (child: Child): { readonly service: string; readonly loadBalancer?: JsonObject } => {
  const { loadBalancer } = JSON.parse(child.status) as { readonly loadBalancer?: JsonObject | null }
  const filled = loadBalancer !== null && loadBalancer !== undefined && Object.keys(loadBalancer).length > 0
  return { service: child.name, ...(filled ? { loadBalancer } : {}) }
}

/** A digest of those fields of a status that are ours: equal where a write would change nothing. */
export const statusDigest = (shown: GridStatus & ServiceGridStatus): string => {
  const { observedGeneration, units, readyUnits, states: each, service, loadBalancer } = shown
  const conditions = (
    Array.isArray(shown.conditions) ? (shown.conditions as readonly (Condition | null)[]) : []
  )
    .filter((one) => (CONDITIONS as readonly unknown[]).includes(one?.type))
    .sort((a, b) => (String(a?.type) < String(b?.type) ? -1 : 1))
  return hash(
    stableJson({ observedGeneration, units, readyUnits, states: each, service, loadBalancer, conditions })
  )
}
