/**
 * How long an answer may take to begin.
 */
import type * as http from "node:http"

export interface Waiting {
  readonly stop: () => void
  /** whether the time is over */
  readonly over: () => boolean
  /** whether the request may have arrived: there was a connection */
  readonly arrived: () => boolean
}

/** Ends a request whose answer doesn't begin in time: counted from the last that was sent of its body. One that may take long only has to get a connection. */
export const patient = (
  outgoing: http.ClientRequest,
  request: http.IncomingMessage,
  milliseconds: number
): Waiting => {
  let [over, arrived] = [false, false]
  const timer = setTimeout(() => {
    over = true
    outgoing.destroy(new Error(`no answer within ${milliseconds / 1000} s`))
  }, milliseconds)
  const stop = (): void => clearTimeout(timer)
  const connected = (): void => {
    arrived = true
    if (mayTakeLong(request)) stop()
    else timer.refresh()
  }
  outgoing.once("socket", (socket) => {
    if (outgoing.reusedSocket || !socket.connecting) return connected()
    socket.once("encrypted" in socket ? "secureConnect" : "connect", connected)
  })
  outgoing.once("close", stop)
  if (!bodiless(request)) request.on("data", () => void timer.refresh())
  return { stop, over: () => over, arrived: () => arrived }
}

/**
 * What the API server itself gives no time limit (its `--request-timeout` holds for the rest): watches, logs, proxied requests, connections to
 * containers. Any value of a flag is true there but `false` and `0`.
 */
const mayTakeLong = ({ url = "", headers }: http.IncomingMessage): boolean => {
  const [path = "", query = ""] = url.split("?")
  const flags = new URLSearchParams(query)
  const set = (name: string): boolean => {
    const value = flags.get(name)
    return value !== null && value !== "0" && value.toLowerCase() !== "false"
  }
  return (
    headers.upgrade !== undefined ||
    set("watch") ||
    set("follow") ||
    /\/(?:proxy|log|exec|attach|portforward)(?:\/|$)|\/watch\//.test(path)
  )
}

/** Whether a request is its head alone. */
export const bodiless = ({ headers }: http.IncomingMessage): boolean =>
  headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0
