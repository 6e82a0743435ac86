/**
 * Events in their two groups: one store, two spellings. What events.k8s.io/v1 calls `note` is core's `message`, and so on.
 *
 * A request of the newer group is read in core's spelling, and its answer turned back. Who owns the fields of what is
 * written so is told in core's spelling.
 */
import type { Request, Response, Watch, WatchLine } from "./cluster.ts"
import { isList, isObj, text, type Obj } from "./json.ts"
import * as Status from "./status.ts"
import { Refusal } from "./status.ts"
import { EVENTS } from "./served.ts"

const PREFIX = `/apis/${EVENTS}/v1/`
const VERSION = `${EVENTS}/v1`

/** Spellings of the newer group, and core's. */
const SPELLINGS: readonly (readonly [string, string])[] = [
  ["note", "message"],
  ["regarding", "involvedObject"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"]
]
type Spelling = ReadonlyMap<string, string>
const OLD: Spelling = new Map(SPELLINGS)
const NEW: Spelling = new Map(SPELLINGS.map(([young, old]) => [old, young]))

/** Whether a request is about events in the newer group. */
export const isNewer = ({ path }: Pick<Request, "path">): boolean => path.startsWith(PREFIX)

/** The same request in core's spelling. */
export const older = (request: Request): Request => {
  const { query, body } = request
  const version = text(body, "apiVersion")
  if (request.method !== "DELETE" && version !== "" && version !== VERSION) {
    const why = `the API version in the data (${version}) does not match the expected API version (${VERSION})`
    throw new Refusal(Status.badRequest(why))
  }
  const selector = query["fieldSelector"]
  return {
    ...request,
    query: selector === undefined ? query : { ...query, fieldSelector: olderSelector(selector) },
    body: isList(body) ? body.map(olderEdit) : version === "" ? spelled(body, OLD) : spelled(body, OLD, "v1")
  }
}

const olderSelector = (selector: string): string =>
  selector
    .split(",")
    .map((term) => {
      const [, field = "", rest = ""] = /^([^=!.]*)(.*)$/s.exec(term) ?? []
      if (NEW.has(field))
        throw new Refusal(Status.badRequest(`field label not supported: ${term.replace(/[=!].*$/s, "")}`))
      return (OLD.get(field) ?? field) + rest
    })
    .join(",")

/** An operation of a JSON patch, at core's field. */
const olderEdit = (edit: unknown): unknown => {
  if (!isObj(edit)) return edit
  const at = (pointer: unknown): unknown =>
    typeof pointer === "string"
      ? pointer.replace(/^\/([^/]+)/, (_, field: string) => `/${OLD.get(field) ?? field}`)
      : pointer
  const ends = (["path", "from"] as const).filter((end) => Object.hasOwn(edit, end))
  return { ...edit, ...Object.fromEntries(ends.map((end) => [end, at(edit[end])])) }
}

/** An answer in the spelling of the newer group. */
export const newer = (response: Response): Response => ({ ...response, body: newerBody(response.body) })

export const newerWatch = (watch: Watch): Watch => ({
  ...watch,
  initial: watch.initial.map(newerLine),
  accepts: (change) => {
    const line = watch.accepts(change)
    return line && newerLine(line)
  },
  bookmark: (revision) => newerLine(watch.bookmark(revision))
})

const newerLine = ({ type, object }: WatchLine): WatchLine => ({ type, object: newerBody(object) })

/** One object for all the watches that are told of it. */
const known = new WeakMap<object, unknown>()

const newerBody = (body: unknown): unknown => {
  if (!isObj(body) || body["kind"] === "Status") return body
  const items = body["items"]
  if (isList(items)) return { ...body, apiVersion: VERSION, items: items.map((each) => newerForm(each)) }
  const made = known.get(body) ?? newerForm(body, VERSION)
  known.set(body, made)
  return made
}

/** Two fields are left out where they say nothing. */
const newerForm = (event: unknown, version?: string): unknown => {
  const made = spelled(event, NEW, version)
  if (!isObj(made)) return made
  const isTold = ([field, value]: readonly [string, unknown]): boolean =>
    value !== "" || (field !== "reportingController" && field !== "reportingInstance")
  return Object.fromEntries(Object.entries(made).filter(isTold))
}

const spelled = (body: unknown, words: Spelling, version?: string): unknown => {
  if (!isObj(body)) return body
  const made: Obj = Object.fromEntries(
    Object.entries(body).map(([field, value]) => [words.get(field) ?? field, value])
  )
  return version === undefined ? made : { ...made, apiVersion: version }
}
