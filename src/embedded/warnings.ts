/**
 * Warnings that come with an answer: what the server takes, though it is hardly meant so.
 */
import type { Request, Resource, Response } from "./cluster.ts"
import { get, listAt, objAt, text, type Obj } from "./json.ts"
import { labelProblems } from "./names.ts"
import { targetOf } from "./verbs.ts"

/** The warnings of a write; `before` is what it replaces. */
export const warningsOf = (resource: Resource, object: Obj, before: Obj | undefined): readonly string[] => {
  if (resource.custom) return finalizerWarnings(object, before)
  return WARNINGS[resource.kind]?.(object, before) ?? []
}

const KNOWN_FINALIZERS = ["orphan", "foregroundDeletion", "kubernetes"]

const finalizerWarnings = (object: Obj, before: Obj | undefined): readonly string[] => {
  const old = listAt(before, "metadata", "finalizers")
  return listAt(object, "metadata", "finalizers")
    .map(String)
    .filter((each) => !old.includes(each) && !each.includes("/") && !KNOWN_FINALIZERS.includes(each))
    .map((each) => {
      const path = each.includes(".") ? " including a path (/)" : ""
      return `metadata.finalizers: ${JSON.stringify(each)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
    })
}

const nameWarnings = (object: Obj, before: Obj | undefined): readonly string[] => {
  const problems = before ? [] : labelProblems(text(object, "metadata", "name"))
  if (problems.length === 0) return []
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(", ")}]`
  ]
}

interface Place {
  readonly at: string
  readonly port: unknown
}

const KINDS_OF_CONTAINERS = ["initContainers", "containers"]

const podWarnings = (spec: Obj, at: string): readonly string[] => {
  const containers = KINDS_OF_CONTAINERS.flatMap((field) =>
    listAt(spec, field).map((container, index) => ({ container, at: `${at}.${field}[${index}]` }))
  )
  const ports = containers.flatMap(({ container, at: here }) =>
    listAt(container, "ports").map((port, index): Place => ({ at: `${here}.ports[${index}]`, port }))
  )
  return [
    ...containers.flatMap(({ container, at: here }) => envWarnings(listAt(container, "env"), `${here}.env`)),
    ...portWarnings(ports),
    ...portNameWarnings(ports.filter(({ at: here }) => here.includes(".containers[")))
  ]
}

const envWarnings = (env: readonly unknown[], at: string): readonly string[] => {
  const seen = new Set<string>()
  return env.flatMap((each, index) => {
    const name = text(each, "name")
    const again = seen.has(name)
    seen.add(name)
    const shown = JSON.stringify(name)
    return again
      ? [`${at}[${index}]: hides previous definition of ${shown}, which may be dropped when using apply`]
      : []
  })
}

const portWarnings = (ports: readonly Place[]): readonly string[] =>
  ports.flatMap(({ at, port }, index) =>
    ports
      .slice(0, index)
      .filter(
        (each) =>
          samePort(each.port, port, "containerPort") && text(each.port, "protocol") === text(port, "protocol")
      )
      .flatMap((other) => {
        const [mine, theirs] = [get(port, "hostPort") ?? 0, get(other.port, "hostPort") ?? 0]
        if (mine === theirs && text(port, "hostIP") === text(other.port, "hostIP")) {
          return [`${at}: duplicate port definition with ${other.at}`]
        }
        return mine === 0 || theirs === 0 ? [`${at}: overlapping port definition with ${other.at}`] : []
      })
  )

const samePort = (a: unknown, b: unknown, field: string): boolean => get(a, field) === get(b, field)

const portNameWarnings = (ports: readonly Place[]): readonly string[] => {
  const seen = new Map<string, string>()
  return ports.flatMap(({ at, port }) => {
    const name = text(port, "name")
    const other = seen.get(name)
    if (name === "") return []
    if (other === undefined) {
      seen.set(name, at)
      return []
    }
    const shown = JSON.stringify(name)
    return [
      `${at}: duplicate port name ${shown} with ${other}, services and probes that select ports by name will use ${other}`
    ]
  })
}

/** A template's warnings are told when the object is new or its spec changes. */
const templateWarnings = (object: Obj, before: Obj | undefined): readonly string[] => {
  const generation = (of: Obj): unknown => get(of, "metadata", "generation")
  if (before && generation(object) === generation(before)) return []
  return podWarnings(objAt(object, "spec", "template", "spec"), "spec.template.spec")
}

const serviceWarnings = (object: Obj): readonly string[] => {
  const spec = objAt(object, "spec")
  const external = listAt(spec, "externalIPs").length > 0
  const headless = text(spec, "clusterIP") === "None"
  const named = text(spec, "type") === "ExternalName"
  const told: readonly (readonly [boolean, string])[] = [
    [headless && external, "spec.externalIPs is ignored for headless services"],
    [
      headless && text(spec, "sessionAffinity") !== "None",
      "spec.SessionAffinity is ignored for headless services"
    ],
    [
      external && !headless && !named,
      "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    ],
    [named && external, 'spec.externalIPs is ignored when spec.type is "ExternalName"'],
    [
      !named && text(spec, "externalName") !== "",
      'spec.externalName is ignored when spec.type is not "ExternalName"'
    ],
    [
      text(spec, "trafficDistribution") === "PreferClose",
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
    ]
  ]
  return told.filter(([is]) => is).map(([, message]) => message)
}

const WARNINGS: Readonly<
  Record<string, ((object: Obj, before: Obj | undefined) => readonly string[]) | undefined>
> = {
  Deployment: (object, before) => [...nameWarnings(object, before), ...templateWarnings(object, before)],
  ReplicaSet: (object, before) => [...nameWarnings(object, before), ...templateWarnings(object, before)],
  StatefulSet: templateWarnings,
  Pod: (object, before) => (before ? [] : podWarnings(objAt(object, "spec"), "spec")),
  Service: serviceWarnings
}

const DEPRECATED = `299 - ${JSON.stringify("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")}`

/** The answer to a request, with the warning that comes first whatever is asked of a kind that is deprecated. */
export const deprecated = (request: Pick<Request, "path">, response: Response): Response => {
  const warning = deprecation(request)
  if (warning === undefined) return response
  const further = response.headers?.["warning"]
  return {
    ...response,
    headers: { ...response.headers, warning: further === undefined ? warning : `${warning}, ${further}` }
  }
}

/** The warning header of a deprecated kind. */
export const deprecation = ({ path }: Pick<Request, "path">): string | undefined => {
  const target = path.includes("/endpoints") ? targetOf(path) : undefined
  return target?.group === "" && target.plural === "endpoints" ? DEPRECATED : undefined
}
