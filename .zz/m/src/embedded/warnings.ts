/**
 * Warnings that come with an answer: what the server takes, though it is hardly meant so.
 */
import type { Resource } from "./cluster.ts"
import { listAt, objAt, text, type Obj } from "./json.ts"
import { labelProblems } from "./names.ts"

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

const envWarnings = (spec: Obj, at: string): readonly string[] =>
  ["initContainers", "containers"].flatMap((field) =>
    listAt(spec, field).flatMap((container, index) => {
      const seen = new Set<string>()
      return listAt(container, "env").flatMap((env, place) => {
        const name = text(env, "name")
        const again = seen.has(name)
        seen.add(name)
        const here = `${at}.${field}[${index}].env[${place}]`
        return again
          ? [
              `${here}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`
            ]
          : []
      })
    })
  )

const templateWarnings = (object: Obj): readonly string[] =>
  envWarnings(objAt(object, "spec", "template", "spec"), "spec.template.spec")

const serviceWarnings = (object: Obj): readonly string[] =>
  text(object, "spec", "clusterIP") === "None" && listAt(object, "spec", "externalIPs").length > 0
    ? ["spec.externalIPs is ignored for headless services"]
    : []

const WARNINGS: Readonly<
  Record<string, ((object: Obj, before: Obj | undefined) => readonly string[]) | undefined>
> = {
  Deployment: (object, before) => [...nameWarnings(object, before), ...templateWarnings(object)],
  ReplicaSet: (object, before) => [...nameWarnings(object, before), ...templateWarnings(object)],
  StatefulSet: templateWarnings,
  Pod: (object, before) => (before ? [] : envWarnings(objAt(object, "spec"), "spec")),
  Service: serviceWarnings,
  Endpoints: () => ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"]
}
