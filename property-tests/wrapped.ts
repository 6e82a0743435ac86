/**
 * The whole wrapper in this process, in front of the embedded cluster, with a relay between them that does what a network does.
 *
 * The wrapper's own clock runs faster than the machine's: it retries, lists anew and writes its snapshot in a twentieth of the time. What the sockets
 * do is real.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HashMap from "effect/HashMap"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { always } from "../cluster-tests/relay-script.ts"
import { relay, type Relay } from "../cluster-tests/relay.ts"
import { type Embedded, embedded } from "../src/embedded/server.ts"
import { Readiness, type ReadinessService } from "../src/shell/health.ts"
import { prometheus } from "../src/shell/prometheus.ts"
import { wrap } from "../src/shell/wrap.ts"
import { until } from "./effect.ts"
import { OWN } from "./served.ts"

/** A cluster that holds only what is put into it, and the way to it. */
export interface Cloud {
  readonly api: Embedded
  readonly relay: Relay
  /** for snapshots and kubeconfigs; empty at the beginning */
  readonly folder: string
  /** Makes an object what it is given, whatever it was. */
  readonly put: (plural: Plural, object: object, manager?: string) => void
  readonly drop: (plural: Plural, name: string) => void
  /** Nobody reaches it any more, until `relay.calm`. */
  readonly away: () => void
}

const PATHS = {
  nodes: "/api/v1/nodes",
  services: "/api/v1/namespaces/default/services",
  endpoints: "/api/v1/namespaces/default/endpoints",
  endpointslices: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
  customresourcedefinitions: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  statefulsetgrids: "/apis/superedge.io/v1/namespaces/default/statefulsetgrids",
  statefulsets: "/apis/apps/v1/namespaces/default/statefulsets"
} as const
type Plural = keyof typeof PATHS

export const cloud: Effect.Effect<Cloud, never, Scope.Scope> = Effect.gen(function* () {
  const api = yield* Effect.orDie(embedded({ port: 0, controllers: [] }))
  const between = yield* Effect.acquireRelease(
    Effect.promise(() => relay({ to: api.url, tls: undefined, kill: () => undefined })),
    ({ stop }) => Effect.promise(stop)
  )
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "wrapped-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const carried = (question: Parameters<Embedded["request"]>[0]): void => {
    const { code, body } = api.request(question)
    if (code >= 300) throw new Error(`${question.method} ${question.path}: ${JSON.stringify(body)}`)
  }
  return {
    api,
    relay: between,
    folder,
    put: (plural, object, manager = "test") => {
      const { name } = (object as { readonly metadata: { readonly name: string } }).metadata
      carried({
        method: "PATCH",
        path: `${PATHS[plural]}/${name}`,
        query: { fieldManager: manager, force: "true" },
        contentType: "application/apply-patch+yaml",
        body: object
      })
    },
    drop: (plural, name) => carried({ method: "DELETE", path: `${PATHS[plural]}/${name}`, query: {} }),
    away: () => {
      between.play([always({ verb: "request" }, { _tag: "Reset", moment: "before" })])
      between.cut()
    }
  }
})

/** A wrapper that runs. */
export interface Wrapper {
  readonly port: number
  /** where clients that make names are served; 0: nowhere */
  readonly dnsPort: number
  readonly readiness: ReadinessService
  /** what it logged */
  readonly lines: readonly string[]
  /** the same with all that belongs to it */
  readonly log: readonly Entry[]
  readonly stop: Effect.Effect<void>
}

interface Entry {
  readonly level: string
  readonly text: string
  readonly notes: { readonly [key: string]: unknown }
}

export interface Given {
  /** of the API server, or of what stands before it */
  readonly url: string
  /** where its kubeconfig and its snapshot lie */
  readonly folder: string
  readonly snapshot?: boolean
  readonly node?: string
  /** the cluster's authority, PEM */
  readonly ca?: string
  readonly token?: string
  /** seconds of its own clock */
  readonly relistInterval?: number
  /** how many times faster its clock runs */
  readonly hurry?: number
  /** what else it is told when it starts */
  readonly more?: Partial<Settings>
}

type Settings = Parameters<typeof wrap>[0]

/** A wrapper that listens; stopped with the scope, where it wasn't before. */
export const wrapper = (given: Given): Effect.Effect<Wrapper, never, Scope.Scope> =>
  Effect.gen(function* () {
    const lines: string[] = []
    const log: Entry[] = []
    const ports = new Map<unknown, number>()
    let failed: string | undefined
    const catching = Logger.make(({ message, annotations, logLevel }) => {
      const text = [message].flat().map(String).join(" ")
      lines.push(text)
      log.push({ level: logLevel.label, text, notes: Object.fromEntries(annotations) })
      const noted = (note: string): unknown => Option.getOrUndefined(HashMap.get(annotations, note))
      if (text === "serving") ports.set(noted("for"), Number(noted("port")))
    })
    const ready = Effect.runSync(Effect.provide(Readiness, Readiness.layer))
    const running = wrap(settingsOf(given)).pipe(
      Effect.scoped,
      Effect.provideService(Readiness, ready),
      Effect.withClock(hurried(given.hurry ?? 20)),
      Effect.provide(Logger.replace(Logger.defaultLogger, catching)),
      Effect.tapErrorCause((cause) => Effect.sync(() => (failed = String(cause))))
    )
    // What is acquired can't be interrupted, nor what is forked there, unless it says so.
    const fiber = yield* Effect.acquireRelease(
      Effect.forkDaemon(Effect.interruptible(running)),
      Fiber.interrupt
    )
    const listeners = given.more?.dnsListen === undefined ? 1 : 2
    yield* until("a wrapper that listens", () => ports.size === listeners || failed !== undefined)
    if (failed !== undefined) return yield* Effect.dieMessage(failed)
    return {
      port: ports.get(undefined) ?? 0,
      dnsPort: ports.get("DNS") ?? 0,
      readiness: ready,
      lines,
      log,
      stop: Effect.asVoid(Fiber.interrupt(fiber))
    }
  })

/** What a wrapper says that doesn't start because of what it was told. */
export const refusal = (given: Given): Effect.Effect<string> =>
  wrap(settingsOf(given)).pipe(
    Effect.scoped,
    Effect.provide(Readiness.layer),
    Effect.flip,
    Effect.map(({ message }) => message),
    Effect.timeoutFail({ duration: "5 seconds", onTimeout: () => new Error("did not come: a refusal") }),
    Effect.orDie
  )

/** Writes the kubeconfig of a wrapper; its path. */
export const kubeconfig = (given: Given): string => {
  const path = join(given.folder, "kubeconfig")
  const authority = given.ca && { "certificate-authority-data": Buffer.from(given.ca).toString("base64") }
  const config = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: given.url, ...(authority as object | undefined) } }],
    users: [{ name: "u", user: given.token === undefined ? {} : { token: given.token } }]
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

const settingsOf = (given: Given): Settings => ({
  access: { kubeconfig: kubeconfig(given), context: "" },
  node: given.node ?? OWN,
  listen: { host: "127.0.0.1", port: 0, text: "127.0.0.1:0" },
  dnsListen: undefined,
  tlsCert: "",
  tlsKey: "",
  tlsClientCa: "",
  snapshot: given.snapshot === true ? join(given.folder, "kept") : undefined,
  snapshotInterval: 1,
  relistInterval: given.relistInterval ?? 86_400,
  mostWatches: 1000,
  logRequests: false,
  profile: undefined,
  healthAddress: undefined,
  logFormat: "text",
  ...given.more
})

/** The machine's clock, so many times as fast. */
export const hurried = (times: number): Clock.Clock => {
  const real = Clock.make()
  const nanos = (): bigint => real.unsafeCurrentTimeNanos() * BigInt(times)
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => real.unsafeCurrentTimeMillis(),
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: real.currentTimeMillis,
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) => real.sleep(Duration.millis(Duration.toMillis(duration) / times))
  }
}

/** The value of a metric as Prometheus would read it; labels as it writes them. */
export const metric = (name: string, labels = ""): number | undefined => {
  const of = { cpuUsage: () => process.cpuUsage(), memoryUsage: process.memoryUsage, uptime: () => 0 }
  const line = prometheus(Metric.unsafeSnapshot(), of)
    .split("\n")
    .find((each) => each.startsWith(`${name}${labels} `))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")))
}

/** What is done to what passes: another path, or a status code instead; other bytes of lists and of the lines of watches. */
interface Alteration {
  readonly meet: (path: string) => { readonly path: string } | { readonly code: number }
  readonly line: (text: string) => string
}

interface Altering {
  readonly url: string
  /** what came, as `METHOD path authorization` */
  readonly heard: readonly string[]
}

/** A server that passes all on to another, altered. */
export const altering = (
  to: string,
  { meet, line }: Alteration
): Effect.Effect<Altering, never, Scope.Scope> =>
  Effect.gen(function* () {
    const heard: string[] = []
    const server = http.createServer((request, response) => {
      const { method = "", url = "", headers } = request
      heard.push([method, url.split("?")[0], headers.authorization].filter(Boolean).join(" "))
      const met = meet(url)
      if ("code" in met) {
        request.resume()
        response.writeHead(met.code, { "content-type": "application/json" })
        return void response.end(
          JSON.stringify({ kind: "Status", apiVersion: "v1", code: met.code, metadata: {} })
        )
      }
      const on = http.request(new URL(met.path, to), { method, headers, agent: false }, (answer) => {
        const { "content-length": _, "transfer-encoding": __, ...rest } = answer.headers
        response.writeHead(answer.statusCode ?? 502, rest)
        response.flushHeaders()
        let waits = ""
        answer.setEncoding("utf8")
        answer.on("data", (text: string) => {
          const cut = (waits + text).split("\n")
          waits = cut.pop() ?? ""
          for (const each of cut) response.write(`${line(each)}\n`)
        })
        answer.once("end", () => response.end(line(waits)))
        answer.on("error", () => response.destroy())
      })
      on.on("error", () => response.destroy())
      response.once("close", () => on.destroy())
      request.pipe(on)
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
      () =>
        Effect.promise(() => {
          const closed = new Promise((done) => server.close(done))
          server.closeAllConnections()
          return closed
        })
    )
    const at = server.address()
    return { url: `http://127.0.0.1:${typeof at === "object" ? at?.port : ""}`, heard }
  })
