/**
 * Nodes to units: a unit is the set of nodes that share one value of the grid key.
 */
import type { Node } from "./kube.ts"
import { own } from "./value.ts"

/** The unit that a node with these labels belongs to under a key: the label's value, `undefined` where it is absent or empty. */
export const unitOf = (key: string, labels: unknown): string | undefined => {
  const value = own(labels, key)
  return typeof value === "string" && value !== "" ? value : undefined
}

/**
 * The units of a key: the distinct non-empty values that live nodes give to the label, sorted by code unit.
 * Live means that the Node object exists: readiness, taints and cordons don't matter, nor the order and number of nodes.
 */
export const unitsOf = (key: string, nodes: Iterable<Node>): readonly string[] => {
  const units = new Set<string>()
  for (const node of nodes) {
    const unit = unitOf(key, node.metadata.labels)
    if (unit !== undefined) units.add(unit)
  }
  return [...units].sort()
}
