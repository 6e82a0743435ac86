/** The gate before the requests: so many at a time, first come first served, and no place is ever lost. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { gate } from "../src/shell/gate.ts"
import { ran } from "./effect.ts"

const visit = fc.record({
  /** milliseconds, as are the others */
  comes: fc.nat(40),
  stays: fc.nat(20),
  interrupted: fc.option(fc.nat(80), { nil: undefined })
})

const places = fc.integer({ min: 1, max: 4 })

describe("gate", () => {
  it("lets so many in at a time, in the order in which they came, and keeps all its places", () => {
    fc.assert(
      fc.property(places, fc.array(visit, { maxLength: 30 }), (most, visits) => {
        const entered: number[] = []
        const came: number[] = []
        let inside = 0
        let fullest = 0
        let free = 0
        const pass = gate(most)
        const stay = (id: number, duration: number) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              entered.push(id)
              fullest = Math.max(fullest, ++inside)
            }),
            () => Effect.sleep(duration),
            () => Effect.sync(() => inside--)
          )
        ran(
          Effect.gen(function* () {
            const fibers = yield* Effect.forEach(visits, ({ comes, stays, interrupted }, id) =>
              Effect.gen(function* () {
                const fiber = yield* Effect.fork(
                  Effect.sleep(comes).pipe(
                    Effect.zipRight(Effect.sync(() => came.push(id))),
                    Effect.zipRight(pass(stay(id, stays)))
                  )
                )
                if (interrupted !== undefined)
                  yield* Effect.fork(Effect.delay(Fiber.interrupt(fiber), interrupted))
                return fiber
              })
            )
            yield* Effect.forEach(fibers, Fiber.await)
            const whole = Array.from({ length: most + 1 }, () =>
              pass(
                Effect.zipRight(
                  Effect.sync(() => free++),
                  Effect.never
                )
              )
            )
            yield* Effect.fork(Effect.all(whole, { concurrency: "unbounded" }))
            yield* Effect.sleep(1)
          })
        )
        expect(fullest).toBeLessThanOrEqual(most)
        expect(inside).toBe(0)
        expect(entered).toEqual(came.filter((id) => entered.includes(id)))
        const patient = visits.flatMap(({ interrupted }, id) => (interrupted === undefined ? [id] : []))
        expect(patient.filter((id) => !entered.includes(id))).toEqual([])
        expect(free).toBe(most)
      })
    )
  })
})
