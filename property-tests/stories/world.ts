/**
 * Everybody else in a story's cluster: administrators who label nodes, users who edit grids, people who meddle with children,
 * the garbage collector and a kubelet. They write to the API server directly; no fault touches them.
 */
import type { KubeObject } from "../../src/core/kube.ts"
import type { Change } from "../../src/embedded/cluster.ts"
import * as Model from "../../src/embedded/model.ts"
import { pathOf } from "../../src/embedded/requests.ts"
import * as Store from "../../src/embedded/store.ts"
import { ELSEWHERE, planted, type Planting } from "./planted.ts"
import type { Move, Server } from "./server.ts"
import {
  type Edit,
  edited,
  type GridKind,
  gridObject,
  type GridWords,
  simple,
  SLOTS,
  type Slot
} from "./words.ts"

/** An object with the parts that most kinds have. */
export interface Thing extends KubeObject {
  readonly spec?: unknown
  readonly status?: unknown
}

export const CHILD: { readonly [K in GridKind]: string } = {
  DeploymentGrid: "apps/deployments",
  StatefulSetGrid: "apps/statefulsets",
  ServiceGrid: "/services"
}
export const GRID: { readonly [K in GridKind]: string } = {
  DeploymentGrid: "superedge.io/deploymentgrids",
  StatefulSetGrid: "superedge.io/statefulsetgrids",
  ServiceGrid: "superedge.io/servicegrids"
}
export const CHILDREN = Object.values(CHILD)
const GRIDS = Object.values(GRID)

/** The uid of the controller owner of an object, or of what might be one. */
export const ownerOf = (object: Partial<KubeObject>): string | undefined => {
  const owners: unknown = object.metadata?.ownerReferences
  if (!Array.isArray(owners)) return undefined
  const owner = (owners as readonly { readonly uid?: string; readonly controller?: boolean }[]).find(
    (each) => each?.controller === true
  )
  return owner?.uid
}

export const unitOf = (child: KubeObject): string => child.metadata.annotations?.["superedge.io/unit"] ?? ""

/** What may be done to a child by someone who has no business there. */
export type Meddling = "image" | "label" | "scale" | "delete" | "hold" | "orphan" | "strip"

export class World {
  readonly server: Server
  /** the words of the grids that there are, by their place among SLOTS */
  readonly grids = new Map<number, GridWords>()
  /** uids of objects that are nobody's business, and how they were left */
  readonly foreign = new Map<string, KubeObject>()
  #collect = false

  constructor(server: Server) {
    this.server = server
  }

  // ---- nodes

  node(name: string, labels: Readonly<Record<string, string>>): void {
    this.#place("/nodes", { apiVersion: "v1", kind: "Node", metadata: { name, labels } })
  }

  label(name: string, key: string, value: string | undefined): void {
    const node = Model.get(this.server.cluster, "/nodes", undefined, name)
    if (node === undefined) return
    const { [key]: _, ...others } = node.metadata.labels ?? {}
    this.node(name, value === undefined ? others : { ...others, [key]: value })
  }

  /** What a kubelet does all day. */
  beat(name: string): void {
    const node = Model.get(this.server.cluster, "/nodes", undefined, name)
    if (node === undefined) return
    const beats = String(Number(node.metadata.annotations?.["beats"] ?? "0") + 1)
    this.#place("/nodes", { ...node, metadata: { ...node.metadata, annotations: { beats } } })
  }

  dropNode(name: string): void {
    this.#remove("/nodes", undefined, name)
  }

  // ---- grids

  /** The grid as it is stored. */
  stored(slot: Slot): KubeObject | undefined {
    return Model.get(this.server.cluster, GRID[slot.kind], slot.namespace, slot.name)
  }

  make(index: number, words: GridWords): void {
    const slot = SLOTS[index]
    if (slot === undefined) return
    this.grids.set(index, words)
    this.#place(GRID[slot.kind], gridObject(slot, words))
  }

  edit(index: number, edit: Edit): void {
    const words = this.grids.get(index)
    if (words !== undefined) this.make(index, edited(words, edit))
  }

  /** Deletes a grid; its children are collected, or left behind without an owner. */
  unmake(index: number, children: "collected" | "orphaned"): void {
    const slot = SLOTS[index]
    const grid = slot && this.stored(slot)
    if (slot === undefined || grid === undefined) return
    if (children === "orphaned")
      for (const child of this.children())
        if (ownerOf(child.object) === grid.metadata.uid) this.#disown(child.resource, child.object)
    this.grids.delete(index)
    this.#remove(GRID[slot.kind], slot.namespace, slot.name)
  }

  // ---- children

  children(): readonly { readonly resource: string; readonly object: KubeObject }[] {
    return CHILDREN.flatMap((resource) =>
      Model.list(this.server.cluster, resource)
        .filter(({ metadata }) => metadata.name !== "kubernetes")
        .map((object) => ({ resource, object }))
    )
  }

  #pick(pick: number): { readonly resource: string; readonly object: KubeObject } | undefined {
    const all = this.children().filter(({ object }) => !this.foreign.has(object.metadata.uid ?? ""))
    return all[pick % Math.max(all.length, 1)]
  }

  meddle(pick: number, how: Meddling): void {
    const child = this.#pick(pick)
    if (child === undefined) return
    const { resource, object } = child
    const service = resource === "/services"
    switch (how) {
      case "image":
        return this.#merge(
          resource,
          object,
          service
            ? { spec: { selector: { app: "evil" } } }
            : { spec: { template: { spec: { containers: [{ name: "c", image: "evil:1" }] } } } }
        )
      case "label":
        return this.#merge(resource, object, {
          metadata: { labels: { mine: "1" }, annotations: { mine: "1" } }
        })
      case "scale":
        return this.#merge(
          resource,
          object,
          service ? { spec: { sessionAffinity: "ClientIP" } } : { spec: { replicas: 7 } }
        )
      case "delete":
        return this.#delete(resource, object)
      case "hold":
        this.#merge(resource, object, { metadata: { finalizers: ["example.io/hold"] } })
        return this.#delete(resource, object)
      case "orphan":
        return this.#disown(resource, object)
      case "strip":
        return this.#merge(resource, object, { metadata: { labels: { "superedge.io/grid-selector": null } } })
    }
  }

  /** Puts an object where a grid's child would stand, if the place is free. */
  plant(index: number, unit: string, how: Planting): void {
    const slot = SLOTS[index]
    if (slot === undefined) return
    const name = slot.kind === "ServiceGrid" ? `${slot.name}-svc` : `${slot.name}-${unit}`
    const grid = this.stored(slot)
    const resource = CHILD[slot.kind]
    if (/[^-a-z]/.test(name) || Model.get(this.server.cluster, resource, slot.namespace, name)) return
    if (how === "legacy" && (grid === undefined || slot.kind === "ServiceGrid")) return
    const response = this.server.ask({
      method: "POST",
      path: pathOf(resource, slot.namespace),
      query: { fieldManager: how === "legacy" ? "application-grid-controller" : "kubectl" },
      contentType: "application/json",
      body: planted(slot, name, how, grid)
    })
    if (response.code !== 201) throw new Error(`not planted: ${JSON.stringify(response.body)}`)
    const object = response.body as KubeObject
    if (how === "foreign" || how === "owned") this.foreign.set(object.metadata.uid ?? "", object)
  }

  /** Takes away what was planted and isn't ours. */
  uproot(): void {
    for (const { resource, object } of this.children())
      if (this.foreign.delete(object.metadata.uid ?? "")) this.#delete(resource, object)
  }

  /** A load balancer, or a kubelet, at work: the status of one child, of all where none is picked. */
  serve(pick: number | undefined, ready: "ready" | "unready"): void {
    const one = pick === undefined ? undefined : this.#pick(pick)
    for (const { resource, object } of pick === undefined ? this.children() : one === undefined ? [] : [one])
      this.#serve(resource, object, ready)
  }

  #serve(resource: string, object: Thing, ready: "ready" | "unready"): void {
    const { replicas = 1 } = (object.spec ?? {}) as { readonly replicas?: number }
    const up = ready === "ready" ? replicas : 0
    const status =
      resource === "/services"
        ? { loadBalancer: ready === "ready" ? { ingress: [{ ip: "5.6.7.8" }] } : {} }
        : {
            observedGeneration: object.metadata.generation,
            replicas,
            updatedReplicas: replicas,
            readyReplicas: up,
            availableReplicas: up,
            currentRevision: "r1",
            updateRevision: "r1"
          }
    if (JSON.stringify(object.status) !== JSON.stringify(status)) this.#place(resource, { ...object, status })
  }

  /** What holds deleted children lets go. */
  release(): void {
    for (const { resource, object } of this.children())
      if ((object.metadata.finalizers ?? []).length > 0)
        this.#merge(resource, object, { metadata: { finalizers: null } })
  }

  // ---- the garbage collector

  /** To be told of each change. */
  changed(change: Change): void {
    if (GRIDS.includes(change.resource) ? change.type === "DELETED" : CHILDREN.includes(change.resource))
      this.#collect = true
  }

  moves(): Move[] {
    return this.#collect ? [() => this.#sweep()] : []
  }

  #sweep(): void {
    this.#collect = false
    const grids = GRIDS.flatMap((resource) => Model.list(this.server.cluster, resource))
    const live = new Set(grids.map(({ metadata }) => metadata.uid))
    for (const { resource, object } of this.children()) {
      const owner = ownerOf(object)
      if (owner !== undefined && owner !== ELSEWHERE && !live.has(owner)) this.#delete(resource, object)
    }
  }

  // ---- writing

  /** Stores an object as it is, whatever the API server would say of it. */
  #place(resource: string, object: Thing): void {
    const { cluster } = this.server
    const { metadata } = object
    const before: Thing | undefined = Model.get(
      cluster,
      resource,
      metadata.namespace ?? undefined,
      metadata.name
    )
    const [uid, counted] = before === undefined ? Store.nextUid(cluster) : [before.metadata.uid, cluster]
    const edits = before === undefined || JSON.stringify(before.spec) === JSON.stringify(object.spec) ? 0 : 1
    const stored = {
      ...(before?.status === undefined ? {} : { status: before.status }),
      ...object,
      metadata: {
        ...(before !== undefined && { managedFields: before.metadata.managedFields }),
        creationTimestamp: "2026-01-01T00:00:00Z",
        ...metadata,
        uid,
        generation: (before?.metadata.generation ?? 1) + edits
      }
    }
    const written = Store.written(
      counted,
      resource,
      JSON.parse(JSON.stringify(stored)) as KubeObject & object as never
    )
    this.server.commit(written.cluster, [written.change])
  }

  #remove(resource: string, namespace: string | undefined, name: string): void {
    const object = Model.get(this.server.cluster, resource, namespace, name)
    if (object === undefined) return
    const { cluster, change } = Store.removed(this.server.cluster, resource, object as never)
    this.server.commit(cluster, [change])
  }

  #merge(resource: string, object: KubeObject, body: object): void {
    const { namespace, name } = object.metadata
    this.server.ask({
      method: "PATCH",
      path: pathOf(resource, namespace, name),
      query: { fieldManager: "kubectl" },
      contentType: "application/merge-patch+json",
      body
    })
  }

  #disown(resource: string, object: KubeObject): void {
    this.#merge(resource, object, { metadata: { ownerReferences: null } })
  }

  #delete(resource: string, object: KubeObject): void {
    const { namespace, name } = object.metadata
    this.server.ask({ method: "DELETE", path: pathOf(resource, namespace, name), query: {} })
  }

  /** An object that is wrong in itself at some place; a name of its own keeps it apart from all others. */
  poison(plural: string, path: readonly string[], value: unknown): void {
    const [resource, kind] = KINDS[plural] ?? ["", ""]
    const slot: Slot = { kind: kind as GridKind, namespace: "default", name: POISON }
    const base =
      kind === "Node"
        ? { metadata: { name: POISON, labels: {} } }
        : resource.startsWith("site.")
          ? { apiVersion: "site.superedge.io/v1alpha2", metadata: { name: POISON }, spec: { type: "edge" } }
          : GRIDS.includes(resource)
            ? gridObject(slot, { ...simple, key: "nobody" })
            : (planted(slot, POISON, "adoptable", undefined) as KubeObject)
    this.#place(resource, replaced({ ...base, kind }, path, value) as Thing)
  }
}

/** The name of the object that is wrong in itself. */
export const POISON = "poison"

const KINDS: { readonly [plural: string]: readonly [string, string] } = {
  nodes: ["/nodes", "Node"],
  deploymentgrids: [GRID.DeploymentGrid, "DeploymentGrid"],
  statefulsetgrids: [GRID.StatefulSetGrid, "StatefulSetGrid"],
  servicegrids: [GRID.ServiceGrid, "ServiceGrid"],
  deployments: [CHILD.DeploymentGrid, "Deployment"],
  statefulsets: [CHILD.StatefulSetGrid, "StatefulSet"],
  services: [CHILD.ServiceGrid, "Service"],
  nodeunits: ["site.superedge.io/nodeunits", "NodeUnit"],
  nodegroups: ["site.superedge.io/nodegroups", "NodeGroup"]
}

const replaced = (object: object, [key, ...rest]: readonly string[], value: unknown): unknown => {
  if (key === undefined) return value
  const inner: unknown = (object as Record<string, unknown>)[key]
  const base = typeof inner === "object" && inner !== null ? inner : {}
  return { ...object, [key]: rest.length === 0 ? value : replaced(base, rest, value) }
}
