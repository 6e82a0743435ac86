/**
 * Answers with everything that differs from run to run replaced by placeholders, so that two sides that behave alike read alike.
 *
 * Uids, cluster addresses and node ports are numbered as they appear; revisions of objects in their own order, so
 * that the order is compared; the revision of a list or a bookmark is that of the last object at or before it, since a real server's revision also
 * moves for others. Times are `<time>`. What the server orders at random is sorted.
 */
import { at } from "../client.ts"

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
const ADDRESS = /10\.96\.\d+\.\d+/g
const GENERATED = /\b(g\d+-)[a-z0-9]{5}\b/g
const TIME = /20(?!20)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
/** A number that isn't quoted where a version should be is none. */
const VERSION_TOLD = /(resource ?version[^0-9<]{0,29}[^0-9<:]|current: )(\d+)/gi
const QUOTED = /Invalid value: ("\{(?:[^"\\]|\\.)*\}")/g

/** The answers of one side, in the order in which they came. */
export const settled = (answers: readonly unknown[], namespace: string): readonly unknown[] => {
  const names = new Names(answers, namespace)
  return answers.map((answer) => names.settled(answer, ""))
}

class Names {
  readonly #namespace: string
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #revisions: readonly number[]

  constructor(answers: readonly unknown[], namespace: string) {
    this.#namespace = namespace
    const revisions = new Set<number>()
    for (const answer of answers) collect(answer, revisions)
    this.#revisions = [...revisions].sort((a, b) => a - b)
  }

  settled(value: unknown, key: string): unknown {
    if (typeof value === "string") return this.#text(value, key)
    if (typeof value === "number") return this.#number(value, key)
    if (Array.isArray(value)) return inOrder(key, value).map((each) => this.settled(each, key))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.settled(each, name)]))
  }

  #number(value: number, key: string): unknown {
    return /[nN]odePort$/.test(key) && value >= 30000 ? this.#named("port", String(value)) : value
  }

  #text(value: string, key: string): string {
    if (key === "resourceVersion" && value !== "") return this.#revision(value)
    if (key === "continue" && value !== "") return "<token>"
    return value
      .replaceAll(QUOTED, (_, quoted: string) => `Invalid value: ${this.#quoted(quoted)}`)
      .replaceAll(GENERATED, "$1<name>")
      .replaceAll(this.#namespace, "<ns>")
      .replaceAll(UID, (uid) => this.#named("uid", uid))
      .replaceAll(ADDRESS, (address) => this.#named("ip", address))
      .replaceAll(TIME, "<time>")
      .replaceAll(VERSION_TOLD, (_, before: string, version: string) => before + this.#revision(version))
      .replace(/^(.* is invalid: )\[(.*)\]$/s, (_, head: string, problems: string) => head + sorted(problems))
  }

  /** An object quoted in a message, without the order of its keys. */
  #quoted(text: string): string {
    try {
      return JSON.stringify(byKey(this.settled(JSON.parse(JSON.parse(text) as string), "")))
    } catch {
      return text
    }
  }

  #revision(version: string): string {
    const number = Number(version)
    if (number < 2) return version
    return `<rv-${this.#revisions.findLastIndex((each) => each <= number) + 1}>`
  }

  #named(kind: string, value: string): string {
    const known = this.#names.get(value)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    this.#names.set(value, `<${kind}-${count}>`)
    return `<${kind}-${count}>`
  }
}

/** The revisions of objects, wherever one stands in an answer. */
const collect = (value: unknown, into: Set<number>): void => {
  if (typeof value !== "object" || value === null) return
  if (Array.isArray(value)) {
    for (const each of value) collect(each, into)
    return
  }
  const version = at(value, "metadata", "resourceVersion")
  const isObject = at(value, "metadata", "uid") !== undefined
  if (isObject && typeof version === "string") into.add(Number(version))
  for (const each of Object.values(value)) collect(each, into)
}

/** The problems of an invalid object, which the server tells in any order. */
const sorted = (problems: string): string =>
  problems
    .split(/, (?=[\w.<>[\]/-]+: )/)
    .toSorted()
    .join("; ")

const byKey = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(byKey)
  if (typeof value !== "object" || value === null) return value
  const sortedEntries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    sortedEntries.map(([key, each]) => [key, key === "managedFields" ? "<owners>" : byKey(each)])
  )
}

const inOrder = (key: string, list: readonly unknown[]): readonly unknown[] => {
  if (key !== "managedFields" && key !== "causes") return list
  const rank = (item: unknown): string =>
    ["operation", "manager", "subresource", "apiVersion", "field", "message"]
      .map((part) => String(at(item, part) ?? ""))
      .join(" ")
  const ranked = list.map((item) => [rank(item), item] as const)
  return ranked.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item)
}
