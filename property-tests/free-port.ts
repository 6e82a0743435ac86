/** A port of loopback that nobody listens on. */
import * as Effect from "effect/Effect"
import { freePorts } from "../cluster-tests/processes.ts"

export const freePort: Effect.Effect<number> = Effect.map(
  Effect.promise(() => freePorts(1)),
  ([port = 0]) => port
)
