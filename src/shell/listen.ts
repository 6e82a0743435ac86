/**
 * A server on the address that a flag names.
 */
import * as Effect from "effect/Effect"
import type { Server } from "node:http"
import { type Address, Misconfigured } from "./settings.ts"

/** Listens; an address that can't be had is named, with its flag. */
export const listening = (
  server: Server,
  flag: string,
  { host, port, text }: Address
): Effect.Effect<void, Misconfigured> =>
  Effect.async<void, Misconfigured>((done) => {
    server.once("error", (error) => {
      done(new Misconfigured({ message: `--${flag} ${text}: ${error.message}` }))
    })
    server.listen({ port, ...(host !== undefined && { host }) }, () => {
      done(Effect.void)
    })
  })
