/**
 * Label and field selectors: those of requests, as text, and those of workloads, as objects.
 */
import { get, isObj, listAt, objAt, text, type Obj } from "./json.ts"
import { keyProblems } from "./names.ts"

type Test = (labels: Obj) => boolean

interface Unread {
  readonly problem: string
}

/** A label selector of a request (`a=b,c in (d,e),!f`), or why it can't be read, as the server says it. */
export const labelSelector = (selector: string): Test | Unread => {
  const words = new Words(selector)
  const tests: Test[] = []
  if (words.peek() === "") return () => true
  for (;;) {
    const test = requirement(words)
    if (typeof test !== "function") return { problem: `unable to parse requirement: ${test.problem}` }
    tests.push(test)
    const end = words.next()
    if (end === "") return (labels) => tests.every((each) => each(labels))
    if (end !== ",") return { problem: `found '${end}', expected: ',' or 'end of string'` }
    if (words.peek() === "") return { problem: `found '', expected: identifier after ','` }
  }
}

/** The words of a selector: operators, brackets and whatever stands between them. */
class Words {
  readonly #words: readonly string[]
  #at = 0
  constructor(selector: string) {
    this.#words = selector.match(/[()!,]|==|!=|=|>|<|[^\s()!,=<>]+/g)?.reduce(joinNotEqual, []) ?? []
  }
  peek(): string {
    return this.#words[this.#at] ?? ""
  }
  next(): string {
    return this.#words[this.#at++] ?? ""
  }
}

const joinNotEqual = (words: readonly string[], word: string): string[] =>
  word === "=" && words.at(-1) === "!" ? [...words.slice(0, -1), "!="] : [...words, word]

const OPERATORS = ["in", "notin", "=", "==", "!=", "gt", "lt"]
const ENDS = ["", ",", "(", ")"]

const requirement = (words: Words): Test | Unread => {
  const negated = words.peek() === "!"
  if (negated) words.next()
  const key = words.next()
  if (ENDS.includes(key)) return { problem: `found '${key}', expected: !, identifier, or 'end of string'` }
  const [wrong] = keyProblems(key)
  if (wrong !== undefined) return { problem: `key: Invalid value: ${JSON.stringify(key)}: ${wrong}` }
  if (negated) return (labels) => !Object.hasOwn(labels, key)
  const after = words.peek()
  if (after === "" || after === ",") return (labels) => Object.hasOwn(labels, key)
  const operator = words.next()
  if (!OPERATORS.includes(operator))
    return { problem: `found '${operator}', expected: ${OPERATORS.join(", ")}` }
  if (operator !== "in" && operator !== "notin") {
    const value = words.peek() === "" || words.peek() === "," ? "" : words.next()
    return member(key, [value], operator !== "!=")
  }
  const values = listed(words)
  return "problem" in values ? values : member(key, values, operator === "in")
}

const listed = (words: Words): readonly string[] | Unread => {
  const open = words.next()
  if (open !== "(") return { problem: `found '${open}' expected: '('` }
  const values: string[] = []
  for (;;) {
    const word = words.next()
    if (word === ")") return values.length === 0 ? [""] : values
    if (word === "") return { problem: "found '', expected: ',', ')' or identifier" }
    if (word !== ",") values.push(word)
  }
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
    if (!known.includes(field)) {
      const own = FIELDS[resource] !== undefined || resource.includes(".")
      const names = known.map((each) => JSON.stringify(each)).join(", ")
      if (own) return { problem: `field label not supported: ${field}` }
      return { problem: `${JSON.stringify(field)} is not a known field selector: only ${names}` }
    }
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
