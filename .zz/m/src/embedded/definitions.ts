/**
 * CustomResourceDefinitions: which kinds they make servable, and what the server tells about that in their status.
 */
import type { Change, Cluster, Column, Resource, ScalePaths } from "./cluster.ts"
import { ofPaths } from "./fieldset.ts"
import { get, isObj, listAt, objAt, text, withAt, type Obj } from "./json.ts"
import * as Managers from "./managers.ts"
import { anything, typeOfKind } from "./schema.ts"
import * as Store from "./store.ts"

const KEY = "apiextensions.k8s.io/customresourcedefinitions"

/** The cluster after changes of definitions took effect: their kinds are served, their conditions say so. */
export const definitionChanged = (
  cluster: Cluster,
  changes: readonly Change[],
  at: number
): { readonly cluster: Cluster; readonly changes: readonly Change[] } => {
  let after = cluster
  const all: Change[] = []
  for (const change of changes) {
    all.push(change)
    if (change.resource !== KEY) continue
    const definition = change.object as unknown as Obj
    after = { ...after, custom: servedWith(after.custom, definition, change.type === "DELETED") }
    if (change.type === "DELETED") {
      const emptied = withoutObjects(after, definition)
      after = emptied.cluster
      all.push(...emptied.changes)
      continue
    }
    const established = withConditions(definition, at)
    if (!established) continue
    const told = Store.written(after, KEY, established)
    after = told.cluster
    all.push(told.change)
  }
  return { cluster: after, changes: all }
}

/** The objects of a kind go with its definition. */
const withoutObjects = (
  cluster: Cluster,
  definition: Obj
): { readonly cluster: Cluster; readonly changes: readonly Change[] } => {
  const key = `${text(definition, "spec", "group")}/${text(definition, "spec", "names", "plural")}`
  const changes: Change[] = []
  let after = cluster
  for (const leaf of Store.objectsOf(cluster, key).leaves) {
    for (const object of leaf.values) {
      const { cluster: next, change } = Store.removed(after, key, object as unknown as Obj)
      after = next
      changes.push(change)
    }
  }
  return { cluster: after, changes }
}

const servedWith = (
  custom: ReadonlyMap<string, Resource>,
  definition: Obj,
  deleted: boolean
): ReadonlyMap<string, Resource> => {
  const [group, plural] = [text(definition, "spec", "group"), text(definition, "spec", "names", "plural")]
  const next = new Map([...custom].filter(([, each]) => each.group !== group || each.plural !== plural))
  if (deleted) return next
  for (const version of listAt(definition, "spec", "versions")) {
    if (get(version, "served") !== true) continue
    const resource = resourceOf(definition, version)
    next.set(`${group}/${resource.version}/${plural}`, resource)
  }
  return next
}

const resourceOf = (definition: Obj, version: unknown): Resource => {
  const names = objAt(definition, "spec", "names")
  const kind = text(names, "kind")
  const strings = (field: string): readonly string[] => listAt(names, field).map(String)
  const columns = listAt(version, "additionalPrinterColumns")
  return {
    group: text(definition, "spec", "group"),
    version: text(version, "name"),
    plural: text(names, "plural"),
    singular: text(names, "singular") || kind.toLowerCase(),
    kind,
    listKind: text(names, "listKind") || `${kind}List`,
    namespaced: text(definition, "spec", "scope") === "Namespaced",
    shortNames: strings("shortNames"),
    categories: strings("categories"),
    status: isObj(get(version, "subresources", "status")),
    scale: isObj(get(version, "subresources", "scale")),
    scalePaths: scalePaths(objAt(version, "subresources", "scale")),
    custom: true,
    schema: objAt(version, "schema", "openAPIV3Schema") as NonNullable<Resource["schema"]>,
    ...(columns.length > 0 ? { columns: columns as readonly Column[] } : {})
  }
}

const scalePaths = (scale: Obj): ScalePaths => {
  const path = (field: string): readonly string[] => text(scale, field).split(".").slice(1)
  const selector = path("labelSelectorPath")
  return {
    spec: path("specReplicasPath"),
    status: path("statusReplicasPath"),
    ...(selector.length > 0 ? { selector } : {})
  }
}

/** The definition with its names accepted and itself established; undefined where it says so already. */
const withConditions = (definition: Obj, at: number): Obj | undefined => {
  const names = objAt(definition, "spec", "names")
  const kind = text(names, "kind")
  const accepted = {
    ...names,
    singular: text(names, "singular") || kind.toLowerCase(),
    listKind: text(names, "listKind") || `${kind}List`
  }
  const said = listAt(definition, "status", "conditions").some(
    (each) => text(each, "type") === "Established" && text(each, "status") === "True"
  )
  if (said) return undefined
  const lastTransitionTime = Store.timestamp(at)
  const condition = (type: string, reason: string, message: string): Obj => ({
    type,
    status: "True",
    lastTransitionTime,
    reason,
    message
  })
  const conditions = [
    condition("NamesAccepted", "NoConflicts", "no conflicts found"),
    condition("Established", "InitialNamesAccepted", "the initial names have been accepted")
  ]
  const status = { ...objAt(definition, "status"), acceptedNames: accepted, conditions }
  return owned(definition, { ...definition, status }, lastTransitionTime)
}

const RESET = ofPaths(["f:spec"], ["f:metadata"])

/** The server's own write of a status, noted as any other is. */
const owned = (before: Obj, after: Obj, time: string): Obj => {
  const type = typeOfKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition") ?? anything
  const managers = Managers.read(get(before, "metadata", "managedFields")) ?? new Map()
  const apiVersion = "apiextensions.k8s.io/v1"
  const writer = { manager: "kube-apiserver", apiVersion, subresource: "status", time, reset: RESET }
  const next = Managers.updated(type, before, after, managers, writer)
  return withAt(after, ["metadata", "managedFields"], Managers.write(next))
}
