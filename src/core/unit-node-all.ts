/**
 * The unit of all Linux nodes, which exists from the start, as with SuperEdge.
 */
import { type NodeUnit, SITE_API } from "./site.ts"

/** Made where no unit or group of its name exists; what people change of it stays. */
export const unitNodeAll: NodeUnit = {
  apiVersion: SITE_API,
  kind: "NodeUnit",
  metadata: { name: "unit-node-all" },
  spec: { type: "other", selector: { matchLabels: { "kubernetes.io/os": "linux" } } }
}
