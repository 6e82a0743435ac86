/**
 * What the measurements run on: nodes with units, and grids like those of the walkthrough.
 */
import type { DeploymentGrid, Node } from "../src/core/index.ts"

/** a fixed time, in milliseconds */
export const NOW = Date.UTC(2026, 0, 1)

export const KEY = "example.com/site"

export const unit = (i: number): string => `unit-${String(i).padStart(4, "0")}`

/** `units` units with `each` nodes in each of them. */
export const nodes = (units: number, each = 1): readonly Node[] =>
  Array.from({ length: units * each }, (_, i) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `node-${i}`, labels: { [KEY]: unit(i % units), "kubernetes.io/os": "linux" } }
  }))

/** One more node beside `nodes(units)`, in the first of the units. */
export const joining = (units: number): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: `node-${units}`, labels: { [KEY]: unit(0), "kubernetes.io/os": "linux" } }
})

/** What makes the first node one of the second unit's. */
export const moved = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node-0", labels: { [KEY]: unit(1) } }
}

/** NodeUnits that select by the key, and NodeGroups that share them, as they are applied. */
export const sitesApplied = (
  units: number,
  groups: number
): readonly { readonly path: string; readonly body: object }[] => {
  const site = (kind: string, name: string, spec: object) => ({
    path: `/apis/site.superedge.io/v1alpha2/${kind.toLowerCase()}s/${name}`,
    body: { apiVersion: "site.superedge.io/v1alpha2", kind, metadata: { name }, spec }
  })
  const names = Array.from({ length: units }, (_, i) => unit(i))
  return [
    ...names.map((name) =>
      site("NodeUnit", name, {
        type: "edge",
        selector: { matchLabels: { [KEY]: name } },
        setNode: { labels: { "example.com/tier": "edge" } }
      })
    ),
    ...Array.from({ length: groups }, (_, i) =>
      site("NodeGroup", `group-${i}`, { nodeUnits: names.filter((_, at) => at % groups === i) })
    )
  ]
}

/** The i-th grid, with a pod template of the usual size. */
export const grid = (i: number, image = "registry.example/echo:1"): DeploymentGrid => ({
  apiVersion: "superedge.io/v1",
  kind: "DeploymentGrid",
  metadata: {
    name: `grid-${i}`,
    namespace: "default",
    uid: `uid-${i}`,
    generation: 1,
    labels: { team: "edge" }
  },
  spec: {
    gridUniqKey: KEY,
    template: {
      replicas: 1,
      selector: { matchLabels: { app: `grid-${i}` } },
      template: {
        metadata: { labels: { app: `grid-${i}` } },
        spec: {
          containers: [
            {
              name: "echo",
              image,
              ports: [{ containerPort: 8080, protocol: "TCP" }],
              env: [
                { name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
                { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
                { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
                { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }
              ],
              resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { cpu: "0.5", memory: "128Mi" } }
            }
          ]
        }
      }
    }
  }
})

/** What applies the i-th grid: the path, and a body without what the API server gives. */
export const gridApplied = (i: number, image: string): { readonly path: string; readonly body: object } => {
  const { apiVersion, kind, metadata, spec } = grid(i, image)
  const { name, namespace, labels } = metadata
  return {
    path: `/apis/superedge.io/v1/namespaces/default/deploymentgrids/${name}`,
    body: { apiVersion, kind, metadata: { name, namespace, labels }, spec }
  }
}
