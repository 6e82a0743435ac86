/**
 * Requests and answers of any shape, made of headers that go all the way and of headers that belong to one connection.
 */
import fc from "fast-check"

type Pair = readonly [string, string]

/** What was made to go all the way; the rest was made to stay behind. */
export const endToEnd = (headers: readonly Pair[]): readonly string[] =>
  headers.filter(([name]) => !/^(connection|keep-alive|proxy-.*|te|x-hop-.*)$/i.test(name)).flat()

export const cased = (name: string): fc.Arbitrary<string> =>
  fc
    .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    .map((upper) => Array.from(name, (c, i) => (upper[i] === true ? c.toUpperCase() : c)).join(""))

const value = fc
  .string({ unit: fc.constantFrom(...Array.from("aZ09 ,;=\"'\\\t{}é\u00ff%")), maxLength: 20 })
  .map((text) => text.trim())

const passing = [
  "accept",
  "accept-encoding",
  "authorization",
  "cache-control",
  "content-encoding",
  "content-type",
  "cookie",
  "if-match",
  "retry-after",
  "set-cookie",
  "user-agent",
  "warning",
  "x-remote-thing",
  "audit-id"
]

const staying: readonly Pair[] = [
  ["Connection", "X-Hop-One, keep-alive"],
  ["connection", "x-hop-two"],
  ["X-Hop-One", "1"],
  ["x-hop-two", "2"],
  ["Keep-Alive", "timeout=5"],
  ["Proxy-Authorization", "Basic eA=="],
  ["proxy-connection", "keep-alive"],
  ["TE", "trailers"]
]

export const someHeaders: fc.Arbitrary<readonly Pair[]> = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...passing).chain(cased), value), { maxLength: 8 }),
    fc.boolean(),
    fc.nat()
  )
  .map(([headers, hops, at]) => {
    if (!hops) return headers
    const i = at % (headers.length + 1)
    return [...headers.slice(0, i), ...staying, ...headers.slice(i)]
  })

const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 5 })

const framed = (body: readonly Uint8Array[], chunked: boolean): readonly string[] =>
  chunked
    ? ["Transfer-Encoding", "chunked"]
    : ["Content-Length", String(body.reduce((sum, { length }) => sum + length, 0))]

const target = fc
  .array(
    fc.constantFrom(
      "a",
      "Z",
      "/",
      "//",
      "..",
      "%2f",
      "%2F",
      "%00",
      "?",
      "&",
      "=",
      ";",
      "%C3%A9",
      "~",
      "+",
      "|"
    ),
    {
      maxLength: 12
    }
  )
  .map((parts) => `/${parts.join("")}`)

const codes = [200, 201, 202, 204, 206, 301, 304, 307, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 599]

export const exchanges = fc
  .record({
    method: fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"),
    path: target,
    sent: fc.record({ headers: someHeaders, body: bodies, chunked: fc.boolean() }),
    code: fc.constantFrom(...codes),
    phrase: fc.constantFrom("OK", "", "Some Words", "na\u00efve"),
    answers: fc.record({ headers: someHeaders, body: bodies, chunked: fc.boolean() })
  })
  .map(({ method, path, sent, code, phrase, answers }) => {
    const bare = method === "GET" || method === "HEAD"
    const sentBody = bare ? [] : sent.body
    const empty = code === 204 || code === 304
    const answerBody = empty ? [] : answers.body
    return {
      sent: {
        method,
        path,
        headers: sent.headers,
        body: sentBody,
        framing: bare ? [] : framed(sentBody, sent.chunked)
      },
      answers: {
        code,
        phrase,
        headers: answers.headers,
        body: method === "HEAD" ? [] : answerBody,
        framing: empty ? [] : framed(answerBody, answers.chunked)
      }
    }
  })
