/**
 * Which objects, when: one pass over a grid looks at the stores, thinks (`plan`), acts, and tells its status last.
 *
 * Guarantees: one pass per grid at a time, many grids at once; a failing child, grid or kind delays no other; at most
 * `concurrency` writes of children, grids, nodes and statuses are in flight; a pass that finds nothing to change sends nothing. Nothing is
 * planned before the stores that it reads are synced.
 * Assumes one controller at a time (two do no harm, but send more). Does not decide: the core does.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import type { Child } from "../core/child.ts"
import { earliest } from "../core/instant.ts"
import type { Rival } from "../core/rivals.ts"
import type { ChildKind } from "../core/schema.ts"
import { type Grid, GRID_SELECTOR } from "../core/grid.ts"
import type { Site } from "../core/site.ts"
import type { Input } from "../core/store.ts"
import { isWork } from "./act.ts"
import { Api } from "./api.ts"
import type { Unread } from "./decode.ts"
import type { Desk } from "./desk.ts"
import { gate, type Gate } from "./gate.ts"
import type { Readiness } from "./health.ts"
import { CHILDREN, GRIDS, NODE, SITES } from "./kinds.ts"
import { type Memory, remember } from "./memory.ts"
import { type Due, Observed } from "./observed.ts"
import { GATHER_MS } from "./pace.ts"
import { prune } from "./prune.ts"
import { type Queue, queue } from "./queue.ts"
import { reflect } from "./reflect.ts"
import { tellUnread } from "./report.ts"
import {
  seenChild,
  type SeenGrid,
  seenGrid,
  type SeenNode,
  seenNode,
  seenOther,
  type SeenSite,
  seenSite
} from "./seen.ts"
import { siteLoop } from "./sites.ts"
import { steady } from "./steady.ts"
import { count, tell } from "./tell.ts"
import { FORGET_MS, think } from "./think.ts"
import { work } from "./work.ts"

export interface ControlSettings {
  /** empty: all namespaces */
  readonly namespace: string
  /** seconds */
  readonly unitGrace: number
  /** writes in flight at most */
  readonly concurrency: number
  /** seconds */
  readonly relistInterval: number
  /** SuperEdge's field manager, whose children are taken over */
  readonly legacyManager: string
  /** whether units and groups are looked after besides */
  readonly sites: boolean
  /** the share of nodes, 0 to 1, that may leave their units at once without being confirmed */
  readonly maxNodesChanged: number
}

const counter = Metric.counter("servicegroup_passes_total", {
  description: "Passes over grids",
  incremental: true
})

/** The grid that a name of `gridRef` stands for. */
const named = (ref: string): { readonly kind: Grid["kind"]; readonly key: string } => {
  const slash = ref.indexOf("/")
  return { kind: ref.slice(0, slash) as Grid["kind"], key: ref.slice(slash + 1) }
}

/** One pass; gives the time at which the grid wants to be looked at again, if any. */
const pass = (
  desk: Desk,
  memories: Map<string, Memory>,
  unitGrace: number,
  ref: string
): Effect.Effect<number | undefined, never, Api> =>
  Effect.gen(function* () {
    const { kind, key } = named(ref)
    const seen = desk.observed.grid(kind, key)
    const known = memories.get(ref)
    if (known !== undefined && known.uid !== seen?.uid) {
      yield* count(known, 0)
      memories.delete(ref)
    }
    if (seen === undefined || !desk.observed.synced(kind)) return undefined
    const memory = memories.get(ref) ?? remember(seen.uid)
    memories.set(ref, memory)
    yield* Metric.increment(counter)
    yield* work(desk, think(desk.observed, seen, memory, { unitGrace, now: yield* steady }), memory)
    yield* prune(desk, seen, memory)
    const latest = desk.observed.grid(kind, key)
    if (latest?.uid !== memory.uid) return undefined
    const now = yield* steady
    const after = think(desk.observed, latest, memory, { unitGrace, now })
    if (after.plan.steps.some(isWork)) return now
    yield* tell(desk, after, memory)
    const strangers = [...memory.strangers.values()].map(({ until }) => until)
    const forget = memory.held.size === 0 ? undefined : now + FORGET_MS + 1
    const pruned = memory.pruning?.until
    return earliest([after.plan.wakeAt, memory.pace.next, pruned, forget, ...strangers])
  })

/**
 * Thinks about a grid some of whose children wait for the end of their grace, although a pass may be under way: a unit that is back, and
 * gone again before that pass ends, begins a new grace.
 */
const glance = (
  desk: Desk,
  memories: ReadonlyMap<string, Memory>,
  unitGrace: number,
  ref: string
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const memory = memories.get(ref)
    if (memory === undefined || memory.vanished.size === 0) return
    const { kind, key } = named(ref)
    const seen = desk.observed.grid(kind, key)
    if (seen?.uid !== memory.uid || !desk.observed.synced(kind)) return
    think(desk.observed, seen, memory, { unitGrace, now: yield* steady })
  })

/** A gate that nothing passes any more once writing is not ours to do: what waits for it then is interrupted soon. */
const guarded = (through: Gate, still: (now: number) => boolean): Gate => {
  const guard = <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(steady, (now) => (still(now) ? write : Effect.never))
  return (write) => through(guard(write))
}

/**
 * Reconciles every grid for ever: reflects nodes, grids and children, and runs a pass over each grid that is due.
 * Never returns; dies on a defect. `still`: whether writing is ours to do, at a time of `steady`.
 */
export const control = (
  settings: ControlSettings,
  still: (now: number) => boolean
): Effect.Effect<never, never, Api | Readiness | Scope.Scope> =>
  Effect.gen(function* () {
    const observed = new Observed()
    const desk: Desk = {
      observed,
      writing: guarded(gate(settings.concurrency), still),
      concurrency: settings.concurrency,
      legacy: [settings.legacyManager],
      wake: (due) => enqueue(due),
      offset: (yield* Clock.currentTimeMillis) - (yield* steady)
    }
    const memories = new Map<string, Memory>()
    // Who leads again counts anew.
    yield* Effect.addFinalizer(() => Effect.forEach(memories.values(), (memory) => count(memory, 0)))
    const passes: Queue = yield* queue((ref) => pass(desk, memories, settings.unitGrace, ref))
    const enqueue = ({ now, soon }: Due) => {
      if (now.size === 0 && soon.size === 0) return Effect.void
      return Effect.gen(function* () {
        for (const ref of now) {
          yield* glance(desk, memories, settings.unitGrace, ref)
          yield* passes.now(ref)
        }
        if (soon.size === 0) return
        const later = (yield* steady) + GATHER_MS
        for (const ref of soon) yield* passes.at(ref, later)
      })
    }
    const where = settings.namespace === "" ? {} : { namespace: settings.namespace }
    const scope = yield* Effect.scope
    const api = yield* Api
    // Told beside the reflector, which has more to read.
    const unreadable = (stays: string) => (unread: Unread) =>
      Effect.asVoid(Effect.forkIn(Effect.provideService(tellUnread(unread, stays), Api, api), scope))
    const relistSeconds = settings.relistInterval
    const readNodes = (inputs: readonly Input<SeenNode>[]): Effect.Effect<void> =>
      Effect.zipRight(enqueue(observed.readNodes(inputs)), sites?.readNodes(inputs) ?? Effect.void)
    const { maxNodesChanged, concurrency } = settings
    const { writing } = desk
    const takeInNode = (input: Input<SeenNode>): Effect.Effect<void> => readNodes([input])
    const sites = settings.sites
      ? yield* siteLoop({ maxNodesChanged, concurrency, writing, takeInNode })
      : undefined
    const nodes = reflect<SeenNode>({
      kind: NODE,
      relistSeconds,
      reduce: seenNode(settings.sites),
      known: (key) => observed.knownNode(key),
      onInputs: readNodes
    })
    const placed = (sites === undefined ? [] : (Object.keys(SITES) as Site["kind"][])).map((kind) =>
      reflect<SeenSite>({
        kind: SITES[kind],
        relistSeconds,
        reduce: seenSite(kind),
        onUnread: unreadable("nodes stay as they are"),
        known: (key) => sites?.known(kind, key),
        onInputs: (inputs) => sites?.readSites(kind, inputs)
      })
    )
    const grids = (Object.keys(GRIDS) as Grid["kind"][]).map((kind) =>
      reflect<SeenGrid>({
        kind: GRIDS[kind],
        ...where,
        relistSeconds,
        reduce: seenGrid(kind),
        onUnread: unreadable("its children stay as they are"),
        known: (key) => observed.grid(kind, key),
        onInputs: (inputs) => enqueue(observed.readGrids(kind, inputs))
      })
    )
    const children = (Object.keys(CHILDREN) as ChildKind[]).map((kind) =>
      reflect<Child>({
        kind: CHILDREN[kind],
        ...where,
        labelSelector: GRID_SELECTOR,
        relistSeconds,
        reduce: seenChild(kind, desk.legacy),
        known: (key) => observed.child(kind, key),
        onInputs: (inputs) => enqueue(observed.readChildren(kind, inputs))
      })
    )
    // Pods of a set that is no grid's may bear the names that a grid's have in every unit.
    const others = reflect<Rival>({
      kind: CHILDREN.StatefulSet,
      ...where,
      labelSelector: `!${GRID_SELECTOR}`,
      as: "statefulsets.apps of no grid",
      relistSeconds,
      reduce: seenOther,
      known: (key) => observed.other(key),
      onInputs: (inputs) => enqueue(observed.readOthers(inputs))
    })
    // A defect in one of them ends them all, and with them the process.
    const all = [passes.run, nodes, ...grids, ...children, others, ...placed, sites?.run ?? Effect.never]
    yield* Effect.all(all, { concurrency: "unbounded", discard: true })
    return yield* Effect.never
  })
