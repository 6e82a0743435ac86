/** A wrapper's forwarding half on a real socket, the API server behind it that remembers every byte, and clients before it. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import * as https from "node:https"
import { type AddressInfo, connect as dial, createServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import { connect } from "../src/shell/connect.ts"
import { forward, type Manner } from "../src/shell/forward.ts"
import type { Target } from "../src/shell/kubeconfig.ts"
import { until } from "./effect.ts"
import { plainTarget } from "./fake-server.ts"

/** A request as it reached the API server. */
export interface Arrived {
  readonly method: string
  readonly url: string
  /** name, value, name, value, as they came */
  readonly raw: readonly string[]
  readonly body: Buffer
  readonly trailers: readonly string[]
  /** the common name of the client's certificate, where it showed one */
  readonly certified: string | undefined
}

export interface Upstream {
  readonly url: string
  readonly arrived: Arrived[]
  /** answers that haven't ended, nor broken off */
  readonly open: Set<http.ServerResponse>
  /** every connection that is open */
  readonly sockets: Set<Socket>
  /** answers once a request has come whole */
  answer: (arrived: Arrived, response: http.ServerResponse) => void
  /** instead of all that: a request whose body nobody has read */
  begun: ((request: http.IncomingMessage, response: http.ServerResponse) => void) | undefined
  upgraded: (request: http.IncomingMessage, socket: Duplex, head: Buffer) => void
  /** ends the server and all its connections */
  readonly stop: () => void
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

export const upstream = (tls?: https.ServerOptions): Effect.Effect<Upstream, never, Scope.Scope> =>
  Effect.gen(function* () {
    const server = tls === undefined ? http.createServer() : https.createServer(tls)
    const self: Writable<Upstream> = {
      url: "",
      arrived: [],
      open: new Set(),
      sockets: new Set(),
      answer: (_, response) => response.end("{}"),
      begun: undefined,
      upgraded: (_, socket) => socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"),
      stop: () => {
        server.close()
        for (const socket of self.sockets) socket.destroy()
      }
    }
    server.on("connection", (socket: Socket) => {
      self.sockets.add(socket)
      socket.on("error", () => undefined)
      socket.once("close", () => self.sockets.delete(socket))
    })
    server.on("request", (request: http.IncomingMessage, response: http.ServerResponse) => {
      self.open.add(response)
      request.on("error", () => undefined)
      response.once("close", () => self.open.delete(response))
      if (self.begun !== undefined) return self.begun(request, response)
      void whole(request).then((body) => {
        const arrived = { ...headOf(request), body, trailers: request.rawTrailers }
        self.arrived.push(arrived)
        self.answer(arrived, response)
      })
    })
    server.on("upgrade", (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on("error", () => undefined)
      self.arrived.push({ ...headOf(request), body: head, trailers: [] })
      self.upgraded(request, socket, head)
    })
    const port = yield* listening(server)
    self.url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`
    yield* Effect.addFinalizer(() => Effect.sync(self.stop))
    return self
  })

const headOf = (request: http.IncomingMessage) => ({
  method: request.method ?? "",
  url: request.url ?? "",
  raw: request.rawHeaders,
  certified: certifiedName(request.socket)
})

const certifiedName = (socket: Socket): string | undefined => {
  const named =
    "getPeerCertificate" in socket ? (socket as TLSSocket).getPeerCertificate().subject : undefined
  return named === undefined ? undefined : String(named.CN)
}

const listening = (server: http.Server): Effect.Effect<number> =>
  Effect.promise(
    () =>
      new Promise((resolve) => {
        server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
      })
  )

/** Reads to the end; fails where it breaks off. */
const whole = async (stream: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts)
}

/** The port of a forwarder in front of a server, and how many clients are connected to it. */
export interface Front {
  readonly port: number
  readonly clients: Set<Socket>
}

/** A forwarder in front of a server. */
export const front = (
  to: Target | string,
  manner: Partial<Manner> = {}
): Effect.Effect<Front, never, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* Effect.orDie(connect(typeof to === "string" ? plainTarget(to) : to))
    const passing = yield* forward(connection, { strangers: "Own", patience: 60_000, ...manner })
    const server = http.createServer((request, response) => passing.request(request, response, undefined))
    server.on("upgrade", passing.upgrade)
    const clients = new Set<Socket>()
    server.on("connection", (socket: Socket) => {
      clients.add(socket)
      socket.once("close", () => clients.delete(socket))
    })
    const port = yield* listening(server)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        // Connections that were upgraded are the forwarder's to end.
        server.closeAllConnections()
      })
    )
    return { port, clients }
  })

export interface Asked {
  readonly method?: string
  readonly path?: string
  /** name, value, name, value; without Host */
  readonly headers?: readonly string[]
  readonly body?: readonly Uint8Array[]
  readonly trailers?: readonly (readonly [string, string])[]
}

/** An answer as it came to the client. */
export interface Got {
  readonly code: number
  readonly phrase: string
  readonly raw: readonly string[]
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
  readonly trailers: readonly string[]
  /** interim answers before it */
  readonly interim: readonly number[]
}

/** Asks on a connection of its own. Fails where the answer doesn't come, or breaks off. */
export const ask = ({ port }: Front, asked: Asked): Effect.Effect<Got> =>
  Effect.promise(async () => {
    const interim: number[] = []
    const request = begin(port, asked)
    request.on("information", ({ statusCode }) => interim.push(statusCode))
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      request.once("response", resolve).once("error", reject)
    })
    const body = await whole(answer)
    return {
      code: answer.statusCode ?? 0,
      phrase: answer.statusMessage ?? "",
      raw: answer.rawHeaders,
      headers: answer.headers,
      body,
      trailers: answer.rawTrailers,
      interim
    }
  })

/** Sends a request, whose answer is the caller's to hear. */
export const begin = (port: number, asked: Asked): http.ClientRequest => {
  const { method = "GET", path = "/api", headers = [], body = [], trailers = [] } = asked
  const request = http.request({
    agent: false,
    host: "127.0.0.1",
    port,
    method,
    path,
    headers: ["Host", "wrapper.test", ...headers]
  })
  request.on("error", () => undefined)
  for (const part of body) request.write(part)
  if (trailers.length > 0)
    request.addTrailers(trailers.map(([name, value]): [string, string] => [name, value]))
  request.end()
  return request
}

/** A client that speaks for itself. */
export interface Line {
  readonly socket: Socket
  /** what came so far */
  readonly heard: () => string
  readonly ended: () => boolean
  readonly closed: () => boolean
}

/** Connects, and says this. */
export const line = ({ port }: Front, says = ""): Effect.Effect<Line, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync((): Line => {
      const socket = dial({ port, host: "127.0.0.1", allowHalfOpen: true })
      const parts: Buffer[] = []
      let [ended, closed] = [false, false]
      socket.on("data", (part: Buffer) => parts.push(part))
      socket.on("error", () => undefined)
      socket.once("end", () => (ended = true))
      socket.once("close", () => (closed = true))
      socket.write(Buffer.from(says, "latin1"))
      return {
        socket,
        heard: () => Buffer.concat(parts).toString("latin1"),
        ended: () => ended,
        closed: () => closed
      }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

/** The value of the first header of this name. */
export const header = (raw: readonly string[], name: string): string | undefined =>
  raw.find((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name)

export const switching =
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n"

export const refusedUpgrade = "HTTP/1.1 403 Forbidden\r\nx-why: rbac\r\ncontent-length: 2\r\n\r\nno"

export const inline = (text: string): NonNullable<Target["ca"]> => ({
  _tag: "Inline",
  bytes: Buffer.from(text),
  field: "test"
})

export const withToken = (server: string): Target => ({
  ...plainTarget(server),
  credential: { _tag: "Token", token: "own" }
})

export const last = (arrived: readonly Arrived[]): Arrived => {
  const one = arrived.at(-1)
  if (one === undefined) throw new Error("nothing arrived")
  return one
}

export const only = <A>(all: ReadonlySet<A>): A => {
  const [one, ...more] = all
  if (one === undefined || more.length > 0) throw new Error(`${all.size} are there`)
  return one
}

/** The address of a server that does this with every connection on which something was said. */
export const scripted = (meet: (socket: Socket) => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer((socket) => {
          socket.on("error", () => undefined)
          socket.once("data", () => meet(socket))
        })
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        return server
      }),
      (server) => Effect.sync(() => server.close())
    ),
    (server) => {
      const address = server.address()
      return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    }
  )

/** Waits until a number has been above zero and the same for 20 looks in a row. */
export const stalled = (count: () => number) => {
  let [before, same] = [0, 0]
  return until("a standstill", () => {
    same = count() === before && before > 0 ? same + 1 : 0
    before = count()
    return same >= 20
  })
}
