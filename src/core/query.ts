/**
 * What a list or watch asks for: label and field selectors, and what an event means to a watcher who has them.
 *
 * Selectors are judged on objects as upstream has them. One that can't be judged exactly is refused, never answered more widely.
 */
import { isLabelKey, isLabelValue } from "./grid.ts"
import type { Event } from "./journal.ts"
import type { StringMap } from "./kube.ts"

/** What of an object can be selected by. */
export interface Selectable {
  readonly namespace: string | undefined
  readonly name: string
  readonly labels: StringMap
  /** a Service's `spec.clusterIP`; undefined for other kinds */
  readonly clusterIP: string | undefined
}

type Test = (object: Selectable) => boolean

export interface Query {
  readonly _tag: "Query"
  readonly selects: Test
}

/** A selector that isn't legal, or that can't be judged: 400. */
export interface Unreadable {
  readonly _tag: "Unreadable"
  readonly message: string
}

/** The query of a request; `kind` decides which fields can be selected by, `namespace` is that of the path. */
export const query = (asked: {
  readonly kind: string
  readonly namespace: string | undefined
  readonly labelSelector: string | undefined
  readonly fieldSelector: string | undefined
}): Query | Unreadable => {
  const tests: Test[] = []
  const { kind, namespace, labelSelector, fieldSelector } = asked
  if (namespace !== undefined) tests.push((object) => object.namespace === namespace)
  for (const part of requirements(labelSelector ?? "")) {
    const test = labelTest(part)
    if (test === undefined) return unreadable("label", labelSelector)
    tests.push(test)
  }
  for (const part of fields(fieldSelector ?? "")) {
    const test = fieldTest(kind, part)
    if (test === undefined) return unreadable("field", fieldSelector)
    tests.push(test)
  }
  return { _tag: "Query", selects: (object) => tests.every((test) => test(object)) }
}

const unreadable = (what: string, selector: string | undefined): Unreadable => ({
  _tag: "Unreadable",
  message: `the ${what} selector ${JSON.stringify(selector ?? "")} can't be judged here`
})

/** What a watcher of a query is sent for an event: the object, and under which type. */
export interface Sent<A> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  /** of a deletion, the object as it was before */
  readonly value: A
  readonly revision: string
}

/** What an event means to a watcher: an object that leaves the query is DELETED, one that enters is ADDED; else nothing. */
export const sent = <A>(event: Event<A>, selects: (value: A) => boolean): Sent<A> | undefined => {
  const { before, after, revision } = event
  const was = before !== undefined && selects(before)
  const is = after !== undefined && selects(after)
  if (is) return { type: was ? "MODIFIED" : "ADDED", value: after, revision }
  return was ? { type: "DELETED", value: before, revision } : undefined
}

/** The parts between commas that stand in no brackets; a part that is empty is no requirement. */
const requirements = (selector: string): readonly string[] => {
  if (selector.trim() === "") return []
  const parts: string[] = []
  let from = 0
  let inBrackets = false
  for (let at = 0; at <= selector.length; at++) {
    const char = selector[at]
    if (char === "(") inBrackets = true
    else if (char === ")") inBrackets = false
    else if (char === undefined || (char === "," && !inBrackets)) {
      parts.push(selector.slice(from, at).trim())
      from = at + 1
    }
  }
  return parts
}

const labelTest = (part: string): Test | undefined => {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part)
  if (set !== null) {
    const [, key = "", operator, list = ""] = set
    return member(
      key,
      list.split(",").map((value) => value.trim()),
      operator === "in"
    )
  }
  const equal = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/.exec(part)
  if (equal !== null) {
    const [, key = "", operator, value = ""] = equal
    return member(key, [value], operator !== "!=")
  }
  const absent = part.startsWith("!")
  const key = absent ? part.slice(1).trim() : part
  if (!isLabelKey(key)) return undefined
  return ({ labels }) => Object.hasOwn(labels, key) !== absent
}

const member = (key: string, values: readonly string[], wanted: boolean): Test | undefined => {
  if (!isLabelKey(key) || !values.every((value) => value === "" || isLabelValue(value))) return undefined
  return ({ labels }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined
    return (value !== undefined && values.includes(value)) === wanted
  }
}

const fields = (selector: string): readonly string[] => (selector === "" ? [] : selector.split(","))

const fieldTest = (kind: string, part: string): Test | undefined => {
  const [, field = "", operator = "", value = ""] = /^([^=!]+)(==|=|!=)([^=!,\\]*)$/.exec(part) ?? []
  const read = fieldOf(kind, field)
  return read && ((object) => (read(object) === value) === (operator !== "!="))
}

const fieldOf = (kind: string, field: string): ((object: Selectable) => string) | undefined => {
  if (field === "metadata.name") return ({ name }) => name
  if (field === "metadata.namespace") return ({ namespace }) => namespace ?? ""
  if (field === "spec.clusterIP" && kind === "Service") return ({ clusterIP }) => clusterIP ?? ""
  return undefined
}
