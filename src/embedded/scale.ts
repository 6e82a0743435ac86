/**
 * The scale subresource of workloads: their replicas as an autoscaling/v1 Scale.
 */
import type { ScalePaths } from "./cluster.ts"
import { get, isObj, objAt, text, withAt, type Obj } from "./json.ts"

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

/** The object with the replicas of a Scale; its version is checked where the Scale has one. */
export const scaled = (object: Obj, scale: unknown, paths: ScalePaths): Obj => {
  const replicas = get(scale, "spec", "replicas") ?? 0
  const version = text(scale, "metadata", "resourceVersion")
  const next = withAt(object, paths.spec, replicas)
  return version === "" ? next : withAt(next, ["metadata", "resourceVersion"], version)
}

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
