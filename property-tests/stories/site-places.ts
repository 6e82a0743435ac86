/**
 * People who look after sites, and everybody else on their nodes: all of them write to the API server as kubectl or a kubelet does.
 *
 * What others put on nodes is written down here when they do it, so that a story can say of each thing on a node whose it is, without asking
 * the product or what the product wrote down. Others never set a value that units give, but for what a node has from the start.
 */
import type { KubeObject } from "../../src/core/kube.ts"
import type { Change } from "../../src/embedded/cluster.ts"
import * as Model from "../../src/embedded/model.ts"
import { pathOf } from "../../src/embedded/requests.ts"
import type { Seat, TaintHere } from "../sited.ts"
import { US } from "../sited.ts"
import type { Move, Server } from "./server.ts"
import { POISON, type Thing } from "./world.ts"

export const NODES = "/nodes"
export const UNITS = "site.superedge.io/nodeunits"
export const GROUPS = "site.superedge.io/nodegroups"
export type SiteKind = typeof UNITS | typeof GROUPS

export const EVERY_UNIT = "unit-node-all"
const HOLD = "example.io/hold"

/** What others put on one node. */
interface Theirs {
  readonly labels: Map<string, string>
  readonly annotations: Map<string, string>
  /** by key and effect */
  readonly taints: Map<string, TaintHere>
  cordoned: boolean
}

/** What a unit or a group is said to be. */
export interface Word {
  readonly spec: object
  readonly labels?: Readonly<Record<string, string>>
}

export interface NodeSpec {
  readonly taints?: readonly TaintHere[]
  readonly unschedulable?: boolean
}

export const idOf = ({ key, effect }: TaintHere): string => `${key}:${effect}`

export const specOf = (node: Thing): NodeSpec => (node.spec ?? {}) as NodeSpec

/** Whether a node says that it is ready. */
export const isReady = ({ status }: Thing): boolean => {
  const { conditions = [] } = (status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
  return conditions.some((each) => each.type === "Ready" && each.status === "True")
}

export class Places {
  readonly server: Server
  /** by name of the node */
  readonly theirs = new Map<string, Theirs>()
  /** what people say, by name */
  readonly said: { readonly [K in SiteKind]: Map<string, Word> } = { [UNITS]: new Map(), [GROUPS]: new Map() }
  #orphans = false

  constructor(server: Server) {
    this.server = server
  }

  // ---- nodes

  nodes(): readonly Thing[] {
    return Model.list(this.server.cluster, NODES)
  }

  node(name: string): Thing | undefined {
    return Model.get(this.server.cluster, NODES, undefined, name)
  }

  addNode(
    name: string,
    labels: Readonly<Record<string, string>>,
    o: { readonly taints?: readonly TaintHere[]; readonly unschedulable?: boolean } = {}
  ): void {
    if (this.node(name) !== undefined) return
    this.theirs.set(name, {
      labels: new Map(Object.entries(labels)),
      annotations: new Map(),
      taints: new Map((o.taints ?? []).map((taint) => [idOf(taint), taint])),
      cordoned: o.unschedulable === true
    })
    const made = this.#ask("POST", pathTo(NODES), {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels },
      spec: {
        ...(o.taints && { taints: o.taints }),
        ...(o.unschedulable === true && { unschedulable: true })
      }
    })
    // The server itself puts a taint on a node that isn't ready yet.
    for (const taint of specOf(made as Thing).taints ?? [])
      this.theirs.get(name)?.taints.set(idOf(taint), taint)
    this.ready(name, true)
  }

  dropNode(name: string): void {
    if (this.node(name) === undefined) return
    this.theirs.delete(name)
    this.#ask("DELETE", pathTo(NODES, name))
  }

  ready(name: string, ready: boolean): void {
    const conditions = [{ type: "Ready", status: ready ? "True" : "False" }]
    this.#merge(NODES, name, { status: { conditions } }, { by: "kubelet", subresource: "status" })
  }

  /** What a kubelet and its agents do all day: nothing that concerns anyone. */
  beat(name: string): void {
    const node = this.node(name)
    if (node === undefined) return
    const beats = ((node.status ?? {}) as { readonly beats?: string }).beats ?? "0"
    this.#merge(
      NODES,
      name,
      { status: { nodeInfo: { bootID: `${beats}${this.server.cluster.revision}` } } },
      { by: "kubelet", subresource: "status" }
    )
  }

  mark(place: "labels" | "annotations", name: string, key: string, value: string | undefined): void {
    const theirs = this.theirs.get(name)?.[place]
    if (theirs === undefined) return
    if (value === undefined) theirs.delete(key)
    else theirs.set(key, value)
    this.#merge(NODES, name, { metadata: { [place]: { [key]: value ?? null } } })
  }

  taint(name: string, taint: TaintHere): void {
    this.theirs.get(name)?.taints.set(idOf(taint), taint)
    this.#retaint(name, (list) => [...list.filter((each) => idOf(each) !== idOf(taint)), taint])
  }

  untaint(name: string, id: string): void {
    this.theirs.get(name)?.taints.delete(id)
    this.#retaint(name, (list) => list.filter((each) => idOf(each) !== id))
  }

  #retaint(name: string, change: (list: readonly TaintHere[]) => readonly TaintHere[]): void {
    const node = this.node(name)
    if (node === undefined) return
    const list = change(specOf(node).taints ?? [])
    this.#merge(NODES, name, { spec: { taints: list.length === 0 ? null : list } })
  }

  cordon(name: string, cordoned: boolean): void {
    const node = this.node(name)
    const theirs = this.theirs.get(name)
    if (node === undefined || theirs === undefined || (specOf(node).unschedulable === true) === cordoned)
      return
    theirs.cordoned = cordoned
    this.#merge(NODES, name, { spec: { unschedulable: cordoned ? true : null } })
  }

  /** A node as it is, with whose everything on it is. */
  seat(node: Thing): Seat {
    const { metadata } = node
    const theirs = this.theirs.get(metadata.name)
    const owned = (place: "labels" | "annotations"): Seat["labels"] =>
      new Map(
        Object.entries(metadata[place] ?? {}).map(([key, value]) => [
          key,
          { value, owners: [theirs?.[place].has(key) === true ? "kubelet" : US] }
        ])
      )
    const { taints = [], unschedulable } = specOf(node)
    const cordon = theirs?.cordoned === true ? "kubelet" : US
    return {
      name: metadata.name,
      uid: metadata.uid ?? "",
      revision: 0,
      ready: isReady(node),
      labels: owned("labels"),
      annotations: owned("annotations"),
      taints: taints.map((taint) => ({
        taint,
        owner: theirs?.taints.has(idOf(taint)) === true ? "kubelet" : US
      })),
      cordon: unschedulable === true ? cordon : undefined,
      taintsOwner: undefined,
      cordonOwner: undefined
    }
  }

  // ---- units and groups

  /** But for the one that is wrong in itself. */
  sites(kind: SiteKind): readonly Thing[] {
    return Model.list(this.server.cluster, kind).filter(({ metadata }) => metadata.name !== POISON)
  }

  site(kind: SiteKind, name: string): Thing | undefined {
    return Model.get(this.server.cluster, kind, undefined, name)
  }

  /** Makes it, or has it say something else: nothing while it is being deleted. */
  put(kind: SiteKind, name: string, word: Word): void {
    const live = this.site(kind, name)
    if (typeof live?.metadata.deletionTimestamp === "string") return
    this.said[kind].set(name, word)
    const object = {
      ...(live ?? { apiVersion: "site.superedge.io/v1alpha2", kind: KINDS[kind] }),
      metadata: { ...(live?.metadata ?? { name }), labels: word.labels ?? {} },
      spec: word.spec
    }
    if (live === undefined) this.#ask("POST", pathTo(kind), object)
    else this.#ask("PUT", pathTo(kind, name), object)
  }

  drop(kind: SiteKind, name: string): void {
    if (this.site(kind, name) === undefined) return
    this.said[kind].delete(name)
    this.#ask("DELETE", pathTo(kind, name))
  }

  /** Says that what it says now is meant. */
  confirm(kind: SiteKind, name: string): void {
    const generation = this.site(kind, name)?.metadata.generation
    const annotations = { "site.superedge.io/confirmed-generation": String(generation) }
    this.#merge(kind, name, { metadata: { annotations } })
  }

  confirmAll(): void {
    for (const kind of [UNITS, GROUPS] as const)
      for (const { metadata } of this.sites(kind)) this.confirm(kind, metadata.name)
  }

  /** Someone takes all finalizers away, or adds one. */
  finalize(kind: SiteKind, name: string, how: "strip" | "hold"): void {
    const live = this.site(kind, name)
    if (live === undefined || typeof live.metadata.deletionTimestamp === "string") return
    const finalizers = how === "strip" ? null : [...new Set([...(live.metadata.finalizers ?? []), HOLD])]
    this.#merge(kind, name, { metadata: { finalizers } })
  }

  /** Someone takes a unit that a group found for their own. */
  adopt(name: string): void {
    this.#merge(UNITS, name, { metadata: { ownerReferences: null } })
  }

  /** Someone writes a status that isn't theirs. */
  alter(kind: SiteKind, name: string, status: object): void {
    this.#merge(kind, name, { status }, { subresource: "status" })
  }

  /** Whoever holds units and groups lets go. */
  release(): void {
    for (const kind of [UNITS, GROUPS] as const)
      for (const { metadata } of this.sites(kind)) {
        const rest = (metadata.finalizers ?? []).filter((each) => each !== HOLD)
        if (rest.length < (metadata.finalizers ?? []).length)
          this.#merge(kind, metadata.name, { metadata: { finalizers: rest } })
      }
  }

  // ---- the garbage collector

  changed(change: Change): void {
    if ((change.resource === GROUPS && change.type === "DELETED") || change.resource === UNITS)
      this.#orphans = true
  }

  moves(): Move[] {
    return this.#orphans ? [() => this.#collect()] : []
  }

  #collect(): void {
    this.#orphans = false
    const live = new Set(this.sites(GROUPS).map(({ metadata }) => metadata.uid))
    for (const { metadata } of this.sites(UNITS)) {
      const owners = metadata.ownerReferences ?? []
      if (owners.length === 0 || owners.some(({ uid }) => live.has(uid))) continue
      if (typeof metadata.deletionTimestamp !== "string") this.#ask("DELETE", pathTo(UNITS, metadata.name))
    }
  }

  // ---- writing

  #merge(
    resource: string,
    name: string,
    body: object,
    o: { readonly by?: string; readonly subresource?: string } = {}
  ): void {
    if (Model.get(this.server.cluster, resource, undefined, name) === undefined) return
    const path = pathTo(resource, name, o.subresource)
    this.#ask("PATCH", path, body, o.by, "application/merge-patch+json")
  }

  #ask(
    method: "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: object,
    by = method === "POST" ? "kubelet" : "kubectl",
    contentType = "application/json"
  ): unknown {
    const query = method === "DELETE" ? {} : { fieldManager: by }
    const text: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body))
    const { code, body: answer } = this.server.ask({ method, path, query, contentType, body: text })
    if (code >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
}

/** Where requests about a kind, or one object of it, go. */
const pathTo = (resource: string, name?: string, subresource?: string): string =>
  pathOf(resource, undefined, name, subresource, resource === NODES ? "v1" : "v1alpha2")

const KINDS: { readonly [K in SiteKind]: string } = { [UNITS]: "NodeUnit", [GROUPS]: "NodeGroup" }

/** The group that a unit names as its owner. */
export const makerOf = ({ metadata }: KubeObject): string | undefined => metadata.ownerReferences?.[0]?.uid
