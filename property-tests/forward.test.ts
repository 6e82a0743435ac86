/** Who may send what on, and as whom, on real sockets. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/TestClock"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "vitest"
import type { Target } from "../src/shell/kubeconfig.ts"
import { prometheus } from "../src/shell/prometheus.ts"
import { authority } from "./certificates.ts"
import { effect, live, until } from "./effect.ts"
import { plainTarget } from "./fake-server.ts"
import { ask, type Front, front, header, inline, last, line, upstream, withToken } from "./forwarding.ts"

describe("request", () => {
  live("R134 refuses every Impersonate header, for upgrades too, and passes nothing on", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      for (const name of [
        "Impersonate-User",
        "impersonate-group",
        "IMPERSONATE-EXTRA-a",
        "Impersonate-Uid"
      ]) {
        for (const upgrade of [[], ["Connection", "Upgrade", "Upgrade", "SPDY/3.1"]]) {
          const got = yield* ask(wrapper, { headers: ["Authorization", "Bearer t", name, "x", ...upgrade] })
          const body = JSON.parse(String(got.body)) as { readonly message: string }
          expect(got.code).toBe(403)
          expect(body).toMatchObject({ kind: "Status", apiVersion: "v1", reason: "Forbidden", code: 403 })
          expect(body.message).toContain(name)
        }
      }
      expect(api.arrived).toEqual([])
    })
  )

  live("refuses what can't be passed on: a target without a slash, other transfer codings", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      const codes = []
      for (const says of [
        "GET http://elsewhere/api HTTP/1.1\r\nHost: h\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"
      ]) {
        const client = yield* line(wrapper, says)
        yield* until(`an answer to ${says}`, () => client.heard().endsWith("}"))
        codes.push(client.heard().slice(9, 12))
      }
      expect(codes).toEqual(["400", "400", "501"])
      expect(api.arrived).toEqual([])
    })
  )

  live("counts by method and by what the client was told", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      api.answer = (_, response) => response.writeHead(418).end()
      const counted = Effect.map(Metric.snapshot, (pairs) => {
        const page = prometheus(pairs, process)
        const found = /forwarded_requests_total\{.*method="PUT".*\} (\d+)/.exec(
          page
            .split("\n")
            .filter((text) => text.includes('code="418"'))
            .join("\n")
        )
        return Number(found?.[1] ?? 0)
      })
      const before = yield* counted
      yield* ask(wrapper, { method: "PUT" })
      yield* ask(wrapper, { method: "PUT" })
      expect((yield* counted) - before).toBe(2)
    })
  )
})

describe("identity", () => {
  live("R134 is the client's where it brings one, else our own, else nobody's", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const own = yield* front(withToken(api.url))
      const none = yield* front(withToken(api.url), { strangers: "None" })
      const seen = (wrapper: Front, headers: readonly string[]) =>
        Effect.map(ask(wrapper, { headers }), () => header(last(api.arrived).raw, "authorization"))
      expect(yield* seen(own, ["authoRization", "Bearer theirs"])).toBe("Bearer theirs")
      expect(yield* seen(own, ["Authorization", ""])).toBe("")
      expect(yield* seen(own, [])).toBe("Bearer own")
      expect(yield* seen(none, ["Authorization", "Bearer theirs"])).toBe("Bearer theirs")
      expect(yield* seen(none, [])).toBeUndefined()
      const socketToken = "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.dG9r"
      expect(yield* seen(own, ["Sec-WebSocket-Protocol", socketToken])).toBeUndefined()
      expect(yield* seen(own, ["Connection", "Authorization", "Authorization", "Bearer t"])).toBeUndefined()
    })
  )

  live("R134 never lends our certificate: who brings a token travels on connections of its own", () =>
    Effect.gen(function* () {
      const root = authority("root")
      const api = yield* upstream({
        ...root.certify("server"),
        ca: root.cert,
        requestCert: true,
        rejectUnauthorized: false
      })
      const ours = root.certify("us")
      const target: Target = {
        ...plainTarget(api.url),
        ca: inline(root.cert),
        cert: inline(ours.cert),
        key: inline(ours.key)
      }
      const wrapper = yield* front(target)
      const upgrade = ["Connection", "Upgrade", "Upgrade", "SPDY/3.1"]
      for (let round = 0; round < 3; round += 1) {
        for (const extra of [[], upgrade]) {
          yield* ask(wrapper, { headers: extra })
          yield* ask(wrapper, { headers: ["Authorization", "Bearer theirs", ...extra] })
        }
      }
      expect(api.arrived.length).toBe(12)
      for (const { raw, certified } of api.arrived) {
        expect(certified).toBe(header(raw, "authorization") === undefined ? "us" : undefined)
      }
    })
  )

  effect("is read anew after a 401, which the client sees", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const folder = mkdtempSync(join(tmpdir(), "forward-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const file = join(folder, "token")
      writeFileSync(file, "one")
      const wrapper = yield* front({
        ...plainTarget(api.url),
        credential: { _tag: "TokenFile", path: file, field: "tokenFile" }
      })
      api.answer = ({ raw }, response) =>
        response.writeHead(header(raw, "authorization") === "Bearer two" ? 200 : 401).end()
      const code = Effect.map(ask(wrapper, {}), (got) => got.code)
      writeFileSync(file, "two")
      expect((yield* ask(wrapper, { headers: ["Authorization", "Bearer bad"] })).code).toBe(401)
      expect(yield* code).toBe(401)
      expect(yield* code).toBe(200)
      writeFileSync(file, "three")
      yield* TestClock.adjust("59 seconds")
      expect(yield* code).toBe(200)
      expect(api.arrived.map(({ raw }) => header(raw, "authorization"))).toEqual([
        "Bearer bad",
        "Bearer one",
        "Bearer two",
        "Bearer two"
      ])
    })
  )
})
