/**
 * One request over a pool of connections, and its answer: whole, or as it comes.
 *
 * *Guarantees*: a request that is interrupted is aborted; a whole answer ends, or fails in time, and so does the beginning of one that comes as it
 * likes.
 * *Assumes*: a whole answer may be kept in memory.
 * *Does not*: judge answers, try again, know who we are.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import * as https from "node:https"
import type { Readable } from "node:stream"
import { why } from "./why.ts"

/** No answer came: the network, TLS, or a server that closed the connection. */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly message: string }> {}

export interface Exchange {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  /** with its query; below the server's own path */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** An answer whose body comes as slowly as it likes. */
export interface Reply {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Readable
}

/** A whole answer. */
export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** of a refusal, the first 64 KiB */
  readonly body: Buffer
}

export type Headers = Readonly<Record<string, string | readonly string[]>>

/** Where a request goes. */
export interface Way {
  readonly server: URL
  readonly pool: http.Agent
  /** of every request */
  readonly headers: Headers
}

/** Half a minute for a whole answer, or for the first byte of one that comes as it likes. */
export const PATIENCE_MS = 30_000

/** Bytes of a refusal that are read. */
const LONGEST_REFUSAL = 64 * 1024

/** Sends a request, whose answer is read as it comes; of a refusal, the first 64 KiB are read. A reply's body is destroyed with the scope. */
export const open = (way: Way, exchange: Exchange): Effect.Effect<Reply | Answer, Unreachable, Scope.Scope> =>
  Effect.uninterruptibleMask((interruptible) =>
    Effect.tap(interruptible(opened(way, exchange)), (reply) =>
      isReply(reply) ? Effect.addFinalizer(() => Effect.sync(() => reply.body.destroy())) : Effect.void
    )
  )

/** Whether an answer comes as it likes, rather than as a whole. */
export const isReply = (answer: Reply | Answer): answer is Reply => !Buffer.isBuffer(answer.body)

const opened = (way: Way, exchange: Exchange) =>
  Effect.async<Reply | Answer, Unreachable>((resume) => {
    const failed = (message: string): void => resume(Effect.fail(new Unreachable({ message })))
    const abort = begin(way, exchange, PATIENCE_MS, {
      answered: (body, heard) => {
        const { status, headers } = headOf(body)
        if (isRefusal(status))
          return whole(body, {
            read: (all) => resume(Effect.succeed({ status, headers, body: all })),
            failed
          })
        heard()
        resume(Effect.succeed({ status, headers, body }))
      },
      failed
    })
    return Effect.sync(abort)
  })

/**
 * Sends a request and reads its answer to the end. `patience`: milliseconds for both. Written with the callbacks of node:http: it is what the
 * controller does most, and a pipeline of effects took more time than the request.
 */
export const answer = (way: Way, exchange: Exchange, patience: number): Effect.Effect<Answer, Unreachable> =>
  Effect.async((resume) => {
    const failed = (message: string): void => resume(Effect.fail(new Unreachable({ message })))
    const abort = begin(way, exchange, patience, {
      answered: (body) =>
        whole(body, { read: (all) => resume(Effect.succeed({ ...headOf(body), body: all })), failed }),
      failed
    })
    return Effect.sync(abort)
  })

const headOf = ({ statusCode = 0, headers }: http.IncomingMessage) => ({ status: statusCode, headers })

/** Whether a status is none of success. */
export const isRefusal = (status: number): boolean => status >= 300

interface Hearing {
  /** `heard` ends the wait */
  readonly answered: (response: http.IncomingMessage, heard: () => void) => void
  readonly failed: (message: string) => void
}

/** Sends a request; gives what aborts it. */
const begin = (
  { server, pool, headers: common }: Way,
  { method, path, headers, body }: Exchange,
  patience: number,
  { answered, failed }: Hearing
): (() => void) => {
  const { protocol, hostname, port, pathname } = server
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
  const request = outgoing(protocol === "https:" ? https : http, {
    agent: pool,
    protocol,
    // The brackets of an IPv6 address belong to the URL alone.
    hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
    ...(port !== "" && { port }),
    path: (pathname === "/" ? "" : pathname) + path,
    method,
    headers: { ...common, ...headers, ...length } as http.OutgoingHttpHeaders
  })
  if (typeof request === "string") {
    failed(request)
    return () => undefined
  }
  // A timer of the runtime's own: a fiber that waits would cost as much as the request.
  let late: { readonly destroy: (error: Error) => unknown } = request
  const timer = setTimeout(() => late.destroy(new Error(`no answer within ${patience / 1000} s`)), patience)
  const heard = (): void => clearTimeout(timer)
  request.once("close", heard)
  request.on("error", (error) => failed(`${server.origin}: ${why(error)}`))
  request.once("response", (response) => {
    late = response
    // A body that is cut off emits an error, also after the last listener has gone: nobody must die of that.
    response.on("error", () => undefined)
    answered(response, heard)
  })
  request.end(body)
  return () => void request.destroy()
}

/** A token or a name with a line break in it makes no header: then the text says why. */
const outgoing = (
  by: typeof http | typeof https,
  options: https.RequestOptions
): http.ClientRequest | string => {
  try {
    return by.request(options)
  } catch (error) {
    return `the request can't be made: ${why(error)}`
  }
}

interface Reading {
  readonly read: (all: Buffer) => void
  readonly failed: (message: string) => void
}

/** Reads a body to its end. */
const whole = (body: http.IncomingMessage, { read, failed }: Reading): void => {
  const most = isRefusal(headOf(body).status) ? LONGEST_REFUSAL : Number.POSITIVE_INFINITY
  const parts: Uint8Array[] = []
  let size = 0
  const end = (): void => read(Buffer.concat(parts).subarray(0, most))
  body.on("data", (part: Uint8Array) => {
    parts.push(part)
    size += part.length
    if (size >= most) body.destroy()
  })
  // A connection is free one turn of the event loop after its body ended; who asks before that opens another.
  body.once("end", () => void setImmediate(end))
  body.once("close", () => {
    if (size >= most) end()
    else if (!body.readableEnded) failed(brokeOff(body.errored))
  })
}

/** Why a body ended before its end. */
export const brokeOff = (error: unknown): string =>
  `the answer broke off: ${error === null || error === undefined ? "it was closed before its end" : why(error)}`
