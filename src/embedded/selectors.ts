/**
 * Label and field selectors: those of requests, as text, and those of workloads, as objects.
 */
import { get, isObj, listAt, objAt, text, type Obj } from "./json.ts"
import { keyProblems } from "./names.ts"
import { BUILT_IN } from "./served.ts"

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

const OPERATORS = ["in", "notin", "=", "==", "!=", ">", "<"]
const OPERATORS_TOLD = ["in", "notin", "=", "==", "!=", "gt", "lt"]
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
    return { problem: `found '${operator}', expected: ${OPERATORS_TOLD.join(", ")}` }
  if (operator !== "in" && operator !== "notin") {
    const value = words.peek() === "" || words.peek() === "," ? "" : words.next()
    return operator === ">" || operator === "<"
      ? compared(key, value, operator)
      : member(key, [value], operator !== "!=")
  }
  const values = listed(words)
  return "problem" in values ? values : member(key, values, operator === "in")
}

const compared = (key: string, value: string, operator: ">" | "<"): Test | Unread => {
  const wanted = integer(value)
  if (wanted === undefined) {
    const why = "for 'Gt', 'Lt' operators, the value must be an integer"
    return { problem: `values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${why}` }
  }
  return (labels) => {
    const label = Object.hasOwn(labels, key) ? integer(labels[key]) : undefined
    return label !== undefined && (operator === ">" ? label > wanted : label < wanted)
  }
}

const integer = (value: unknown): bigint | undefined =>
  typeof value === "string" && /^[+-]?\d+$/.test(value) ? BigInt(value.replace("+", "")) : undefined

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

/** One term of a field selector. */
interface Term {
  readonly field: string
  readonly wanted: boolean
  readonly value: string
}

/** The terms of a field selector (`metadata.name=a,spec.type!=NodePort`), or why it can't be read. */
export const fieldTerms = (selector: string): readonly Term[] | Unread => {
  const terms: Term[] = []
  for (const part of selector.split(",").filter((each) => each !== "")) {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(part)
    if (!match) return { problem: `invalid selector: '${selector}'; can't understand '${part}'` }
    const [, field = "", operator, value = ""] = match
    terms.push({ field, wanted: operator !== "!=", value })
  }
  return terms
}

/** The built-in kinds, which say which fields there are. */
const KNOWN: ReadonlySet<string> = new Set(BUILT_IN.map(({ group, plural }) => `${group}/${plural}`))

/** What the terms select of a resource, or which of their fields it has not. */
export const fieldSelector = (
  resource: string,
  namespaced: boolean,
  terms: readonly Term[]
): ((object: unknown) => boolean) | Unread => {
  const own = FIELDS[resource]
  // kinds that say nothing of their fields have both, also where they have no namespace
  const plain = own === undefined && KNOWN.has(resource)
  const known = ["metadata.name", ...(namespaced || plain ? ["metadata.namespace"] : []), ...(own ?? [])]
  const unknown = terms.find(({ field }) => !known.includes(field))?.field
  if (unknown !== undefined) {
    if (!plain) return { problem: `field label not supported: ${unknown}` }
    const names = known.map((each) => JSON.stringify(each)).join(", ")
    return { problem: `${JSON.stringify(unknown)} is not a known field selector: only ${names}` }
  }
  return (object) => terms.every(({ field, wanted, value }) => (fieldOf(object, field) === value) === wanted)
}

const fieldOf = (object: unknown, field: string): string => {
  const value = field === "source" ? get(object, "source", "component") : get(object, ...field.split("."))
  return value === undefined || value === null
    ? field === "spec.unschedulable"
      ? "false"
      : ""
    : String(value)
}
