/**
 * Controllers that follow each other while pods run: a restart, an upgrade, and two replicas of which one leads by a Lease.
 *
 * On a control plane of its own, where nobody else looks after the grids: each story has a namespace with accounts of its own, one for each
 * controller, so that the API server's audit log tells who wrote what.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { afterAll, describe, expect } from "vitest"
import { account, ROLES } from "./accounts.ts"
import { heard, type Heard, isWrite, specWrites } from "./audit.ts"
import { at } from "./client.ts"
import type { ControlPlane } from "./control-plane.ts"
import { type Controller, controller, defined } from "./controller.ts"
import { until } from "./deadline.ts"
import { type Kubelet, kubelet } from "./kubelet.ts"
import { node } from "./nodes.ts"
import { ownPlane } from "./own-plane.ts"
import { shared } from "./setup.ts"
import { clusterTest } from "./skip.ts"
import { deployment, statefulSet } from "./specs.ts"
import { Stage } from "./stage.ts"

const LEASE = "servicegroup-controller"
const UPGRADED = "999.0.0"
const ACCOUNTS = ["first", "second", "upgraded"] as const

let pods: Kubelet | undefined

const plane = ownPlane({ controllers: "built-in" }, async (begun) => {
  pods = kubelet(begun.client)
  for (const name of ["bj-1", "gz-1"]) await node(begun.client, name, {})
  await defined(begun)
})
afterAll(() => pods?.stop())

describe.concurrent("a controller that takes over", () => {
  const successions: readonly {
    readonly name: string
    readonly next: (old: Replica, stage: Stage) => Promise<Replica>
  }[] = [
    {
      name: "after a crash",
      next: async (old) => {
        await old.controller.kill()
        return old.again()
      }
    },
    {
      name: "as another version with other flags",
      next: async (old, stage) => {
        await old.stops()
        const flags = ["--unit-grace", "5m", "--concurrency", "3"]
        const upgrade = await Replica.begin(stage, "upgraded", flags, upgraded())
        await until({ what: `version ${UPGRADED} in the log`, seconds: 30 }, () =>
          readFileSync(upgrade.controller.log, "utf8").includes(UPGRADED)
        )
        return upgrade
      }
    }
  ]
  for (const { name, next } of successions)
    clusterTest(`${name} writes nothing to what is settled, and restarts no pod`, async () => {
      const stage = await Stage.on(shared(plane()), name)
      const old = await Replica.begin(stage, "first", [])
      await settled(stage)
      const before = await running(stage)
      const written = sinceNow(stage)
      const successor = await next(old, stage)
      await successor.controller.ready()
      // made and served after all that was there before
      await stage.create("DeploymentGrid", "late", { gridUniqKey: stage.key, template: deployment() })
      await stage.ready("DeploymentGrid", "late")
      expect(written().filter(({ name }) => !/^late(-|$)/.test(name))).toEqual([])
      expect(await running(stage)).toEqual(before)
      await scaled(stage, 2)
      await stage.ready("DeploymentGrid", "echo")
      await successor.controller.kill()
      await stage.close()
    })
})

describe.concurrent("two replicas", () => {
  clusterTest("hand over within 25 s of a crash, and the other one wrote nothing before", async () => {
    await using pair = await Pair.begin("crash")
    const { stage, leader } = pair
    const before = await running(stage)
    const written = sinceNow(stage)
    await leader.controller.kill()
    const crashed = performance.now()
    await scaled(stage, 2)
    expect(performance.now() - crashed).toBeLessThan(25_000)
    await stage.ready("DeploymentGrid", "echo")
    expect(specWrites(written())).toEqual(SCALED)
    expect(at(await pair.lease(), "spec", "leaseTransitions")).toBe(1)
    const after = await running(stage)
    expect(after.sets).toEqual(before.sets)
    expect(after.pods).toEqual(expect.arrayContaining([...before.pods]))
  })

  clusterTest("hand over within 2 s of a stop, and write nothing to what is settled", async () => {
    await using pair = await Pair.begin("stop")
    const { stage } = pair
    const before = await running(stage)
    const written = sinceNow(stage)
    const waited: number[] = []
    let [leader, other] = [pair.leader, pair.other]
    // under load a single one may take longer
    for (let turn = 0; turn < 3; turn++) {
      const [holder, start] = [await pair.holder(), performance.now()]
      leader.controller.signal("SIGTERM")
      await until({ what: "another holder of the Lease", seconds: 30 }, async () => {
        const now = await pair.holder()
        return now !== "" && now !== holder
      })
      waited.push(performance.now() - start)
      await leader.stops()
      const back = pair.follows(leader.again())
      await back.controller.ready()
      ;[leader, other] = [other, back]
    }
    expect(Math.min(...waited)).toBeLessThan(2000)
    expect(Math.max(...waited)).toBeLessThan(10_000)
    expect(written()).toEqual([])
    expect(await running(stage)).toEqual(before)
    await scaled(stage, 2)
    expect(specWrites(written())).toEqual(SCALED)
  })

  clusterTest("of which the leader sleeps too long: it writes nothing when it wakes up", async () => {
    await using pair = await Pair.begin("sleep")
    const { stage, leader, other } = pair
    const written = leader.writes()
    leader.controller.signal("SIGSTOP")
    await scaled(stage, 2)
    const looks = (): number => leader.asked().filter(({ verb }) => verb === "get").length
    const before = looks()
    leader.controller.signal("SIGCONT")
    await until({ what: "a look at the Lease after the sleep", seconds: 30 }, () => looks() > before)
    await scaled(stage, 3)
    expect(leader.writes()).toEqual(written)
    expect(specWrites(other.writes())).toEqual([...SCALED, ...SCALED].toSorted())
  })
})

/** One controller with an account of its own in the stage's namespace. */
class Replica {
  readonly account: string
  readonly controller: Controller

  private constructor(account: string, controller: Controller) {
    this.account = account
    this.controller = controller
  }

  static async begin(
    { namespace }: Stage,
    name: (typeof ACCOUNTS)[number],
    flags: readonly string[],
    on: ControlPlane = plane()
  ): Promise<Replica> {
    const entitled = await account(plane().client, namespace, name, ROLES)
    return new Replica(entitled, await controller(on, entitled, ["--namespace", namespace, ...flags]))
  }

  /** Starts it anew; its account stays. */
  again(): Replica {
    return new Replica(this.account, this.controller.again())
  }

  /** Stops it in good order. */
  async stops(): Promise<void> {
    this.controller.signal("SIGTERM")
    await until(
      { what: "the controller's end", seconds: 30 },
      () => this.controller.ending() === "ended with code 0"
    )
  }

  writes(): readonly Heard[] {
    return writes(this.asked())
  }

  /** all its requests so far */
  asked(): readonly Heard[] {
    return heard(plane().audit, this.account, this.account)
  }
}

/** A leader with settled grids, and another replica that stands by and has written nothing. */
class Pair {
  readonly stage: Stage
  readonly leader: Replica
  readonly other: Replica
  readonly #replicas: Replica[]

  private constructor(stage: Stage, leader: Replica, other: Replica) {
    this.stage = stage
    this.leader = leader
    this.other = other
    this.#replicas = [leader, other]
  }

  static async begin(name: string): Promise<Pair> {
    const stage = await Stage.on(shared(plane()), name)
    const flags = ["--lease", `${stage.namespace}/${LEASE}`]
    const leader = await Replica.begin(stage, "first", flags)
    await settled(stage)
    const other = await Replica.begin(stage, "second", flags)
    await other.controller.ready()
    expect(other.asked().filter(isWrite)).toEqual([])
    return new Pair(stage, leader, other)
  }

  /** Ends this replica, too, with the pair. */
  follows(replica: Replica): Replica {
    this.#replicas.push(replica)
    return replica
  }

  lease(): Promise<unknown> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${this.stage.namespace}/leases/${LEASE}`
    return this.stage.client.get(path)
  }

  /** empty: nobody */
  async holder(): Promise<string> {
    return String(at(await this.lease(), "spec", "holderIdentity") ?? "")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#replicas.map((each) => each.controller.kill()))
    await this.stage.close()
  }
}

/** The writes among requests, but events and Leases. */
const writes = (requests: readonly Heard[]): readonly Heard[] =>
  requests.filter((each) => isWrite(each) && each.resource !== "events" && each.resource !== "leases")

/** What the stage's controllers write from now on. */
const sinceNow = ({ namespace }: Stage): (() => readonly Heard[]) => {
  const all = (): readonly (readonly Heard[])[] =>
    ACCOUNTS.map((name) => writes(heard(plane().audit, `${namespace}:${name}`, `${namespace}:${name}`)))
  const before = all().map(({ length }) => length)
  return () => all().flatMap((each, index) => each.slice(before[index]))
}

/** Grids of each kind in the units a and b, their pods ready. */
const settled = async (stage: Stage): Promise<void> => {
  const spec = { gridUniqKey: stage.key }
  await stage.units({ a: ["bj-1"], b: ["gz-1"] })
  await stage.create("DeploymentGrid", "echo", { ...spec, template: deployment() })
  await stage.create("StatefulSetGrid", "web", { ...spec, template: statefulSet() })
  await stage.create("ServiceGrid", "web", { ...spec, template: { ports: [{ port: 80 }] } })
  await told(stage, "DeploymentGrid", "echo")
  await told(stage, "StatefulSetGrid", "web")
  await stage.ready("ServiceGrid", "web")
}

/** Waits until a grid's status has its children's whole. */
const told = (stage: Stage, kind: "DeploymentGrid" | "StatefulSetGrid", name: string): Promise<unknown> =>
  until({ what: `the states of ${kind} ${name}`, seconds: 30 }, async () => {
    const grid = await stage.ready(kind, name)
    for (const unit of ["a", "b"]) {
      const child = await stage.get(
        kind === "DeploymentGrid" ? "Deployment" : "StatefulSet",
        `${name}-${unit}`
      )
      if (!isDeepStrictEqual(at(grid, "status", "states", unit), at(child, "status"))) return false
    }
    return true
  })

/** Gives the children of the grid `echo` another number of replicas, and waits until they have it. */
const scaled = async (stage: Stage, replicas: number): Promise<void> => {
  await stage.client.patch(stage.path("DeploymentGrid", "echo"), "merge", {
    spec: { template: { replicas } }
  })
  for (const unit of ["a", "b"])
    await stage.comes(
      "Deployment",
      `echo-${unit}`,
      `${replicas} replicas`,
      (child) => at(child, "spec", "replicas") === replicas
    )
}

/** the writes that this takes */
const SCALED = ["patch deployments echo-a 200", "patch deployments echo-b 200"]

interface Running {
  /** by name: what each object is, as its generation or uid */
  readonly children: readonly string[]
  readonly sets: readonly string[]
  readonly pods: readonly string[]
}

/** What runs in the stage's namespace beside the grid `late`. */
const running = async ({ client, namespace }: Stage): Promise<Running> => {
  const all = async (group: string, resource: string, ...field: readonly string[]): Promise<string[]> =>
    (await client.items(`${group}/namespaces/${namespace}/${resource}`))
      .map((each) => `${String(at(each, "metadata", "name"))} ${String(at(each, ...field))}`)
      .filter((each) => !each.startsWith("late"))
      .toSorted()
  const apps = "/apis/apps/v1"
  return {
    children: [
      ...(await all(apps, "deployments", "metadata", "generation")),
      ...(await all(apps, "statefulsets", "metadata", "generation")),
      ...(await all("/api/v1", "services", "metadata", "resourceVersion"))
    ],
    sets: [
      ...(await all(apps, "replicasets", "metadata", "uid")),
      ...(await all(apps, "controllerrevisions", "metadata", "uid"))
    ],
    pods: await all("/api/v1", "pods", "metadata", "uid")
  }
}

/** The plane, with a controller that says it is of another version. */
const upgraded = (): ControlPlane => {
  const folder = join(plane().folder, "upgraded")
  cpSync(join(plane().folder, "dist"), join(folder, "dist"), { recursive: true })
  const program = join(folder, "dist", "controller.mjs")
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as {
    readonly version: string
  }
  const text = readFileSync(program, "utf8")
  writeFileSync(program, text.replaceAll(JSON.stringify(version), JSON.stringify(UPGRADED)))
  return { ...plane(), folder }
}
