/**
 * The wrapper put together: feeds into the board, the board to clients, everything else forwarded.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { Board, type Showing } from "../core/board.ts"
import type { Feed } from "../core/feed.ts"
import { sharing } from "../core/item.ts"
import { parts, restore } from "../core/snapshot.ts"
import { Api, api } from "./api.ts"
import { connect } from "./connect.ts"
import { disk } from "./disk.ts"
import { feeds } from "./feeds.ts"
import { forward } from "./forward.ts"
import { Readiness } from "./health.ts"
import { read } from "./keep.ts"
import { type Keeper, keeper } from "./keeper.ts"
import { mounted, target } from "./kubeconfig.ts"
import { lookout } from "./lookout.ts"
import { profiling } from "./profile.ts"
import { type RequestLine, serve, type Server } from "./serve.ts"
import type { Address, Misconfigured } from "./settings.ts"
import { tls, type WrapperSettings } from "./wrapper-settings.ts"

/** What is kept for watches that come back, for each kind. */
const JOURNAL = { count: 4096, bytes: 4 * 1024 * 1024 }

/** Milliseconds that a forwarded request may take: a little more than the API server gives it (`--request-timeout`, a minute). */
const FORWARDED_MS = 65_000

/** As the API server's: a bookmark a minute, and a client waits no longer than its own timeouts. */
const PACE = { hold: 10_000, bookmark: 60_000 }

/** Runs the wrapper until it is interrupted. */
export const wrap = (
  settings: WrapperSettings
): Effect.Effect<never, Misconfigured, Readiness | Scope.Scope> =>
  Effect.gen(function* () {
    const certificate = yield* tls(settings)
    const connection = yield* Effect.flatMap(target(settings.access, process.env, mounted), connect)
    const readiness = yield* Readiness
    const run = Runtime.runFork(yield* Effect.runtime())
    const board = new Board(settings.node, firstRevision(), JOURNAL, {
      naming: settings.dnsListen !== undefined
    })
    const share = sharing()
    if (settings.profile !== undefined) yield* profiling(settings.profile)

    const restored = yield* begun(settings, board, share)
    for (const feed of restored) yield* readiness.ready(feed)
    const kept = yield* keeping(settings, board)
    const servers: Server[] = []
    const fed = yield* feeds(board, {
      node: settings.node,
      relistInterval: settings.relistInterval,
      share,
      asked: restored,
      changed: () => {
        for (const server of servers) server.changed()
        kept.changed()
      },
      lost: kept.lost
    }).pipe(Effect.provideService(Api, yield* api(connection)))
    yield* Effect.forkScoped(lookout(board, fed, readiness))
    const whole = yield* forward(connection, {
      strangers: certificate === undefined ? "Own" : "None",
      patience: FORWARDED_MS
    })
    const served = (flag: string, address: Address, showing: Showing) =>
      Effect.gen(function* () {
        const server = yield* serve({
          board: showing,
          forward: whole,
          begin: fed.begin,
          address,
          flag,
          tls: certificate,
          pace: PACE,
          mostWatches: settings.mostWatches,
          log: settings.logRequests ? (line) => void run(logged(line)) : undefined
        })
        servers.push(server)
        yield* Effect.logInfo("serving").pipe(
          Effect.annotateLogs({
            address: address.text,
            port: server.port,
            tls: certificate !== undefined,
            ...(showing !== board && { for: "DNS" })
          })
        )
      })
    yield* served("listen", settings.listen, board)
    const { named } = board
    if (settings.dnsListen !== undefined && named !== undefined)
      yield* served("dns-listen", settings.dnsListen, named)
    return yield* Effect.never
  })

/** Begins with what was kept, where there is something: the feeds of it. */
const begun = (
  { snapshot, node }: WrapperSettings,
  board: Board,
  share: (text: string) => string
): Effect.Effect<readonly Feed[]> =>
  Effect.gen(function* () {
    const found = snapshot === undefined ? Option.none() : yield* read(disk, snapshot, node)
    if (Option.isNone(found)) return []
    const restored = restore(board, found.value.parts, share)
    if (restored.length > 0)
      yield* Effect.logInfo("begins with what was kept").pipe(Effect.annotateLogs("at", found.value.at))
    return restored
  })

/** Milliseconds between two writes of the snapshot, whatever happens, and after one that failed. */
const GAP_MS = 10_000
const RETRY_MS = 30_000

const keeping = (
  { snapshot, snapshotInterval, node }: WrapperSettings,
  board: Board
): Effect.Effect<Keeper, never, Scope.Scope> =>
  snapshot === undefined
    ? Effect.succeed({ changed: () => undefined, lost: () => undefined })
    : keeper({
        disk,
        folder: snapshot,
        node,
        pace: {
          interval: snapshotInterval * 1000,
          gap: Math.min(GAP_MS, snapshotInterval * 1000),
          retry: RETRY_MS
        },
        parts: () => parts(board)
      })

const logged = (line: RequestLine): Effect.Effect<void> =>
  Effect.logInfo("request").pipe(Effect.annotateLogs({ ...line }))

/** A positive decimal below 2^62 that no earlier process is likely to have come near. */
const firstRevision = (): string => String((randomBytes(8).readBigUInt64BE() >> 3n) + 1n)
