/**
 * (scene, width) -> the table of sites: one line for each unit, with its groups and its nodes; and what of it is not as it should be.
 */
import type { NodeUnit } from "../../core/site.ts"
import type { Unit } from "./missing.ts"
import type { Paint } from "./paint.ts"
import { conditionOf, type Scene } from "./scene.ts"
import { type Cell, table } from "./table.ts"

/** The value of the label that each node of a unit bears under the unit's name. */
const MEMBER = "nodeunits.superedge.io"

/** A group with its units. */
interface Group {
  readonly group: string
  readonly units: readonly Pick<Unit, "unit" | "nodes">[]
}

/** What a group lacks whose units, with their nodes, are exactly these: status and labels. */
export const missingSites = (scene: Scene, { group, units }: Group): readonly string[] => {
  const found = scene.nodeGroups.find(({ metadata }) => metadata.name === group)
  const names = units.map(({ unit }) => unit).sort()
  const listed = [...(found?.status?.nodeUnits ?? [])]
  return [
    ...(listed.join() === names.join()
      ? []
      : [`NodeGroup ${group} has the units ${listed.join(", ") || "none"}, not ${names.join(", ")}`]),
    ...units.flatMap(({ unit, nodes }) => [
      ...missingUnit(scene, unit, nodes),
      ...nodes.flatMap((node) => missingLabels(scene, node, { [unit]: MEMBER, [group]: unit }))
    ])
  ]
}

const missingUnit = (scene: Scene, name: string, nodes: readonly string[]): readonly string[] => {
  const unit = scene.nodeUnits.find(({ metadata }) => metadata.name === name)
  const [rate, ready] = [unit?.status?.readyRate ?? "-", [...(unit?.status?.readyNodes ?? [])]]
  const right = rate === `${nodes.length}/${nodes.length}` && ready.join() === [...nodes].sort().join()
  return right
    ? []
    : [
        `NodeUnit ${name} has ${rate} nodes ready: ${ready.join(", ") || "none"}; it should be ${nodes.join(", ")}`
      ]
}

const missingLabels = (
  scene: Scene,
  name: string,
  labels: { readonly [key: string]: string }
): readonly string[] => {
  const node = scene.nodes.find(({ metadata }) => metadata.name === name)
  return Object.entries(labels).flatMap(([key, value]) =>
    node?.metadata.labels?.[key] === value
      ? []
      : [`node ${name} has ${key}=${node?.metadata.labels?.[key] ?? ""}, not ${value}`]
  )
}

/** The table, each line at most so wide. */
export const sites = (scene: Scene, width: number, paint: Paint): readonly string[] => {
  if (scene.nodeUnits.length === 0) return []
  const titles = ["SITE", "GROUP", "READY", "NODES"].map((text): Cell => ({ text, paint: paint.dim }))
  const rows = [...scene.nodeUnits]
    .map((unit) => ({ unit, groups: groupsOf(scene, unit) }))
    .sort(
      (a, b) =>
        Number(a.groups === "") - Number(b.groups === "") || (nameOf(a.unit) < nameOf(b.unit) ? -1 : 1)
    )
  return table([titles, ...rows.map(({ unit, groups }) => cells(unit, groups, paint))], width)
}

const nameOf = ({ metadata }: NodeUnit): string => metadata.name

const groupsOf = ({ nodeGroups }: Scene, unit: NodeUnit): string =>
  nodeGroups
    .filter(({ status }) => status?.nodeUnits?.includes(nameOf(unit)) === true)
    .map(({ metadata }) => metadata.name)
    .join(", ")

const cells = (unit: NodeUnit, groups: string, paint: Paint): readonly Cell[] => {
  const { readyRate, readyNodes, notReadyNodes } = unit.status ?? {}
  const good = conditionOf(unit, "Ready")?.status === "True"
  return [
    { text: nameOf(unit), paint: paint.bold },
    { text: groups || "-" },
    { text: readyRate ?? "-", paint: good ? paint.green : paint.yellow },
    { text: [...(readyNodes ?? []), ...(notReadyNodes ?? [])].sort().join(" ") }
  ]
}
