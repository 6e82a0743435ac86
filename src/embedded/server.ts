/**
 * The embedded cluster on a port: the Kubernetes API over HTTP/1.1 on loopback, for the demo, for tests and for
 * looking around with kubectl. There is no authentication; it is never for production.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Cluster, Response } from "./cluster.ts"
import { controllers as builtIn } from "./controllers.ts"
import type { Controller } from "./controller.ts"
import { Desk } from "./desk.ts"
import { Engine, type Question, type Seen } from "./engine.ts"
import type { Pace } from "./watching.ts"

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
