/**
 * (scene, width) -> the table: one line for each grid and unit, with its template, what is ready, and the image.
 */
import { GRID_KEY, TOPOLOGY_KEYS, UNIT, type WorkloadGrid } from "../../core/grid.ts"
import { unitOf, unitsOf } from "../../core/units.ts"
import { templatePath } from "../../core/workloads.ts"
import type { Paint } from "./paint.ts"
import { imageOf, isChildOf, readyOf, type Scene, wantedOf, type Workload } from "./scene.ts"

/** One unit of one grid. */
interface Row {
  readonly grid: string
  readonly unit: string
  readonly nodes: number
  readonly template: string
  readonly child: Workload | undefined
}

const rowsOf = (scene: Scene, grid: WorkloadGrid): readonly Row[] => {
  const key = grid.spec.gridUniqKey ?? ""
  const children = scene.workloads.filter((each) => isChildOf(each, grid))
  const unitOfChild = ({ metadata }: Workload): string =>
    metadata.annotations?.[GRID_KEY] === key ? (metadata.annotations[UNIT] ?? "") : metadata.name
  const units = new Set([...unitsOf(key, scene.nodes), ...children.map(unitOfChild)])
  return [...units].sort().map((unit) => ({
    grid: grid.metadata.name,
    unit,
    nodes: scene.nodes.filter((node) => unitOf(key, node) === unit).length,
    template: templatePath(grid, unit).replace(/^spec\.templatePool\[(.*)\]$/, "$1"),
    child: children.find((each) => unitOfChild(each) === unit)
  }))
}

interface Cell {
  readonly text: string
  readonly paint?: (text: string) => string
}

const cells = (row: Row, paint: Paint): readonly Cell[] => {
  const { child } = row
  const [ready, wanted] = child === undefined ? [0, 0] : [readyOf(child), wantedOf(child)]
  return [
    { text: row.grid },
    { text: row.unit, paint: paint.bold },
    { text: String(row.nodes), ...(row.nodes === 0 ? { paint: paint.yellow } : {}) },
    { text: row.template },
    child === undefined
      ? { text: "-", paint: paint.dim }
      : { text: `${ready}/${wanted}`, paint: ready === wanted ? paint.green : paint.yellow },
    { text: child === undefined ? "" : imageOf(child) }
  ]
}

const HEAD = ["GRID", "UNIT", "NODES", "TEMPLATE", "READY", "IMAGE"]

/** The table and the Services beneath it, each line at most so wide. */
export const board = (scene: Scene, width: number, paint: Paint): readonly string[] => {
  const rows = scene.grids.flatMap((grid) => {
    const found = rowsOf(scene, grid)
    const none: readonly Cell[] = [
      { text: grid.metadata.name },
      { text: `no node has the label ${grid.spec.gridUniqKey ?? ""}`, paint: paint.dim }
    ]
    return found.length > 0 ? found.map((row) => cells(row, paint)) : [none]
  })
  if (rows.length === 0) return []
  return [
    ...table([HEAD.map((text) => ({ text, paint: paint.dim })), ...rows], width),
    ...services(scene, width, paint)
  ]
}

const services = (scene: Scene, width: number, paint: Paint): readonly string[] =>
  scene.services
    .filter((service) => scene.serviceGrids.some((grid) => isChildOf(service, grid)))
    .map(({ metadata, spec }) => {
      const keys = metadata.annotations?.[TOPOLOGY_KEYS] ?? "-"
      const text = `Service ${metadata.name}  ${spec?.clusterIP ?? "-"}  topologyKeys: ${keys}`
      return paint.cyan(cut(text, width))
    })

/** Columns side by side; where they are too wide, the widest one gives way. */
const table = (rows: readonly (readonly Cell[])[], width: number): readonly string[] => {
  const columns = HEAD.map((_, column) =>
    Math.max(...rows.map((row) => (row.length < HEAD.length ? 0 : (row[column]?.text.length ?? 0))))
  )
  const whole = (): number => columns.reduce((sum, each) => sum + each + GAP, -GAP)
  while (whole() > width) {
    const widest = columns.indexOf(Math.max(...columns))
    if ((columns[widest] ?? 0) <= NARROWEST) break
    columns[widest] = (columns[widest] ?? 0) - 1
  }
  return rows.map((row) => {
    let room = width
    const parts = row.map(({ text, paint }, column) => {
      const last = column === row.length - 1
      const shown = cut(text, Math.max(Math.min(last ? room : (columns[column] ?? 0), room), 0))
      const padding = last ? "" : " ".repeat(Math.max((columns[column] ?? 0) - shown.length, 0) + GAP)
      room -= shown.length + padding.length
      return (paint?.(shown) ?? shown) + (room > 0 ? padding : "")
    })
    return parts.join("").trimEnd()
  })
}

const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(width - 1, 0))}${width > 0 ? "…" : ""}`

const GAP = 2
const NARROWEST = 5
