/**
 * The Kubernetes API as a service: list, watch, get, apply, merge, remove. Raw JSON in, raw JSON out.
 *
 * *Guarantees*: every failure is an ApiError with one of nine reasons, made here alone; an interrupted request is
 * aborted. Beside watches and Leases, at most 32 requests are under way at a time. Anything but a watch ends within 30 s of its turn; where the
 * server says 401 first, that and a login plugin's time come on top.
 * A line of a watch that can't be read is passed on as such, and the lines after it still come.
 * *Assumes*: a Connection sends a request once, or twice after a 401.
 * *Does not*: retry (core/retry.ts says when, the callers do), decode objects, cache.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Readable } from "node:stream"
import type { KubeObject } from "../core/kube.ts"
import type { Failure } from "../core/retry.ts"
import { connect, type Connection } from "./connect.ts"
import { gate } from "./gate.ts"
import { type Answer, brokeOff, type Exchange, isRefusal, isReply, PATIENCE_MS } from "./http.ts"
import { mounted, target } from "./kubeconfig.ts"
import { series } from "./series.ts"
import type { Access, Misconfigured } from "./settings.ts"
import {
  cutter,
  FORMS,
  type Form,
  isMalformed,
  json,
  type Knows,
  type Line,
  type Page,
  refusal,
  type WatchLine
} from "./wire.ts"

export type { Page, WatchLine }

/** The world said no. A Failure, so that core/retry.ts says when to try again. */
export class ApiError extends Data.TaggedError("ApiError")<
  Failure & {
    /** what was asked, for messages: `apply apps/v1 deployments ns/name` */
    readonly request: string
  }
> {}

/** A kind as the API's paths name it. */
export interface Kind {
  /** empty: the core group */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
}

interface Where {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** without it: all of them */
  readonly namespace?: string
  /** how objects are handed over; without it: parsed */
  readonly form?: FormName
}

/** `Bytes`: each object as the bytes in which it came. `MetadataBytes`: the same, but only the metadata of each is asked for. */
export type FormName = "Parsed" | "Bytes" | "MetadataBytes"

export interface ListOptions extends Where {
  /** items a page; 0: all at once */
  readonly limit: number
  readonly continue?: string
  readonly resourceVersion?: string
}

export interface WatchOptions extends Where {
  /** events after this one */
  readonly revision: string
  /** after which the server ends the watch */
  readonly timeoutSeconds: number
  /** says of which objects a line need not be read; without it all are read */
  readonly knows?: Knows
}

/** What is done with lines; undefined: it is done already. */
export type Take = (lines: readonly WatchLine[]) => Effect.Effect<void> | undefined

export interface ApiService {
  readonly list: (kind: Kind, o: ListOptions) => Effect.Effect<Page, ApiError>
  /**
   * Hands over the lines of a watch until it ends, as many at once as have come in; the next ones once those are taken. Bookmarks are asked
   * for. An ERROR line, such as 410 in the middle of the watch, fails it.
   */
  readonly watch: (kind: Kind, o: WatchOptions, take: Take) => Effect.Effect<void, ApiError>
  readonly get: (kind: Kind, namespace: string, name: string) => Effect.Effect<unknown, ApiError>
  /** Server-side apply of the whole of what the manager wants. */
  readonly apply: (
    kind: Kind,
    object: KubeObject,
    o: { readonly manager: string; readonly force: boolean; readonly subresource?: "status" }
  ) => Effect.Effect<unknown, ApiError>
  /** JSON merge patch. */
  readonly merge: (
    kind: Kind,
    namespace: string,
    name: string,
    patch: unknown,
    o: { readonly manager: string; readonly subresource?: "status" }
  ) => Effect.Effect<unknown, ApiError>
  /**
   * Deletes only the object of this uid (and revision, where given); its dependents follow in the background. Gives the object where
   * finalizers keep it, else a Status.
   */
  readonly remove: (
    kind: Kind,
    namespace: string,
    name: string,
    o: { readonly uid: string; readonly resourceVersion?: string }
  ) => Effect.Effect<unknown, ApiError>
}

export class Api extends Context.Tag("Api")<Api, ApiService>() {}

/** The API of the cluster that flags and environment name. Fails, with a message, where they can't be used. */
export const layer = (access: Access): Layer.Layer<Api, Misconfigured> =>
  Layer.scoped(
    Api,
    target(access, process.env, mounted).pipe(
      Effect.flatMap(connect),
      Effect.flatMap((connection) => api(connection))
    )
  )

const count = series(
  "servicegroup_api_requests_total",
  "requests to the API server, by verb, kind and status code (0: no answer)",
  ["verb", "kind", "code"]
)

const AT_ONCE = 32

interface Asked extends Exchange {
  readonly verb: string
  readonly kind: Kind
  readonly about: string
}

/** The service on a connection. `patience`: milliseconds that an answer other than a watch may take. */
export const api = (connection: Connection, patience = PATIENCE_MS): Effect.Effect<ApiService> =>
  Effect.sync(() => {
    const inTurn = gate(AT_ONCE)
    const failed = (asked: Asked, message: string): Effect.Effect<never, ApiError> => {
      count(asked.verb, asked.kind.kind, "0")
      return Effect.fail(unanswered(asked, message))
    }
    const ask = <A>(
      asked: Asked,
      read: (asked: Asked, body: Buffer) => Effect.Effect<A, ApiError>
    ): Effect.Effect<A, ApiError> => {
      const exchange = connection.ask(asked, patience)
      // Who leads must be able to say so, however many requests wait.
      return Effect.matchEffect(asked.kind.kind === "Lease" ? exchange : inTurn(exchange), {
        onFailure: ({ message }) => failed(asked, message),
        onSuccess: (answer) => {
          count(asked.verb, asked.kind.kind, String(answer.status))
          return isRefusal(answer.status) ? Effect.fail(refused(asked, answer)) : read(asked, answer.body)
        }
      })
    }
    const open = (asked: Asked) =>
      Effect.matchEffect(connection.open(asked), {
        onFailure: ({ message }) => failed(asked, message),
        onSuccess: (reply) => {
          count(asked.verb, asked.kind.kind, String(reply.status))
          return isReply(reply) ? Effect.succeed(reply) : Effect.fail(refused(asked, reply))
        }
      })
    return {
      list: (kind, o) => {
        const asked = reading("list", kind, kind.namespaced ? (o.namespace ?? "") : "", "", {
          limit: String(o.limit),
          continue: o.continue,
          labelSelector: o.labelSelector,
          fieldSelector: o.fieldSelector,
          resourceVersion: o.resourceVersion
        })
        const name = o.form ?? "Parsed"
        return ask(inForm(asked, name, "List"), (about, body) => {
          const read = formOf(name).page(body)
          return isMalformed(read) ? unreadable(about, read.message) : Effect.succeed(read)
        })
      },
      watch: (kind, o, take) => {
        const asked = reading("watch", kind, kind.namespaced ? (o.namespace ?? "") : "", "", {
          watch: "true",
          allowWatchBookmarks: "true",
          resourceVersion: o.revision,
          timeoutSeconds: String(o.timeoutSeconds),
          labelSelector: o.labelSelector,
          fieldSelector: o.fieldSelector
        })
        const name = o.form ?? "Parsed"
        return Effect.scoped(
          Effect.flatMap(open(inForm(asked, name, "")), ({ body }) =>
            heard(asked, body, (raw) => formOf(name).line(raw, o.knows), take)
          )
        )
      },
      get: (kind, namespace, name) => ask(reading("get", kind, namespace, name, {}), parsed),
      apply: (kind, object, { manager, force, subresource }) => {
        const { namespace, name } = object.metadata
        const query = { fieldManager: manager, force: String(force) }
        const asked = writing("PATCH", "apply", kind, namespace ?? "", name, query, object, subresource)
        return ask(
          { ...asked, headers: { ...asked.headers, "content-type": "application/apply-patch+yaml" } },
          parsed
        )
      },
      merge: (kind, namespace, name, patch, { manager, subresource }) => {
        const query = { fieldManager: manager }
        const asked = writing("PATCH", "merge", kind, namespace, name, query, patch, subresource)
        return ask(
          { ...asked, headers: { ...asked.headers, "content-type": "application/merge-patch+json" } },
          parsed
        )
      },
      remove: (kind, namespace, name, preconditions) => {
        const options = {
          kind: "DeleteOptions",
          apiVersion: "v1",
          propagationPolicy: "Background",
          preconditions
        }
        return ask(writing("DELETE", "remove", kind, namespace, name, {}, options), parsed)
      }
    }
  })

type Query = Readonly<Record<string, string | undefined>>

const pathOf = (kind: Kind, namespace: string, name: string, subresource: string, query: Query): string => {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`
  const within = kind.namespaced && namespace !== "" ? ["namespaces", namespace] : []
  const parts = [...within, kind.plural, name, subresource].filter((part) => part !== "")
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  const search = new URLSearchParams(given).toString()
  return `${root}/${parts.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`
}

const aboutOf = (verb: string, kind: Kind, namespace: string, name: string): string => {
  const group = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`
  const key = namespace === "" ? name : `${namespace}/${name}`
  return [verb, group, kind.plural, key].filter((part) => part !== "").join(" ")
}

const headers = { accept: "application/json", "user-agent": "servicegroup" }

const formOf = (name: FormName): Form => FORMS[name === "Parsed" ? "Parsed" : "Bytes"]

/** A request for objects in a form; of a list, what `suffix` says. */
const inForm = (asked: Asked, form: FormName, suffix: "List" | ""): Asked =>
  form === "MetadataBytes" ? { ...asked, headers: { ...asked.headers, accept: metadataOnly(suffix) } } : asked

const metadataOnly = (suffix: "List" | ""): string =>
  `application/json;as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1`

const reading = (verb: string, kind: Kind, namespace: string, name: string, query: Query): Asked => ({
  verb,
  kind,
  about: aboutOf(verb, kind, namespace, name),
  method: "GET",
  path: pathOf(kind, namespace, name, "", query),
  headers,
  body: undefined
})

const writing = (
  method: "PATCH" | "DELETE",
  verb: string,
  kind: Kind,
  namespace: string,
  name: string,
  query: Query,
  body: unknown,
  subresource = ""
): Asked => ({
  verb,
  kind,
  about: aboutOf(verb, kind, namespace, name),
  method,
  path: pathOf(kind, namespace, name, subresource, query),
  headers: { ...headers, "content-type": "application/json" },
  body: JSON.stringify(body)
})

/** No answer came, or not all of it. */
const unanswered = (asked: Asked, message: string): ApiError =>
  new ApiError({ reason: "Unavailable", code: 0, message, request: asked.about })

const unreadable = (asked: Asked, message: string): Effect.Effect<never, ApiError> =>
  Effect.fail(new ApiError({ reason: "Malformed", code: 200, message, request: asked.about }))

const parsed = (asked: Asked, body: Buffer): Effect.Effect<unknown, ApiError> => {
  const read = json(body.toString("utf8"))
  return isMalformed(read) ? unreadable(asked, read.message) : Effect.succeed(read.value)
}

const refused = (asked: Asked, answer: Answer): ApiError => {
  const text = answer.body.toString("utf8")
  const read = json(text)
  const failure = refusal(answer.status, isMalformed(read) ? text : read.value, retryAfter(answer))
  return new ApiError({ ...failure, request: asked.about })
}

/** Seconds of `Retry-After`; a date counts from the server's own clock, not from ours. */
const retryAfter = ({ headers: { "retry-after": after, date } }: Answer): number | undefined => {
  if (after === undefined) return undefined
  if (/^\d+$/.test(after)) return Number(after)
  const seconds = (Date.parse(after) - Date.parse(date ?? "")) / 1000
  return seconds > 0 ? seconds : undefined
}

/** Takes the lines of a body until it ends. */
const heard = (
  asked: Asked,
  body: Readable,
  read: (raw: Buffer | undefined) => Line,
  take: Take
): Effect.Effect<void, ApiError> => {
  const cut = cutter()
  const part = (bytes: Buffer): Effect.Effect<void, ApiError> | undefined => {
    const lines: WatchLine[] = []
    for (const raw of cut(bytes)) {
      const line = read(raw)
      if (line.type === "ERROR") return new ApiError({ ...line.failure, request: asked.about })
      lines.push(line)
    }
    return lines.length === 0 ? undefined : take(lines)
  }
  const rest: Effect.Effect<void, ApiError> = Effect.flatMap(until(body, part), (wait) =>
    wait === undefined ? over : Effect.zipRight(wait, rest)
  )
  const over = Effect.suspend(() =>
    body.errored === null && body.readableEnded ? Effect.void : unanswered(asked, brokeOff(body.errored))
  )
  return rest
}

/**
 * Reads a body part by part, as they come, until `part` has something to wait for, which it gives; undefined once the body is over. A watch
 * has hundreds of parts a second: no effect is made for those that are done with at once.
 */
const until = <E>(
  body: Readable,
  part: (bytes: Buffer) => Effect.Effect<void, E> | undefined
): Effect.Effect<Effect.Effect<void, E> | undefined> =>
  Effect.async((resume) => {
    const events = ["readable", "end", "close"]
    const stop = (): void => {
      for (const event of events) body.off(event, go)
    }
    const done = (wait: Effect.Effect<void, E> | undefined): void => {
      stop()
      resume(Effect.succeed(wait))
    }
    const go = (): void => {
      for (;;) {
        const bytes = body.read() as Buffer | null
        if (bytes === null) break
        const wait = part(bytes)
        if (wait !== undefined) return done(wait)
      }
      if (body.readableEnded || body.destroyed) done(undefined)
    }
    for (const event of events) body.on(event, go)
    go()
    return Effect.sync(stop)
  })
