/**
 * The way to the API server: one pool of connections, and who we are on it.
 *
 * *Guarantees*: one pool for everything, HTTP/1.1 with keep-alive; a request that is interrupted is aborted, and a
 * body that nobody reads on is closed with its scope. Files of certificates and tokens are read again at most a
 * minute after they changed, and at once when the server says 401; that request is then sent a second time. The pool
 * is replaced when CA, certificate or key change; watches on the old one run to their end.
 * *Assumes*: a request's body may be sent twice.
 * *Does not*: judge answers, retry anything but a 401, follow redirects.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { readFileSync } from "node:fs"
import * as http from "node:http"
import * as https from "node:https"
import type { Readable } from "node:stream"
import type { Credential, Source, Target } from "./kubeconfig.ts"
import { Misconfigured } from "./settings.ts"
import { steady } from "./steady.ts"

/** No answer came: the network, TLS, or a server that closed the connection. */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly message: string }> {}

export interface Exchange {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  /** with its query; below the server's own path */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** milliseconds for the whole answer; without it (a watch) the body may come as slowly as it likes */
  readonly patience?: number
}

export interface Reply {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Readable
}

export interface Connection {
  readonly server: string
  /** Sends one request. The reply's body lives as long as the scope. */
  readonly exchange: (request: Exchange) => Effect.Effect<Reply, Unreachable, Scope.Scope>
}

type Headers = Readonly<Record<string, string | readonly string[]>>

/** What the files, or the plugin, say at the moment. */
interface Material {
  readonly ca: Buffer | undefined
  readonly cert: Buffer | string | undefined
  readonly key: Buffer | string | undefined
  readonly headers: Headers
}

interface Live {
  readonly pool: http.Agent
  readonly material: Material
  /** milliseconds */
  readonly readAt: number
  /** the next request reads the files again, unless that was done within the last seconds */
  readonly suspect: boolean
}

/** Milliseconds that files, and what a plugin said, are taken as they are. */
const ages = { File: 60_000, Plugin: 5_000, Suspect: 2_000 } as const

/** A connection to the target. Fails where a file can't be read, or a plugin doesn't run, at the start. */
export const connect = (target: Target): Effect.Effect<Connection, Misconfigured, Scope.Scope> =>
  Effect.gen(function* () {
    const pools = new Set<http.Agent>()
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const pool of pools) pool.destroy()
      })
    )
    const one = yield* Effect.makeSemaphore(1)
    const plugin = yield* pluginOf(target.credential)

    const open = (material: Material): http.Agent => {
      const pool = poolOf(target, material)
      pools.add(pool)
      return pool
    }
    const first = yield* read(target, plugin.headers)
    let live: Live = {
      pool: open(first),
      material: first,
      readAt: yield* steady,
      suspect: false
    }

    const adopt = (material: Material, now: number): void => {
      const pool = sameTls(live.material, material) ? live.pool : open(material)
      if (pool !== live.pool) {
        retire(live.pool)
        pools.delete(live.pool)
      }
      live = { pool, material, readAt: now, suspect: false }
    }
    const renew = Effect.gen(function* () {
      const now = yield* steady
      const next = yield* Effect.either(read(target, plugin.headers))
      if (next._tag === "Right") return adopt(next.right, now)
      live = { ...live, readAt: now, suspect: false }
      yield* Effect.logWarning(`${next.left.message}; going on with what was read before`)
    })
    const old = (now: number): boolean =>
      now - live.readAt >=
      (live.suspect ? ages.Suspect : ages[target.credential._tag === "Plugin" ? "Plugin" : "File"])
    const current = Effect.gen(function* () {
      const due = Effect.map(steady, old)
      if (yield* due) yield* one.withPermits(1)(Effect.whenEffect(renew, due))
      return live
    })
    /** What to try after a 401: undefined where reading again gave what was used already. */
    const after401 = (used: Live) =>
      one.withPermits(1)(
        Effect.gen(function* () {
          if (live.material === used.material) {
            yield* plugin.forget
            yield* renew
          }
          return sameMaterial(live.material, used.material) ? undefined : live
        })
      )

    const exchange = (request: Exchange): Effect.Effect<Reply, Unreachable, Scope.Scope> =>
      Effect.gen(function* () {
        const used = yield* current
        const reply = yield* send(target, used, request).pipe(
          Effect.tapError(() => Effect.sync(() => (live = { ...live, suspect: true })))
        )
        if (reply.status !== 401) return reply
        const next = yield* after401(used)
        if (next === undefined) return reply
        reply.body.destroy()
        return yield* send(target, next, request)
      })
    return { server: target.server, exchange }
  })

/** Sends one request. A body that nobody reads to its end is destroyed with the scope. */
const send = (
  target: Target,
  live: Live,
  exchange: Exchange
): Effect.Effect<Reply, Unreachable, Scope.Scope> =>
  Effect.uninterruptibleMask((interruptible) =>
    Effect.tap(interruptible(answered(target, live, exchange)), ({ body }) =>
      Effect.addFinalizer(() => Effect.sync(() => body.destroy()))
    )
  )

/** Half a minute for an answer, or for its first byte where the body may take its time. */
export const PATIENCE_MS = 30_000

const answered = (target: Target, { pool, material }: Live, exchange: Exchange) =>
  Effect.async<Reply, Unreachable>((resume) => {
    const { method, path, headers, body, patience } = exchange
    const { protocol, hostname, port, pathname } = new URL(target.server)
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
    const request = outgoing(protocol === "https:" ? https : http, {
      agent: pool,
      protocol,
      // The brackets of an IPv6 address belong to the URL alone.
      hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
      ...(port !== "" && { port }),
      path: (pathname === "/" ? "" : pathname) + path,
      method,
      headers: { ...material.headers, ...headers, ...length } as http.OutgoingHttpHeaders
    })
    if (request instanceof Unreachable) return resume(Effect.fail(request))
    // A timer of the runtime's own: a fiber that waits would cost as much as the request.
    const wait = patience ?? PATIENCE_MS
    let late: { readonly destroy: (error: Error) => unknown } = request
    const timer = setTimeout(() => late.destroy(new Error(`no answer within ${wait / 1000} s`)), wait)
    request.once("close", () => clearTimeout(timer))
    request.on("error", (error) => {
      resume(Effect.fail(new Unreachable({ message: `${target.server}: ${why(error)}` })))
    })
    request.once("response", (response) => {
      if (patience === undefined) clearTimeout(timer)
      late = response
      // A body that is cut off emits an error, also after the last listener has gone: nobody must die of that.
      response.on("error", () => undefined)
      resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body: response }))
    })
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

/** A token or a name with a line break in it makes no header. */
const outgoing = (by: typeof http | typeof https, options: https.RequestOptions) => {
  try {
    return by.request(options)
  } catch (error) {
    return new Unreachable({ message: `the request can't be made: ${why(error)}` })
  }
}

const why = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(why).join("; ")
  return error instanceof Error ? error.message : String(error)
}

/** Below the idle limits of cloud load balancers; a half-open connection is noticed. */
const KEEP_ALIVE_MS = 30_000

const poolOf = (target: Target, { ca, cert, key }: Material): http.Agent => {
  const kept = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, scheduling: "lifo" } as const
  const { proxy } = target
  const way = proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }
  if (!target.server.startsWith("https:")) return new http.Agent({ ...kept, ...way })
  return new https.Agent({
    ...kept,
    ...way,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(target.serverName !== undefined && { servername: target.serverName }),
    rejectUnauthorized: !target.insecure
  })
}

/** Ends a pool's idle connections, and each of the others when it becomes idle. */
const retire = (pool: http.Agent): void => {
  pool.maxFreeSockets = 0
  for (const sockets of Object.values(pool.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}

const bytes = (source: Source | undefined): Effect.Effect<Buffer | undefined, Misconfigured> =>
  source === undefined || source._tag === "Inline"
    ? Effect.succeed(source?.bytes)
    : fileBytes(source.path, source.field)

/** A read of a mounted file takes no time, and all of them are read in one go while files are swapped. */
const fileBytes = (path: string, field: string): Effect.Effect<Buffer, Misconfigured> =>
  Effect.try({
    try: () => {
      const content = readFileSync(path)
      if (content.length === 0) throw new Error(`${path} is empty`)
      return content
    },
    catch: (error) => new Misconfigured({ message: `${field}: ${why(error)}` })
  })

interface Granted {
  readonly headers: Headers
  readonly cert?: string
  readonly key?: string
}

const read = (
  target: Target,
  granted: Effect.Effect<Granted, Misconfigured>
): Effect.Effect<Material, Misconfigured> =>
  Effect.gen(function* () {
    const ca = yield* bytes(target.ca)
    const cert = yield* bytes(target.cert)
    const key = yield* bytes(target.key)
    const grant = yield* granted
    return {
      ca,
      cert: grant.cert ?? cert,
      key: grant.key ?? key,
      headers: { ...target.impersonate, ...grant.headers }
    }
  })

const sameTls = (a: Material, b: Material): boolean =>
  (["ca", "cert", "key"] as const).every((part) => String(a[part] ?? "") === String(b[part] ?? ""))

const sameMaterial = (a: Material, b: Material): boolean =>
  sameTls(a, b) && JSON.stringify(a.headers) === JSON.stringify(b.headers)

interface Plugin {
  readonly headers: Effect.Effect<Granted, Misconfigured>
  /** drop what was cached: the server refused it */
  readonly forget: Effect.Effect<void>
}

const pluginOf = (credential: Credential): Effect.Effect<Plugin, Misconfigured> => {
  const constant = (headers: Headers) =>
    Effect.succeed<Plugin>({ headers: Effect.succeed({ headers }), forget: Effect.void })
  switch (credential._tag) {
    case "Anonymous":
      return constant({})
    case "Token":
      return constant({ authorization: `Bearer ${credential.token.trim()}` })
    case "Basic": {
      const pair = Buffer.from(`${credential.username}:${credential.password}`).toString("base64")
      return constant({ authorization: `Basic ${pair}` })
    }
    case "TokenFile": {
      const token = Effect.map(fileBytes(credential.path, credential.field), (content) => ({
        headers: { authorization: `Bearer ${content.toString("utf8").trim()}` }
      }))
      return Effect.succeed({ headers: token, forget: Effect.void })
    }
    case "Plugin":
      return Effect.map(
        Effect.tryPromise({
          try: () => import("./plugin.ts"),
          catch: (error) => new Misconfigured({ message: `${credential.field}: ${why(error)}` })
        }),
        ({ plugin }) => {
          let provider = plugin(credential.user)
          return {
            headers: Effect.tryPromise({
              try: () => provider(),
              catch: (error) => new Misconfigured({ message: `${credential.field}: ${why(error).trim()}` })
            }).pipe(
              Effect.timeoutFail({
                duration: PATIENCE_MS,
                onTimeout: () =>
                  new Misconfigured({
                    message: `${credential.field}: no answer within ${PATIENCE_MS / 1000} s`
                  })
              })
            ),
            forget: Effect.sync(() => {
              provider = plugin(credential.user)
            })
          }
        }
      )
  }
}
