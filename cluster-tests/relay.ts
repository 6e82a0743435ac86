/**
 * A relay on loopback between a client and an API server, HTTP/1.1, with TLS or without, which plays a script of faults (relay-script.ts).
 *
 * *Guarantees*: without a script every answer is the server's own, byte by byte but for the headers that are about one connection, and a
 * watch's lines come as they come. Lines of one watch never overtake each other. A client that goes away takes its watches along upstream; its
 * writes are carried out. What was done of a script is counted.
 * *Assumes*: that requests are small.
 * *Does not*: upgrade connections, change what it doesn't do away with.
 */
import * as http from "node:http"
import * as https from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { type Answer, answered, forwarded, passedOn, refusal, statusOf, told, whole } from "./relay-http.ts"
import { type Asked, asked, type Due, Play, type Script } from "./relay-script.ts"

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
  /** of a list or a watch; empty: all of the kind */
  readonly labelSelector: string
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
  /** how often each rule of the last script was carried out, over calm too */
  readonly done: () => readonly number[]
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
    done: () => inner.done,
    play: (script) => inner.play(script),
    calm: () => inner.calm(),
    lead: (to) => (inner.to = to),
    cut: () => inner.cut(),
    stop: async () => {
      inner.calm()
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
  /** what was played last, over calm too */
  #last = this.#play
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
    this.calm()
    this.#last = this.#play = new Play(script)
  }

  calm(): void {
    this.#play = new Play([])
    this.#calm.abort()
    this.#calm = new AbortController()
  }

  get done(): readonly number[] {
    return this.#last.done
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
    const { method = "", url = "", headers } = request
    const what = asked(method, url, headers["content-type"] ?? "")
    const labelSelector = new URL(url, "http://server").searchParams.get("labelSelector") ?? ""
    const met: Passed = { ...what, labelSelector, at: performance.now(), code: undefined }
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
    const due = this.#play.due(met)
    for (const each of due) await this.#held(each)
    const instead = this.#instead(met, request, due)
    if (instead === "nothing") return this.#silent(met, response)
    if (instead !== undefined) return this.#tell(met, response, instead)
    const upstream = await forwarded(request, body, { to: this.to, agent: this.#agent })
    if (met.verb === "watch" && upstream.statusCode === 200) {
      if (!this.#between(due)) return this.#watch(met, upstream, response, due)
      upstream.destroy()
      return this.#silent(met, response)
    }
    const answer = await answered(upstream)
    const url = request.url ?? ""
    if (met.verb === "list" && answer.code === 200 && !this.#lists.has(url)) this.#lists.set(url, answer)
    if (this.#between(due)) return this.#silent(met, response)
    await this.#tell(met, response, answer)
    this.#after(due)
  }

  /** Counts at once, and is there when the time is over. */
  #held({ deed, done }: Due): Promise<void> | undefined {
    if (deed._tag !== "Hold") return undefined
    done()
    return pause(deed.ms, this.#calm.signal)
  }

  /** Whether the client gets nothing of what the server said. */
  #between(due: readonly Due[]): boolean {
    for (const { deed, done } of due) {
      if (deed._tag !== "Kill" && deed._tag !== "Reset") continue
      if (deed.moment !== "between") continue
      done()
      if (deed._tag === "Kill") this.#way.kill()
      return true
    }
    return false
  }

  #after(due: readonly Due[]): void {
    for (const { deed, done } of due) {
      if (deed._tag !== "Kill" || deed.moment !== "after") continue
      done()
      this.#way.kill()
    }
  }

  /** What the client gets instead of what the server would say, if anything. */
  #instead(met: Passed, request: http.IncomingMessage, due: readonly Due[]): Answer | "nothing" | undefined {
    for (const { deed, done } of due) {
      switch (deed._tag) {
        case "Kill":
          if (deed.moment !== "before") break
          done()
          this.#way.kill()
          return "nothing"
        case "Reset":
          if (deed.moment !== "before") break
          done()
          return "nothing"
        case "Cut":
          done()
          this.cut()
          return "nothing"
        case "Fail":
          done()
          return refusal(deed)
        case "Older": {
          const older = met.verb === "list" ? this.#lists.get(request.url ?? "") : undefined
          if (older === undefined) break
          done()
          return older
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

  #tell(met: Passed, response: http.ServerResponse, answer: Answer): Promise<void> {
    met.code = answer.code
    return told(response, answer)
  }

  /** Hands the lines of a watch on, each as soon as it may and those before it have gone. */
  async #watch(
    met: Passed,
    upstream: http.IncomingMessage,
    response: http.ServerResponse,
    due: readonly Due[]
  ): Promise<void> {
    met.code = 200
    response.once("close", () => upstream.destroy())
    response.writeHead(200, upstream.statusMessage, passedOn(upstream.rawHeaders, []))
    response.flushHeaders()
    this.#after(due)
    let before: Promise<unknown> = Promise.resolve()
    const line = (text: string): void => {
      const ofLine = this.#dueOfLine(met.kind, text)
      const held = ofLine.map((each) => this.#held(each))
      before = Promise.all([before, ...held]).then(() => this.#line(text, ofLine, response))
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

  #dueOfLine(kind: string, text: string): readonly Due[] {
    if (!this.#play.minds) return []
    const { type, object } = JSON.parse(text) as {
      readonly type: string
      readonly object: { readonly metadata?: { readonly name?: string } }
    }
    if (!["ADDED", "MODIFIED", "DELETED"].includes(type)) return []
    return this.#play.due({ verb: "event", kind, name: object.metadata?.name ?? "" })
  }

  #line(text: string, due: readonly Due[], response: http.ServerResponse): void {
    if (response.writableEnded || response.destroyed) return
    for (const { deed, done } of due) {
      // those are no deeds of lines, or were done before
      if (deed._tag === "Hold" || deed._tag === "Older") continue
      done()
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
      }
    }
    response.write(text)
  }
}

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
