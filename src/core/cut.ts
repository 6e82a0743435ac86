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
import type { List, Slice, Spots } from "./slice.ts"

/** A slice as this node is shown it. */
export interface Shown {
  readonly slice: Slice
  /** numbers of the endpoints that are dropped, ascending */
  readonly dropped: readonly number[]
  /** all endpoints are replaced by this one, or by none */
  readonly local: Local | "none" | undefined
}

/** A slice or an Endpoints object as it is shown, or an object that nothing is dropped of. */
export type Thing = Shown | Item

/** What of a thing can be selected by. */
export const subject = (thing: Thing): Item => ("slice" in thing ? thing.slice : thing)

/** The bytes of a slice without some of its endpoints; the very same bytes where none is dropped. */
export const cut = (slice: Slice, dropped: readonly number[]): Uint8Array =>
  edited(slice.bytes, sorted(cuts(slice, dropped)))

/** What a client is sent: bytes with the revision that it is to know, and with kind and apiVersion. */
export interface Stamp {
  /** a decimal */
  readonly revision: string
  readonly kind: string
  readonly apiVersion: string
}

/** What the bytes of an object and the edits are, for who puts them together himself. */
export interface Rendering {
  readonly bytes: Uint8Array
  readonly edits: readonly Edit[]
}

/** A thing, stamped, without building the result. */
export const rendering = (thing: Thing, stamp: Stamp): Rendering =>
  "slice" in thing
    ? { bytes: thing.slice.bytes, edits: sorted(stamps(thing.slice, stamp).concat(changes(thing))) }
    : { bytes: thing.bytes, edits: sorted(stamps(thing, stamp)) }

/** An object that nothing is dropped of, stamped. */
export const stamped = (item: Item, stamp: Stamp): Uint8Array => built(rendering(item, stamp))

/** A slice as it is shown, stamped. */
export const render = (shown: Shown, stamp: Stamp): Uint8Array => built(rendering(shown, stamp))

const built = ({ bytes, edits }: Rendering): Uint8Array => edited(bytes, edits)

/** Whether a client sees the same in both, revisions aside. */
export const sameShown = (a: Shown, b: Shown): boolean => {
  if (a.slice === b.slice && a.dropped.length === b.dropped.length && sameLocal(a.local, b.local))
    return a.dropped.every((each, i) => each === b.dropped[i])
  return sameRendered(a.slice.kind, a, b)
}

/** Whether a client sees the same in both, revisions aside. */
export const sameItem = (kind: string, a: Item, b: Item): boolean => a === b || sameRendered(kind, a, b)

/** The stamp makes an item of a list, which says nothing of its type, the same as one of a watch. */
const sameRendered = (kind: string, a: Thing, b: Thing): boolean => {
  const stamp = { revision: "0", kind, apiVersion: subject(a).apiVersion ?? subject(b).apiVersion ?? "" }
  const [one, other] = [rendering(a, stamp), rendering(b, stamp)]
  return sameEdited(one.bytes, one.edits, other.bytes, other.edits)
}

const sameLocal = (a: Shown["local"], b: Shown["local"]): boolean =>
  a === b || (typeof a === "object" && typeof b === "object" && a.address === b.address && a.port === b.port)

/** They are in order already where the fields come as the API server writes them. */
const sorted = (edits: readonly Edit[]): readonly Edit[] => {
  for (let i = 1; i < edits.length; i++)
    if ((edits[i]?.from ?? 0) < (edits[i - 1]?.from ?? 0)) return edits.toSorted((a, b) => a.from - b.from)
  return edits
}

const stamps = (item: Item, stamp: Stamp): readonly Edit[] => {
  const version = `"${stamp.revision}"`
  const edit =
    item.version === undefined
      ? insert(item.metadata, `"resourceVersion":${version},`)
      : { ...item.version, text: version }
  if (item.apiVersion !== undefined) return [edit]
  const type = `"kind":"${stamp.kind}","apiVersion":"${stamp.apiVersion}",`
  return [insert(item.body, type), edit]
}

const insert = (at: number, put: string): Edit => ({ from: at, to: at, text: put })

const none: readonly Edit[] = []

const changes = (shown: Shown): readonly Edit[] => {
  const { slice, dropped, local } = shown
  if (local === undefined) return dropped.length === 0 ? none : cuts(slice, dropped)
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
  if (dropped.length === 0) return none
  const { spots, lists, subsets } = slice
  const cut: Cut[] = []
  if (slice.kind === "EndpointSlice") {
    // Asked in order, as they are: a list of all slices asks a hundred thousand times.
    let next = 0
    const gone = (i: number): boolean => {
      if (dropped[next] !== i) return false
      next += 1
      return true
    }
    for (const list of lists) removals(spots, list, gone, cut)
    return cut
  }
  const all = new Set(dropped)
  const gone = (i: number): boolean => all.has(i)
  const empty = subsets.map(
    ({ lists: own }) => own.some(({ count }) => count > 0) && own.every((list) => isGone(list, gone))
  )
  removals(spotsOf(subsets), { first: 0, count: subsets.length }, (i) => empty[i] === true, cut)
  for (const [i, { lists: own }] of subsets.entries())
    if (empty[i] !== true) for (const list of own) removals(spots, list, gone, cut)
  return cut
}

const isGone = ({ first, count }: List, gone: (index: number) => boolean): boolean => {
  for (let i = first; i < first + count; i++) if (!gone(i)) return false
  return true
}

/** What to cut so that a list, or an object, lacks some of its entries. */
export const removed = (entries: readonly Range[], gone: (index: number) => boolean): readonly Edit[] => {
  const cut: Cut[] = []
  removals(spotsOf(entries), { first: 0, count: entries.length }, gone, cut)
  return cut
}

const spotsOf = (ranges: readonly Range[]): Spots => ranges.flatMap(({ from, to }) => [from, to])

type Cut = { -readonly [field in keyof Edit]: Edit[field] }

/** Adds what to cut so that a list lacks some of its entries: each goes with the comma before it, leading ones with the comma behind. */
const removals = (
  spots: Spots,
  { first, count }: List,
  gone: (index: number) => boolean,
  cut: Cut[]
): void => {
  /** where the entry ends that was kept last */
  let kept: number | undefined
  let last: Cut | undefined
  for (let i = first; i < first + count; i++) {
    const from = spots[2 * i]
    const end = spots[2 * i + 1]
    if (from === undefined || end === undefined) return
    if (!gone(i)) {
      kept = end
      last = undefined
      continue
    }
    const after = i + 1 < first + count ? spots[2 * i + 2] : undefined
    const to = kept === undefined ? (after ?? end) : end
    if (last === undefined) {
      last = { from: kept ?? from, to, text: "" }
      cut.push(last)
    } else last.to = to
  }
}
