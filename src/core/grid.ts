/**
 * The grids, and every label, annotation and name that is written.
 *
 * Groups, kinds, labels and names are those of SuperEdge, so that its users' YAML keeps working.
 */
import { hash } from "./hash.ts"
import type {
  Condition,
  JsonObject,
  KubeObject,
  OwnerReference,
  ServiceSpec,
  StringMap,
  WorkloadSpec
} from "./kube.ts"

type Maybe<T> = T | null | undefined

export const GRID_API = "superedge.io/v1"

export const GRID_SELECTOR = "superedge.io/grid-selector"
const GRID_UNIQ_KEY = "superedge.io/grid-uniq-key"
export const GRID = "superedge.io/grid"
export const GRID_KEY = "superedge.io/grid-key"
export const UNIT = "superedge.io/unit"
export const UNIT_GRACE = "superedge.io/unit-grace"
export const DISTRIBUTED = "superedge.io/dis"
export const TOPOLOGY_KEYS = "topologyKeys"

export interface WorkloadGridSpec {
  readonly gridUniqKey?: Maybe<string>
  readonly template?: Maybe<WorkloadSpec>
  readonly templatePool?: Maybe<{ readonly [name: string]: Maybe<WorkloadSpec> }>
  /** unit -> name of a pool entry */
  readonly templates?: Maybe<{ readonly [unit: string]: Maybe<string> }>
  readonly defaultTemplateName?: Maybe<string>
  readonly autoDeleteUnusedTemplate?: Maybe<boolean>
}

export interface GridStatus {
  readonly observedGeneration?: Maybe<number>
  readonly conditions?: Maybe<readonly Condition[]>
  readonly units?: Maybe<number>
  readonly readyUnits?: Maybe<number>
  /** unit -> status of its child */
  readonly states?: Maybe<{ readonly [unit: string]: JsonObject }>
}

export interface DeploymentGrid extends KubeObject {
  readonly kind: "DeploymentGrid"
  readonly spec: WorkloadGridSpec
  readonly status?: Maybe<GridStatus>
}

export interface StatefulSetGrid extends KubeObject {
  readonly kind: "StatefulSetGrid"
  readonly spec: WorkloadGridSpec
  readonly status?: Maybe<GridStatus>
}

export interface ServiceGridStatus {
  readonly observedGeneration?: Maybe<number>
  readonly conditions?: Maybe<readonly Condition[]>
  /** name of the grid's Service */
  readonly service?: Maybe<string>
  readonly loadBalancer?: Maybe<JsonObject>
}

export interface ServiceGrid extends KubeObject {
  readonly kind: "ServiceGrid"
  readonly spec: {
    readonly gridUniqKey?: Maybe<string>
    readonly template?: Maybe<ServiceSpec>
    readonly topologyKeys?: Maybe<readonly string[]>
  }
  readonly status?: Maybe<ServiceGridStatus>
}

export type WorkloadGrid = DeploymentGrid | StatefulSetGrid
export type Grid = WorkloadGrid | ServiceGrid

/** Why the user's object, or one unit of it, can't be served: ends in a condition and one event. */
export interface Refusal {
  /** absent: the whole grid is refused */
  readonly unit?: string
  /** CamelCase, as in a condition */
  readonly reason: string
  /** of the field in the user's object, such as `spec.templates[zone1]` */
  readonly path: string
  /** names the value and says what would be accepted */
  readonly message: string
}

const labelName = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const dns1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/

/** Whether a text is a legal label key: an optional DNS subdomain with a slash, and a name of at most 63 characters. */
export const isLabelKey = (text: string): boolean => {
  const slash = text.indexOf("/")
  const prefix = text.slice(0, Math.max(slash, 0))
  const name = text.slice(slash + 1)
  const named = name.length <= 63 && labelName.test(name)
  return slash === -1 ? named : named && prefix.length <= 253 && subdomain.test(prefix)
}

/** Whether a text is a legal, non-empty label value. */
export const isLabelValue = (text: string): boolean => text.length <= 63 && labelName.test(text)

/** A prefix that people recognise and a hash of the exact text, in at most `limit` characters. */
export const hashed = (readable: string, exact: string, limit: number): string => {
  const tail = hash(exact).slice(0, 10)
  const head = readable.slice(0, limit - tail.length - 1).replace(/[^A-Za-z0-9]+$/, "")
  return head === "" ? `x-${tail}` : `${head}-${tail}`
}

/** A label value for a text: the text where it is legal, else a readable prefix and a hash. */
const labelValue = (text: string): string =>
  isLabelValue(text)
    ? text
    : hashed(text.replace(/[^A-Za-z0-9_.]+/g, "-").replace(/^[^A-Za-z0-9]+/, ""), text, 63)

const readable = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, "-")

const fits = {
  DeploymentGrid: (name: string) => name.length <= 63 && subdomain.test(name),
  StatefulSetGrid: (name: string) => name.length <= 52 && dnsLabel.test(name)
}
const limit = { DeploymentGrid: 63, StatefulSetGrid: 52 }

/**
 * The name of a unit's child: `<grid>-<unit>` where that is a valid name and short enough (a Deployment: DNS
 * subdomain of at most 63 characters; a StatefulSet: DNS label of at most 52, since its pods' label
 * `controller-revision-hash` carries the name and 11 characters more), else a readable name with a hash of both.
 * Depends on nothing else, so it is the same after a restart.
 */
export const childName = (grid: WorkloadGrid, unit: string): string => {
  const plain = `${grid.metadata.name}-${unit}`
  if (fits[grid.kind](plain)) return plain
  return hashed(readable(plain).replace(/^-+/, ""), `${grid.metadata.name}/${unit}`, limit[grid.kind])
}

/** The name of a ServiceGrid's Service. */
export const serviceName = (grid: ServiceGrid): string => `${grid.metadata.name}-svc`

/** Of a child's name so much is never cut off for a hash. */
const KEPT = 40

/** Whether a grid of this name may want a child of that name, with whatever unit. */
export const mayWant = (gridName: string, name: string): boolean =>
  readable(name).startsWith(readable(`${gridName}-`).slice(0, KEPT))

/** Whether `<name>-svc` is a legal Service name (DNS-1035 label of at most 63 characters). */
export const namesService = (name: string): boolean => name.length <= 59 && dns1035.test(name)

const toolLabels = new Set(["app.kubernetes.io/managed-by", "app.kubernetes.io/instance"])
const toolPrefixes = [
  "argocd.argoproj.io/",
  "helm.sh/",
  "meta.helm.sh/",
  "kustomize.toolkit.fluxcd.io/",
  "helm.toolkit.fluxcd.io/",
  "kubectl.kubernetes.io/"
]
const isTools = (key: string): boolean =>
  toolLabels.has(key) || toolPrefixes.some((prefix) => key.startsWith(prefix))

/** A map without the entries by which deployment tools claim an object, and without nulls. */
export const withoutTools = (map: Maybe<StringMap>): StringMap =>
  Object.fromEntries(
    Object.entries(map ?? {}).filter(
      ([key, value]: [string, unknown]) => typeof value === "string" && !isTools(key)
    )
  )

/** The labels of a grid's child: the grid's own without the tools' ones, the grid's name and its key. */
export const childLabels = (grid: Grid, key: string): StringMap => ({
  ...withoutTools(grid.metadata.labels),
  [GRID_SELECTOR]: labelValue(grid.metadata.name),
  [GRID_UNIQ_KEY]: labelValue(key)
})

/** The value of the label `superedge.io/grid-selector` on a grid's children. */
export const gridSelector = (grid: Grid): string => labelValue(grid.metadata.name)

/** The owner reference by which a grid controls its children. A grid that the API never stored has uid "". */
export const ownerReference = (grid: Grid): OwnerReference => ({
  apiVersion: GRID_API,
  kind: grid.kind,
  name: grid.metadata.name,
  uid: grid.metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true
})

/** The grid key, or the refusal of the whole grid. */
export const gridKey = (grid: Grid): string | Refusal => {
  const key: unknown = (grid.spec as Maybe<Grid["spec"]>)?.gridUniqKey
  if (typeof key === "string" && isLabelKey(key)) return key
  return {
    reason: "InvalidGridKey",
    path: "spec.gridUniqKey",
    message: `spec.gridUniqKey: ${JSON.stringify(key ?? "")} is no label key; use the key of a node label, such as "zone" or "topology.kubernetes.io/zone"`
  }
}
