/**
 * The daemon form of names that stay in the unit: those of this node's pods, kept in a hosts file for the node's CoreDNS.
 *
 * *Guarantees*: nothing is written before all that names are made of was listed once; a write that fails is tried again within ten seconds, for
 * ever; an edit of our block by someone else is mended within a minute. Reads StatefulSetGrids, the StatefulSets of grids, the slices of
 * headless Services and this node, and nothing wider. *Does not*: decide (core/names.ts does).
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type { EndpointSlice } from "../core/endpoints.ts"
import { GRID_SELECTOR, type StatefulSetGrid } from "../core/grid.ts"
import type { Node, Service, StatefulSet } from "../core/kube.ts"
import { type Name, names } from "../core/names.ts"
import { reconnect } from "../core/retry.ts"
import * as Store from "../core/store.ts"
import { HEADLESS, SERVICE_NAME } from "../core/topology.ts"
import { own } from "../core/value.ts"
import type { Api, Kind } from "./api.ts"
import type { Readiness } from "./health.ts"
import { type Outcome, writeHosts } from "./hosts-file.ts"
import { CHILDREN, GRIDS, NODE, slicesIn } from "./kinds.ts"
import { type Reflection, reflect } from "./reflect.ts"
import type { Identity } from "./wire.ts"

export interface DnsSettings {
  readonly node: string
  readonly hostsFile: string
  /** such as `cluster.local` */
  readonly clusterDomain: string
  /** seconds */
  readonly relistInterval: number
}

/** An object as far as names read it. */
interface Item<A> {
  readonly key: string
  readonly uid: string
  readonly revision: string
  readonly object: A
}

const GATHER = "100 millis"
/** Someone else may edit the file. */
const LOOK = "1 minute"
const MOST_MS = 10_000

const failures = Metric.counter("servicegroup_hosts_failures_total", {
  description: "Writes of the hosts file that failed",
  incremental: true
})
const written = Metric.gauge("servicegroup_hosts_names", { description: "Names in the hosts file" })

/** One kind, folded into a store. */
class Kept<A> {
  #store: Store.Store<Item<A>> = Store.empty()

  get synced(): boolean {
    return this.#store.synced
  }
  get objects(): readonly A[] {
    return [...Store.items(this.#store)].map(({ object }) => object)
  }

  reflection(of: {
    readonly kind: Kind
    readonly labelSelector?: string
    readonly fieldSelector?: string
    readonly relistSeconds: number
    readonly reduce: (raw: unknown) => A
    readonly changed: () => void
  }): Reflection<Item<A>> {
    const { reduce, changed, ...rest } = of
    return {
      ...rest,
      reduce: (raw, { key, uid, revision }: Identity) => ({ key, uid, revision, object: reduce(raw) }),
      known: (key) => Store.get(this.#store, key),
      onInputs: (inputs) => {
        this.#store = Store.steps(this.#store, inputs).store
        changed()
        return undefined
      }
    }
  }
}

/** Keeps the file for ever. */
export const dns = (settings: DnsSettings): Effect.Effect<never, never, Api | Readiness | Scope.Scope> =>
  Effect.gen(function* () {
    const bell = yield* Effect.makeLatch(false)
    const changed = (): void => void bell.unsafeOpen()
    const grids = new Kept<StatefulSetGrid>()
    const sets = new Kept<StatefulSet>()
    const slices = new Kept<EndpointSlice>()
    const nodes = new Kept<Node>()
    let node: Node | undefined
    const wanted = (): readonly Name[] | undefined => {
      // Where it is deleted, its last labels stand.
      node = nodes.objects[0] ?? node
      if (![grids, sets, slices, nodes].every(({ synced }) => synced) || node === undefined) return undefined
      return names({
        grids: grids.objects,
        sets: sets.objects,
        services: headless(slices.objects),
        slices: slices.objects,
        node,
        clusterDomain: settings.clusterDomain
      })
    }
    const relistSeconds = settings.relistInterval
    const reflections = [
      reflect(grids.reflection({ kind: GRIDS.StatefulSetGrid, relistSeconds, reduce: gridOf, changed })),
      reflect(
        sets.reflection({
          kind: CHILDREN.StatefulSet,
          labelSelector: GRID_SELECTOR,
          relistSeconds,
          reduce: setOf,
          changed
        })
      ),
      reflect(
        slices.reflection({
          kind: slicesIn("v1"),
          labelSelector: HEADLESS,
          relistSeconds,
          reduce: sliceOf,
          changed
        })
      ),
      reflect(
        nodes.reflection({
          kind: NODE,
          fieldSelector: `metadata.name=${settings.node}`,
          relistSeconds,
          reduce: nodeOf,
          changed
        })
      )
    ]
    yield* Effect.all([keeping(settings.hostsFile, wanted, bell), ...reflections], {
      concurrency: "unbounded",
      discard: true
    })
    return yield* Effect.never
  })

/** Writes whenever something changed, and looks after the file now and then. */
const keeping = (
  path: string,
  wanted: () => readonly Name[] | undefined,
  bell: Effect.Latch
): Effect.Effect<never> => {
  let attempt = 0
  let inPlace = false
  const once = Effect.gen(function* () {
    bell.unsafeClose()
    const all = wanted()
    if (all === undefined) return
    const ended = yield* Effect.either(Effect.tryPromise(() => writeHosts(path, all)))
    if (ended._tag === "Right") {
      yield* Metric.set(written, all.length)
      if (attempt > 0) yield* Effect.logInfo(`${path} is written again`)
      attempt = 0
      inPlace = yield* told(path, ended.right, inPlace)
      return
    }
    const message = String(ended.left.error instanceof Error ? ended.left.error.message : ended.left.error)
    yield* Metric.increment(failures)
    if (attempt === 0)
      yield* Effect.logWarning(
        `${path} can't be written: ${message}; what is in it stays, and it is tried again`
      )
    const wait = reconnect({ reason: "Unavailable", code: 0, message }, attempt++, yield* Random.next)
    yield* Effect.sleep(Math.min(wait, MOST_MS))
    bell.unsafeOpen()
  })
  return Effect.forever(
    Effect.zipRight(
      Effect.raceFirst(Effect.zipRight(bell.await, Effect.sleep(GATHER)), Effect.sleep(LOOK)),
      once
    )
  )
}

/** Says once that the file can't be replaced whole. */
const told = (path: string, outcome: Outcome, before: boolean): Effect.Effect<boolean> =>
  outcome === "InPlace" && !before
    ? Effect.as(
        Effect.logWarning(
          `${path} can't be replaced, since it is a mount or its folder takes no files: it is written in place, and who reads meanwhile may see a part of it; mount its folder instead`
        ),
        true
      )
    : Effect.succeed(before || outcome === "InPlace")

/** Headless Services are told by their slices' label: Services themselves are not read. */
const headless = (slices: readonly EndpointSlice[]): readonly Service[] => {
  const found = new Map<string, Service>()
  for (const { metadata } of slices) {
    const name = own(metadata.labels, SERVICE_NAME)
    if (typeof name !== "string") continue
    const namespace = metadata.namespace ?? ""
    found.set(`${namespace}/${name}`, { metadata: { name, namespace }, spec: { clusterIP: "None" } })
  }
  return [...found.values()]
}

const fields = (from: unknown, ...names: readonly string[]): object =>
  Object.fromEntries(names.map((name) => [name, own(from, name)]))

const meta = (raw: unknown, ...more: readonly string[]): object =>
  fields(own(raw, "metadata"), "name", "namespace", "uid", ...more)

const gridOf = (raw: unknown): StatefulSetGrid =>
  ({
    kind: "StatefulSetGrid",
    metadata: meta(raw),
    spec: fields(own(raw, "spec"), "gridUniqKey")
  }) as StatefulSetGrid

const setOf = (raw: unknown): StatefulSet =>
  ({
    metadata: meta(raw, "annotations", "ownerReferences"),
    spec: fields(own(raw, "spec"), "serviceName")
  }) as StatefulSet

const sliceOf = (raw: unknown): EndpointSlice => {
  const endpoints = own(raw, "endpoints")
  return {
    metadata: meta(raw, "labels"),
    addressType: own(raw, "addressType"),
    endpoints: (Array.isArray(endpoints) ? (endpoints as readonly unknown[]) : []).map((each) =>
      fields(each, "addresses", "hostname", "conditions")
    )
  } as EndpointSlice
}

const nodeOf = (raw: unknown): Node => ({ metadata: meta(raw, "labels") }) as Node
