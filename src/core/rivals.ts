/**
 * A StatefulSet that is called as a StatefulSetGrid is, and whose pods so bear the names that the grid's pods would have in every unit.
 *
 * It was there first, or may have been: its pods keep their names, the grid's have none but their own, and the grid's status says so.
 */
import type { Child } from "./child.ts"
import type { Refusal } from "./grid.ts"
import { nameIn } from "./own-sets.ts"
import type { Stored } from "./store.ts"

/** A StatefulSet, as far as it may be a rival of a grid. */
export interface Rival extends Stored {
  /** the Service that publishes its pods, in its own namespace */
  readonly serviceName: string
}

/** What the owner of a grid should know, whose pods have no short names. `children`: those that the grid owns. */
export const shortNameTaken = (children: Iterable<Child>, rival: Rival | undefined): Refusal | undefined => {
  if (rival === undefined || rival.serviceName === "") return undefined
  if (![...children].some(({ serviceName }) => serviceName === rival.serviceName)) return undefined
  const name = nameIn(rival.key)
  return {
    reason: "ShortNameTaken",
    path: "metadata.name",
    message: `StatefulSet ${rival.key} has pods in Service ${rival.serviceName}, too, which bear the names ${name}-0, ${name}-1 and so on there, so this grid's pods have no such names in their units: rename the grid or that StatefulSet, or give one of them another serviceName`
  }
}
