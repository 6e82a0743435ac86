/**
 * The stage of a story: a cluster, its controllers, and the one who decides what happens next.
 *
 * The loop is the product's own `control`, on a virtual clock and a model of the API server; the harness never calls a pass.
 */
import { readFileSync } from "node:fs"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Random from "effect/Random"
import { parse } from "yaml"
import type { KubeObject } from "../../src/core/kube.ts"
import type { Cluster } from "../../src/embedded/cluster.ts"
import * as Model from "../../src/embedded/model.ts"
import { Api } from "../../src/shell/api.ts"
import { control } from "../../src/shell/control.ts"
import { Readiness } from "../../src/shell/health.ts"
import { unasked } from "../unasked.ts"
import { client } from "./client.ts"
import { chance, Turns, VirtualClock } from "./clockwork.ts"
import type { Command } from "./commands.ts"
import { TROUBLES } from "./faults.ts"
import { wrongWith } from "./oracle.ts"
import { Server, type Wrote } from "./server.ts"
import { Places } from "./site-places.ts"
import { SiteTruth } from "./site-truth.ts"
import { Truth } from "./truth.ts"
import { ownerOf, POISON, World } from "./world.ts"

const EPOCH = Date.UTC(2026, 0, 1)
const GRACE_MS = 20_000
/** As the controller has it by default; shorter where a story loses events, so that it isn't told for ten minutes. */
const RELIST_MS = 600_000

const crds = ["deploymentgrids", "statefulsetgrids", "servicegrids", "nodeunits", "nodegroups"]

/** A cluster that serves our kinds and has the namespaces of the stories. */
const fresh = (): Cluster => {
  let cluster = Model.start(EPOCH)
  const post = (path: string, body: unknown): void => {
    const step = Model.step(cluster, { method: "POST", path, query: {}, body, at: EPOCH })
    if (step.response.code !== 201) throw new Error(JSON.stringify(step.response.body))
    cluster = step.cluster
  }
  for (const each of crds)
    post(
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      parse(readFileSync(new URL(`../../manifests/crds/${each}.yaml`, import.meta.url), "utf8"))
    )
  post("/api/v1/namespaces", { metadata: { name: "edge" } })
  return cluster
}

let first: Cluster | undefined

interface Session {
  readonly id: number
  readonly fiber: Fiber.RuntimeFiber<never>
}

export interface Settings {
  readonly concurrency: number
  readonly pageSize: number
  readonly seed: number
  readonly relistMs?: number
  /** whether units and groups are looked after */
  readonly sites?: boolean
  readonly maxNodesChanged?: number
}

/** A cluster, its controllers, and the one who decides what happens next. */
export class Stage {
  readonly clock = new VirtualClock(EPOCH)
  readonly server: Server
  readonly world: World
  readonly places: Places
  readonly siteTruth: SiteTruth
  readonly truth: Truth
  readonly #turns = new Turns()
  readonly #chance: () => number
  readonly #settings: Settings
  #sessions: Session[] = []
  #count = 0
  #bookmarksAt = 60_000
  /** how much of a horizon is needed to settle, in milliseconds */
  #patience = 0
  /** what a story must not do: defects of the product, endless work */
  #broken: string | undefined

  constructor(settings: Settings) {
    first ??= fresh()
    this.#settings = settings
    this.#chance = chance(settings.seed)
    this.truth = new Truth(() => this.clock.elapsed, GRACE_MS)
    this.server = new Server(first, {
      now: () => this.clock.elapsed,
      epoch: EPOCH,
      told: {
        wrote: (wrote) => {
          this.truth.wrote(wrote, this.world)
          this.siteTruth.wrote(wrote)
        },
        changed: (change) => {
          this.world.changed(change)
          this.places.changed(change)
          this.siteTruth.changed(change)
          if (change.resource === "/nodes" || change.resource.startsWith("superedge.io/"))
            this.truth.look(this.world)
        },
        killed: (session) => this.#killed(session),
        listed: (session, plural) => this.truth.listed(session, plural),
        blind: () => {
          this.truth.blind = this.clock.elapsed
        },
        stale: (session, plural) => this.truth.stale(session, plural),
        lost: (session, plural) => this.truth.lost(session, plural)
      }
    })
    this.server.faults.pageSize = settings.pageSize
    this.world = new World(this.server)
    this.places = new Places(this.server)
    this.siteTruth = new SiteTruth(this.places, this.truth, () => this.clock.elapsed)
  }

  // ---- controllers

  start(): void {
    const id = ++this.#count
    const program = control(
      {
        namespace: "",
        unitGrace: GRACE_MS / 1000,
        concurrency: this.#settings.concurrency,
        relistInterval: this.#relistMs / 1000,
        legacyManager: "application-grid-controller",
        sites: this.#settings.sites ?? false,
        maxNodesChanged: this.#settings.maxNodesChanged ?? 0.2
      },
      () => true
    ).pipe(
      Effect.scoped,
      Effect.provideService(Api, client(this.server, id)),
      Effect.provideService(Readiness, unasked),
      Effect.withClock(this.clock),
      Effect.withRandom(random(this.#chance)),
      Logger.withMinimumLogLevel(LogLevel.None)
    )
    const fiber = Effect.runFork(program, { scheduler: this.#turns })
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause))
        this.#broken = Cause.pretty(exit.cause)
    })
    this.#sessions.push({ id, fiber })
    this.#turns.run()
  }

  /** As SIGKILL: what was under way is cut off. */
  kill(id: number | undefined = this.#sessions[0]?.id): void {
    const session = this.#sessions.find((each) => each.id === id)
    if (session === undefined) return
    this.#sessions = this.#sessions.filter((each) => each !== session)
    this.server.drop(session.id)
    session.fiber.unsafeInterruptAsFork(FiberId.none)
    this.#turns.run()
    this.server.drop(session.id)
  }

  /** how often a controller began */
  get starts(): number {
    return this.#count
  }

  #killed(id: number): void {
    this.kill(id)
    this.truth.blind = this.clock.elapsed
    if (this.#sessions.length === 0) this.clock.after(this.#chance() * 3000, () => this.start())
  }

  // ---- time

  /** So many things happen, one after the other, while no time passes. */
  steps(count: number): void {
    for (let i = 0; i < count; i++) {
      const moves = [...this.server.moves(), ...this.world.moves(), ...this.places.moves()]
      const move = moves[Math.floor(this.#chance() * moves.length)]
      if (move === undefined) return
      move()
      this.#turns.run()
    }
  }

  /** Goes on, one thing at a time, until a condition holds. */
  until(holds: () => boolean): void {
    for (let i = 0; !holds(); i++) {
      if (i > ENDLESS) throw new Error("what was waited for did not come")
      if (this.server.moves().length > 0) this.steps(1)
      else {
        this.clock.ring()
        this.#turns.run()
      }
    }
  }

  #rest(): void {
    this.steps(ENDLESS)
    if (this.server.moves().length > 0) this.#broken ??= "P6: it sends requests without end"
  }

  /** Time passes; what can happen happens before the clock moves on. */
  advance(milliseconds: number): void {
    const end = this.clock.elapsed + milliseconds
    for (let rings = 0; ; rings++) {
      this.#rest()
      if (rings > ENDLESS) this.#broken ??= "P6: it wakes up without end"
      if (this.#broken !== undefined) break
      const next = Math.min(this.clock.next, this.#bookmarksAt)
      if (next > end) break
      if (next === this.#bookmarksAt) this.#bookmark()
      else {
        this.clock.ring()
        this.#turns.run()
      }
    }
    this.clock.elapsed = Math.max(this.clock.elapsed, end)
  }

  /** Once a minute, as an API server does. */
  #bookmark(): void {
    this.clock.elapsed = this.#bookmarksAt
    this.#bookmarksAt += 60_000
    this.server.bookmarks()
  }

  // ---- commands

  carryOut(command: Command): void {
    const { server, world } = this
    const { faults } = server
    switch (command._tag) {
      case "Label":
        return world.label(`n${command.node}`, command.key, command.value)
      case "Unlabel":
        return world.label(`n${command.node}`, command.key, undefined)
      case "AddNode":
        return world.node(`n${command.node}`, { [command.key]: command.value })
      case "DropNode":
        return world.dropNode(`n${command.node}`)
      case "Beat":
        return world.beat(`n${command.node}`)
      case "MakeGrid":
        return world.make(command.grid, command.words)
      case "EditGrid":
        return world.edit(command.grid, command.edit)
      case "DeleteGrid":
        return world.unmake(command.grid, command.children)
      case "RemakeGrid": {
        const words = world.grids.get(command.grid)
        if (words === undefined) return
        world.unmake(command.grid, command.children)
        return world.make(command.grid, words)
      }
      case "Touch":
        return world.meddle(command.child, command.how)
      case "Plant":
        return world.plant(command.grid, command.unit, command.how)
      case "Uproot":
        return world.uproot()
      case "Serve":
        return world.serve(command.child, command.ready)
      case "Wait":
        return this.advance(command.ms)
      case "Kill":
        faults.kill = { left: command.nth, moment: command.moment }
        return
      case "Fail": {
        const trouble = TROUBLES[command.trouble]
        faults.fails.push({ left: command.nth, trouble })
        if (command.trouble === "Invalid" || command.trouble === "Untyped") this.#patience = 300_000
        return
      }
      case "Storm":
        faults.storm = { left: command.n, trouble: TROUBLES[command.trouble] }
        return
      case "Lag":
        return this.#lag(command.kind, command.back, command.ms)
      case "Repeat":
        return server.repeat(command.kind, command.back)
      case "Lose":
        faults.lose.set(command.kind, command.n)
        return
      case "Expire":
        return server.expire(command.kind)
      case "Cut":
        return server.cut(command.kind)
      case "RestartServer":
        return server.restart(this.#chance)
      case "Jump":
        this.clock.wall += command.ms
        return
      case "Poison":
        return world.poison(command.kind, command.path, command.value)
      case "Garble":
        return server.slip(command.kind, { type: "MODIFIED", object: command.object })
      case "Second":
        if (this.#sessions.length === 1) this.start()
        return
      case "Forbid":
        return this.#forbid(command.kind, command.ms)
    }
  }

  #lag(kind: string, back: number, ms: number): void {
    const { faults } = this.server
    faults.lag.set(kind, Math.max(1, this.server.cluster.revision - back))
    this.clock.after(ms, () => faults.lag.delete(kind))
  }

  #forbid(kind: string, ms: number): void {
    const { faults } = this.server
    faults.forbidden.add(kind)
    this.server.cut(kind)
    this.clock.after(ms, () => faults.forbidden.delete(kind))
  }

  // ---- the end

  /** No fault is left, nothing is held back, one controller runs. */
  calm(): void {
    this.server.faults.calm()
    this.world.release()
    this.places.release()
    while (this.#sessions.length > 1) this.kill()
    this.#rest()
  }

  get #relistMs(): number {
    return this.#settings.relistMs ?? RELIST_MS
  }

  /** How long everything that takes time may take, in milliseconds. */
  get #horizon(): number {
    return this.#patience + (this.#relistMs < SETTLE_MS ? this.#relistMs + GRACE_MS + 10_000 : SETTLE_MS)
  }

  /** Waits until everything that takes time is over; says what is wrong then. */
  settled(horizon = this.#horizon): string | undefined {
    this.advance(horizon)
    this.world.serve(undefined, "ready")
    this.advance(3000)
    return this.#broken ?? this.truth.violations[0] ?? said("P1", wrongWith(this.world))
  }

  /** A time in which nothing may be written; what is refused may be asked for again three times a minute. */
  still(period = 2 * this.#relistMs): string | undefined {
    const before = this.server.wrote.length
    this.advance(period)
    const all = this.server.wrote.slice(before).filter(({ name }) => !name.startsWith(POISON))
    const done = all.filter(({ code }) => code < 300)
    const show = ({ verb, resource, namespace, name, body }: Wrote): string =>
      `${verb} ${resource} ${namespace}/${name} ${JSON.stringify(body)}`
    if (done[0] !== undefined) return `P1: ${done.length} writes at rest, the first ${show(done[0])}`
    const asks = new Map<string, number>()
    for (const each of all) {
      const about = `${each.resource} ${each.name} ${ownerOf(each.body as Partial<KubeObject>) ?? ""}`
      asks.set(about, (asks.get(about) ?? 0) + 1)
      if ((asks.get(about) ?? 0) > 1 + period / ASK_MS) return `P6: asked again and again: ${show(each)}`
    }
    return this.#broken
  }
}

const said = (id: string, what: string | undefined): string | undefined =>
  what === undefined ? undefined : `${id}: ${what}`

/** More than anything that is done while no time passes. */
const ENDLESS = 800
/** The controller asks for what is refused at most so often. */
const ASK_MS = 18_000
/** The longest waits of the loop: a grace time, a stranger that is looked at again, a retry. */
const SETTLE_MS = 85_000

const random = (next: () => number): Random.Random => {
  const base = Random.make("story")
  return {
    ...base,
    next: Effect.sync(next),
    nextIntBetween: (min, max) => Effect.sync(() => min + Math.floor(next() * (max - min)))
  }
}
