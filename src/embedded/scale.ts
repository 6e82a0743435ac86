/**
 * The scale subresource of workloads: their replicas as an autoscaling/v1 Scale.
 */
import { keyOf, type Cluster, type KubeObject, type Resource, type ScalePaths } from "./cluster.ts"
import { get, isObj, objAt, text, withAt, type Obj } from "./json.ts"
import * as Managers from "./managers.ts"
import * as Sorted from "./sorted.ts"
import * as Store from "./store.ts"

/** What a Scale is while it is written: nobody can ask for it by a path of its own. */
export const SCALE: Resource = {
  group: "autoscaling",
  version: "v1",
  plural: "scales",
  singular: "scale",
  kind: "Scale",
  listKind: "ScaleList",
  namespaced: true,
  shortNames: [],
  categories: [],
  status: false,
  scale: false,
  custom: false
}

/** Where workloads have their replicas; their selector is an object. */
export const WORKLOAD: ScalePaths = { spec: ["spec", "replicas"], status: ["status", "replicas"] }

/** The Scale of an object. */
export const scaleOf = (object: Obj, paths: ScalePaths): Obj => {
  const meta = objAt(object, "metadata")
  const kept = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"].filter(
    (key) => key in meta
  )
  const selector =
    paths === WORKLOAD
      ? selectorText(objAt(object, "spec", "selector"))
      : text(object, ...(paths.selector ?? [""]))
  const wanted = get(object, ...paths.spec) ?? 0
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: Object.fromEntries(kept.map((key) => [key, meta[key]])),
    // a Scale to nothing says nothing
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: {
      replicas: get(object, ...paths.status) ?? 0,
      ...(selector === "" ? {} : { selector })
    }
  }
}

const managersOf = (object: Obj): Managers.Managers =>
  Managers.read(get(object, "metadata", "managedFields")) ?? new Map()

const managed = (object: Obj, managers: Managers.Managers): Obj =>
  withAt(object, ["metadata", "managedFields"], Managers.write(managers))

/** A cluster in which the Scale of an object is an object, to be written as any other. */
export const withScale = (cluster: Cluster, object: Obj, paths: ScalePaths): Cluster => {
  const scale = managed(scaleOf(object, paths), Managers.ofScale(managersOf(object), paths.spec))
  const key = keyOf(text(object, "metadata", "namespace"), text(object, "metadata", "name"))
  const scales = Sorted.put<string, KubeObject>(Sorted.none, key, scale as unknown as KubeObject)
  return { ...cluster, objects: new Map(cluster.objects).set(Store.keyOfResource(SCALE), scales) }
}

/** The object after its Scale was written. */
export const scaled = (object: Obj, scale: Obj, paths: ScalePaths): Obj =>
  managed(
    withAt(object, paths.spec, get(scale, "spec", "replicas") ?? 0),
    Managers.afterScale(managersOf(object), managersOf(scale), text(object, "apiVersion"), paths.spec)
  )

const selectorText = (selector: Obj): string => {
  const labels = Object.entries(objAt(selector, "matchLabels")).map(
    ([key, value]) => `${key}=${String(value)}`
  )
  const expressions = selector["matchExpressions"]
  const more = Array.isArray(expressions) ? expressions.filter(isObj).map(expressionText) : []
  return [...labels, ...more].sort().join(",")
}

const expressionText = (expression: Obj): string => {
  const [key, values] = [text(expression, "key"), expression["values"]]
  const list = `(${(Array.isArray(values) ? values.map(String) : []).sort().join(",")})`
  switch (text(expression, "operator")) {
    case "In":
      return `${key} in ${list}`
    case "NotIn":
      return `${key} notin ${list}`
    case "DoesNotExist":
      return `!${key}`
    default:
      return key
  }
}
