/**
 * Tells a recorded story to the model, request by request, and says where its answers differ from the real ones.
 *
 * What differs from run to run stands in the recordings as placeholders (`<uid-1>`, `<rv-2>`): the first time that
 * one is met in an answer, the model's own value in its place becomes its meaning, in later requests and answers
 * alike; revisions must keep the recorded order.
 */
import { readdirSync, readFileSync } from "node:fs"
import { parse } from "yaml"
import type { Cluster, Request, Response } from "../../src/embedded/cluster.ts"
import * as Model from "../../src/embedded/model.ts"
import { isWatch } from "../../src/embedded/verbs.ts"
import type { Call, Exchange } from "../recorded/exchange.ts"

export interface Story {
  readonly name: string
  readonly shows: string
  readonly exchanges: readonly Exchange[]
}

export const stories = (): readonly Story[] => {
  const file = readFileSync(new URL("../recorded/answers.json", import.meta.url), "utf8")
  return (JSON.parse(file) as { readonly stories: readonly Story[] }).stories
}

/** What each recorded story found in its cluster: its namespace, a service account, the grids' definitions. */
export const preparation = (): readonly { readonly path: string; readonly body: unknown }[] => {
  const folder = new URL("../../manifests/crds/", import.meta.url)
  const files = readdirSync(folder).map((name) => parse(readFileSync(new URL(name, folder), "utf8")) as Kind)
  return [
    { path: "/api/v1/namespaces", body: { metadata: { name: "recorded" } } },
    { path: "/api/v1/namespaces/recorded/serviceaccounts", body: { metadata: { name: "default" } } },
    ...files
      .filter(({ kind }) => kind === "CustomResourceDefinition")
      .map((body) => ({ path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body }))
  ]
}

interface Kind {
  readonly kind: string
}

/** A cluster as each recorded story found it. */
const prepared = (): Cluster => {
  let cluster = Model.start(START)
  for (const each of preparation()) {
    const step = Model.step(cluster, {
      ...each,
      method: "POST",
      query: {},
      userAgent: "recorder",
      at: START
    })
    if (step.response.code !== 201) throw new Error(`${each.path}: ${JSON.stringify(step.response.body)}`)
    cluster = step.cluster
  }
  return Model.compact(cluster, cluster.revision)
}

/** A story takes less than a second: all of it happens at one time. */
const START = Date.UTC(2026, 0, 1)
const NOW = "2026-01-01T00:00:00Z"

export interface Difference {
  readonly at: number
  readonly path: string
  readonly recorded: unknown
  readonly model: unknown
}

/** Where the model's answers differ; `aside` says what isn't compared. */
export const replay = (
  story: Story,
  aside: (exchange: Exchange, path: string) => boolean
): readonly Difference[] => {
  let cluster = prepared()
  const meaning = new Map<string, string | number>([["<time>", NOW]])
  const differences: Difference[] = []
  for (const [at, exchange] of story.exchanges.entries()) {
    const request = { ...requestOf(substituted(exchange.request, meaning) as Call), at: START }
    const [response, next] = answer(cluster, request)
    cluster = next
    const found: Difference[] = []
    compare(exchange.response.code, response.code, "code")
    compare(unwrapped(exchange), response.body, "body")
    compare(exchange.response.headers?.["warning"], response.headers?.["warning"], "warning")
    differences.push(...found.filter(({ path }) => !aside(exchange, path)))
    function compare(recorded: unknown, model: unknown, path: string): void {
      for (const each of different(recorded, model, path, meaning)) found.push({ ...each, at })
    }
  }
  return differences
}

/** The recording of any `watch=` query is an array of lines, though `watch=0` is a list. */
const unwrapped = ({ request, response }: Exchange): unknown =>
  !isWatch(request.query ?? {}) && Array.isArray(response.body) ? response.body[0] : response.body

const requestOf = (call: Call): Omit<Request, "at"> => ({
  method: call.method,
  path: call.path,
  query: call.query ?? {},
  contentType: call.contentType ?? (call.method === "PATCH" ? undefined : "application/json"),
  accept: call.accept,
  userAgent: "recorder",
  body: call.text === undefined ? call.body : parsed(call.text)
})

/** YAML, and with it JSON; what is neither stays text. */
const parsed = (text: string): unknown => {
  try {
    return parse(text)
  } catch {
    return text
  }
}

const answer = (cluster: Cluster, request: Request): readonly [Response, Cluster] => {
  if (!isWatch(request.query) || request.method !== "GET") {
    const { response, cluster: next } = Model.step(cluster, request)
    return [response, next]
  }
  const watch = Model.watch(cluster, request)
  if (watch._tag === "Refused") return [watch.response, cluster]
  return [{ code: 200, body: watch.watch.initial }, cluster]
}

const PLACEHOLDER = /<(?:uid|rv|ip|name|continue|nodePort)-\d+>/g

const substituted = (value: unknown, meaning: ReadonlyMap<string, string | number>): unknown => {
  if (typeof value === "string") {
    const whole = meaning.get(value)
    if (whole !== undefined) return whole
    return value.replaceAll(PLACEHOLDER, (name) => String(meaning.get(name) ?? name))
  }
  if (Array.isArray(value)) return value.map((each) => substituted(each, meaning))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [substituted(key, meaning), substituted(each, meaning)])
  )
}

type Found = Omit<Difference, "at">
type Meaning = Map<string, string | number>

function* different(recorded: unknown, model: unknown, path: string, meaning: Meaning): Generator<Found> {
  if (recorded === "<left out>" || recorded === "<schema>") return
  if (typeof recorded === "string") {
    if (!matches(ordered(recorded), ordered(model), meaning))
      yield { path, recorded: substituted(recorded, meaning), model }
  } else if (Array.isArray(recorded)) {
    const sort = /\.(managedFields|causes)$/.test(path) ? sorted : (list: readonly unknown[]) => list
    yield* differentLists(sort(recorded), Array.isArray(model) ? sort(model) : model, path, meaning)
  } else if (typeof recorded === "object" && recorded !== null) {
    yield* differentObjects(recorded as Fields, model, path, meaning)
  } else if (recorded !== model) yield { path, recorded, model }
}

/** The problems of an invalid object, which the server tells in any order. */
const ordered = <T>(message: T): T | string => {
  const match = typeof message === "string" ? /^(.* is invalid: )\[(.*)\]$/s.exec(message) : null
  const [, head = "", problems = ""] = match ?? []
  return match
    ? head +
        problems
          .split(/, (?=[\w.<>[\]]+: )/)
          .sort()
          .join("; ")
    : message
}

type Fields = Readonly<Record<string, unknown>>

/** As the recordings are sorted: entries of managers by operation and name, causes by field. */
const sorted = (list: readonly unknown[]): readonly unknown[] => {
  const key = (entry: unknown): string => {
    const of = entry as Readonly<Record<string, string | undefined>>
    return [
      of["operation"],
      of["manager"],
      of["subresource"],
      of["apiVersion"],
      of["field"],
      of["message"]
    ].join(" ")
  }
  return [...list].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}

function* differentLists(
  recorded: readonly unknown[],
  model: unknown,
  path: string,
  meaning: Meaning
): Generator<Found> {
  if (!Array.isArray(model) || model.length !== recorded.length) {
    yield { path, recorded, model }
    return
  }
  for (const [index, each] of recorded.entries()) {
    yield* different(each, (model as readonly unknown[])[index], `${path}[${index}]`, meaning)
  }
}

function* differentObjects(
  recorded: Fields,
  model: unknown,
  path: string,
  meaning: Meaning
): Generator<Found> {
  if (typeof model !== "object" || model === null || Array.isArray(model)) {
    yield { path, recorded, model }
    return
  }
  const right = model as Fields
  const left = new Map(Object.keys(recorded).map((key) => [String(substituted(key, meaning)), recorded[key]]))
  for (const [key, each] of left) yield* different(each, right[key], `${path}.${key}`, meaning)
  for (const key of Object.keys(right)) {
    if (!left.has(key) && right[key] !== undefined) {
      yield { path: `${path}.${key}`, recorded: undefined, model: right[key] }
    }
  }
}

const matches = (recorded: string, model: unknown, meaning: Map<string, string | number>): boolean => {
  if (recorded === "<time>")
    return typeof model === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/.test(model)
  if (/^<(uid|rv|ip|name|continue|nodePort)-\d+>$/.test(recorded)) {
    const known = meaning.get(recorded)
    if (known !== undefined) return known === model
    if (typeof model !== "string" && typeof model !== "number") return false
    meaning.set(recorded, model)
    return true
  }
  if (typeof model !== "string") return false
  const pattern = recorded
    .split(/(<rv>|<(?:uid|rv|ip|name|continue|nodePort)-\d+>)/)
    .map((part) => {
      if (part === "<rv>") return "\\d+"
      const known = meaning.get(part)
      if (known !== undefined) return escaped(String(known))
      return /^<(uid|rv|ip|name|continue|nodePort)-\d+>$/.test(part) ? ".+" : escaped(part)
    })
    .join("")
  return new RegExp(`^${pattern}$`, "s").test(model)
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&")
