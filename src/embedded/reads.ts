/**
 * Lists and watches: selectors, pages of one consistent snapshot, resourceVersion, bookmarks, and 410 where history
 * is gone.
 */
import type { Change, Cluster, KubeObject, Request, Resource, Response, Watch, WatchLine } from "./cluster.ts"
import { get, objAt, text, withAt, type Obj } from "./json.ts"
import { fieldSelector, fieldTerms, labelSelector } from "./selectors.ts"
import * as Sorted from "./sorted.ts"
import * as Status from "./status.ts"
import { Refusal } from "./status.ts"
import * as Store from "./store.ts"
import { strategyOf } from "./strategy.ts"
import { isSet } from "./verbs.ts"
import { inVersion } from "./versions.ts"

/** Which objects of a resource a request is about. */
interface Scope {
  readonly resource: Resource
  readonly namespace: string | undefined
  readonly query: Request["query"]
}

type Accepts = (object: unknown) => boolean

/** `check` judges the other options: after what can't be read, before fields that the kind has not. */
const filterOf = ({ resource, namespace, query }: Scope, check: () => void): Accepts => {
  const refuse = (problem: string): never => {
    throw new Refusal(Status.badRequest(problem))
  }
  const matches = labelSelector(query["labelSelector"] ?? "")
  if (typeof matches !== "function") return refuse(matches.problem)
  const terms = fieldTerms(query["fieldSelector"] ?? "")
  if ("problem" in terms) return refuse(terms.problem)
  check()
  const fields = fieldSelector(Store.keyOfResource(resource), resource.namespaced, terms)
  if (typeof fields !== "function") return refuse(fields.problem)
  return (object) =>
    (namespace === undefined || text(object, "metadata", "namespace") === namespace) &&
    matches(objAt(object, "metadata", "labels")) &&
    fields(object)
}

const invalidOptions = (...problems: readonly Status.Problem[]): Refusal =>
  new Refusal(Status.invalid("meta.k8s.io", "ListOptions", "", problems))

/** The revision of a text; a list and a watch refuse what isn't one in words of their own. */
const revisionOf = (asked: string, refused: (why: string) => Response): number => {
  if (/^\d*$/.test(asked)) return Number(asked)
  const why = `Invalid value: ${JSON.stringify(asked)}: strconv.ParseUint: parsing ${JSON.stringify(asked)}: invalid syntax`
  throw new Refusal(refused(`resourceVersion: ${why}`))
}

interface Page {
  readonly objects: Sorted.Sorted<string, KubeObject>
  readonly revision: number
  /** the first key that may stand on the page */
  readonly start: string
}

/** Refuses a GET of one object that asks for a revision which isn't there yet. */
export const checkRevision = (cluster: Cluster, query: Request["query"]): void => {
  const revision = revisionOf(query["resourceVersion"] ?? "", Status.internal)
  if (revision > cluster.revision) throw new Refusal(Status.tooLargeVersion(revision, cluster.revision))
}

/** The answer to a list. */
export const list = (cluster: Cluster, scope: Scope): Response => {
  const { resource, namespace, query } = scope
  const accepts = filterOf(scope, () => checkMatch(query))
  const limit = Number(query["limit"] ?? 0)
  const page = pageOf(cluster, scope, limit)
  const bounded = limit > 0 && query["resourceVersion"] !== "0" && !isOfOne(scope)
  const prefix = namespace === undefined ? "" : `${namespace}/`
  const items: unknown[] = []
  let [next, left] = ["", 0]
  for (const [key, object] of Sorted.from(page.objects, page.start > prefix ? page.start : prefix)) {
    if (prefix !== "" && !key.startsWith(prefix)) break
    // a page ends before any further object, whether it is selected or not
    if (bounded && items.length === limit) {
      next = key
      left = Sorted.count(page.objects, key, namespace === undefined ? "\uffff" : `${namespace}0`)
      break
    }
    if (!accepts(object)) continue
    items.push(resource.custom ? inVersion(resource, object) : withoutKind(object))
  }
  const metadata = {
    ...(resource.custom ? { continue: "" } : {}),
    resourceVersion: String(page.revision),
    ...(next === "" ? {} : { continue: token(page.revision, next) }),
    ...(next === "" || hasSelector(query) ? {} : { remainingItemCount: left })
  }
  const { apiVersion } = strategyOf(resource)
  return { code: 200, body: { kind: resource.listKind, apiVersion, metadata, items } }
}

/** Looks for one name: there is no next page. */
const isOfOne = ({ resource, namespace, query }: Scope): boolean =>
  (namespace !== undefined || !resource.namespaced) &&
  /(^|,)metadata\.name==?[^,]+/.test(query["fieldSelector"] ?? "")

const hasSelector = (query: Request["query"]): boolean =>
  (query["labelSelector"] ?? "") !== "" || (query["fieldSelector"] ?? "") !== ""

const withoutKind = (object: KubeObject): unknown => {
  const { kind: _, apiVersion: __, ...rest } = object
  return rest
}

const token = (revision: number, start: string): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start })).toString("base64url")

const checkMatch = (query: Request["query"]): void => {
  const match = query["resourceVersionMatch"] ?? ""
  const asked = query["resourceVersion"] ?? ""
  const problems: Status.Problem[] = []
  const forbidden = (why: string): void => {
    problems.push(Status.forbiddenField("resourceVersionMatch", why))
  }
  if (match !== "") {
    if (asked === "") forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided")
    if (query["continue"]) forbidden(NOT_CONTINUED)
    if (match !== "Exact" && match !== "NotOlderThan")
      problems.push(Status.unsupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]))
    if (match === "Exact" && asked === "0")
      forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  }
  if (query["sendInitialEvents"] !== undefined)
    problems.push(Status.forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"))
  if (problems.length > 0) throw invalidOptions(...problems)
}

const NOT_CONTINUED = "resourceVersionMatch is forbidden when continue is provided"

const pageOf = (cluster: Cluster, { resource, query }: Scope, limit: number): Page => {
  const now = Store.objectsOf(cluster, Store.keyOfResource(resource))
  const latest: Page = { objects: now, revision: cluster.revision, start: "" }
  const match = query["resourceVersionMatch"]
  const asked = query["resourceVersion"] ?? ""
  if (query["continue"]) return continued(cluster, resource, query["continue"], latest, asked)
  const revision = revisionOf(asked, (why) => Status.badRequest(`invalid resource version: ${why}`))
  if (revision > cluster.revision) throw new Refusal(Status.tooLargeVersion(revision, cluster.revision))
  const exact = match === "Exact" || (match === undefined && limit > 0 && revision > 0)
  if (!exact) return latest
  if (revision < cluster.compacted) {
    throw new Refusal(Status.expired("The resourceVersion for the provided list is too old."))
  }
  return { objects: at(cluster, resource, revision), revision, start: "" }
}

const continued = (
  cluster: Cluster,
  resource: Resource,
  given: string,
  latest: Page,
  asked: string
): Page => {
  const refuse = (why: string): never => {
    throw new Refusal(Status.badRequest(`invalid continue token: continue key is not valid: ${why}`))
  }
  if (asked !== "" && asked !== "0") {
    throw new Refusal(Status.badRequest("specifying resource version is not allowed when using continue"))
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(given, "base64url").toString("utf8"))
  } catch (error) {
    return refuse(String(error))
  }
  const [revision, start] = [get(parsed, "rv"), text(parsed, "start")]
  if (typeof revision !== "number" || start === "") return refuse("incorrect encoded start key")
  if (revision < 0) return { ...latest, start }
  if (revision >= cluster.compacted) return { objects: at(cluster, resource, revision), revision, start }
  const expired = Status.expired(EXPIRED)
  throw new Refusal({
    ...expired,
    body: withAt(expired.body, ["metadata"], { continue: token(-1, start) })
  })
}

const EXPIRED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."

/** The objects as they were at an earlier revision that isn't forgotten. */
const at = (cluster: Cluster, resource: Resource, revision: number): Sorted.Sorted<string, KubeObject> => {
  const key = Store.keyOfResource(resource)
  let objects = Store.objectsOf(cluster, key)
  const later = [...Sorted.from(cluster.history, revision + 1)].map(([, change]) => change)
  for (const change of later.reverse()) {
    if (change.resource !== key) continue
    const name = nameOf(change.object)
    objects = change.before ? Sorted.put(objects, name, change.before) : Sorted.without(objects, name)
  }
  return objects
}

const nameOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace ? `${namespace}/${name}` : name

/** A watch on a resource, with the lines that it begins with. */
export const watch = (cluster: Cluster, scope: Scope): Watch => {
  const { query, resource } = scope
  const wanted = isSet(query, "sendInitialEvents")
  const accepts = filterOf(scope, () => checkInitial(query))
  const asked = query["resourceVersion"] ?? ""
  const revision = revisionOf(asked, Status.internal)
  const told = lineOf(resource, accepts)
  const from = wanted || revision === 0 ? cluster.revision : revision
  const seconds = Number(query["timeoutSeconds"] ?? 0)
  return {
    resource,
    initial: initialLines(cluster, scope, accepts, told, revision, wanted),
    bookmarks: isSet(query, "allowWatchBookmarks"),
    timeoutSeconds: seconds > 0 ? seconds : undefined,
    accepts: (change) => (change.revision > from ? told(change) : undefined),
    bookmark: (current) => bookmarkOf(resource, current, false)
  }
}

const checkInitial = (query: Request["query"]): void => {
  const match = query["resourceVersionMatch"] ?? ""
  const problems: Status.Problem[] = []
  const forbidden = (why: string): void => {
    problems.push(Status.forbiddenField("resourceVersionMatch", why))
  }
  const sends = query["sendInitialEvents"] !== undefined
  if (sends && match !== "NotOlderThan")
    forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
  if (match !== "") {
    if (!sends) forbidden("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
    if (match !== "NotOlderThan")
      problems.push(Status.unsupported("resourceVersionMatch", match, ["NotOlderThan"]))
    if (query["continue"]) forbidden(NOT_CONTINUED)
  }
  if (problems.length > 0) throw invalidOptions(...problems)
}

type Told = (change: Change) => WatchLine | undefined

const lineOf = (resource: Resource, accepts: Accepts): Told => {
  const key = Store.keyOfResource(resource)
  return (change) => {
    if (change.resource !== key) return undefined
    const before = change.before !== undefined && accepts(change.before)
    const after = change.type !== "DELETED" && accepts(change.object)
    const object = inVersion(resource, change.object)
    if (before && after) return { type: "MODIFIED", object }
    if (after) return { type: "ADDED", object }
    if (!before) return undefined
    if (change.type === "DELETED") return { type: "DELETED", object }
    const last = withAt(
      inVersion(resource, change.before),
      ["metadata", "resourceVersion"],
      String(change.revision)
    )
    return { type: "DELETED", object: last }
  }
}

const initialLines = (
  cluster: Cluster,
  { resource, namespace, query }: Scope,
  accepts: Accepts,
  told: Told,
  revision: number,
  wanted: boolean
): readonly WatchLine[] => {
  const lines: WatchLine[] = []
  const skips = query["sendInitialEvents"] !== undefined && !wanted
  // the real server waits for it some seconds, which here would be in vain
  if (wanted && revision > cluster.revision)
    return [{ type: "ERROR", object: Status.tooLargeVersion(revision, cluster.revision).body }]
  if (wanted || (revision === 0 && !skips)) {
    const prefix = namespace === undefined ? "" : `${namespace}/`
    for (const [key, object] of Sorted.from(
      Store.objectsOf(cluster, Store.keyOfResource(resource)),
      prefix
    )) {
      if (prefix !== "" && !key.startsWith(prefix)) break
      if (accepts(object)) lines.push({ type: "ADDED", object: inVersion(resource, object) })
    }
    if (wanted && isSet(query, "allowWatchBookmarks"))
      lines.push(bookmarkOf(resource, cluster.revision, true))
    return lines
  }
  if (revision === 0) return lines
  if (revision < cluster.compacted) return [tooOld(revision, cluster.compacted)]
  for (const [, change] of Sorted.from(cluster.history, revision + 1)) {
    const line = told(change)
    if (line) lines.push(line)
  }
  return lines
}

const tooOld = (revision: number, compacted: number): WatchLine => ({
  type: "ERROR",
  object: Status.expired(`too old resource version: ${revision} (${compacted})`).body
})

const bookmarkOf = (resource: Resource, revision: number, ends: boolean): WatchLine => {
  const { empty } = strategyOf(resource)
  const counts = resource.group === "apps" && resource.scale
  const annotations = ends ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}
  const metadata = { resourceVersion: String(revision), ...annotations }
  const object: Obj = { ...(counts ? withAt(empty, ["spec", "replicas"], 0) : empty), metadata }
  return { type: "BOOKMARK", object }
}
