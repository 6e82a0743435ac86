/**
 * Time, chance and turns of a story: a virtual clock, a seeded random source, and a scheduler that runs fibers only when told.
 *
 * Nothing here waits for the real event loop, so a story is one synchronous computation: the same seed gives the same
 * interleaving, and an hour passes in no time. The wall clock may be set forward and back; sleeps don't mind.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import type * as Scheduler from "effect/Scheduler"

/** Numbers in [0, 1), the same for the same seed; always 0 for the seed 0, which shrinks to "first come, first served". */
export const chance = (seed: number): (() => number) => {
  let state = seed | 0
  return () => {
    if (seed === 0) return 0
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Runs what fibers have to do when `run` is called, in the order in which it was asked for. */
export class Turns implements Scheduler.Scheduler {
  #tasks: (() => void)[] = []

  scheduleTask(task: () => void): void {
    this.#tasks.push(task)
  }

  shouldYield(fiber: Fiber.RuntimeFiber<unknown, unknown>): number | false {
    return fiber.currentOpCount > fiber.getFiberRef(FiberRef.currentMaxOpsBeforeYield) ? 0 : false
  }

  /** Until no fiber has anything to do but wait. */
  run(): void {
    for (let round = 0; this.#tasks.length > 0; round++) {
      if (round > ENDLESS) throw new Error("P6: fibers never come to rest")
      const tasks = this.#tasks
      this.#tasks = []
      for (const task of tasks) task()
    }
  }
}

/** More rounds than any work takes that waits for something at last. */
const ENDLESS = 100_000

interface Timer {
  readonly at: number
  readonly order: number
  readonly ring: () => void
}

/** A clock that stands still until it is moved. */
export class VirtualClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  /** milliseconds since the story began; never goes back */
  elapsed = 0
  /** what the wall clock shows at the beginning, and by how much it was set wrong since */
  wall: number
  #timers: Timer[] = []
  #order = 0

  constructor(wall: number) {
    this.wall = wall
  }

  readonly currentTimeMillis: Effect.Effect<number> = Effect.sync(() => this.unsafeCurrentTimeMillis())
  readonly currentTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.unsafeCurrentTimeNanos())

  unsafeCurrentTimeMillis(): number {
    return this.wall + this.elapsed
  }

  /** As Effect's own clock has it: steady, whatever is done to the wall clock. */
  unsafeCurrentTimeNanos(): bigint {
    return BigInt(Math.round(this.elapsed * 1000)) * 1000n
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const cancel = this.after(Duration.toMillis(duration), () => resume(Effect.void))
      return Effect.sync(cancel)
    })
  }

  /** Calls back after so many milliseconds, unless what this gives is called before. */
  after(milliseconds: number, ring: () => void): () => void {
    if (milliseconds === Number.POSITIVE_INFINITY) return () => {}
    // As Node's timers: whole milliseconds, one at least.
    const timer = { at: this.elapsed + Math.max(1, Math.floor(milliseconds)), order: this.#order++, ring }
    let place = this.#timers.length
    for (; place > 0; place--) {
      const before = this.#timers[place - 1]
      if (before === undefined || before.at <= timer.at) break
    }
    this.#timers.splice(place, 0, timer)
    return () => {
      const found = this.#timers.indexOf(timer)
      if (found !== -1) this.#timers.splice(found, 1)
    }
  }

  /** When the next sleeper wakes, in milliseconds since the beginning. */
  get next(): number {
    return this.#timers[0]?.at ?? Number.POSITIVE_INFINITY
  }

  /** Moves on to the next sleeper and wakes it. */
  ring(): void {
    const timer = this.#timers.shift()
    if (timer === undefined) return
    this.elapsed = timer.at
    timer.ring()
  }
}
