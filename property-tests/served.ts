/**
 * A wrapper's server over a board that the test itself tells what upstream says, and clients as kube-proxy is one.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import * as https from "node:https"
import { Board } from "../src/core/board.ts"
import { type Feed, type ItemOf, READERS } from "../src/core/feed.ts"
import type { Bounds } from "../src/core/journal.ts"
import type { Forward } from "../src/shell/forward.ts"
import { type RequestLine, serve, type Serving } from "../src/shell/serve.ts"
import { until } from "./effect.ts"

export const OWN = "n1"
export const SLICES = "/apis/discovery.k8s.io/v1/endpointslices"

/** An object as upstream has it. */
export interface Obj {
  readonly metadata: { readonly name: string; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

const encoder = new TextEncoder()

export class Stand {
  readonly board: Board
  port = 0
  /** requests that went upstream */
  readonly forwarded: string[] = []
  readonly lines: RequestLine[] = []
  readonly begun: Feed[] = []
  changed: () => void = () => undefined
  #revision = 100

  constructor(bounds: Bounds) {
    this.board = new Board(OWN, "5000", bounds)
  }

  /** Upstream's first list of a feed. */
  list(feed: Feed, ...objects: readonly Obj[]): void {
    this.#take(feed, {
      _tag: "Listed",
      revision: String((this.#revision += 1)),
      items: objects.map((object) => this.#item(feed, object)),
      unread: []
    })
  }

  put(feed: Feed, object: Obj): void {
    this.#take(feed, { _tag: "Changed", item: this.#item(feed, object) })
  }

  gone(feed: Feed, key: string): void {
    this.#take(feed, { _tag: "Deleted", key, revision: String((this.#revision += 1)) })
  }

  /** A cluster of three nodes in zones a, a and b, with nothing in it. */
  begin(): void {
    this.list("OwnNode", node(OWN, "a"))
    this.list("Node", node(OWN, "a"), node("n2", "a"), node("n3", "b"))
    for (const feed of ["Service", "ApiServer", "EndpointSlice", "Endpoints", "Namespace"] as const)
      this.list(feed)
  }

  #item(feed: Feed, object: Obj): ItemOf<Feed> {
    const revision = String((this.#revision += 1))
    const {
      name,
      namespace = NAMELESS.has(feed) ? undefined : "default",
      uid = `uid-${name}`,
      ...rest
    } = object.metadata
    const metadata = { name, namespace, uid, resourceVersion: revision, ...rest }
    const read = READERS[feed](encoder.encode(JSON.stringify({ ...object, metadata })), (text) => text)
    if ("_tag" in read) throw new Error(read.message)
    return read
  }

  #take(feed: Feed, input: Parameters<Board["take"]>[1][number]): void {
    this.board.take(feed, [input] as never)
    this.changed()
  }
}

const NAMELESS: ReadonlySet<Feed> = new Set<Feed>(["OwnNode", "Node", "Namespace", "ServiceCIDR"])

export const node = (name: string, zone: string): Obj => ({ metadata: { name, labels: { zone } } })

export const service = (name: string, keys: string | undefined): Obj => ({
  metadata: { name, annotations: keys === undefined ? {} : { topologyKeys: keys } },
  spec: { clusterIP: "10.96.0.9" }
})

export const slice = (name: string, of: string, ...nodes: readonly string[]): Obj => ({
  kind: "EndpointSlice",
  apiVersion: "discovery.k8s.io/v1",
  metadata: { name, labels: { "kubernetes.io/service-name": of } },
  addressType: "IPv4",
  endpoints: nodes.map((nodeName, i) => ({ addresses: [`10.0.0.${i}`], nodeName })),
  ports: [{ name: "", port: 80, protocol: "TCP" }]
})

/** A server that stands until the scope ends. Upstream answers 299 to whatever it is passed. */
export const standing = (given: Partial<Serving> = {}, bounds: Bounds = { count: 1000, bytes: 1_000_000 }) =>
  Effect.gen(function* () {
    const stand = new Stand(bounds)
    const forward: Forward = {
      request: (request, response) => {
        stand.forwarded.push(`${request.method} ${request.url}`)
        response.writeHead(299).end("upstream's")
      },
      upgrade: (request, socket) => {
        stand.forwarded.push(`upgrade ${request.url}`)
        socket.destroy()
      }
    }
    const server = yield* serve({
      board: stand.board,
      forward,
      begin: (feed) => void stand.begun.push(feed),
      address: { host: "127.0.0.1", port: 0, text: "127.0.0.1:0" },
      flag: "listen",
      tls: undefined,
      pace: { hold: 10_000, bookmark: 60_000 },
      mostWatches: 1000,
      log: (line) => void stand.lines.push(line),
      ...given
    })
    stand.port = server.port
    stand.changed = server.changed
    return stand
  })

/** Where something is served on loopback. */
export interface Served {
  readonly port: number
  /** whom a client of TLS trusts, and what it shows; undefined: plain HTTP */
  readonly tls?: Pick<https.RequestOptions, "ca" | "cert" | "key" | "servername">
}

const request = ({ port, tls }: Served, o: http.RequestOptions): http.ClientRequest =>
  tls === undefined
    ? http.request({ port, host: "127.0.0.1", ...o })
    : https.request({ port, host: "127.0.0.1", agent: false, ...tls, ...o })

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  readonly body: { readonly [field: string]: unknown }
}

/** Asks once. */
export const ask = (
  at: Served,
  path: string,
  o: { readonly method?: string; readonly headers?: http.OutgoingHttpHeaders } = {}
): Effect.Effect<Answer> =>
  Effect.promise(
    () =>
      new Promise<Answer>((done, failed) => {
        const asking = request(at, { path, ...o })
        asking.once("response", (response) => {
          let text = ""
          response.on("data", (part: Buffer) => (text += part.toString()))
          response.once("end", () => {
            const json = /json/.test(response.headers["content-type"] ?? "")
            const body = (json && text !== "" ? JSON.parse(text) : {}) as Answer["body"]
            done({ status: response.statusCode ?? 0, headers: response.headers, text, body })
          })
        })
        asking.once("error", failed)
        asking.end()
      })
  )

export interface Line {
  readonly type: string
  readonly object: {
    readonly kind?: string
    readonly code?: number
    readonly metadata: { readonly [field: string]: unknown }
  } & {
    readonly [field: string]: unknown
  }
}

/** A watch, and what it was told. */
export class Watching {
  status = 0
  ended = false
  readonly lines: Line[] = []
  readonly #request: http.ClientRequest
  #response: http.IncomingMessage | undefined

  /** `reads`: false for a client that reads nothing before it is told to */
  constructor(stand: Served, path: string, reads = true) {
    this.#request = request(stand, { path, agent: false })
    this.#request.on("error", () => (this.ended = true))
    this.#request.on("response", (response) => {
      this.status = response.statusCode ?? 0
      this.#response = response
      response.on("error", () => undefined)
      response.once("close", () => (this.ended = true))
      if (reads) this.read()
    })
    this.#request.end()
  }

  /** The head of the answer is there. */
  get opened(): boolean {
    return this.#response !== undefined
  }

  read(): void {
    let rest = ""
    this.#response?.on("data", (part: Buffer) => {
      const cut = (rest + part.toString()).split("\n")
      rest = cut.pop() ?? ""
      for (const each of cut) if (each !== "") this.lines.push(JSON.parse(each) as Line)
    })
  }

  stop(): void {
    this.#request.destroy()
  }

  /** type and name of each line */
  get told(): readonly string[] {
    return this.lines.map(({ type, object }) => [type, object.metadata["name"]].filter(Boolean).join(" "))
  }
}

/** A watch that is open. */
export const watch = (
  stand: Served,
  query: string,
  path = SLICES,
  reads = true
): Effect.Effect<Watching, never, Scope.Scope> =>
  Effect.gen(function* () {
    const open = yield* Effect.acquireRelease(
      Effect.sync(() => new Watching(stand, `${path}?watch=true${query}`, reads)),
      (each) => Effect.sync(() => each.stop())
    )
    yield* until("the head of a watch", () => open.opened || open.ended)
    return open
  })

/** Names in a list, sorted. */
export const names = ({ body }: Answer): readonly string[] =>
  ((body["items"] ?? []) as readonly Obj[]).map(({ metadata }) => metadata.name).sort()

/** Nodes of the endpoints of an object. */
export const nodesOf = (object: { readonly [field: string]: unknown } | undefined): readonly unknown[] =>
  ((object?.["endpoints"] ?? []) as readonly { readonly nodeName?: string }[]).map(({ nodeName }) => nodeName)
