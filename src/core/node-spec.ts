/**
 * What units want of a node's spec: its taints, and whether it is cordoned.
 */
import type { Bundle } from "./bundle.ts"
import { type Complaints, quoted, refusedWish } from "./complaints.ts"
import { type Before, taintId, taintText } from "./given.ts"
import { byText, type Taint, text } from "./site.ts"
import type { SiteNode } from "./site-node.ts"
import { own } from "./value.ts"

interface Taints {
  /** the whole list, where it changes */
  readonly list: readonly Taint[] | undefined
  /** key and effect of those that are on the node because of units */
  readonly ours: readonly string[]
}

/** Ours are those that were given with the value that is there; all others stay as they are, in their order. */
export const taintsOf = (
  node: SiteNode,
  { taints: wishes }: Bundle,
  before: Before,
  complaints: Complaints
): Taints => {
  const live = node.taints
  const list: Taint[] = []
  const ours: string[] = []
  const met = new Set<string>()
  let changed = false
  for (const each of Array.isArray(live) ? (live as readonly unknown[]) : []) {
    const id = taintId(each)
    const wish = wishes.get(id)
    const value = text(own(each, "value"))
    const mine = before.taints.get(id) === value
    met.add(id)
    if (wish === undefined && mine) changed = true
    else if (wish !== undefined && mine) {
      const same = text(wish.value.value) === value
      list.push(same ? (each as Taint) : wish.value)
      ours.push(id)
      changed ||= !same
    } else {
      list.push(each as Taint)
      if (wish !== undefined && text(wish.value.value) !== value)
        refusedWish(
          complaints,
          node.name,
          { ...wish, value: taintText(wish.value) },
          "ValueTaken",
          `where there is ${quoted(taintText(each as Taint))}`
        )
    }
  }
  for (const [id, wish] of [...wishes].sort(([a], [b]) => byText(a, b)))
    if (!met.has(id)) {
      list.push(wish.value)
      ours.push(id)
      changed = true
    }
  return { list: changed ? list : undefined, ours }
}

interface Cordon {
  readonly set: boolean | undefined
  /** the node is cordoned because of units */
  readonly ours: boolean
}

/** Ours is a cordon that was given, as long as nobody else has set the field since. */
export const cordonOf = (node: SiteNode, { cordoning }: Bundle, before: Before): Cordon => {
  const live = node.unschedulable
  const mine = live && before.cordoned && !isOthers(node)
  if (cordoning.length > 0) return { set: live ? undefined : true, ours: mine || !live }
  return { set: mine ? false : undefined, ours: false }
}

/** Someone else wants it as well, or freed the node that we had cordoned and cordoned it again. */
const isOthers = (node: SiteNode): boolean => node.others("spec", "unschedulable").length > 0
