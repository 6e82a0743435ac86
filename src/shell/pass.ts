/**
 * One request on its way to the API server, and its answer on its way back.
 *
 * *Guarantees*: what came goes on as it came, while it comes; whoever reads slowly holds up who sends. Either side's end by accident is the other's.
 * *Does not*: know whose request it is, or whether it may go.
 */
import * as http from "node:http"
import * as https from "node:https"
import { type Duplex, pipeline } from "node:stream"
import { framing, hosted, onward, pairs, type Raw, without } from "../core/hop.ts"
import type { Way } from "./http.ts"
import { bodiless, patient, type Waiting } from "./patience.ts"
import { type Refusal, refuse } from "./refuse.ts"
import { series } from "./series.ts"
import { breakOff, headOf, switched, type Switching } from "./upgrade.ts"
import { why } from "./why.ts"

/** Who asks, and where the answer goes. */
export interface Client {
  readonly request: http.IncomingMessage
  readonly response: http.ServerResponse
  /** of a request to upgrade the connection */
  readonly switching: Switching | undefined
  /** what to answer where upstream is out of reach */
  readonly instead: (() => Uint8Array) | undefined
}

/** What an exchange tells who began it. */
export interface Around {
  readonly patience: number
  readonly doubted: (cause: "Refused" | "Unreachable") => void
  readonly joined: (socket: Duplex) => void
}

const count = series(
  "servicegroup_forwarded_requests_total",
  "requests that were passed on to the API server, by method and by what the client was told",
  ["method", "code"]
)

/** Tells the client something of our own. */
export const told = ({ request, response }: Client, refusal: Refusal): void => {
  count(request.method ?? "", String(refusal.code))
  refuse(response, refusal)
}

/** Answers with what is known here of what upstream was asked for. */
const known = ({ request, response }: Client, body: Uint8Array): void => {
  count(request.method ?? "", "200")
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length })
  response.end(body)
}

/** Sends a client's request this way, and the answer back. */
export const pass = (client: Client, way: Way, around: Around): void => {
  const { request, response, switching } = client
  if (request.socket.destroyed) return
  const outgoing = made(client, way)
  if (typeof outgoing === "string") {
    return told(client, { code: 400, reason: "BadRequest", message: outgoing })
  }
  const gone = (): void => void outgoing.destroy()
  // One connection may have any number of requests under way.
  request.socket.setMaxListeners(0).once("close", gone)
  const done = (): void => void request.socket.removeListener("close", gone)
  response.once("close", done)

  const waiting = patient(outgoing, request, around.patience)
  let answered = false
  outgoing.on("information", (interim) => passInterim(response, interim))
  outgoing.once("response", (answer) => {
    answered = true
    waiting.stop()
    if (answer.statusCode === 401) around.doubted("Refused")
    passAnswer(client, answer)
  })
  outgoing.once("upgrade", (answer: http.IncomingMessage, upstream: Duplex, early: Buffer) => {
    answered = true
    waiting.stop()
    upstream.on("error", () => undefined)
    if (switching === undefined || request.socket.destroyed) {
      upstream.destroy()
      return told(client, { code: 502, reason: "BadGateway", message: "an upgrade that nobody asked for" })
    }
    count(request.method ?? "", String(answer.statusCode))
    done()
    around.joined(upstream)
    switched(client.response, switching, answer, { upstream, early })
  })
  outgoing.on("error", (error) => {
    waiting.stop()
    if (answered || request.socket.destroyed) return
    if (outgoing.reusedSocket && readOnly(request) && !waiting.over()) {
      done()
      return pass(client, way, around)
    }
    if (!waiting.arrived()) around.doubted("Unreachable")
    if (client.instead !== undefined) return known(client, client.instead())
    told(client, failure(way, error, waiting))
  })
  // The rest of a body that nobody wants is read, so that the client comes to read the answer, and to its next request.
  outgoing.once("close", () => request.unpipe(outgoing).resume())
  send(request, outgoing)
}

/** Sends the body and what follows it. */
const send = (request: http.IncomingMessage, outgoing: http.ClientRequest): void => {
  if (bodiless(request)) return void outgoing.end()
  request.once("end", () => outgoing.addTrailers(pairs(request.rawTrailers)))
  request.pipe(outgoing)
}

/** Whether it does no harm to send a request twice. */
const readOnly = (request: http.IncomingMessage): boolean =>
  (request.method === "GET" || request.method === "HEAD") && bodiless(request)

/** A request like the client's, or why there can be none. */
const made = ({ request, switching }: Client, way: Way): http.ClientRequest | string => {
  const { protocol, hostname, port, pathname, host } = way.server
  const headers = hosted(onward(request.rawHeaders), host)
  for (const [name, value] of Object.entries(way.headers)) {
    for (const one of typeof value === "string" ? [value] : value) headers.push(name, one)
  }
  if (framing(request.rawHeaders) === "Chunked") headers.push("Transfer-Encoding", "chunked")
  if (switching !== undefined) headers.push("Connection", "Upgrade", "Upgrade", switching.to)
  const by = protocol === "https:" ? https : http
  try {
    return by.request({
      agent: way.pool,
      protocol,
      hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
      ...(port !== "" && { port }),
      path: (pathname === "/" ? "" : pathname) + (request.url ?? ""),
      method: request.method ?? "GET",
      headers: chunkless(headers),
      maxHeaderSize: ANSWER_HEAD
    })
  } catch (error) {
    return `the request can't be passed on: ${why(error)}`
  }
}

/** Bytes that the head of an answer may have. */
const ANSWER_HEAD = 64 * 1024

/** Trailers are announced only where chunks are: node:http refuses anything else. */
const chunkless = (headers: Raw): string[] =>
  framing(headers) === "Chunked" ? [...headers] : without(headers, "trailer")

/** Why there is no answer. Only where nothing can have arrived may a client try again just so. */
const failure = ({ server }: Way, error: Error, waiting: Waiting): Refusal => {
  const reason = `${server.origin}: ${why(error)}`
  if (!waiting.arrived()) {
    const message = `the API server can't be reached: ${reason}`
    return { code: 503, reason: "ServiceUnavailable", message, retryAfter: 1 }
  }
  return waiting.over()
    ? { code: 504, reason: "Timeout", message: `the API server is silent: ${reason}` }
    : { code: 502, reason: "BadGateway", message: `the API server broke off: ${reason}` }
}

/** Passes an answer on as it comes. */
const passAnswer = (client: Client, answer: http.IncomingMessage): void => {
  const { request, response } = client
  const { statusCode = 0, statusMessage, rawHeaders } = answer
  const headers = onward(rawHeaders)
  const chunked = framing(rawHeaders)
  if (chunked === "Unknown") {
    answer.destroy()
    const message = "the API server answered in a transfer coding that isn't understood"
    return told(client, { code: 502, reason: "BadGateway", message })
  }
  // The date is upstream's, where it says one.
  response.sendDate = false
  const trailing = chunked === "Chunked" && request.httpVersionMinor > 0 && request.method !== "HEAD"
  try {
    response.writeHead(statusCode, statusMessage, trailing ? headers : without(headers, "trailer"))
  } catch (error) {
    answer.destroy()
    const message = `the API server's answer can't be passed on: ${why(error)}`
    return told(client, { code: 502, reason: "BadGateway", message })
  }
  count(request.method ?? "", String(statusCode))
  // A watch's head goes out before its first event; that of a short answer goes together with its body.
  setImmediate(() => {
    if (!response.destroyed) response.flushHeaders()
  })
  answer.once("end", () => response.addTrailers(pairs(answer.rawTrailers)))
  // An older client takes the end of the connection for that of the body.
  if (request.httpVersionMinor === 0) answer.once("error", () => breakOff(request.socket))
  pipeline(answer, response, () => undefined)
}

/** Passes on that something will be answered. A response that waits for its turn behind others on a connection does without. */
const passInterim = (response: http.ServerResponse, interim: http.InformationEvent): void => {
  if (response.headersSent || response.socket === null) return
  if (interim.statusCode === 100) return response.writeContinue()
  response.socket.write(headOf(interim), "latin1")
}
