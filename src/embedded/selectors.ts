/**
 * Label and field selectors: those of requests, as text, and those of workloads, as objects.
 */
import { get, isObj, listAt, objAt, text, type Obj } from "./json.ts"

type Test = (labels: Obj) => boolean

/** A label selector of a request (`a=b,c in (d,e),!f`), or undefined where it can't be read. */
export const labelSelector = (selector: string): Test | undefined => {
  const tests: Test[] = []
  for (const part of parts(selector)) {
    const test = requirement(part)
    if (!test) return undefined
    tests.push(test)
  }
  return (labels) => tests.every((test) => test(labels))
}

const parts = (selector: string): readonly string[] =>
  selector.trim() === "" ? [] : selector.split(/,(?![^(]*\))/).map((part) => part.trim())

const KEY = /^[A-Za-z0-9][-A-Za-z0-9_./]*$/

const requirement = (part: string): Test | undefined => {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(part)
  if (set) {
    const [, key = "", operator, list = ""] = set
    const values = list.split(",").map((value) => value.trim())
    return KEY.test(key) ? member(key, values, operator === "in") : undefined
  }
  const equality = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/.exec(part)
  if (equality) {
    const [, key = "", operator, value = ""] = equality
    return KEY.test(key) ? member(key, [value], operator !== "!=") : undefined
  }
  const absent = /^!\s*(\S+)$/.exec(part)
  const key = absent?.[1] ?? part
  if (!KEY.test(key)) return undefined
  return (labels) => Object.hasOwn(labels, key) === (absent === null)
}

const member =
  (key: string, values: readonly unknown[], wanted: boolean): Test =>
  (labels) =>
    (Object.hasOwn(labels, key) && values.includes(labels[key])) === wanted

/** A selector of a workload; undefined where it is none. */
export const objectSelector = (selector: unknown): Test | undefined => {
  if (!isObj(selector)) return undefined
  const tests: Test[] = Object.entries(objAt(selector, "matchLabels")).map(([key, value]) =>
    member(key, [value], true)
  )
  for (const expression of listAt(selector, "matchExpressions")) {
    const key = text(expression, "key")
    const values = listAt(expression, "values")
    const operator = text(expression, "operator")
    if (operator === "In" || operator === "NotIn") tests.push(member(key, values, operator === "In"))
    else if (operator === "Exists") tests.push((labels) => Object.hasOwn(labels, key))
    else if (operator === "DoesNotExist") tests.push((labels) => !Object.hasOwn(labels, key))
    else return undefined
  }
  return (labels) => tests.every((test) => test(labels))
}

/** Fields of each kind that a field selector may name, besides name and namespace. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/pods": [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName"
  ],
  "/nodes": ["spec.unschedulable"],
  "/namespaces": ["status.phase"],
  "/secrets": ["type"],
  "/services": ["spec.clusterIP", "spec.type"],
  "apps/replicasets": ["status.replicas"],
  "/events": [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type"
  ]
}

/** A field selector of a request, or why it can't be used. */
export const fieldSelector = (
  resource: string,
  namespaced: boolean,
  selector: string
): ((object: unknown) => boolean) | { readonly problem: string } => {
  const tests: ((object: unknown) => boolean)[] = []
  for (const part of selector.split(",").filter((each) => each !== "")) {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(part)
    if (!match) return { problem: `invalid selector: '${selector}'; can't understand '${part}'` }
    const [, field = "", operator, value = ""] = match
    const known = [
      "metadata.name",
      ...(namespaced ? ["metadata.namespace"] : []),
      ...(FIELDS[resource] ?? [])
    ]
    if (!known.includes(field)) return { problem: `field label not supported: ${field}` }
    tests.push((object) => (fieldOf(object, field) === value) === (operator !== "!="))
  }
  return (object) => tests.every((test) => test(object))
}

const fieldOf = (object: unknown, field: string): string => {
  const value = field === "source" ? get(object, "source", "component") : get(object, ...field.split("."))
  return value === undefined || value === null
    ? field === "spec.unschedulable"
      ? "false"
      : ""
    : String(value)
}
