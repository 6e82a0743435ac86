/**
 * What a unit can be in, and what its grid's status has to say of it: made by hand, so that any mix of them has a status that is known
 * from the start.
 */
import fc from "fast-check"
import type { Child } from "../src/core/child.ts"
import type { GridStatus } from "../src/core/grid.ts"
import type { Hold } from "../src/core/hold.ts"
import type { Plan, Step } from "../src/core/plan.ts"
import { status, type StatusInput } from "../src/core/status.ts"
import { byName, frozen, frozenMap, NOW, readyStatus, SECOND, shortChild, web } from "./given.ts"
import { unitsInOrder } from "./words.ts"

/** What the clock that never jumps says now, in milliseconds. */
export const UPTIME = 5_000_000

export interface Unit {
  readonly unit: string
  readonly step: Step
  readonly child?: Child
  readonly ready?: boolean
  readonly busy?: boolean
  readonly trouble?: string
  /** no node has it any more */
  readonly leaves?: boolean
}

export const holdOf = (
  reason: Hold["failure"]["reason"],
  attempt: number,
  tag: Hold["_tag"] = "Failed"
): Hold => ({
  _tag: tag,
  attempt,
  at: NOW,
  until: NOW + SECOND,
  failure: { reason, code: 500, message: "no" },
  wanted: "same",
  revision: "100"
})

const shaped = (unit: string, more: Partial<Child> = {}) => shortChild(`web-${unit}`, { unit, ...more })
const step = <A extends object>(unit: string, more: A) => ({ unit, name: `web-${unit}`, ...more })
const held = (unit: string, hold: Hold) => step(unit, { _tag: "Held" as const, until: NOW + SECOND, hold })
const unready = JSON.stringify({ ...readyStatus(1), readyReplicas: 0 })
const overdue = JSON.stringify({
  ...readyStatus(1),
  readyReplicas: 0,
  conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }]
})

export const refusedFor = (unit: string, message: string): Unit => ({
  unit,
  step: step(unit, {
    _tag: "Refused" as const,
    refusal: { unit, reason: "ForeignChild", path: "metadata.name", message }
  }),
  trouble: "ForeignChild"
})

/** What a unit can be in, and what is true of it then. */
export const kinds = {
  ready: (unit: string): Unit => ({
    unit,
    step: step(unit, { _tag: "Keep" as const }),
    child: shaped(unit),
    ready: true
  }),
  rolling: (unit: string): Unit => ({
    unit,
    step: step(unit, { _tag: "Keep" as const }),
    child: shaped(unit, { status: unready }),
    busy: true
  }),
  failed: (unit: string): Unit => ({
    unit,
    step: step(unit, { _tag: "Keep" as const }),
    child: shaped(unit, { status: overdue }),
    trouble: "RolloutFailed"
  }),
  creating: (unit: string): Unit => ({ unit, step: step(unit, { _tag: "Create" as const }), busy: true }),
  changing: (unit: string): Unit => ({
    unit,
    step: step(unit, { _tag: "Change" as const, uid: "u" }),
    child: shaped(unit),
    busy: true
  }),
  recreated: (unit: string): Unit => ({
    unit,
    step: step(unit, { _tag: "Terminating" as const }),
    child: shaped(unit, { deleting: true }),
    busy: true
  }),
  foreign: (unit: string): Unit => refusedFor(unit, `${unit} is foreign`),
  retrying: (unit: string): Unit => ({ unit, step: held(unit, holdOf("Unavailable", 3)), busy: true }),
  stuck: (unit: string): Unit => ({
    unit,
    step: held(unit, holdOf("Unavailable", 4)),
    trouble: "WriteFailed"
  }),
  invalid: (unit: string): Unit => ({ unit, step: held(unit, holdOf("Invalid", 1)), trouble: "Invalid" }),
  forbidden: (unit: string): Unit => ({
    unit,
    step: held(unit, holdOf("Forbidden", 1)),
    trouble: "Forbidden"
  }),
  webhook: (unit: string): Unit => ({
    unit,
    step: held(unit, holdOf("Conflict", 3, "Undone")),
    child: shaped(unit),
    trouble: "ChangedByWebhook"
  }),
  fought: (unit: string): Unit => ({
    unit,
    step: held(unit, holdOf("Conflict", 3, "Contended")),
    child: shaped(unit),
    trouble: "Contended"
  }),
  leaving: (unit: string): Unit => ({
    unit,
    step: step(unit, { _tag: "Grace" as const, until: UPTIME + 60 * SECOND }),
    child: shaped(unit),
    busy: true,
    leaves: true
  }),
  gone: (unit: string): Unit => ({
    unit,
    step: step(unit, { _tag: "Delete" as const, uid: "u" }),
    child: shaped(unit),
    busy: true,
    leaves: true
  }),
  going: (unit: string): Unit => ({ ...kinds.recreated(unit), leaves: true }),
  undeletable: (unit: string): Unit => ({ ...kinds.forbidden(unit), child: shaped(unit), leaves: true })
}

const units = unitsInOrder.filter((unit) => /^[a-z0-9.-]{1,40}$/.test(unit))

/** Every unit in each of these, ready more often. */
const made = units.map((unit) =>
  [...Object.values(kinds), kinds.ready, kinds.ready].map((kind) => frozen(kind(unit)))
)

/** Units whose children's names are plain, each in one of these. */
export const grids: fc.Arbitrary<readonly Unit[]> = fc
  .tuple(fc.subarray(units.map((_, i) => i)), fc.array(fc.nat(999), { minLength: 6, maxLength: 6 }))
  .map(([chosen, picks]) =>
    chosen.slice(0, 6).flatMap((at, i) => made[at]?.[(picks[i] ?? 0) % made[at].length] ?? [])
  )

export const planOf = (steps: readonly Step[]): Plan =>
  frozen({ steps, refused: [], vanished: frozenMap<string, number>([]), wakeAt: undefined })

const grid = web("zone")

export const input = (units: readonly Unit[], stood?: GridStatus): StatusInput => ({
  grid: stood === undefined ? grid : frozen({ ...grid, status: stood }),
  plan: planOf(units.map((each) => each.step)),
  units: units.filter(({ leaves }) => leaves !== true).map(({ unit }) => unit),
  children: byName(units.flatMap(({ child }) => child ?? []).reverse()),
  now: NOW,
  notices: [],
  offset: NOW - UPTIME
})

export const told = (units: readonly Unit[], stood?: GridStatus) => status(input(units, stood))
