/** A server on loopback that answers as it is told, and remembers what it was asked. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { createServer as createSecureServer, type ServerOptions } from "node:https"
import type { AddressInfo } from "node:net"
import type { Target } from "../src/shell/kubeconfig.ts"

export interface Heard {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

export interface FakeServer {
  readonly url: string
  readonly port: number
  readonly heard: Heard[]
  /** responses that are still open */
  readonly open: Set<ServerResponse>
  /** connections that were ever made */
  connections: number
  answer: (heard: Heard, response: ServerResponse) => void
}

export const fakeServer = (tls?: ServerOptions): Effect.Effect<FakeServer, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const fake: Mutable<FakeServer> = {
          url: "",
          port: 0,
          heard: [],
          open: new Set(),
          connections: 0,
          answer: (_, response) => response.end("{}")
        }
        const listener: RequestListener = (request, response) => void hear(fake, request, response)
        const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
        server.on("connection", () => (fake.connections += 1))
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        fake.port = (server.address() as AddressInfo).port
        fake.url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${fake.port}`
        return { fake, server }
      }),
      ({ server }) =>
        Effect.promise(
          () =>
            new Promise<void>((resolve) => {
              server.close(() => resolve())
              server.closeAllConnections()
            })
        )
    ),
    ({ fake }) => fake
  )

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const hear = async (fake: FakeServer, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  fake.open.add(response)
  response.on("close", () => fake.open.delete(response))
  response.on("error", () => undefined)
  let body = ""
  for await (const part of request) body += String(part)
  const { pathname, searchParams } = new URL(request.url ?? "", "http://server")
  const heard = {
    method: request.method ?? "",
    path: pathname,
    query: searchParams,
    headers: request.headers,
    body
  }
  fake.heard.push(heard)
  fake.answer(heard, response)
}

/** Answers with JSON. */
export const send = (
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Record<string, string> = {}
): void => {
  response.writeHead(code, { "content-type": "application/json", ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}

/** A refusal as the API server writes it. */
export const status = (code: number, reason: string, message: string, details?: unknown): unknown => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  reason,
  details,
  code
})

/** A cluster at an address, without TLS and without identity. */
export const plainTarget = (server: string): Target => ({
  server,
  ca: undefined,
  cert: undefined,
  key: undefined,
  insecure: false,
  serverName: undefined,
  proxy: undefined,
  credential: { _tag: "Anonymous" },
  impersonate: {}
})
