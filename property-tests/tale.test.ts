/** The whole wrapper before the embedded cluster, while networks, servers, disks and itself come and go. */
import * as Effect from "effect/Effect"
import fc from "fast-check"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { always, once } from "../cluster-tests/relay-script.ts"
import { authority } from "./certificates.ts"
import { live, until } from "./effect.ts"
import { carry, type Change, head, listed, objectOf, shown } from "./followed.ts"
import { liteRelay } from "./lite-relay.ts"
import { runs } from "./runs.ts"
import { ask, names, SLICES, watch } from "./served.ts"
import { begun, shows, tale, TROUBLES } from "./tale.ts"
import { altering, metric, wrapper } from "./wrapped.ts"

const slice = (name: string, says: string | undefined): Change => ({ plural: "endpointslices", name, says })
const service = (name: string, says: string | undefined): Change => ({ plural: "services", name, says })
const node = (name: string, says: string | undefined): Change => ({ plural: "nodes", name, says })

describe("whatever happens upstream", () => {
  live("P8 P9 P10 faults 5, 7, 9, 10, 11: each trouble once, while all kinds change", () =>
    Effect.gen(function* () {
      const story = yield* tale()
      let i = 0
      for (const trouble of Object.values(TROUBLES)) {
        i++
        const changes = [
          service("web", i % 2 === 1 ? '["zone","*"]' : '["zone"]'),
          node("n3", i % 2 === 1 ? "a" : "b"),
          slice("web-2", i % 3 === 0 ? undefined : `n${i % 3} n3`)
        ]
        yield* story.chapter(changes, trouble)
      }
      expect(story.wrong).toEqual([])
      // it listed at first and after each restart: whatever happens upstream alone costs no client a list
      expect(story.follower?.lists).toBe(3)
    })
  )

  const change = fc.oneof(
    fc.record({
      plural: fc.constant("endpointslices" as const),
      name: fc.constantFrom("web-1", "web-2", "all-1"),
      says: fc.option(fc.constantFrom("n1", "n2 n3", "n3", "n3 n2 n1", ""), { nil: undefined, freq: 4 })
    }),
    fc.record({
      plural: fc.constant("services" as const),
      name: fc.constantFrom("web", "all"),
      says: fc.option(fc.constantFrom("", '["zone"]', '["zone","*"]', "zone"), { nil: undefined, freq: 4 })
    }),
    fc.oneof(
      fc.record({
        plural: fc.constant("nodes" as const),
        name: fc.constantFrom("n2", "n3"),
        says: fc.option(fc.constantFrom("a", "b"), { nil: undefined, freq: 4 })
      }),
      fc.record({
        plural: fc.constant("nodes" as const),
        name: fc.constant("n1"),
        says: fc.constantFrom("a", "b")
      })
    )
  )
  const chapters = fc.array(
    fc.tuple(fc.array(change, { minLength: 1, maxLength: 3 }), fc.constantFrom(...Object.values(TROUBLES))),
    { minLength: 1, maxLength: 8 }
  )

  // Real sockets: as many stories as fit into ten seconds.
  it("P8 P9 P10 R109 R113 R137 R139: stories of changes, faults and restarts, fifteen of them", async () => {
    await fc.assert(
      fc.asyncProperty(chapters, async (all) => {
        const told = Effect.gen(function* () {
          const story = yield* tale()
          for (const [changes, trouble] of all) yield* story.chapter(changes, trouble)
        })
        await Effect.runPromise(Effect.scoped(told))
      }),
      { ...runs(15), endOnFailure: true }
    )
  })
})

describe("upstream", () => {
  live("R100 tells of a slice before its Service: at first without other nodes' endpoints", () =>
    Effect.gen(function* () {
      const story = yield* tale()
      story.change([slice("late-1", "n1 n2")])
      yield* story.settled("the slice")
      story.change([service("late", "")])
      yield* story.settled("the Service")
      const told = story.follower?.told.filter((line) => line.includes("late-1"))
      expect(told).toEqual(["ADDED late-1 10.0.1.0", "MODIFIED late-1 10.0.1.0 10.0.2.1"])
    })
  )

  live("R136 says how old its view is, and stays ready", () =>
    Effect.gen(function* () {
      const story = yield* tale()
      story.cloud.away()
      const age = (): number => metric("servicegroup_feed_age_seconds", '{feed="EndpointSlice"}') ?? 0
      yield* until("an age", () => age() > 0.2)
      expect(Effect.runSync(story.wrapper.readiness.report).ready).toBe(true)
    })
  )

  live("R137 gives this node as it was seen last, where upstream takes the connection and resets it", () =>
    Effect.gen(function* () {
      const story = yield* tale()
      const { relay } = story.cloud
      relay.play([always({ verb: "get", kind: "nodes" }, { _tag: "Reset", moment: "before" })])
      const own = yield* ask(story.wrapper, "/api/v1/nodes/n1")
      expect(own.status).toBe(200)
      expect(relay.done()[0]).toBeGreaterThan(0)
      expect(own.body).toMatchObject({ kind: "Node", metadata: { name: "n1" } })
      expect((yield* ask(story.wrapper, "/api/v1/nodes/n2")).status).toBe(502)
    })
  )

  live("R122 waits where upstream fails from the start, and says for what", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      over.relay.play([
        always({ verb: "list", kind: "endpointslices" }, { _tag: "Fail", code: 500, reason: "InternalError" })
      ])
      const { port, readiness } = yield* wrapper({ url: over.relay.server, folder: over.folder })
      const report = (): string => Effect.runSync(readiness.report).lines.join("\n")
      const answers: number[] = []
      const held = yield* Effect.fork(
        Effect.tap(ask({ port }, SLICES), ({ status }) => Effect.sync(() => answers.push(status)))
      )
      yield* until("the others", () => (metric("servicegroup_own_node_missing") ?? 1) === 0)
      yield* until(
        "the words",
        () => /^waiting for EndpointSlice: /m.test(report()) && report().includes("500")
      )
      expect([answers, Effect.runSync(readiness.report).ready]).toEqual([[], false])
      expect((yield* ask({ port }, "/api/v1/nodes/n1")).status).toBe(200)
      over.relay.calm()
      expect(names(yield* held)).toEqual(["all-1", "kubernetes", "web-1"])
      yield* until("readiness", () => Effect.runSync(readiness.report).ready)
    })
  )

  live("R135 takes a refusal of its own list and watch for no list", () =>
    Effect.gen(function* () {
      const story = yield* tale()
      const { relay } = story.cloud
      const fail = { _tag: "Fail", code: 403, reason: "Forbidden" } as const
      relay.play([
        always({ verb: "watch", kind: "endpointslices" }, fail),
        always({ verb: "list", kind: "endpointslices" }, fail)
      ])
      relay.cut()
      yield* until("refusals", () => relay.done().every((times) => times > 0))
      yield* story.stands("refused")
      expect(story.follower?.told).toEqual([])
      relay.calm()
      yield* story.chapter([slice("web-2", "n1")], TROUBLES.none)
      expect(story.follower?.told).toEqual(["ADDED web-2 10.0.1.0"])
    })
  )

  live("fault 6: finds a lost event with the next list, and tells of nothing else", () =>
    Effect.gen(function* () {
      const story = yield* tale({ relistInterval: 20 })
      story.cloud.relay.play([once({ verb: "event", kind: "endpointslices" }, 1, { _tag: "Lose" })])
      story.change([slice("web-2", "n2 n3")])
      yield* story.settled("a lost event")
      expect(story.cloud.relay.done()).toEqual([1])
      expect(story.follower?.told).toEqual(["ADDED web-2 10.0.2.0"])
    })
  )

  live("fault 11: opens a watch again that says nothing, for a network that drops all", () =>
    Effect.gen(function* () {
      const story = yield* tale({ hurry: 150 })
      const { relay } = story.cloud
      relay.play([once({ verb: "event", kind: "endpointslices" }, 1, { _tag: "Hold", ms: 1_000_000 })])
      story.change([slice("web-2", "n2 n3")])
      yield* story.settled("silence")
      expect(story.follower?.told).toEqual(["ADDED web-2 10.0.2.0"])
    })
  )

  live("R121 is asked for slices in v1beta1 where it has no v1, and both are served", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const old = yield* altering(over.api.url, {
        meet: (path) =>
          path.startsWith("/apis/discovery.k8s.io/v1/")
            ? { code: 404 }
            : { path: path.replace("/discovery.k8s.io/v1beta1/", "/discovery.k8s.io/v1/") },
        line: (text) => text.replaceAll('"discovery.k8s.io/v1"', '"discovery.k8s.io/v1beta1"')
      })
      const at = yield* wrapper({ url: old.url, folder: over.folder })
      for (const version of ["v1", "v1beta1"]) {
        const { status, body } = yield* ask(at, `/apis/discovery.k8s.io/${version}/endpointslices`)
        expect([status, body["apiVersion"]]).toEqual([200, `discovery.k8s.io/${version}`])
      }
      expect(yield* shown(at)).toEqual({
        "all-1": "10.0.2.0 10.0.3.1",
        "web-1": "10.0.1.0 10.0.2.1"
      })
      expect(old.heard.some((line) => line.includes("/v1beta1/endpointslices"))).toBe(true)
    })
  )

  live(
    "R134 is told who the wrapper is where its client says nothing, and who the client is where it does",
    () =>
      Effect.gen(function* () {
        const over = yield* begun()
        const before = yield* altering(over.api.url, {
          meet: (path) => (path.endsWith("/pods") ? { code: 403 } : { path }),
          line: (text) => text
        })
        const at = yield* wrapper({ url: before.url, folder: over.folder, token: "own" })
        const post = (path: string, headers: Record<string, string> = {}) =>
          Effect.map(ask(at, path, { method: "POST", headers }), ({ status }) => status)
        const [events, pods] = ["/api/v1/namespaces/default/events", "/api/v1/namespaces/default/pods"]
        yield* post(events)
        yield* post(events, { authorization: "Bearer client" })
        expect(yield* post(pods)).toBe(403)
        expect(yield* post(pods, { "impersonate-user": "admin" })).toBe(403)
        expect(before.heard.filter((line) => line.startsWith("POST"))).toEqual([
          `POST ${events} Bearer own`,
          `POST ${events} Bearer client`,
          `POST ${pods} Bearer own`
        ])
      })
  )

  live(
    "P11 fault 15: keeps a slice out whose endpoints are of wrong types, says so once, and shows all others",
    () =>
      Effect.gen(function* () {
        const over = yield* begun(slice("bad-1", "n7"))
        const wrong = yield* altering(over.api.url, {
          meet: (path) => ({ path }),
          line: (text) => text.replaceAll('"nodeName":"n7"', '"nodeName":{"n7":[1]}')
        })
        const counted = (): number =>
          metric("servicegroup_malformed_objects_total", '{kind="EndpointSlice"}') ?? 0
        const first = counted()
        const at = yield* wrapper({ url: wrong.url, folder: over.folder, relistInterval: 4 })
        const others = { "all-1": "10.0.2.0 10.0.3.1", "web-1": "10.0.1.0 10.0.2.1" }
        expect(yield* shown(at)).toEqual(others)
        const lists = (): number =>
          wrong.heard.filter((line) => line === "GET /apis/discovery.k8s.io/v1/endpointslices").length
        const before = lists()
        yield* until("further lists", () => lists() > before + 3)
        carry(over, slice("good-1", "n1"))
        yield* until("the next slice", () => counted() > first && Effect.runSync(at.readiness.report).ready)
        yield* shows(at, { ...others, "good-1": "10.0.1.0" })
        const said = at.lines.filter((line) => line.startsWith("an object can't be read"))
        expect(said).toHaveLength(1)
      })
  )
})

describe("clients and disks", () => {
  live("R113 tells a client of an earlier process 410, however far the new one has come", () =>
    Effect.gen(function* () {
      const story = yield* tale()
      const revision = yield* head(story.wrapper)
      yield* story.restart(() => story.change([slice("web-1", "n1")]))
      yield* story.settled("the restart")
      for (let i = 0; i < 20; i++) yield* story.chapter([slice("web-2", `n${(i % 2) + 1}`)], TROUBLES.none)
      expect((yield* watch(story.wrapper, `&resourceVersion=${revision}`)).status).toBe(410)
      yield* story.settled("the end")
    })
  )

  live("R130 come and go two hundred times, and upstream is asked nothing for it", () =>
    Effect.gen(function* () {
      const story = yield* tale()
      yield* until("one watch", () => metric("servicegroup_open_watches") === 1)
      const { passed } = story.cloud.relay
      const before = passed.length
      const revision = yield* head(story.wrapper)
      yield* Effect.forEach(
        Array.from({ length: 200 }),
        () => Effect.scoped(watch(story.wrapper, `&resourceVersion=${revision}`)),
        { concurrency: 20 }
      )
      yield* until("one watch again", () => metric("servicegroup_open_watches") === 1)
      expect(passed.length).toBe(before)
    })
  )

  live("P7 P12 fault 12: a client that reads nothing is told 410, and the others are told all", () =>
    Effect.gen(function* () {
      const story = yield* tale()
      const slow = yield* watch(
        story.wrapper,
        `&resourceVersion=${yield* head(story.wrapper)}`,
        SLICES,
        false
      )
      const big = objectOf(slice("web-9", "n1")) as { readonly metadata: object }
      const filler = "x".repeat(100_000)
      story.change([slice("web-9", "n1")])
      yield* story.settled("the first")
      for (let i = 0; i < 200; i++) {
        const annotations = { filler: `${i}${filler}` }
        story.cloud.put("endpointslices", { ...big, metadata: { ...big.metadata, annotations } })
        if (i % 10 === 0) yield* Effect.sleep(1)
      }
      const lines = (): number => (story.follower?.told ?? []).filter((each) => each.includes("web-9")).length
      yield* until("all of them, for the quick client", () => lines() === 201)
      expect(story.follower?.lists).toBe(1)
      slow.read()
      yield* until("the slow one's end", () => slow.ended)
      expect([slow.lines.at(-1)?.type, slow.lines.at(-1)?.object.code]).toEqual(["ERROR", 410])
    })
  )

  live(
    "P10 R138 fault 13: goes on beside a disk that can't be written, and sets aside what isn't whole",
    () =>
      Effect.gen(function* () {
        const over = yield* begun()
        const kept = join(over.folder, "kept")
        writeFileSync(kept, "a file where the folder should be")
        const given = { url: over.relay.server, folder: over.folder, snapshot: true }
        const first = yield* wrapper(given)
        yield* until("a warning", () => first.lines.some((line) => line.includes("can't be written")))
        const all = yield* listed(first)
        expect(all?.size).toBe(2)
        rmSync(kept)
        const snapshot = join(kept, "snapshot")
        yield* until("a snapshot", () => first.lines.some((line) => line.includes("is written again")))
        yield* first.stop

        const whole = readFileSync(snapshot)
        for (const damaged of [whole.subarray(0, whole.length - 40), Buffer.from("{}\n"), Buffer.alloc(0)]) {
          writeFileSync(snapshot, damaged)
          over.away()
          const blind = yield* wrapper(given)
          expect(readdirSync(kept).filter((name) => name.startsWith("snapshot.broken-"))).toHaveLength(1)
          expect(Effect.runSync(blind.readiness.report).ready).toBe(false)
          over.relay.calm()
          expect(yield* listed(blind)).toEqual(all)
          yield* blind.stop
        }
        over.away()
        expect(yield* listed(yield* wrapper(given))).toEqual(all)
      })
  )
})

describe("a caching relay before upstream", () => {
  live(
    "P4 P10: lists and watches pass through it, and its old answers while it is cut off change nothing",
    () =>
      Effect.gen(function* () {
        const over = yield* begun()
        const here = authority("node")
        const lite = yield* Effect.acquireRelease(
          Effect.promise(() => liteRelay({ to: over.relay.server, identity: here.certify("relay") })),
          ({ stop }) => Effect.promise(stop)
        )
        const at = yield* wrapper({ url: lite.url, folder: over.folder, ca: here.cert, relistInterval: 10 })
        const first = { "all-1": "10.0.2.0 10.0.3.1", "web-1": "10.0.1.0 10.0.2.1" }
        expect(yield* shown(at)).toEqual(first)
        const open = yield* watch(at, `&resourceVersion=${yield* head(at)}`)
        carry(over, slice("web-1", "n1"))
        yield* until("a change", () => open.lines.length === 1)
        over.away()
        const served = lite.served()
        yield* until("lists out of the relay's memory", () => lite.served() > served + 3)
        expect(yield* shown(at)).toEqual({ ...first, "web-1": "10.0.1.0" })
        carry(over, slice("web-2", "n2"))
        over.relay.calm()
        yield* until("the difference", () => open.lines.length === 2)
        expect(open.told).toEqual(["MODIFIED web-1", "ADDED web-2"])
        expect(yield* shown(at)).toEqual({ ...first, "web-1": "10.0.1.0", "web-2": "10.0.2.0" })
      })
  )
})
