/**
 * What the kubelet and Prometheus ask: /livez, /readyz, /metrics.
 *
 * *Guarantees*: /livez answers while the process works, /readyz 200 only after everything that registered is
 * ready, and then stays so until something else registers (a standby that begins to lead has lists to wait for); its body says what is waited for, and what is in trouble. Both answer while the API
 * server is away. /metrics is Prometheus text 0.0.4. The server ends with its scope, open connections too.
 * *Assumes*: whoever waits for something registers it before the server is asked.
 * *Does not*: authenticate; serve anything else.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Ref from "effect/Ref"
import * as Runtime from "effect/Runtime"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { listening } from "./listen.ts"
import { prometheus } from "./prometheus.ts"
import type { Address, Misconfigured } from "./settings.ts"

export interface ReadinessService {
  /**
   * Something must become ready, and hasn't: why, in the words of a person. What was ready before stays so; that
   * it is in trouble is told.
   */
  readonly waiting: (name: string, why: string) => Effect.Effect<void>
  /** It is ready, and in no trouble. */
  readonly ready: (name: string) => Effect.Effect<void>
  /** Nobody looks after it any more. */
  readonly gone: (name: string) => Effect.Effect<void>
  readonly report: Effect.Effect<Report>
}

export interface Report {
  readonly ready: boolean
  /** `waiting for NAME: WHY` and `trouble with NAME: WHY`, sorted */
  readonly lines: readonly string[]
}

/** What must be there before the process is of use. */
export class Readiness extends Context.Tag("Readiness")<Readiness, ReadinessService>() {
  static readonly layer: Layer.Layer<Readiness> = Layer.effect(
    Readiness,
    Effect.map(Ref.make<ReadonlyMap<string, State>>(new Map()), (states) => {
      const set = (name: string, next: (before: State | undefined) => State): Effect.Effect<void> =>
        Ref.update(states, (all) => new Map(all).set(name, next(all.get(name))))
      return {
        waiting: (name, why) =>
          set(name, (before) => (before?.ready === true ? { ready: true, why } : { ready: false, why })),
        ready: (name) => set(name, () => ({ ready: true, why: undefined })),
        gone: (name) => Ref.update(states, (all) => new Map([...all].filter(([each]) => each !== name))),
        report: Effect.map(Ref.get(states), report)
      }
    })
  )
}

interface State {
  readonly ready: boolean
  readonly why: string | undefined
}

/** Before anything has registered, nothing is ready either. */
const report = (states: ReadonlyMap<string, State>): Report => ({
  ready: states.size > 0 && [...states.values()].every(({ ready }) => ready),
  lines: [...states]
    .filter(([, { ready, why }]) => !ready || why !== undefined)
    .map(
      ([name, { ready, why }]) => `${ready ? "trouble with" : "waiting for"} ${name}: ${why ?? "not there"}`
    )
    .sort()
})

interface Answer {
  readonly status: number
  readonly body: string
  readonly type?: string
}

const plain = "text/plain; charset=utf-8"

const answer = (path: string, readiness: ReadinessService): Effect.Effect<Answer> => {
  switch (path) {
    case "/livez":
      return Effect.succeed({ status: 200, body: "ok\n" })
    case "/readyz":
      return Effect.map(readiness.report, ({ ready, lines }) => ({
        status: ready ? 200 : 503,
        body: [ready ? "ok" : "not ready", ...lines, ""].join("\n")
      }))
    case "/metrics":
      return Effect.map(Metric.snapshot, (pairs) => ({
        status: 200,
        body: prometheus(pairs, process),
        type: "text/plain; version=0.0.4; charset=utf-8"
      }))
    default:
      return Effect.succeed({ status: 404, body: "there are /livez, /readyz and /metrics\n" })
  }
}

/** Serves them on the address, where there is one. A port that is taken is named, with the flag. */
export const serveHealth = (address: Address | undefined): Layer.Layer<never, Misconfigured, Readiness> =>
  address === undefined ? Layer.empty : Layer.scopedDiscard(serving(address))

const serving = (address: Address) =>
  Effect.gen(function* () {
    const readiness = yield* Readiness
    const run = Runtime.runFork(yield* Effect.runtime())
    const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
      run(
        Effect.tap(answered(request, readiness), (said) => Effect.sync(() => write(request, response, said)))
      )
    })
    server.maxConnections = 64
    yield* Effect.acquireRelease(listening(server, "health-address", address), () =>
      Effect.async<void>((done) => {
        server.close(() => done(Effect.void))
        server.closeAllConnections()
      })
    )
    yield* Effect.logInfo("serving health and metrics").pipe(Effect.annotateLogs("address", address.text))
  })

const answered = (
  { method, url = "/" }: IncomingMessage,
  readiness: ReadinessService
): Effect.Effect<Answer> =>
  method === "GET" || method === "HEAD"
    ? answer(url.split("?")[0] ?? url, readiness)
    : Effect.succeed({ status: 405, body: "only GET\n" })

const write = (request: IncomingMessage, response: ServerResponse, { status, body, type }: Answer): void => {
  response.writeHead(status, { "content-type": type ?? plain, "content-length": Buffer.byteLength(body) })
  response.end(request.method === "HEAD" ? undefined : body)
}
