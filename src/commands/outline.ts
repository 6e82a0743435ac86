/**
 * A plan in the words of a person: unit by unit, what would be created, changed (field by field), kept, refused or deleted.
 */
import { child, type ChildObject, MANAGER } from "../core/child.ts"
import { childKind, desired } from "../core/desired.ts"
import { ownedTree, wantedTree } from "../core/fields.ts"
import { type Grid, gridKey } from "../core/grid.ts"
import type { Node } from "../core/kube.ts"
import { plan, type Plan, type Step } from "../core/plan.ts"
import { differences, type Difference } from "../core/tree.ts"
import { unitsOf } from "../core/units.ts"
import { unusedTemplates } from "../core/workloads.ts"

/** One line of the answer. */
interface Line {
  readonly unit: string | undefined
  readonly verdict: string
  readonly child: string
  readonly message?: string
  readonly fields?: readonly Difference[]
}

/** The plan of one grid. */
export interface GridPlan {
  readonly grid: string
  readonly key: string
  readonly units: number
  readonly lines: readonly Line[]
}

const verdicts: { readonly [tag in Step["_tag"]]: string } = {
  Create: "create",
  Change: "change",
  Adopt: "change",
  TakeOver: "take over",
  HandOver: "change",
  Switch: "change",
  Delete: "delete",
  Keep: "keep",
  Grace: "delete",
  Terminating: "wait",
  Held: "wait",
  Refused: "refuse"
}

/** The plan of one grid, in the words of a person. */
export const gridPlan = (
  grid: Grid,
  nodes: readonly Node[],
  children: readonly ChildObject[],
  o: { readonly unitGrace: number; readonly legacy: readonly string[]; readonly now: number }
): GridPlan => {
  const name = gridKey(grid)
  const units = typeof name === "string" && grid.kind !== "ServiceGrid" ? unitsOf(name, nodes) : []
  const kind = childKind(grid)
  const near = children.filter((each) => (each.metadata.namespace ?? "default") === grid.metadata.namespace)
  const known = new Map(near.map((each) => [each.metadata.name, child(kind, each, o.legacy)]))
  const wanted = desired(grid, units)
  const planned: Plan = plan({
    grid,
    desired: wanted,
    children: known,
    held: new Map(),
    vanished: new Map(),
    unitGrace: o.unitGrace,
    now: o.now
  })
  const changes = (step: Step): readonly Difference[] => {
    const live = near.find(({ metadata }) => metadata.name === step.name)
    const object = wanted.objectOf(step.unit)
    return live === undefined || object === undefined
      ? []
      : differences(wantedTree(kind, object), ownedTree(kind, live, MANAGER))
  }
  const line = (step: Step): Line => ({
    unit: step.unit,
    verdict: verdicts[step._tag],
    child: `${kind} ${step.name}`,
    ...(step._tag === "Refused" ? { message: `${step.refusal.reason}: ${step.refusal.message}` } : {}),
    ...(step._tag === "Grace"
      ? { message: `after ${Math.round((step.until - o.now) / 1000)} s, unless a node of the unit returns` }
      : {}),
    ...(step._tag === "Terminating" ? { message: "it is being deleted" } : {}),
    ...(step._tag === "HandOver" ? { message: `spec.replicas stays at ${step.replicas} and is let go` } : {}),
    ...(step._tag === "Change" || step._tag === "Switch" || step._tag === "TakeOver"
      ? { fields: changes(step) }
      : {})
  })
  const deleting = typeof grid.metadata.deletionTimestamp === "string"
  const whole = planned.refused.map((refusal): Line => ({
    unit: undefined,
    verdict: "refuse",
    child: "all children stay as they are",
    message: `${refusal.reason}: ${refusal.message}`
  }))
  const unused = grid.kind === "ServiceGrid" || deleting ? [] : unusedTemplates(grid)
  const pruned = unused.map((entry): Line => ({
    unit: undefined,
    verdict: "change",
    child: `spec.templatePool[${entry}]`,
    message: "removed: no unit uses it"
  }))
  const notes = wanted.notices.map((notice): Line => ({
    unit: undefined,
    verdict: "note",
    child: notice.message
  }))
  const end: readonly Line[] = deleting
    ? [{ unit: undefined, verdict: "keep", child: "the grid is being deleted: nothing is done" }]
    : []
  return {
    grid: `${grid.kind} ${grid.metadata.namespace ?? "default"}/${grid.metadata.name}`,
    key: typeof name === "string" ? name : "",
    units: units.length,
    lines: [...end, ...whole, ...planned.steps.map(line), ...pruned, ...notes]
  }
}

const short = (value: string | undefined): string =>
  value === undefined ? "(absent)" : value.length > 60 ? `${value.slice(0, 59)}…` : value

/** The text of some plans, with a line that counts. */
export const render = (plans: readonly GridPlan[]): string => {
  const out: string[] = []
  for (const { grid, key: name, units, lines } of plans) {
    out.push(
      `${grid}${name === "" ? "" : `  (key ${name}${grid.startsWith("ServiceGrid") ? "" : `, ${units} ${units === 1 ? "unit" : "units"}`})`}`
    )
    const width = Math.max(0, ...lines.map(({ unit }) => (unit ?? "-").length))
    for (const line of lines) {
      out.push(
        `  ${(line.unit ?? "-").padEnd(width)}  ${line.verdict.padEnd(9)}  ${line.child}${line.message === undefined ? "" : `  ${line.message}`}`
      )
      for (const { path, wanted, owned } of line.fields ?? [])
        out.push(`  ${" ".repeat(width)}             ${path}: ${short(owned)} -> ${short(wanted)}`)
    }
    if (lines.length === 0) out.push(`  no unit: no node has the label "${name}"`)
    out.push("")
  }
  const count = (verdict: string): number =>
    plans.flatMap(({ lines }) => lines).filter((line) => line.verdict === verdict).length
  const told = ["create", "change", "take over", "delete", "wait", "keep", "refuse"].map(
    (verdict) => [verdict, count(verdict)] as const
  )
  out.push(
    `${told
      .filter(([verdict, n]) => n > 0 || verdict === "create" || verdict === "change")
      .map(([verdict, n]) => `${n} to ${verdict}`)
      .join(", ")}`
  )
  return out.join("\n")
}

/** 1 where something is refused, 2 where there is something to do, 0 where there is nothing. */
export const exitCode = (plans: readonly GridPlan[]): number => {
  const found = new Set(plans.flatMap(({ lines }) => lines.map(({ verdict }) => verdict)))
  if (found.has("refuse")) return 1
  return ["create", "change", "take over", "delete"].some((verdict) => found.has(verdict)) ? 2 : 0
}
