/**
 * (scene, width) -> the table: one line for each grid and unit, with its template, what is ready, and the image.
 */
import { GRID_KEY, TOPOLOGY_KEYS, UNIT, type WorkloadGrid } from "../../core/grid.ts"
import type { KubeObject } from "../../core/kube.ts"
import { unitOf, unitsOf } from "../../core/units.ts"
import { templatePath } from "../../core/workloads.ts"
import type { Paint } from "./paint.ts"
import { conditionOf, imageOf, isChildOf, readyOf, type Scene, wantedOf, type Workload } from "./scene.ts"
import { type Cell, cut, table } from "./table.ts"

/** One unit of one grid. */
interface Row {
  readonly grid: string
  readonly unit: string
  readonly nodes: number
  readonly template: string
  readonly child: Workload | undefined
}

const nameOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  (namespace ?? "default") === "default" ? name : `${namespace}/${name}`

const rowsOf = (scene: Scene, grid: WorkloadGrid): readonly Row[] => {
  const key = grid.spec.gridUniqKey ?? ""
  const children = scene.workloads.filter((each) => isChildOf(each, grid))
  const unitOfChild = ({ metadata }: Workload): string =>
    metadata.annotations?.[GRID_KEY] === key ? (metadata.annotations[UNIT] ?? "") : metadata.name
  const units = new Set([...unitsOf(key, scene.nodes), ...children.map(unitOfChild)])
  return [...units].sort().map((unit) => ({
    grid: nameOf(grid),
    unit,
    nodes: scene.nodes.filter((node) => unitOf(key, node.metadata.labels) === unit).length,
    template: templatePath(grid, unit).replace(/^spec\.templatePool\[(.*)\]$/, "$1"),
    child: children.find((each) => unitOfChild(each) === unit)
  }))
}

const cells = (row: Row, paint: Paint): readonly Cell[] => {
  const { child } = row
  const [ready, wanted] = child === undefined ? [0, 0] : [readyOf(child), wantedOf(child)]
  return [
    { text: row.grid },
    { text: row.unit, paint: paint.bold },
    { text: String(row.nodes), paint: row.nodes === 0 ? paint.yellow : undefined },
    { text: row.template },
    child === undefined
      ? { text: "-", paint: paint.dim }
      : { text: `${ready}/${wanted}`, paint: ready === wanted ? paint.green : paint.yellow },
    { text: child === undefined ? "" : imageOf(child), tail: true }
  ]
}

const head = (titles: readonly string[], paint: Paint): readonly Cell[] =>
  titles.map((text) => ({ text, paint: paint.dim }))

/** The table and the Services beneath it, each line at most so wide. */
export const board = (scene: Scene, width: number, paint: Paint): readonly string[] => {
  const rows = scene.grids.flatMap((grid) => {
    const found = rowsOf(scene, grid)
    const none: readonly Cell[] = [
      { text: nameOf(grid) },
      { text: `no node has the label ${grid.spec.gridUniqKey ?? ""}`, paint: paint.dim }
    ]
    return found.length > 0 ? found.map((row) => cells(row, paint)) : [none]
  })
  if (rows.length === 0) return []
  const titles = head(["GRID", "UNIT", "NODES", "TEMPLATE", "READY", "IMAGE"], paint)
  return [...table([titles, ...rows], width), ...services(scene, width, paint)]
}

const services = (scene: Scene, width: number, paint: Paint): readonly string[] =>
  scene.services
    .filter((service) => scene.serviceGrids.some((grid) => isChildOf(service, grid)))
    .map((service) => {
      const { metadata, spec } = service
      const keys = metadata.annotations?.[TOPOLOGY_KEYS] ?? "-"
      const text = `Service ${nameOf(service)}  ${spec?.clusterIP ?? "-"}  topologyKeys: ${keys}`
      return paint.cyan(cut(text, width))
    })

/** What every grid says of itself. */
export const conditions = (scene: Scene, width: number, paint: Paint): readonly string[] => {
  const rows = [...scene.grids, ...scene.serviceGrids].flatMap((grid) =>
    ["Ready", "Progressing", "Degraded"].map((type, i): readonly Cell[] => {
      const { status, reason, message } = conditionOf(grid, type) ?? {}
      const good = status === (type === "Ready" ? "True" : "False")
      return [
        { text: i === 0 ? nameOf(grid) : "" },
        { text: `${type}=${status ?? "-"}`, paint: good ? paint.green : paint.yellow },
        { text: reason ?? "-" },
        { text: message ?? "-" }
      ]
    })
  )
  return table([head(["GRID", "CONDITION", "REASON", "MESSAGE"], paint), ...rows], width)
}
