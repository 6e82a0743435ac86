/**
 * A node, as sites see it: what is on it, what of that is ours, and what is someone else's.
 *
 * A label or annotation is ours where our field manager owns it and nobody else does. Only what a rule reads is kept of the node, which is
 * ten times as large.
 */
import { MANAGER } from "./child.ts"
import { setOf } from "./fieldset.ts"
import { isObject, stableJson } from "./json.ts"
import { before } from "./given.ts"
import { GIVEN, MARK, text } from "./site.ts"
import { own } from "./value.ts"

type Place = "labels" | "annotations"

/** A field manager with the keys and the fields that it owns. */
interface Manager {
  readonly name: string
  readonly labels: readonly string[]
  readonly annotations: readonly string[]
  readonly spec: readonly string[]
}

export class SiteNode {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly ready: boolean
  readonly labels: unknown
  readonly annotations: unknown
  readonly taints: unknown
  readonly unschedulable: boolean
  /** whether the server keeps owners of what is written to the node */
  readonly tracked: boolean
  /** keys that our manager owns, and nobody else */
  readonly ours: { readonly labels: ReadonlySet<string>; readonly annotations: ReadonlySet<string> }
  readonly #managers: readonly Manager[]

  constructor(node: unknown) {
    const meta = own(node, "metadata")
    const spec = own(node, "spec")
    const entries = own(meta, "managedFields")
    this.name = text(own(meta, "name"))
    this.uid = text(own(meta, "uid"))
    this.resourceVersion = text(own(meta, "resourceVersion"))
    this.labels = own(meta, "labels")
    this.annotations = own(meta, "annotations")
    this.taints = own(spec, "taints")
    this.unschedulable = own(spec, "unschedulable") === true
    this.ready = isReady(own(node, "status"))
    this.tracked = Array.isArray(entries) && entries.length > 0
    this.#managers = Array.isArray(entries) ? (entries as readonly unknown[]).flatMap(managerOf) : []
    this.ours = { labels: this.#sole("labels"), annotations: this.#sole("annotations") }
  }

  /** Whether both are one node, and no rule can tell them apart: a heartbeat makes no difference. */
  isLike(other: SiteNode): boolean {
    return this === other || this.#text() === other.#text()
  }

  #text(): string {
    const { uid, ready, labels, annotations, taints, unschedulable, tracked } = this
    return stableJson([uid, ready, labels, annotations, taints, unschedulable, tracked, this.#managers])
  }

  /** What is on the node under a key. */
  at(place: Place, key: string): string | undefined {
    const value = own(this[place], key)
    return typeof value === "string" ? value : undefined
  }

  /** What others put on the node under a key. */
  sees(place: Place, key: string): string | undefined {
    return this.ours[place].has(key) ? undefined : this.at(place, key)
  }

  /** The units that gave this node anything by us: those whose mark on it is ours, or that gave it a taint or a cordon. */
  units(): readonly string[] {
    const marks = [...this.ours.labels].filter((key) => this.at("labels", key) === MARK)
    const gave = this.at("annotations", GIVEN)
    return gave === undefined ? marks : [...new Set([...marks, ...before(gave).units])]
  }

  /** The managers that own a label, an annotation or a field of the spec, ours aside; sorted. */
  others(place: Place | "spec", key: string): readonly string[] {
    const theirs = this.#managers.filter((each) => each.name !== MANAGER && each[place].includes(key))
    return [...new Set(theirs.map(({ name }) => name))].sort()
  }

  /** Whether our manager owns it, alone or not. */
  owns(place: Place | "spec", key: string): boolean {
    return this.#managers.some((each) => each.name === MANAGER && each[place].includes(key))
  }

  #sole(place: Place): ReadonlySet<string> {
    const mine = this.#managers.filter(({ name }) => name === MANAGER)
    if (mine.length === 0) return NOTHING
    const theirs = this.#managers.filter(({ name }) => name !== MANAGER)
    const keys = mine.flatMap((each) => each[place])
    return new Set(keys.filter((key) => !theirs.some((other) => other[place].includes(key))))
  }
}

const NOTHING: ReadonlySet<string> = new Set()
const NO_KEYS: readonly string[] = []

/** An entry of `managedFields`, where it owns anything that a rule asks for. */
const managerOf = (entry: unknown): readonly Manager[] => {
  const set = setOf(entry)
  const meta = own(set, "f:metadata")
  const labels = keysOf(own(meta, "f:labels"))
  const annotations = keysOf(own(meta, "f:annotations"))
  const spec = keysOf(own(set, "f:spec"))
  if (labels.length + annotations.length + spec.length === 0) return []
  return [{ name: text(own(entry, "manager")), labels, annotations, spec }]
}

const keysOf = (set: unknown): readonly string[] => {
  if (!isObject(set)) return NO_KEYS
  return Object.keys(set).flatMap((step) => (step.startsWith("f:") ? [step.slice(2)] : []))
}

const isReady = (status: unknown): boolean => {
  const conditions = own(status, "conditions")
  if (!Array.isArray(conditions)) return false
  return (conditions as readonly unknown[]).some(
    (each) => own(each, "type") === "Ready" && own(each, "status") === "True"
  )
}
