/**
 * The finalizer of units and groups: it is on each of them from the start, and goes once nothing of a deleted one is on any node.
 */
import type { Released } from "./release.ts"
import { byText, FINALIZER, type Site } from "./site.ts"

/** The finalizers that an object is to have, all of them, under the revision that was read. */
export interface FinalizerPatch {
  readonly kind: Site["kind"]
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly finalizers: readonly string[]
}

/** What is to be written where the finalizer is missing, or may go. Those of others stay. `served`: those whose name is theirs. */
export const finalizerPatches = (
  all: readonly Site[],
  served: ReadonlySet<Site>,
  released: Released
): readonly FinalizerPatch[] => {
  const free = { NodeUnit: new Set(released.units), NodeGroup: new Set(released.groups) }
  return all
    .flatMap((site): readonly FinalizerPatch[] => {
      const { kind, name, uid, resourceVersion, finalizers } = site
      const has = finalizers.includes(FINALIZER)
      const patch = (wanted: readonly string[]) => [{ kind, name, uid, resourceVersion, finalizers: wanted }]
      if (!site.deleting && !has && served.has(site)) return patch([...finalizers, FINALIZER])
      return has && site.deleting && free[kind].has(name)
        ? patch(finalizers.filter((each) => each !== FINALIZER))
        : []
    })
    .sort((a, b) => byText(a.kind, b.kind) || byText(a.name, b.name))
}
