/**
 * `status.states`: the status of each unit's child, small enough for one object whatever the number of units.
 *
 * etcd takes objects of 1.5 MB. All states are whole while they fit in 512 KB together; beyond that only units that need a
 * look are, so that the status always stays under 1 MB.
 */
import { type Child, statusOf } from "./child.ts"
import type { Condition, JsonObject, WorkloadStatus } from "./kube.ts"
import { isReady } from "./rollout.ts"

const WHOLE_BYTES = 512 * 1024
const TOTAL_BYTES = 900 * 1024
const WHOLE_UNITS = 50

/** The length of a text in UTF-8. */
const bytes = (text: string): number => {
  let size = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) size += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return size
}

const counts = (status: WorkloadStatus): JsonObject => ({
  replicas: status.replicas ?? 0,
  readyReplicas: status.readyReplicas ?? 0
})

const reason = (status: WorkloadStatus): JsonObject => {
  const conditions: readonly (Condition | null)[] = Array.isArray(status.conditions) ? status.conditions : []
  const telling = conditions.find((each) => each?.status === "False" && typeof each.reason === "string")
  return typeof telling?.reason === "string" ? { reason: telling.reason } : {}
}

/**
 * The states of a grid's children by unit, in the order of units. A child that bears no unit is left out.
 *
 * Beyond 512 KB ready units are short, the first 50 that aren't ready are whole and the others are counts and one reason; ready
 * units beyond 900 KB are left out.
 */
export const states = (children: ReadonlyMap<string, Child>): { readonly [unit: string]: JsonObject } => {
  const known = [...children.values()]
    .flatMap((child) => (child.unit === undefined ? [] : [[child.unit, child] as const]))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const whole = known.reduce((sum, [unit, child]) => sum + bytes(unit) + bytes(child.status) + 6, 2)
  if (whole <= WHOLE_BYTES)
    return Object.fromEntries(known.map(([unit, child]) => [unit, statusOf(child) as JsonObject]))
  return shortened(known)
}

const shortened = (known: readonly (readonly [string, Child])[]): { readonly [unit: string]: JsonObject } => {
  const judged = known.map(([unit, child]) => ({
    unit,
    status: statusOf(child),
    text: child.status,
    ready: isReady(child)
  }))
  const kept = new Map<string, JsonObject>()
  let room = TOTAL_BYTES
  let looks = WHOLE_UNITS
  const keep = (unit: string, state: JsonObject, size: number): void => {
    if (room < size) return
    room -= size
    kept.set(unit, state)
  }
  for (const { unit, status, text } of judged.filter(({ ready }) => !ready)) {
    const state =
      looks-- > 0 && bytes(text) < TOTAL_BYTES / WHOLE_UNITS
        ? (status as JsonObject)
        : { ...counts(status), ...reason(status) }
    keep(unit, state, bytes(unit) + bytes(JSON.stringify(state)) + 6)
  }
  for (const { unit, status } of judged.filter(({ ready }) => ready))
    keep(unit, counts(status), bytes(unit) + bytes(JSON.stringify(counts(status))) + 6)
  return Object.fromEntries([...kept].sort(([a], [b]) => (a < b ? -1 : 1)))
}
