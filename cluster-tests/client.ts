/** Requests to an API server as plain JSON over one pool of connections, with nobody's client library in between. */
import { Agent, request as send } from "node:https"
import type { IncomingMessage } from "node:http"

/** How one is let in: all that a kubeconfig would say. */
export interface Access {
  readonly server: string
  /** PEM */
  readonly ca: string
  readonly token: string
}

export interface Answer {
  readonly code: number
  readonly body: unknown
}

type Headers = Readonly<Record<string, string | number>>

export type PatchType = "merge" | "strategic-merge" | "json" | "apply"

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR"
  readonly object: unknown
}

/** A refusal by the API server, where the caller asked for success. */
export class Refused extends Error {
  readonly answer: Answer
  constructor(what: string, answer: Answer) {
    super(`${what}: ${answer.code} ${String(at(answer.body, "message") ?? JSON.stringify(answer.body))}`)
    this.answer = answer
  }
}

export class Client {
  readonly access: Access
  readonly #agent: Agent

  constructor(access: Access) {
    this.access = access
    this.#agent = new Agent({ keepAlive: true, maxSockets: 32, ca: access.ca })
  }

  /** Any request; every answer is returned, whatever its code. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    contentType = "application/json",
    accept = "application/json"
  ): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const sent =
      text === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(text) }
    const headers = { accept, ...sent }
    const response = await this.#send({ method, path, headers }, text)
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const answered = Buffer.concat(chunks).toString()
    const code = response.statusCode ?? 0
    return {
      code,
      body: response.headers["content-type"]?.includes("json") ? (JSON.parse(answered) as unknown) : answered
    }
  }

  /** The object, or undefined where there is none. */
  async find(path: string): Promise<unknown> {
    const answer = await this.ask("GET", path)
    if (answer.code === 404) return undefined
    return succeeded(`GET ${path}`, answer)
  }

  async get(path: string): Promise<unknown> {
    return succeeded(`GET ${path}`, await this.ask("GET", path))
  }

  async items(path: string): Promise<readonly unknown[]> {
    return (at(await this.get(path), "items") ?? []) as readonly unknown[]
  }

  async create(path: string, object: unknown): Promise<unknown> {
    return succeeded(`POST ${path}`, await this.ask("POST", path, object))
  }

  async patch(path: string, type: PatchType, patch: unknown): Promise<unknown> {
    const contentType = type === "apply" ? "application/apply-patch+yaml" : `application/${type}-patch+json`
    return succeeded(`PATCH ${path}`, await this.ask("PATCH", path, patch, contentType))
  }

  async remove(path: string, options?: unknown): Promise<unknown> {
    return succeeded(`DELETE ${path}`, await this.ask("DELETE", path, options))
  }

  /** The events of one watch, until the server ends it or the signal does. */
  async *watch(path: string, signal: AbortSignal, accept = "application/json"): AsyncGenerator<WatchEvent> {
    const response = await this.#send({ method: "GET", path, headers: { accept }, signal }, undefined)
    if (response.statusCode !== 200) throw new Error(`watch ${path}: ${response.statusCode}`)
    response.setEncoding("utf8")
    let rest = ""
    for await (const chunk of response) {
      const lines = (rest + String(chunk)).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) yield JSON.parse(line) as WatchEvent
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(
    options: {
      readonly method: string
      readonly path: string
      readonly headers: Headers
      readonly signal?: AbortSignal
    },
    body: string | undefined
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.access.token}`,
        ...options.headers
      }
      const request = send(new URL(options.path, this.access.server), {
        ...options,
        headers,
        agent: this.#agent
      })
      request.once("response", resolve)
      request.once("error", reject)
      request.end(body)
    })
  }
}

/** What stands at a path in JSON, or undefined. */
export const at = (value: unknown, ...path: readonly (string | number)[]): unknown => {
  let here = value
  for (const step of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as Readonly<Record<string | number, unknown>>)[step]
  }
  return here ?? undefined
}

const succeeded = (what: string, answer: Answer): unknown => {
  if (answer.code < 200 || answer.code > 299) throw new Refused(what, answer)
  return answer.body
}
