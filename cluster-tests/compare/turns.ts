/**
 * What a sequence is made of: requests and watches, in words that mean the same on both sides.
 *
 * Uids, revisions, generated names and continue tokens differ between a real API server and the model. A request names them by what they belong to
 * (`<uid Deployment/a>`), and each side puts in what it answered itself before.
 */
import { at } from "../client.ts"

export interface Ask {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly contentType?: string
  readonly body?: unknown
  /** absent: JSON of the object itself */
  readonly accept?: string
}

/** A watch that stays open until the end of the sequence, when its lines are compared. */
export interface Watching {
  readonly watched: string
  readonly query: Readonly<Record<string, string>>
  readonly accept?: string
  /** what to create at the end, so that the last line is known */
  readonly marker: Ask
}

export type Turn = Ask | Watching

export interface Sequence {
  readonly turns: readonly Turn[]
}

export const isWatching = (turn: Turn): turn is Watching => "watched" in turn

export interface Answer {
  readonly code: number
  readonly body: unknown
}

export interface Line {
  readonly type: string
  readonly object: unknown
}

/** The name of an object of a cluster-wide kind is the sequence's own, too. */
export const NAMESPACE = "<ns>"

/** What one side has answered so far, as far as requests can refer to it. */
export class Memory {
  readonly #namespace: string
  readonly #known = new Map<string, string>()

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  /** Takes in the objects, lists and tokens of an answer. */
  learn(body: unknown): void {
    const kind = String(at(body, "kind") ?? "")
    const version = at(body, "metadata", "resourceVersion")
    const items = at(body, "items")
    if (!Array.isArray(items)) {
      if (typeof version === "string") this.#object(kind, body)
      return
    }
    for (const item of items) this.#object(kind.replace(/List$/, ""), item)
    if (typeof version === "string") this.#known.set("list", version)
    const token = at(body, "metadata", "continue")
    this.#known.set(`token ${kind}`, typeof token === "string" ? token : "")
  }

  #object(kind: string, object: unknown): void {
    const name = String(at(object, "metadata", "name") ?? "")
    const own = name
      .replace(`${this.#namespace}-`, "")
      // a generated name is known by what it was made from
      .replace(/^(g\d+-).*$/, "$1")
    const version = String(at(object, "metadata", "resourceVersion") ?? "")
    if (kind === "Namespace") this.#known.set("start", version)
    const key = `${kind}/${own}`
    this.#known.set(`name ${key}`, name)
    this.#known.set(`uid ${key}`, String(at(object, "metadata", "uid") ?? ""))
    this.#known.set(`rv ${key}`, version)
    if (!this.#known.has(`first ${key}`)) this.#known.set(`first ${key}`, version)
  }

  /** The value with every reference replaced by what it means on this side. */
  meant<T>(value: T): T {
    return this.#meant(value) as T
  }

  #meant(value: unknown): unknown {
    if (typeof value === "string") return this.#text(value)
    if (Array.isArray(value)) return value.map((each) => this.#meant(each))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#meant(each)]))
  }

  #text(value: string): string {
    return value
      .replaceAll(NAMESPACE, this.#namespace)
      .replaceAll(
        /<((?:uid|rv|first|name|token) [^>]+|start|list)>/g,
        (_, word: string) => this.#known.get(word) ?? this.#unknown(word.split(" ")[0] ?? "")
      )
  }

  /** What a reference means before there was an answer to take it from. */
  #unknown(word: string): string {
    if (word === "uid") return "00000000-0000-4000-8000-000000000000"
    if (word === "token") return ""
    return word === "name" ? "unknown" : (this.#known.get("start") ?? "")
  }
}

/** The path with its query. */
export const target = ({ path, query }: Pick<Ask, "path" | "query">): string =>
  query === undefined || Object.keys(query).length === 0
    ? path
    : `${path}?${new URLSearchParams(query).toString()}`
