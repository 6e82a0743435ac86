/** HTTP as the relay passes it on: requests and answers as they came, and answers of its own making. */
import * as http from "node:http"
import * as https from "node:https"
import type { Deed } from "./relay-script.ts"

export interface Answer {
  readonly code: number
  readonly message: string
  readonly headers: readonly string[]
  readonly body: Buffer
}

export const whole = async (body: http.IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

export const answered = async (upstream: http.IncomingMessage): Promise<Answer> => ({
  code: upstream.statusCode ?? 0,
  message: upstream.statusMessage ?? "",
  headers: passedOn(upstream.rawHeaders, []),
  body: await whole(upstream)
})

/** Sends a request on to another server; gives the head of its answer. */
export const forwarded = (
  request: http.IncomingMessage,
  body: Buffer,
  { to, agent }: { readonly to: string; readonly agent: http.Agent }
): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const url = new URL(request.url ?? "", to)
    const by = url.protocol === "https:" ? https : http
    const headers = passedOn(request.rawHeaders, ["content-length"])
    const sent = by.request(url, { method: request.method, agent })
    for (let i = 0; i < headers.length; i += 2) sent.setHeader(headers[i] ?? "", headers[i + 1] ?? "")
    if (body.length > 0) sent.setHeader("content-length", body.length)
    sent.once("response", resolve)
    sent.on("error", reject)
    sent.end(body)
  })

/** Is there when the answer has left. */
export const told = (response: http.ServerResponse, answer: Answer): Promise<void> => {
  response.writeHead(answer.code, answer.message, [...answer.headers])
  return new Promise((resolve) => {
    response.once("close", resolve)
    response.end(answer.body, resolve)
  })
}

/** Headers that are about one connection, and not about what is said. */
const OF_THE_CONNECTION = ["connection", "keep-alive", "transfer-encoding"]

/** Name, value, name, value ... as they came, without those of the connection. */
export const passedOn = (raw: readonly string[], without: readonly string[]): string[] => {
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ""
    if (![...OF_THE_CONNECTION, ...without].includes(name.toLowerCase())) kept.push(name, raw[i + 1] ?? "")
  }
  return kept
}

type Fail = Extract<Deed, { readonly _tag: "Fail" }>

export const statusOf = ({ code, reason, retryAfter }: Fail): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: `${reason}, says the relay`,
  reason,
  code,
  ...(retryAfter !== undefined && { details: { retryAfterSeconds: retryAfter } })
})

export const refusal = (fail: Fail): Answer => ({
  code: fail.code,
  message: http.STATUS_CODES[fail.code] ?? "",
  headers: [
    "Content-Type",
    "application/json",
    ...(fail.retryAfter === undefined ? [] : ["Retry-After", String(fail.retryAfter)])
  ],
  body: Buffer.from(JSON.stringify(statusOf(fail)))
})
