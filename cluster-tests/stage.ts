/**
 * What a story on the shared control plane plays on: a namespace and a grid key of its own, the six nodes, and eyes for what the controller sent.
 */
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { heard, type Heard, isWrite } from "./audit.ts"
import { at, Client } from "./client.ts"
import { ACCOUNT } from "./controller.ts"
import { until } from "./deadline.ts"
import { kubectl, type Kubectl } from "./kubectl.ts"
import type { Shared } from "./setup.ts"
import { clusterTest } from "./skip.ts"

export type GridKind = "DeploymentGrid" | "StatefulSetGrid" | "ServiceGrid"
export type ChildKind = "Deployment" | "StatefulSet" | "Service"

/** Tells a story on the shared control plane. */
export const story = (name: string, tell: (stage: Stage) => Promise<void>): void =>
  clusterTest(name, async () => {
    const stage = await Stage.open(name)
    try {
      await tell(stage)
    } finally {
      await stage.close()
    }
  })

export class Stage {
  readonly client: Client
  readonly kubectl: Kubectl
  readonly namespace: string
  readonly key: string
  readonly #audit: string
  #labelled: string[] = []

  private constructor(shared: Shared, namespace: string) {
    this.client = new Client(shared.access)
    this.kubectl = kubectl(shared.kubectl, shared.kubeconfig, shared.folder)
    this.#audit = shared.audit
    this.namespace = namespace
    this.key = `site-${namespace}`
  }

  static async open(name: string): Promise<Stage> {
    const response = await fetch(inject("clusterDoor"))
    if (!response.ok) throw new Error(await response.text())
    return Stage.on((await response.json()) as Shared, name)
  }

  /** A stage on a control plane of the test's own. */
  static async on(place: Shared, name: string): Promise<Stage> {
    const stage = new Stage(place, `story-${randomBytes(4).toString("hex")}`)
    const metadata = { name: stage.namespace, annotations: { "servicegroup.test/story": name } }
    await stage.client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata })
    return stage
  }

  async close(): Promise<void> {
    await this.units({})
    await this.client.ask("DELETE", `/api/v1/namespaces/${this.namespace}`)
    this.client.close()
  }

  /** Gives the nodes to units: from now on these are the units of the stage's key. */
  async units(nodes: Readonly<Record<string, readonly string[]>>): Promise<void> {
    const wanted = new Map(
      Object.entries(nodes).flatMap(([unit, names]) => names.map((name) => [name, unit] as const))
    )
    const label = (name: string, value: string | null): Promise<unknown> =>
      this.client.patch(`/api/v1/nodes/${name}`, "merge", { metadata: { labels: { [this.key]: value } } })
    for (const [name, unit] of wanted) await label(name, unit)
    for (const name of this.#labelled) if (!wanted.has(name)) await label(name, null)
    this.#labelled = [...wanted.keys()]
  }

  path(kind: GridKind | ChildKind, name?: string): string {
    const [group, resource] = PATHS[kind]
    return `${group}/namespaces/${this.namespace}/${resource}${name === undefined ? "" : `/${name}`}`
  }

  create(kind: GridKind | ChildKind, name: string, spec: unknown, metadata: object = {}): Promise<unknown> {
    const object = { apiVersion: VERSIONS[kind], kind, metadata: { name, ...metadata }, spec }
    return this.client.create(this.path(kind), object)
  }

  get(kind: GridKind | ChildKind, name: string): Promise<unknown> {
    return this.client.get(this.path(kind, name))
  }

  /** Replaces the object by a changed one, as `kubectl edit` does; tries again when someone else wrote meanwhile. */
  async edit(kind: GridKind | ChildKind, name: string, change: (object: never) => void): Promise<void> {
    await until({ what: `an edit of ${kind} ${name} without a conflict`, seconds: 10 }, async () => {
      const object = await this.get(kind, name)
      change(object as never)
      const answer = await this.client.ask("PUT", this.path(kind, name), object)
      if (answer.code === 200) return true
      if (answer.code === 409) return false
      throw new Error(`edit of ${kind} ${name}: ${answer.code} ${String(at(answer.body, "message"))}`)
    })
  }

  /** Waits until an object is as it should be; gives it. */
  comes(
    kind: GridKind | ChildKind,
    name: string,
    what: string,
    is: (object: unknown) => boolean
  ): Promise<unknown> {
    return until({ what: `${kind} ${name}: ${what}`, seconds: 45 }, async () => {
      const object = await this.client.find(this.path(kind, name))
      if (object === undefined) throw new Error("it isn't there")
      if (!is(object))
        throw new Error(`it is ${JSON.stringify({ spec: at(object, "spec"), status: at(object, "status") })}`)
      return object
    })
  }

  async goes(kind: GridKind | ChildKind, name: string): Promise<void> {
    const path = this.path(kind, name)
    // the garbage collector looks for new kinds every 30 s
    await until(
      { what: `the end of ${kind} ${name}`, seconds: 90 },
      async () => (await this.client.find(path)) === undefined
    )
  }

  /** Waits until a grid's status speaks of its present generation and says Ready. */
  async ready(kind: GridKind, name: string): Promise<unknown> {
    return this.comes(
      kind,
      name,
      "Ready",
      (grid) => isCurrent(grid) && condition(grid, "Ready", "status") === "True"
    )
  }

  /** All writes of the controller, or of another account, in the stage's namespace so far, events aside. */
  writes(account = ACCOUNT): readonly Heard[] {
    return heard(this.#audit, account, this.namespace).filter(
      (each) => each.namespace === this.namespace && isWrite(each) && each.resource !== "events"
    )
  }
}

/** A field of one of an object's conditions. */
export const condition = (object: unknown, type: string, field: "status" | "reason" | "message"): unknown =>
  at(
    ((at(object, "status", "conditions") ?? []) as readonly unknown[]).find(
      (each) => at(each, "type") === type
    ),
    field
  )

const isCurrent = (grid: unknown): boolean =>
  at(grid, "status", "observedGeneration") === at(grid, "metadata", "generation")

const PATHS: Readonly<Record<GridKind | ChildKind, readonly [string, string]>> = {
  DeploymentGrid: ["/apis/superedge.io/v1", "deploymentgrids"],
  StatefulSetGrid: ["/apis/superedge.io/v1", "statefulsetgrids"],
  ServiceGrid: ["/apis/superedge.io/v1", "servicegrids"],
  Deployment: ["/apis/apps/v1", "deployments"],
  StatefulSet: ["/apis/apps/v1", "statefulsets"],
  Service: ["/api/v1", "services"]
}

const VERSIONS: Readonly<Record<GridKind | ChildKind, string>> = {
  DeploymentGrid: "superedge.io/v1",
  StatefulSetGrid: "superedge.io/v1",
  ServiceGrid: "superedge.io/v1",
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  Service: "v1"
}
