/**
 * What a request is about, read from its path and query alone: the words of Kubernetes' request info (verb,
 * resource, namespace, name, subresource), by which requests are counted and answers shaped.
 */
import type { Request } from "./cluster.ts"

export interface Target {
  /** empty for the core group */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
}

export type Verb =
  "get" | "list" | "watch" | "create" | "update" | "patch" | "apply" | "delete" | "deletecollection"

/** The target of a path; undefined where it isn't one of a resource. */
export const targetOf = (path: string): Target | undefined => {
  const parts = path.split("/").slice(1)
  const [group, version, rest] =
    parts[0] === "api"
      ? ["", parts[1], parts.slice(2)]
      : parts[0] === "apis"
        ? [parts[1], parts[2], parts.slice(3)]
        : []
  if (group === undefined || version === undefined || rest === undefined || rest.length === 0)
    return undefined
  const [first = "", second, third, ...more] = rest
  const common = { group, version }
  if (first !== "namespaces" || third === undefined || NAMESPACE_SUBRESOURCES.has(third)) {
    return { ...common, plural: first, namespace: undefined, name: second, subresource: third }
  }
  return { ...common, plural: third, namespace: second, name: more[0], subresource: more[1] }
}

/** What a request does. */
export const verbOf = ({ method, query, contentType, path }: Omit<Request, "at">): Verb => {
  const named = targetOf(path)?.name !== undefined
  switch (method) {
    case "GET":
      if (isWatch(query)) return "watch"
      return named ? "get" : "list"
    case "POST":
      return "create"
    case "PUT":
      return "update"
    case "PATCH":
      return contentType?.startsWith("application/apply-patch") ? "apply" : "patch"
    case "DELETE":
      return named ? "delete" : "deletecollection"
  }
}

export const isWatch = (query: Request["query"]): boolean => isSet(query, "watch")

/** Whether a query says so: with any value that doesn't deny it, or with none. */
export const isSet = (query: Request["query"], name: string): boolean =>
  query[name] !== undefined && !/^(?:0|false)$/i.test(query[name])

const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"])
