/**
 * A small cluster as data, what a node may be shown of it, and a client that believes what it is told, as kube-proxy does: it lists, watches from
 * there, watches on where a watch ended, and lists anew only where it is told 410.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Obj, visible, type World } from "./naive.ts"
import { ask, type Line, OWN, type Served, SLICES, Watching } from "./served.ts"
import type { Cloud } from "./wrapped.ts"

/** All that decides; what isn't there has no entry. */
export interface State {
  /** name -> zone */
  readonly nodes: ReadonlyMap<string, string>
  /** name -> topologyKeys; empty: none */
  readonly services: ReadonlyMap<string, string>
  /** name, which begins with its Service's and a dash -> nodes of its endpoints */
  readonly slices: ReadonlyMap<string, readonly string[]>
}

export interface Change {
  readonly plural: "nodes" | "services" | "endpointslices"
  readonly name: string
  /** zone, keys, or nodes with spaces between; undefined: it is dropped */
  readonly says: string | undefined
}

export const nothing: State = { nodes: new Map(), services: new Map(), slices: new Map() }

export const changed = (state: State, { plural, name, says }: Change): State => {
  const after = <V>(all: ReadonlyMap<string, V>, read: (text: string) => V): ReadonlyMap<string, V> => {
    const map = new Map(all)
    if (says === undefined) map.delete(name)
    else map.set(name, read(says))
    return map
  }
  switch (plural) {
    case "nodes":
      return { ...state, nodes: after(state.nodes, (text) => text) }
    case "services":
      return { ...state, services: after(state.services, (text) => text) }
    case "endpointslices":
      return { ...state, slices: after(state.slices, wordsOf) }
  }
}
const wordsOf = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "")

/** An object as it is put into the cluster. */
export const objectOf = ({ plural, name, says = "" }: Change): object => {
  switch (plural) {
    case "nodes":
      return nodeOf(name, says)
    case "services":
      return serviceOf(name, says)
    case "endpointslices":
      return sliceOf(name, wordsOf(says))
  }
}

export const carry = (cloud: Cloud, change: Change): void => {
  if (change.says === undefined) cloud.drop(change.plural, change.name)
  else cloud.put(change.plural, objectOf(change))
}

const nodeOf = (name: string, zone: string) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { zone } }
})
const serviceOf = (name: string, keys: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "default", annotations: keys === "" ? {} : { topologyKeys: keys } },
  spec: { ports: [{ port: 80 }] }
})
const sliceOf = (name: string, nodes: readonly string[]) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: {
    name,
    namespace: "default",
    labels: { "kubernetes.io/service-name": serviceNamed(name) }
  },
  addressType: "IPv4",
  endpoints: nodes.map((nodeName, i) => ({ addresses: [`10.0.${nodeName.slice(1)}.${i}`], nodeName })),
  ports: [{ name: "", port: 80, protocol: "TCP" }]
})
const serviceNamed = (slice: string): string => slice.replace(/-[^-]*$/, "")

/** name -> addresses, as a node sees them */
export type Seen = ReadonlyMap<string, string>

/** What this node may be shown. */
export const allowed = (state: State): Seen => {
  const labels = new Map([...state.nodes].map(([name, zone]) => [name, { zone }]))
  const world: World = {
    own: OWN,
    ownLabels: labels.get(OWN),
    services: new Map([...state.services].map(([name, keys]) => [`default/${name}`, serviceOf(name, keys)])),
    nodes: labels,
    apiServer: undefined
  }
  const all: readonly Obj[] = [...state.slices].map(([name, on]) => sliceOf(name, on))
  return new Map(
    [...state.slices.keys()].map((name, i) => [name, addresses(visible(world, all[i] ?? {}, all))])
  )
}

const addresses = (object: { readonly [field: string]: unknown } | object): string => {
  const { endpoints } = object as {
    readonly endpoints?: readonly { readonly addresses: readonly string[] }[]
  }
  return (endpoints ?? []).flatMap((each) => each.addresses).join(" ")
}

interface Shown {
  readonly metadata: { readonly name: string }
}

/** Slices that are none of the story's: the API server's own, and the one that says what came in. */
const ASIDE: ReadonlySet<string> = new Set(["kubernetes", "mark-1"])

const seen = (objects: readonly Shown[]): Seen =>
  new Map(
    objects
      .filter(({ metadata }) => !ASIDE.has(metadata.name))
      .map((each) => [each.metadata.name, addresses(each)])
  )

/** What a list says; undefined where there is none. */
export const listed = (at: Served): Effect.Effect<Seen | undefined> =>
  Effect.map(
    Effect.catchAllDefect(ask(at, SLICES), () => Effect.succeed(undefined)),
    (answer) => (answer?.status === 200 ? seen(answer.body["items"] as readonly Shown[]) : undefined)
  )

/** What a list says, as a plain object. */
export const shown = (at: Served): Effect.Effect<{ readonly [name: string]: string }> =>
  Effect.map(listed(at), (seen) => Object.fromEntries(seen ?? []))

/** The revision of a list. */
export const head = (at: Served): Effect.Effect<string> =>
  Effect.map(ask(at, SLICES), ({ body }) => revisionOf(body))
const revisionOf = (body: Obj): string =>
  (body["metadata"] as { readonly resourceVersion: string }).resourceVersion

export const same = (a: Seen | undefined, b: Seen): boolean =>
  a !== undefined && a.size === b.size && [...a].every(([name, each]) => b.get(name) === each)

/** Is asked about each slice that is told: its addresses, or that it is gone. */
type Judge = (name: string, addresses: string | undefined) => void

/** Believes what it is told, for as long as the scope is open, wherever `at` says that the wrapper is. */
export class Follower {
  believed = new Map<string, string>()
  /** how often it listed */
  lists = 0
  /** what it was told, as `TYPE name addresses` */
  readonly told: string[] = []
  readonly #at: () => Served
  readonly #judge: Judge
  #revision: string | undefined
  #stopped = false
  #watching: Watching | undefined

  constructor(at: () => Served, judge: Judge) {
    this.#at = at
    this.#judge = judge
  }

  /** up to where it was told all */
  get revision(): bigint {
    return BigInt(this.#revision ?? 0)
  }

  stop(): void {
    this.#stopped = true
    this.#watching?.stop()
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      try {
        if (this.#revision === undefined) await this.#list()
        else await this.#watch(this.#revision)
      } catch {
        // nobody is there
      }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async #list(): Promise<void> {
    const { status, body } = await Effect.runPromise(ask(this.#at(), SLICES))
    if (status !== 200) return
    this.lists++
    const now = seen(body["items"] as readonly Shown[])
    for (const [name, each] of now) this.#judge(name, each)
    for (const name of this.believed.keys()) if (!now.has(name)) this.#judge(name, undefined)
    this.believed = new Map(now)
    this.#revision = revisionOf(body)
  }

  async #watch(revision: string): Promise<void> {
    const watching = new Watching(this.#at(), `${SLICES}?watch=true&resourceVersion=${revision}`)
    this.#watching = watching
    for (let at = 0; ;) {
      const { ended } = watching
      for (; at < watching.lines.length; at++) this.#line(watching.lines[at] as Line)
      if (ended || this.#stopped) break
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    if (watching.status === 410) this.#revision = undefined
  }

  #line({ type, object }: Line): void {
    if (type === "ERROR") {
      this.#revision = undefined
      return
    }
    const name = String(object.metadata["name"])
    const shown = type === "DELETED" ? undefined : addresses(object)
    if (this.#revision !== undefined) this.#revision = String(object.metadata["resourceVersion"])
    if (ASIDE.has(name)) return
    this.told.push([type, name, shown ?? ""].join(" ").trim())
    if (shown === undefined) this.believed.delete(name)
    else this.believed.set(name, shown)
    this.#judge(name, shown)
  }
}

/** A follower that runs until the scope ends. */
export const following = (at: () => Served, judge: Judge): Effect.Effect<Follower, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const follower = new Follower(at, judge)
      void follower.run()
      return follower
    }),
    (follower) => Effect.sync(() => follower.stop())
  )

/** Changes one object of each kind upstream, in a way that shows whether the wrapper knows of it. */
export const mark = ({ put }: Cloud, turn: number): void => {
  const annotations = { turn: `${turn}` }
  const placed = { addresses: [`10.9.0.${turn % 200}`], nodeName: "m1" }
  const slice = sliceOf("mark-1", [])
  const service = serviceOf("mark", '["mark"]')
  put("nodes", { ...nodeOf("m1", ""), metadata: { name: "m1", labels: { mark: `${turn % 2}` } } }, "mark")
  put("nodes", { ...nodeOf(OWN, ""), metadata: { name: OWN, labels: { mark: "1" }, annotations } }, "mark")
  put("services", {
    ...service,
    metadata: { ...service.metadata, annotations: { ...service.metadata.annotations, ...annotations } }
  })
  put("endpointslices", { ...slice, metadata: { ...slice.metadata, annotations }, endpoints: [placed] })
}

/** Up to which revision clients of slices are told, once the wrapper knows of that mark in each kind; undefined: not yet. */
export const marked = (at: Served, turn: number): Effect.Effect<bigint | undefined> =>
  Effect.gen(function* () {
    const turned = (body: { readonly [field: string]: unknown }, name: string) =>
      ((body["items"] ?? []) as readonly Marked[]).find(
        ({ metadata }) => metadata.name === name && metadata.annotations?.turn === `${turn}`
      )
    const own = yield* ask(at, `/api/v1/nodes?fieldSelector=metadata.name%3D${OWN}`)
    const services = yield* ask(at, "/api/v1/services")
    const slices = yield* ask(at, SLICES)
    const slice = turned(slices.body, "mark-1")
    if (turned(own.body, OWN) === undefined || turned(services.body, "mark") === undefined) return undefined
    if (slice === undefined || (addresses(slice) !== "") !== (turn % 2 === 1)) return undefined
    return BigInt(revisionOf(slices.body))
  })

interface Marked extends Shown {
  readonly metadata: Shown["metadata"] & { readonly annotations?: { readonly turn?: string } }
}
