/**
 * The annotation `site.superedge.io/given` on a node: which of its taints are there because of units, and whether it is cordoned for them.
 *
 * Taints are one atomic list and remember no giver, and a cordon is a field that everyone sets to the same value: field ownership says
 * nothing of them.
 */
import { isObject } from "./json.ts"
import { byText, type Taint, text } from "./site.ts"
import { own } from "./value.ts"

/** What a unit gave a node, besides labels and annotations. */
export interface Given {
  /** as `kubectl` writes them: `key=value:Effect`, or `key:Effect` without a value */
  readonly taints: readonly string[]
  readonly unschedulable: boolean
}

/** What all units gave a node. */
export interface Before {
  readonly units: ReadonlySet<string>
  /** by key and effect, with the value that was given */
  readonly taints: ReadonlyMap<string, string>
  readonly cordoned: boolean
}

/** What tells taints of a node apart: key and effect. */
export const taintId = (taint: unknown): string => `${text(own(taint, "key"))}:${text(own(taint, "effect"))}`

/** A taint as `kubectl` writes it. */
export const taintText = (taint: Taint): string =>
  `${taint.key}${text(taint.value) === "" ? "" : `=${text(taint.value)}`}:${taint.effect}`

const isTaintText = /^([^=:]+)(?:=([^=:]*))?:([^=:]+)$/

const taintOf = (written: unknown): Taint | undefined => {
  const [, key, value = "", effect] = isTaintText.exec(text(written)) ?? []
  return key === undefined || effect === undefined ? undefined : { key, value, effect }
}

/** What the annotation's text says that units gave; what can't be read was not given. */
export const before = (written: string | undefined): Before => {
  const units = new Set<string>()
  const found = new Map<string, string>()
  let cordoned = false
  for (const [unit, each] of Object.entries(parsed(written))) {
    const taints = own(each, "taints")
    units.add(unit)
    cordoned ||= own(each, "unschedulable") === true
    for (const one of Array.isArray(taints) ? (taints as readonly unknown[]) : []) {
      const taint = taintOf(one)
      if (taint !== undefined) found.set(taintId(taint), text(taint.value))
    }
  }
  return { units, taints: found, cordoned }
}

const parsed = (written: string | undefined): { readonly [unit: string]: unknown } => {
  if (written === undefined) return {}
  try {
    const value: unknown = JSON.parse(written)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** The annotation's text for what units gave; `undefined` where none gave anything. The same facts always give the same text. */
export const givenText = (all: ReadonlyMap<string, Given>): string | undefined => {
  if (all.size === 0) return undefined
  const entries = [...all]
    .filter(([, { taints, unschedulable }]) => taints.length > 0 || unschedulable)
    .sort(([a], [b]) => byText(a, b))
    .map(([unit, { taints, unschedulable }]) => [
      unit,
      { ...(taints.length > 0 && { taints: [...taints].sort() }), ...(unschedulable && { unschedulable }) }
    ])
  return entries.length === 0 ? undefined : JSON.stringify(Object.fromEntries(entries))
}
