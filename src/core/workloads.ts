/**
 * (grid, nodes) -> the children wanted, and the units refused.
 *
 * A unit's child is its template with the unit in `nodeSelector`, the grid as controller owner, and labels and
 * annotations that say which grid, key and unit it stands for. Nothing else is written into the pod template, so
 * that neither an upgrade nor a change of strategy restarts a pod.
 */
import { duplicates } from "./items.ts"
import {
  childLabels,
  childName,
  DISTRIBUTED,
  GRID,
  GRID_KEY,
  gridKey,
  ownerReference,
  type Refusal,
  UNIT,
  type WorkloadGrid
} from "./grid.ts"
import { asText, isObject } from "./json.ts"
import type {
  Deployment,
  Node,
  OwnerReference,
  PodTemplate,
  StatefulSet,
  StringMap,
  WorkloadSpec
} from "./kube.ts"
import { selects } from "./selector.ts"
import { stated } from "./stated.ts"
import { unitsOf } from "./units.ts"
import { own } from "./value.ts"

export type Workload = Deployment | StatefulSet

export interface Workloads {
  readonly wanted: readonly Workload[]
  readonly refused: readonly Refusal[]
}

/** Where a unit's template stands in the grid: the field's path, and what is there. */
interface Source {
  readonly path: string
  readonly template: unknown
}

/** A template as it goes into children, or why it can't. */
type Prepared =
  | { readonly _tag: "Ready"; readonly spec: WorkloadSpec }
  | { readonly _tag: "Refused"; readonly refusal: Refusal }

const kinds = { DeploymentGrid: "Deployment", StatefulSetGrid: "StatefulSet" } as const

/** The kind of a grid's children. */
export const workloadKind = (grid: WorkloadGrid): "Deployment" | "StatefulSet" => kinds[grid.kind]

/** The name of a unit's template and the field that says so; the name `default` and the empty name mean `spec.template`. */
const templateName = (grid: WorkloadGrid, unit: string): { readonly path: string; readonly name: string } => {
  const mine = own(grid.spec.templates, unit)
  return typeof mine === "string"
    ? { path: `spec.templates[${unit}]`, name: mine }
    : { path: "spec.defaultTemplateName", name: asText(grid.spec.defaultTemplateName ?? "") }
}

/** `templates[unit]`, else `defaultTemplateName`, else `spec.template`; a refusal where that isn't there. */
const sourceOf = (grid: WorkloadGrid, unit: string): Source | Refusal => {
  const { path, name } = templateName(grid, unit)
  if (name === "" || name === "default") {
    if (isObject(grid.spec.template)) return { path: "spec.template", template: grid.spec.template }
    return {
      unit,
      reason: "TemplateMissing",
      path: "spec.template",
      message: `unit ${unit} uses spec.template, which the grid does not have; add it, or name an entry of spec.templatePool in spec.templates or spec.defaultTemplateName`
    }
  }
  const template = own(grid.spec.templatePool, name)
  if (isObject(template)) return { path: `spec.templatePool[${name}]`, template }
  const pool = Object.keys(grid.spec.templatePool ?? {}).sort()
  return {
    unit,
    reason: "TemplateMissing",
    path,
    message: `${path}: unit ${unit} wants the template "${name}", which is not in spec.templatePool (${pool.length === 0 ? "it is empty" : `it has ${pool.join(", ")}`})`
  }
}

/** Where a unit's template stands in the grid, such as `spec.templatePool[t1]`. */
export const templatePath = (grid: WorkloadGrid, unit: string): string => sourceOf(grid, unit).path

/** Checks what the API server would refuse anyway, so that the message names the field in the grid. */
const prepare = (grid: WorkloadGrid, source: Source): Prepared => {
  const refused = (reason: string, path: string, message: string): Prepared => ({
    _tag: "Refused",
    refusal: { reason, path: `${source.path}.${path}`, message: `${source.path}.${path}: ${message}` }
  })
  const spec = stated(workloadKind(grid), source.template) as WorkloadSpec
  const pod: unknown = spec.template
  if (!isObject(pod) || !isObject(pod["spec"]))
    return refused(
      "InvalidTemplate",
      "template.spec",
      "is missing; a template needs a pod spec with containers"
    )
  if (!isObject(spec.selector))
    return refused(
      "SelectorMissing",
      "selector",
      "is missing; use labels that the pods have, such as matchLabels: {app: web}"
    )
  const nodeSelector: unknown = pod["spec"]["nodeSelector"]
  if (nodeSelector !== undefined && !isObject(nodeSelector))
    return refused(
      "InvalidTemplate",
      "template.spec.nodeSelector",
      `is ${JSON.stringify(nodeSelector)}; use labels of nodes, such as {disk: ssd}`
    )
  const labels = spec.template?.metadata?.labels ?? {}
  if (!selects(spec.selector, labels))
    return refused(
      "SelectorMismatch",
      "selector",
      `does not match the pod labels ${JSON.stringify(labels)} in ${source.path}.template.metadata.labels`
    )
  const twice = duplicates(workloadKind(grid), { spec })[0]
  if (twice !== undefined) {
    const path = twice.path.replace(/^spec\./, "")
    return refused("DuplicateKey", path, `has ${twice.key} twice; server-side apply takes each key once`)
  }
  return { _tag: "Ready", spec }
}

/** What all children of a grid have in common: made once, so that what is compared is shared. */
interface Common {
  readonly key: string
  readonly labels: StringMap
  readonly ownerReferences: readonly OwnerReference[]
}

const assemble = (
  grid: WorkloadGrid,
  { key, ...common }: Common,
  unit: string,
  spec: WorkloadSpec
): Workload => {
  const pod: PodTemplate = spec.template ?? {}
  return {
    apiVersion: "apps/v1",
    kind: workloadKind(grid),
    metadata: {
      name: childName(grid, unit),
      ...(typeof grid.metadata.namespace === "string" ? { namespace: grid.metadata.namespace } : {}),
      ...common,
      annotations: { [GRID]: grid.metadata.name, [GRID_KEY]: key, [UNIT]: unit }
    },
    spec: {
      ...spec,
      template: { ...pod, spec: { ...pod.spec, nodeSelector: { ...pod.spec?.nodeSelector, [key]: unit } } }
    }
  }
}

/**
 * Makes the child of one unit after the other, or says why it is refused; checks each template once, however many units use it, and
 * shares its subtrees among their children. A refusal in place of the function refuses the whole grid.
 */
export const workloadMaker = (grid: WorkloadGrid): ((unit: string) => Workload | Refusal) | Refusal => {
  const key = gridKey(grid)
  if (typeof key !== "string") return key
  const prepared = new Map<string, Prepared>()
  const common = { key, labels: childLabels(grid, key), ownerReferences: [ownerReference(grid)] }
  return (unit) => {
    const source = sourceOf(grid, unit)
    if ("reason" in source) return source
    let template = prepared.get(source.path)
    if (template === undefined) prepared.set(source.path, (template = prepare(grid, source)))
    return template._tag === "Refused"
      ? { ...template.refusal, unit }
      : assemble(grid, common, unit, template.spec)
  }
}

/** The children of the given units, and the units refused. A refusal without a unit refuses the whole grid. */
export const workloadsOf = (grid: WorkloadGrid, units: readonly string[]): Workloads => {
  const make = workloadMaker(grid)
  if (typeof make !== "function") return { wanted: [], refused: [make] }
  const wanted: Workload[] = []
  const refused: Refusal[] = []
  for (const unit of units) {
    const made = make(unit)
    if ("reason" in made) refused.push(made)
    else wanted.push(made)
  }
  return { wanted, refused }
}

/**
 * One workload for each unit of the grid's key, in the order of the units. Depends on the grid and on the values of the
 * key's label alone: not on the order, number or health of the nodes. Never throws on a stored object, never
 * writes to its arguments.
 */
export const workloads = (grid: WorkloadGrid, nodes: readonly Node[]): Workloads => {
  const key = gridKey(grid)
  return workloadsOf(grid, typeof key === "string" ? unitsOf(key, nodes) : [])
}

/** The templates in use that set the grid key in their own nodeSelector, where the unit's value wins: path and value. */
export const overridden = (
  grid: WorkloadGrid,
  units: readonly string[]
): readonly { readonly path: string; readonly value: string }[] => {
  const key = gridKey(grid)
  if (typeof key !== "string") return []
  const found = new Map<string, string>()
  for (const unit of units) {
    const source = sourceOf(grid, unit)
    if ("reason" in source) continue
    const value = own((source.template as WorkloadSpec).template?.spec?.nodeSelector, key)
    if (typeof value === "string") found.set(`${source.path}.template.spec.nodeSelector[${key}]`, value)
  }
  return [...found].map(([path, value]) => ({ path, value }))
}

/**
 * The entries of `spec.templatePool` that neither `templates` nor `defaultTemplateName` names, where the grid asks
 * for their removal (`autoDeleteUnusedTemplate`) and is no copy of another cluster's grid.
 */
export const unusedTemplates = (grid: WorkloadGrid): readonly string[] => {
  const { autoDeleteUnusedTemplate, templatePool, templates, defaultTemplateName } = grid.spec
  if (autoDeleteUnusedTemplate !== true || grid.metadata.labels?.[DISTRIBUTED] === "yes") return []
  const used = new Set<unknown>([...Object.values(templates ?? {}), defaultTemplateName])
  return Object.keys(templatePool ?? {})
    .filter((name) => !used.has(name))
    .sort()
}
