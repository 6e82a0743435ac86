/** Refusals of our own, as the API server writes them. */
import type { ServerResponse } from "node:http"
import { status } from "../core/reply.ts"

/** A status of failure. `retryAfter`: seconds. */
export interface Refusal {
  readonly code: number
  /** one of Kubernetes' reasons, where it has one */
  readonly reason: string
  readonly message: string
  readonly retryAfter?: number
}

/** Answers with a Status. Nothing may have been written of another answer. */
export const refuse = (response: ServerResponse, { code, reason, message, retryAfter }: Refusal): void => {
  const body = JSON.stringify(status(code, reason, message))
  response.writeHead(code, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) })
  })
  response.end(body)
}
