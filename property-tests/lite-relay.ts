/**
 * A relay such as lite-apiserver's, between a node's clients and the API server: it listens on TLS and answers reads from what it saw before while the
 * server is away.
 *
 * *Guarantees*: while the server answers, its answers go on as they came, as they stream. Lists and objects that came whole with 200 are kept, by who asked
 * (the first word of the user agent) and what (path and selectors). Away, a read gets what was kept last, any other request 503; open watches end.
 * *Does not*: keep what watches say, as its model doesn't either: what it answers when the server is away may be older than what its clients know.
 */
import * as http from "node:http"
import * as https from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { pipeline } from "node:stream"
import type { Certified } from "./certificates.ts"

export interface LiteRelay {
  /** its address, https://127.0.0.1:port */
  readonly url: string
  /** what it could answer without the server, as `agent METHOD path` */
  readonly kept: () => readonly string[]
  /** how many answers came from what was kept */
  readonly served: () => number
  readonly stop: () => Promise<void>
}

export interface LiteRelayed {
  /** the API server's address */
  readonly to: string
  /** of the API server: whom to trust, and who the relay is there where its client doesn't say who it is */
  readonly upstream?: { readonly ca: string; readonly identity?: Certified }
  /** what the relay shows its clients */
  readonly identity: Certified
}

interface Kept {
  readonly headers: readonly string[]
  readonly body: Buffer
}

export const liteRelay = async ({ to, upstream, identity }: LiteRelayed): Promise<LiteRelay> => {
  const secure = to.startsWith("https:")
  const agent = secure
    ? new https.Agent({ keepAlive: true, ca: upstream?.ca, ...upstream?.identity })
    : new http.Agent({ keepAlive: true })
  const stranger = secure ? new https.Agent({ keepAlive: true, ca: upstream?.ca }) : agent
  const by = secure ? https : http
  const all = new Map<string, Kept>()
  let served = 0

  const away = (key: string | undefined, response: http.ServerResponse): void => {
    const kept = key === undefined ? undefined : all.get(key)
    if (kept === undefined) {
      const message = "the API server is away, and nothing is kept of this"
      const status = {
        kind: "Status",
        apiVersion: "v1",
        status: "Failure",
        reason: "ServiceUnavailable",
        message
      }
      response.writeHead(503, { "content-type": "application/json", "retry-after": "1" })
      return void response.end(JSON.stringify({ ...status, metadata: {}, code: 503 }))
    }
    served += 1
    response.writeHead(200, [...kept.headers, "content-length", String(kept.body.length)])
    response.end(kept.body)
  }

  const server = https.createServer({ cert: identity.cert, key: identity.key }, (request, response) => {
    request.on("error", () => undefined)
    response.on("error", () => undefined)
    const key = keyOf(request)
    const { hostname, port, pathname, host } = new URL(to)
    const outgoing = by.request({
      agent: request.headers.authorization === undefined ? agent : stranger,
      hostname,
      port,
      path: (pathname === "/" ? "" : pathname) + (request.url ?? ""),
      method: request.method ?? "GET",
      headers: ["Host", host, ...passed(request.rawHeaders, ["host"])]
    })
    outgoing.on("error", () => {
      if (response.headersSent) response.destroy()
      else if (!response.destroyed) away(key, response)
    })
    response.once("close", () => outgoing.destroy())
    outgoing.once("response", (answer) => {
      if (key !== undefined && answer.statusCode === 200) return keep(answer, response, key)
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passed(answer.rawHeaders))
      response.flushHeaders()
      pipeline(answer, response, () => undefined)
    })
    pipeline(request, outgoing, () => undefined)
  })

  /** A read is kept once it has come whole; one that breaks off is as good as none. */
  const keep = (answer: http.IncomingMessage, response: http.ServerResponse, key: string): void => {
    const parts: Buffer[] = []
    answer.on("data", (part: Buffer) => parts.push(part))
    answer.on("error", () => away(key, response))
    answer.once("end", () => {
      const kept = { headers: passed(answer.rawHeaders, ["content-length"]), body: Buffer.concat(parts) }
      all.set(key, kept)
      response.writeHead(200, [...kept.headers, "content-length", String(kept.body.length)])
      response.end(kept.body)
    })
  }

  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    kept: () => [...all.keys()],
    served: () => served,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      agent.destroy()
      stranger.destroy()
      await closed
    }
  }
}

/** Under what the answer to a request is kept; none for a watch, a log or a write. */
const keyOf = ({ method, url = "", headers }: http.IncomingMessage): string | undefined => {
  const [path = "", query = ""] = url.split("?")
  const asked = new URLSearchParams(query)
  if (method !== "GET" || asked.has("watch") || asked.has("follow")) return undefined
  const selectors = ["labelSelector", "fieldSelector", "continue"].map((name) => asked.get(name) ?? "")
  return `${/^[^/ ]*/.exec(headers["user-agent"] ?? "")?.[0]} GET ${path} ${selectors.join(" ")}`.trimEnd()
}

/** The headers that aren't about one connection, nor among those. */
const passed = (raw: readonly string[], those: readonly string[] = []): string[] => {
  const stays = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", ...those])
  return raw.filter((_, i) => !stays.has(raw[i - (i % 2)]?.toLowerCase() ?? ""))
}
