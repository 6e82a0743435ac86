/** The relay between a client and a small server: it changes nothing without a script, and with one exactly what the script says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createSecureServer, type ServerOptions } from "node:https"
import { connect, type AddressInfo } from "node:net"
import { connect as connectSecurely } from "node:tls"
import { describe, expect, onTestFinished, test } from "vitest"
import { authority } from "../property-tests/certificates.ts"
import { at, Client, type WatchEvent } from "./client.ts"
import { until } from "./deadline.ts"
import { relay, type Relay, type Way } from "./relay.ts"
import { always, EXPIRED, once, type Which } from "./relay-script.ts"

const CERTIFICATES = authority("relay-test")
const PLAIN = undefined
const TLS = { ...CERTIFICATES.certify("server"), ca: CERTIFICATES.cert }
const DEPLOYMENTS = "/apis/apps/v1/namespaces/edge/deployments"

describe("relay without a script", () => {
  test.each(["plain", "with TLS"])("passes bytes on as they are, %s", async (how) => {
    const tls = how === "with TLS" ? TLS : PLAIN
    const answer = (_: unknown, response: ServerResponse): void => {
      const headers = ["X-One", "1", "x-two", "2", "Date", "then", "Content-Length", "7", "x-two", "3"]
      response.writeHead(418, "Short And Stout", headers)
      response.write(Buffer.from([0, 255, 10]))
      response.end("rest")
    }
    const { server, heard } = await served(answer, tls)
    const between = await stood(server, { tls })
    const body = "{ 1 }"
    const head = ["Host: server", "X-Case: Kept", "content-type: text/odd", `Content-Length: ${body.length}`]
    const sent = `PATCH /api/v1/x?b=1&a=%2F HTTP/1.1\r\n${head.join("\r\n")}\r\nConnection: close\r\n\r\n${body}`
    const direct = await spoken(server, sent)
    expect((await spoken(between.server, sent)).toString("latin1")).toBe(direct.toString("latin1"))
    expect(direct.toString("latin1")).toContain("418 Short And Stout")
    expect(heard.length).toBe(2)
    expect(heard[1]).toEqual(heard[0])
  })

  test("passes each line of a watch on as soon as it comes", async () => {
    const { server, open } = await watched()
    const between = await stood(server)
    const events = listened(between)
    await until({ what: "the watch", seconds: 5 }, () => open.size === 1)
    for (const n of [1, 2, 3]) {
      for (const response of open) response.write(lineOf("MODIFIED", n))
      await until({ what: `event ${n}`, seconds: 5 }, () => events.length === n)
    }
  })

  test("ends a watch upstream with its client", async () => {
    const { server, open } = await watched()
    const between = await stood(server)
    const events = listened(between)
    await until({ what: "the watch", seconds: 5 }, () => open.size === 1)
    for (const response of open) response.write(lineOf("ADDED", 1))
    await until({ what: "its event", seconds: 5 }, () => events.length === 1)
    between.cut()
    await until({ what: "its end upstream", seconds: 5 }, () => open.size === 0)
  })
})

describe("relay with a script", () => {
  test.each([
    ["before", 1, 0],
    ["between", 2, 0],
    ["after", 2, 200]
  ] as const)("kills %s the second write", async (moment, carriedOut, code) => {
    const { server, heard } = await served((_, response) => response.end("{}"), TLS)
    let killed = 0
    const between = await stood(server, { kill: () => killed++ })
    between.play([once({ verb: "write" }, 2, { _tag: "Kill", moment })])
    const client = clientOf(between)
    await client.ask("GET", `${DEPLOYMENTS}/web-a`)
    await client.ask("DELETE", `${DEPLOYMENTS}/web-a`)
    expect(killed).toBe(0)
    await client.ask("DELETE", `${DEPLOYMENTS}/web-b`).catch(() => undefined)
    await until({ what: "the kill", seconds: 5 }, () => killed === 1)
    expect(heard.filter(({ method }) => method === "DELETE").length).toBe(carriedOut)
    expect(between.passed.at(-1)?.code).toBe(code)
  })

  test.each([
    ["before", 0, 0],
    ["between", 0, 0],
    ["after", 200, 1]
  ] as const)("kills %s the start of a watch", async (moment, code, left) => {
    const { server, open } = await watched()
    let killed = 0
    const between = await stood(server, { kill: () => killed++ })
    between.play([once({ verb: "request" }, 1, { _tag: "Kill", moment })])
    listened(between)
    await until({ what: "the kill", seconds: 5 }, () => killed === 1)
    expect(between.passed.map((each) => each.code)).toEqual([code])
    expect(between.done()).toEqual([1])
    await until({ what: `${left} watches upstream`, seconds: 5 }, () => open.size === left)
  })

  test("resets the start of a watch, once it has begun upstream", async () => {
    const { server, open } = await watched()
    const between = await stood(server)
    between.play([once({ verb: "watch" }, 1, { _tag: "Reset", moment: "between" })])
    const watch = clientOf(between).watch(`${DEPLOYMENTS}?watch=1`, new AbortController().signal)
    await expect(watch.next()).rejects.toThrow(/ECONNRESET|socket hang up/)
    await until({ what: "its end upstream", seconds: 5 }, () => open.size === 0)
  })

  test("counts what was done of each rule, over calm too", async () => {
    const { server } = await served((_, response) => response.end("{}"), TLS)
    const between = await stood(server)
    between.play([
      always({ verb: "get" }, { _tag: "Fail", code: 500, reason: "InternalError" }),
      once({ verb: "get" }, 1, { _tag: "Reset", moment: "before" }),
      once({ verb: "get" }, 3, { _tag: "Hold", ms: 1 }),
      always({ verb: "list" }, { _tag: "Older" })
    ])
    const client = clientOf(between)
    // there is no older one
    await client.ask("GET", DEPLOYMENTS)
    for (let i = 0; i < 2; i++) await client.ask("GET", `${DEPLOYMENTS}/web-a`)
    expect(between.done()).toEqual([2, 0, 0, 0])
    await client.ask("GET", `${DEPLOYMENTS}/web-a`)
    between.calm()
    expect(between.done()).toEqual([3, 0, 1, 0])
    await client.ask("GET", `${DEPLOYMENTS}/web-a`)
    expect(between.done()).toEqual([3, 0, 1, 0])
  })

  test("fails as often as it is told, with a Status and Retry-After", async () => {
    const { server, heard } = await served((_, response) => response.end("{}"), PLAIN)
    const between = await stood(server, { tls: PLAIN })
    const deed = { _tag: "Fail", code: 429, reason: "TooManyRequests", retryAfter: 7 } as const
    between.play([{ on: { verb: "get", name: "web-a" }, nth: 2, times: 2, deed }])
    const codes: unknown[] = []
    for (let i = 0; i < 4; i++) {
      const response = await fetch(`${between.server}${DEPLOYMENTS}/web-a`)
      await fetch(`${between.server}${DEPLOYMENTS}/web-b`)
      const { reason } = (await response.json()) as { readonly reason?: string }
      codes.push([response.status, response.headers.get("retry-after"), reason])
    }
    const refused = [429, "7", "TooManyRequests"]
    expect(codes).toEqual([[200, null, undefined], refused, refused, [200, null, undefined]])
    expect(heard.length).toBe(6)
  })

  test("resets instead of an answer, before and after it was carried out", async () => {
    const { server, heard } = await served((_, response) => response.end("{}"), TLS)
    const between = await stood(server)
    between.play([
      once({ verb: "delete" }, 1, { _tag: "Reset", moment: "before" }),
      once({ verb: "delete" }, 2, { _tag: "Reset", moment: "between" })
    ])
    const client = clientOf(between)
    const remove = (): Promise<unknown> => client.ask("DELETE", `${DEPLOYMENTS}/web-a`)
    await expect(remove()).rejects.toThrow(/ECONNRESET|socket hang up/)
    expect(heard.length).toBe(0)
    await expect(remove()).rejects.toThrow(/ECONNRESET|socket hang up/)
    expect(heard.length).toBe(1)
  })

  test("holds requests until the script is over", async () => {
    const { server, heard } = await served((_, response) => response.end("{}"), TLS)
    const between = await stood(server)
    between.play([always({ verb: "get", name: "web-a" }, { _tag: "Hold", ms: 600_000 })])
    const client = clientOf(between)
    const held = client.ask("GET", `${DEPLOYMENTS}/web-a`)
    await client.ask("GET", `${DEPLOYMENTS}/web-b`)
    expect(heard.map(({ path }) => path)).toEqual([`${DEPLOYMENTS}/web-b`])
    between.calm()
    expect((await held).code).toBe(200)
  })

  test.each([
    ["repeats a line", { _tag: "Repeat" }, [1, 2, 2, 3]],
    ["loses a line", { _tag: "Lose" }, [1, 3]],
    ["holds a line, and those behind it", { _tag: "Hold", ms: 300 }, [1, 2, 3]],
    ["says 410 inside the stream", EXPIRED, [1, 410]]
  ] as const)("%s", async (_, deed, expected) => {
    const { server, open } = await watched()
    const between = await stood(server)
    between.play([once({ verb: "event", kind: "deployments" }, 2, deed)])
    const began = performance.now()
    const events = listened(between)
    await until({ what: "the watch", seconds: 5 }, () => open.size === 1)
    // bookmarks aren't counted
    for (const response of open)
      response.write(lineOf("BOOKMARK", 0) + [1, 2, 3].map((n) => lineOf("MODIFIED", n)).join(""))
    const shown = (): readonly unknown[] =>
      events
        .filter(({ type }) => type !== "BOOKMARK")
        .map(({ object }) => at(object, "code") ?? at(object, "n"))
    await until({ what: "the events", seconds: 5 }, () => shown().length === expected.length)
    expect(shown()).toEqual(expected)
    if (deed._tag === "Hold") expect(performance.now() - began).toBeGreaterThan(290)
  })

  test.each([
    ["the start of a watch", { verb: "watch" }, `${DEPLOYMENTS}?watch=1`],
    ["a page of a list", { verb: "continue" }, `${DEPLOYMENTS}?limit=1&continue=x`]
  ] as const)("says 410 at %s", async (_name, on: Which, path) => {
    const { server } = await served((_, response) => response.end("{}"), TLS)
    const between = await stood(server)
    between.play([once(on, 1, EXPIRED)])
    const client = clientOf(between)
    expect((await client.ask("GET", `${DEPLOYMENTS}?limit=1`)).code).toBe(200)
    const { code, body } = await client.ask("GET", path)
    expect([code, at(body, "reason")]).toEqual([410, "Expired"])
    expect((await client.ask("GET", path)).code).toBe(200)
  })

  test("answers a list as it did the first time", async () => {
    let n = 0
    const { server } = await served((_, response) => json(response, { n: ++n }), TLS)
    const between = await stood(server)
    const client = clientOf(between)
    const list = async (path: string): Promise<unknown> => at((await client.ask("GET", path)).body, "n")
    expect([await list(DEPLOYMENTS), await list(DEPLOYMENTS)]).toEqual([1, 2])
    between.play([always({ verb: "list" }, { _tag: "Older" })])
    expect(await list(DEPLOYMENTS)).toBe(1)
    // there was none before: it is the server's
    expect(await list(`${DEPLOYMENTS}?limit=9`)).toBe(3)
    between.calm()
    expect(await list(DEPLOYMENTS)).toBe(4)
  })

  test("leads to another server", async () => {
    const one = await served((_, response) => json(response, "one"), TLS)
    const two = await served((_, response) => json(response, "two"), TLS)
    const between = await stood(one.server)
    const client = clientOf(between)
    expect((await client.ask("GET", DEPLOYMENTS)).body).toBe("one")
    between.lead(two.server)
    expect((await client.ask("GET", DEPLOYMENTS)).body).toBe("two")
  })

  test("cuts every connection, those with requests in flight too", async () => {
    const { server, open } = await watched()
    const between = await stood(server)
    between.play([once({ verb: "delete" }, 1, { _tag: "Cut" })])
    const watching = clientOf(between).watch(`${DEPLOYMENTS}?watch=1`, new AbortController().signal)
    const first = watching.next()
    await until({ what: "the watch", seconds: 5 }, () => open.size === 1)
    await expect(clientOf(between).ask("DELETE", DEPLOYMENTS)).rejects.toThrow(/ECONNRESET|socket hang up/)
    await expect(first).rejects.toThrow(/ECONNRESET|aborted|socket hang up/)
  })
})

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  readonly body: string
}

const served = async (
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
  tls: ServerOptions | undefined
): Promise<{ readonly server: string; readonly heard: readonly Sent[] }> => {
  const heard: Sent[] = []
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      const { method = "", url: path = "" } = request
      const rest = request.rawHeaders.filter((_, i, all) => !/^connection$/i.test(all[i - (i % 2)] ?? ""))
      const pairs = rest.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rest[i + 1]}`] : []))
      heard.push({ method, path, headers: pairs.map((pair) => pair.toLowerCase()).sort(), body })
      answer(request, response)
    })
  }
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { server: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`, heard }
}

const json = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
}

/** A server of watches that say what the test writes to them. */
const watched = async (): Promise<{
  readonly server: string
  readonly open: ReadonlySet<ServerResponse>
}> => {
  const open = new Set<ServerResponse>()
  const { server } = await served((_, response) => {
    open.add(response)
    response.once("close", () => open.delete(response))
    response.writeHead(200, { "content-type": "application/json" })
    response.flushHeaders()
  }, TLS)
  return { server, open }
}

const stood = async (to: string, way: Partial<Way> = {}): Promise<Relay> => {
  const between = await relay({ to, tls: TLS, kill: () => undefined, ...way })
  onTestFinished(() => between.stop())
  return between
}

/** The client of these tests speaks TLS alone. */
const clientOf = (between: Relay): Client => {
  const client = new Client({ server: between.server, ca: CERTIFICATES.cert, token: "none" })
  onTestFinished(() => client.close())
  return client
}

/** The events of a watch through the relay, as they come. */
const listened = (between: Relay): readonly WatchEvent[] => {
  const events: WatchEvent[] = []
  const listen = async (): Promise<void> => {
    const watch = clientOf(between).watch(`${DEPLOYMENTS}?watch=1`, new AbortController().signal)
    for await (const event of watch) events.push(event)
  }
  // it ends with the server
  void listen().catch(() => undefined)
  return events
}

const lineOf = (type: WatchEvent["type"], n: number): string =>
  `${JSON.stringify({ type, object: { n, metadata: { name: `web-${n}` } } })}\n`

/** What a server says to bytes on a connection of its own. */
const spoken = (server: string, sent: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { protocol, port } = new URL(server)
    const place = { host: "127.0.0.1", port: Number(port) }
    const socket =
      protocol === "https:" ? connectSecurely({ ...place, ca: CERTIFICATES.cert }) : connect(place)
    const chunks: Buffer[] = []
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    socket.once("end", () => resolve(Buffer.concat(chunks)))
    socket.once("error", reject)
    socket.write(sent)
  })
