/**
 * The wrapper put together: feeds into the board, the board to clients, everything else forwarded.
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { Board } from "../core/board.ts"
import { Api, api } from "./api.ts"
import { connect } from "./connect.ts"
import { feeds } from "./feeds.ts"
import { forward } from "./forward.ts"
import { Readiness } from "./health.ts"
import { PATIENCE_MS } from "./http.ts"
import { mounted, target } from "./kubeconfig.ts"
import { lookout } from "./lookout.ts"
import { type RequestLine, serve } from "./serve.ts"
import type { Misconfigured } from "./settings.ts"
import { tls, type WrapperSettings } from "./wrapper-settings.ts"

/** What is kept for watches that come back, for each kind. */
const JOURNAL = { count: 4096, bytes: 4 * 1024 * 1024 }

/** Runs the wrapper until it is interrupted. */
export const wrap = (
  settings: WrapperSettings
): Effect.Effect<never, Misconfigured, Readiness | Scope.Scope> =>
  Effect.gen(function* () {
    const certificate = yield* tls(settings)
    const connection = yield* Effect.flatMap(target(settings.access, process.env, mounted), connect)
    const readiness = yield* Readiness
    const run = Runtime.runFork(yield* Effect.runtime())
    const board = new Board(settings.node, firstRevision(), JOURNAL)
    yield* Effect.forkScoped(lookout(board, readiness))
    let told = (): void => undefined
    const fed = yield* feeds(board, {
      node: settings.node,
      relistInterval: settings.relistInterval,
      changed: () => told()
    }).pipe(Effect.provideService(Api, yield* api(connection)))
    const server = yield* serve({
      board,
      forward: yield* forward(connection, {
        strangers: certificate === undefined ? "Own" : "None",
        patience: PATIENCE_MS
      }),
      begin: fed.begin,
      address: settings.listen,
      tls: certificate,
      mostWatches: settings.mostWatches,
      log: settings.logRequests ? (line) => void run(logged(line)) : undefined
    })
    told = server.changed
    yield* Effect.logInfo("serving").pipe(
      Effect.annotateLogs({
        address: settings.listen.text,
        port: server.port,
        tls: certificate !== undefined
      })
    )
    return yield* Effect.never
  })

const logged = (line: RequestLine): Effect.Effect<void> =>
  Effect.logInfo("request").pipe(Effect.annotateLogs({ ...line }))

/** A positive decimal below 2^62 that no earlier process is likely to have come near. */
const firstRevision = (): string => String((randomBytes(8).readBigUInt64BE() >> 3n) + 1n)
