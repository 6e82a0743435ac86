/**
 * The way from the nodes to the cluster: a relay of TCP connections on loopback that can be cut and mended.
 *
 * *Guarantees*: while it is cut, every connection has ended and new ones are refused. Its address stays the same.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { Failed } from "./kubectl.ts"

export class Relay {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  #port = 0

  private constructor(to: number) {
    this.#server = createServer((near) => {
      const far = connect(to, "127.0.0.1")
      this.#joined(near, far)
      this.#joined(far, near)
    })
  }

  /** A relay to a port of loopback, as long as the scope is open. */
  static to(port: number): Effect.Effect<Relay, Failed, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend(() => {
        const relay = new Relay(port)
        return Effect.as(relay.mend(), relay)
      }),
      (relay) => relay.cut()
    )
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get whole(): boolean {
    return this.#server.listening
  }

  cut(): Effect.Effect<void> {
    return Effect.async((done) => {
      this.#server.close(() => {
        done(Effect.void)
      })
      for (const socket of this.#open) socket.destroy()
    })
  }

  mend(): Effect.Effect<void, Failed> {
    return Effect.async((done) => {
      const refused = (error: Error): void => {
        done(new Failed({ message: `the relay can't listen on port ${this.#port}: ${error.message}` }))
      }
      this.#server.once("error", refused)
      this.#server.listen(this.#port, "127.0.0.1", () => {
        this.#server.off("error", refused)
        this.#port = (this.#server.address() as AddressInfo).port
        done(Effect.void)
      })
    })
  }

  /** What comes from one goes to the other, and they end together. */
  #joined(from: Socket, to: Socket): void {
    this.#open.add(from)
    from.setNoDelay(true)
    from.on("error", () => to.destroy())
    from.once("close", () => {
      this.#open.delete(from)
      to.destroy()
    })
    from.pipe(to)
  }
}
