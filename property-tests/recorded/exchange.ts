/**
 * One request to a real API server with its answer, and how a run of them becomes text that is the same each time.
 *
 * What differs from run to run is replaced by placeholders, consistently within a story, in requests and answers
 * alike: uids `<uid-1>` by appearance, resource versions `<rv-1>` in the order of the numbers themselves (so their
 * order can be relied on), cluster IPs, node ports, generated names and continue tokens by appearance; times become
 * `<time>` and ages in tables `<age>`. The server orders managedFields by time and some causes at random: here they
 * are sorted (Apply first, then by manager; causes by field), while messages keep the order that they came in.
 */
import { Agent, request as httpsRequest } from "node:https"

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly contentType?: string
  readonly accept?: string
  /** JSON to send */
  readonly body?: unknown
  /** sent as it is, in place of a body */
  readonly text?: string
}

export interface Answer {
  readonly code: number
  /** JSON; of a watch, the array of its lines; text where it is no JSON */
  readonly body: unknown
  /** only those that a client acts on: warning, retry-after, and the type of what isn't JSON */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Exchange {
  readonly shows?: string
  readonly request: Call
  readonly response: Answer
}

export interface Credentials {
  readonly server: string
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

export type Send = (call: Call) => Promise<Answer>

/** Sends one call and waits for the end of the answer; a watch needs `timeoutSeconds` in its query. */
export const sender = (credentials: Credentials): Send => {
  const agent = new Agent({ keepAlive: true, maxSockets: 4, ...credentials })
  return (call) =>
    new Promise((resolve, reject) => {
      const url = new URL(call.path, credentials.server)
      for (const [key, value] of Object.entries(call.query ?? {})) url.searchParams.set(key, value)
      const payload = call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
      const headers: Record<string, string> = {
        "user-agent": "recorder",
        accept: call.accept ?? "application/json"
      }
      if (payload !== undefined) {
        headers["content-type"] = call.contentType ?? "application/json"
        // of a DELETE with a body, Node tells the length only when asked to
        headers["content-length"] = String(Buffer.byteLength(payload))
      }
      const outgoing = httpsRequest(url, { agent, method: call.method, headers }, (incoming) => {
        const parts: Buffer[] = []
        incoming.on("data", (part: Buffer) => parts.push(part))
        incoming.on("error", reject)
        incoming.on("end", () => {
          const text = Buffer.concat(parts).toString("utf8")
          const type = incoming.headers["content-type"] ?? ""
          const watched = call.query?.["watch"] !== undefined && incoming.statusCode === 200
          const kept: Record<string, string> = {}
          for (const name of ["warning", "retry-after"] as const) {
            const value = incoming.headers[name]
            if (value !== undefined) kept[name] = String(value)
          }
          if (!type.startsWith("application/json")) kept["content-type"] = type
          resolve({
            code: incoming.statusCode ?? 0,
            body: watched
              ? text
                  .split("\n")
                  .filter((line) => line !== "")
                  .map(parsed)
              : type.startsWith("application/json")
                ? parsed(text)
                : text,
            ...(Object.keys(kept).length > 0 ? { headers: kept } : {})
          })
        })
      })
      outgoing.on("error", reject)
      outgoing.end(payload)
    })
}

const parsed = (text: string): unknown => JSON.parse(text)

/** The exchanges of one story with everything volatile replaced. */
export const settled = (exchanges: readonly Exchange[]): readonly Exchange[] => {
  const found = new Found(exchanges)
  return exchanges.map((exchange) => ({
    ...exchange,
    request: found.replaced(exchange.request) as Call,
    response: found.replaced(exchange.response) as Answer
  }))
}

const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
const versionInText = /(resource ?version[^0-9]{1,30}|current: )(\d+)(?: \((\d+)\))?/gi
const timeInText = /20(?!20)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

/** All volatile values of a story, each with its placeholder. */
class Found {
  readonly #placeholders = new Map<string, string>()
  readonly #versions = new Map<string, string>()
  readonly #ports = new Map<number, string>()

  constructor(exchanges: readonly Exchange[]) {
    const versions = new Set<string>()
    const sent = new Set<string>()
    const ports = new Set<number>()
    for (const { request } of exchanges)
      visit(request.body, (_, value) => {
        if (typeof value === "string") sent.add(value)
        if (typeof value === "number") ports.add(value)
      })
    for (const { response } of exchanges)
      visit(response.body, (key, value) => {
        if (typeof value === "string") this.#collect(key, value, sent, versions)
        else if (typeof value === "number" && /[nN]odePort$/.test(key) && value > 0)
          if (!ports.has(value) && !this.#ports.has(value))
            this.#ports.set(value, `<nodePort-${this.#ports.size + 1}>`)
      })
    const ordered = [...versions].sort((a, b) => Number(a) - Number(b))
    for (const version of ordered) this.#versions.set(version, `<rv-${this.#versions.size + 1}>`)
  }

  #collect(key: string, value: string, sent: ReadonlySet<string>, versions: Set<string>): void {
    if (key === "resourceVersion" && /^\d+$/.test(value) && value !== "0") versions.add(value)
    const port = Number(/^\d+:(\d{5})\//.exec(value)?.[1])
    if (port > 0 && !this.#ports.has(port)) this.#ports.set(port, `<nodePort-${this.#ports.size + 1}>`)
    if (key === "continue" && value !== "") this.#name("continue", value)
    if (
      key === "generatedName" ||
      (key === "name" && /-[a-z0-9]{5}$/.test(value) && value.startsWith("made-"))
    )
      this.#name("name", value)
    for (const uid of value.match(uidPattern) ?? []) this.#name("uid", uid)
    if (/^10\.96\.\d+\.\d+$/.test(value) && !sent.has(value)) this.#name("ip", value)
  }

  #name(kind: string, value: string): void {
    if (this.#placeholders.has(value)) return
    const count = [...this.#placeholders.values()].filter((name) => name.startsWith(`<${kind}-`)).length
    this.#placeholders.set(value, `<${kind}-${count + 1}>`)
  }

  replaced(value: unknown, key = "", inCells = false): unknown {
    if (typeof value === "string") return this.#text(value, key, inCells)
    if (typeof value === "number") return /[nN]odePort$/.test(key) ? (this.#ports.get(value) ?? value) : value
    if (Array.isArray(value))
      return inOrder(key, value).map((item) => this.replaced(item, key, inCells || key === "cells"))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.#known(name), this.replaced(item, name, inCells)])
    )
  }

  #text(value: string, key: string, inCells: boolean): string {
    if (key === "resourceVersion") return this.#versions.get(value) ?? value
    if (inCells && /^\d+[smh](\d+s)?$/.test(value)) return "<age>"
    const one = (text: string): string =>
      // small and huge numbers are the story's own
      this.#versions.get(text) ?? (Number(text) < 10 || Number(text) > 9_000_000 ? text : "<rv>")
    const known = this.#known(value)
      .replaceAll(timeInText, "<time>")
      .replaceAll(versionInText, (_, before: string, first: string, second?: string) => {
        return before + one(first) + (second === undefined ? "" : ` (${one(second)})`)
      })
    if (!inCells) return known
    return known.replaceAll(/:(\d{5})\//g, (all, port: string) => {
      const name = this.#ports.get(Number(port))
      return name === undefined ? all : `:${name}/`
    })
  }

  #known(value: string): string {
    let out = value
    for (const [volatile, name] of this.#placeholders)
      if (out.includes(volatile)) out = out.replaceAll(volatile, name)
    return out
  }
}

interface Sortable {
  readonly operation?: string
  readonly manager?: string
  readonly subresource?: string
  readonly field?: string
}

const inOrder = (key: string, list: readonly unknown[]): readonly unknown[] => {
  if (key !== "managedFields" && key !== "causes") return list
  const rank = (item: Sortable): string =>
    [item.field, item.operation, item.manager, item.subresource].map((part) => part ?? "").join("/")
  const ranked = (list as readonly Sortable[]).map((item) => [rank(item), item] as const)
  return ranked.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item)
}

const visit = (value: unknown, see: (key: string, value: unknown) => void, key = ""): void => {
  see(key, value)
  if (typeof value !== "object" || value === null) return
  for (const [name, item] of Object.entries(value)) visit(item, see, Array.isArray(value) ? key : name)
}
