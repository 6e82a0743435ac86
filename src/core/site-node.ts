/**
 * A node, as sites see it: what is on it, what of that is ours, and what is someone else's.
 *
 * A label or annotation is ours where our field manager owns it and nobody else does.
 */
import { MANAGER } from "./child.ts"
import { setOf } from "./fieldset.ts"
import { isObject } from "./json.ts"
import { MARK, text } from "./site.ts"
import { own } from "./value.ts"

type Place = "labels" | "annotations"

const NOTHING: ReadonlySet<string> = new Set()

export class SiteNode {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly ready: boolean
  readonly labels: unknown
  readonly annotations: unknown
  readonly spec: unknown
  /** keys that our manager owns, and nobody else */
  readonly ours: Ours
  readonly #managedFields: readonly unknown[]

  constructor(node: unknown) {
    const meta = own(node, "metadata")
    this.name = text(own(meta, "name"))
    this.uid = text(own(meta, "uid"))
    this.resourceVersion = text(own(meta, "resourceVersion"))
    this.labels = own(meta, "labels")
    this.annotations = own(meta, "annotations")
    this.spec = own(node, "spec")
    this.ready = isReady(own(node, "status"))
    const entries = own(meta, "managedFields")
    this.#managedFields = Array.isArray(entries) ? (entries as readonly unknown[]) : []
    this.ours = ours(this.#managedFields)
  }

  /** Whether the server keeps owners of what is written to the node. */
  get tracked(): boolean {
    return this.#managedFields.length > 0
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

  /** The units whose mark on this node is ours. */
  marks(): readonly string[] {
    return [...this.ours.labels].filter((key) => this.at("labels", key) === MARK)
  }

  /** The managers that own a field, ours aside; sorted. */
  others(...path: readonly string[]): readonly string[] {
    const found = new Set<string>()
    for (const entry of this.#managedFields)
      if (!isOurs(entry) && below(own(entry, "fieldsV1"), path) !== undefined)
        found.add(text(own(entry, "manager")))
    return [...found].sort()
  }

  /** Whether our manager owns a field, alone or not. */
  owns(...path: readonly string[]): boolean {
    return this.#managedFields.some((entry) => isOurs(entry) && below(setOf(entry), path) !== undefined)
  }
}

type Ours = { readonly labels: ReadonlySet<string>; readonly annotations: ReadonlySet<string> }

const ours = (managedFields: readonly unknown[]): Ours => {
  const mine: unknown[] = []
  const others: unknown[] = []
  for (const entry of managedFields)
    (isOurs(entry) ? mine : others).push(own(own(entry, "fieldsV1"), "f:metadata"))
  return mine.length === 0
    ? { labels: NOTHING, annotations: NOTHING }
    : { labels: sole(mine, others, "f:labels"), annotations: sole(mine, others, "f:annotations") }
}

/** The keys that some of ours have and none of the others. */
const sole = (mine: readonly unknown[], others: readonly unknown[], place: string): ReadonlySet<string> => {
  const theirs = others.map((set) => own(set, place)).filter(isObject)
  const found = new Set<string>()
  for (const set of mine.map((each) => own(each, place)).filter(isObject))
    for (const step of Object.keys(set))
      if (step.startsWith("f:") && !theirs.some((other) => Object.hasOwn(other, step)))
        found.add(step.slice(2))
  return found
}

const isOurs = (entry: unknown): boolean => own(entry, "manager") === MANAGER && setOf(entry) !== undefined

const below = (set: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((found, step) => own(found, `f:${step}`), set)

const isReady = (status: unknown): boolean => {
  const conditions = own(status, "conditions")
  if (!Array.isArray(conditions)) return false
  return (conditions as readonly unknown[]).some(
    (each) => own(each, "type") === "Ready" && own(each, "status") === "True"
  )
}
