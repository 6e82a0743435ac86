/**
 * (grid, units) -> its children wanted, reduced to what a plan compares; and one of them whole, when it is written.
 */
import { type ChildObject, type Wanted, wantedChild } from "./child.ts"
import { duration } from "./duration.ts"
import { childName, type Grid, type Refusal, serviceName, UNIT_GRACE } from "./grid.ts"
import { asText } from "./json.ts"
import type { ChildKind } from "./schema.ts"
import { service } from "./service.ts"
import { overridden, templatePath, workloadKind, workloadMaker, workloadsOf } from "./workloads.ts"

export interface Desired {
  readonly wanted: readonly Wanted[]
  readonly refused: readonly Refusal[]
  /** what the grid's owner should know, although nothing is refused: each is told once, as an event */
  readonly notices: readonly Refusal[]
  /** the whole child of a unit, as `childObject` gives it; templates are checked once for all of them */
  readonly objectOf: (unit: string | undefined) => ChildObject | undefined
}

/** The kind of a grid's children. */
export const childKind = (grid: Grid): ChildKind =>
  grid.kind === "ServiceGrid" ? "Service" : workloadKind(grid)

const objects = (
  grid: Grid,
  units: readonly string[]
): { readonly wanted: readonly ChildObject[]; readonly refused: readonly Refusal[] } =>
  grid.kind === "ServiceGrid" ? service(grid) : workloadsOf(grid, units)

/** Everything that is wanted of a grid whose key has these units. Depends on nothing else. */
export const desired = (grid: Grid, units: readonly string[]): Desired => {
  const memo = new Map()
  const { wanted, refused } = objects(grid, units)
  const kind = childKind(grid)
  return {
    wanted: wanted.map((object) => wantedChild(kind, object, memo)),
    refused,
    notices: notices(grid, units),
    objectOf: objectOf(grid)
  }
}

const notices = (grid: Grid, units: readonly string[]): readonly Refusal[] => {
  const told: Refusal[] = []
  if (grid.kind !== "ServiceGrid")
    for (const { path, value } of overridden(grid, units))
      told.push({
        reason: "NodeSelectorOverridden",
        path,
        message: `${path}: "${value}" is replaced by each unit's own value; remove it from the template`
      })
  const grace = graceOf(grid)
  if (grace === "bad")
    told.push({
      reason: "InvalidUnitGrace",
      path: `metadata.annotations[${UNIT_GRACE}]`,
      message: `metadata.annotations[${UNIT_GRACE}]: "${asText(grid.metadata.annotations?.[UNIT_GRACE])}" is no duration such as "5s", "10m" or "0s"; the default is used`
    })
  return told
}

const graceOf = (grid: Grid): number | "bad" | undefined => {
  const text: unknown = grid.metadata.annotations?.[UNIT_GRACE]
  if (text === undefined || text === null) return undefined
  return (typeof text === "string" ? duration(text) : undefined) ?? "bad"
}

/** How long a grid's workloads stay after their unit lost its last node, in seconds; a bad annotation means the default. */
export const graceSeconds = (grid: Grid, defaultSeconds: number): number => {
  const own = graceOf(grid)
  return typeof own === "number" ? own : defaultSeconds
}

const objectOf = (grid: Grid): Desired["objectOf"] => {
  if (grid.kind === "ServiceGrid") return () => service(grid).wanted[0]
  const make = workloadMaker(grid)
  return (unit) => {
    const made = typeof make === "function" && unit !== undefined ? make(unit) : undefined
    return made === undefined || "reason" in made ? undefined : made
  }
}

/** The whole child of a unit (of the grid, where it is a ServiceGrid), as it is applied; `undefined` where it is refused. */
export const childObject = (grid: Grid, unit: string | undefined): ChildObject | undefined =>
  objectOf(grid)(unit)

/** The name of the child of a unit, refused or not. */
export const nameOf = (grid: Grid, unit: string | undefined): string =>
  grid.kind === "ServiceGrid" ? serviceName(grid) : childName(grid, unit ?? "")

/** Where the template of a unit stands in the grid, such as `spec.templatePool[t1]`. */
export const pathOf = (grid: Grid, unit: string | undefined): string =>
  grid.kind === "ServiceGrid" || unit === undefined ? "spec.template" : templatePath(grid, unit)
