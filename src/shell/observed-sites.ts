/**
 * What the controller has seen of units, groups and the nodes that they are about, and whether a change calls for a pass over them.
 *
 * Assumes that it is told by one caller at a time.
 */
import { stableJson } from "../core/json.ts"
import type { Site } from "../core/site.ts"
import type { SiteNode } from "../core/site-node.ts"
import * as Store from "../core/store.ts"
import type { SeenNode, SeenSite } from "./seen.ts"

/** Whether a unit or group was made anew, or says something else. */
const edited = (before: Site, after: Site): boolean => {
  const said = ({ uid, generation, deleting, labels, annotations, ownerReferences }: Site): string =>
    stableJson([uid, generation, deleting, labels, annotations, ownerReferences])
  return said(before) !== said(after)
}

const alike = (before: SiteNode | undefined, after: SiteNode | undefined): boolean =>
  before !== undefined && after !== undefined && before.isLike(after)

export class ObservedSites {
  #nodes: Store.Store<SeenNode> = Store.empty()
  readonly #sites: Record<Site["kind"], Store.Store<SeenSite>> = {
    NodeUnit: Store.empty(),
    NodeGroup: Store.empty()
  }
  #edition = 0

  /** Goes up with every edit of a unit or group by someone else, so that what was thought before is known to be old. */
  get edition(): number {
    return this.#edition
  }

  /** Whether nodes, units and groups have all been listed: what isn't there until then may only be unknown. */
  get synced(): boolean {
    return this.#nodes.synced && this.#sites.NodeUnit.synced && this.#sites.NodeGroup.synced
  }

  site(kind: Site["kind"], key: string): SeenSite | undefined {
    return Store.get(this.#sites[kind], key)
  }
  sites(kind: Site["kind"]): readonly SeenSite[] {
    return [...Store.items(this.#sites[kind])]
  }
  nodes(): readonly SiteNode[] {
    return [...Store.items(this.#nodes)].flatMap(({ site }) => (site === undefined ? [] : [site]))
  }

  /** Takes in nodes; gives whether a rule can tell the difference. */
  readNodes(inputs: readonly Store.Input<SeenNode>[]): boolean {
    const first = !this.#nodes.synced
    const { store, changes } = Store.steps(this.#nodes, inputs)
    this.#nodes = store
    return (
      (first && store.synced) ||
      changes.some(
        (change) => !alike(change.before?.site, change._tag === "Put" ? change.after.site : undefined)
      )
    )
  }

  /** Takes in what became of a write of ours, which is no edit. */
  takeIn(kind: Site["kind"], input: Store.Input<SeenSite>): void {
    this.#sites[kind] = Store.step(this.#sites[kind], input).store
  }

  /** Takes in units or groups; gives whether anything changed. */
  readSites(kind: Site["kind"], inputs: readonly Store.Input<SeenSite>[]): boolean {
    const first = !this.#sites[kind].synced
    const { store, changes } = Store.steps(this.#sites[kind], inputs)
    this.#sites[kind] = store
    for (const change of changes) {
      const after = change._tag === "Put" ? change.after : undefined
      if (change.before === undefined || after === undefined || edited(change.before.site, after.site))
        this.#edition++
    }
    return (first && store.synced) || changes.length > 0
  }
}
