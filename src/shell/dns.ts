/**
 * The daemon form of names that stay in the unit: those of this node's pods, kept in a hosts file for the node's CoreDNS.
 *
 * *Guarantees*: nothing is written before all that names are made of was listed once, nor before this node was seen; without upstream the file
 * stays as it is. Reads StatefulSetGrids, the StatefulSets of grids, the slices of headless Services and this node, and nothing wider. Says
 * which sets have no names. *Does not*: decide (core/names.ts does), or write (hosts-keeper.ts does).
 */
import * as Effect from "effect/Effect"
import type { EndpointSlice } from "../core/endpoints.ts"
import { GRID_SELECTOR, type StatefulSetGrid } from "../core/grid.ts"
import type { Node, StatefulSet } from "../core/kube.ts"
import { headlessServices, names, type NamesInput } from "../core/names.ts"
import { namedSet, namedSetJson, namingGrid, namingGridJson } from "../core/own-sets.ts"
import * as Store from "../core/store.ts"
import { HEADLESS } from "../core/topology.ts"
import { unnamed } from "../core/unnamed.ts"
import { own } from "../core/value.ts"
import type { Api, Kind } from "./api.ts"
import { Readiness } from "./health.ts"
import { hostsKeeper } from "./hosts-keeper.ts"
import { CHILDREN, GRIDS, NODE, slicesIn } from "./kinds.ts"
import { reflect } from "./reflect.ts"

export interface DnsSettings {
  readonly node: string
  readonly hostsFile: string
  /** such as `cluster.local` */
  readonly clusterDomain: string
  /** seconds */
  readonly relistInterval: number
}

/** What is wrong at two looks in a row is told: a Service may come a little later than its set. */
const COMPLAIN = "5 seconds"

/** Keeps the file for ever. */
export const dns = (settings: DnsSettings): Effect.Effect<never, never, Api | Readiness> =>
  Effect.gen(function* () {
    const grids = new Kept({ kind: GRIDS.StatefulSetGrid, reduce: gridOf })
    const sets = new Kept({ kind: CHILDREN.StatefulSet, labelSelector: GRID_SELECTOR, reduce: setOf })
    const slices = new Kept({ kind: slicesIn("v1"), labelSelector: HEADLESS, reduce: sliceOf })
    const nodes = new Kept({ kind: NODE, fieldSelector: `metadata.name=${settings.node}`, reduce: nodeOf })
    const all = [grids, sets, slices, nodes]
    let last: Node | undefined

    const seen = (): Seen => {
      if (!all.every(({ synced }) => synced)) return "Listing"
      // Where it is deleted, its last labels stand.
      last = nodes.objects[0] ?? last
      if (last === undefined) return "NoNode"
      return {
        grids: grids.objects,
        sets: sets.objects,
        services: headlessServices(slices.objects),
        slices: slices.objects,
        node: last,
        clusterDomain: settings.clusterDomain
      }
    }
    const keeper = yield* hostsKeeper(settings.hostsFile, () => {
      const now = seen()
      return typeof now === "string" ? undefined : names(now)
    })
    const parts = [
      keeper.keep,
      complaining(settings, seen),
      ...all.map((each) => each.reflected(settings.relistInterval, keeper.changed))
    ]
    yield* Effect.all(parts, { concurrency: "unbounded", discard: true })
    return yield* Effect.never
  })

type Seen = NamesInput | "Listing" | "NoNode"

/** An object as far as names read it. */
interface Item<A> {
  readonly key: string
  readonly uid: string
  readonly revision: string
  readonly object: A
}

interface Part<A> {
  readonly kind: Kind
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly reduce: (raw: unknown) => A
}

/** A part of one kind, as it was seen last. */
class Kept<A> {
  #store: Store.Store<Item<A>> = Store.empty()
  readonly #part: Part<A>

  constructor(part: Part<A>) {
    this.#part = part
  }

  get synced(): boolean {
    return this.#store.synced
  }
  get objects(): readonly A[] {
    return [...Store.items(this.#store)].map(({ object }) => object)
  }

  reflected(relistSeconds: number, changed: () => void): Effect.Effect<never, never, Api | Readiness> {
    const { reduce, ...where } = this.#part
    return reflect<Item<A>>({
      ...where,
      relistSeconds,
      reduce: (raw, { key, uid, revision }) => ({ key, uid, revision, object: reduce(raw) }),
      known: (key) => Store.get(this.#store, key),
      onInputs: (inputs) => {
        const { store, changes } = Store.steps(this.#store, inputs)
        if (store.synced !== this.synced || changes.some(isNews)) changed()
        this.#store = store
        return undefined
      }
    })
  }
}

/** Statuses change all the time, and names don't come of them. */
const isNews = (change: Store.Change<Item<unknown>>): boolean =>
  change._tag === "Removed" || JSON.stringify(change.before?.object) !== JSON.stringify(change.after.object)

/** Says why there are no names, once, and that it is over. */
const complaining = (
  { node, hostsFile }: DnsSettings,
  seen: () => Seen
): Effect.Effect<never, never, Readiness> =>
  Effect.gen(function* () {
    const readiness = yield* Readiness
    const noNode = `there is no Node named ${node}: --node-name (SERVICEGROUP_NODE_NAME) has to be the name of this machine's Node`
    let before: ReadonlySet<string> = new Set()
    let told: ReadonlySet<string> = new Set()
    for (;;) {
      yield* Effect.sleep(COMPLAIN)
      const found = seen()
      if (found === "Listing") continue
      if (found === "NoNode") yield* readiness.waiting(hostsFile, noNode)
      const now = new Set(found === "NoNode" ? [noNode] : unnamed(found))
      const lasting = new Set([...now].filter((each) => before.has(each)))
      for (const each of lasting) if (!told.has(each)) yield* Effect.logWarning(each)
      for (const each of told) if (!now.has(each)) yield* Effect.logInfo(`no longer so: ${each}`)
      before = now
      told = lasting
    }
  })

const gridOf = (raw: unknown): StatefulSetGrid =>
  ({
    kind: "StatefulSetGrid",
    ...namingGridJson({ ...namingGrid(raw), revision: "" })
  }) as StatefulSetGrid

const setOf = (raw: unknown): StatefulSet =>
  namedSetJson({ ...namedSet(raw), revision: "" }) as unknown as StatefulSet

const fields = (from: unknown, ...all: readonly string[]): object =>
  Object.fromEntries(all.map((name) => [name, own(from, name)]))

const sliceOf = (raw: unknown): EndpointSlice => {
  const endpoints = own(raw, "endpoints")
  return {
    metadata: fields(own(raw, "metadata"), "name", "namespace", "labels"),
    addressType: own(raw, "addressType"),
    endpoints: (Array.isArray(endpoints) ? (endpoints as readonly unknown[]) : []).map((each) =>
      fields(each, "addresses", "hostname", "conditions")
    )
  } as EndpointSlice
}

const nodeOf = (raw: unknown): Node => ({ metadata: fields(own(raw, "metadata"), "name", "labels") }) as Node
