/** The relay between a client and a server of this process. */
import * as Effect from "effect/Effect"
import { connect, createServer, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Relay } from "../../src/commands/demo/relay.ts"

/** Says back what it is told. */
const server = createServer((socket) => {
  socket.on("error", () => undefined)
  socket.pipe(socket)
})

beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)))

afterAll(() => {
  server.close()
})

const relayed = <A>(test: (relay: Relay) => Promise<A>): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(Relay.to((server.address() as AddressInfo).port), (relay) =>
        Effect.promise(() => test(relay))
      )
    )
  )

describe("Relay", () => {
  it("passes bytes on, both ways", () =>
    relayed(async (relay) => {
      const socket = await connected(relay)
      expect(await saidBack(socket, "hello")).toBe("hello")
      socket.destroy()
    }))

  it("ends what is open when it is cut, and refuses what is new", () =>
    relayed(async (relay) => {
      const socket = await connected(relay)
      await saidBack(socket, "hello")
      const closed = new Promise((done) => socket.once("close", done))
      await Effect.runPromise(relay.cut())
      await closed
      expect(relay.whole).toBe(false)
      await expect(connected(relay)).rejects.toMatchObject({ code: "ECONNREFUSED" })
    }))

  it("is at the same address once it is mended", () =>
    relayed(async (relay) => {
      const { url } = relay
      await Effect.runPromise(relay.cut())
      await Effect.runPromise(relay.mend())
      expect([relay.url, relay.whole]).toEqual([url, true])
      const socket = await connected(relay)
      expect(await saidBack(socket, "again")).toBe("again")
      socket.destroy()
    }))

  it("ends the one side when the other one ends", () =>
    relayed(async (relay) => {
      const arrived = new Promise<Socket>((done) => server.once("connection", done))
      const socket = await connected(relay)
      const far = await arrived
      const closed = new Promise((done) => far.once("close", done))
      socket.destroy()
      await closed
    }))

  it("refuses everything after its scope", async () => {
    const left = await relayed((relay) => Promise.resolve(relay))
    await expect(connected(left)).rejects.toMatchObject({ code: "ECONNREFUSED" })
  })
})

const connected = ({ url }: Relay): Promise<Socket> =>
  new Promise((done, failed) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => {
      socket.off("error", failed)
      socket.on("error", () => undefined)
      done(socket)
    })
    socket.once("error", failed)
  })

const saidBack = (socket: Socket, text: string): Promise<string> =>
  new Promise((done) => {
    socket.once("data", (data: Buffer) => {
      done(data.toString())
    })
    socket.write(text)
  })
