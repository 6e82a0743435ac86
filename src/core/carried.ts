/**
 * What a node carries because of units and groups, one thing after the other: who gives it, and how far that is.
 *
 * No rule is told anew here: what is wished is compared with what is there and with what the node's patch will write.
 */
import { type Bundle, labelsFor, type Wish } from "./bundle.ts"
import { Complaints } from "./complaints.ts"
import { before, type Before, taintId } from "./given.ts"
import type { NodePatch } from "./node-patch.ts"
import { cordonOf, taintsOf } from "./node-spec.ts"
import { byText, GIVEN, type Site, text } from "./site.ts"
import type { SiteNode } from "./site-node.ts"
import { own } from "./value.ts"

/** A unit or a group that gives something, and the field in which it says so. */
export interface CarriedFrom {
  readonly unit?: string
  readonly group?: string
  readonly path: string
}

export interface Carried {
  readonly kind: "Label" | "Annotation" | "Taint" | "Cordon"
  readonly key: string
  readonly value: string
  /** of a taint */
  readonly effect?: string
  /**
   * - Given: it is there because of them, and goes when they let go
   * - Shared: someone else said the same, so it stays when they let go
   * - Coming: it is about to be written
   * - Going: it was given, nobody gives it any more, and it is about to be taken away
   * - Refused: someone else's value is there and stays
   * - Kept: it was given, and the entry is refused now: it stays as it is until that is corrected
   */
  readonly state: "Given" | "Shared" | "Coming" | "Going" | "Refused" | "Kept"
  /** oldest first; nobody where it is going */
  readonly from: readonly CarriedFrom[]
  /** the other value that is there now */
  readonly there?: string
  /** field managers that own what is there, where somebody else does */
  readonly owners?: readonly string[]
}

type Place = "labels" | "annotations"
const KINDS = { labels: "Label", annotations: "Annotation" } as const

/** By kind (labels, annotations, taints, the cordon), then by key. `patch`: what the node needs; `spares`: the units with a refused entry for a key. */
export const carried = (
  node: SiteNode,
  bundle: Bundle,
  patch: NodePatch | undefined,
  spares: (place: Place, key: string) => readonly CarriedFrom[]
): readonly Carried[] => {
  const given = before(node.at("annotations", GIVEN))
  const labels = labelsFor(bundle, (key) => node.at("labels", key))
  return [
    ...mapped("labels", node, labels, patch, spares),
    ...mapped("annotations", node, bundle.annotations, patch, spares),
    ...tainted(node, bundle, given),
    ...cordoned(node, bundle, given)
  ]
}

const givers = ({ by }: Wish<unknown>): readonly CarriedFrom[] =>
  by.map(({ site, path }) => carriedFrom(site, path))

export const carriedFrom = ({ kind, name }: Site, path: string): CarriedFrom =>
  kind === "NodeUnit" ? { unit: name, path } : { group: name, path }

const mapped = (
  place: Place,
  node: SiteNode,
  wishes: ReadonlyMap<string, Wish<string>>,
  patch: NodePatch | undefined,
  spares: (place: Place, key: string) => readonly CarriedFrom[]
): readonly Carried[] => {
  const kind = KINDS[place]
  const found: Carried[] = []
  for (const [key, wish] of wishes) {
    const there = node.at(place, key)
    const isOurs = node.ours[place].has(key)
    const same = there === wish.value
    const coming = own(patch?.[place], key) === wish.value
    const state = same ? (isOurs ? "Given" : "Shared") : coming ? "Coming" : "Refused"
    found.push({
      kind,
      key,
      value: wish.value,
      state,
      from: givers(wish),
      ...(!same && there !== undefined && { there }),
      ...((state === "Shared" || state === "Refused") && ownersOf(node.others(place, key)))
    })
  }
  for (const key of node.ours[place]) {
    const value = node.at(place, key)
    if (value === undefined || wishes.has(key) || key === GIVEN) continue
    const going = own(patch?.[place], key) === null
    found.push({ kind, key, value, ...(going ? GOING : { state: "Kept", from: spares(place, key) }) })
  }
  return found.sort((a, b) => byText(a.key, b.key))
}

const GOING = { state: "Going", from: [] } as const

const ownersOf = (owners: readonly string[]): Pick<Carried, "owners"> =>
  owners.length === 0 ? {} : { owners }

const tainted = (node: SiteNode, bundle: Bundle, given: Before): readonly Carried[] => {
  const { list, ours } = taintsOf(node, bundle, given, new Complaints())
  const live = new Map(
    (Array.isArray(node.taints) ? (node.taints as readonly unknown[]) : []).map((each) => [
      taintId(each),
      each
    ])
  )
  const found = [...bundle.taints].map(([id, wish]): Carried => {
    const value = text(wish.value.value)
    const there = live.has(id) ? text(own(live.get(id), "value")) : undefined
    const [here, away] = ours.includes(id) ? (["Given", "Coming"] as const) : (["Shared", "Refused"] as const)
    return {
      kind: "Taint",
      key: wish.value.key,
      value,
      effect: wish.value.effect,
      state: there === value ? here : away,
      from: givers(wish),
      ...(there !== undefined && there !== value && { there })
    }
  })
  const staying = list === undefined ? live : new Set(list.map(taintId))
  for (const [id, taint] of live)
    if (!staying.has(id))
      found.push({
        kind: "Taint",
        key: text(own(taint, "key")),
        value: text(own(taint, "value")),
        effect: text(own(taint, "effect")),
        ...GOING
      })
  return found.sort((a, b) => byText(a.key, b.key) || byText(a.effect ?? "", b.effect ?? ""))
}

const cordoned = (node: SiteNode, bundle: Bundle, given: Before): readonly Carried[] => {
  const { set, ours } = cordonOf(node, bundle, given)
  const cordon = { kind: "Cordon", key: "unschedulable", value: "true" } as const
  const from = bundle.cordoning.map((unit) => ({ unit, path: "spec.unschedulable" }))
  if (set === false) return [{ ...cordon, ...GOING }]
  if (from.length === 0) return []
  if (set === true) return [{ ...cordon, state: "Coming", from }]
  if (ours) return [{ ...cordon, state: "Given", from }]
  return [{ ...cordon, state: "Shared", from, ...ownersOf(node.others("spec", "unschedulable")) }]
}
