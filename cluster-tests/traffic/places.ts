/** The walkthrough's six nodes and the units that they are in. */

export const BEIJING = ["bj-1", "bj-2", "bj-3"]
export const GUANGZHOU = ["gz-1", "gz-2", "gz-3"]
export const NODES = [...BEIJING, ...GUANGZHOU]

/** From a node to its unit; a node may be in none. */
export type Units = Readonly<Record<string, string>>

/** How it is in the beginning. */
export const PLACES: Units = {
  ...Object.fromEntries(BEIJING.map((node) => [node, "beijing"] as const)),
  ...Object.fromEntries(GUANGZHOU.map((node) => [node, "guangzhou"] as const))
}

/** The nodes of a node's unit, itself included. */
export const mates = (units: Units, node: string): readonly string[] =>
  NODES.filter((each) => each === node || (units[each] !== undefined && units[each] === units[node]))
