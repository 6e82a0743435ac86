/**
 * A stage for stories on the embedded cluster: requests as a user would send them, objects with what a story
 * varies and no more, and what is to be seen afterwards.
 */
import type { Change, KubeObject, Response } from "../../src/embedded/cluster.ts"
import type { Controller } from "../../src/embedded/controller.ts"
import { controllers, settled, told, turn, world, type World } from "../../src/embedded/controllers.ts"
import { list, start, step } from "../../src/embedded/model.ts"

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

const frozen = (value: unknown): void => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const each of Object.values(value)) frozen(each)
}

export const NODES = "/api/v1/nodes"
export const PODS = "/api/v1/namespaces/default/pods"
export const SERVICES = "/api/v1/namespaces/default/services"
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
export const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
export const SETS = "/apis/apps/v1/namespaces/default/statefulsets"

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

export const template = (app: string, image: string, spec: object = {}): object => ({
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
