/**
 * The API server as a pure function: `(cluster, request) -> (cluster, response, changes)`.
 *
 * Its answers are compared with those of a real server, recorded ones and request by request. The whole list of what
 * isn't, or what the generators of cluster-tests/compare leave out, and is given as its sources say or not at all:
 * 1. a key that stands twice in JSON, versions of a custom kind that a webhook converts, dual-stack Services, slices made of Endpoints
 *    that a user wrote, who owns the fields of an Event written through events.k8s.io;
 * 2. rules of pod specs beyond names, images, ports, environment, mounts, probes, resources; most warnings of volumes;
 * 3. rules of a CustomResourceDefinition beyond its name and the types of its fields, integer arithmetic in CEL;
 * 4. what messages quote as Go values: volumeClaimTemplates, two ports of one number, bad strategic merge patches;
 * 5. who owns what is empty: repeated volumeClaimTemplates, lists stored as null, maps applied to custom metadata;
 * 6. the token volume of pods, and whether a write of a Scale re-orders the owners of ports of unlike length;
 * 7. what a real server fails at: a status that makes a Service, a revision beside background deletion, an object as the
 *    whole of a JSON patch; and what stands in the aside.ts of the comparison.
 */
import { beginning } from "./beginning.ts"
import * as Changes from "./changes.ts"
import {
  keyOf,
  type Change,
  type Cluster,
  type KubeObject,
  type Request,
  type Resource,
  type Response,
  type Watch
} from "./cluster.ts"
import * as Deletes from "./deletes.ts"
import { isNewer, newer, newerWatch, older } from "./eventforms.ts"
import { listAt, text, withAt, type Obj } from "./json.ts"
import { patchOf, type Strictness } from "./patching.ts"
import * as Reads from "./reads.ts"
import { SCALE, scaled, scaleOf, withScale, WORKLOAD } from "./scale.ts"
import { BUILT_IN } from "./served.ts"
import * as Sorted from "./sorted.ts"
import * as Status from "./status.ts"
import { Refusal } from "./status.ts"
import * as Store from "./store.ts"
import { strategyOf } from "./strategy.ts"
import { targetOf, type Target } from "./verbs.ts"
import { inVersion } from "./versions.ts"
import { deprecated } from "./warnings.ts"
import { gone, replace, type Call, type Outcome } from "./writes.ts"

export interface Step {
  readonly cluster: Cluster
  readonly response: Response
  readonly changes: readonly Change[]
}

const NOTHING: Cluster = {
  revision: 0,
  compacted: 0,
  objects: new Map(),
  history: Sorted.none,
  custom: new Map(),
  counters: { uid: 0, name: 0, ip: 1, port: 0 },
  addresses: Sorted.none,
  ports: Sorted.none
}

/** A cluster as it is right after its start: system namespaces, the service of the API server, its range of addresses. */
export const start = (time: number): Cluster =>
  beginning(time).reduce(
    (cluster, asked) => step(cluster, { ...asked, userAgent: "kube-apiserver", at: time }).cluster,
    NOTHING
  )

/** The answer to one request, everything but watches, and the cluster after it. */
export const step = (cluster: Cluster, request: Request): Step => {
  const made = refusing<Step>(
    () => (isNewer(request) ? asNewer(answered(cluster, older(request))) : answered(cluster, request)),
    (response) => ({ cluster, response, changes: [] })
  )
  const response = deprecated(request, made.response)
  return response === made.response ? made : { ...made, response }
}

const asNewer = (outcome: Outcome): Outcome => ({ ...outcome, response: newer(outcome.response) })

const refusing = <A>(run: () => A, refused: (response: Response) => A): A => {
  try {
    return run()
  } catch (error) {
    if (error instanceof Refusal) return refused(error.response)
    throw error
  }
}

interface Aim {
  readonly resource: Resource
  readonly target: Target
}

const aimOf = (cluster: Cluster, request: Request): Aim => {
  const target = targetOf(request.path)
  if (!target) throw new Refusal(Status.noSuchGroup)
  const resource = find(cluster, target.group, target.version, target.plural)
  if (!resource) {
    const known = BUILT_IN.some(({ group }) => group === target.group)
    throw new Refusal(known ? Status.unknownPath : Status.noSuchGroup)
  }
  const misplaced = target.namespace !== undefined && !resource.namespaced
  const nowhere = target.namespace === undefined && target.name !== undefined && resource.namespaced
  if (misplaced || nowhere) throw new Refusal(Status.unknownPath)
  return { resource, target }
}

const answered = (cluster: Cluster, request: Request): Outcome => {
  const aim = aimOf(cluster, request)
  if (request.method !== "GET") checkWriteOptions(request)
  const { name, subresource } = aim.target
  if (name === undefined) return onCollection(cluster, request, aim)
  if (subresource === undefined) return onObject(cluster, request, aim, "all")
  if (subresource === "status" && aim.resource.status) return onObject(cluster, request, aim, "status")
  if (subresource === "scale" && aim.resource.scale) return onScale(cluster, request, aim)
  if (subresource === "binding" && aim.resource.kind === "Pod") return bind(cluster, request, aim)
  if (subresource === "finalize" && aim.resource.kind === "Namespace") return finalize(cluster, request, aim)
  if (aim.resource.custom) throw new Refusal(Status.notFound(aim.resource, name))
  if (aim.resource.kind === "Pod" && INSIDE.has(subresource)) throw new Refusal(notRun(name))
  throw new Refusal(Status.unknownPath)
}

/** What is read from the containers of a pod, or done in them. */
const INSIDE: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"])

const notRun = (name: string): Response =>
  Status.badRequest(`pod ${JSON.stringify(name)} is not run: the embedded cluster has no containers`)

const read = (cluster: Cluster, response: Response): Outcome => ({ cluster, response, changes: [] })

const onCollection = (cluster: Cluster, request: Request, { resource, target }: Aim): Outcome => {
  const scope = { resource, namespace: target.namespace, query: request.query }
  switch (request.method) {
    case "GET":
      return read(cluster, Reads.list(cluster, scope))
    case "POST":
      if (resource.namespaced && target.namespace === undefined) throw new Refusal(Status.methodNotAllowed)
      return Changes.post(
        callOf(cluster, request, resource, target, "all"),
        request.body,
        strictnessOf(request)
      )
    case "DELETE":
      return removeAll(cluster, request, { resource, target })
    case "PUT":
    case "PATCH":
      throw new Refusal(Status.methodNotAllowed)
  }
}

const onObject = (cluster: Cluster, request: Request, aim: Aim, part: Call["part"]): Outcome => {
  const { resource, target } = aim
  const call = callOf(cluster, request, resource, target, part)
  switch (request.method) {
    case "GET":
      Reads.checkRevision(cluster, request.query)
      return read(cluster, { code: 200, body: existing(cluster, aim) })
    case "PUT":
      return Changes.put(call, request.body, strictnessOf(request))
    case "PATCH":
      return onPatch(call, request)
    case "DELETE":
      if (part === "all")
        return Deletes.remove(cluster, deletionOf(request, resource), existing(cluster, aim))
      throw new Refusal(Status.methodNotAllowed)
    case "POST":
      throw new Refusal(Status.methodNotAllowed)
  }
}

const onPatch = (call: Call, request: Request): Outcome => {
  const [type = "", strictness] = [request.contentType, strictnessOf(request)]
  return type.split(";")[0] === "application/apply-patch+yaml"
    ? Changes.apply(call, request.body, request.query["force"] === "true")
    : Changes.patched(call, strictness, patchOf(type, request.body, call.strategy, strictness))
}

const existing = (cluster: Cluster, { resource, target }: Aim): Obj => {
  const name = target.name ?? ""
  const found = Store.find(cluster, Store.keyOfResource(resource), target.namespace, name)
  if (!found) throw new Refusal(Status.notFound(resource, name))
  return inVersion(resource, found) as unknown as Obj
}

const callOf = (
  cluster: Cluster,
  request: Request,
  resource: Resource,
  target: Target,
  part: Call["part"]
): Call => ({
  cluster,
  strategy: strategyOf(resource),
  part,
  namespace: target.namespace,
  name: target.name ?? "",
  manager: request.query["fieldManager"] || managerOf(request.userAgent ?? ""),
  at: request.at,
  dryRun: request.query["dryRun"] === "All",
  warnings: []
})

/** A client that names no field manager is known by what stands before the slash in its user agent. */
const managerOf = (userAgent: string): string => (userAgent.split("/")[0] ?? "").slice(0, 128) || "unknown"

const OPTIONS = {
  GET: "GetOptions",
  POST: "CreateOptions",
  PUT: "UpdateOptions",
  PATCH: "PatchOptions",
  DELETE: "DeleteOptions"
}

/** Refuses a write whose query says what can't be said. */
const checkWriteOptions = (request: Request): void => {
  const { query, method } = request
  const problems: Status.Problem[] = []
  const [manager, dryRun, strictness] = [
    query["fieldManager"] ?? "",
    query["dryRun"] ?? "",
    query["fieldValidation"] ?? ""
  ]
  const applies = (request.contentType ?? "").startsWith("application/apply-patch")
  if (method === "PATCH" && query["force"] !== undefined && !applies) {
    problems.push(Status.forbiddenField("force", "may not be specified for non-apply patch"))
  }
  if (method === "PATCH" && manager === "" && applies) {
    problems.push(Status.required("fieldManager", "is required for apply patch"))
  }
  if (manager.length > 128) problems.push(Status.tooLong("fieldManager", 128))
  if (dryRun !== "" && dryRun !== "All") problems.push(Status.unsupported("dryRun", [dryRun], ["All"]))
  if (!["", "Ignore", "Strict", "Warn"].includes(strictness)) {
    problems.push(Status.unsupported("fieldValidation", strictness, ["", "Ignore", "Strict", "Warn"]))
  }
  if (problems.length > 0) throw new Refusal(Status.invalid("meta.k8s.io", OPTIONS[method], "", problems))
}

const strictnessOf = ({ query }: Request): Strictness => {
  const asked = query["fieldValidation"]
  return asked === "Strict" || asked === "Ignore" ? asked : "Warn"
}

const deletionOf = (request: Request, resource: Resource): Deletes.Deletion => {
  const options = Deletes.deleteOptions(request.body, request.query)
  Deletes.checkOptions(options)
  return {
    resource,
    at: request.at,
    dryRun: request.query["dryRun"] === "All" || listAt(options, "dryRun").includes("All"),
    options
  }
}

const removeAll = (cluster: Cluster, request: Request, { resource, target }: Aim): Outcome => {
  const scope = { resource, namespace: target.namespace, query: request.query }
  const { body } = Reads.list(cluster, scope)
  const deletion = deletionOf(request, resource)
  let after = cluster
  const changes: Change[] = []
  for (const item of listAt(body, "items")) {
    const [namespace, name] = [text(item, "metadata", "namespace"), text(item, "metadata", "name")]
    const found = Store.find(after, Store.keyOfResource(resource), namespace, name)
    if (!found) continue
    const outcome = Deletes.remove(after, deletion, found as unknown as Obj)
    after = outcome.cluster
    changes.push(...outcome.changes)
  }
  return { cluster: after, response: { code: 200, body }, changes }
}

const onScale = (cluster: Cluster, request: Request, aim: Aim): Outcome => {
  const object = existing(cluster, aim)
  const paths = aim.resource.scalePaths ?? WORKLOAD
  if (request.method === "GET") return read(cluster, { code: 200, body: scaleOf(object, paths) })
  if (request.method !== "PUT" && request.method !== "PATCH") throw new Refusal(Status.methodNotAllowed)
  // the version is that of the object, and checked with it
  const version = text(request.body, "metadata", "resourceVersion")
  const body =
    version === "" ? request.body : withAt(request.body, ["metadata", "resourceVersion"], undefined)
  const { resource, target } = aim
  const asked = callOf(withScale(cluster, object, paths), request, SCALE, target, "all")
  const scale = writtenTo(asked, { ...request, body }).response
  const made = scaled(object, scale.body as Obj, paths)
  const next = version === "" ? made : withAt(made, ["metadata", "resourceVersion"], version)
  const outcome = replace(callOf(cluster, request, resource, target, "all"), object, next)
  return { ...outcome, response: { ...scale, body: scaleOf(outcome.response.body as Obj, paths) } }
}

/** A PUT or PATCH. */
const writtenTo = (call: Call, request: Request): Outcome =>
  request.method === "PUT" ? Changes.put(call, request.body, strictnessOf(request)) : onPatch(call, request)

/** A pod's node, given by the scheduler. */
const bind = (cluster: Cluster, request: Request, aim: Aim): Outcome => {
  if (request.method !== "POST") throw new Refusal(Status.methodNotAllowed)
  const pod = existing(cluster, aim)
  const node = text(pod, "spec", "nodeName")
  if (node !== "") {
    const why = `pod ${text(pod, "metadata", "name")} is already assigned to node ${JSON.stringify(node)}`
    throw new Refusal(
      Status.conflict({ group: "", plural: "pods/binding" }, text(pod, "metadata", "name"), why)
    )
  }
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: Store.timestamp(request.at)
  }
  const others = listAt(pod, "status", "conditions").filter((each) => text(each, "type") !== "PodScheduled")
  const placed = withAt(pod, ["spec", "nodeName"], text(request.body, "target", "name"))
  const bound = withAt(placed, ["status", "conditions"], [...others, scheduled])
  const { cluster: after, change } = Store.written(cluster, Store.keyOfResource(aim.resource), bound)
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }
  return { cluster: after, response: { code: 201, body }, changes: [change] }
}

/** A namespace's own finalizers, emptied when nothing is left in it. */
const finalize = (cluster: Cluster, request: Request, aim: Aim): Outcome => {
  if (request.method !== "PUT") throw new Refusal(Status.methodNotAllowed)
  const namespace = existing(cluster, aim)
  const finalizers = listAt(request.body, "spec", "finalizers")
  const emptied = withAt(namespace, ["spec"], finalizers.length > 0 ? { finalizers } : {})
  const last =
    finalizers.length === 0 &&
    Store.isDeleted(namespace) &&
    listAt(namespace, "metadata", "finalizers").length === 0
  if (last) return { ...gone(cluster, aim.resource, emptied), response: { code: 200, body: emptied } }
  const { cluster: after, change } = Store.written(cluster, Store.keyOfResource(aim.resource), emptied)
  return { cluster: after, response: { code: 200, body: change.object }, changes: [change] }
}

/** A watch, or the answer that refuses it; on the path of one object it is a plain GET. */
export const watch = (
  cluster: Cluster,
  request: Request
):
  | { readonly _tag: "Watch"; readonly watch: Watch }
  | { readonly _tag: "Refused"; readonly response: Response } =>
  refusing<ReturnType<typeof watch>>(
    () => {
      const { resource, target } = aimOf(cluster, request)
      if (target.name !== undefined) return { _tag: "Refused", response: step(cluster, request).response }
      const { query } = isNewer(request) ? older(request) : request
      const opened = Reads.watch(cluster, { resource, namespace: target.namespace, query })
      return { _tag: "Watch", watch: isNewer(request) ? newerWatch(opened) : opened }
    },
    (response) => ({ _tag: "Refused", response: deprecated(request, response) })
  )

/** Every kind that is served, built-in ones first. */
export const resources = (cluster: Cluster): readonly Resource[] => [...BUILT_IN, ...cluster.custom.values()]

/** The served kind of a group, version and plural. */
export const find = (
  cluster: Cluster,
  group: string,
  version: string,
  plural: string
): Resource | undefined =>
  builtIn.get(`${group}/${version}/${plural}`) ?? cluster.custom.get(`${group}/${version}/${plural}`)

const builtIn: ReadonlyMap<string, Resource> = new Map(
  BUILT_IN.map((each) => [`${each.group}/${each.version}/${each.plural}`, each])
)

/** One object; `resource` is group and plural, `apps/deployments` or `/pods`. */
export const get = (
  cluster: Cluster,
  resource: string,
  namespace: string | undefined,
  name: string
): KubeObject | undefined => Sorted.at(Store.objectsOf(cluster, resource), keyOf(namespace, name))

/** The objects of a resource, in order, of one namespace or of all. */
export const list = (cluster: Cluster, resource: string, namespace?: string): readonly KubeObject[] => {
  const objects = Store.objectsOf(cluster, resource)
  if (namespace === undefined) return Sorted.values(objects)
  const found: KubeObject[] = []
  for (const [key, object] of Sorted.from(objects, `${namespace}/`)) {
    if (!key.startsWith(`${namespace}/`)) break
    found.push(object)
  }
  return found
}

/** The cluster after its history up to a revision is forgotten. */
export const compact = (cluster: Cluster, upTo: number): Cluster => {
  const compacted = Math.min(upTo, cluster.revision)
  if (compacted <= cluster.compacted) return cluster
  return { ...cluster, compacted, history: Sorted.dropBelow(cluster.history, compacted + 1) }
}
