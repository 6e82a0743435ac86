/**
 * A story behind a relay: a stage on a control plane of the test's own, and a controller that knows no other way to the API server than the
 * relay, nor any other namespace than the stage's. Dead controllers are started anew, as a kubelet would.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { WATCHED } from "../../property-tests/stories/commands.ts"
import type { Heard } from "../audit.ts"
import { at } from "../client.ts"
import type { ControlPlane, Options } from "../control-plane.ts"
import { ACCOUNT, type Controller, controller, deployed } from "../controller.ts"
import { until } from "../deadline.ts"
import { node } from "../nodes.ts"
import { ownPlane } from "../own-plane.ts"
import { relay, type Passed, type Relay } from "../relay.ts"
import { isWrite, type Script } from "../relay-script.ts"
import { NODES, shared } from "../setup.ts"
import { Stage } from "../stage.ts"

/** A control plane for a whole file, with our CRDs, the account and the six nodes. */
export const planeOfFile = (options: Pick<Options, "controllers">): (() => ControlPlane) =>
  ownPlane({ ...options, audit: "writes" }, async (plane) => {
    await deployed(plane)
    for (const name of NODES) await node(plane.client, name, {})
  })

export interface Casting {
  readonly flags: readonly string[]
  /** a ServiceAccount of the stage's namespace; without it the manifest's own */
  readonly account?: string
  /** for Node itself */
  readonly node?: readonly string[]
  /** played from the first request on */
  readonly script?: Script
}

const accountOf = ({ account }: Casting, namespace: string): string =>
  account === undefined ? ACCOUNT : `${namespace}:${account}`

/** A controller and its relay. */
export class Behind {
  readonly relay: Relay
  /** undefined: it hasn't begun, or it is dying */
  #controller: Controller | undefined
  #dying: Promise<void> = Promise.resolve()
  #log = ""
  #starts = 1
  #over = false

  private constructor(made: Relay) {
    this.relay = made
  }

  static async open(plane: ControlPlane, namespace: string, casting: Casting): Promise<Behind> {
    const read = (name: string): string => readFileSync(join(plane.folder, name), "utf8")
    const box: { behind?: Behind } = {}
    const between = await relay({
      to: plane.access.server,
      tls: { ca: read("ca.crt"), cert: read("api.crt"), key: read("api.key") },
      kill: () => box.behind?.kill()
    })
    const behind = (box.behind = new Behind(between))
    between.play(casting.script ?? [])
    const first = await controller(
      { ...plane, access: { ...plane.access, server: between.server } },
      accountOf(casting, namespace),
      // nobody asks for its health, and a port that looked free may be taken when it begins anew
      ["--namespace", namespace, "--health-address", "off", ...casting.flags],
      casting.node ?? []
    )
    behind.#controller = first
    behind.#log = first.log
    return behind
  }

  /** the file with what all its controllers wrote */
  get log(): string {
    return this.#log
  }

  /** how often a controller began */
  get starts(): number {
    return this.#starts
  }

  /** SIGKILL, and a start anew as soon as it is gone; nothing, while one is dying already. */
  kill(): void {
    const old = this.#controller
    if (old === undefined || old.ending() !== undefined) return
    this.#controller = undefined
    this.#dying = old.kill().then(() => {
      if (this.#over) return
      this.#starts++
      this.#controller = old.again()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true
    await this.#dying
    await this.#controller?.kill()
    await this.relay.stop()
  }

  /** Requests since a moment, as `relay.passed.length` told it. */
  since(moment: number): readonly Passed[] {
    return this.relay.passed.slice(moment)
  }

  /** Waits for so many complete lists of each kind from now on. */
  async relists(count: number): Promise<void> {
    const begin = this.relay.passed.length
    await until({ what: `${count} relists of each kind (log: ${this.log})`, seconds: 60 }, () =>
      this.#listed(begin, count)
    )
  }

  /** P1: waits until two relists have come and gone without a write. */
  async still(): Promise<void> {
    const begin = this.relay.passed.length
    await until({ what: `two relists without a write (log: ${this.log})`, seconds: 90 }, () => {
      const last = this.relay.passed.findLastIndex(isWrite)
      const { verb, kind, name, code } = this.relay.passed[last] ?? {}
      if (this.#listed(Math.max(begin, last + 1), 2)) return true
      throw new Error(`the last write was ${verb} ${kind} ${name}: ${code}`)
    })
  }

  #listed(begin: number, count: number): boolean {
    // of StatefulSets, those of grids
    const lists = this.since(begin).filter(
      ({ verb, code, labelSelector }) => verb === "list" && code === 200 && !labelSelector.startsWith("!")
    )
    return WATCHED.every((kind) => lists.filter((each) => each.kind === kind).length >= count)
  }
}

/** A stage with one controller behind one relay. */
export class Scene {
  readonly stage: Stage
  readonly behind: Behind
  readonly #account: string

  private constructor(stage: Stage, behind: Behind, account: string) {
    this.stage = stage
    this.behind = behind
    this.#account = account
  }

  /** `before`: what is done on the stage before the controller starts. */
  static async open(
    plane: ControlPlane,
    name: string,
    casting: Casting,
    before: (stage: Stage) => Promise<unknown>
  ): Promise<Scene> {
    const stage = await Stage.on(shared(plane), name)
    await before(stage)
    const behind = await Behind.open(plane, stage.namespace, casting)
    return new Scene(stage, behind, accountOf(casting, stage.namespace))
  }

  get relay(): Relay {
    return this.behind.relay
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.behind[Symbol.asyncDispose]()
    await this.stage.close()
  }

  /** What the API server heard of the controller's writes to children. */
  childWrites(): readonly Heard[] {
    return this.stage.writes(this.#account).filter(({ resource }) => CHILDREN.has(resource))
  }

  /**
   * How often each child was created and deleted: `created echo-a` -> 1. What was made for a grid that is gone counts once, however often: as
   * long as the end of the grid isn't seen, the garbage collector's work looks like somebody's mistake.
   */
  async counts(): Promise<Readonly<Record<string, number>>> {
    const grids = await Promise.all(GRIDS.map((kind) => this.stage.client.items(this.stage.path(kind))))
    const live = new Set(grids.flat().map((grid) => at(grid, "metadata", "uid")))
    const counts: Record<string, number> = {}
    const once = new Set<string>()
    for (const { verb, name, code, body } of this.childWrites()) {
      const did = verb === "delete" && code === 200 ? "deleted" : code === 201 ? "created" : undefined
      if (did === undefined) continue
      const owner = at(body, "metadata", "ownerReferences", 0, "uid")
      const about = `${did} ${name} ${String(owner)}`
      if (did === "created" && !live.has(owner) && once.has(about)) continue
      once.add(about)
      counts[`${did} ${name}`] = (counts[`${did} ${name}`] ?? 0) + 1
    }
    return counts
  }
}

const GRIDS = ["DeploymentGrid", "StatefulSetGrid", "ServiceGrid"] as const

export const CHILDREN: ReadonlySet<string> = new Set(["deployments", "statefulsets", "services"])

/** P3: the writes to children that were carried out and don't name the object that they mean, by uid or as one that isn't there yet. */
export const blind = (writes: readonly Heard[]): readonly string[] =>
  writes
    .filter(({ verb, code, body }) => {
      const uid = verb === "delete" ? at(body, "preconditions", "uid") : at(body, "metadata", "uid")
      return code < 300 && uid === undefined && at(body, "metadata", "resourceVersion") !== "1"
    })
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)
