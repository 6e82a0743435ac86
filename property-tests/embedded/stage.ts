/**
 * A stage for stories on the embedded cluster: requests as a user would send them, objects with what a story
 * varies and no more, and what is to be seen afterwards.
 */
import type { Change, KubeObject, Response } from "../../src/embedded/cluster.ts"
import type { Controller } from "../../src/embedded/controller.ts"
import { controllers, settled, told, turn, world, type World } from "../../src/embedded/controllers.ts"
import { list, start, step } from "../../src/embedded/model.ts"

/** A run is a hundred writes and more. */
export const RUNS = { numRuns: 30 }

export const NOON = Date.parse("2026-11-29T12:00:00Z")

/** A cluster with its controllers, and everything that was told of it. */
export class Stage {
  world: World
  at = NOON
  readonly changes: Change[] = []

  constructor(active: readonly Controller[] = controllers()) {
    this.world = world(start(NOON), active, NOON)
  }

  /** Sends a request; the controllers hear of it, but don't act yet. */
  ask(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    query: Readonly<Record<string, string>> = {}
  ): Response {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json"
    const request = { method, path, query, body, contentType, userAgent: "story", at: this.at }
    const { cluster, response, changes } = step(this.world.look.cluster, request)
    this.world = told(this.world, cluster, changes, this.at)
    this.#keep(changes)
    return response
  }

  /** The same, where anything but success is a mistake of the story. */
  must(...given: Parameters<Stage["ask"]>): KubeObject {
    const response = this.ask(...given)
    if (response.code >= 300) throw new Error(`${given[0]} ${given[1]}: ${JSON.stringify(response.body)}`)
    return response.body as KubeObject
  }

  /** One step of one controller. */
  turn(): readonly Change[] {
    const { world: after, changes } = turn(this.world, this.at)
    this.world = after
    this.#keep(changes)
    return changes
  }

  /** All that is due now. */
  settle(): readonly Change[] {
    const { world: after, changes } = settled(this.world, this.at, 20_000)
    if (after.queue.length > 0) throw new Error("the controllers don't come to rest")
    this.world = after
    this.#keep(changes)
    return changes
  }

  /** What was told is kept, and nobody may write to it. */
  #keep(changes: readonly Change[]): void {
    for (const change of changes) frozen(change.object)
    this.changes.push(...changes)
  }

  wait(milliseconds: number): void {
    this.at += milliseconds
  }

  all<T extends KubeObject = KubeObject>(resource: string): readonly T[] {
    return list(this.world.look.cluster, resource) as readonly T[]
  }
}

/** A stage with this many nodes, settled. */
export const stageOf = (nodes: number, { podStartDelay = 0, labels = {} } = {}): Stage => {
  const stage = new Stage(controllers(undefined, podStartDelay))
  for (let place = 0; place < nodes; place++) stage.must("POST", NODES, node(`n${place}`, labels))
  stage.settle()
  return stage
}

const frozen = (value: unknown): void => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const each of Object.values(value)) frozen(each)
}

export const NAMESPACES = "/api/v1/namespaces"
export const NODES = "/api/v1/nodes"
export const PODS = "/api/v1/namespaces/default/pods"
export const SERVICES = "/api/v1/namespaces/default/services"
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
export const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
export const SETS = "/apis/apps/v1/namespaces/default/statefulsets"

export const namespace = (name: string): object => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name }
})

export const node = (
  name: string,
  labels: Readonly<Record<string, string>> = {},
  spec: object = {}
): object => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  spec
})

const template = (app: string, image: string, spec: object = {}): object => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "main", image, ports: [{ name: "http", containerPort: 8080 }] }], ...spec }
})

export const deployment = (name: string, spec: object, image = "web:1", podSpec: object = {}): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name, image, podSpec), ...spec }
})

export const statefulSet = (name: string, spec: object, image = "db:1"): object => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name },
  spec: {
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: template(name, image),
    ...spec
  }
})

export const service = (name: string, app: string, spec: object = {}): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { selector: { app }, ports: [{ port: 80, targetPort: "http" }], ...spec }
})

/** What is sent to give a workload's pods another image. */
export const imageEdit = (app: string, image: string): object => ({
  spec: { template: template(app, image) }
})

/** A pod, as far as the stories look at one. */
export interface SeenPod extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] }
  readonly status?: {
    readonly phase?: string
    readonly podIP?: string
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly message?: string
    }[]
  }
}

export const isReady = (pod: SeenPod): boolean =>
  pod.status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false

export const podsOf = (stage: Stage, app: string): readonly SeenPod[] =>
  stage.all<SeenPod>("/pods").filter((pod) => pod.metadata.labels?.["app"] === app)

export const imagesOf = (stage: Stage, app: string): readonly (string | undefined)[] =>
  podsOf(stage, app).map((pod) => pod.spec.containers[0]?.image)

/** How many pods each node has, in the order of the nodes' names. */
export const podsPerNode = (stage: Stage, app: string): ReadonlyMap<string | undefined, number> => {
  const counts = new Map<string | undefined, number>()
  for (const { spec } of podsOf(stage, app)) counts.set(spec.nodeName, (counts.get(spec.nodeName) ?? 0) + 1)
  return new Map([...counts].toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)))
}

/** A Deployment, ReplicaSet or StatefulSet, as far as the stories look at one. */
export interface Workload extends KubeObject {
  readonly spec: { readonly replicas?: number }
  readonly status?: {
    readonly readyReplicas?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
    }[]
    readonly [field: string]: unknown
  }
}

export const readyOf = (stage: Stage, name: string): number =>
  stage.all<Workload>("apps/deployments").find((each) => each.metadata.name === name)?.status
    ?.readyReplicas ?? 0

/** A condition of the only Deployment there is. */
export const conditionOf = (stage: Stage, type: string): unknown =>
  stage.all<Workload>("apps/deployments")[0]?.status?.conditions?.find((each) => each.type === type)

/** An endpoint slice, as far as the stories look at one. */
interface Slice extends KubeObject {
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[]
        readonly conditions?: { readonly ready?: boolean }
        readonly nodeName?: string
        readonly hostname?: string
        readonly zone?: string
      }[]
    | null
}

export const slicesOf = (stage: Stage, service: string): readonly Slice[] =>
  stage
    .all<Slice>("discovery.k8s.io/endpointslices")
    .filter((slice) => slice.metadata.labels?.["kubernetes.io/service-name"] === service)

export const endpointsOf = (
  stage: Stage,
  service: string
): readonly NonNullable<Slice["endpoints"]>[number][] =>
  slicesOf(stage, service).flatMap((slice) => slice.endpoints ?? [])
