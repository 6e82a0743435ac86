/**
 * The way to the API server: pools of connections, and who we are on them.
 *
 * *Guarantees*: one pool for all that we ask ourselves, and another without any identity of ours for what others ask in
 * their own name; HTTP/1.1 with keep-alive; a request that is interrupted is aborted, and a
 * body that nobody reads on is closed with its scope. Files of certificates and tokens are read again at most a
 * minute after they changed, and at once when the server says 401; that request is then sent a second time. Pools
 * are replaced when CA, certificate or key change; watches on the old one run to their end.
 * *Assumes*: a request's body may be sent twice.
 * *Does not*: judge answers, retry anything but a 401, follow redirects.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { readFileSync } from "node:fs"
import * as http from "node:http"
import * as https from "node:https"
import {
  type Answer,
  answer,
  type Exchange,
  type Headers,
  open,
  type Reply,
  type Unreachable,
  type Way
} from "./http.ts"
import type { Credential, Source, Target } from "./kubeconfig.ts"
import { Misconfigured } from "./settings.ts"
import { steady } from "./steady.ts"
import { why } from "./why.ts"

export interface Connection {
  readonly server: string
  /** Sends one request, whose answer comes as it likes: its body lives as long as the scope. */
  readonly open: (request: Exchange) => Effect.Effect<Reply | Answer, Unreachable, Scope.Scope>
  /** Sends one request and reads the whole answer. `patience`: milliseconds for it; twice that where the server says 401 first. */
  readonly ask: (request: Exchange, patience: number) => Effect.Effect<Answer, Unreachable>
  /** How somebody else's request goes at the moment. */
  readonly way: (as: Bearer) => Effect.Effect<Way>
  /** What went this way was refused (401), or didn't arrive: files are read again, and a plugin runs again; after a 401 before the next request. */
  readonly doubt: (used: Way, why: "Refused" | "Unreachable") => Effect.Effect<void>
}

/** Whose request it is: ours, or that of someone who never shares a connection with us, since the server takes who is on it for the bearer of our certificate. */
export type Bearer = "Ourselves" | "Nobody"

/** What the files, or the plugin, say at the moment. */
interface Material {
  readonly ca: Buffer | undefined
  readonly cert: Buffer | string | undefined
  readonly key: Buffer | string | undefined
  readonly headers: Headers
}

interface Live {
  readonly way: Way
  /** without any identity of ours */
  readonly bare: Way
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

    const server = new URL(target.server)
    const pooled = (material: Material): http.Agent => {
      const pool = poolOf(target, material)
      pools.add(pool)
      return pool
    }
    const first = yield* read(target, plugin.headers)
    let live: Live = {
      way: { server, pool: pooled(first), headers: first.headers },
      bare: { server, pool: pooled(anonymous(first)), headers: {} },
      material: first,
      readAt: yield* steady,
      suspect: false
    }

    const replaced = (before: http.Agent, material: Material): http.Agent => {
      retire(before)
      pools.delete(before)
      return pooled(material)
    }
    const adopt = (material: Material, now: number): void => {
      const { way, bare, material: before } = live
      const same = sameTls(before, material)
      live = {
        way: { ...way, pool: same ? way.pool : replaced(way.pool, material), headers: material.headers },
        bare: same ? bare : { ...bare, pool: replaced(bare.pool, anonymous(material)) },
        material,
        readAt: now,
        suspect: false
      }
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
    const current = Effect.flatMap(steady, (now) =>
      old(now)
        ? one
            .withPermits(1)(Effect.whenEffect(renew, Effect.map(steady, old)))
            .pipe(Effect.map(() => live))
        : Effect.succeed(live)
    )
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

    /** Sends a request as who we are now, and once more where the server does not know us any more. */
    const asOurselves = <A extends { readonly status: number }, R>(
      send: (way: Way) => Effect.Effect<A, Unreachable, R>
    ): Effect.Effect<A, Unreachable, R> => {
      const sent = (way: Way) =>
        Effect.tapError(send(way), () => Effect.sync(() => (live = { ...live, suspect: true })))
      return Effect.flatMap(current, (used) =>
        Effect.flatMap(sent(used.way), (answered) =>
          answered.status === 401
            ? Effect.flatMap(after401(used), (next) =>
                next === undefined ? Effect.succeed(answered) : send(next.way)
              )
            : Effect.succeed(answered)
        )
      )
    }
    return {
      server: target.server,
      open: (request) => asOurselves((way) => open(way, request)),
      ask: (request, patience) => asOurselves((way) => answer(way, request, patience)),
      way: (as) => Effect.map(current, ({ way, bare }) => (as === "Ourselves" ? way : bare)),
      doubt: (used, cause) =>
        Effect.suspend(() => {
          if (cause === "Unreachable") live = { ...live, suspect: true }
          if (cause === "Unreachable" || used !== live.way) return Effect.void
          live = { ...live, readAt: Number.NEGATIVE_INFINITY }
          return plugin.forget
        })
    }
  })

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

/** What tells the server's identity, and nothing of ours. */
const anonymous = ({ ca }: Material): Material => ({ ca, cert: undefined, key: undefined, headers: {} })

const sameTls = (a: Material, b: Material): boolean =>
  (["ca", "cert", "key"] as const).every((part) => String(a[part] ?? "") === String(b[part] ?? ""))

const sameMaterial = (a: Material, b: Material): boolean =>
  sameTls(a, b) && JSON.stringify(a.headers) === JSON.stringify(b.headers)

interface Plugin {
  readonly headers: Effect.Effect<Granted, Misconfigured>
  /** drop what was cached: the server refused it */
  readonly forget: Effect.Effect<void>
}

/** Milliseconds that a login plugin may take. */
const PLUGIN_MS = 30_000

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
                duration: PLUGIN_MS,
                onTimeout: () =>
                  new Misconfigured({
                    message: `${credential.field}: no answer within ${PLUGIN_MS / 1000} s`
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
