/**
 * What every write for sites is held against, at the moment at which it arrives.
 *
 * Nothing of the product is asked: what others put on nodes was written down when they did it, and who is in which unit is said by the naive
 * answer. How old a view may be is known, because the story knows when it hid something.
 */
import type { KubeObject } from "../../src/core/kube.ts"
import type { NodeUnit } from "../../src/core/site.ts"
import type { Change } from "../../src/embedded/cluster.ts"
import { naiveMember } from "../naive-sites.ts"
import { US } from "../sited.ts"
import type { Wrote } from "./server.ts"
import { GROUPS, idOf, NODES, type Places, specOf, UNITS } from "./site-places.ts"
import type { Truth } from "./truth.ts"
import { POISON, type Thing } from "./world.ts"

/** So long after all was in sight again may a controller act on what it saw before. */
const SIGHT_MS = 45_000
const MARK = "nodeunits.superedge.io"

export class SiteTruth {
  readonly #places: Places
  readonly #truth: Truth
  readonly #now: () => number
  /** by uid of node and unit: since when the node has been in the unit */
  #since = new Map<string, number>()
  /** nothing has gone wrong so far */
  #quiet = true

  constructor(places: Places, truth: Truth, now: () => number) {
    this.#places = places
    this.#truth = truth
    this.#now = now
  }

  /** Looks at who is in which unit, where that may have changed. */
  changed({ resource }: Change): void {
    if (resource === NODES || resource === UNITS) this.#look()
  }

  #look(): void {
    const since = new Map<string, number>()
    const units = this.#places.sites(UNITS) as readonly NodeUnit[]
    for (const node of this.#places.nodes()) {
      const seat = this.#places.seat(node)
      for (const unit of units) {
        const id = `${node.metadata.uid} ${unit.metadata.uid}`
        if (naiveMember(unit, seat)) since.set(id, this.#since.get(id) ?? this.#now())
      }
    }
    this.#since = since
  }

  /** Something goes wrong from now on: a controller may not know what it did itself. */
  disturb(): void {
    this.#quiet = false
  }

  wrote(write: Wrote): void {
    if (write.code >= 300 || write.name === POISON) return
    if (write.resource === NODES) this.#checkNode(write)
    else if (write.resource === UNITS || write.resource === GROUPS) this.#checkSite(write)
  }

  #wrong(id: string, write: Wrote, why: string): void {
    this.#truth.violations.push(
      `${id}: ${write.verb} ${write.resource} ${write.name} at ${write.at}: ${why}: ${JSON.stringify(write.body)}`
    )
  }

  #checkNode(write: Wrote): void {
    const { before, after, name } = write
    if (before === undefined || after === undefined || write.verb !== "merge")
      return this.#wrong("P3", write, "nodes are neither made nor deleted")
    const theirs = this.#places.theirs.get(name)
    for (const place of ["labels", "annotations"] as const)
      for (const [key, value] of theirs?.[place] ?? [])
        if (after.metadata[place]?.[key] !== value) this.#wrong("P3", write, `took ${key}=${value}`)
    const taints = new Map((specOf(after).taints ?? []).map((taint) => [idOf(taint), taint.value]))
    for (const [id, taint] of theirs?.taints ?? [])
      if (!taints.has(id) || taints.get(id) !== taint.value) this.#wrong("P3", write, `took the taint ${id}`)
    if (theirs?.cordoned === true && specOf(after).unschedulable !== true)
      this.#wrong("P3", write, "freed a node that someone cordoned")
    if (JSON.stringify(rest(before)) !== JSON.stringify(rest(after)))
      this.#wrong("P3", write, "touched what is none of its business")
    this.#checkMarks(write, before, after)
  }

  /** A node that has been in a unit for long is not taken out of it, not even on the way. */
  #checkMarks(write: Wrote, before: KubeObject, after: KubeObject): void {
    for (const unit of this.#places.sites(UNITS)) {
      const { name, uid } = unit.metadata
      if (before.metadata.labels?.[name] !== MARK || after.metadata.labels?.[name] === MARK) continue
      const since = this.#since.get(`${before.metadata.uid} ${uid}`)
      const known = write.at - Math.max(since ?? write.at, this.#truth.blind)
      if (since !== undefined && known > SIGHT_MS)
        this.#wrong("P2", write, `it has been in ${name} for ${known} ms`)
    }
  }

  /** What is let go of has left nothing on any node. */
  #checkClean(write: Wrote): void {
    for (const node of this.#places.nodes())
      for (const [key, { value, owners }] of this.#places.seat(node).labels)
        if (owners.includes(US) && (write.resource === UNITS ? value === MARK : true) && key === write.name)
          this.#wrong("P2", write, `${node.metadata.name} still has ${key}=${value}`)
  }

  #checkSite(write: Wrote): void {
    const { before, after, body, resource, subresource } = write
    if (before === undefined) {
      if (resource !== UNITS) this.#wrong("P3", write, "groups are never made")
      return
    }
    if (subresource === "status") {
      if ((body as KubeObject).metadata.uid !== before.metadata.uid)
        this.#wrong("P3", write, "the status is another object's")
      return
    }
    const found = (before.metadata.ownerReferences ?? []).length > 0
    if (write.verb === "remove" && !found) this.#wrong("P3", write, "it deleted what a person made")
    if (after !== undefined && !found && JSON.stringify(said(before)) !== JSON.stringify(said(after)))
      this.#wrong("P3", write, "it changed what a person said")
    if (after === undefined && this.#quiet) this.#checkClean(write)
    const others = (object: KubeObject): readonly string[] =>
      (object.metadata.finalizers ?? []).filter((each) => !each.startsWith("site.superedge.io/"))
    if (after !== undefined && others(before).join() !== others(after).join())
      this.#wrong("P3", write, "it touched someone else's finalizer")
  }
}

const said = ({ spec, metadata: { labels, annotations } }: Thing): unknown => [spec, labels, annotations]

/** All of a node that sites have nothing to do with. */
const rest = (node: Thing): unknown => {
  const {
    labels: _,
    annotations: __,
    managedFields: ___,
    resourceVersion: ____,
    generation: _____,
    ...metadata
  } = node.metadata
  const {
    taints: _t,
    unschedulable: _u,
    ...spec
  } = (node.spec ?? {}) as { taints?: unknown; unschedulable?: unknown }
  return [metadata, spec, node.status]
}
