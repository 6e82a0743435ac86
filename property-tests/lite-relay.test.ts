/** The forwarder behind a relay that keeps answers, on real sockets. */
import * as Effect from "effect/Effect"
import { gzipSync } from "node:zlib"
import { describe, expect } from "vitest"
import { authority } from "./certificates.ts"
import { live, until } from "./effect.ts"
import { plainTarget } from "./fake-server.ts"
import { ask, front, header, inline, last, line, only, upstream } from "./forwarding.ts"
import { liteRelay } from "./lite-relay.ts"

const relayed = Effect.gen(function* () {
  const [cloud, node] = [authority("cloud"), authority("node")]
  const api = yield* upstream(cloud.certify("server"))
  const relay = yield* Effect.acquireRelease(
    Effect.promise(() =>
      liteRelay({ to: api.url, upstream: { ca: cloud.cert }, identity: node.certify("relay") })
    ),
    ({ stop }) => Effect.promise(stop)
  )
  const wrapper = yield* front({
    ...plainTarget(relay.url),
    ca: inline(node.cert),
    credential: { _tag: "Token", token: "own" }
  })
  return { api, relay, wrapper }
})

describe("a caching relay", () => {
  live("is passed through: requests reach the API server as they came, and its answers come back", () =>
    Effect.gen(function* () {
      const { api, wrapper } = yield* relayed
      const body = gzipSync("{}")
      api.answer = (_, response) => {
        response.writeHead(200, ["Content-Encoding", "gzip", "Warning", "299 - x"])
        response.end(body)
      }
      const got = yield* ask(wrapper, { path: "/api//v1/pods?limit=5", headers: ["Accept-Encoding", "gzip"] })
      expect(got.body.equals(body)).toBe(true)
      expect([got.headers["content-encoding"], got.headers["warning"]]).toEqual(["gzip", "299 - x"])
      expect(last(api.arrived).url).toBe("/api//v1/pods?limit=5")
      expect(header(last(api.arrived).raw, "authorization")).toBe("Bearer own")
      const sent = [Buffer.from([1, 0]), Buffer.from([255])]
      yield* ask(wrapper, { method: "POST", headers: ["Transfer-Encoding", "chunked"], body: sent })
      expect(last(api.arrived).body).toEqual(Buffer.from([1, 0, 255]))
    })
  )

  live("answers reads with what it kept while the API server is away, each client's own", () =>
    Effect.gen(function* () {
      const { api, relay, wrapper } = yield* relayed
      const get = (path: string, agent: string) =>
        ask(wrapper, { path, headers: ["User-Agent", `${agent}/v1 (x)`] })
      api.answer = ({ raw, url }, response) => response.end(`${header(raw, "user-agent")} ${url}`)
      const nodes = "/api/v1/nodes"
      const before = []
      for (const query of ["", "?fieldSelector=metadata.name%3Dn1&limit=500"]) {
        for (const agent of ["a", "b"]) before.push(String((yield* get(nodes + query, agent)).body))
      }
      api.stop()
      const after = []
      for (const query of ["", "?fieldSelector=metadata.name%3Dn1&limit=1"]) {
        for (const agent of ["a", "b"]) after.push(String((yield* get(nodes + query, agent)).body))
      }
      expect(after).toEqual(before)
      expect(new Set(after).size).toBe(4)
      expect(relay.served()).toBe(4)
      const refused = [
        yield* get("/api/v1/pods", "a"),
        yield* get(`${nodes}?watch=true`, "a"),
        yield* ask(wrapper, { method: "POST", path: nodes, headers: ["Content-Length", "0"] })
      ]
      expect(refused.map(({ code, headers }) => [code, headers["retry-after"]])).toEqual([
        [503, "1"],
        [503, "1"],
        [503, "1"]
      ])
    })
  )

  live("ends a watch when the API server goes away", () =>
    Effect.gen(function* () {
      const { api, wrapper } = yield* relayed
      api.answer = (_, response) => response.write("line\n")
      const watch = yield* line(wrapper, "GET /api/v1/nodes?watch=true HTTP/1.1\r\nHost: h\r\n\r\n")
      yield* until("the first line", () => watch.heard().includes("line\n"))
      only(api.open)
      api.stop()
      yield* until("the end", watch.ended)
      expect(watch.heard()).not.toContain("0\r\n\r\n")
    })
  )
})
