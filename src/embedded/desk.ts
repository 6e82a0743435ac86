/**
 * Requests as they come in over HTTP: each is read, answered by the engine, and written in the form that it asks for.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { stringify } from "yaml"
import { LIMIT, read } from "./body.ts"
import type { Response } from "./cluster.ts"
import { document } from "./discovery.ts"
import type { Engine, Question } from "./engine.ts"
import { formed, formedLines } from "./formed.ts"
import { find, resources } from "./model.ts"
import * as Status from "./status.ts"
import { keyOfResource } from "./store.ts"
import { formOf } from "./table.ts"
import { isWatch, targetOf } from "./verbs.ts"
import { deprecation } from "./warnings.ts"
import { WatchStream, type Pace } from "./watching.ts"

export class Desk {
  readonly #engine: Engine
  readonly #pace: Pace

  constructor(engine: Engine, pace: Pace) {
    this.#engine = engine
    this.#pace = pace
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(request)
    if (body._tag === "Lost") return
    if (body._tag === "TooLarge") {
      send(request, response, Status.tooLarge(LIMIT))
      return
    }
    const question = questionOf(request, body.value)
    const known = this.#aside(question) ?? unreadable(question, body.problem)
    if (known === undefined) this.#ask(request, response, question, body.problem)
    else send(request, response, known)
  }

  /** The answer to what isn't about objects: health, discovery, and paths at which there is nothing. */
  #aside({ method, path, accept }: Question): Response | undefined {
    if (HEALTH.test(path)) return { code: 200, body: "ok" }
    // nobody is asked who they are, so everybody may do everything
    if (method === "POST" && path === ACCESS) return { code: 201, body: ALLOWED }
    const found = method === "GET" ? document(this.#engine.cluster(), path, accept) : undefined
    if (found !== undefined) {
      return { code: 200, body: found.body, headers: { "content-type": found.contentType } }
    }
    if (!this.#isServed(path)) return Status.noSuchGroup
    if (targetOf(path) === undefined) return Status.unknownPath
    return METHODS.has(method) ? undefined : Status.methodNotAllowed
  }

  /**
   * Whether whoever answers for a path answers with a Status where there is nothing: of built-in groups the API server
   * itself, of custom kinds only those that are defined.
   */
  #isServed(path: string): boolean {
    const cluster = this.#engine.cluster()
    const target = targetOf(path)
    const group = target?.group ?? /^\/apis\/(?<group>[^/]+)\/[^/]+\/?$/.exec(path)?.groups?.["group"]
    const ofGroup = resources(cluster).filter((each) => each.group === group)
    if (ofGroup.some((each) => !each.custom)) return true
    return target !== undefined && find(cluster, target.group, target.version, target.plural) !== undefined
  }

  #ask(
    request: IncomingMessage,
    response: ServerResponse,
    question: Question,
    problem: string | undefined
  ): void {
    if (formOf(question.accept) === undefined) {
      send(request, response, Status.notAcceptable(question.accept))
      return
    }
    if (question.method === "GET" && isWatch(question.query)) {
      this.#watch(request, response, question)
      return
    }
    send(request, response, this.#formed(question, explained(this.#engine.request(question), problem)))
  }

  #formed(question: Question, answer: Response): Response {
    return formed(this.#engine.cluster(), question, answer, this.#engine.now())
  }

  #watch(request: IncomingMessage, response: ServerResponse, question: Question): void {
    const answer = this.#engine.watch(question)
    if (answer._tag === "Refused") {
      send(request, response, this.#formed(question, answer.response))
      return
    }
    const { watch } = answer
    const shape = formedLines(question, watch)
    const stream = new WatchStream(response, watch, (line) => shape(line, this.#engine.now()), this.#pace)
    const silence = this.#engine.listen(keyOfResource(watch.resource), (change) => {
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
    stream.open(deprecation(question))
  }
}

const questionOf = ({ url = "/", method, headers }: IncomingMessage, body: unknown): Question => {
  const mark = url.indexOf("?")
  return {
    method: (method ?? "GET") as Question["method"],
    path: mark < 0 ? url : url.slice(0, mark),
    query: Object.fromEntries(new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1))),
    contentType: headers["content-type"]?.split(";")[0]?.trim(),
    accept: headers.accept,
    userAgent: headers["user-agent"],
    body
  }
}

const unreadable = (
  { method, body, contentType = "" }: Question,
  problem: string | undefined
): Response | undefined => {
  if (body !== undefined && !READABLE.test(contentType))
    return Status.unsupportedMedia(["application/json", "application/yaml"])
  const patches = method === "PATCH" && contentType.endsWith("-patch+json")
  return patches && problem !== undefined ? Status.badRequest("invalid JSON patch") : undefined
}

const send = (request: IncomingMessage, response: ServerResponse, answer: Response): void => {
  if (response.destroyed) return
  if (typeof answer.body === "string") {
    response.writeHead(answer.code, { "content-type": "text/plain; charset=utf-8", ...answer.headers })
    response.end(answer.body)
    return
  }
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

/** The answer to a body that couldn't be read says what is wrong with it. */
const explained = (answer: Response, problem: string | undefined): Response => {
  const body = answer.body as { readonly message?: unknown } | null
  if (problem === undefined || answer.code !== 400 || typeof body?.message !== "string") return answer
  return { ...answer, body: { ...body, message: `${body.message}: ${problem}` } }
}

const HEALTH = /^\/(?:healthz|livez|readyz)(?:\/|$)/

const ACCESS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

const ALLOWED = {
  kind: "SelfSubjectAccessReview",
  apiVersion: "authorization.k8s.io/v1",
  metadata: {},
  spec: {},
  status: { allowed: true }
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"])

/** Clients that people read answers in get them indented, as the API server does. */
const PRETTY = /^(?:curl|Wget|Mozilla\/5\.0)/

/** Bodies that are JSON or YAML, patches of all kinds among them; a body without a type is JSON. */
const READABLE = /^(?:application\/(?:[-.\w]+\+)?(?:json|yaml))?$/

/** Seconds after which a watch ends that doesn't say when. */
const LONGEST_WATCH = 3000
