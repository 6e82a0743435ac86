/**
 * Sites: one pass over all units, groups and nodes looks at the stores, thinks (`sites`), writes, and tells each unit's and group's status.
 *
 * Guarantees: one pass at a time; nothing is thought before nodes, units and groups are all listed; what was thought is not written once a
 * unit or group was edited; a write that fails delays no other but by its own request; a pass that finds nothing to change sends nothing. Units are made before nodes
 * are written, so that a node that brings a unit about is written once. Passes take a fifth of the time at most, however much changes. A status
 * is written once a second at most after an edit, and every 10 s while only the readiness of nodes changes.
 * Does not decide: the core does.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { failed, type Hold, written } from "../core/hold.ts"
import type { FailureReason } from "../core/retry.ts"
import { earliest } from "../core/instant.ts"
import type { Site } from "../core/site.ts"
import { sitesOf, type Sites } from "../core/sites.ts"
import type { Unwritten } from "../core/unwritten.ts"
import type { Input } from "../core/store.ts"
import { Api, type ApiError } from "./api.ts"
import { each } from "./each.ts"
import type { Gate } from "./gate.ts"
import { ObservedSites } from "./observed-sites.ts"
import { queue, type Queue } from "./queue.ts"
import { type SeenNode, type SeenSite, seenNode, seenSite } from "./seen.ts"
import {
  comesFirst,
  revisionOf,
  send,
  siteWrites,
  type SiteWrite,
  writeDigest,
  writeKey
} from "./site-writes.ts"
import { series } from "./series.ts"
import { steady } from "./steady.ts"
import { SiteTeller } from "./tell-sites.ts"
import { identity, isMalformed } from "./wire.ts"

export interface SiteLoopSettings {
  /** the share of nodes, 0 to 1, that may leave their units at once without being confirmed */
  readonly maxNodesChanged: number
  /** writes in flight at most */
  readonly concurrency: number
  readonly writing: Gate
  /** takes in a node that was written, for all who keep nodes; this loop is told of it too */
  readonly takeInNode: (input: Input<SeenNode>) => Effect.Effect<void>
}

/** Reads what reflectors see, and passes over it. */
export interface SiteLoop {
  readonly readNodes: (inputs: readonly Input<SeenNode>[]) => Effect.Effect<void>
  readonly readSites: (kind: Site["kind"], inputs: readonly Input<SeenSite>[]) => Effect.Effect<void>
  readonly known: (kind: Site["kind"], key: string) => SeenSite | undefined
  /** never returns */
  readonly run: Effect.Effect<never>
}

/** How long what changes together is gathered. */
const GATHER_MS = 50
/** After a pass, so many times what it took to think is left to everything else. */
const REST = 4
/** Rounds after which somebody who changes nodes back, or a server in trouble, is told of. */
const ROUNDS = 3
/** What only somebody's edit ends: told at once. */
const LASTING: ReadonlySet<FailureReason> = new Set(["Forbidden", "Invalid"])
/** Of what is written again and again. */
const UNDONE = "it was written, and another writer keeps changing it back"
/** A hold that is over for this long says nothing any more. */
const FORGET_MS = 120_000

const passes = Metric.counter("servicegroup_site_passes_total", {
  description: "Passes over units, groups and nodes",
  incremental: true
})
const writes = series(
  "servicegroup_site_writes_total",
  "Writes for units, groups and nodes, by what and result",
  ["write", "result"]
)

/** The loop over sites; it passes over nothing until all that it reads is listed. */
export const siteLoop = (settings: SiteLoopSettings): Effect.Effect<SiteLoop, never, Api | Scope.Scope> =>
  Effect.gen(function* () {
    const loop = new Loop(settings, yield* Api)
    const passes: Queue = yield* queue(() => loop.pass)
    const due = (changed: boolean) =>
      changed
        ? Effect.flatMap(steady, (now) => passes.at(ALL, Math.max(now + GATHER_MS, loop.restUntil)))
        : Effect.void
    return {
      readNodes: (inputs) => Effect.suspend(() => due(loop.observed.readNodes(inputs))),
      readSites: (kind, inputs) => Effect.suspend(() => due(loop.observed.readSites(kind, inputs))),
      known: (kind, key) => loop.observed.site(kind, key),
      run: passes.run
    }
  })

/** The one key of the queue. */
const ALL = "sites"

class Loop {
  readonly observed = new ObservedSites()
  /** when the next pass may begin */
  restUntil = 0
  /** by write */
  readonly #held = new Map<string, Hold>()
  readonly #teller: SiteTeller
  readonly #settings: SiteLoopSettings
  readonly #api: Api["Type"]

  constructor(settings: SiteLoopSettings, api: Api["Type"]) {
    this.#settings = settings
    this.#api = api
    this.#teller = new SiteTeller(this.observed, settings.writing, api)
  }

  /** One pass; gives when the next one is wanted, if ever. */
  get pass(): Effect.Effect<number | undefined> {
    return Effect.gen(this, function* () {
      if (!this.observed.synced) return undefined
      yield* Metric.increment(passes)
      const began = yield* steady
      this.#forget(began)
      const { edition } = this.observed
      const seen = { NodeUnit: this.observed.sites("NodeUnit"), NodeGroup: this.observed.sites("NodeGroup") }
      const thought = this.#think(seen)
      this.restUntil = began + (1 + REST) * ((yield* steady) - began)
      const all = siteWrites(thought)
      const due = all.filter((write) => !this.#waits(write, began))
      const first = due.filter(
        (write) => comesFirst(write) && this.#held.get(writeKey(write))?._tag !== "Failed"
      )
      const now = first.length > 0 ? first : due
      yield* each(now, Math.min(this.#settings.concurrency, now.length), (write) =>
        this.#settings.writing(
          Effect.suspend(() => (this.observed.edition === edition ? this.#carryOut(write) : Effect.void))
        )
      )
      const again = Math.max(yield* steady, this.restUntil)
      if (first.length > 0 || this.observed.edition !== edition) return again
      // Also where nodes were written: where they come without end, all would wait for ever.
      yield* this.#teller.tell(seen, thought, edition)
      if (due.length > 0) return again
      const holds = all.map((write) => this.#held.get(writeKey(write))?.until)
      return earliest([...holds, this.#teller.next])
    })
  }

  #think(seen: { readonly [K in Site["kind"]]: readonly SeenSite[] }): Sites {
    return sitesOf({
      units: seen.NodeUnit.map(({ site }) => site),
      groups: seen.NodeGroup.map(({ site }) => site),
      nodes: this.observed.nodes(),
      maxNodesChanged: this.#settings.maxNodesChanged,
      unwritten: this.#unwritten()
    })
  }

  #forget(now: number): void {
    for (const [key, { until }] of this.#held) if (now - until > FORGET_MS) this.#held.delete(key)
  }

  /** What owners should know of what could not be written. */
  #unwritten(): Unwritten {
    const found = {
      Node: new Map<string, string>(),
      Unit: new Map<string, string>(),
      Deletion: new Map<string, string>(),
      Finalizers: new Map<string, string>()
    }
    for (const [key, { _tag, attempt, failure }] of this.#held) {
      const lasting = _tag === "Failed" && LASTING.has(failure.reason)
      if (!lasting && attempt <= ROUNDS) continue
      const space = key.indexOf(" ")
      const why = _tag === "Failed" ? failure.message : UNDONE
      found[key.slice(0, space) as SiteWrite["_tag"]].set(key.slice(space + 1), why)
    }
    return {
      nodes: found.Node,
      units: new Map([...found.Unit, ...found.Deletion]),
      finalizers: found.Finalizers
    }
  }

  /** What the server calls invalid waits until what is wanted or what is observed changes, all else until what is wanted does. */
  #waits(write: SiteWrite, now: number): boolean {
    const hold = this.#held.get(writeKey(write))
    if (hold === undefined || hold.until <= now) return false
    if (hold.failure.reason === "Slow") return true
    if (hold.failure.reason === "Invalid" && hold.revision !== revisionOf(write)) return false
    return hold.wanted === writeDigest(write)
  }

  #carryOut(write: SiteWrite): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const key = writeKey(write)
      const answer = yield* Effect.either(send(this.#api, write))
      const now = yield* steady
      writes(write._tag, answer._tag === "Left" ? answer.left.reason : "Written")
      const before = this.#held.get(key)
      const wanted = writeDigest(write)
      if (answer._tag === "Left") {
        const jitter = yield* Random.next
        this.#held.set(
          key,
          failed(before, { failure: answer.left, wanted, revision: revisionOf(write), now, jitter })
        )
        return yield* warned(write, answer.left)
      }
      this.#held.set(key, written(before, { wanted, revision: "", undone: [], now }))
      yield* Effect.logDebug("written").pipe(Effect.annotateLogs({ write: key }))
      yield* this.#takeIn(write, answer.right)
    })
  }

  /** Takes in what the server answered, so that the next pass sees it. */
  #takeIn(write: SiteWrite, answer: unknown): Effect.Effect<void> {
    return Effect.suspend(() => {
      const who = identity(answer)
      if (write._tag === "Node")
        return isMalformed(who)
          ? Effect.void
          : this.#settings.takeInNode({ _tag: "Written", item: seenNode(true)(answer, who) })
      const kind = write._tag === "Finalizers" ? write.patch.kind : "NodeUnit"
      const item = isMalformed(who) ? undefined : seenSite(kind)(answer, who)
      const revision = revisionOf(write)
      // Who lets go of the last finalizer, or deletes what has none, is answered by what was there, or by a Status.
      const gone = write._tag !== "Unit" && (item === undefined || isLoose(item.site))
      if (gone && revision !== undefined)
        this.observed.takeIn(kind, { _tag: "Dropped", key: `/${write.name}`, revision })
      else if (item !== undefined) this.observed.takeIn(kind, { _tag: "Written", item })
      return Effect.void
    })
  }
}

/** Whether nothing keeps what is being deleted. */
const isLoose = ({ deleting, finalizers }: Site): boolean => deleting && finalizers.length === 0

/** What someone else changed in between is not worth a word: it is looked at again. */
const warned = (write: SiteWrite, { reason, message }: ApiError): Effect.Effect<void> => {
  const log = reason === "Conflict" ? Effect.logDebug("a write failed") : Effect.logWarning("a write failed")
  return log.pipe(Effect.annotateLogs({ write: writeKey(write), reason, error: message }))
}
