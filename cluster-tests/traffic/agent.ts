/**
 * Runs in a node's network namespace and does there what it is told over its channel: answers for pods, each at its own address, and asks.
 * It ends when the channel does.
 */
import { execFileSync } from "node:child_process"
import { Resolver } from "node:dns/promises"
import { createServer, get, type Server } from "node:http"
import { type Done, type Lookup, now, type Numbered, type Order, type Page, PORT } from "./messages.ts"
import type { RecordType, Reply } from "./messages.ts"

const PATIENCE_MS = 3000
/** Between two requests of the caller that asks all along. */
const PAUSE_MS = 40
/** How many requests of one order are under way at once. */
const ABREAST = 4

const servers = new Map<string, Server>()

const serve = async (address: string, answer: string): Promise<void> => {
  execFileSync("ip", ["addr", "replace", `${address}/32`, "dev", "lo"])
  const server = createServer((_, response) => response.end(answer))
  servers.set(address, server)
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(PORT, address, resolve)
  })
}

const leave = (address: string): void => {
  const server = servers.get(address)
  if (server === undefined) return
  servers.delete(address)
  server.close()
  server.closeAllConnections()
  execFileSync("ip", ["addr", "del", `${address}/32`, "dev", "lo"])
}

/** One request over a connection of its own, so that each is balanced anew. */
const page = (url: string): Promise<Page> =>
  new Promise((resolve, reject) => {
    const request = get(url, { agent: false, signal: AbortSignal.timeout(PATIENCE_MS) }, (response) => {
      let body = ""
      response.setEncoding("utf8")
      response.on("data", (text: string) => (body += text))
      response.once("end", () => resolve({ code: response.statusCode ?? 0, body }))
      response.once("error", reject)
    })
    request.once("error", reject)
  })

const asked = async (url: string): Promise<Reply> => {
  const from = now()
  try {
    const { body } = await page(url)
    return { from, to: now(), answer: body }
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException
    return { from, to: now(), failure: code ?? name }
  }
}

const ask = async (url: string, times: number): Promise<readonly Reply[]> => {
  const replies: Reply[] = []
  let left = times
  const caller = async (): Promise<void> => {
    while (left-- > 0) replies.push(await asked(url))
  }
  await Promise.all(Array.from({ length: ABREAST }, caller))
  return replies
}

/** One question to a DNS server, by a resolver of its own, so that nothing is remembered. */
const resolved = async (server: string, type: RecordType, name: string): Promise<Lookup> => {
  const resolver = new Resolver({ timeout: PATIENCE_MS, tries: 1 })
  resolver.setServers([server])
  try {
    const found = await recordsOf(resolver, type, name)
    return { records: found.toSorted(), at: now() }
  } catch (error) {
    const { code, name: kind } = error as NodeJS.ErrnoException
    return { records: [], failure: code ?? kind, at: now() }
  }
}

const recordsOf = async (resolver: Resolver, type: RecordType, name: string): Promise<readonly string[]> =>
  type === "SRV"
    ? (await resolver.resolveSrv(name)).map((each) => `${each.port} ${each.name}`)
    : resolver.resolve(name, type)

let calling: AbortController | undefined
let heard: Reply[] = []

const begin = (url: string): void => {
  calling?.abort()
  calling = new AbortController()
  void call(url, calling.signal)
}

const call = async (url: string, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    heard.push(await asked(url))
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

const tell = (): readonly Reply[] => {
  const told = heard
  heard = []
  return told
}

const carry = (order: Order): unknown => {
  switch (order._tag) {
    case "Serve":
      return serve(order.address, order.answer)
    case "Leave":
      return leave(order.address)
    case "Ask":
      return ask(order.url, order.times)
    case "Get":
      return page(order.url)
    case "Resolve":
      return resolved(order.server, order.type, order.name)
    case "Begin":
      return begin(order.url)
    case "Tell":
      return tell()
  }
}

const obey = async ({ id, order }: Numbered): Promise<Done> => {
  try {
    return { id, given: await carry(order) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}

process.on("message", (order: Numbered) => void obey(order).then((done) => process.send?.(done)))
process.once("disconnect", () => process.exit())
