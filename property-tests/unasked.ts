/** A readiness that nobody asks, for what only has to tell it. */
import * as Effect from "effect/Effect"
import { Readiness } from "../src/shell/health.ts"

export const unasked = Readiness.of({
  waiting: () => Effect.void,
  ready: () => Effect.void,
  gone: () => Effect.void,
  report: Effect.succeed({ ready: true, lines: [] })
})
