/** The wrapper as a whole, before an embedded cluster that goes away: what is shown meanwhile, and what is told afterwards. */
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { Relay } from "../src/commands/demo/relay.ts"
import { live, until } from "./effect.ts"
import { carry, type Change, head, shown } from "./followed.ts"
import { ask, names, SLICES, watch } from "./served.ts"
import { begun, shows } from "./tale.ts"
import { altering, type Cloud, metric, type Wrapper, wrapper } from "./wrapped.ts"

/** What is shown at first: n1 and n2 are in zone a, n3 is in b, and web is kept to its zone. */
const FIRST = { "all-1": "10.0.2.0 10.0.3.1", "web-1": "10.0.1.0 10.0.2.1" }

describe("wrap", () => {
  live(
    "P10 R113 R136 R137 R139 serves what it saw last without upstream, across its restart too, and then tells the differences",
    () =>
      Effect.gen(function* () {
        const over = yield* begun()
        // While it is cut, connections to it are refused.
        const way = yield* Effect.orDie(Relay.to(Number(new URL(over.api.url).port)))
        const first = yield* before(over, way.url)
        expect(yield* shown(first)).toEqual(FIRST)
        const revision = yield* head(first)
        const open = yield* watch(first, `&resourceVersion=${revision}`)
        yield* until("a snapshot", () => snapshot(over).includes("all-1"))

        yield* way.cut()
        yield* until("the trouble", () => /^trouble with EndpointSlice/m.test(report(first).lines.join("\n")))
        expect(yield* shown(first)).toEqual(FIRST)
        expect([open.ended, open.lines, report(first).ready]).toEqual([false, [], true])
        yield* first.stop

        const second = yield* before(over, way.url)
        expect(yield* shown(second)).toEqual(FIRST)
        const own = yield* ask(second, "/api/v1/nodes/n1")
        expect(own.body).toMatchObject({ kind: "Node", metadata: { name: "n1" } })
        expect(report(second).ready).toBe(true)
        expect((yield* watch(second, `&resourceVersion=${revision}`)).status).toBe(410)
        const resumed = yield* watch(second, `&resourceVersion=${yield* head(second)}`)

        for (const each of [slice("web-1", "n3 n1"), slice("all-1", undefined), slice("web-2", "n2")])
          carry(over, each)
        yield* Effect.orDie(way.mend())
        yield* until("the differences", () => resumed.lines.length === 3)
        expect(resumed.told.toSorted()).toEqual(["ADDED web-2", "DELETED all-1", "MODIFIED web-1"])
        expect(yield* shown(second)).toEqual({ "web-1": "10.0.1.1", "web-2": "10.0.2.0" })
      })
  )

  live("R128 tells of what was deleted while the watch was broken", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* before(over)
      const open = yield* watch(at, `&resourceVersion=${yield* head(at)}`)
      over.away()
      carry(over, slice("all-1", undefined))
      carry(over, { plural: "services", name: "web", says: undefined })
      over.relay.calm()
      yield* until("both", () => open.lines.length === 2)
      expect(open.told.toSorted()).toEqual(["DELETED all-1", "MODIFIED web-1"])
      // The Service is gone: nothing of it is known, so nothing on other nodes is shown.
      expect(yield* shown(at)).toEqual({ "web-1": "10.0.1.0" })
    })
  )

  live("R107 goes on by the last labels of this node when it is deleted, and takes those of a new one", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* before(over)
      expect(yield* shown(at)).toEqual(FIRST)
      carry(over, ownNode(undefined))
      yield* until("the metric", () => metric("servicegroup_own_node_deleted") === 1)
      carry(over, slice("web-1", "n2 n3 n1"))
      yield* shows(at, { ...FIRST, "web-1": "10.0.2.0 10.0.1.2" })
      carry(over, ownNode("b"))
      yield* shows(at, { ...FIRST, "web-1": "10.0.3.1 10.0.1.2" })
      yield* until("the metric, back", () => metric("servicegroup_own_node_deleted") === 0)
    })
  )

  live("R123 says which Node is missing, and shows nothing before it is there", () =>
    Effect.gen(function* () {
      const over = yield* begun(ownNode(undefined))
      const at = yield* before(over)
      const words = "there is no Node named n1: --node-name"
      yield* until("the words", () => report(at).lines.some((line) => line.includes(words)))
      yield* until("the metric", () => metric("servicegroup_own_node_missing") === 1)
      expect(report(at).ready).toBe(false)
      const asked = yield* Effect.fork(ask(at, SLICES))
      carry(over, ownNode("b"))
      expect(names(yield* Effect.fromFiber(asked))).toEqual(["all-1", "kubernetes", "web-1"])
      expect(yield* shown(at)).toEqual({ ...FIRST, "web-1": "10.0.1.0 10.0.3.2" })
      yield* until("readiness", () => report(at).ready)
    })
  )

  live("P11 keeps a malformed slice as it was seen last, and all others as they are", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      // No API server stores such a slice; one that lost its mind would send it.
      const wrong = yield* altering(over.relay.server, {
        meet: (path) => ({ path }),
        line: (text) => text.replaceAll('"nodeName":"n7"', '"nodeName":7')
      })
      const at = yield* before(over, wrong.url)
      expect(yield* shown(at)).toEqual(FIRST)
      carry(over, slice("web-1", "n7 n1"))
      carry(over, slice("all-1", "n2"))
      yield* shows(at, { ...FIRST, "all-1": "10.0.2.0" })
    })
  )
})

const slice = (name: string, says: string | undefined): Change => ({ plural: "endpointslices", name, says })
const ownNode = (says: string | undefined): Change => ({ plural: "nodes", name: "n1", says })

/** A wrapper before that cluster, with a snapshot. */
const before = (over: Cloud, url = over.relay.server) => wrapper({ url, folder: over.folder, snapshot: true })

const report = ({ readiness }: Wrapper) => Effect.runSync(readiness.report)

const snapshot = ({ folder }: Cloud): string => {
  try {
    return readFileSync(join(folder, "kept", "snapshot"), "utf8")
  } catch {
    return ""
  }
}
