/**
 * How objects of a kind are read, completed and judged: one strategy for built-in kinds, one for custom ones.
 */
import type { Resource } from "./cluster.ts"
import { completedCustom, customProblems, readCustom } from "./custom.ts"
import { decoded, emptyOf, type Decoded } from "./decode.ts"
import { withDefaults } from "./defaults.ts"
import { nothing, ofPaths, type FieldSet } from "./fieldset.ts"
import { get, listAt, objAt, same, semantic, text, withAt, type Obj } from "./json.ts"
import { anything, typeOfKind, typeOfSchema, type Type } from "./schema.ts"
import { COUNTED, EVENTS, homeOf } from "./served.ts"
import type { Problem } from "./status.ts"
import { problemsOf, statusProblems } from "./validation.ts"

/** The main resource, or its status subresource. */
export type Part = "all" | "status"

export interface Strategy {
  readonly resource: Resource
  readonly apiVersion: string
  readonly type: Type
  /** what a new object is compared with */
  readonly empty: Obj
  /** reads what a client sent */
  readonly read: (given: Obj) => Decoded | { readonly problem: string }
  /** completes what an apply made */
  readonly complete: (merged: Obj) => Decoded | { readonly problem: string }
  /** what a write to this part never owns */
  readonly reset: (part: Part) => FieldSet
  /** the object as it is stored at first */
  readonly created: (object: Obj) => Obj
  /** the object as it replaces another: the parts that this write can't change are the old ones */
  readonly replaced: (object: Obj, before: Obj, part: Part) => Obj
  readonly problems: (object: Obj, before: Obj | undefined, part: Part) => readonly Problem[]
}

const strategies = new WeakMap<Resource, Strategy>()

export const strategyOf = (resource: Resource): Strategy => {
  const known = strategies.get(resource)
  if (known) return known
  const strategy = resource.custom ? customStrategy(resource) : builtInStrategy(resource)
  strategies.set(resource, strategy)
  return strategy
}

const versionOf = ({ group, version }: Pick<Resource, "group" | "version">): string =>
  group === "" ? version : `${group}/${version}`

const STATUS = ofPaths(["f:status"])
const SPEC = ofPaths(["f:spec"])
const SPEC_AND_LABELS = ofPaths(["f:spec"], ["f:metadata", "f:labels"])
const SPEC_AND_OWNERS = ofPaths(
  ["f:spec"],
  ["f:metadata", "f:deletionTimestamp"],
  ["f:metadata", "f:ownerReferences"]
)
const SPEC_AND_META = ofPaths(["f:spec"], ["f:metadata"])

const builtInStrategy = (resource: Resource): Strategy => {
  const { version, kind } = resource
  const group = homeOf(resource.group)
  const type = typeOfKind(group, version, kind) ?? anything
  const apiVersion = versionOf({ group, version })
  const rules = resource.group === EVENTS ? "StrictEvent" : kind
  const head = { apiVersion, kind }
  const read: Strategy["read"] = (given) => {
    const made = decoded(type, given)
    return "problem" in made
      ? made
      : { ...made, object: withDefaults(kind, { ...head, ...made.object, ...head }) }
  }
  return {
    resource,
    apiVersion,
    type,
    empty: { ...head, ...emptyOf(type) },
    read,
    complete: read,
    reset: (part) => {
      if (part === "all") return resource.status ? STATUS : nothing
      if (kind === "Deployment") return SPEC_AND_LABELS
      if (kind === "ServiceCIDR") return SPEC_AND_META
      return kind === "Pod" ? SPEC_AND_OWNERS : SPEC
    },
    created: (object) =>
      counted(kind, resource.status ? (CREATED[kind]?.(object, type) ?? bareStatus(object, type)) : object),
    replaced: (object, before, part) =>
      part === "status" ? statusReplaced(kind, object, before) : specReplaced(resource, object, before),
    problems: (object, before, part) =>
      part === "status" && before
        ? statusProblems(kind, object, before)
        : problemsOf(rules, resource.namespaced, object, before)
  }
}

const counted = (kind: string, object: Obj): Obj =>
  COUNTED.has(kind) ? withAt(object, ["metadata", "generation"], 1) : object

const bareStatus = (object: Obj, type: Type): Obj => ({ ...object, status: emptyOf(type)["status"] })

/** What the server says itself about a new object. */
const CREATED: Readonly<Record<string, (object: Obj, type: Type) => Obj>> = {
  Node: (object) => object,
  Pod: (object) => ({
    ...object,
    status: { phase: "Pending", qosClass: serviceClass(objAt(object, "spec")) }
  }),
  PersistentVolumeClaim: (object) => ({ ...object, status: { phase: "Pending" } }),
  Namespace: (object) => ({
    ...object,
    spec: { finalizers: [...new Set([...listAt(object, "spec", "finalizers"), "kubernetes"])] },
    status: { phase: "Active" }
  }),
  CustomResourceDefinition: (object, type) => {
    const stored = listAt(object, "spec", "versions").filter((each) => get(each, "storage") === true)
    const status = objAt(emptyOf(type), "status")
    return { ...object, status: { ...status, storedVersions: stored.map((each) => text(each, "name")) } }
  }
}

const serviceClass = (spec: Obj): string => {
  const containers = [...listAt(spec, "containers"), ...listAt(spec, "initContainers")]
  const parts = containers.map(
    (each) => [objAt(each, "resources", "requests"), objAt(each, "resources", "limits")] as const
  )
  if (parts.every(([requests, limits]) => Object.keys(requests).length + Object.keys(limits).length === 0)) {
    return "BestEffort"
  }
  const isWhole = ([requests, limits]: readonly [Obj, Obj]): boolean =>
    ["cpu", "memory"].every((each) => limits[each] !== undefined) && same(requests, limits)
  return parts.every(isWhole) ? "Guaranteed" : "Burstable"
}

const specReplaced = (resource: Resource, object: Obj, before: Obj): Obj => {
  const { kind } = resource
  const kept = resource.status ? { ...object, status: before["status"] } : object
  const whole =
    kind === "Namespace"
      ? { ...kept, spec: before["spec"] }
      : kind === "Service" && text(object, "spec", "type") !== "LoadBalancer"
        ? withAt(kept, ["status", "loadBalancer"], {})
        : kept
  if (!COUNTED.has(kind)) return withGeneration(whole, before, 0)
  // both were read alike: what is empty and still there is a struct, and that one is given is a change
  const changed = CHANGED[kind]?.(whole, before) ?? !same(whole["spec"], before["spec"])
  return withGeneration(whole, before, changed ? 1 : 0)
}

/** What counts as a change of the spec, where it isn't the spec alone. */
const CHANGED: Readonly<Record<string, (object: Obj, before: Obj) => boolean>> = {
  Deployment: (object, before) =>
    !same(object["spec"], before["spec"]) ||
    !semantic(get(object, "metadata", "annotations"), get(before, "metadata", "annotations")),
  EndpointSlice: (object, before) =>
    !semantic({ ...object, metadata: 0 }, { ...before, metadata: 0 }) ||
    !semantic(get(object, "metadata", "labels"), get(before, "metadata", "labels"))
}

const withGeneration = (object: Obj, before: Obj, more: number): Obj => {
  const generation = get(before, "metadata", "generation")
  const next = typeof generation === "number" ? generation + more : undefined
  return withAt(object, ["metadata", "generation"], next)
}

const statusReplaced = (kind: string, object: Obj, before: Obj): Obj => {
  const kept = withGeneration({ ...object, spec: before["spec"] }, before, 0)
  const old = (field: string): unknown => get(before, "metadata", field)
  if (kind === "Deployment") return withAt(kept, ["metadata", "labels"], old("labels"))
  if (kind === "Pod") return withAt(kept, ["metadata", "ownerReferences"], old("ownerReferences"))
  if (kind === "ServiceCIDR")
    return META.reduce((so, field) => withAt(so, ["metadata", field], old(field)), kept)
  return kept
}

/** What of metadata a status can't change, where it can change none. */
const META = ["labels", "annotations", "finalizers", "ownerReferences"]

const customStrategy = (resource: Resource): Strategy => {
  const schema = resource.schema ?? {}
  const apiVersion = versionOf(resource)
  return {
    resource,
    apiVersion,
    type: typeOfSchema(resource.kind, schema),
    empty: { apiVersion, kind: resource.kind },
    read: (given) => readCustom(schema, { apiVersion, kind: resource.kind, ...given }),
    complete: (merged) => completedCustom(schema, merged),
    reset: (part) => (part === "status" ? SPEC_AND_META : resource.status ? STATUS : nothing),
    created: (object) =>
      withAt(resource.status ? withAt(object, ["status"], undefined) : object, ["metadata", "generation"], 1),
    replaced: (object, before, part) => {
      if (part === "status") {
        const managed = get(object, "metadata", "managedFields")
        return withAt(withAt(before, ["status"], object["status"]), ["metadata", "managedFields"], managed)
      }
      const kept = resource.status ? withAt(object, ["status"], before["status"]) : object
      const changed = !same({ ...kept, metadata: 0 }, { ...before, metadata: 0 })
      return withGeneration(kept, before, changed ? 1 : 0)
    },
    problems: (object, before, part) => customProblems(resource, object, before, part)
  }
}
