/**
 * Upstream's bytes as they are shown: those of dropped endpoints cut out, the rest untouched.
 *
 * So numbers of any size, order, escapes and unknown fields survive. What may differ besides: the revision, the type where a list
 * left it out, and `default/kubernetes` where this node has an address of its own for it.
 */
import { asciiJson, type Edit, edited, sameEdited, text } from "./bytes.ts"
import type { Item } from "./item.ts"
import { type Local, localEndpoints, localPorts, localSubsets } from "./local.ts"
import type { Range } from "./scan.ts"
import type { List, Slice, Subset } from "./slice.ts"

/** A slice as this node is shown it. */
export interface Shown {
  readonly slice: Slice
  /** numbers of the endpoints that are dropped, ascending */
  readonly dropped: readonly number[]
  /** all endpoints are replaced by this one, or by none */
  readonly local: Local | "none" | undefined
}

/** The bytes of a slice without some of its endpoints; the very same bytes where none is dropped. */
export const cut = (slice: Slice, dropped: readonly number[]): Uint8Array =>
  edited(slice.bytes, sorted(cuts(slice, dropped)))

/** What a client is sent: bytes with the revision that it is to know, and with kind and apiVersion. */
export interface Stamp {
  readonly revision: string
  readonly kind: string
  readonly apiVersion: string
}

/** An object that nothing is dropped of, stamped. */
export const stamped = (item: Item, stamp: Stamp): Uint8Array =>
  edited(item.bytes, sorted(stamps(item, stamp)))

/** A slice as it is shown, stamped. */
export const render = (shown: Shown, stamp: Stamp): Uint8Array =>
  edited(shown.slice.bytes, edits(shown, stamp))

const edits = (shown: Shown, stamp: Stamp): readonly Edit[] =>
  sorted([...stamps(shown.slice, stamp), ...changes(shown)])

/** Whether a client sees the same in both, revisions aside. */
export const sameShown = (a: Shown, b: Shown): boolean => {
  if (a.slice === b.slice && a.dropped.length === b.dropped.length && sameLocal(a.local, b.local))
    return a.dropped.every((each, i) => each === b.dropped[i])
  return sameEdited(a.slice.bytes, edits(a, nobody), b.slice.bytes, edits(b, nobody))
}

const nobody: Stamp = { revision: "0", kind: "", apiVersion: "" }

const sameLocal = (a: Shown["local"], b: Shown["local"]): boolean =>
  a === b || (typeof a === "object" && typeof b === "object" && a.address === b.address && a.port === b.port)

const sorted = (edits: readonly Edit[]): readonly Edit[] =>
  edits.length < 2 ? edits : edits.toSorted((a, b) => a.from - b.from)

const stamps = (item: Item, stamp: Stamp): readonly Edit[] => {
  const version = JSON.stringify(stamp.revision)
  const edit =
    item.version === undefined
      ? insert(item.metadata, `"resourceVersion":${version},`)
      : { ...item.version, text: version }
  if (item.typed) return [edit]
  const type = `"kind":${JSON.stringify(stamp.kind)},"apiVersion":${JSON.stringify(stamp.apiVersion)},`
  return [insert(item.body, type), edit]
}

const insert = (at: number, put: string): Edit => ({ from: at, to: at, text: put })

const changes = (shown: Shown): readonly Edit[] => {
  const { slice, dropped, local } = shown
  if (local === undefined) return cuts(slice, dropped)
  const set = (field: string, value: unknown, range: Range | undefined): Edit =>
    range === undefined
      ? insert(slice.body, `${asciiJson(field)}:${asciiJson(value)},`)
      : { ...range, text: asciiJson(value) }
  if (slice.kind === "Endpoints")
    return [set("subsets", local === "none" ? [] : localSubsets(local), slice.content)]
  if (local === "none") return [set("endpoints", [], slice.content)]
  return [
    set("endpoints", localEndpoints(local), slice.content),
    set("ports", localPorts(local, ports(slice)), slice.ports)
  ]
}

const ports = (slice: Slice): unknown =>
  slice.ports === undefined
    ? undefined
    : (JSON.parse(text(slice.bytes, slice.ports.from, slice.ports.to)) as unknown)

const cuts = (slice: Slice, dropped: readonly number[]): readonly Edit[] => {
  if (dropped.length === 0) return []
  const many = dropped.length > 16 ? new Set(dropped) : undefined
  const gone = (i: number): boolean => many?.has(i) ?? dropped.includes(i)
  const { endpoints, lists, subsets } = slice
  const cut: Cut[] = []
  for (const list of lists) removals(endpoints, list, gone, cut)
  if (subsets.length === 0) return cut
  const empty = ({ lists: own }: Subset): boolean =>
    own.some(({ count }) => count > 0) && own.every((list) => indices(list).every(gone))
  const whole = { first: 0, count: subsets.length }
  const away: Cut[] = []
  removals(subsets, whole, (i) => subsets.slice(i, i + 1).some(empty), away)
  return [...away, ...cut.filter(({ from }) => !away.some((each) => from >= each.from && from < each.to))]
}

const indices = ({ first, count }: List): readonly number[] =>
  Array.from({ length: count }, (_, i) => first + i)

type Cut = { -readonly [field in keyof Edit]: Edit[field] }

/** What to cut so that a list lacks some of its entries: each goes with the comma before it, leading ones with the comma behind. */
const removals = (
  entries: readonly Range[],
  { first, count }: List,
  gone: (index: number) => boolean,
  cut: Cut[]
): void => {
  let kept: Range | undefined
  let last: Cut | undefined
  for (let i = first; i < first + count; i++) {
    const entry = entries[i]
    if (entry === undefined) return
    if (!gone(i)) {
      kept = entry
      last = undefined
      continue
    }
    const after = i + 1 < first + count ? entries[i + 1] : undefined
    const to = kept === undefined ? (after?.from ?? entry.to) : entry.to
    if (last === undefined) {
      last = { from: kept?.to ?? entry.from, to, text: "" }
      cut.push(last)
    } else last.to = to
  }
}
