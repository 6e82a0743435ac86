/**
 * A controller's side of a story's API server: the product's service, whose requests are values that the story delays, loses or carries out.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Failure } from "../../src/core/retry.ts"
import type { Request } from "../../src/embedded/cluster.ts"
import { pathOf } from "../../src/embedded/requests.ts"
import { ApiError, type ApiService, type Kind, type WatchLine } from "../../src/shell/api.ts"
import { isMalformed, page } from "../../src/shell/wire.ts"

export type Verb = "list" | "watch" | "get" | "apply" | "merge" | "remove"

/** A request on its way. */
export interface Asked {
  readonly session: number
  readonly verb: Verb
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly subresource: string | undefined
  readonly about: string
  readonly request: Omit<Request, "at">
}

/** Where requests go. */
interface Wire {
  readonly send: (asked: Asked) => Effect.Effect<unknown, ApiError>
  readonly lines: (asked: Asked) => Stream.Stream<WatchLine, ApiError>
}

const resourceOf = ({ group, plural }: Kind): string => `${group}/${plural}`

/** The API as one controller, the session, sees it. */
export const client = (wire: Wire, session: number): ApiService => {
  const asked = (
    verb: Verb,
    kind: Kind,
    o: {
      readonly namespace?: string
      readonly name?: string
      readonly subresource?: string | undefined
      readonly query?: Readonly<Record<string, string | undefined>>
      readonly body?: unknown
    }
  ): Asked => {
    const { namespace = "", name = "", subresource } = o
    return {
      session,
      verb,
      kind,
      namespace,
      name,
      subresource,
      about: `${verb} ${kind.plural} ${namespace}/${name}`,
      request: {
        ...METHODS[verb],
        path: pathOf(
          resourceOf(kind),
          kind.namespaced ? namespace : "",
          name === "" ? undefined : name,
          subresource,
          kind.version
        ),
        query: given(o.query ?? {}),
        userAgent: "servicegroup",
        body: o.body === undefined ? undefined : (JSON.parse(JSON.stringify(o.body)) as unknown)
      }
    }
  }
  return {
    list: (kind, { limit, continue: next, labelSelector, resourceVersion, namespace = "" }) => {
      const query = { limit: String(limit), continue: next, labelSelector, resourceVersion }
      const it = asked("list", kind, { namespace, query })
      return Effect.flatMap(wire.send(it), (body) => {
        const read = page(body)
        const { message } = isMalformed(read) ? read : { message: "" }
        if (!isMalformed(read)) return Effect.succeed(read)
        return Effect.fail(fail(it, { reason: "Malformed", code: 200, message }))
      })
    },
    watch: (kind, { revision, timeoutSeconds, labelSelector, namespace = "" }, take) => {
      const query = {
        watch: "true",
        allowWatchBookmarks: "true",
        resourceVersion: revision,
        timeoutSeconds: String(timeoutSeconds),
        labelSelector
      }
      const lines = wire.lines(asked("watch", kind, { namespace, query }))
      return Stream.runForEachChunk(lines, (chunk) => take([...chunk]) ?? Effect.void)
    },
    get: (kind, namespace, name) => wire.send(asked("get", kind, { namespace, name })),
    apply: (kind, object, { manager, force, subresource }) => {
      const { name, namespace } = object.metadata
      const query = { fieldManager: manager, force: String(force) }
      return wire.send(
        asked("apply", kind, { name, namespace: namespace ?? "", subresource, query, body: object })
      )
    },
    merge: (kind, namespace, name, patch, { manager, subresource }) => {
      const query = { fieldManager: manager }
      return wire.send(asked("merge", kind, { name, namespace, subresource, query, body: patch }))
    },
    remove: (kind, namespace, name, preconditions) => {
      const body = {
        kind: "DeleteOptions",
        apiVersion: "v1",
        propagationPolicy: "Background",
        preconditions
      }
      return wire.send(asked("remove", kind, { name, namespace, body }))
    }
  }
}

const METHODS: {
  readonly [V in Verb]: { readonly method: Request["method"]; readonly contentType?: string }
} = {
  list: { method: "GET" },
  watch: { method: "GET" },
  get: { method: "GET" },
  apply: { method: "PATCH", contentType: "application/apply-patch+yaml" },
  merge: { method: "PATCH", contentType: "application/merge-patch+json" },
  remove: { method: "DELETE", contentType: "application/json" }
}

export const isWrite = (verb: Verb): boolean => verb !== "list" && verb !== "watch" && verb !== "get"

const given = (query: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> => {
  const some: Record<string, string> = {}
  for (const [name, value] of Object.entries(query)) if (value !== undefined) some[name] = value
  return some
}

export const fail = ({ about }: Asked, failure: Failure): ApiError =>
  new ApiError({ ...failure, request: about })
