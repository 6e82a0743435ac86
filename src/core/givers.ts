/**
 * Which units give each node something, and which groups hold these.
 */
import type { Giver } from "./bundle.ts"
import type { Gifts } from "./gifts.ts"
import type { Places } from "./places.ts"
import type { Site } from "./site.ts"
import type { SiteNode } from "./site-node.ts"

export interface Givers {
  /** the same for nodes in the same units */
  key: string
  readonly list: Giver[]
}

export const NO_GIVERS: Givers = { key: "", list: [] }

/** The units of each node, oldest first. */
export const giversByNode = (
  places: Places,
  given: ReadonlyMap<Site, Gifts>
): ReadonlyMap<SiteNode, Givers> => {
  const holding = new Map<Site, Site[]>()
  for (const [group, units] of places.unitsOf)
    for (const unit of units) {
      const list = holding.get(unit)
      if (list === undefined) holding.set(unit, [group])
      else list.push(group)
    }
  const found = new Map<SiteNode, Givers>()
  let number = 0
  for (const [unit, gifts] of given) {
    number++
    const giver: Giver = { unit, gifts, groups: holding.get(unit) ?? [] }
    for (const node of places.nodesOf.get(unit) ?? []) {
      const known = found.get(node)
      if (known === undefined) found.set(node, { key: String(number), list: [giver] })
      else {
        known.key += ` ${number}`
        known.list.push(giver)
      }
    }
  }
  return found
}
