/** The reflector: on a scripted API and a virtual clock, and over a socket. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as Schedule from "effect/Schedule"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { FailureReason } from "../src/core/retry.ts"
import * as Store from "../src/core/store.ts"
import {
  Api,
  api,
  ApiError,
  type ApiService,
  type Kind,
  type ListOptions,
  type Take,
  type WatchOptions
} from "../src/shell/api.ts"
import { connect } from "../src/shell/connect.ts"
import { Readiness } from "../src/shell/health.ts"
import { reflect, type Reflection } from "../src/shell/reflect.ts"
import { malformed, type Page, type WatchLine } from "../src/shell/wire.ts"
import { live, pass, ran, until, virtual } from "./effect.ts"
import { fakeServer, plainTarget, send, status } from "./fake-server.ts"

interface Item extends Store.Stored {
  readonly text: string
}

const grids: Kind = {
  group: "superedge.io",
  version: "v1",
  plural: "deploymentgrids",
  kind: "DeploymentGrid",
  namespaced: true
}

const raw = (name: string, revision: number, text = "", uid = `uid-${name}`): unknown => ({
  kind: "DeploymentGrid",
  metadata: { namespace: "ns", name, uid, resourceVersion: String(revision) },
  text
})

const line = (
  type: "ADDED" | "MODIFIED" | "DELETED",
  name: string,
  revision: number,
  text = ""
): WatchLine => ({
  type,
  object: raw(name, revision, text)
})

const bookmark = (revision: number): WatchLine => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(revision) } }
})

const listing = (revision: number, ...items: readonly unknown[]): Page => ({
  revision: String(revision),
  items,
  continue: undefined
})

const error = (
  reason: FailureReason,
  code: number,
  message: string = reason,
  retryAfter?: number
): ApiError =>
  new ApiError({ reason, code, message, request: "a test", ...(retryAfter !== undefined && { retryAfter }) })

/** An API that answers as the test says, and remembers what it was asked and when a watch was closed. */
class Script {
  readonly asked: string[] = []
  readonly times: number[] = []
  closed = 0
  list: (o: ListOptions, n: number) => Effect.Effect<Page, ApiError> = () => Effect.succeed(listing(1))
  watch: (o: WatchOptions, n: number) => Stream.Stream<WatchLine, ApiError> = () => Stream.never
  #lists = 0
  #watches = 0

  readonly service = {
    list: (_: Kind, o: ListOptions) =>
      Effect.suspend(() => {
        this.asked.push(`list ${o.limit}${o.continue === undefined ? "" : ` from ${o.continue}`}`)
        return this.#timed(this.list(o, this.#lists++))
      }),
    watch: (_: Kind, o: WatchOptions, take: Take) =>
      Effect.suspend(() => {
        this.asked.push(`watch ${o.revision}`)
        return Effect.ensuring(
          Effect.flatMap(this.#timed(Effect.succeed(this.watch(o, this.#watches++))), (lines) =>
            Stream.runForEachChunk(lines, (chunk) => take([...chunk]) ?? Effect.void)
          ),
          Effect.sync(() => (this.closed += 1))
        )
      })
  } as unknown as ApiService

  #timed<A, E>(answer: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      this.times.push(now)
      return answer
    })
  }
}

/** Runs a reflector on the script; what the store holds, and what was told. */
const started = (script: Script, more: Partial<Reflection<Item>> = {}) =>
  Effect.gen(function* () {
    const told: Store.Input<Item>[][] = []
    const state = { store: Store.empty<Item>(), stale: 0 }
    const readiness = yield* Effect.provide(Readiness, Readiness.layer)
    const run = reflect<Item>({
      kind: grids,
      relistSeconds: 600,
      reduce: reduced,
      onInputs: (inputs) =>
        Effect.sync(() => {
          told.push([...inputs])
          const { store, stale } = Store.steps(state.store, inputs)
          state.store = store
          if (stale) state.stale += 1
        }),
      ...more
    }).pipe(
      Effect.provideService(Api, script.service),
      Effect.provideService(Readiness, readiness),
      Logger.withMinimumLogLevel(LogLevel.None)
    )
    const fiber = yield* Effect.fork(run)
    yield* pass(0)
    return { told, state, readiness, fiber, names: () => names(state.store) }
  })

const reduced: Reflection<Item>["reduce"] = (object, { key, uid, revision }) => {
  const { text } = object as { readonly text?: unknown }
  return typeof text === "string" ? { key, uid, revision, text } : malformed("text is no text")
}

const names = (store: Store.Store<Item>): readonly string[] =>
  [...Store.items(store)].map(({ key, text }) => `${key.slice(3)}${text}`).sort()

describe("reflect", () => {
  virtual("lists in pages of 100, and delivers the list once and whole", () =>
    Effect.gen(function* () {
      const script = new Script()
      const pages: Record<string, Page> = {
        "": { ...listing(9, raw("a", 1)), continue: "p2" },
        p2: { ...listing(9, raw("b", 2)), continue: "p3" },
        p3: listing(9, raw("c", 9))
      }
      script.list = (o) => Effect.succeed(pages[o.continue ?? ""] ?? listing(0))
      const run = yield* started(script)
      expect(script.asked).toEqual(["list 100", "list 100 from p2", "list 100 from p3", "watch 9"])
      expect(run.told.map((inputs) => inputs.map(({ _tag }) => _tag))).toEqual([["Listed"]])
      expect(run.names()).toEqual(["a", "b", "c"])
    })
  )

  virtual("P5 delivers nothing while a page is missing", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.list = (o) =>
        o.continue === undefined
          ? Effect.succeed({ ...listing(9, raw("a", 1)), continue: "p2" })
          : Effect.fail(error("Unavailable", 500))
      const run = yield* started(script)
      yield* pass("5 minutes")
      expect(run.told).toEqual([])
      expect(run.state.store.synced).toBe(false)
    })
  )

  virtual("begins a list again where the server forgot its revision, in larger pages", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.list = (o) =>
        o.continue !== undefined
          ? Effect.fail(error("Gone", 410))
          : Effect.succeed({ ...listing(9, raw("a", 1)), continue: o.limit === 2000 ? undefined : "p2" })
      const run = yield* started(script)
      expect(script.asked).toEqual([
        "list 100",
        "list 100 from p2",
        "list 500",
        "list 500 from p2",
        "list 2000",
        "watch 9"
      ])
      expect(run.names()).toEqual(["a"])
    })
  )

  virtual("takes in what the watch says, what came together at once", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.watch = () =>
        Stream.concat(
          Stream.make(line("ADDED", "a", 2), line("MODIFIED", "a", 3, "!"), line("ADDED", "b", 4)),
          Stream.concat(Stream.make(line("DELETED", "b", 5)), Stream.never)
        )
      const run = yield* started(script)
      expect(run.told.map(({ length }) => length)).toEqual([1, 3, 1])
      expect(run.names()).toEqual(["a!"])
    })
  )

  virtual("R36 resumes at the last revision when the watch ends, without a list", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.watch = (_, n) =>
        n === 0 ? Stream.make(line("ADDED", "a", 2), bookmark(7)) : n === 1 ? Stream.empty : Stream.never
      yield* started(script)
      yield* pass("2 seconds")
      expect(script.asked).toEqual(["list 100", "watch 1", "watch 7", "watch 7"])
    })
  )

  virtual("resumes without a list when the connection breaks or the server asks for patience", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.watch = (_, n) =>
        n === 0
          ? Stream.concat(Stream.make(line("ADDED", "a", 2)), Stream.fail(error("Unavailable", 0)))
          : n === 1
            ? Stream.fail(error("Slow", 429, "slow", 7))
            : Stream.never
      yield* started(script)
      yield* pass("6 seconds")
      expect(script.asked).toEqual(["list 100", "watch 1", "watch 2"])
      yield* pass("2 seconds")
      expect(script.asked).toEqual(["list 100", "watch 1", "watch 2", "watch 2"])
    })
  )

  virtual("lists again on 410, and tells what vanished meanwhile as removed only", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.list = (_, n) =>
        Effect.succeed(n === 0 ? listing(1, raw("a", 1), raw("b", 1)) : listing(8, raw("a", 1)))
      script.watch = (_, n) => (n === 0 ? Stream.fail(error("Gone", 410)) : Stream.never)
      const changes: string[] = []
      let store = Store.empty<Item>()
      yield* started(script, {
        onInputs: (inputs) =>
          Effect.sync(() => {
            const step = Store.steps(store, inputs)
            store = step.store
            changes.push(...step.changes.map(({ _tag, key }) => `${_tag} ${key}`))
          })
      })
      yield* pass("1 second")
      expect(script.asked).toEqual(["list 100", "watch 1", "list 100", "watch 8"])
      expect(changes.sort()).toEqual(["Put ns/a", "Put ns/b", "Removed ns/b"])
    })
  )

  virtual("P4 refuses a list that is older than what was seen, and asks again with growing pauses", () =>
    Effect.gen(function* () {
      const script = new Script()
      let revision = 50
      script.list = () => Effect.succeed(listing(revision, raw("a", revision)))
      script.watch = (_, n) => (n === 0 ? Stream.fail(error("Gone", 410)) : Stream.never)
      const run = yield* started(script)
      revision = 49
      yield* pass("2 minutes")
      expect(run.told.length).toBe(1)
      const { lines } = yield* run.readiness.report
      expect(lines[0]).toContain("a list at revision 49 is older than 50")
      expect(script.asked.length).toBeLessThan(20)
      revision = 51
      yield* pass("30 seconds")
      expect(run.told.length).toBe(2)
      expect(run.state.stale).toBe(0)
      expect(script.asked.at(-1)).toBe("watch 51")
    })
  )

  virtual("P10 goes on watching where a list that is due by time alone fails, and lists again later", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.list = (_, n) => (n === 1 ? Effect.fail(error("Unavailable", 503)) : Effect.succeed(listing(7)))
      const run = yield* started(script, { relistSeconds: 60 })
      yield* pass("61 seconds")
      expect(script.asked).toEqual(["list 100", "watch 7", "list 100", "watch 7"])
      yield* pass("31 seconds")
      expect(script.asked.slice(4)).toEqual(["list 100", "watch 7"])
      expect(run.told.length).toBe(2)
    })
  )

  virtual("P1 lists again after a list that failed no later than the relist interval asks for", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.list = (_, n) => (n === 1 ? Effect.fail(error("Unavailable", 503)) : Effect.succeed(listing(7)))
      const run = yield* started(script, { relistSeconds: 2 })
      yield* pass("2 seconds")
      expect(script.asked).toEqual(["list 100", "watch 7", "list 100", "watch 7"])
      yield* pass("2 seconds")
      expect(run.told.length).toBe(2)
    })
  )

  virtual(
    "P6 lists again no sooner than a server asked for that refused a list, though the watch is well",
    () =>
      Effect.gen(function* () {
        const script = new Script()
        script.list = (_, n) =>
          n === 1 ? Effect.fail(error("Slow", 429, "later", 60)) : Effect.succeed(listing(7))
        yield* started(script, { relistSeconds: 2 })
        yield* pass("61 seconds")
        expect(script.asked.filter((each) => each.startsWith("list"))).toHaveLength(2)
        yield* pass("2 seconds")
        expect(script.asked.filter((each) => each.startsWith("list"))).toHaveLength(3)
      })
  )

  virtual("P8 tells the watch which objects are known, at which revision, and goes on from those", () =>
    Effect.gen(function* () {
      const script = new Script()
      let knows: WatchOptions["knows"]
      script.watch = (o) => {
        knows = o.knows
        return Stream.concat(Stream.make<[WatchLine]>({ type: "KNOWN", revision: "12" }), Stream.never)
      }
      script.list = () => Effect.succeed(listing(9, raw("a", 7)))
      const run = yield* started(script, {
        known: (key) => (key === "ns/a" ? { key, uid: "u-a", revision: "7", text: "" } : undefined)
      })
      const asked = (key: string, uid: string, revision: string): boolean | undefined =>
        knows?.({ key, uid, revision })
      expect([
        asked("ns/a", "u-a", "7"),
        asked("ns/a", "u-a", "8"),
        asked("ns/a", "u-b", "7"),
        asked("ns/b", "u-a", "7")
      ]).toEqual([true, false, false, false])
      expect(run.told.at(-1)).toEqual([{ _tag: "Bookmark", revision: "12" }])
    })
  )

  virtual("says nothing of a kind that nobody reflects any more", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.list = () => Effect.fail(error("Unavailable", 503))
      const run = yield* started(script)
      expect((yield* run.readiness.report).lines).toHaveLength(1)
      yield* Fiber.interrupt(run.fiber)
      expect((yield* run.readiness.report).lines).toEqual([])
    })
  )

  virtual("opens a watch again that said nothing for 3 minutes, and not one that sends bookmarks", () =>
    Effect.gen(function* () {
      const script = new Script()
      const lines = yield* Queue.unbounded<WatchLine>()
      script.watch = (_, n) => (n === 0 ? Stream.fromQueue(lines) : Stream.never)
      yield* started(script, { relistSeconds: 3600 })
      for (let minute = 1; minute <= 3; minute++) {
        yield* pass("2 minutes")
        yield* Queue.offer(lines, bookmark(10 + minute))
        yield* pass(0)
      }
      expect(script.asked).toEqual(["list 100", "watch 1"])
      yield* pass("179 seconds")
      expect(script.closed).toBe(0)
      yield* pass("2 seconds")
      expect(script.asked).toEqual(["list 100", "watch 1", "watch 13"])
      expect(script.closed).toBe(1)
    })
  )

  virtual("P1 finds a lost event within one relist interval", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.list = (_, n) => Effect.succeed(n === 0 ? listing(1, raw("a", 1)) : listing(6, raw("b", 5)))
      script.watch = () =>
        Stream.fromSchedule(Schedule.spaced("1 minute")).pipe(Stream.map(() => bookmark(6)))
      const run = yield* started(script)
      yield* pass("7 minutes")
      expect(run.names()).toEqual(["a"])
      yield* pass("3 minutes")
      expect(run.names()).toEqual(["b"])
      expect(script.asked).toEqual(["list 100", "watch 1", "list 100", "watch 6"])
      expect(script.closed).toBe(1)
    })
  )

  virtual("R24 waits for a CRD that isn't there, asks at least every 30 s, and says what is missing", () =>
    Effect.gen(function* () {
      const script = new Script()
      let installed = false
      script.list = () =>
        Effect.suspend(() =>
          installed ? Effect.succeed(listing(4, raw("a", 3))) : Effect.fail(error("NotFound", 404))
        )
      const run = yield* started(script)
      yield* pass("10 minutes")
      expect(yield* run.readiness.report).toEqual({
        ready: false,
        lines: ["waiting for deploymentgrids.superedge.io: 404, the CRD is not installed"]
      })
      const pauses = script.times.slice(1).map((time, n) => time - (script.times[n] ?? 0))
      expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000)
      expect(script.times.length).toBeLessThan(50)
      installed = true
      yield* pass("30 seconds")
      expect(run.names()).toEqual(["a"])
      expect(yield* run.readiness.report).toEqual({ ready: true, lines: [] })
    })
  )

  virtual("R50 keeps what it has when the list becomes forbidden, stays ready, and says so", () =>
    Effect.gen(function* () {
      const script = new Script()
      let forbidden = false
      script.list = () =>
        Effect.suspend(() =>
          forbidden
            ? Effect.fail(error("Forbidden", 403, "no rights"))
            : Effect.succeed(listing(1, raw("a", 1)))
        )
      script.watch = (_, n) =>
        n === 0
          ? Stream.fromEffect(Effect.delay(Effect.fail(error("Forbidden", 403, "no rights")), "1 second"))
          : Stream.never
      const run = yield* started(script)
      forbidden = true
      yield* pass("5 minutes")
      expect(run.names()).toEqual(["a"])
      expect(run.told.length).toBe(1)
      expect(yield* run.readiness.report).toEqual({
        ready: true,
        lines: ["trouble with deploymentgrids.superedge.io: 403, no rights"]
      })
      forbidden = false
      yield* pass("30 seconds")
      expect((yield* run.readiness.report).lines).toEqual([])
    })
  )

  virtual("P11 reads around an object that can't be read, and reports it once for each revision", () =>
    Effect.gen(function* () {
      const script = new Script()
      const poison = (revision: number) => ({ ...(raw("bad", revision) as object), text: 5 })
      script.list = (_, n) => Effect.succeed(listing(3 + n, raw("a", 1), poison(2), null, "x", raw("c", 1)))
      script.watch = (_, n) =>
        n === 0
          ? Stream.concat(
              Stream.make<WatchLine[]>(
                { type: "MODIFIED", object: poison(2) },
                { type: "MALFORMED", message: "no JSON" },
                { type: "MODIFIED", object: poison(4) },
                line("ADDED", "d", 5),
                { type: "DELETED", object: {} }
              ),
              Stream.fail(error("Gone", 410))
            )
          : Stream.never
      const reported: string[] = []
      const run = yield* started(script, {
        onUnread: ({ key, revision }) => Effect.sync(() => reported.push(`${key} ${revision}`))
      })
      expect(run.names()).toEqual(["a", "c", "d"])
      expect(reported).toEqual([
        "ns/bad 2",
        "undefined undefined",
        "undefined undefined",
        "undefined undefined",
        "ns/bad 4",
        "undefined undefined"
      ])
    })
  )

  virtual("P11 keeps what it knew of an object that became unreadable, in watch and list", () =>
    Effect.gen(function* () {
      const script = new Script()
      const poison = { ...(raw("a", 4) as object), text: 5 }
      script.list = (_, n) => Effect.succeed(n === 0 ? listing(1, raw("a", 1, "!")) : listing(9, poison))
      script.watch = (_, n) =>
        n === 0
          ? Stream.concat(
              Stream.make<WatchLine[]>({ type: "MODIFIED", object: poison }),
              Stream.fail(error("Gone", 410))
            )
          : Stream.never
      const run = yield* started(script)
      yield* pass("1 second")
      expect(script.asked).toEqual(["list 100", "watch 1", "list 100", "watch 9"])
      expect(run.names()).toEqual(["a!"])
    })
  )

  virtual("P11 takes a reducer's throw, and an object of another kind, as unreadable", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.list = () =>
        Effect.succeed(listing(1, raw("a", 1), { ...(raw("b", 1) as object), kind: "Pod" }, raw("c", 1)))
      const reported: string[] = []
      const run = yield* started(script, {
        reduce: (object, identity) => {
          if (identity.name === "a") throw new TypeError("no")
          return reduced(object, identity)
        },
        onUnread: ({ message }) => Effect.sync(() => reported.push(message))
      })
      expect(run.names()).toEqual(["c"])
      expect(reported).toEqual(["it could not be read: TypeError: no", "its kind is Pod, not DeploymentGrid"])
    })
  )

  virtual("does not reduce again what the store has at the same uid and revision", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.list = (_, n) =>
        Effect.succeed(n === 0 ? listing(1, raw("a", 1), raw("b", 1)) : listing(9, raw("a", 1), raw("b", 8)))
      script.watch = (_, n) => (n === 0 ? Stream.fail(error("Gone", 410)) : Stream.never)
      const reductions: string[] = []
      let store = Store.empty<Item>()
      yield* started(script, {
        known: (key) => Store.get(store, key),
        reduce: (object, identity) => {
          reductions.push(`${identity.name} ${identity.revision}`)
          return reduced(object, identity)
        },
        onInputs: (inputs) => Effect.sync(() => (store = Store.steps(store, inputs).store))
      })
      yield* pass("1 second")
      expect(reductions).toEqual(["a 1", "b 1", "b 8"])
    })
  )

  virtual("P6 backs off from a server that accepts and ends every watch at once", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.watch = () => Stream.empty
      yield* started(script)
      yield* pass("9 minutes")
      expect(script.asked.length).toBeLessThan(45)
    })
  )

  virtual("P6 backs off from a server that answers every watch with 410", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.watch = () => Stream.fail(error("Gone", 410))
      yield* started(script)
      yield* pass("9 minutes")
      expect(script.asked.length).toBeLessThan(80)
    })
  )

  virtual("counts failures anew after a watch that lasted", () =>
    Effect.gen(function* () {
      const script = new Script()
      script.watch = () => Stream.fromEffect(Effect.delay(Effect.fail(error("Unavailable", 0)), "40 seconds"))
      yield* started(script)
      yield* pass("7 minutes")
      expect(script.asked.length).toBeGreaterThanOrEqual(11)
    })
  )

  virtual("never interrupts inputs that are being taken in", () =>
    Effect.gen(function* () {
      const script = new Script()
      const gate = yield* Deferred.make<void>()
      let done = false
      const run = yield* started(script, {
        onInputs: () =>
          Effect.zipRight(
            Deferred.await(gate),
            Effect.sync(() => (done = true))
          )
      })
      const end = yield* Effect.fork(Fiber.interrupt(run.fiber))
      yield* pass("1 second")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(end)
      expect(done).toBe(true)
    })
  )

  virtual("asks for a time limit of five to ten minutes, not always the same", () =>
    Effect.gen(function* () {
      const script = new Script()
      const limits = new Set<number>()
      script.watch = (o) => {
        limits.add(o.timeoutSeconds)
        return Stream.empty
      }
      yield* started(script)
      yield* pass("5 minutes")
      expect(limits.size).toBeGreaterThan(5)
      expect(Math.min(...limits)).toBeGreaterThanOrEqual(300)
      expect(Math.max(...limits)).toBeLessThanOrEqual(600)
    })
  )

  it("P1 P4 holds what the server holds, through any sequence of faults", () => {
    const fault = fc.constantFrom(
      "none",
      "cut",
      "gone",
      "end",
      "silent",
      "stale",
      "410 in list",
      "500 in list",
      "repeat"
    )
    const step = fc.tuple(fc.nat(3), fc.boolean(), fault)
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 15 }), fc.nat(), (story, seed) => {
        ran(faulty(story).pipe(Effect.withRandom(Random.make(seed))))
      }),
      // A story is a reflector's life of minutes and costs 10 ms: 300 of them here, and 10,000 in the stories of
      // the whole loop.
      { numRuns: 300 }
    )
  })
})

describe("reflect over a socket", () => {
  live("lists, watches, survives a reset and a 410, and ends upstream with its fiber", () =>
    Effect.gen(function* () {
      const server = yield* fakeServer()
      let revision = 5
      let forgetful = false
      const items = new Map([
        ["a", raw("a", 3)],
        ["b", raw("b", 4)]
      ])
      server.answer = ({ query }, response) => {
        if (query.get("watch") !== "true") {
          send(response, 200, { metadata: { resourceVersion: String(revision) }, items: [...items.values()] })
        } else if (forgetful) {
          forgetful = false
          send(response, 410, status(410, "Expired", "too old"))
        } else response.flushHeaders()
      }
      const tell = (one: WatchLine): void => {
        for (const response of server.open) response.write(JSON.stringify(one) + "\n")
      }
      const client = yield* Effect.flatMap(connect(plainTarget(server.url)), api)
      let store = Store.empty<Item>()
      const fiber = yield* Effect.fork(
        reflect<Item>({
          kind: grids,
          relistSeconds: 600,
          reduce: reduced,
          onInputs: (inputs) => Effect.sync(() => (store = Store.steps(store, inputs).store))
        }).pipe(Effect.provide(Layer.merge(Layer.succeed(Api, client), Readiness.layer)))
      )
      yield* until("the watch", () => server.open.size === 1)
      expect(names(store)).toEqual(["a", "b"])
      revision = 6
      tell(line("ADDED", "c", 6))
      yield* until("the event", () => Store.get(store, "ns/c") !== undefined)
      for (const response of server.open) response.socket?.resetAndDestroy()
      yield* until("the next watch", () => server.heard.length === 3 && server.open.size === 1)
      expect(server.heard.at(-1)?.query.get("resourceVersion")).toBe("6")
      items.delete("a")
      items.set("c", raw("c", 6))
      revision = 9
      forgetful = true
      for (const response of server.open) response.end()
      yield* until("the removal", () => Store.get(store, "ns/a") === undefined)
      expect(names(store)).toEqual(["b", "c"])
      yield* until("the watch after the list", () => server.open.size === 1)
      yield* Fiber.interrupt(fiber)
      yield* until("the end of the watch upstream", () => server.open.size === 0)
    })
  )
})

type Step = readonly [number, boolean, string]

/** A server whose objects change step by step, while lists and watches suffer the faults that the story names. */
const faulty = (story: readonly Step[]): Effect.Effect<void> =>
  Effect.gen(function* () {
    const script = new Script()
    const live = new Map<string, unknown>()
    const log: WatchLine[] = []
    const past: Page[] = [listing(0)]
    let faults: string[] = []
    const next = (...kinds: readonly string[]): string | undefined => {
      const at = faults.findIndex((fault) => kinds.includes(fault))
      return at === -1 ? undefined : faults.splice(at, 1)[0]
    }
    const now = (): Page => past.at(-1) ?? listing(0)
    const waiting = new Set<() => void>()
    script.list = () =>
      Effect.suspend(() => {
        const fault = next("stale", "410 in list", "500 in list")
        if (fault === "500 in list") return Effect.fail(error("Unavailable", 500))
        if (fault === "410 in list") return Effect.fail(error("Gone", 410))
        return Effect.succeed(fault === "stale" ? (past.at(-3) ?? now()) : now())
      })
    script.watch = ({ revision }) =>
      Stream.suspend(() => {
        let at = Number(revision)
        const pull = Effect.async<WatchLine[], ApiError | "end">((resume) => {
          const look = (): void => {
            const fault = next("cut", "gone", "end", "silent", "repeat")
            if (fault === "cut") return answer(Effect.fail(error("Unavailable", 0)))
            if (fault === "gone") return answer(Effect.fail(error("Gone", 410)))
            if (fault === "end") return answer(Effect.fail("end"))
            if (fault === "silent") return void waiting.delete(look)
            const from = fault === "repeat" ? Math.max(0, at - 2) : at
            const fresh = log.slice(from)
            if (fresh.length === 0) return void waiting.add(look)
            at = log.length
            answer(Effect.succeed(fresh))
          }
          const answer = (exit: Effect.Effect<WatchLine[], ApiError | "end">): void => {
            waiting.delete(look)
            resume(exit)
          }
          look()
          return Effect.sync(() => waiting.delete(look))
        })
        return Stream.repeatEffect(pull).pipe(
          Stream.flattenIterables,
          Stream.catchAll((end) => (end === "end" ? Stream.empty : Stream.fail(end)))
        )
      })
    const floor = new Map<string, number>()
    const run = yield* started(script)
    for (const [n, drop, fault] of story) {
      const name = "abcd"[n] ?? "a"
      const revision = log.length + 1
      const known = live.get(name)
      if (drop && known !== undefined) {
        live.delete(name)
        log.push({ type: "DELETED", object: raw(name, revision, "", (known as Uid).metadata.uid) })
      } else {
        const object = raw(
          name,
          revision,
          String(revision),
          (known as Uid | undefined)?.metadata.uid ?? `u${revision}`
        )
        live.set(name, object)
        log.push({ type: known === undefined ? "ADDED" : "MODIFIED", object })
      }
      past.push(listing(revision, ...live.values()))
      faults.push(fault)
      waiting.forEach((look) => look())
      yield* pass("10 seconds")
      for (const item of Store.items(run.state.store)) {
        expect(Number(item.revision)).toBeGreaterThanOrEqual(floor.get(item.key) ?? 0)
        floor.set(item.key, Number(item.revision))
      }
    }
    faults = []
    yield* pass("4 minutes")
    const server = [...live].map(([name, object]) => name + (object as { text: string }).text)
    expect(names(run.state.store)).toEqual(server.sort())
    yield* Fiber.interrupt(run.fiber)
    expect(waiting.size).toBe(0)
  })

interface Uid {
  readonly metadata: { readonly uid: string }
}
