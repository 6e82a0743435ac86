/**
 * A naive answer to what nodes carry once a pass over units and groups is done: everything from scratch, node by node.
 *
 * It imports nothing of the product but types, and knows who put what on a node from the world itself, not from what the
 * product wrote down. For units and groups that are as they should be: what is refused is judged elsewhere.
 */
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { type Seat, type TaintHere, US } from "./sited.ts"

interface Selector {
  readonly matchLabels?: { readonly [key: string]: string }
  readonly annotations?: { readonly [key: string]: string }
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

interface Spec {
  readonly nodes?: readonly string[]
  readonly nodeUnits?: readonly string[]
  readonly selector?: Selector
  readonly setNode?: {
    readonly labels?: { readonly [key: string]: string }
    readonly annotations?: { readonly [key: string]: string }
    readonly taints?: readonly TaintHere[]
  }
  readonly unschedulable?: boolean
}

type Values = ReadonlyMap<string, string>

const specOf = (object: NodeUnit | NodeGroup): Spec => (object.spec ?? {}) as Spec
const pairs = (map: { readonly [key: string]: string } | null | undefined) => Object.entries(map ?? {})

/** Whether a selector selects what has these labels and annotations. */
export const naiveSelects = (
  selector: Selector | undefined,
  labels: Values,
  annotations: Values
): boolean => {
  const tests: boolean[] = []
  for (const [key, value] of pairs(selector?.matchLabels)) tests.push(labels.get(key) === value)
  for (const [key, value] of pairs(selector?.annotations)) tests.push(annotations.get(key) === value)
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    const found = labels.get(key)
    if (operator === "Exists") tests.push(found !== undefined)
    if (operator === "DoesNotExist") tests.push(found === undefined)
    if (operator === "In") tests.push(values.some((value) => value === found))
    if (operator === "NotIn") tests.push(!values.some((value) => value === found))
  }
  return tests.length > 0 && !tests.includes(false)
}

const onlyOurs = (owners: readonly string[]): boolean =>
  owners.length > 0 && owners.every((each) => each === US)

const theirs = (map: Seat["labels"]): Values =>
  new Map([...map].filter(([, { owners }]) => !onlyOurs(owners)).map(([key, { value }]) => [key, value]))

export const naiveMember = (unit: NodeUnit, node: Seat): boolean => {
  if (typeof unit.metadata.deletionTimestamp === "string") return false
  const { nodes, selector } = specOf(unit)
  return (
    (nodes ?? []).includes(node.name) || naiveSelects(selector, theirs(node.labels), theirs(node.annotations))
  )
}

export const naiveHolds = (group: NodeGroup, unit: NodeUnit): boolean => {
  if (typeof group.metadata.deletionTimestamp === "string") return false
  const { nodeUnits, selector } = specOf(group)
  const labels = new Map(pairs(unit.metadata.labels))
  return (
    (nodeUnits ?? []).includes(unit.metadata.name) ||
    naiveSelects(selector, labels, new Map(pairs(unit.metadata.annotations)))
  )
}

const oldestFirst = (units: readonly NodeUnit[]): readonly NodeUnit[] =>
  [...units].sort((a, b) => {
    const [left, right] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`)
    return (left ?? "") < (right ?? "") ? -1 : 1
  })

/** What is wanted under a key, by those who want it first. */
const merged = (before: Seat["labels"], wanted: Values): { readonly [key: string]: string } => {
  const after: [string, string][] = []
  for (const key of new Set([...before.keys(), ...wanted.keys()])) {
    const [live, want] = [before.get(key), wanted.get(key)]
    const free = live === undefined || onlyOurs(live.owners)
    const value = free ? want : live.value
    if (value !== undefined) after.push([key, value])
  }
  return Object.fromEntries(after)
}

/** What stands on a node after a pass, the annotation of our own aside. */
export const naiveNode = (node: Seat, units: readonly NodeUnit[], groups: readonly NodeGroup[]) => {
  const mine = oldestFirst(units).filter((unit) => naiveMember(unit, node))
  const labels = new Map<string, string>()
  const annotations = new Map<string, string>()
  const taints = new Map<string, TaintHere>()
  for (const unit of mine) {
    labels.set(unit.metadata.name, "nodeunits.superedge.io")
    const { setNode } = specOf(unit)
    for (const [key, value] of pairs(setNode?.labels)) if (!labels.has(key)) labels.set(key, value)
    for (const [key, value] of pairs(setNode?.annotations))
      if (!annotations.has(key)) annotations.set(key, value)
    for (const taint of setNode?.taints ?? []) {
      const id = `${taint.key}:${taint.effect}`
      if (!taints.has(id)) taints.set(id, taint)
    }
  }
  for (const group of groups) {
    const held = mine.filter((unit) => naiveHolds(group, unit)).map(({ metadata }) => metadata.name)
    const live = node.labels.get(group.metadata.name)?.value
    const value = live !== undefined && held.includes(live) ? live : held[0]
    if (value !== undefined) labels.set(group.metadata.name, value)
  }
  const write = (taint: TaintHere): string => `${taint.key}=${taint.value ?? ""}:${taint.effect}`
  const stay = node.taints.filter(({ owner }) => owner !== US).map(({ taint }) => taint)
  const taken = new Set(stay.map(({ key, effect }) => `${key}:${effect}`))
  const added = [...taints].filter(([id]) => !taken.has(id)).map(([, taint]) => taint)
  const cordons = mine.some((unit) => specOf(unit).unschedulable === true)
  return {
    name: node.name,
    labels: merged(node.labels, labels),
    annotations: merged(
      new Map([...node.annotations].filter(([key]) => key !== "site.superedge.io/given")),
      annotations
    ),
    taints: [...stay, ...added].map(write).sort(),
    unschedulable: cordons || (node.cordon !== undefined && node.cordon !== US)
  }
}
