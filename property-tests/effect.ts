/**
 * Runs effects as tests. `virtual`: on a clock that jumps from sleeper to sleeper, in one synchronous computation, so
 * that the load of the machine changes nothing. `effect`: real I/O, and a clock that only the test moves. `live`:
 * all of it real. A failure is shown as itself.
 */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as TestContext from "effect/TestContext"
import { it } from "vitest"
import { Turns, VirtualClock } from "./stories/clockwork.ts"

const go = async <E>(program: Effect.Effect<unknown, E>): Promise<void> => {
  shown(await Effect.runPromiseExit(program))
}

const shown = <A, E>(exit: Exit.Exit<A, E>): A => {
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.prettyErrors(exit.cause)[0] ?? new Error(Cause.pretty(exit.cause))
}

/** Runs a program to its end on a virtual clock; it may only wait for that clock. */
export const ran = <A, E>(program: Effect.Effect<A, E>): A => {
  const turns = new Turns()
  const clock = new VirtualClock(0)
  let exit: Exit.Exit<A, E> | undefined
  const fiber = Effect.runFork(program.pipe(Effect.withClock(clock)), { scheduler: turns })
  fiber.addObserver((end) => {
    exit = end
  })
  for (turns.run(); exit === undefined; turns.run()) {
    if (clock.next === Number.POSITIVE_INFINITY)
      throw new Error("stuck: nobody sleeps, and the end didn't come")
    clock.ring()
  }
  return shown(exit)
}

/** Lets so much time pass, and everything happen that falls into it. */
export const pass = (duration: Duration.DurationInput): Effect.Effect<void> =>
  Effect.zipRight(Effect.sleep(duration), Effect.zipRight(Effect.sleep(0), Effect.sleep(0)))

export const virtual = <E>(name: string, program: Program<E>): void => {
  it(name, () => {
    ran(Effect.scoped(Effect.suspend(program)))
  })
}

type Program<E> = () => Effect.Effect<unknown, E, Scope.Scope>

export const effect = <E>(name: string, program: Program<E>): void => {
  it(name, () => go(Effect.scoped(Effect.suspend(program)).pipe(Effect.provide(TestContext.TestContext))))
}

export const live = <E>(name: string, program: Program<E>): void => {
  it(name, () => go(Effect.scoped(Effect.suspend(program))))
}

/** Waits for a condition, on the real clock; after five seconds it fails and says what didn't come. */
export const until = (what: string, holds: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    const end = performance.now() + 5000
    while (!holds()) {
      if (performance.now() > end) throw new Error(`did not come: ${what}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
