/**
 * Connections that stop being HTTP: exec, attach, port-forward, web sockets.
 */
import * as http from "node:http"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { pairs, type Raw } from "../core/hop.ts"

/** A request to make another protocol of its connection. */
export interface Switching {
  readonly socket: Duplex
  /** what came behind the request */
  readonly head: Buffer
  /** the protocol, as the client calls it */
  readonly to: string
}

/** An answer on a connection that the server has let go of, for a request to upgrade; the connection ends behind it. */
export const answering = (request: http.IncomingMessage, socket: Duplex): http.ServerResponse => {
  socket.on("error", () => undefined)
  const response = new http.ServerResponse(request)
  response.shouldKeepAlive = false
  // To node:http any duplex will do; its types know of sockets alone.
  response.assignSocket(socket as typeof request.socket)
  const drained = (): void => void response.emit("drain")
  socket.on("drain", drained)
  socket.on("end", leave)
  response.once("finish", () => {
    socket.removeListener("drain", drained)
    socket.removeListener("end", leave)
    socket.end()
    // Whatever the client still sends is of no interest; a reset before it has read the answer would take that along.
    socket.resume()
    request.socket.setTimeout(LINGER_MS, () => request.socket.destroy())
  })
  return response
}

/** Milliseconds that a client may take to close a connection on which nothing will come any more. */
const LINGER_MS = 5000

/** A client may leave before its connection is joined. */
function leave(this: Duplex): void {
  this.destroy()
}

/** The head of an answer, as it goes over the wire. */
export const headOf = (answer: {
  readonly statusCode?: number | undefined
  readonly statusMessage?: string | undefined
  readonly rawHeaders: Raw
}): string => {
  const lines = pairs(answer.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage ?? ""}\r\n${lines.join("")}\r\n`
}

/** Joins the two connections: what the one says, the other hears, in either direction until its end. */
export const switched = (
  response: http.ServerResponse,
  { socket, head }: Switching,
  answer: http.IncomingMessage,
  { upstream, early }: { readonly upstream: Duplex; readonly early: Buffer }
): void => {
  response.detachSocket(socket as NonNullable<typeof response.socket>)
  socket.removeListener("end", leave)
  socket.write(headOf(answer), "latin1")
  if (early.length > 0) socket.write(early)
  if (head.length > 0) upstream.write(head)
  join(socket, upstream)
}

/** Hands on what either says to the other, and its end. */
export const join = (one: Duplex, other: Duplex): void => {
  one.pipe(other)
  other.pipe(one)
  ends(one, other)
  ends(other, one)
}

/** What breaks off on one side ends the other; what ended well has been handed on, and the other side ends by itself. */
const ends = (one: Duplex, other: Duplex): void => {
  one.once("close", () => {
    if (!one.readableEnded || !one.writableFinished) breakOff(other)
  })
}

/** Closes a connection in a way that nobody takes for an end: by a reset, or without TLS' last word. */
export const breakOff = (socket: Duplex): void => {
  if (socket instanceof Socket && !("encrypted" in socket)) socket.resetAndDestroy()
  else socket.destroy()
}
