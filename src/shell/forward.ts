/**
 * Every request that isn't answered from the view: on to the API server and back, byte for byte, as it streams.
 *
 * *Guarantees*: path, query, body, trailers and every header that isn't about one connection go on as they came, both ways; interim answers (1xx) too, and
 * upgraded connections are joined. Nothing is buffered beyond what sockets hold: whoever reads slowly holds up who sends. A client that goes away frees its
 * request upstream at once; an answer that breaks off breaks off for the client too. A client that says who it is never travels on a connection that carries
 * our certificate, nor with our token; one that would act as somebody else is refused.
 * *Assumes*: whoever reaches the port may use our own account, where that is lent (plain loopback).
 * *Does not*: answer anything itself but refusals; cap clients; retry, but for a read whose connection had been closed while it was idle.
 */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type * as http from "node:http"
import type { Duplex } from "node:stream"
import { framing, identified, impersonating } from "../core/hop.ts"
import type { Bearer, Connection } from "./connect.ts"
import { type Client, pass, told } from "./pass.ts"
import type { Refusal } from "./refuse.ts"
import { answering } from "./upgrade.ts"

export interface Forward {
  /** Never answers at once: upstream does, later. `instead`: a body to answer with where upstream is out of reach. */
  readonly request: (
    request: http.IncomingMessage,
    response: http.ServerResponse,
    instead: (() => Uint8Array) | undefined
  ) => void
  /** Takes the connection over, whatever comes of it. `head`: what came on it behind the request. */
  readonly upgrade: (request: http.IncomingMessage, socket: Duplex, head: Buffer) => void
}

export interface Manner {
  /** What clients that don't say who they are travel as: our own account (plain loopback), or nobody. */
  readonly strangers: "Own" | "None"
  /** milliseconds that the head of an answer may take once the request went out; requests that the API server itself calls long-running may take any time */
  readonly patience: number
}

/** A forwarder over the connection; with its scope, the connections that were joined end. */
export const forward = (connection: Connection, manner: Manner): Effect.Effect<Forward, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = yield* FiberSet.makeRuntime<never>()
    const joined = new Set<Duplex>()
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const socket of joined) socket.destroy()
      })
    )
    const bearer = ({ rawHeaders }: http.IncomingMessage): Bearer =>
      manner.strangers === "Own" && !identified(rawHeaders) ? "Ourselves" : "Nobody"

    const take = (client: Client): void => {
      // A client that resets its connection must not end the process.
      client.request.on("error", () => undefined)
      const refused = unfit(client.request)
      if (refused !== undefined) return told(client, refused)
      const as = bearer(client.request)
      run(
        Effect.map(connection.way(as), (way) =>
          pass(client, way, {
            patience: manner.patience,
            doubted: (cause) => {
              if (as === "Ourselves" || cause === "Unreachable") run(connection.doubt(way, cause))
            },
            joined: (socket) => {
              joined.add(socket)
              socket.once("close", () => joined.delete(socket))
            }
          })
        )
      )
    }
    return {
      request: (request, response, instead) => take({ request, response, switching: undefined, instead }),
      upgrade: (request, socket, head) => {
        const response = answering(request, socket)
        take({
          request,
          response,
          switching: { socket, head, to: request.headers.upgrade ?? "" },
          instead: undefined
        })
      }
    }
  })

/** Why a request isn't passed on at all. */
const unfit = ({ rawHeaders, url = "" }: http.IncomingMessage): Refusal | undefined => {
  const header = impersonating(rawHeaders)
  if (header !== undefined) {
    const message = `the header ${header} is not accepted here: a client can't act as somebody else through this port`
    return { code: 403, reason: "Forbidden", message }
  }
  if (!url.startsWith("/")) {
    return { code: 400, reason: "BadRequest", message: "the target of a request begins with a slash" }
  }
  if (framing(rawHeaders) === "Unknown") {
    const message = "no transfer coding but chunked is understood"
    return { code: 501, reason: "NotImplemented", message }
  }
  return undefined
}
