/**
 * What a request is: one that is answered from what is shown, one that is refused, or one that goes upstream as it is.
 *
 * Whatever reads Endpoints or EndpointSlices is never forwarded, however its path is written: the answer would be unfiltered.
 */
import type { ShownKind } from "./board.ts"
import { V1, V1BETA1 } from "./beta.ts"
import { query, type Selectable } from "./query.ts"
import { badRequest, forbiddenOption, type Status, status } from "./reply.ts"

/** A request, as far as it decides. */
export interface Asked {
  readonly method: string
  /** as it came, with its query */
  readonly url: string
  readonly accept: string | undefined
  /** the connection is to become another protocol */
  readonly upgrade: boolean
}

/** A list, a watch or one object, answered from what is shown. */
export interface Served {
  readonly _tag: "Served"
  readonly kind: ShownKind
  readonly apiVersion: string
  readonly verb: Verb
  readonly selects: (object: Selectable) => boolean
  readonly options: Options
}

export type Verb =
  { readonly _tag: "List" } | { readonly _tag: "Watch" } | { readonly _tag: "Get"; readonly key: string }

export interface Options {
  readonly resourceVersion: string | undefined
  readonly resourceVersionMatch: string | undefined
  readonly sendInitialEvents: boolean | undefined
  readonly allowWatchBookmarks: boolean
  readonly timeoutSeconds: number | undefined
}

export type Route =
  | Served
  | { readonly _tag: "Refused"; readonly status: Status }
  /** `ownNode`: it reads this node, and may be answered from what was seen last when upstream is away */
  | { readonly _tag: "Forwarded"; readonly ownNode: boolean }

const forwarded: Route = { _tag: "Forwarded", ownNode: false }
const refused = (of: Status): Route => ({ _tag: "Refused", status: of })

/** Where a kind is found, and what is done about it. */
interface Resource {
  readonly kind: ShownKind
  readonly plural: string
  readonly apiVersion: string
  /** it is trimmed: nothing of it may pass by */
  readonly trimmed: boolean
}

const RESOURCES: { readonly [path: string]: Resource } = {
  "api/v1/services": { kind: "Service", plural: "services", apiVersion: "v1", trimmed: false },
  "api/v1/endpoints": { kind: "Endpoints", plural: "endpoints", apiVersion: "v1", trimmed: true },
  "api/v1/nodes": { kind: "Node", plural: "nodes", apiVersion: "v1", trimmed: false },
  "api/v1/namespaces": { kind: "Namespace", plural: "namespaces", apiVersion: "v1", trimmed: false },
  "apis/discovery.k8s.io/v1/endpointslices": {
    kind: "EndpointSlice",
    plural: "endpointslices",
    apiVersion: V1,
    trimmed: true
  },
  "apis/discovery.k8s.io/v1beta1/endpointslices": {
    kind: "EndpointSlice",
    plural: "endpointslices",
    apiVersion: V1BETA1,
    trimmed: true
  },
  "apis/networking.k8s.io/v1/servicecidrs": {
    kind: "ServiceCIDR",
    plural: "servicecidrs",
    apiVersion: "networking.k8s.io/v1",
    trimmed: false
  }
}

/** What is asked for, by its path. */
interface Target {
  readonly resource: Resource
  readonly namespace: string | undefined
  readonly name: string | undefined
  /** what follows the name: a subresource */
  readonly rest: readonly string[]
  /** by one of the deprecated paths below `watch/` */
  readonly watch: boolean
}

/** `own`: the name of this node, the only one that is shown. */
export const route = (asked: Asked, own: string): Route => {
  const [path = "", search = ""] = cut(asked.url, "?")
  const steps = stepsOf(path)
  const target = targetOf(steps)
  if (target === undefined) return isDiscovery(steps) ? refused(status(404, "NotFound", VERSIONS)) : forwarded
  const { resource, name, rest } = target
  const reads = asked.method === "GET" || asked.method === "HEAD"
  if (!resource.trimmed && (!reads || asked.upgrade || rest.length > 0)) return forwarded
  if (!reads) return asked.method === "POST" ? forwarded : refused(status(405, "MethodNotAllowed", CHANGED))
  if (asked.upgrade) return refused(status(406, "NotAcceptable", "only plain HTTP is spoken for this kind"))
  if (rest.length > 0) return refused(status(404, "NotFound", "there is no such subresource"))
  const accepts = accepted(asked.accept)
  if (resource.trimmed ? !accepts.json : accepts.as || !accepts.json)
    return resource.trimmed ? refused(status(406, "NotAcceptable", ONLY_JSON)) : forwarded
  const parameters = parsed(search)
  const watches = target.watch || truth(parameters.get("watch")) === true
  if (name !== undefined && !watches) return one(resource, target, name, own)
  return many(target, parameters, watches, own)
}

const CHANGED = "endpoints are read here as this node sees them: change them at the API server itself"
const VERSIONS = "of discovery.k8s.io, endpointslices in v1 and v1beta1 are served here"
const ONLY_JSON = "only the following media type is accepted: application/json"

const one = (resource: Resource, { namespace }: Target, name: string, own: string): Route => {
  if (!resource.trimmed) return { _tag: "Forwarded", ownNode: resource.kind === "Node" && name === own }
  return {
    _tag: "Served",
    kind: resource.kind,
    apiVersion: resource.apiVersion,
    verb: { _tag: "Get", key: `${namespace ?? ""}/${name}` },
    selects: () => true,
    options: { ...plain, resourceVersion: undefined }
  }
}

const plain: Options = {
  resourceVersion: undefined,
  resourceVersionMatch: undefined,
  sendInitialEvents: undefined,
  allowWatchBookmarks: false,
  timeoutSeconds: undefined
}

const many = (target: Target, parameters: Parameters, watches: boolean, own: string): Route => {
  const { resource, namespace, name } = target
  const { kind, apiVersion } = resource
  const fieldSelector = both(parameters.get("fieldSelector"), name && `metadata.name=${name}`)
  // Of nodes, only this one is watched whole.
  if (kind === "Node" && !(fieldSelector ?? "").split(",").some((part) => isName(part, own))) return forwarded
  const read = query({ kind, namespace, labelSelector: parameters.get("labelSelector"), fieldSelector })
  if (read._tag === "Unreadable") return refused(badRequest(read.message))
  const options = optionsOf(parameters, watches)
  if ("code" in options) return refused(options)
  const verb: Verb = watches ? { _tag: "Watch" } : { _tag: "List" }
  return { _tag: "Served", kind, apiVersion, verb, selects: read.selects, options }
}

const isName = (part: string, own: string): boolean =>
  part === `metadata.name=${own}` || part === `metadata.name==${own}`

const both = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || a === "" ? b : b === undefined ? a : `${a},${b}`

/** The options of a list or watch, or why the API server refuses them (k8s.io/apimachinery, internalversion/validation). */
const optionsOf = (parameters: Parameters, watches: boolean): Options | Status => {
  const given = (name: string): string | undefined => {
    const value = parameters.get(name)
    return value === "" ? undefined : value
  }
  const seconds = given("timeoutSeconds")
  if (seconds !== undefined && !/^-?\d{1,18}$/.test(seconds))
    return badRequest(`timeoutSeconds: ${JSON.stringify(seconds.slice(0, 80))} is no number`)
  if (given("continue") !== undefined)
    return status(410, "Expired", "the continue token is not of this server; start the list again")
  const options: Options = {
    resourceVersion: given("resourceVersion"),
    resourceVersionMatch: given("resourceVersionMatch"),
    sendInitialEvents: truth(parameters.get("sendInitialEvents")),
    allowWatchBookmarks: truth(parameters.get("allowWatchBookmarks")) ?? false,
    timeoutSeconds: seconds === undefined || Number(seconds) <= 0 ? undefined : Number(seconds)
  }
  return invalid(options, watches) ?? options
}

const invalid = (o: Options, watches: boolean): Status | undefined => {
  const { resourceVersion, resourceVersionMatch: match, sendInitialEvents } = o
  if (watches) {
    if (sendInitialEvents === undefined)
      return match === undefined
        ? undefined
        : forbiddenOption(
            "resourceVersionMatch",
            "is forbidden for watch unless sendInitialEvents is provided"
          )
    return match === "NotOlderThan"
      ? undefined
      : forbiddenOption(
          "resourceVersionMatch",
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        )
  }
  if (sendInitialEvents !== undefined) return forbiddenOption("sendInitialEvents", "is forbidden for list")
  if (match === undefined) return undefined
  if (match !== "Exact" && match !== "NotOlderThan")
    return forbiddenOption(
      "resourceVersionMatch",
      `${JSON.stringify(match.slice(0, 80))} is neither Exact nor NotOlderThan`
    )
  if (resourceVersion === undefined)
    return forbiddenOption("resourceVersionMatch", "is forbidden unless resourceVersion is provided")
  return match === "Exact" && resourceVersion === "0"
    ? forbiddenOption("resourceVersionMatch", 'Exact is forbidden for resourceVersion "0"')
    : undefined
}

/**
 * The steps of a path. One that is written otherwise than the API server writes it (escaped letters, doubled or trailing slashes, dots) is read
 * as what it may mean there.
 */
const stepsOf = (path: string): readonly string[] => {
  const parts = path.split("/").map(decoded).join("/").split("/")
  const steps: string[] = []
  for (const part of parts) {
    if (part === "..") steps.pop()
    else if (part !== "" && part !== ".") steps.push(part)
  }
  return steps
}

/** Whether something of discovery.k8s.io is asked for, in whatever version: what isn't known can't be trimmed, so it isn't passed on. */
const isDiscovery = ([root, group, , ...rest]: readonly string[]): boolean =>
  root === "apis" && group === "discovery.k8s.io" && rest.length > 0

/** The target of a path, where it is one of a kind that is shown. */
const targetOf = (steps: readonly string[]): Target | undefined => {
  const versioned = steps[0] === "api" ? 2 : 3
  const root = steps.slice(0, versioned)
  let below = steps.slice(versioned)
  const watch = below[0] === "watch"
  if (watch) below = below.slice(1)
  const namespace = below[0] === "namespaces" && below.length > 2 ? below[1] : undefined
  const [plural = "", name, ...rest] = namespace === undefined ? below : below.slice(2)
  const place = [...root, plural].join("/")
  const resource = Object.hasOwn(RESOURCES, place) ? RESOURCES[place] : undefined
  if (resource === undefined) return undefined
  // An object of a kind in namespaces has one in its path; without it there is no such object.
  const nameless = namespace === undefined && name !== undefined && !CLUSTER_WIDE.has(resource.kind)
  return nameless && !resource.trimmed ? undefined : { resource, namespace, name, rest, watch }
}

const CLUSTER_WIDE: ReadonlySet<ShownKind> = new Set<ShownKind>(["Node", "Namespace", "ServiceCIDR"])

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

type Parameters = ReadonlyMap<string, string>

/** The first value of each parameter, as Go reads them. */
const parsed = (search: string): Parameters => {
  const found = new Map<string, string>()
  for (const pair of search.split("&")) {
    const [name = "", value = ""] = cut(pair, "=").map((text) => decoded(text.replaceAll("+", " ")))
    if (pair !== "" && !found.has(name)) found.set(name, value)
  }
  return found
}

/** A parameter that is there counts as true, whatever it says, unless it says false or 0 (k8s.io/apimachinery, runtime/converter). */
const truth = (value: string | undefined): boolean | undefined =>
  value === undefined ? undefined : !(value === "0" || value.toLowerCase() === "false")

const cut = (text: string, at: string): readonly string[] => {
  const i = text.indexOf(at)
  return i === -1 ? [text] : [text.slice(0, i), text.slice(i + 1)]
}

/** Whether an Accept header takes plain JSON, and whether it asks for a table or for metadata alone besides. */
const accepted = (header: string | undefined): { readonly json: boolean; readonly as: boolean } => {
  const types = (header ?? "").split(",").flatMap((each) => {
    const [type = "", ...parameters] = each.split(";").map((part) => part.trim().toLowerCase())
    return type === "" ? [] : [{ type, as: parameters.some((part) => part.startsWith("as=")) }]
  })
  const plainJson = types.some(
    ({ type, as }) => !as && ["application/json", "application/*", "*/*"].includes(type)
  )
  return { json: types.length === 0 || plainJson, as: types.some(({ as }) => as) }
}
