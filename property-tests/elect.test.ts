/** Which of several replicas works: one at a time, whoever dies, is cut off, or is stopped. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Failure } from "../src/core/retry.ts"
import { Api, ApiError, type ApiService } from "../src/shell/api.ts"
import { type StillOurs, whileLeading } from "../src/shell/elect.ts"
import { Readiness } from "../src/shell/health.ts"
import { steady } from "../src/shell/steady.ts"
import { ran } from "./effect.ts"
import { runs } from "./runs.ts"
import { unasked } from "./unasked.ts"

interface Lease {
  readonly metadata: { readonly resourceVersion: string }
  readonly spec: { readonly holderIdentity: string; readonly leaseTransitions: number }
}

/** An API server with one Lease; each replica has its own way to it, which may be cut. */
class World {
  lease: Lease | undefined
  readonly cut = new Set<string>()
  /** milliseconds that a request takes, there and back each */
  latency = 5
  writes = 0
  #revision = 10

  api(replica: string): ApiService {
    const refused = (reason: Failure["reason"], code: number) =>
      new ApiError({ reason, code, message: reason, request: "lease" })
    const way = <A>(there: () => A | ApiError): Effect.Effect<A, ApiError> =>
      Effect.gen(this, function* () {
        yield* Effect.sleep(this.latency)
        if (this.cut.has(replica)) return yield* Effect.never
        const answer = there()
        yield* Effect.sleep(this.latency)
        if (this.cut.has(replica)) return yield* Effect.never
        return answer instanceof ApiError ? yield* answer : answer
      })
    const nothing = (): never => {
      throw new Error("not for leases")
    }
    return {
      list: nothing,
      watch: nothing,
      merge: nothing,
      remove: nothing,
      get: () => way(() => this.lease ?? refused("NotFound", 404)),
      apply: (_, object) =>
        way(() => {
          const expected = object.metadata.resourceVersion
          const found = this.lease?.metadata.resourceVersion ?? "1"
          if (expected !== found) return refused("Conflict", 409)
          this.writes++
          const { spec } = object as unknown as Lease
          this.lease = { metadata: { resourceVersion: String(++this.#revision) }, spec }
          return this.lease
        })
    }
  }
}

/** Replicas that stand for election, and who works at the moment. */
class Replicas {
  readonly world = new World()
  readonly working = new Set<string>()
  /** what each that led was told last */
  readonly still = new Map<string, StillOurs>()
  most = 0
  readonly #fibers = new Map<string, Fiber.RuntimeFiber<never>>()
  #count = 0

  start(): Effect.Effect<string> {
    const identity = `replica-${++this.#count}`
    const work = Effect.acquireUseRelease(
      Effect.sync(() => {
        this.working.add(identity)
        this.most = Math.max(this.most, this.working.size)
      }),
      () => Effect.never,
      () => Effect.sync(() => this.working.delete(identity))
    )
    const leading = (still: StillOurs) => {
      this.still.set(identity, still)
      return work
    }
    return whileLeading({ namespace: "ns", name: "lease", identity }, leading).pipe(
      Effect.provideService(Api, this.world.api(identity)),
      Effect.provideService(Readiness, unasked),
      Logger.withMinimumLogLevel(LogLevel.None),
      Effect.fork,
      Effect.map((fiber) => {
        this.#fibers.set(identity, fiber)
        return identity
      })
    )
  }

  /** In good order, or as SIGKILL: then nothing that it still says arrives. */
  stop(identity: string | undefined, how: "stop" | "kill"): Effect.Effect<void> {
    const fiber = identity === undefined ? undefined : this.#fibers.get(identity)
    if (fiber === undefined || identity === undefined) return Effect.void
    this.#fibers.delete(identity)
    if (how === "kill") this.world.cut.add(identity)
    return Effect.asVoid(Fiber.interrupt(fiber))
  }

  get alive(): readonly string[] {
    return [...this.#fibers.keys()]
  }

  get end(): Effect.Effect<void> {
    return Effect.forEach(this.alive, (each) => this.stop(each, "kill"), { discard: true })
  }
}

type Deed = "start" | "stop" | "kill" | "cut" | "join" | "delete" | "slow" | "fast"

const deeds = fc.array(
  fc.record({
    after: fc.oneof(fc.nat(3000), fc.nat(30_000)),
    deed: fc.constantFrom<Deed>("start", "stop", "kill", "cut", "cut", "join", "delete", "slow", "fast"),
    pick: fc.nat(5)
  }),
  { maxLength: 20 }
)

const carryOut = (replicas: Replicas, deed: Deed, pick: number): Effect.Effect<unknown> => {
  const { world, alive } = replicas
  const one = alive[pick % Math.max(1, alive.length)]
  switch (deed) {
    case "start":
      return alive.length < 4 ? replicas.start() : Effect.void
    case "stop":
    case "kill":
      return replicas.stop(one, deed)
    case "cut":
      return Effect.sync(() => one !== undefined && world.cut.add(one))
    case "join":
      return Effect.sync(() => one !== undefined && world.cut.delete(one))
    case "delete":
      return Effect.sync(() => (world.lease = undefined))
    case "slow":
    case "fast":
      return Effect.sync(() => (world.latency = deed === "slow" ? 900 : 5))
  }
}

describe("whileLeading", () => {
  it("P2 lets one replica work at a time, and soon one again, whatever happens", () => {
    fc.assert(
      fc.property(deeds, (story) => {
        const replicas = new Replicas()
        // Who deletes the Lease of a leader that is cut off has asked for two of them.
        const deleted = story.some(({ deed }) => deed === "delete")
        ran(
          Effect.gen(function* () {
            yield* replicas.start()
            yield* replicas.start()
            for (const { after, deed, pick } of story) {
              yield* Effect.sleep(after)
              yield* carryOut(replicas, deed, pick)
            }
            for (const each of replicas.alive) replicas.world.cut.delete(each)
            replicas.world.latency = 5
            yield* replicas.start()
            yield* Effect.sleep(25_000)
            expect([...replicas.working]).toEqual([replicas.world.lease?.spec.holderIdentity])
            yield* replicas.end
          })
        )
        if (!deleted) expect(replicas.most).toBe(1)
      }),
      runs(1000)
    )
  })

  it("hands over within 2 s where the leader is stopped, and within 25 s where it dies", () => {
    const after = (how: "stop" | "kill"): number => {
      const replicas = new Replicas()
      let waited = 0
      ran(
        Effect.gen(function* () {
          const first = yield* replicas.start()
          yield* Effect.sleep(1000)
          yield* replicas.start()
          yield* Effect.sleep(7000)
          expect([...replicas.working]).toEqual([first])
          yield* replicas.stop(first, how)
          for (; replicas.working.size === 0; waited += 100) yield* Effect.sleep(100)
          yield* replicas.end
        })
      )
      return waited
    }
    expect(after("stop")).toBeLessThanOrEqual(2000)
    expect(after("kill")).toBeGreaterThan(10_000)
    expect(after("kill")).toBeLessThanOrEqual(20_000)
  })

  it("P2 tells a leader that sleeps that it may write no more, before another may", () => {
    const replicas = new Replicas()
    ran(
      Effect.gen(function* () {
        const first = yield* replicas.start()
        yield* Effect.sleep(1000)
        const second = yield* replicas.start()
        yield* Effect.sleep(7000)
        const still = (who: string) => Effect.map(steady, (now) => replicas.still.get(who)?.(now) ?? false)
        expect(yield* still(first)).toBe(true)
        yield* replicas.stop(first, "kill")
        for (let both = 0; !replicas.working.has(second); both++) {
          if (both > 300) throw new Error("nobody leads after 30 s")
          yield* Effect.sleep(100)
        }
        expect([yield* still(first), yield* still(second)]).toEqual([false, true])
        yield* replicas.end
      })
    )
  })

  it("costs one write every 2 s, by the leader alone", () => {
    const replicas = new Replicas()
    ran(
      Effect.gen(function* () {
        yield* replicas.start()
        yield* Effect.sleep(1000)
        yield* replicas.start()
        const before = replicas.world.writes
        yield* Effect.sleep(60_000)
        expect(replicas.world.writes - before).toBeLessThanOrEqual(30)
        expect(replicas.world.writes - before).toBeGreaterThanOrEqual(28)
        expect(replicas.world.lease?.spec.leaseTransitions).toBe(0)
        yield* replicas.end
      })
    )
  })
})
