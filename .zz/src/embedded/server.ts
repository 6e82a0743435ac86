/**
 * The embedded cluster on a port: the Kubernetes API over HTTP/1.1 on loopback, for the demo, for tests and for
 * looking around with kubectl. There is no authentication; it is never for production.
 */
import { Data, Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { stringify } from "yaml"
import { LIMIT, read, type Body } from "./body.ts"
import type { Cluster, Response } from "./cluster.ts"
import { controllers as builtIn } from "./controllers.ts"
import type { Controller } from "./controller.ts"
import { document } from "./discovery.ts"
import { Engine, type Question, type Seen } from "./engine.ts"
import { find } from "./model.ts"
import { formatOf, lineShaper, shaped, type Include } from "./table.ts"
import { isWatch, targetOf } from "./verbs.ts"
import { WatchStream, type Pace } from "./watching.ts"

export interface Options {
  /** 0 takes any free port */
  readonly port: number
  /** absent: all of them, with pods that are ready at once */
  readonly controllers?: readonly Controller[]
  /** changes that are kept for watches that come back; absent: 10,000 */
  readonly history?: number
  /** absent: 10,000 lines, and a bookmark each minute */
  readonly pace?: Pace
  /** told of every request */
  readonly onRequest?: (seen: Seen) => void
}

/** A cluster in this process. */
export interface Embedded {
  readonly url: string
  /** the answer to a request, without HTTP between */
  readonly request: (question: Question) => Response
  readonly cluster: () => Cluster
  /** lets the built-in controllers work until nothing is due now */
  readonly settle: () => void
}

/** The port can't be listened on: another process has it, or it isn't ours to take. */
export class PortTaken extends Data.TaggedError("PortTaken")<{
  readonly port: number
  readonly cause: Error
}> {
  override get message(): string {
    return `port ${this.port} on 127.0.0.1 can't be used: ${this.cause.message}`
  }
}

/** A cluster that is served until the scope closes; every watch ends then. */
export const embedded = (options: Options): Effect.Effect<Embedded, PortTaken, Scope.Scope> =>
  Effect.gen(function* () {
    const engine = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new Engine({
            controllers: options.controllers ?? builtIn(),
            history: options.history ?? 10_000,
            now: Date.now,
            onRequest: options.onRequest ?? (() => undefined)
          })
      ),
      (running) =>
        Effect.sync(() => {
          running.stop()
        })
    )
    const desk = new Desk(engine, options.pace ?? { backlog: 10_000, bookmarkEvery: 60_000 })
    const server = yield* Effect.acquireRelease(listen(options.port, desk), closed)
    const { port } = server.address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}`,
      request: (question) => engine.request(question),
      cluster: () => engine.cluster(),
      settle: () => {
        engine.settle()
      }
    }
  })

const listen = (port: number, desk: Desk): Effect.Effect<Server, PortTaken> =>
  Effect.async<Server, PortTaken>((resume) => {
    const server = createServer({ keepAliveTimeout: 75_000, noDelay: true }, (request, response) => {
      void desk.answer(request, response)
    })
    server.once("error", (cause) => {
      resume(Effect.fail(new PortTaken({ port, cause })))
    })
    server.listen({ port, host: "127.0.0.1" }, () => {
      resume(Effect.succeed(server))
    })
  })

const closed = (server: Server): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    server.close(() => {
      resume(Effect.void)
    })
    server.closeAllConnections()
  })

/** Where requests come in: each is read, answered by the engine, and written in the form that it asks for. */
class Desk {
  readonly #engine: Engine
  readonly #pace: Pace

  constructor(engine: Engine, pace: Pace) {
    this.#engine = engine
    this.#pace = pace
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://cluster")
    const body = await read(request)
    if (body._tag === "Lost") return
    if (body._tag !== "Read") {
      send(request, response, refusedBody(body))
      return
    }
    const { method = "GET", headers } = request
    if (HEALTH.test(url.pathname)) {
      plain(response, 200, "ok")
      return
    }
    const found =
      method === "GET" ? document(this.#engine.cluster(), url.pathname, headers.accept) : undefined
    if (found !== undefined) {
      send(request, response, { code: 200, body: found.body, headers: { "content-type": found.contentType } })
      return
    }
    const target = targetOf(url.pathname)
    if (target === undefined) {
      plain(response, 404, "404 page not found\n")
      return
    }
    if (!METHODS.has(method)) {
      send(
        request,
        response,
        refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
      )
      return
    }
    const contentType = headers["content-type"]?.split(";")[0]?.trim()
    if (body.value !== undefined && !READABLE.test(contentType ?? "")) {
      send(request, response, refusal(415, "UnsupportedMediaType", UNREADABLE))
      return
    }
    this.#ask(request, response, {
      method: method as Question["method"],
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      contentType,
      accept: headers.accept,
      userAgent: headers["user-agent"],
      body: body.value
    })
  }

  #ask(request: IncomingMessage, response: ServerResponse, question: Question): void {
    const format = formatOf(question.accept)
    const target = targetOf(question.path)
    const resource = target && find(this.#engine.cluster(), target.group, target.version, target.plural)
    if (format === undefined) {
      send(request, response, refusal(406, "NotAcceptable", NOT_ACCEPTABLE))
      return
    }
    const include = includeOf(question.query["includeObject"])
    if (question.method === "GET" && isWatch(question.query)) {
      this.#watch(request, response, question, { format, include })
      return
    }
    const answer = this.#engine.request(question)
    const plainly = resource === undefined || target?.subresource === "scale" || answer.code >= 400
    const body = plainly
      ? answer.body
      : shaped({ format, include, resource, at: this.#engine.now() }, answer.body)
    send(request, response, { ...answer, body })
  }

  #watch(
    request: IncomingMessage,
    response: ServerResponse,
    question: Question,
    form: { readonly format: "Object" | "Table" | "Metadata"; readonly include: Include }
  ): void {
    const answer = this.#engine.watch(question)
    if (answer._tag === "Refused") {
      send(request, response, answer.response)
      return
    }
    const { watch } = answer
    const shape = lineShaper({ ...form, resource: watch.resource })
    const stream = new WatchStream(response, watch, (line) => shape(line, this.#engine.now()), this.#pace)
    const silence = this.#engine.listen(`${watch.resource.group}/${watch.resource.plural}`, (change) => {
      stream.tell(change)
    })
    const bookmarks = setInterval(() => {
      stream.bookmark(this.#engine.cluster().revision)
    }, this.#pace.bookmarkEvery)
    const timeout = setTimeout(
      () => {
        stream.bookmark(this.#engine.cluster().revision)
        stream.end()
      },
      (watch.timeoutSeconds ?? LONGEST_WATCH) * 1000
    )
    response.once("close", () => {
      silence()
      clearInterval(bookmarks)
      clearTimeout(timeout)
    })
    stream.open()
  }
}

const send = (request: IncomingMessage, response: ServerResponse, answer: Response): void => {
  if (response.destroyed) return
  const asYaml = (request.headers.accept ?? "").startsWith("application/yaml")
  const pretty = PRETTY.test(request.headers["user-agent"] ?? "")
  const text = asYaml
    ? stringify(answer.body)
    : `${JSON.stringify(answer.body, undefined, pretty ? 2 : undefined)}\n`
  const bytes = Buffer.from(text)
  response.writeHead(answer.code, {
    "content-type": asYaml ? "application/yaml" : "application/json",
    "cache-control": "no-cache, private",
    "content-length": bytes.length,
    ...answer.headers
  })
  response.end(bytes)
}

const plain = (response: ServerResponse, code: number, text: string): void => {
  response.writeHead(code, { "content-type": "text/plain; charset=utf-8" })
  response.end(text)
}

const refusedBody = (body: Extract<Body, { readonly _tag: "TooLarge" | "Malformed" }>): Response =>
  body._tag === "TooLarge"
    ? refusal(413, "RequestEntityTooLarge", `Request entity too large: limit is ${LIMIT}`)
    : refusal(
        400,
        "BadRequest",
        `the object provided is unrecognized (must be of type Object): couldn't get version/kind; json parse error: ${body.message}`
      )

const refusal = (code: number, reason: string, message: string): Response => ({
  code,
  body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code }
})

const includeOf = (value: string | undefined): Include =>
  value === "Object" || value === "None" ? value : "Metadata"

const HEALTH = /^\/(?:healthz|livez|readyz)(?:\/|$)/

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"])

/** Clients that people read answers in get them indented, as the API server does. */
const PRETTY = /^(?:curl|Wget|Mozilla\/5\.0)/

const NOT_ACCEPTABLE = "only the following media types are accepted: application/json, application/yaml"

/** Bodies that are JSON or YAML, patches of all kinds among them; a body without a type is JSON. */
const READABLE = /^(?:application\/(?:[-.\w]+\+)?(?:json|yaml))?$/

const UNREADABLE =
  "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml (with kubectl: apply -f or create -f)"

/** Seconds after which a watch ends that doesn't say when. */
const LONGEST_WATCH = 3000
