/** Connections that stop being HTTP, on real sockets. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { Duplex } from "node:stream"
import { describe, expect } from "vitest"
import { join } from "../src/shell/upgrade.ts"
import { authority } from "./certificates.ts"
import { live, until } from "./effect.ts"
import { plainTarget } from "./fake-server.ts"
import { front, header, inline, last, line, only, switching, refusedUpgrade, upstream } from "./forwarding.ts"

describe("join", () => {
  live("lets what was said be heard before the end, though who said it has gone", () =>
    Effect.gen(function* () {
      const heard: string[] = []
      let hear = (): void => undefined
      const slow = new Duplex({
        read: () => undefined,
        write: (part: Buffer, _, done) => {
          heard.push(String(part))
          hear = done
        },
        final: (done) => {
          heard.push("end")
          done()
        }
      })
      const gone = new Duplex({ read: () => undefined, write: (_, __, done) => done() })
      join(slow, gone)
      slow.push(null)
      for (const part of ["one", "two", null]) gone.push(part)
      yield* until("the end of who spoke", () => gone.closed)
      expect([heard, slow.destroyed]).toEqual([["one"], false])
      hear()
      hear()
      yield* until("the end of who heard", () => slow.closed)
      expect(heard).toEqual(["one", "two", "end"])
    })
  )
})

describe("upgrade", () => {
  const says =
    "POST /api/v1/namespaces/d/pods/p/exec?command=a%20b&stdin=true HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n" +
    "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n"

  live("R133 joins the connections: what comes behind the request is echoed too, to the last byte", () =>
    Effect.gen(function* () {
      const root = authority("root")
      for (const api of [yield* upstream(), yield* upstream(root.certify("server"))]) {
        const wrapper = yield* front({ ...plainTarget(api.url), ca: inline(root.cert) })
        api.upgraded = (_, socket, head) => {
          socket.write(`${switching}early`)
          socket.write(head)
          socket.on("data", (part) => socket.write(part as Buffer))
          socket.on("end", () => socket.end("bye"))
        }
        const bytes = randomBytes(3_000_000)
        const client = yield* line(wrapper, `${says}head`)
        yield* until("the join", () => client.heard() === `${switching}earlyhead`)
        expect(last(api.arrived).url).toBe("/api/v1/namespaces/d/pods/p/exec?command=a%20b&stdin=true")
        expect(header(last(api.arrived).raw, "x-stream-protocol-version")).toBe("v4.channel.k8s.io")
        expect(header(last(api.arrived).raw, "upgrade")).toBe("SPDY/3.1")
        client.socket.end(bytes)
        yield* until("the end", client.ended)
        expect(client.heard() === `${switching}earlyhead${bytes.toString("latin1")}bye`).toBe(true)
        yield* until("no connection", () => api.sockets.size === 0 && wrapper.clients.size === 0)
      }
    })
  )

  live("gives the answer of a server that refuses it", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      api.upgraded = (_, socket) => socket.end(refusedUpgrade)
      const client = yield* line(wrapper, `${says}head`)
      yield* until("the end", client.ended)
      expect(client.heard()).toMatch(/^HTTP\/1\.1 403 Forbidden\r\nx-why: rbac\r\n[\s\S]*\r\n\r\nno$/)
      client.socket.end()
      yield* until("no connection", () => wrapper.clients.size === 0)
    })
  )

  live("ends on both sides when one of them breaks off", () =>
    Effect.gen(function* () {
      const api = yield* upstream()
      const wrapper = yield* front(api.url)
      api.upgraded = (_, socket) => {
        socket.write(switching)
        socket.resume().once("end", () => socket.end())
      }
      for (const side of ["client", "server"] as const) {
        const client = yield* line(wrapper, says)
        yield* until("the join", () => client.heard() === switching)
        if (side === "client") client.socket.resetAndDestroy()
        else only(api.sockets).resetAndDestroy()
        yield* until(
          `the end of both after the ${side}'s`,
          () => api.sockets.size + wrapper.clients.size === 0
        )
        yield* until("the client's end", client.closed)
      }
    })
  )

  live("ends with the wrapper", () =>
    Effect.gen(function* () {
      const test = yield* Effect.scope
      const api = yield* upstream()
      api.upgraded = (_, socket) => {
        socket.write(switching)
        socket.resume().once("end", () => socket.end())
      }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const client = yield* Scope.extend(line(yield* front(api.url), says), test)
          yield* until("the join", () => client.heard() === switching)
        })
      )
      yield* until("the end upstream", () => api.sockets.size === 0)
    })
  )
})
