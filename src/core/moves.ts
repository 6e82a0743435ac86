/**
 * How many nodes would leave their units at once, and whether that is held until someone confirms it.
 *
 * A selector with a slip of the pen empties a site. So an edit that moves more than a share of the nodes waits for an annotation with the
 * generation that is meant.
 */
import { CONFIRMED, refusal, type Site, type SiteRefusal } from "./site.ts"
import { naming } from "./words.ts"

/** The nodes that would leave by what one unit or group says now. */
export interface Leaving {
  readonly site: Site
  /** names, sorted */
  readonly nodes: readonly string[]
}

export interface Moves {
  /** how many nodes would leave their units, those of confirmed edits aside */
  readonly nodes: number
  /** how many may at once */
  readonly limit: number
  /** how many nodes are in units now */
  readonly placed: number
  /** units and groups that keep their nodes until they are confirmed */
  readonly held: readonly Leaving[]
}

/**
 * Which units and groups are held: all that nodes would leave and that nobody confirmed, where these nodes are more than `share`
 * (0 to 1) of those in units, and more than one. A deletion is no edit: it is never held.
 */
export const moves = (leaving: readonly Leaving[], placed: number, share: number): Moves => {
  const open = leaving.filter(({ site, nodes }) => nodes.length > 0 && !site.confirmed)
  const nodes = new Set(open.flatMap((each) => each.nodes)).size
  const limit = Math.max(1, Math.floor(placed * share))
  return { nodes, limit, placed, held: nodes > limit ? open : [] }
}

/** What is told to a unit or group that is held. */
export const heldRefusals = ({ held, nodes, limit, placed }: Moves): readonly SiteRefusal[] =>
  held.map(({ site, nodes: own }) =>
    refusal(
      site,
      "TooManyNodesLeave",
      "spec",
      `${nodes} of ${placed} nodes would leave their units at once, ${own.length} of them by this edit (${naming(own)}), and at most ${limit} may; they stay until you undo it, or set the annotation ${CONFIRMED}: "${site.generation}" on the ${site.kind}`
    )
  )
