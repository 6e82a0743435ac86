/**
 * What could not be done on nodes, told once for each object and field, with the nodes that it is about.
 */
import { byText, refusal, type Site, type SiteRefusal } from "./site.ts"
import { naming } from "./words.ts"

export interface Complaint {
  readonly about: Site
  readonly reason: string
  readonly path: string
  /** what is the matter; the nodes are named after it */
  readonly says: string
  /** what to do */
  readonly advice: string
}

interface Case {
  readonly complaint: Complaint
  /** what is the matter -> nodes */
  readonly nodes: Map<string, string[]>
}

/** So many different cases of one field are told apart. */
const TOLD = 3

export class Complaints {
  readonly #cases = new Map<string, Case>()

  add(complaint: Complaint, node: string): void {
    const { about, reason, path, says } = complaint
    const key = `${about.kind} ${about.name} ${reason} ${path}`
    let known = this.#cases.get(key)
    if (known === undefined) this.#cases.set(key, (known = { complaint, nodes: new Map() }))
    const nodes = known.nodes.get(says)
    if (nodes === undefined) known.nodes.set(says, [node])
    else nodes.push(node)
  }

  /** One refusal for each object, reason and field. Does not depend on the order in which nodes came. */
  refusals(): readonly SiteRefusal[] {
    return [...this.#cases.values()].map(({ complaint: { about, reason, path, advice }, nodes }) => {
      const told = [...nodes]
        .sort(([a], [b]) => byText(a, b))
        .map(([says, names]) => `${says} (${naming([...new Set(names)].sort())})`)
      const more = told.length > TOLD ? `; and ${told.length - TOLD} more` : ""
      return refusal(about, reason, path, `${told.slice(0, TOLD).join("; ")}${more}; ${advice}`)
    })
  }
}

/** A value that nobody is given, told to all who want it. `why`: what is said after "is not given". */
export const refusedWish = (
  complaints: Complaints,
  node: string,
  wish: { readonly value: string; readonly by: readonly { readonly site: Site; readonly path: string }[] },
  reason: string,
  why: string,
  instead?: string
): void => {
  for (const { site: about, path } of wish.by) {
    const advice =
      instead ?? `remove it from the nodes${path === "metadata.name" ? "" : `, or from the ${about.kind}`}`
    complaints.add({ about, reason, path, says: `${quoted(wish.value)} is not given ${why}`, advice }, node)
  }
}

const QUOTED = 80

/** A value as it is told, cut where it is long. */
export const quoted = (value: string): string =>
  `"${value.length > QUOTED ? `${value.slice(0, QUOTED)}…` : value}"`
