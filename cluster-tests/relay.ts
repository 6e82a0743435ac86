/**
 * A relay on loopback between a client and an API server, HTTP/1.1, with TLS or without, which plays a script of faults (relay-script.ts).
 *
 * *Guarantees*: without a script every answer is the server's own, byte by byte, and a watch's lines come as they come. Lines of one watch
 * never overtake each other. A client that goes away takes its watches along upstream; its writes are carried out. *Assumes*: that
 * requests are small. *Does not*: upgrade connections, change what it doesn't do away with.
 */
import * as http from "node:http"
import * as https from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { type Asked, asked, type Deed, Play, type Script } from "./relay-script.ts"

export interface Way {
  /** address of the API server, such as https://127.0.0.1:6443 */
  readonly to: string
  /** PEM; undefined: the server speaks plain HTTP, and so does the relay */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string } | undefined
  /** ends the client, as SIGKILL does */
  readonly kill: () => void
}

/** A request that the relay met. */
export interface Passed extends Asked {
  /** milliseconds, as performance.now() counts */
  readonly at: number
  /** what the client was told; 0: nothing, undefined: nothing yet */
  code: number | undefined
}

export interface Relay {
  /** its own address */
  readonly server: string
  /** every request so far, in order */
  readonly passed: readonly Passed[]
  /** plays a script from its beginning, instead of the one before */
  readonly play: (script: Script) => void
  /** no rule is left, and what is held goes on */
  readonly calm: () => void
  /** sends what comes from now on to another server; open watches stay where they are */
  readonly lead: (to: string) => void
  /** resets every connection */
  readonly cut: () => void
  readonly stop: () => Promise<void>
}

interface Answer {
  readonly code: number
  readonly message: string
  readonly headers: readonly string[]
  readonly body: Buffer
}

export const relay = async (way: Way): Promise<Relay> => {
  const inner = new Inner(way)
  const listener: http.RequestListener = (request, response) => void inner.take(request, response)
  const server =
    way.tls === undefined
      ? http.createServer(listener)
      : https.createServer({ cert: way.tls.cert, key: way.tls.key }, listener)
  // an idle connection that the relay closed would be a fault that nobody asked for
  server.keepAliveTimeout = 0
  server.requestTimeout = 0
  server.on("connection", (socket: Socket) => inner.connected(socket))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    server: `${way.tls === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed: inner.passed,
    play: (script) => inner.play(script),
    calm: () => inner.play([]),
    lead: (to) => (inner.to = to),
    cut: () => inner.cut(),
    stop: async () => {
      inner.play([])
      const closed = new Promise((resolve) => server.close(resolve))
      inner.cut()
      inner.end()
      await closed
    }
  }
}

class Inner {
  to: string
  readonly passed: Passed[] = []
  readonly #way: Way
  readonly #agent: http.Agent
  /** the first answer to each list */
  readonly #lists = new Map<string, Answer>()
  /** by the client's port: a connection under TLS can only be reset below it */
  readonly #sockets = new Map<number, Socket>()
  #play = new Play([])
  #calm = new AbortController()

  constructor(way: Way) {
    this.#way = way
    this.to = way.to
    this.#agent =
      way.tls === undefined
        ? new http.Agent({ keepAlive: true })
        : new https.Agent({ keepAlive: true, ca: way.tls.ca })
  }

  play(script: Script): void {
    this.#play = new Play(script)
    this.#calm.abort()
    this.#calm = new AbortController()
  }

  connected(socket: Socket): void {
    const { remotePort = 0 } = socket
    this.#sockets.set(remotePort, socket)
    socket.on("error", () => undefined)
    socket.once("close", () => this.#sockets.delete(remotePort))
  }

  cut(): void {
    for (const socket of this.#sockets.values()) socket.resetAndDestroy()
  }

  #reset(response: http.ServerResponse): void {
    this.#sockets.get(response.socket?.remotePort ?? 0)?.resetAndDestroy()
  }

  end(): void {
    this.#agent.destroy()
  }

  async take(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    response.sendDate = false
    response.on("error", () => undefined)
    const what = asked(request.method ?? "", request.url ?? "", request.headers["content-type"] ?? "")
    const met: Passed = { ...what, at: performance.now(), code: undefined }
    this.passed.push(met)
    try {
      await this.#meet(met, request, response)
    } catch {
      // the client or the server has gone: the other side is told by the same means
      met.code = 0
      this.#reset(response)
    }
  }

  async #meet(met: Passed, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const body = await whole(request)
    const deeds = this.#play.deeds(met)
    for (const deed of deeds) if (deed._tag === "Hold") await pause(deed.ms, this.#calm.signal)
    const instead = this.#instead(met, request, deeds)
    if (instead === "nothing") return this.#silent(met, response)
    if (instead !== undefined) return told(met, response, instead)
    const upstream = await this.#forward(request, body)
    if (met.verb === "watch" && upstream.statusCode === 200) return this.#watch(met, upstream, response)
    const answer = await answered(upstream)
    const url = request.url ?? ""
    if (met.verb === "list" && answer.code === 200 && !this.#lists.has(url)) this.#lists.set(url, answer)
    for (const deed of deeds) {
      if (deed._tag === "Kill" && deed.moment === "between") this.#way.kill()
      if ((deed._tag === "Kill" || deed._tag === "Reset") && deed.moment === "between")
        return this.#silent(met, response)
    }
    await told(met, response, answer)
    if (deeds.some((deed) => deed._tag === "Kill" && deed.moment === "after")) this.#way.kill()
  }

  /** What the client gets instead of what the server would say, if anything. */
  #instead(
    met: Passed,
    request: http.IncomingMessage,
    deeds: readonly Deed[]
  ): Answer | "nothing" | undefined {
    for (const deed of deeds) {
      switch (deed._tag) {
        case "Kill":
          if (deed.moment !== "before") break
          this.#way.kill()
          return "nothing"
        case "Reset":
          if (deed.moment !== "before") break
          return "nothing"
        case "Cut":
          this.cut()
          return "nothing"
        case "Fail":
          return refusal(deed)
        case "Older": {
          const older = met.verb === "list" ? this.#lists.get(request.url ?? "") : undefined
          if (older !== undefined) return older
          break
        }
        case "Hold":
        case "Repeat":
        case "Lose":
          break
      }
    }
    return undefined
  }

  #silent(met: Passed, response: http.ServerResponse): void {
    met.code = 0
    this.#reset(response)
  }

  #forward(request: http.IncomingMessage, body: Buffer): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const url = new URL(request.url ?? "", this.to)
      const by = url.protocol === "https:" ? https : http
      const headers = passedOn(request.rawHeaders, ["content-length"])
      const sent = by.request(url, { method: request.method, agent: this.#agent })
      for (let i = 0; i < headers.length; i += 2) sent.setHeader(headers[i] ?? "", headers[i + 1] ?? "")
      if (body.length > 0) sent.setHeader("content-length", body.length)
      sent.once("response", resolve)
      sent.on("error", reject)
      sent.end(body)
    })
  }

  /** Hands the lines of a watch on, each as soon as it may and those before it have gone. */
  async #watch(met: Passed, upstream: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    met.code = 200
    response.once("close", () => upstream.destroy())
    response.writeHead(200, upstream.statusMessage, passedOn(upstream.rawHeaders, []))
    response.flushHeaders()
    let before: Promise<unknown> = Promise.resolve()
    const line = (text: string): void => {
      const deeds = this.#lineDeeds(met.kind, text)
      const held = deeds.map((deed) => (deed._tag === "Hold" ? pause(deed.ms, this.#calm.signal) : undefined))
      before = Promise.all([before, ...held]).then(() => this.#line(text, deeds, response))
    }
    let rest = ""
    upstream.setEncoding("utf8")
    for await (const chunk of upstream) {
      const lines = (rest + String(chunk)).split("\n")
      rest = lines.pop() ?? ""
      for (const text of lines) line(`${text}\n`)
    }
    await before
    response.end(rest)
  }

  #lineDeeds(kind: string, text: string): readonly Deed[] {
    if (!this.#play.minds) return []
    const { type, object } = JSON.parse(text) as {
      readonly type: string
      readonly object: { readonly metadata?: { readonly name?: string } }
    }
    if (!["ADDED", "MODIFIED", "DELETED"].includes(type)) return []
    return this.#play.deeds({ verb: "event", kind, name: object.metadata?.name ?? "" })
  }

  #line(text: string, deeds: readonly Deed[], response: http.ServerResponse): void {
    if (response.writableEnded || response.destroyed) return
    for (const deed of deeds) {
      switch (deed._tag) {
        case "Lose":
          return
        case "Repeat":
          response.write(text)
          break
        case "Fail":
          response.end(`${JSON.stringify({ type: "ERROR", object: statusOf(deed) })}\n`)
          return
        case "Cut":
          return this.cut()
        case "Reset":
          this.#reset(response)
          return
        case "Kill":
          if (deed.moment === "after") response.write(text)
          return this.#way.kill()
        case "Hold":
        case "Older":
          break
      }
    }
    response.write(text)
  }
}

const whole = async (body: http.IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const answered = async (upstream: http.IncomingMessage): Promise<Answer> => ({
  code: upstream.statusCode ?? 0,
  message: upstream.statusMessage ?? "",
  headers: passedOn(upstream.rawHeaders, []),
  body: await whole(upstream)
})

/** Is there when the answer has left. */
const told = (met: Passed, response: http.ServerResponse, answer: Answer): Promise<void> => {
  met.code = answer.code
  response.writeHead(answer.code, answer.message, [...answer.headers])
  return new Promise((resolve) => {
    response.once("close", resolve)
    response.end(answer.body, resolve)
  })
}

/** Headers that are about one connection, and not about what is said. */
const OF_THE_CONNECTION = ["connection", "keep-alive", "transfer-encoding"]

/** Name, value, name, value ... as they came, without those of the connection. */
const passedOn = (raw: readonly string[], without: readonly string[]): string[] => {
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ""
    if (![...OF_THE_CONNECTION, ...without].includes(name.toLowerCase())) kept.push(name, raw[i + 1] ?? "")
  }
  return kept
}

type Fail = Extract<Deed, { readonly _tag: "Fail" }>

const statusOf = ({ code, reason, retryAfter }: Fail): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: `${reason}, says the relay`,
  reason,
  code,
  ...(retryAfter !== undefined && { details: { retryAfterSeconds: retryAfter } })
})

const refusal = (fail: Fail): Answer => ({
  code: fail.code,
  message: http.STATUS_CODES[fail.code] ?? "",
  headers: [
    "Content-Type",
    "application/json",
    ...(fail.retryAfter === undefined ? [] : ["Retry-After", String(fail.retryAfter)])
  ],
  body: Buffer.from(JSON.stringify(statusOf(fail)))
})

/** So many milliseconds, or until the signal. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true }
    )
  })
