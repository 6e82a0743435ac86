/**
 * A story told to a whole wrapper: changes upstream while something goes wrong, and then calm.
 *
 * *Guarantees*: what its client is told at any moment is what some mixture of the states before and after the changes allows, object by object; once all is
 * calm, the list, and what the client believes, is what the last state allows.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { always, EXPIRED, once, type Script } from "../cluster-tests/relay-script.ts"
import {
  allowed,
  carry,
  type Change,
  changed,
  type Follower,
  following,
  listed,
  mark,
  marked,
  nothing,
  same,
  type Seen,
  type State
} from "./followed.ts"
import type { Served } from "./served.ts"
import { cloud, type Cloud, type Given, type Wrapper, wrapper } from "./wrapped.ts"

/** What goes wrong while upstream changes. */
type Trouble =
  | { readonly _tag: "None" | "Cut" | "Away" | "Restart" | "RestartAway" | "Server" }
  | { readonly _tag: "Script"; readonly script: Script; readonly cut: boolean }

const script = (cut: boolean, ...rules: Script): Trouble => ({ _tag: "Script", script: rules, cut })
const refusing = (code: number, reason: string): Trouble =>
  script(
    true,
    always({ verb: "list" }, { _tag: "Fail", code, reason }),
    always({ verb: "watch" }, { _tag: "Fail", code, reason })
  )

export const TROUBLES = {
  none: { _tag: "None" },
  cut: { _tag: "Cut" },
  away: { _tag: "Away" },
  server: { _tag: "Server" },
  restart: { _tag: "Restart" },
  restartAway: { _tag: "RestartAway" },
  expired: script(
    true,
    ...["services", "nodes", "endpointslices"].map((kind) => once({ verb: "watch", kind }, 1, EXPIRED))
  ),
  expiredInside: script(false, once({ verb: "event" }, 1, EXPIRED), once({ verb: "event" }, 2, EXPIRED)),
  expiredPage: script(true, once({ verb: "watch" }, 1, EXPIRED), once({ verb: "continue" }, 1, EXPIRED)),
  repeated: script(false, always({ verb: "event" }, { _tag: "Repeat" })),
  lateServices: script(false, always({ verb: "event", kind: "services" }, { _tag: "Hold", ms: 60 })),
  lateNodes: script(false, always({ verb: "event", kind: "nodes" }, { _tag: "Hold", ms: 60 })),
  lateSlices: script(false, always({ verb: "event", kind: "endpointslices" }, { _tag: "Hold", ms: 60 })),
  busy: refusing(429, "TooManyRequests"),
  failing: refusing(500, "InternalError"),
  forbidden: refusing(403, "Forbidden")
} as const satisfies { readonly [name: string]: Trouble }

class Tale {
  readonly cloud: Cloud
  wrapper: Wrapper
  state: State = nothing
  /** judgements that failed */
  readonly wrong: string[] = []
  #possible: readonly Seen[] = []
  readonly #given: Given
  #turn = 0
  follower: Follower | undefined

  constructor(over: Cloud, given: Given, first: Wrapper) {
    this.cloud = over
    this.#given = given
    this.wrapper = first
  }

  readonly judge = (name: string, shown: string | undefined): void => {
    if (this.#possible.some((each) => each.get(name) === shown)) return
    const may = this.#possible.map((each) => each.get(name))
    this.wrong.push(`${name} was shown as ${shown}, which none of ${JSON.stringify(may)} allows`)
  }

  get now(): Seen {
    return allowed(this.state)
  }

  /** Changes upstream; whatever part of them the wrapper knows at a moment is possible from now on. */
  change(changes: readonly Change[]): void {
    const states = changes.reduce<readonly State[]>(
      (all, change) => [...all, ...all.map((state) => changed(state, change))],
      [this.state]
    )
    this.#possible = states.map((state) => allowed(state))
    for (const change of changes) {
      if (change.says !== undefined || this.#has(change)) carry(this.cloud, change)
      this.state = changed(this.state, change)
    }
  }

  #has({ plural, name }: Change): boolean {
    const { nodes, services, slices } = this.state
    return { nodes, services, endpointslices: slices }[plural].has(name)
  }

  /** Stops the wrapper, and starts one with what it kept. */
  restart(meanwhile: () => void): Effect.Effect<void, never, Scope.Scope> {
    return Effect.gen(this, function* () {
      yield* this.wrapper.stop
      meanwhile()
      this.wrapper = yield* wrapper(this.#given)
    })
  }

  /** Changes while something goes wrong, then all is well. */
  chapter(changes: readonly Change[], trouble: Trouble): Effect.Effect<void, never, Scope.Scope> {
    return Effect.gen(this, function* () {
      const { relay } = this.cloud
      const before = this.now
      switch (trouble._tag) {
        case "None":
          this.change(changes)
          break
        case "Cut":
          relay.cut()
          this.change(changes)
          break
        case "Away":
          this.cloud.away()
          this.change(changes)
          yield* Effect.sleep(30)
          break
        case "Server": {
          this.change(changes.slice(0, 1))
          this.cloud.away()
          yield* Effect.sleep(20)
          // a server that was restarted knows no old revisions
          relay.play([once({ verb: "watch" }, 1, EXPIRED), once({ verb: "watch" }, 3, EXPIRED)])
          yield* this.settled("the first change")
          this.change(changes.slice(1))
          break
        }
        case "Restart":
          yield* this.restart(() => this.change(changes))
          break
        case "RestartAway":
          this.cloud.away()
          yield* this.restart(() => undefined)
          yield* comes(this, "the list of before, offline", before)
          this.change(changes)
          break
        case "Script":
          relay.play(trouble.script)
          if (trouble.cut) relay.cut()
          this.change(changes)
          yield* Effect.sleep(40)
          break
      }
      relay.calm()
      yield* this.settled(JSON.stringify([trouble, changes]))
    })
  }

  /** Waits until all is told that there is: the list, and what the client believes, is what upstream's state allows, and nothing wrong was told. */
  settled(after: string): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const turn = ++this.#turn
      mark(this.cloud, turn)
      let revision: bigint | undefined
      yield* waited(`${after}: all kinds`, () =>
        Effect.map(marked(this.wrapper, turn), (told) => (revision = told) !== undefined)
      )
      yield* waited(`${after}: the client`, () =>
        Effect.sync(() => this.follower === undefined || this.follower.revision >= (revision ?? 0n))
      )
      yield* this.stands(after)
      this.#possible = [this.now]
    })
  }

  /** Waits until the list, and what the client believes, is what upstream's state allows, and nothing wrong was told. */
  stands(after: string): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      yield* comes(this, after, this.now)
      if (this.wrong.length > 0) throw new Error(`P9 after ${after}: ${this.wrong.join("; ")}`)
    })
  }
}

const waited = (what: string, holds: () => Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const end = performance.now() + 20_000; !(yield* holds()); yield* Effect.sleep(5))
      if (performance.now() > end) throw new Error(`did not come: ${what}`)
  })

/** Waits until a list says that, name by name. */
export const shows = (at: Served, wanted: { readonly [name: string]: string }): Effect.Effect<void> =>
  waited(`a list of ${JSON.stringify(wanted)}`, () =>
    Effect.map(listed(at), (seen) => same(seen, new Map(Object.entries(wanted))))
  )

const comes = (tale: Tale, after: string, wanted: Seen): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { follower } = tale
    for (const end = performance.now() + 20_000; ;) {
      const list = yield* listed(tale.wrapper)
      const believed = follower?.believed
      if (same(list, wanted) && (believed === undefined || same(believed, wanted))) return
      if (performance.now() > end) {
        const words = [wanted, list, believed].map((each) => JSON.stringify([...(each ?? [])]))
        throw new Error(`${after}: wanted ${words[0]}, listed ${words[1]}, believed ${words[2]}`)
      }
      yield* Effect.sleep(5)
    }
  })

/** What most tales begin with: n1 and n2 in zone a, n3 in zone b; a Service kept to its zone, and one that isn't. */
const BEGINNING: readonly Change[] = [
  { plural: "nodes", name: "n1", says: "a" },
  { plural: "nodes", name: "n2", says: "a" },
  { plural: "nodes", name: "n3", says: "b" },
  { plural: "services", name: "web", says: '["zone"]' },
  { plural: "services", name: "all", says: "" },
  { plural: "endpointslices", name: "web-1", says: "n1 n2 n3" },
  { plural: "endpointslices", name: "all-1", says: "n2 n3" }
]

/** A cluster in which all of that is, and more. */
export const begun = (...more: readonly Change[]): Effect.Effect<Cloud, never, Scope.Scope> =>
  Effect.map(cloud, (over) => {
    for (const change of [...BEGINNING, ...more]) carry(over, change)
    return over
  })

/** A wrapper before a cluster in which all of that is, and a client that follows it. */
export const tale = (given: Partial<Given> = {}): Effect.Effect<Tale, never, Scope.Scope> =>
  Effect.gen(function* () {
    const over = yield* begun()
    const whole: Given = { url: over.relay.server, folder: over.folder, snapshot: true, ...given }
    const told = new Tale(over, whole, yield* wrapper(whole))
    told.state = BEGINNING.reduce(changed, nothing)
    told.follower = yield* following(() => told.wrapper, told.judge)
    told.change([])
    yield* told.settled("the beginning")
    return told
  })
