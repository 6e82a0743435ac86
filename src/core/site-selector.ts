/**
 * Which nodes a unit selects, and which units a group selects: by labels, by expressions and by annotations.
 *
 * Labels and annotations that sites put on a node themselves are not looked at: else a unit could hold its nodes by what it gives them, or
 * push them out, join after join.
 */
import { isLabelKey, isLabelValue } from "./grid.ts"
import { asText, isObject } from "./json.ts"
import type { SiteNode } from "./site-node.ts"

type Place = "labels" | "annotations"

/** One thing that must hold of a label or annotation. */
export interface Requirement {
  readonly place: Place
  readonly key: string
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist"
  readonly values: readonly string[]
}

/** What a selector requires, or which field of it can't be read and why. */
export type Selection =
  | { readonly _tag: "Requires"; readonly requirements: readonly Requirement[] }
  | { readonly _tag: "Wrong"; readonly field: string; readonly message: string }

const wrong = (field: string, message: string): Selection => ({ _tag: "Wrong", field, message })

/** What a selector of raw JSON requires. An absent or empty one requires nothing, and selects nothing. */
export const selection = (selector: unknown): Selection => {
  if (selector === undefined || selector === null) return { _tag: "Requires", requirements: [] }
  if (!isObject(selector))
    return wrong("", `${asText(selector)} is no selector; use matchLabels, such as {zone: a}`)
  const parts = [
    equal("matchLabels", "labels", selector["matchLabels"]),
    expressions(selector["matchExpressions"]),
    equal("annotations", "annotations", selector["annotations"])
  ]
  const requirements: Requirement[] = []
  for (const part of parts) {
    if (part._tag === "Wrong") return part
    requirements.push(...part.requirements)
  }
  return contradiction(requirements) ?? { _tag: "Requires", requirements }
}

const equal = (field: string, place: Place, map: unknown): Selection => {
  if (map !== undefined && map !== null && !isObject(map))
    return wrong(field, `${asText(map)} is no map; use keys and values, such as {zone: a}`)
  const requirements: Requirement[] = []
  for (const [key, value] of Object.entries(map ?? {})) {
    if (value === null || value === undefined) continue
    const bad = place === "labels" && !isValue(value)
    if (typeof value !== "string" || bad)
      return wrong(
        `${field}[${key}]`,
        `${asText(value)} is no value of a ${place.slice(0, -1)}; quote it, or correct it`
      )
    if (!isKey(place, key))
      return wrong(`${field}[${key}]`, `"${key}" is no key; use one such as "zone" or "example.com/zone"`)
    requirements.push({ place, key, operator: "In", values: [value] })
  }
  return { _tag: "Requires", requirements }
}

const isValue = (value: unknown): boolean =>
  typeof value === "string" && (value === "" || isLabelValue(value))

/** Prefixes of annotations may have capital letters. */
const isKey = (place: Place, key: string): boolean => isLabelKey(place === "labels" ? key : key.toLowerCase())

const expressions = (list: unknown): Selection => {
  if (list === undefined || list === null) return { _tag: "Requires", requirements: [] }
  if (!Array.isArray(list)) return wrong("matchExpressions", `${asText(list)} is no list of requirements`)
  const requirements: Requirement[] = []
  for (const [i, each] of (list as readonly unknown[]).entries()) {
    const made = expression(each)
    if (typeof made === "string") return wrong(`matchExpressions[${i}]`, made)
    requirements.push(made)
  }
  return { _tag: "Requires", requirements }
}

const expression = (each: unknown): Requirement | string => {
  if (!isObject(each)) return `${asText(each)} is no requirement; use key, operator and values`
  const { key, operator } = each
  const values: unknown = each["values"] ?? []
  if (typeof key !== "string" || !isLabelKey(key)) return `key ${asText(key)} is no label key`
  if (operator !== "In" && operator !== "NotIn" && operator !== "Exists" && operator !== "DoesNotExist")
    return `operator ${asText(operator)} is none of In, NotIn, Exists and DoesNotExist`
  if (!Array.isArray(values) || !values.every(isValue))
    return `values ${asText(values)} are no values of a label`
  const takes = operator === "In" || operator === "NotIn"
  if (takes !== values.length > 0) return `${operator} takes ${takes ? "at least one value" : "no values"}`
  return { place: "labels", key, operator, values: values as readonly string[] }
}

/** Requirements on one key that no value and no absence meets. */
const contradiction = (requirements: readonly Requirement[]): Selection | undefined => {
  const keys = new Map<string, Requirement[]>()
  for (const each of requirements) {
    const about = keys.get(`${each.place} ${each.key}`)
    if (about === undefined) keys.set(`${each.place} ${each.key}`, [each])
    else about.push(each)
  }
  for (const about of keys.values()) {
    const candidates = [undefined, ...about.flatMap(({ values }) => values), fresh(about)]
    if (candidates.every((value) => !about.every((each) => holds(each, value))))
      return wrong(
        "",
        `what it says of "${about[0]?.key}" contradicts itself, so no node can match; remove one of the requirements`
      )
  }
  return undefined
}

/** A value that none of the requirements names. */
const fresh = (about: readonly Requirement[]): string =>
  `${
    about
      .flatMap(({ values }) => values)
      .sort()
      .at(-1) ?? ""
  }0`

/** Whether a requirement holds for the value that is there, if any. */
const holds = ({ operator, values }: Requirement, value: string | undefined): boolean => {
  if (operator === "Exists") return value !== undefined
  if (operator === "DoesNotExist") return value === undefined
  const listed = value !== undefined && values.includes(value)
  return (operator === "In") === listed
}

/** Whether something that has these labels and annotations is selected. */
export const selected = (
  requirements: readonly Requirement[],
  value: (place: Place, key: string) => string | undefined
): boolean =>
  requirements.length > 0 && requirements.every((each) => holds(each, value(each.place, each.key)))

/** Whether the selector shuts a node out by name of what it must not have. */
export const shutsOut = (requirements: readonly Requirement[], node: SiteNode): boolean =>
  requirements.some(
    (each) =>
      (each.operator === "NotIn" || each.operator === "DoesNotExist") &&
      !holds(each, node.sees(each.place, each.key))
  )

/** Nodes by what they have under a key; made for each key when it is first asked for. */
export class NodeIndex {
  readonly #nodes: readonly SiteNode[]
  readonly #byKey = new Map<string, ReadonlyMap<string, readonly SiteNode[]>>()

  constructor(nodes: readonly SiteNode[]) {
    this.#nodes = nodes
  }

  /** The nodes that a selector selects, in the order in which they came. */
  select(requirements: readonly Requirement[]): readonly SiteNode[] {
    if (requirements.length === 0) return []
    return this.#fewest(requirements).filter((node) =>
      selected(requirements, (place, key) => node.sees(place, key))
    )
  }

  /** The shortest list that holds all nodes which can be selected. */
  #fewest(requirements: readonly Requirement[]): readonly SiteNode[] {
    let fewest = this.#nodes
    for (const { place, key, operator, values } of requirements) {
      if (operator !== "In" && operator !== "Exists") continue
      const found = this.#under(place, key)
      const lists = operator === "In" ? values.map((value) => found.get(value) ?? []) : [...found.values()]
      if (lists.reduce((sum, list) => sum + list.length, 0) < fewest.length)
        fewest = [...new Set(lists.flat())]
    }
    return fewest
  }

  #under(place: Place, key: string): ReadonlyMap<string, readonly SiteNode[]> {
    const known = this.#byKey.get(`${place} ${key}`)
    if (known !== undefined) return known
    const made = new Map<string, SiteNode[]>()
    for (const node of this.#nodes) {
      const value = node.sees(place, key)
      if (value === undefined) continue
      const list = made.get(value)
      if (list === undefined) made.set(value, [node])
      else list.push(node)
    }
    this.#byKey.set(`${place} ${key}`, made)
    return made
  }
}
