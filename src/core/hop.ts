/**
 * What of a request's or an answer's headers concerns one connection only, and what goes on to the next.
 *
 * Headers are taken and given as they came: name, value, name, value; order, case and repetition are the sender's.
 */

export type Raw = readonly string[]

/**
 * The headers that go on: all but those about one connection (RFC 9110, 7.6.1): Connection and what it names, Keep-Alive, Proxy-*, TE, Transfer-Encoding,
 * Upgrade. Content-Length goes on whoever names it, since it says where a body ends.
 */
export const onward = (raw: Raw): string[] => {
  const named = new Set(tokens(raw, "connection"))
  named.delete("content-length")
  return kept(raw, (name) => !named.has(name) && !aboutTheConnection(name))
}

/** The same headers with this host; where there was none, it comes first. */
export const hosted = (raw: Raw, host: string): string[] => {
  if (!raw.some((name, i) => i % 2 === 0 && name.toLowerCase() === "host")) return ["Host", host, ...raw]
  return raw.map((text, i) => (i % 2 === 1 && raw[i - 1]?.toLowerCase() === "host" ? host : text))
}

/** The headers of which none has this name, which is in lower case. */
export const without = (raw: Raw, unwanted: string): string[] => kept(raw, (name) => name !== unwanted)

/** How a body's end is told: by chunks, by a length or the end of the connection, or by something that can't be handed on. */
export const framing = (raw: Raw): "Chunked" | "Plain" | "Unknown" => {
  const codings = tokens(raw, "transfer-encoding")
  if (codings.length === 0) return "Plain"
  return codings.length === 1 && codings[0] === "chunked" ? "Chunked" : "Unknown"
}

/** The first header by which a client would act as somebody else, as the client wrote it. */
export const impersonating = (raw: Raw): string | undefined =>
  raw.find((name, i) => i % 2 === 0 && name.toLowerCase().startsWith("impersonate-"))

/**
 * Whether a client says who it is. Besides Authorization there is the token that a browser puts among the protocols of a web socket (Kubernetes reads
 * it there, after client certificates).
 */
export const identified = (raw: Raw): boolean =>
  raw.some((name, i) => i % 2 === 0 && name.toLowerCase() === "authorization") ||
  tokens(raw, "sec-websocket-protocol").some((protocol) =>
    protocol.startsWith("base64url.bearer.authorization.k8s.io.")
  )

/** The same headers, two by two. */
export const pairs = (raw: Raw): [string, string][] =>
  raw.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, raw[i + 1] ?? ""]] : []))

const aboutTheConnection = (name: string): boolean => name.startsWith("proxy-") || connectionHeaders.has(name)

const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "te",
  "transfer-encoding",
  "upgrade"
])

const kept = (raw: Raw, keeps: (name: string) => boolean): string[] => {
  const headers: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = "", value = ""] = [raw[i], raw[i + 1]]
    if (keeps(name.toLowerCase())) headers.push(name, value)
  }
  return headers
}

/** The members of all lists under a name, in lower case. */
const tokens = (raw: Raw, wanted: string): readonly string[] =>
  raw.flatMap((value, i) =>
    i % 2 === 1 && raw[i - 1]?.toLowerCase() === wanted
      ? value
          .toLowerCase()
          .split(",")
          .map((token) => token.trim())
          .filter((token) => token !== "")
      : []
  )
