/**
 * The pure core on one core: all children wanted of 20 grids x 1,000 units, and compared with what exists.
 */
import type { Child, ChildObject } from "../src/core/index.ts"
import { child, desired, plan, unitsOf, workloads } from "../src/core/index.ts"
import { start, step } from "../src/embedded/model.ts"
import { grid, KEY, nodes, NOW } from "./grids.ts"

/** Children as the model of the API server stores them, managedFields included. */
const stored = (grids: number, units: number): readonly ChildObject[] => {
  let cluster = start(NOW)
  const found: ChildObject[] = []
  const live = nodes(units)
  for (let i = 0; i < grids; i++)
    for (const object of workloads(grid(i), live).wanted) {
      const told = step(cluster, {
        method: "PATCH",
        path: `/apis/apps/v1/namespaces/default/deployments/${object.metadata.name}`,
        query: { fieldManager: "servicegroup", force: "true" },
        contentType: "application/apply-patch+yaml",
        body: object,
        at: NOW
      })
      if (told.response.code !== 201) throw new Error(JSON.stringify(told.response.body))
      cluster = told.cluster
      found.push(told.response.body as ChildObject)
    }
  return found
}

/** A result and the CPU time it took, in milliseconds: other processes on the machine don't count. */
const timed = <A>(run: () => A): readonly [A, number] => {
  const from = process.cpuUsage()
  const result = run()
  const { user, system } = process.cpuUsage(from)
  return [result, (user + system) / 1000]
}

/** Wants and compares everything; gives milliseconds of CPU. Nothing may be left to do. */
const pass = (grids: number, units: number, known: readonly ReadonlyMap<string, Child>[]): number => {
  const live = nodes(units)
  const [left, milliseconds] = timed(() => {
    let steps = 0
    for (let i = 0; i < grids; i++) {
      const one = grid(i)
      const wanted = desired(one, unitsOf(KEY, live))
      const children = known[i] ?? new Map<string, Child>()
      const planned = plan({
        grid: one,
        desired: wanted,
        children,
        held: new Map(),
        vanished: new Map(),
        unitGrace: 60,
        now: NOW
      })
      steps += planned.steps.filter(({ _tag }) => _tag !== "Keep").length
    }
    return steps
  })
  if (left !== 0) throw new Error(`${left} steps are left, where nothing should be`)
  return milliseconds
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Figures of the pure core: milliseconds, and how they grow. */
export const core = (): readonly (readonly [string, string])[] => {
  const [grids, units] = [20, 1000]
  const [objects, making] = timed(() => stored(grids, units))
  const [reduced, reducing] = timed(() =>
    objects.map((object) => child("Deployment", object, ["application-grid-controller"]))
  )
  const of = (perGrid: number): readonly ReadonlyMap<string, Child>[] =>
    Array.from({ length: grids }, (_, i) => {
      const mine = reduced.slice(i * units, i * units + perGrid)
      return new Map(mine.map((each) => [each.name, each]))
    })
  const run = (g: number, u: number): number => median(Array.from({ length: 7 }, () => pass(g, u, of(u))))
  const [all, halfGrids, halfUnits] = [run(grids, units), run(grids / 2, units), run(grids, units / 2)]
  return [
    ["want and compare 20 grids x 1,000 units", `${all.toFixed(0)} ms CPU`],
    ["  twice the grids cost", `${(all / halfGrids).toFixed(2)} x`],
    ["  twice the units cost", `${(all / halfUnits).toFixed(2)} x`],
    ["reduce 20,000 children as they arrive", `${reducing.toFixed(0)} ms CPU`],
    ["(20,000 applies in the model of the API server)", `${making.toFixed(0)} ms CPU`]
  ]
}
