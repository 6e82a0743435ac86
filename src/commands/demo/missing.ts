/**
 * (scene, what should be there) -> what is not, or not yet: the demo waits until nothing is missing, and judges its
 * end by it.
 *
 * Every expectation is written out by the story; nothing here is computed by the rules that the controller runs.
 */
import type { DeploymentGrid, ServiceGrid } from "../../core/grid.ts"
import type { Deployment, KubeObject } from "../../core/kube.ts"
import { conditionOf, imageOf, isChildOf, type Pod, readyOf, type Scene, wantedOf } from "./scene.ts"

/** A unit, its nodes, and the pods that should run on them. */
export interface Unit {
  readonly unit: string
  readonly nodes: readonly string[]
  readonly replicas: number
  readonly image: string
}

/** A grid's units, all of them. */
export interface Expected {
  readonly grid: string
  readonly key: string
  readonly units: readonly Unit[]
}

const named = <A extends KubeObject>(all: readonly A[], name: string): A | undefined =>
  all.find(({ metadata }) => metadata.name === name && metadata.namespace === "default")

const gridNamed = (scene: Scene, name: string): DeploymentGrid | undefined =>
  named(
    scene.grids.filter((grid) => grid.kind === "DeploymentGrid"),
    name
  )

/** What a unit's Deployment lacks. */
const deployment = (scene: Scene, expected: Expected, unit: Unit): readonly string[] => {
  const name = `${expected.grid}-${unit.unit}`
  const found = named(scene.workloads, name) as Deployment | undefined
  if (found === undefined) return [`there is no Deployment ${name}`]
  const selector: unknown = found.spec.template?.spec?.nodeSelector?.[expected.key]
  const ready = readyOf(found)
  return [
    ...(imageOf(found) === unit.image ? [] : [`${name} has image ${imageOf(found)}, not ${unit.image}`]),
    ...(selector === unit.unit
      ? []
      : [`${name} has nodeSelector ${expected.key}=${String(selector)}, not ${unit.unit}`]),
    ...(wantedOf(found) === unit.replicas
      ? []
      : [`${name} has replicas ${wantedOf(found)}, not ${unit.replicas}`]),
    ...(ready === unit.replicas ? [] : [`${name} has ${ready} of ${unit.replicas} pods ready`])
  ]
}

/** A grid's pods on the nodes of a unit. */
export const podsOf = (scene: Scene, nodes: readonly string[]): readonly Pod[] =>
  scene.pods.filter(
    ({ metadata, spec }) =>
      metadata.labels?.["appGrid"] === "echo" && spec.nodeName !== undefined && nodes.includes(spec.nodeName)
  )

const pods = (scene: Scene, { unit, nodes, replicas, image }: Unit): readonly string[] => {
  const found = podsOf(scene, nodes)
  const right = found.filter(
    (pod) => pod.spec.containers?.[0]?.image === image && conditionOf(pod, "Ready")?.status === "True"
  )
  return found.length === replicas && right.length === replicas
    ? []
    : [
        `${found.length} pods are on the nodes of ${unit}, ${right.length} of them ready with ${image}; it should be ${replicas}`
      ]
}

/** What a grid's conditions should say, and don't. */
const conditions = (
  grid: DeploymentGrid | ServiceGrid,
  wanted: { readonly [type: string]: string }
): readonly string[] => {
  const { name, generation } = grid.metadata
  if (grid.status?.observedGeneration !== generation)
    return [`${grid.kind} ${name} has no status of its generation ${generation} yet`]
  return Object.entries(wanted).flatMap(([type, status]) => {
    const found = conditionOf(grid, type)
    return found?.status === status
      ? []
      : [
          `${grid.kind} ${name} has condition ${type} ${found?.status ?? "absent"} (${found?.reason ?? "-"}: ${found?.message ?? "-"}), not ${status}`
        ]
  })
}

/** What is missing from a DeploymentGrid whose units are exactly these: its Deployments, their pods, its status. */
export const missing = (scene: Scene, expected: Expected): readonly string[] => {
  const grid = gridNamed(scene, expected.grid)
  if (grid === undefined) return [`there is no DeploymentGrid ${expected.grid}`]
  const names = expected.units.map(({ unit }) => `${expected.grid}-${unit}`)
  const strange = scene.workloads.filter(
    (each) => isChildOf(each, grid) && !names.includes(each.metadata.name)
  )
  const count = expected.units.length
  const { units, readyUnits } = grid.status ?? {}
  return [
    ...expected.units.flatMap((unit) => [...deployment(scene, expected, unit), ...pods(scene, unit)]),
    ...strange.map(({ metadata }) => `there is still a Deployment ${metadata.name}`),
    ...conditions(grid, { Ready: "True", Progressing: "False", Degraded: "False" }),
    ...(units === count && readyUnits === count
      ? []
      : [
          `the status of ${expected.grid} tells ${readyUnits} of ${units} units ready, not ${count} of ${count}`
        ])
  ]
}

/** What is missing from a ServiceGrid: its one Service, the annotation, so many ready endpoints. */
export const missingService = (
  scene: Scene,
  expected: { readonly grid: string; readonly topologyKeys: string; readonly endpoints: number }
): readonly string[] => {
  const grid = named(scene.serviceGrids, expected.grid)
  if (grid === undefined) return [`there is no ServiceGrid ${expected.grid}`]
  const name = `${expected.grid}-svc`
  const children = scene.services.filter((each) => isChildOf(each, grid))
  const service = named(children, name)
  if (service === undefined) return [`there is no Service ${name}`]
  const keys = service.metadata.annotations?.["topologyKeys"]
  const ready = scene.slices
    .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === name)
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter((endpoint) => endpoint.conditions?.ready === true).length
  return [
    ...(children.length === 1 ? [] : [`ServiceGrid ${expected.grid} has ${children.length} Services, not 1`]),
    ...(keys === expected.topologyKeys
      ? []
      : [`Service ${name} has topologyKeys ${keys ?? "absent"}, not ${expected.topologyKeys}`]),
    ...(service.spec?.clusterIP ? [] : [`Service ${name} has no clusterIP`]),
    ...(ready === expected.endpoints
      ? []
      : [`Service ${name} has ${ready} ready endpoints, not ${expected.endpoints}`]),
    ...conditions(grid, { Ready: "True", Degraded: "False" })
  ]
}

/** What is missing where an object should have a label that someone gave it. */
export const missingLabel = (
  scene: Scene,
  of: { readonly name: string; readonly label: string; readonly value: string }
): readonly string[] => {
  const found = named(scene.workloads, of.name)?.metadata.labels?.[of.label]
  return found === of.value ? [] : [`${of.name} has label ${of.label}=${found ?? "absent"}, not ${of.value}`]
}
