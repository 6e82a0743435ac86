/**
 * A child, as far as it must be remembered: whose it is, a digest of what we own in it, its status in short.
 *
 * Wanted and observed children are reduced to the same few facts, so that twenty thousand of them fit in little
 * memory and a plan compares texts.
 */
import { digestWanted, type Memo, ownedTree } from "./fields.ts"
import { GRID_SELECTOR, UNIT } from "./grid.ts"
import { immutable } from "./immutable.ts"
import { asText, isObject } from "./json.ts"
import type {
  Deployment,
  KubeObject,
  ManagedFieldsEntry,
  Service,
  StatefulSet,
  WorkloadStatus
} from "./kube.ts"
import type { ChildKind } from "./schema.ts"
import { takeover } from "./takeover.ts"
import { digest, type Tree } from "./tree.ts"
import { own } from "./value.ts"

/** Our field manager for everything that a template says. */
export const MANAGER = "servicegroup"
/** Holds `spec.replicas` after a template let go of it, so that the server does not reset the number. */
export const REPLICAS_MANAGER = "servicegroup-replicas"
/** Writes away a default that nobody owns and that contradicts the template; what it owns then is taken over. */
export const SWITCH_MANAGER = "servicegroup-switch"
/** The manager of fields written before the object's first server-side apply (Kubernetes' own name). */
const BEFORE_FIRST_APPLY = "before-first-apply"
/** SuperEdge's label on pods: to remove it would restart them. */
const TEMPLATE_HASH_PATH = ["spec", "template", "metadata", "labels", "superedge.io/template-hash-key"]
const REPLICAS_PATH = ["spec", "replicas"]

export type ChildObject = Deployment | StatefulSet | Service

/** A controller owner, in short. */
export interface Owner {
  readonly kind: string
  readonly name: string
  readonly uid: string
}

/** What the rules need to know of a child that exists. */
export interface Child {
  /** `namespace/name` */
  readonly key: string
  readonly kind: ChildKind
  readonly name: string
  readonly uid: string
  /** resourceVersion, a decimal string */
  readonly revision: string
  readonly generation: number
  /** the controller owner */
  readonly owner: Owner | undefined
  /** the label `superedge.io/grid-selector` */
  readonly gridSelector: string | undefined
  /** the annotation `superedge.io/unit` */
  readonly unit: string | undefined
  readonly deleting: boolean
  /** digest of what our manager owns */
  readonly owned: string
  /** we own `spec.replicas` and nobody else does: it would fall back to the default if we let go */
  readonly aloneOnReplicas: boolean
  readonly replicas: number | undefined
  /** pods that a StatefulSet keeps at its former template: those below `rollingUpdate.partition` */
  readonly partition: number
  /** another manager of ours or SuperEdge's owns fields that a template should own */
  readonly legacy: boolean
  /** has the parameters of a rolling update as a default, which no apply of ours can remove */
  readonly defaultRolling: boolean
  /** field that the API server never changes -> digest of its value */
  readonly fixed: { readonly [path: string]: string }
  /** of a StatefulSet: the Service that publishes its pods; empty: none */
  readonly serviceName: string
  /** JSON of `status`, kept as text: it is read once a status write, and weighs a third of the object */
  readonly status: string
}

/** What the rules need to know of a child that should exist. */
export interface Wanted {
  /** absent for a Service, which stands for all units */
  readonly unit: string | undefined
  readonly name: string
  readonly digest: string
  readonly replicas: number | undefined
  /** wants rolling updates, whose parameters the other strategies (`Recreate`, `OnDelete`) contradict */
  readonly rolls: boolean
  readonly fixed: { readonly [path: string]: string }
}

/** A short form of an owner reference: kind, name and uid. */
const controller = (object: KubeObject): Owner | undefined => {
  const references: unknown = object.metadata.ownerReferences
  for (const each of Array.isArray(references) ? (references as readonly unknown[]) : [])
    if (isObject(each) && each["controller"] === true)
      return { kind: asText(each["kind"]), name: asText(each["name"]), uid: asText(each["uid"]) }
  return undefined
}

const textAt = (map: unknown, key: string): string | undefined => {
  const value = isObject(map) && Object.hasOwn(map, key) ? map[key] : undefined
  return typeof value === "string" ? value : undefined
}

const numberAt = (map: unknown, key: string): number | undefined => {
  const value = isObject(map) && Object.hasOwn(map, key) ? map[key] : undefined
  return typeof value === "number" ? value : undefined
}

/** The Service that publishes a StatefulSet's pods; empty: none. */
export const serviceNameOf = (set: unknown): string => textAt(own(set, "spec"), "serviceName") ?? ""

/** Whether our manager applied `spec.replicas` and no other entry has it, neither of an autoscaler nor of a subresource. */
const aloneOnReplicas = (object: ChildObject): boolean => {
  const entries: unknown = object.metadata.managedFields
  const holders = (Array.isArray(entries) ? (entries as readonly unknown[]) : []).filter(
    (entry) => own(own(own(entry, "fieldsV1"), "f:spec"), "f:replicas") !== undefined
  )
  return (
    holders.length === 1 && own(holders[0], "manager") === MANAGER && own(holders[0], "operation") === "Apply"
  )
}

const strategyField = (kind: ChildKind): string => (kind === "StatefulSet" ? "updateStrategy" : "strategy")

const strategyOf = (kind: ChildKind, spec: unknown): { readonly [field: string]: unknown } => {
  const strategy = isObject(spec) ? spec[strategyField(kind)] : undefined
  return isObject(strategy) ? strategy : {}
}

/** Whether a wanted strategy goes with rolling-update parameters; absent is RollingUpdate. */
const rolls = (kind: ChildKind, spec: unknown): boolean =>
  (strategyOf(kind, spec)["type"] ?? "RollingUpdate") === "RollingUpdate"

const hasDefaultRolling = (kind: ChildKind, spec: unknown, owned: Tree): boolean =>
  isObject(strategyOf(kind, spec)["rollingUpdate"]) &&
  owned.parts.get("spec")?.parts.get(strategyField(kind))?.parts.get("rollingUpdate") === undefined

/** A merge patch that gives a child another strategy than rolling updates, without their defaulted parameters. */
export const strategySwitch = (kind: ChildKind, object: ChildObject, uid: string): object => ({
  metadata: { uid },
  spec: { [strategyField(kind)]: { type: strategyOf(kind, object.spec)["type"], rollingUpdate: null } }
})

/**
 * Reduces an object as the API gave it to what the rules need.
 *
 * @param legacy field managers whose fields are taken over (SuperEdge's `application-grid-controller`)
 */
export const child = (kind: ChildKind, object: ChildObject, legacy: readonly string[]): Child => {
  const meta = object.metadata
  const spec: unknown = object.spec
  const owned = ownedTree(kind, object, MANAGER)
  return {
    key: `${textAt(meta, "namespace") ?? ""}/${meta.name}`,
    kind,
    name: meta.name,
    uid: textAt(meta, "uid") ?? "",
    revision: textAt(meta, "resourceVersion") ?? "",
    generation: numberAt(meta, "generation") ?? 0,
    owner: controller(object),
    gridSelector: textAt(meta.labels, GRID_SELECTOR),
    unit: textAt(meta.annotations, UNIT),
    deleting: typeof meta.deletionTimestamp === "string",
    owned: digest(owned),
    aloneOnReplicas: aloneOnReplicas(object),
    replicas: numberAt(spec, "replicas"),
    partition: numberAt(strategyOf(kind, spec)["rollingUpdate"], "partition") ?? 0,
    legacy: takenOver(object, legacy, [TEMPLATE_HASH_PATH, REPLICAS_PATH]) !== undefined,
    defaultRolling: hasDefaultRolling(kind, spec, owned),
    fixed: immutable(kind, object),
    serviceName: kind === "StatefulSet" ? serviceNameOf(object) : "",
    status: JSON.stringify(object.status ?? {})
  }
}

/** Reduces a wanted child to what the rules need. `memo` lives for one call over children that share subtrees. */
export const wantedChild = (kind: ChildKind, object: ChildObject, memo: Memo): Wanted => ({
  unit: textAt(object.metadata.annotations, UNIT),
  name: object.metadata.name,
  digest: digestWanted(kind, object, memo),
  replicas: numberAt(object.spec, "replicas"),
  rolls: rolls(kind, object.spec),
  fixed: immutable(kind, object)
})

/**
 * `managedFields` in which our manager owns what the legacy managers owned, except the given paths, which stay; `undefined`
 * where nothing would move. Later an entry removed from a grid disappears from the child.
 */
const takenOver = (
  object: ChildObject,
  legacy: readonly string[],
  except: readonly (readonly string[])[]
): readonly ManagedFieldsEntry[] | undefined => {
  const apiVersion =
    object.apiVersion ?? (object.metadata as { readonly apiVersion?: string }).apiVersion ?? "apps/v1"
  return takeover(object.metadata.managedFields, {
    from: [...legacy, BEFORE_FIRST_APPLY, SWITCH_MANAGER],
    to: MANAGER,
    except,
    apiVersion
  })
}

/**
 * The `managedFields` to write when a child is taken over from SuperEdge: everything becomes ours, except the pod label by
 * which SuperEdge marked templates (its removal would restart pods), and the number of replicas where the template has none.
 */
export const ownership = (
  object: ChildObject,
  legacy: readonly string[],
  templateHasReplicas: boolean
): readonly ManagedFieldsEntry[] | undefined =>
  takenOver(object, legacy, templateHasReplicas ? [TEMPLATE_HASH_PATH] : [TEMPLATE_HASH_PATH, REPLICAS_PATH])

/** The status of a child, as the API gave it. */
export const statusOf = (child: Child): WorkloadStatus => JSON.parse(child.status) as WorkloadStatus
