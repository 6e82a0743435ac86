/**
 * What a client asks to be stored: a new object, a whole one, a merge patch or an applied configuration.
 *
 * Each is read against its kind, its field manager is noted in `managedFields`, and the rest is done by `writes`.
 */
import { byCode, get, isList, goJson, isObj, objAt, text, withAt, type Obj } from "./json.ts"
import { KUBECTL, remaining, withLastApplied } from "./lastapplied.ts"
import * as Managers from "./managers.ts"
import type { Patch, Strictness } from "./patching.ts"
import { BUILT_IN, PUT_CREATES } from "./served.ts"
import { SCALE } from "./scale.ts"
import * as Status from "./status.ts"
import { Refusal } from "./status.ts"
import * as Store from "./store.ts"
import { problems as typedProblems } from "./declared.ts"
import { shown } from "./fieldset.ts"
import { inVersion } from "./versions.ts"
import { answer, create, replace, type Call, type Outcome } from "./writes.ts"

/** POST: a new object. */
export const post = (call: Call, body: unknown, strictness: Strictness): Outcome => {
  const [read, warnings] = readBody(call, body, strictness)
  if (text(read, "metadata", "resourceVersion") !== "") {
    throw new Refusal(Status.internal("resourceVersion should not be set on objects to be created"))
  }
  const placed = inNamespace(call, withoutSystem(read))
  return telling(warnings, () =>
    create({ ...call, warnings }, managedFrom(call, call.strategy.empty, placed, body))
  )
}

/** PUT: the whole object, or its status. */
export const put = (call: Call, body: unknown, strictness: Strictness): Outcome => {
  const [read, warnings] = readBody(call, body, strictness)
  return telling(warnings, () => putRead({ ...call, warnings }, body, read))
}

/** What was warned of is told with a refusal, too. */
const telling = (warnings: readonly string[], run: () => Outcome): Outcome => {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof Refusal) || error.response.headers !== undefined) throw error
    const { code, body } = error.response
    throw new Refusal(answer({ warnings }, code, body))
  }
}

const putRead = (call: Call, body: unknown, read: Obj): Outcome => {
  const placed = inNamespace(call, read)
  checkName(call, placed)
  const { resource } = call.strategy
  const existing = existingOf(call)
  if (!existing && (!PUT_CREATES.has(resource.kind) || resource.custom))
    throw new Refusal(Status.notFound(resource, call.name))
  checkUid(call, placed, existing)
  if (existing) return replace(call, existing, managedFrom(call, existing, placed, body))
  return create(call, managedFrom(call, call.strategy.empty, placed, body))
}

/** A uid that a PUT names must be that of the stored object; an absent object has none. */
const checkUid = (call: Call, object: Obj, existing: Obj | undefined): void => {
  const [asked, stored] = [text(object, "metadata", "uid"), text(existing, "metadata", "uid")]
  if (asked === "" || asked === stored) return
  const { resource } = call.strategy
  const at = ["/registry", ...keptUnder(call), call.namespace ?? "", call.name].filter((each) => each !== "")
  // a dry run asks another store
  const key = call.dryRun ? `/${at.slice(1).join("/")}` : at.join("/")
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${asked}, UID in object meta: ${stored}`
  throw new Refusal(Status.conflict(resource, call.name, why))
}

/** Where the server's store keeps a kind. */
const keptUnder = ({ strategy: { resource, apiVersion } }: Call): readonly string[] => {
  const { group, kind, plural } = resource
  if (kind === "Service" && group === "") return ["services", "specs"]
  if (kind === "Endpoints" && group === "") return ["services", "endpoints"]
  if (kind === "Node" && group === "") return ["minions"]
  return group === "" || isBuiltIn(kind, apiVersion) ? [plural] : [group, plural]
}

const uidMismatch = (call: Call, object: Obj): ReturnType<typeof Status.conflict> =>
  Status.conflict(
    call.strategy.resource,
    call.name,
    `uid mismatch: the provided object specified uid ${text(object, "metadata", "uid")}, and no existing object was found`
  )

const NO_OBJECT =
  'couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** PATCH that makes the new object from the old one. */
export const patched = (call: Call, strictness: Strictness, change: Patch): Outcome => {
  const { resource } = call.strategy
  const existing = existingOf(call)
  if (!existing) throw new Refusal(Status.notFound(resource, call.name))
  const raw = change(existing)
  const read = call.strategy.read(isObj(raw) ? raw : {})
  const refuse = (why: string): never => {
    throw new Refusal(Status.invalid("", "", "", [Status.invalidValue("patch", goJson(raw), why)]))
  }
  if (!isObj(raw)) return refuse(NO_OBJECT)
  if ("problem" in read) return refuse(read.problem)
  if (strictness === "Strict" && read.unknown.length > 0) {
    return refuse(`strict decoding error: ${read.unknown.join(", ")}`)
  }
  const placed = inNamespace(call, read.object)
  checkName(call, placed)
  const warnings = strictness === "Warn" ? [...read.unknown].sort(byCode) : []
  return telling(warnings, () =>
    replace({ ...call, warnings }, existing, managedFrom(call, existing, placed, raw))
  )
}

/** PATCH that applies a configuration on behalf of a field manager. */
export const apply = (call: Call, body: unknown, force: boolean): Outcome => {
  const { strategy } = call
  const existing = existingOf(call)
  const makes = call.part === "all" || (PUT_CREATES.has(strategy.resource.kind) && !strategy.resource.custom)
  if (!existing && !makes) throw new Refusal(Status.notFound(strategy.resource, call.name))
  const config = configOf(call, body)
  const managers = managersBefore(call, existing)
  const live = existing ? withAt(existing, ["metadata", "managedFields"], undefined) : strategy.empty
  const applied = (forced: boolean): ReturnType<typeof Managers.applied> =>
    Managers.applied(strategy.type, live, config, managers, writer(call), forced)
  let made = applied(force)
  if ("conflicts" in made && call.manager === KUBECTL) {
    const conflicts = remaining(strategy.type, live, strategy.apiVersion, made.conflicts)
    made = conflicts.length > 0 ? { conflicts } : applied(true)
  }
  if ("conflicts" in made) throw new Refusal(conflictOf(made.conflicts))
  const merged = made.object ? readMerged(call, made.object, config) : live
  const noted = call.manager === KUBECTL ? withLastApplied(merged, config) : merged
  const next = withAt(noted, ["metadata", "managedFields"], Managers.write(made.managers))
  if (!existing && text(next, "metadata", "uid") !== "") throw new Refusal(uidMismatch(call, next))
  const placed = inNamespace(call, next)
  checkName(call, placed)
  return existing ? replace(call, existing, placed) : create(call, placed)
}

const nameOf = (call: Call, object: unknown): string =>
  `(${text(object, "metadata", "namespace")}/${text(object, "metadata", "name")}; ${kindOf(call)})`

const kindOf = (call: Call): string => {
  const { group, version, kind } = call.strategy.resource
  return `${group}/${version}, Kind=${kind}`
}

const configOf = (call: Call, body: unknown): Obj => {
  const { strategy } = call
  if (!isObj(body)) throw new Refusal(Status.badRequest("error decoding patch: the body is no object"))
  const apiVersion = text(body, "apiVersion")
  const given = `${apiVersion.includes("/") ? "" : "/"}${apiVersion}, Kind=${text(body, "kind")}`
  if (given !== kindOf(call)) throw new Refusal(Status.badRequest(`invalid object type: ${given}`))
  const managed = get(body, "metadata", "managedFields")
  if (managed !== undefined && managed !== null) {
    throw new Refusal(Status.badRequest("metadata.managedFields must be nil"))
  }
  const problems = typedProblems(strategy.type, body, false)
  if (problems.length > 0) {
    const all =
      problems.length === 1 ? problems[0] : ["errors:", ...problems.map((each) => `  ${each}`)].join("\n")
    throw new Refusal(Status.internal(`failed to create typed patch object ${nameOf(call, body)}: ${all}`))
  }
  return body
}

/** The managers of the live object; whatever it holds untracked belongs to nobody in particular. */
const managersBefore = (call: Call, existing: Obj | undefined): Managers.Managers => {
  if (!existing) return new Map()
  const managers = Managers.read(get(existing, "metadata", "managedFields")) ?? new Map()
  if (managers.size > 0) return managers
  const { strategy } = call
  const before = { ...writer(call), manager: "before-first-apply" }
  const live = withAt(existing, ["metadata", "managedFields"], undefined)
  return Managers.updated(strategy.type, strategy.empty, live, managers, before)
}

const readMerged = (call: Call, merged: Obj, config: Obj): Obj => {
  const read = call.strategy.complete(merged)
  if (!("problem" in read)) return read.object
  const what = call.strategy.resource.custom
    ? read.problem
    : `unable to convert unstructured object to ${kindOf(call)}: ${read.problem}`
  throw new Refusal(
    Status.internal(`failed to convert new object ${nameOf(call, config)} to proper version: ${what}`)
  )
}

const conflictOf = (conflicts: readonly Managers.Conflict[]): ReturnType<typeof Status.applyConflict> => {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${shownManager(manager)}`,
    field: shown(path)
  }))
  const [only] = causes
  if (only && causes.length === 1) {
    return Status.applyConflict(`Apply failed with 1 conflict: ${only.message}: ${only.field}`, causes)
  }
  const byManager = new Map<string, string[]>()
  const inOrder = [...conflicts].sort((a, b) => byCode(identity(a.manager), identity(b.manager)))
  for (const { manager, path } of inOrder) {
    const name = shownManager(manager)
    byManager.set(name, [...(byManager.get(name) ?? []), shown(path)])
  }
  const lines = [...byManager].flatMap(([name, fields]) => [
    `conflicts with ${name}:`,
    ...fields.map((each) => `- ${each}`)
  ])
  return Status.applyConflict(`Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`, causes)
}

/** What the server tells managers apart by, and sorts them by. */
const identity = ({ manager, operation, apiVersion, subresource }: Managers.Manager): string =>
  goJson({
    manager,
    operation,
    ...(operation === "Apply" ? {} : { apiVersion }),
    ...(subresource === "" ? {} : { subresource })
  })

const shownManager = (manager: Managers.Manager): string => {
  const name = goJson(manager.manager)
  const part = manager.subresource === "" ? name : `${name} with subresource ${goJson(manager.subresource)}`
  return manager.operation === "Update" ? `${part} using ${manager.apiVersion}` : part
}

const existingOf = (call: Call): Obj | undefined => {
  const { resource } = call.strategy
  const found = Store.find(call.cluster, Store.keyOfResource(resource), call.namespace, call.name)
  return found === undefined ? undefined : (inVersion(resource, found) as unknown as Obj)
}

const readBody = (call: Call, body: unknown, strictness: Strictness): readonly [Obj, readonly string[]] => {
  const { strategy } = call
  const { kind, version } = strategy.resource
  const refuse = (why: string): never => {
    throw new Refusal(Status.badRequest(why))
  }
  if (!isObj(body))
    return refuse(
      "the object provided is unrecognized (must be of type " +
        kind +
        "): couldn't get version/kind; json parse error"
    )
  const cannot = `in version ${goJson(version)} cannot be handled as a ${kind}`
  const given = text(body, "apiVersion")
  const named = text(body, "kind")
  if (given !== "" && given !== strategy.apiVersion) {
    refuse(
      isBuiltIn(named || kind, given) || strategy.resource.custom
        ? `the API version in the data (${given}) does not match the expected API version (${strategy.apiVersion})`
        : `${kind} ${cannot}: no kind ${goJson(named || kind)} is registered for version ${goJson(given)} in scheme "pkg/runtime/scheme.go:111"`
    )
  }
  if (named !== "" && named !== kind) {
    const [from, to] = [`${version}.${named}`, `${internalGroup(strategy.resource.group)}.${kind}`]
    refuse(`${named} ${cannot}: converting (${from}) to (${to}): unknown conversion`)
  }
  const read = strategy.read(body)
  if ("problem" in read)
    return refuse(`${kind} in version ${goJson(version)} cannot be handled as a ${kind}: ${read.problem}`)
  if (strictness === "Strict" && read.unknown.length > 0) {
    refuse(`${kind} ${cannot}: strict decoding error: ${read.unknown.join(", ")}`)
  }
  return [read.object, strictness === "Warn" ? read.unknown : []]
}

const isBuiltIn = (kind: string, apiVersion: string): boolean =>
  BUILT_IN.some(
    (each) =>
      each.kind === kind &&
      (each.group === "" ? each.version : `${each.group}/${each.version}`) === apiVersion
  )

/** The package of a group in the server's own types, as its messages name it. */
const internalGroup = (group: string): string => (group === "" ? "core" : (group.split(".")[0] ?? group))

const withoutSystem = (object: Obj): Obj => {
  const meta = objAt(object, "metadata")
  const { uid: _, creationTimestamp: __, deletionTimestamp: ___, selfLink: ____, ...kept } = meta
  return { ...object, metadata: kept }
}

const inNamespace = (call: Call, object: Obj): Obj => {
  const given = text(object, "metadata", "namespace")
  const wanted = call.strategy.resource.namespaced ? (call.namespace ?? "") : ""
  if (given === wanted) return object
  if (given === "") return withAt(object, ["metadata", "namespace"], wanted)
  throw new Refusal(
    Status.badRequest(
      wanted === ""
        ? "the namespace of the provided object does not match the namespace sent on the request"
        : "the namespace of the provided object does not match the namespace sent on the request"
    )
  )
}

const checkName = (call: Call, object: Obj): void => {
  const name = text(object, "metadata", "name")
  if (name === call.name) return
  throw new Refusal(
    Status.badRequest(
      name === ""
        ? `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`
        : `the name of the object (${name}) does not match the name on the URL (${call.name})`
    )
  )
}

const writer = (call: Call): Managers.Writer => ({
  manager: call.manager,
  apiVersion: call.strategy.apiVersion,
  subresource: call.part === "status" ? "status" : call.strategy.resource === SCALE ? "scale" : "",
  time: Store.timestamp(call.at),
  reset: call.strategy.reset(call.part)
})

/** The object with `managedFields` brought up to date for a write that isn't an apply. */
const managedFrom = (call: Call, live: Obj, next: Obj, raw: unknown): Obj => {
  const bare = withAt(next, ["metadata", "managedFields"], undefined)
  const managers = managersFor(call, live, raw)
  const tracked = managers.size > 0 || text(live, "metadata", "uid") === ""
  if (!tracked) return bare
  // what is no object of its type, such as the spec beside a status, changes nobody's fields
  const { type, resource } = call.strategy
  if (call.part === "status" && resource.custom && typedProblems(type, bare, true).length > 0)
    return withAt(bare, ["metadata", "managedFields"], Managers.write(managers))
  const updated = Managers.updated(call.strategy.type, live, bare, managers, writer(call))
  return withAt(bare, ["metadata", "managedFields"], Managers.write(updated))
}

/** Those that the request brings along, if it does and may; an empty list, or one empty entry, forgets them all. */
const managersFor = (call: Call, live: Obj, raw: unknown): Managers.Managers => {
  const before = (): Managers.Managers => Managers.read(get(live, "metadata", "managedFields")) ?? new Map()
  if (call.part === "status") return before()
  const given = get(raw, "metadata", "managedFields")
  if (!isList(given)) return before()
  const [first] = given
  if (given.length === 0 || (given.length === 1 && isObj(first) && Object.keys(first).length === 0))
    return new Map()
  const managers = Managers.read(given)
  return managers && managers.size > 0 ? managers : before()
}
