/**
 * What goes wrong between a controller and the API server, as data: rules. Each is about some requests, or about some lines of watches,
 * and says what is done to the nth of them and to so many after it. A script is a list of rules; relay.ts plays it.
 */

/** As the API names requests; `continue`: a page of a list after the first; `event`: a line of a watch, bookmarks aside. */
export type Verb =
  "get" | "list" | "continue" | "watch" | "event" | "create" | "apply" | "merge" | "update" | "delete"

/** One request, or one line of a watch. */
export interface Asked {
  readonly verb: Verb
  /** plural, with its subresource: `deploymentgrids/status` */
  readonly kind: string
  /** empty: of lists and watches */
  readonly name: string
}

/** Which of them; what isn't said may be anything. */
export interface Which {
  /** `write`: all that change something; `request`: all but events */
  readonly verb: Verb | "write" | "request"
  readonly kind?: string
  readonly name?: string
}

/** Before it was sent, after it was carried out but before the answer, or after the answer. */
export type Moment = "before" | "between" | "after"

export type Deed =
  /** the client dies */
  | { readonly _tag: "Kill"; readonly moment: Moment }
  /** a refusal instead of the answer; of an event: an ERROR line, which ends the watch */
  | {
      readonly _tag: "Fail"
      readonly code: number
      readonly reason: string
      /** seconds */
      readonly retryAfter?: number
    }
  /** the connection is reset instead of the answer */
  | { readonly _tag: "Reset"; readonly moment: "before" | "between" }
  /** waits; the lines of one watch stay in their order */
  | { readonly _tag: "Hold"; readonly ms: number }
  /** a line comes twice */
  | { readonly _tag: "Repeat" }
  /** a line never comes */
  | { readonly _tag: "Lose" }
  /** every connection is reset, those with requests in flight too */
  | { readonly _tag: "Cut" }
  /** a list is answered as it was answered the first time */
  | { readonly _tag: "Older" }

export interface Rule {
  readonly on: Which
  /** the first that it is done to, from 1 */
  readonly nth: number
  /** to how many from that one on; Infinity: to all as long as the script is played */
  readonly times: number
  readonly deed: Deed
}

export type Script = readonly Rule[]

/** What a server says that no longer knows a revision: at the start of a watch, on `continue`, inside a watch. */
export const EXPIRED: Deed = { _tag: "Fail", code: 410, reason: "Expired" }

/** A rule for all that match. */
export const always = (on: Which, deed: Deed): Rule => ({ on, nth: 1, times: Number.POSITIVE_INFINITY, deed })

/** A rule for the nth alone. */
export const once = (on: Which, nth: number, deed: Deed): Rule => ({ on, nth, times: 1, deed })

const WRITES: ReadonlySet<Verb> = new Set(["create", "apply", "merge", "update", "delete"])

export const isWrite = ({ verb }: Asked): boolean => WRITES.has(verb)

const matches = (which: Which, asked: Asked): boolean => {
  const verb =
    which.verb === "write"
      ? isWrite(asked)
      : which.verb === "request"
        ? asked.verb !== "event"
        : which.verb === asked.verb
  return (
    verb &&
    (which.kind === undefined || which.kind === asked.kind) &&
    (which.name === undefined || which.name === asked.name)
  )
}

/** What is to be done; whoever does it says so. */
export interface Due {
  readonly deed: Deed
  readonly done: () => void
}

/** A script while it is played: what has been counted of each rule so far. */
export class Play {
  readonly #rules: readonly { readonly rule: Rule; seen: number; done: number }[]

  constructor(script: Script) {
    this.#rules = script.map((rule) => ({ rule, seen: 0, done: 0 }))
  }

  /** Counts what is asked, and gives what is to be done to it, in the script's order. */
  due(asked: Asked): readonly Due[] {
    const due: Due[] = []
    for (const each of this.#rules) {
      const { on, nth, times, deed } = each.rule
      if (!matches(on, asked)) continue
      each.seen++
      if (each.seen >= nth && each.seen < nth + times) due.push({ deed, done: () => each.done++ })
    }
    return due
  }

  /** How often each rule was carried out, in the script's order. */
  get done(): readonly number[] {
    return this.#rules.map(({ done }) => done)
  }

  /** Whether some rule is about events: else lines need not be read. */
  get minds(): boolean {
    return this.#rules.some(({ rule }) => rule.on.verb === "event")
  }
}

/** What a request asks, from its line and its content type. */
export const asked = (method: string, target: string, contentType: string): Asked => {
  const { pathname, searchParams } = new URL(target, "http://server")
  const [root, ...rest] = pathname.split("/").filter((part) => part !== "")
  const inVersion = rest.slice(root === "api" ? 1 : 2)
  const path = inVersion[0] === "namespaces" && inVersion.length > 2 ? inVersion.slice(2) : inVersion
  const [plural = "", name = "", subresource = ""] = path.map(decodeURIComponent)
  const kind = subresource === "" ? plural : `${plural}/${subresource}`
  return { verb: verbOf(method, name, searchParams, contentType), kind, name }
}

const verbOf = (method: string, name: string, query: URLSearchParams, contentType: string): Verb => {
  switch (method) {
    case "POST":
      return "create"
    case "PUT":
      return "update"
    case "DELETE":
      return "delete"
    case "PATCH":
      return contentType.includes("apply-patch") ? "apply" : "merge"
  }
  if (["1", "true"].includes(query.get("watch") ?? "")) return "watch"
  if (name !== "") return "get"
  return query.has("continue") ? "continue" : "list"
}

/** A rule in words, such as `kill between, at write 3`. */
export const words = ({ on, nth, times, deed }: Rule): string => {
  const about = [on.verb, on.kind, on.name].filter((part) => part !== undefined).join(" ")
  const which =
    times === 1 ? `${nth}` : times === Number.POSITIVE_INFINITY ? `${nth}+` : `${nth}-${nth + times - 1}`
  return `${deedWords(deed)}, at ${about} ${which}`
}

const deedWords = (deed: Deed): string => {
  switch (deed._tag) {
    case "Kill":
    case "Reset":
      return `${deed._tag.toLowerCase()} ${deed.moment}`
    case "Fail":
      return `fail ${deed.code}${deed.retryAfter === undefined ? "" : ` retry after ${deed.retryAfter} s`}`
    case "Hold":
      return `hold ${deed.ms} ms`
    case "Repeat":
    case "Lose":
    case "Cut":
    case "Older":
      return deed._tag.toLowerCase()
  }
}
