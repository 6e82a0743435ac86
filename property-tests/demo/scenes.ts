/** Scenes of the demo, written by hand. */
import type { DeploymentGrid, ServiceGrid } from "../../src/core/grid.ts"
import type { Condition, Deployment, Node, Service } from "../../src/core/kube.ts"
import type { NodeGroup, NodeUnit } from "../../src/core/site.ts"
import type { Endpoint, EndpointSlice, Pod, Resolved, Scene, View } from "../../src/commands/demo/scene.ts"

export const OLD = "superedge/echoserver:2.2"
export const NEW = "superedge/echoserver:2.3"

const node = (name: string, location: string): Node => ({
  metadata: { name, labels: { location, [location]: "nodeunits.superedge.io" } }
})

const nodeUnit = (name: string, nodes: readonly string[]): NodeUnit => ({
  metadata: { name },
  status: {
    readyRate: `${nodes.length}/${nodes.length}`,
    readyNodes: nodes,
    notReadyNodes: [],
    conditions: [{ type: "Ready", status: "True", reason: "AllNodesReady", message: "they are" }]
  }
})

const owner = (kind: string, name: string, uid: string) => [
  { apiVersion: "superedge.io/v1", kind, name, uid, controller: true }
]

const deployment = (unit: string, replicas: number, image: string): Deployment => ({
  kind: "Deployment",
  metadata: {
    name: `deploymentgrid-demo-${unit}`,
    namespace: "default",
    generation: 3,
    labels: unit === "beijing" ? { team: "edge" } : {},
    annotations: { "superedge.io/grid-key": "location", "superedge.io/unit": unit },
    ownerReferences: owner("DeploymentGrid", "deploymentgrid-demo", "uid-grid")
  },
  spec: {
    replicas,
    template: { spec: { nodeSelector: { location: unit }, containers: [{ name: "echo", image }] } }
  },
  status: { observedGeneration: 3, replicas, updatedReplicas: replicas, readyReplicas: replicas }
})

const pod = (name: string, nodeName: string, image: string): Pod => ({
  metadata: { name, namespace: "default", uid: `uid-${name}`, labels: { appGrid: "echo" } },
  spec: { nodeName, containers: [{ name: "echo", image }] },
  status: { conditions: [{ type: "Ready", status: "True" }] }
})

const conditions = (ready: string): readonly Condition[] => [
  { type: "Ready", status: "True", reason: ready, message: "it is" },
  { type: "Progressing", status: "False", reason: "Settled", message: "nothing is on its way" },
  { type: "Degraded", status: "False", reason: "AsExpected", message: "nothing is wrong" }
]

const grid: DeploymentGrid = {
  kind: "DeploymentGrid",
  metadata: { name: "deploymentgrid-demo", namespace: "default", uid: "uid-grid", generation: 2 },
  spec: {
    gridUniqKey: "location",
    templates: { guangzhou: "next" },
    template: {},
    templatePool: { next: {} }
  },
  status: { observedGeneration: 2, units: 2, readyUnits: 2, conditions: conditions("AllUnitsReady") }
}

const serviceGrid: ServiceGrid = {
  kind: "ServiceGrid",
  metadata: { name: "servicegrid-demo", namespace: "default", uid: "uid-service-grid", generation: 1 },
  spec: { gridUniqKey: "location" },
  status: { observedGeneration: 1, conditions: conditions("InPlace") }
}

const service: Service = {
  metadata: {
    name: "servicegrid-demo-svc",
    namespace: "default",
    annotations: { topologyKeys: '["location"]' },
    ownerReferences: owner("ServiceGrid", "servicegrid-demo", "uid-service-grid")
  },
  spec: { clusterIP: "10.96.0.2" }
}

const slice: EndpointSlice = {
  metadata: {
    name: "servicegrid-demo-svc-x",
    namespace: "default",
    labels: { "kubernetes.io/service-name": "servicegrid-demo-svc" }
  },
  endpoints: ["bj-1", "bj-2", "gz-1", "gz-2", "gz-3"].map((nodeName, i) => ({
    addresses: [`10.244.0.${i + 1}`],
    nodeName,
    targetRef: { name: `demo-x${i + 1}` },
    conditions: { ready: true }
  }))
}

const WEB_PODS = ["web-beijing-0", "web-beijing-1", "web-guangzhou-0", "web-guangzhou-1"]
const webSlice: EndpointSlice = {
  metadata: {
    name: "web-svc-x",
    namespace: "default",
    labels: { "kubernetes.io/service-name": "web-svc" }
  },
  endpoints: WEB_PODS.map((name, i) => ({
    addresses: [`10.244.1.${i}`],
    hostname: name,
    nodeName: i < 2 ? "bj-1" : "gz-1",
    targetRef: { name },
    conditions: { ready: true }
  }))
}

/** What both places' nodes answer: their own pods under the short names, all of them under the full ones. */
const names: readonly Resolved[] = ["bj-1", "gz-1"].map((name, place) => ({
  node: name,
  got: new Map([
    ...[0, 1].map((n) => [`web-${n}`, [`10.244.1.${2 * place + n}`]] as const),
    ...WEB_PODS.map((pod, i) => [pod, [`10.244.1.${i}`]] as const)
  ])
}))

const endpoint = (nodeName: string, i: number): Endpoint => ({
  nodeName,
  address: `10.244.0.${i}`,
  pod: `demo-x${i}`,
  ready: true
})

const inBeijing = [endpoint("bj-1", 1), endpoint("bj-2", 2)]
const inGuangzhou = [endpoint("gz-1", 3), endpoint("gz-2", 4), endpoint("gz-3", 5)]

const views: readonly View[] = [
  ...["bj-1", "bj-2"].map((name) => ({ node: name, got: inBeijing })),
  ...["bj-3", "gz-1", "gz-2", "gz-3"].map((name) => ({ node: name, got: inGuangzhou }))
]

const location: NodeGroup = {
  metadata: { name: "location" },
  status: { nodeUnits: ["beijing", "guangzhou", "shanghai"], unitNumber: 3 }
}

/** The end of the story as it should be. */
export const theEnd: Scene = {
  nodes: [
    ...["bj-1", "bj-2"].map((name) => node(name, "beijing")),
    ...["bj-3", "gz-1", "gz-2", "gz-3"].map((name) => node(name, "guangzhou"))
  ],
  nodeUnits: [
    nodeUnit("unit-node-all", ["bj-1", "bj-2", "bj-3", "gz-1", "gz-2", "gz-3"]),
    nodeUnit("shanghai", []),
    nodeUnit("beijing", ["bj-1", "bj-2"]),
    nodeUnit("guangzhou", ["bj-3", "gz-1", "gz-2", "gz-3"])
  ],
  nodeGroups: [location],
  grids: [grid],
  serviceGrids: [serviceGrid],
  workloads: [deployment("beijing", 2, OLD), deployment("guangzhou", 3, NEW)],
  services: [service],
  pods: [
    pod("b1", "bj-1", OLD),
    pod("b2", "bj-2", OLD),
    pod("g1", "gz-1", NEW),
    pod("g2", "gz-2", NEW),
    pod("g3", "gz-3", NEW)
  ],
  slices: [slice, webSlice],
  views,
  names,
  upstream: "There"
}

/** A copy with another value at a path such as `pods.0.spec`; undefined takes the key or the item away. */
export const changed = (scene: Scene, path: string, value: unknown): Scene =>
  at(scene, path.split("."), value) as Scene

const at = (here: unknown, [key, ...rest]: readonly string[], value: unknown): unknown => {
  if (key === undefined) return value
  if (Array.isArray(here)) {
    const inner = at(here[Number(key)], rest, value)
    return here.toSpliced(Number(key), 1, ...(inner === undefined ? [] : [inner]))
  }
  const { [key]: old, ...others } = here as Record<string, unknown>
  const inner = at(old, rest, value)
  return inner === undefined ? others : { ...others, [key]: inner }
}
