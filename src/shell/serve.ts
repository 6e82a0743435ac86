/**
 * What kube-proxy and CoreDNS talk to: lists and watches of what this node is shown, and everything else on to the API server.
 *
 * *Guarantees*: nothing is answered before all that it depends on was seen: such requests wait, and are then told 503 with Retry-After. A list is
 * what the journal held at one moment; a watch misses nothing after it. One client's slowness is nobody else's. With its scope, watches end as at
 * their timeout, and the server closes.
 * *Does not*: decide what a request is (core/route.ts does) or what is shown (core/board.ts does).
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import * as https from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { type Showing, SHOWN, type ShownKind } from "../core/board.ts"
import { subject, type Thing } from "../core/cut.ts"
import type { Feed } from "../core/feed.ts"
import type { Listing } from "../core/journal.ts"
import { listing, opening } from "../core/opening.ts"
import { badRequest, expired, listHead, LIST_TAIL, notFound, type Status, status } from "../core/reply.ts"
import { type Asked, type Route, route, type Served } from "../core/route.ts"
import type { Forward } from "./forward.ts"
import { listening } from "./listen.ts"
import { pieces, WHOLE } from "./pieces.ts"
import { refuse } from "./refuse.ts"
import { series } from "./series.ts"
import type { Address, Misconfigured } from "./settings.ts"
import { Watcher } from "./watcher.ts"

export interface Serving {
  readonly board: Showing
  readonly forward: Forward
  /** begins a feed that a client asks for */
  readonly begin: (feed: Feed) => void
  readonly address: Address
  /** the flag that names the address */
  readonly flag: string
  /** certificate and key; undefined: plain HTTP */
  readonly tls: https.ServerOptions | undefined
  readonly pace: Pace
  /** watches that may be open at a time */
  readonly mostWatches: number
  /** told of each request once it is over; undefined: nobody wants to know */
  readonly log: ((line: RequestLine) => void) | undefined
}

/** Milliseconds. */
export interface Pace {
  /** that a request waits for what it depends on */
  readonly hold: number
  /** between two bookmarks */
  readonly bookmark: number
}

/** One request, for those who debug a node. */
export interface RequestLine {
  readonly method: string
  readonly url: string
  readonly client: string
  /** list, watch, get, refused, forwarded */
  readonly how: string
  readonly code: number
  readonly bytes: number
  readonly milliseconds: number
}

/** What is served, and what tells it that something has changed. */
export interface Server {
  /** where it listens, the port too where any free one was asked for */
  readonly port: number
  readonly changed: () => void
}

const requests = series(
  "servicegroup_served_requests_total",
  "requests that were answered from what this node is shown, by kind, verb and status code",
  ["kind", "verb", "code"]
)
const watches = Metric.gauge("servicegroup_open_watches", { description: "watches that are open" })

/** Serves until the scope ends. A port that is taken is named, with the flag. */
export const serve = (o: Serving): Effect.Effect<Server, Misconfigured, Scope.Scope> =>
  Effect.gen(function* () {
    const desk = new Desk(o)
    const server =
      o.tls === undefined ? http.createServer(LIMITS) : https.createServer({ ...LIMITS, ...o.tls })
    server.on("request", (request, response) => desk.take(request, response))
    server.on("upgrade", (request: http.IncomingMessage, socket: Duplex, head: Buffer) =>
      desk.upgrade(request, socket, head)
    )
    if (o.tls !== undefined) plainRefused(server)
    const bookmarks = setInterval(() => desk.bookmark(), o.pace.bookmark)
    yield* Effect.acquireRelease(listening(server, o.flag, o.address), () =>
      Effect.async<void>((done) => {
        clearInterval(bookmarks)
        server.close(() => done(Effect.void))
        desk.close()
        server.closeIdleConnections()
        setTimeout(() => server.closeAllConnections(), GOODBYE_MS).unref()
      })
    )
    const at = server.address()
    return {
      port: typeof at === "object" && at !== null ? at.port : o.address.port,
      changed: () => desk.changed()
    }
  })

/** Tells those who speak plain HTTP to a server of TLS, which would hang up without a word. */
const plainRefused = (server: http.Server): void => {
  const open = new Map<string, Socket>()
  const from = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`
  server.on("connection", (socket: Socket) => {
    const key = from(socket)
    open.set(key, socket)
    socket.once("close", () => open.delete(key))
  })
  // Before the server's own listener, which ends the connection.
  server.prependListener("tlsClientError", (error: NodeJS.ErrnoException, secure: Socket) => {
    if (error.code === "ERR_SSL_HTTP_REQUEST")
      open
        .get(from(secure))
        ?.end(plainly(badRequest("TLS is spoken here, and this was plain HTTP: ask with https://")))
  })
}

/** Milliseconds that answers under way have when the server closes. */
const GOODBYE_MS = 500

/** Nothing ends a connection that has a watch or a log on it; a head that doesn't come is given up. */
const LIMITS = {
  keepAliveTimeout: 75_000,
  headersTimeout: 20_000,
  requestTimeout: 0,
  maxHeaderSize: 64 * 1024,
  noDelay: true
} as const

/** A request that waits for what it depends on. */
interface Held {
  readonly kind: ShownKind
  readonly go: () => void
}

class Desk {
  readonly #o: Serving
  readonly #watchers = new Set<Watcher>()
  readonly #held = new Set<Held>()
  #waking = false

  constructor(o: Serving) {
    this.#o = o
  }

  take(request: http.IncomingMessage, response: http.ServerResponse): void {
    const began = performance.now()
    const taken = this.#route(request, false)
    if (this.#o.log !== undefined) this.#logged(request, response, taken, began)
    if (taken._tag === "Forwarded")
      return this.#o.forward.request(request, response, taken.ownNode ? this.#ownNode() : undefined)
    // A body that nobody reads would hold up the next request on the connection.
    request.resume()
    if (taken._tag === "Refused") return refuse(response, taken.status)
    if (request.method === "HEAD") return refuse(response, status(405, "MethodNotAllowed", "ask with GET"))
    this.#o.begin(SHOWN[taken.kind])
    if (this.#o.board.waitsFor(taken.kind).length === 0) this.#answer(taken, response)
    else this.#hold(taken, response)
  }

  upgrade(request: http.IncomingMessage, socket: Duplex, head: Buffer): void {
    const taken = this.#route(request, true)
    if (taken._tag === "Refused") return void socket.end(plainly(taken.status))
    this.#o.forward.upgrade(request, socket, head)
  }

  /** What is shown may have changed: all that was taken in with it is told together. */
  changed(): void {
    if (this.#waking) return
    this.#waking = true
    process.nextTick(() => {
      this.#waking = false
      for (const each of this.#held) if (this.#o.board.waitsFor(each.kind).length === 0) each.go()
      for (const watcher of this.#watchers) watcher.wake()
    })
  }

  bookmark(): void {
    for (const watcher of this.#watchers) watcher.bookmark()
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.end()
  }

  #route(request: http.IncomingMessage, upgrade: boolean): Route {
    const { method = "", url = "", headers } = request
    const asked: Asked = { method, url, accept: headers.accept, upgrade }
    return route(asked, this.#o.board.view.own)
  }

  /** This node as it was seen last, for when upstream is away. */
  #ownNode(): (() => Uint8Array) | undefined {
    const { board } = this.#o
    const told = board.journal("Node").get(`/${board.view.own}`)
    if (told === undefined) return undefined
    return () => {
      const out = pieces()
      board.render("Node", told.value, subject(told.value).revision, "v1", out)
      return out.done()
    }
  }

  #hold(asked: Served, response: http.ServerResponse): void {
    const timer = setTimeout(() => {
      this.#held.delete(held)
      const why = `this node's view is not complete yet; it waits for ${this.#o.board
        .waitsFor(asked.kind)
        .map((feed) => WORDS[feed])
        .join(", ")}`
      requests(asked.kind, asked.verb._tag, "503")
      refuse(response, { code: 503, reason: "ServiceUnavailable", message: why, retryAfter: 1 })
    }, this.#o.pace.hold)
    const over = (): void => {
      clearTimeout(timer)
      this.#held.delete(held)
    }
    const held: Held = {
      kind: asked.kind,
      go: () => {
        over()
        this.#answer(asked, response)
      }
    }
    this.#held.add(held)
    response.once("close", over)
  }

  #answer(asked: Served, response: http.ServerResponse): void {
    if (response.destroyed) return
    const { board } = this.#o
    const journal = board.journal(asked.kind)
    switch (asked.verb._tag) {
      case "Get": {
        const told = journal.get(asked.verb.key)
        if (told === undefined)
          return this.#refused(asked, response, notFound(PLURALS[asked.kind], asked.verb.key))
        const out = pieces()
        board.render(asked.kind, told.value, told.revision, asked.apiVersion, out)
        const body = out.done()
        requests(asked.kind, "Get", "200")
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length })
        response.end(body)
        return
      }
      case "List": {
        const listed = listing(journal, asked.options)
        if (listed === undefined)
          return this.#refused(asked, response, expired(asked.options.resourceVersion))
        requests(asked.kind, "List", "200")
        return list(board, asked, listed, response)
      }
      case "Watch": {
        const begins = opening(journal, asked.options)
        if (begins._tag === "Expired")
          return this.#refused(asked, response, expired(asked.options.resourceVersion))
        if (this.#watchers.size >= this.#o.mostWatches) {
          requests(asked.kind, "Watch", "429")
          const message = `${this.#o.mostWatches} watches are open, as many as --most-watches allows`
          return refuse(response, { code: 429, reason: "TooManyRequests", message, retryAfter: 5 })
        }
        requests(asked.kind, "Watch", "200")
        return this.#watch(new Watcher({ board, asked, opening: begins, response }), response)
      }
    }
  }

  #refused(asked: Served, response: http.ServerResponse, of: Status): void {
    requests(asked.kind, asked.verb._tag, String(of.code))
    refuse(response, of)
  }

  #watch(watcher: Watcher, response: http.ServerResponse): void {
    this.#watchers.add(watcher)
    Effect.runSync(Metric.incrementBy(watches, 1))
    response.once("close", () => {
      this.#watchers.delete(watcher)
      Effect.runSync(Metric.incrementBy(watches, -1))
    })
    watcher.open()
  }

  #logged(request: http.IncomingMessage, response: http.ServerResponse, taken: Route, began: number): void {
    response.once("close", () => {
      this.#o.log?.({
        method: request.method ?? "",
        url: request.url ?? "",
        client: request.headers["user-agent"] ?? "",
        how: taken._tag === "Served" ? taken.verb._tag.toLowerCase() : taken._tag.toLowerCase(),
        code: response.statusCode,
        bytes: request.socket.bytesWritten,
        milliseconds: Math.round((performance.now() - began) * 10) / 10
      })
    })
  }
}

/** Writes a list, as fast as the client takes it. */
const list = (
  board: Showing,
  { kind, apiVersion, selects }: Served,
  listed: Listing<Thing>,
  response: http.ServerResponse
): void => {
  const objects = listed.objects.values()
  let between = listHead(kind, apiVersion, listed.revision)
  const write = (): void => {
    for (;;) {
      const out = pieces(WHOLE)
      while (!out.full) {
        const next = objects.next()
        if (next.done === true) {
          out.text(between === "," ? LIST_TAIL : `${between}${LIST_TAIL}`)
          response.end(out.done(), out.release)
          return
        }
        const { revision, value } = next.value
        if (!selects(subject(value))) continue
        out.text(between)
        between = ","
        board.render(kind, value, revision, apiVersion, out)
      }
      if (!response.write(out.done(), out.release)) {
        response.once("drain", write)
        return
      }
    }
  }
  response.writeHead(200, { "content-type": "application/json" })
  write()
}

/** A refusal on a connection that has no answer object. */
const plainly = (of: Status): string => {
  const body = JSON.stringify(of)
  return `HTTP/1.1 ${of.code} ${of.reason}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
}

const PLURALS: { readonly [K in ShownKind]: string } = {
  Service: "services",
  EndpointSlice: "endpointslices.discovery.k8s.io",
  Endpoints: "endpoints",
  Node: "nodes",
  Namespace: "namespaces",
  ServiceCIDR: "servicecidrs.networking.k8s.io"
}

/** What is waited for, in words. */
const WORDS: { readonly [F in Feed]: string } = {
  OwnNode: "this node itself",
  Node: "the labels of nodes",
  Service: "Services",
  ApiServer: "Endpoints default/kubernetes",
  EndpointSlice: "EndpointSlices",
  Endpoints: "Endpoints",
  Namespace: "Namespaces",
  ServiceCIDR: "ServiceCIDRs",
  StatefulSetGrid: "StatefulSetGrids",
  StatefulSet: "the StatefulSets of grids"
}
