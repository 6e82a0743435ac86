/**
 * (StatefulSetGrids, their sets, slices, node) -> what to say of the sets of this node's units whose pods have no names.
 *
 * A headless Service has a slice even while it has no pods, so that slices tell without the Services themselves.
 */
import { headlessServices, keyOf, type NamesInput, ownSets } from "./names.ts"

/** A sentence for each such set, sorted. `slices`: those of headless Services. */
export const unnamed = (o: Pick<NamesInput, "grids" | "sets" | "slices" | "node">): readonly string[] => {
  const headless = new Set(headlessServices(o.slices).map(keyOf))
  return ownSets(o)
    .filter(({ service }) => !headless.has(service))
    .map(({ key, service }) => {
      const why = service.endsWith("/")
        ? "it has no serviceName"
        : `its serviceName is ${service}, and there is no headless Service of that name (one with a clusterIP gives none)`
      return `the pods of StatefulSet ${key} get no short names: ${why}`
    })
    .sort()
}
