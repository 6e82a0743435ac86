/**
 * A cluster that runs: requests are answered at once, the built-in controllers work between them, watches are told.
 *
 * *Guarantees*: every listener hears every change of its resource, in the order of revisions, after the answer to the
 * request that made it was computed and before the next request is looked at. Controllers work in small batches, so
 * no request waits for a cluster to settle. The history is bounded.
 *
 * *Does not* listen on anything: that is server.ts.
 */
import type { Change, Cluster, Request, Response, Watch } from "./cluster.ts"
import type { Controller } from "./controller.ts"
import { isIdle, settled, told, world, type World } from "./controllers.ts"
import { compact, start, step, watch } from "./model.ts"
import { targetOf, verbOf, type Target, type Verb } from "./verbs.ts"

export interface Settings {
  readonly controllers: readonly Controller[]
  /** how many changes are kept for watches that come back */
  readonly history: number
  /** milliseconds since the epoch */
  readonly now: () => number
  /** told of every request from outside, in the order of their answers */
  readonly onRequest: (seen: Seen) => void
}

/** A request as it is counted. */
export interface Seen {
  readonly verb: Verb
  readonly target: Target | undefined
  readonly userAgent: string | undefined
  readonly code: number
}

/** A request whose time is the cluster's own. */
export type Question = Omit<Request, "at">

export type Listener = (change: Change) => void

export class Engine {
  readonly #settings: Settings
  readonly #listeners = new Map<string, Set<Listener>>()
  #world: World
  #batch: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(settings: Settings) {
    const at = settings.now()
    this.#settings = settings
    this.#world = world(start(at), settings.controllers, at)
    this.#schedule()
  }

  /** The cluster as it is. */
  cluster(): Cluster {
    return this.#world.look.cluster
  }

  /** The answer to a request that isn't a watch. */
  request(question: Question): Response {
    const at = this.#settings.now()
    const { cluster, response, changes } = step(this.cluster(), { ...question, at })
    if (cluster !== this.cluster()) {
      this.#world = told(this.#world, cluster, changes, at)
      this.#publish(changes)
      this.#schedule()
    }
    this.#seen(question, response.code)
    return response
  }

  /** A watch and what ends its subscription, or the answer that refuses it. */
  watch(
    question: Question
  ):
    | { readonly _tag: "Watch"; readonly watch: Watch }
    | { readonly _tag: "Refused"; readonly response: Response } {
    const answer = watch(this.cluster(), { ...question, at: this.#settings.now() })
    this.#seen(question, answer._tag === "Watch" ? 200 : answer.response.code)
    return answer
  }

  /** Hears every later change of a resource, until the function that this gives is called. */
  listen(resource: string, listener: Listener): () => void {
    const all = this.#listeners.get(resource) ?? new Set()
    this.#listeners.set(resource, all.add(listener))
    return () => all.delete(listener)
  }

  /** Lets the controllers work until nothing is due. */
  settle(): void {
    while (!this.#stopped && !isIdle(this.#world, this.#settings.now())) this.#work()
  }

  now(): number {
    return this.#settings.now()
  }

  /** No controller works after this. */
  stop(): void {
    this.#stopped = true
    clearImmediate(this.#batch)
    clearTimeout(this.#timer)
  }

  #work(): void {
    const { world: after, changes } = settled(this.#world, this.#settings.now(), BATCH)
    this.#world = after
    this.#publish(changes)
  }

  #schedule(): void {
    if (this.#stopped || this.#batch !== undefined || this.#settings.controllers.length === 0) return
    clearTimeout(this.#timer)
    this.#batch = setImmediate(() => {
      this.#batch = undefined
      this.#work()
      this.#later()
    })
  }

  /** The next batch: at once while there is work, else when the next timer is due. */
  #later(): void {
    const { queue, timers } = this.#world
    if (queue.length > 0) {
      this.#schedule()
      return
    }
    let due = Number.POSITIVE_INFINITY
    for (const { at } of timers.values()) due = Math.min(due, at)
    if (this.#stopped || due === Number.POSITIVE_INFINITY) return
    const wait = Math.min(Math.max(due - this.#settings.now(), 0), LONGEST)
    this.#timer = setTimeout(() => {
      this.#schedule()
    }, wait)
  }

  #publish(changes: readonly Change[]): void {
    for (const change of changes) {
      for (const listener of this.#listeners.get(change.resource) ?? []) listener(change)
    }
    const { revision, compacted } = this.cluster()
    const { history } = this.#settings
    if (revision - compacted < history * SLACK) return
    const cluster = compact(this.cluster(), revision - history)
    this.#world = { ...this.#world, look: { ...this.#world.look, cluster } }
  }

  #seen(question: Question, code: number): void {
    const { path, userAgent } = question
    this.#settings.onRequest({ verb: verbOf(question), target: targetOf(path), userAgent, code })
  }
}

/** Steps of controllers between two looks at the sockets. */
const BATCH = 50

/** The history is cut when it is this much longer than it has to be. */
const SLACK = 1.2

/** The longest that a Node timer waits, in milliseconds. */
const LONGEST = 2_147_483_647
