/** What passes through, to the byte, on real sockets. */
import * as Effect from "effect/Effect"
import fc from "fast-check"
import { createHash, randomBytes } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { describe, expect } from "vitest"
import { authority } from "./certificates.ts"
import { live, until } from "./effect.ts"
import { endToEnd, exchanges } from "./exchanges.ts"
import { plainTarget, status } from "./fake-server.ts"
import {
  ask,
  begin,
  front,
  header,
  inline,
  last,
  line,
  only,
  scripted,
  stalled,
  refusedUpgrade,
  upstream,
  withToken
} from "./forwarding.ts"

describe("an exchange", () => {
  live(
    "R133 hands method, target, headers and body on as they came, and the answer back (200 exchanges)",
    () =>
      Effect.gen(function* () {
        const api = yield* upstream()
        const wrapper = yield* front(withToken(api.url))
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(exchanges, async (sample) => {
              const { sent, answers } = sample
              const host = new URL(api.url).host
              api.answer = (_, response) => {
                response.sendDate = false
                response.writeHead(answers.code, answers.phrase, [
                  ...answers.headers.flat(),
                  ...answers.framing
                ])
                for (const part of answers.body) response.write(part)
                response.end()
              }
              const got = await Effect.runPromise(
                ask(wrapper, { ...sent, headers: [...sent.headers.flat(), ...sent.framing] })
              )
              const arrived = last(api.arrived)
              expect([arrived.method, arrived.url]).toEqual([sent.method, sent.path])
              const own = sent.headers.some(([name]) => name.toLowerCase() === "authorization")
                ? []
                : ["authorization", "Bearer own"]
              const lengths = sent.framing[0] === "Content-Length" ? sent.framing : []
              expect(transportless(arrived.raw)).toEqual([
                "Host",
                host,
                ...endToEnd(sent.headers),
                ...lengths,
                ...own
              ])
              expect(arrived.body.equals(Buffer.concat(sent.body))).toBe(true)
              expect([got.code, got.phrase]).toEqual([answers.code, answers.phrase])
              const backLengths = answers.framing[0] === "Content-Length" ? answers.framing : []
              expect(transportless(got.raw)).toEqual([...endToEnd(answers.headers), ...backLengths])
              const expected = sent.method === "HEAD" ? Buffer.alloc(0) : Buffer.concat(answers.body)
              expect(got.body.equals(expected)).toBe(true)
            }),
            { numRuns: 200 }
          )
        )
      })
  )

  live("R132 R133 passes events, patches, deletes and chunks on, over TLS and below a path too", () =>
    Effect.gen(function* () {
      const root = authority("root")
      const secure = yield* upstream(root.certify("server"))
      const plain = yield* upstream()
      const ca = { ...plainTarget(`${secure.url}/k8s/c-1`), ca: inline(root.cert) }
      const event = Buffer.from([0x6b, 0x38, 0x73, 0, 10, 0xff, 0xfe, 0])
      const protobuf = ["Content-Type", "application/vnd.kubernetes.protobuf"]
      for (const [api, target, prefix] of [
        [secure, ca, "/k8s/c-1"],
        [plain, plainTarget(plain.url), ""]
      ] as const) {
        const wrapper = yield* front(target)
        api.answer = (_, response) => {
          response.writeHead(201, [
            "Content-Type",
            "application/vnd.kubernetes.protobuf",
            "Warning",
            '299 - "old"'
          ])
          response.end(event)
        }
        const table = [
          ["POST", "/api/v1/namespaces/default/events"],
          ["POST", "/apis/events.k8s.io/v1/namespaces/default/events"],
          ["PATCH", "/api/v1/namespaces/d/pods/p?fieldManager=a%2Fb&force=true"],
          ["DELETE", "/api/v1/namespaces/d/pods/p"],
          ["PUT", "//api///v1/../v1/%2e%2e/x?a=1&a=2&&b="]
        ] as const
        for (const [method, path] of table) {
          const chunks = method === "POST" ? ["Transfer-Encoding", "chunked"] : ["Content-Length", "8"]
          const got = yield* ask(wrapper, {
            method,
            path,
            headers: [...protobuf, ...chunks],
            body: [event.subarray(0, 3), event.subarray(3)]
          })
          const arrived = last(api.arrived)
          expect([arrived.method, arrived.url]).toEqual([method, prefix + path])
          expect(arrived.body).toEqual(event)
          expect(header(arrived.raw, "host")).toBe(new URL(api.url).host)
          expect(header(arrived.raw, "content-type")).toBe("application/vnd.kubernetes.protobuf")
          expect([got.code, got.body]).toEqual([201, event])
          expect(got.headers["warning"]).toBe('299 - "old"')
        }
      }
    })
  )

  live("R135 passes refusals on, with Retry-After and body", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      for (const code of [400, 401, 403, 404, 405, 409, 410, 422, 429, 500, 503, 504]) {
        const body = JSON.stringify(status(code, "Some", `why ${code}`))
        api.answer = (_, response) => {
          response.writeHead(code, { "content-type": "application/json", "retry-after": "7" })
          response.end(body)
        }
        const got = yield* ask(wrapper, { path: `/api/v1/pods?code=${code}` })
        expect([got.code, got.headers["retry-after"], String(got.body)]).toEqual([code, "7", body])
      }
    })
  )

  live("passes the head of a watch on before its first event, and each line as it comes", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      api.answer = (_, response) => response.writeHead(200, { "x-watch": "1" }).flushHeaders()
      const watch = yield* line(wrapper, "GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: h\r\n\r\n")
      yield* until("the head", () => watch.heard().includes("x-watch: 1\r\n"))
      const response = only(api.open)
      response.write("one\n")
      yield* until("the first line", () => watch.heard().includes("one\n"))
      response.write("two\n")
      yield* until("the second line", () => watch.heard().includes("two\n"))
      expect(watch.heard()).not.toContain("0\r\n\r\n")
      response.end()
      yield* until("the end of the body", () => watch.heard().endsWith("0\r\n\r\n"))
    })
  )

  live("passes trailers on, both ways", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      api.answer = (_, response) => {
        response.writeHead(200, ["Trailer", "X-Sum"])
        response.write("body")
        response.addTrailers([["X-Sum", "2"]])
        response.end()
      }
      const headers = ["Transfer-Encoding", "chunked", "Trailer", "X-Sum"]
      const sent = { method: "POST", headers, body: [Buffer.from("b")], trailers: [["X-Sum", "1"]] as const }
      const got = yield* ask(wrapper, sent)
      expect(last(api.arrived).trailers).toEqual(["X-Sum", "1"])
      expect(header(last(api.arrived).raw, "trailer")).toBe("X-Sum")
      expect([got.trailers, String(got.body), got.headers["trailer"]]).toEqual([
        ["X-Sum", "2"],
        "body",
        "X-Sum"
      ])
      const announced = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
      const bodiless = yield* front(yield* scripted((socket) => socket.write(announced)))
      expect((yield* ask(bodiless, { method: "HEAD" })).code).toBe(200)
    })
  )

  live("passes interim answers on", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      api.answer = (_, response) => {
        response.writeProcessing()
        response.writeEarlyHints({ link: "</a>; rel=preload" }, () => response.end("done"))
      }
      const got = yield* ask(wrapper, {})
      expect([got.interim, String(got.body)]).toEqual([[102, 103], "done"])
    })
  )

  live("answers 100 Continue to a client that waits for it", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      const client = yield* line(
        wrapper,
        "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
      )
      yield* until("100 Continue", () => client.heard().startsWith("HTTP/1.1 100 Continue\r\n\r\n"))
      client.socket.write("ok")
      yield* until("the answer", () => client.heard().endsWith("{}"))
      expect(String(last(api.arrived).body)).toBe("ok")
    })
  )

  live("answers requests of one connection in their order, whatever upstream's", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      const later = new Map<string, () => void>()
      api.answer = ({ url }, response) => void later.set(url, () => response.end(`<${url}>`))
      const urls = Array.from({ length: 20 }, (_, i) => `/r${i}`)
      const says = urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: h\r\n\r\n`).join("")
      const client = yield* line(wrapper, says)
      yield* until("all requests upstream", () => later.size === 20)
      for (const url of urls.toReversed()) later.get(url)?.()
      yield* until("all answers", () => client.heard().includes("</r19>"))
      expect([...client.heard().matchAll(/<(.*?)>/g)].map(([, url]) => url)).toEqual(urls)
      client.socket.destroy()
      yield* until("the end of the connection", () => wrapper.clients.size === 0)
    })
  )
})

describe("upstream's failure", () => {
  live("is 503 with the reason in words and Retry-After while nobody listens", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      api.stop()
      const wrapper = yield* front(api.url)
      for (const extra of [[], ["Connection", "Upgrade", "Upgrade", "SPDY/3.1"]]) {
        const got = yield* ask(wrapper, { headers: extra })
        expect([got.code, got.headers["retry-after"]]).toEqual([503, "1"])
        const body = JSON.parse(String(got.body)) as { readonly message: string }
        expect(body).toMatchObject({ kind: "Status", reason: "ServiceUnavailable", code: 503 })
        expect(body.message).toMatch(/ECONNREFUSED/)
      }
    })
  )

  live("is 503 where its certificate isn't to be trusted", () =>
    Effect.gen(function* () {
      const api = yield* upstream(authority("theirs").certify("server"))
      const wrapper = yield* front({ ...plainTarget(api.url), ca: inline(authority("ours").cert) })
      const got = yield* ask(wrapper, {})
      expect([got.code, String(got.body)]).toEqual([503, expect.stringMatching(/certificate/)])
    })
  )

  live("is 502 where the answer broke off before its head, or is none", () =>
    Effect.gen(function* () {
      const answers = [
        "",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "220 smtp.example.org\r\n",
        "HTTP/1.1 099 Low\r\n\r\n"
      ]
      for (const text of answers) {
        const wrapper = yield* front(yield* scripted((socket) => socket.end(text)))
        const got = yield* ask(wrapper, { method: "POST", headers: ["Content-Length", "0"] })
        expect([text, got.code, got.headers["retry-after"]]).toEqual([text, 502, undefined])
        expect(JSON.parse(String(got.body))).toMatchObject({ kind: "Status", code: 502 })
      }
    })
  )

  live("is never an end: an answer that breaks off breaks off for the client", () =>
    Effect.gen(function* () {
      const heads = ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"]
      for (const head of heads) {
        const text = `HTTP/1.1 200 OK\r\n${head}`
        const wrapper = yield* front(yield* scripted((socket) => socket.end(text)))
        const client = yield* line(wrapper, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        yield* until("the end of the connection", client.ended)
        expect(client.heard()).toMatch(/half(\r\n)?$/)
        client.socket.end()
        yield* until("nothing left", () => wrapper.clients.size === 0)
        // An answer to an old client ends with its connection: that one has to be reset.
        const old = yield* line(wrapper, "GET / HTTP/1.0\r\n\r\n")
        yield* until("the end of the old client's connection", old.closed)
        expect(old.ended()).toBe(false)
      }
    })
  )

  live("is 504 where nothing is said in time; a watch, a log and an upgrade may take longer", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const silent: (() => void)[] = []
      api.answer = (_, response) => void silent.push(() => response.end("late"))
      api.upgraded = (_, socket) => void silent.push(() => socket.end(refusedUpgrade))
      const wrapper = yield* front(api.url, { patience: 300 })
      const patient = [
        ["/api/v1/pods?watch=true", []],
        ["/api/v1/pods?watch", []],
        ["/api/v1/watch/pods", []],
        ["/api/v1/namespaces/d/pods/p/log?follow=true", []],
        ["/api/v1/namespaces/d/pods/p/exec", ["Connection", "Upgrade", "Upgrade", "SPDY/3.1"]]
      ] as const
      const answers = patient.map(([path, headers]) => Effect.runPromise(ask(wrapper, { path, headers })))
      yield* until("all of them upstream", () => silent.length === patient.length)
      const got = yield* ask(wrapper, { path: "/api/v1/pods?watch=false" })
      expect(got.code).toBe(504)
      expect(JSON.parse(String(got.body))).toMatchObject({ reason: "Timeout", code: 504 })
      for (const speak of silent) speak()
      const codes = yield* Effect.promise(() => Promise.all(answers))
      expect(codes.map(({ code }) => code)).toEqual([200, 200, 200, 200, 403])
    })
  )

  live("R130 on a connection that idled is made good for a read, and told for a write", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      const used = new WeakSet<Socket>()
      // Such a server closes a connection just when the second request comes on it.
      api.begun = (request, response) => {
        if (used.has(request.socket)) return void request.socket.destroy()
        used.add(request.socket)
        response.end("fresh")
      }
      const get = Effect.map(ask(wrapper, {}), ({ code }) => code)
      expect([yield* get, yield* get, yield* get]).toEqual([200, 200, 200])
      expect((yield* ask(wrapper, { method: "POST", headers: ["Content-Length", "0"] })).code).toBe(502)
    })
  )
})

describe("a client", () => {
  live("P12 that goes away frees its request upstream, before the answer and within it", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      const table = [
        "GET /silent?watch=true HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /speaks?watch=true HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf",
        "GET /exec HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
      ]
      for (const says of table) {
        let there = false
        api.begun = ({ url }, response) => {
          there = true
          if (url?.startsWith("/speaks") === true) response.write("line\n")
        }
        api.upgraded = (_, socket) => {
          there = true
          socket.resume().once("end", () => socket.end())
        }
        for (const leave of ["reset", "end"] as const) {
          there = false
          const client = yield* line(wrapper, says)
          yield* until("the request upstream", () => there)
          if (leave === "reset") client.socket.resetAndDestroy()
          else client.socket.end()
          yield* until(`no connection upstream after ${leave} of ${says}`, () => api.sockets.size === 0)
          yield* until("no client", () => wrapper.clients.size === 0)
        }
      }
    })
  )

  live("P12 that reads slowly holds up the server: an answer of 64 MB never is in memory", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      const piece = randomBytes(64 * 1024)
      let written = 0
      const total = 1024
      api.answer = (_, response) => {
        const pump = (): void => {
          while (written < total) {
            written += 1
            if (!response.write(piece)) return void response.once("drain", pump)
          }
          response.end()
        }
        pump()
      }
      const request = begin(wrapper.port, { path: "/log?follow=true" })
      const answer = yield* Effect.promise(
        () => new Promise<IncomingMessage>((resolve) => request.once("response", resolve))
      )
      yield* stalled(() => written)
      expect(written).toBeLessThan(total / 2)
      const digest = createHash("sha256")
      yield* Effect.promise(async () => {
        for await (const part of answer) digest.update(part as Uint8Array)
      })
      const expected = createHash("sha256")
      for (let i = 0; i < total; i += 1) expected.update(piece)
      expect(digest.digest("hex")).toBe(expected.digest("hex"))
    })
  )

  live("P12 that sends faster than the server reads is held up", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      let read = 0
      let resume = (): void => undefined
      api.begun = (request, response) => {
        resume = () => {
          request.on("data", (part: Buffer) => (read += part.length))
          request.once("end", () => response.end("got it"))
        }
      }
      const total = 64 * 1024 * 1024
      const client = yield* line(wrapper, `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${total}\r\n\r\n`)
      const piece = Buffer.alloc(64 * 1024)
      let written = 0
      const pump = (): void => {
        while (written < total) {
          written += piece.length
          if (!client.socket.write(piece)) return void client.socket.once("drain", pump)
        }
      }
      pump()
      yield* stalled(() => written)
      expect(written).toBeLessThan(total / 2)
      resume()
      yield* until("the answer", () => client.heard().endsWith("got it"))
      expect(read).toBe(total)
    })
  )

  live("gets the answer of a server that doesn't want the rest of its body", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      api.begun = (_, response) => response.writeHead(413, { connection: "close" }).end("too much\n")
      const client = yield* line(wrapper, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nx")
      yield* until("the answer", () => client.heard().includes("too much\n"))
      expect(client.heard()).toMatch(/^HTTP\/1\.1 413 /)
      api.begun = (_, response) => response.end("next")
      client.socket.write(`${"y".repeat(999_999)}GET / HTTP/1.1\r\nHost: h\r\n\r\n`)
      yield* until("the next answer on this connection", () => client.heard().endsWith("next"))
    })
  )
})

/** Without what node:http says about a connection for itself. */
const transportless = (raw: readonly string[]): readonly string[] =>
  raw.filter((_, i) => {
    const name = raw[i - (i % 2)]?.toLowerCase() ?? ""
    return !["connection", "keep-alive", "transfer-encoding"].includes(name)
  })
