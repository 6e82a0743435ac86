/** What whole grids come to: their children, and plans for these as the API server has them. */
import { child, type ChildObject } from "../src/core/child.ts"
import { childKind, childObject, desired } from "../src/core/desired.ts"
import type { Grid, WorkloadGrid } from "../src/core/grid.ts"
import type { WorkloadSpec } from "../src/core/kube.ts"
import { plan, type Step } from "../src/core/plan.ts"
import { workloads, type Workload, type Workloads } from "../src/core/workloads.ts"
import { applied, byName, nodesOf, planInput } from "./given.ts"

/** A grid's child as it is sent. */
const sent = (grid: Grid, unit: string): ChildObject => {
  const object = childObject(grid, grid.kind === "ServiceGrid" ? undefined : unit)
  if (object === undefined) throw new Error("the unit is refused")
  return object
}

export const podOf = (grid: WorkloadGrid) => (sent(grid, "a").spec as WorkloadSpec).template

/** A grid's child right after it was applied; of unit a where nothing else is said. */
export const live = (grid: Grid, more: Parameters<typeof applied>[1] = {}, unit = "a"): ChildObject =>
  applied(sent(grid, unit), more)

export const steps = (
  grid: Grid,
  units: readonly string[],
  objects: readonly ChildObject[],
  more: Partial<Parameters<typeof planInput>[0]> = {}
): readonly Step[] =>
  plan(
    planInput({
      grid: grid as WorkloadGrid,
      desired: desired(grid, units),
      children: byName(objects.map((each) => child(childKind(grid), each, ["application-grid-controller"]))),
      ...more
    })
  ).steps

/** Such as `web-a Keep`. */
export const tags = (...given: Parameters<typeof steps>): readonly string[] =>
  steps(...given).map((step) => `${step.name} ${step._tag}`)

export const messageOf = (step: Step | undefined): string =>
  step?._tag === "Refused" ? step.refusal.message : ""

/** What a grid wants where there is one node in each of these units of its key. */
export const wantedIn = (grid: WorkloadGrid, units: readonly string[]): Workloads =>
  workloads(grid, nodesOf(grid.spec.gridUniqKey ?? "", units))

export const unitNamed = (child: ChildObject): string | undefined =>
  child.metadata.annotations?.["superedge.io/unit"]
export const selectorOf = (child: Workload) => child.spec.template?.spec?.nodeSelector
export const imageOf = (child: Workload): unknown => {
  const containers = child.spec.template?.spec?.["containers"]
  return Array.isArray(containers) ? (containers[0] as { readonly image?: unknown }).image : undefined
}
