/**
 * Sites: a pass over 5,000 settled nodes in 500 units and 10 groups on one core, what of it is kept, and what the controller sends.
 */
import type { Cluster } from "../src/embedded/cluster.ts"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import type { KubeObject, Node } from "../src/core/kube.ts"
import { mergePatch, type NodeGroup, type NodeUnit, type NodeUnitSpec, sites } from "../src/core/index.ts"
import { site } from "../src/core/site.ts"
import { SiteNode } from "../src/core/site-node.ts"
import { sitesOf } from "../src/core/sites.ts"
import { allWritten } from "../src/core/unwritten.ts"
import { start, step } from "../src/embedded/model.ts"
import { cpu as used, type Figures, rss } from "./cluster.ts"
import { NOW } from "./grids.ts"
import { cluster as opened, controller } from "./processes.ts"

const NODES = 5000
const UNITS = 500
const GROUPS = 10

const sited = (kind: string, name: string, spec: NodeUnitSpec): NodeUnit & NodeGroup => ({
  apiVersion: "site.superedge.io/v1alpha2",
  kind,
  metadata: { name, uid: `uid-${name}`, creationTimestamp: "2026-01-01T00:00:00Z", generation: 1 },
  spec
})

/** Each unit selects its ten nodes by a label, and gives them a label, an annotation and a taint. */
const units: readonly NodeUnit[] = Array.from({ length: UNITS }, (_, i) =>
  sited("NodeUnit", `unit-${i}`, {
    type: "edge",
    selector: { matchLabels: { "example.com/shop": `shop-${i}` } },
    setNode: {
      labels: { "example.com/tier": "edge" },
      annotations: { "example.com/owner": "ops" },
      taints: [{ key: "example.com/edge", effect: "NoSchedule" }]
    }
  })
)

const groups: readonly NodeGroup[] = Array.from({ length: GROUPS }, (_, i) =>
  sited("NodeGroup", `group-${i}`, {
    nodeUnits: units.filter((_, at) => at % GROUPS === i).map(({ metadata }) => metadata.name)
  })
)

/** Like a kubelet's, with the fields that it owns. */
const fresh = (i: number): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name: `node-${i}.shop-${i % UNITS}.example.com`,
    labels: {
      "beta.kubernetes.io/arch": "amd64",
      "beta.kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/hostname": `node-${i}`,
      "kubernetes.io/os": "linux",
      "example.com/shop": `shop-${i % UNITS}`
    },
    annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" }
  },
  status: { conditions: [{ type: "Ready", status: i % 7 === 0 ? "False" : "True" }] }
})

/** The nodes as the model of the API server has them, once all patches are written; the unit of all nodes is among the units. */
const settled = (): { readonly nodes: readonly Node[]; readonly units: readonly NodeUnit[] } => {
  let cluster: Cluster = start(NOW)
  const send = (method: "POST" | "PATCH", name: string, body: unknown): KubeObject => {
    const told = step(cluster, {
      method,
      path: `/api/v1/nodes${name === "" ? "" : `/${name}`}`,
      query: { fieldManager: method === "POST" ? "kubelet" : "servicegroup" },
      ...(method === "PATCH" && { contentType: "application/merge-patch+json" }),
      body,
      at: NOW
    })
    if (told.response.code > 201) throw new Error(JSON.stringify(told.response.body))
    cluster = told.cluster
    return told.response.body as KubeObject
  }
  const made = Array.from({ length: NODES }, (_, i) => send("POST", "", fresh(i)))
  const { wanted } = sites({ units, groups, nodes: made as readonly Node[] })
  const all = [...units, ...wanted.map((unit) => sited("NodeUnit", unit.metadata.name, unit.spec ?? {}))]
  const patches = new Map(
    sites({ units: all, groups, nodes: made as readonly Node[] }).nodes.map((patch) => [patch.name, patch])
  )
  const nodes = made.map((node) => {
    const patch = patches.get(node.metadata.name)
    return patch === undefined ? node : send("PATCH", node.metadata.name, mergePatch(patch))
  })
  return { nodes: nodes as readonly Node[], units: all }
}

/** The median of some runs, in milliseconds of CPU. */
const cpu = (run: () => void): number => {
  const times = Array.from({ length: 9 }, () => {
    const from = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(from)
    return (user + system) / 1000
  })
  return times.sort((a, b) => a - b)[4] ?? Number.NaN
}

const heap = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

/** Figures of the loop over sites: milliseconds of CPU, bytes. */
export const placing = (): Figures => {
  const { nodes, units: all } = settled()
  const texts = nodes.map((node) => JSON.stringify(node))
  const before = heap()
  const seen = texts.map((text) => new SiteNode(JSON.parse(text) as unknown))
  const kept = heap() - before
  const input = {
    units: all.map((unit) => site("NodeUnit", unit)),
    groups: groups.map((group) => site("NodeGroup", group)),
    maxNodesChanged: 0.2,
    unwritten: allWritten
  }
  const left = sitesOf({ ...input, nodes: seen }).nodes.length
  if (left !== 0) throw new Error(`${left} patches are left, where nothing should be`)
  const thousand = sites({
    units: [sited("NodeUnit", "large", { nodes: nodes.slice(0, 1000).map(({ metadata }) => metadata.name) })],
    groups: [],
    nodes
  })
  const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`
  return [
    [
      `a pass over ${NODES} nodes, ${all.length} units, ${GROUPS} groups`,
      `${cpu(() => sitesOf({ ...input, nodes: seen })).toFixed(0)} ms of CPU`
    ],
    ["... with the nodes read anew", `${cpu(() => sites({ units: all, groups, nodes })).toFixed(0)} ms`],
    ["what is kept of a node", globalThis.gc === undefined ? "(needs --expose-gc)" : kilobytes(kept / NODES)],
    ["the status of a unit with 1,000 nodes", kilobytes(JSON.stringify(thousand.units[0]).length)]
  ]
}

/** The requests but lists and watches since `before`. */
const sent = (before: Readonly<Record<string, number>>, now: Readonly<Record<string, number>>): string =>
  Object.entries(now)
    .map(([what, count]) => [what, count - (before[what] ?? 0)] as const)
    .filter(([what, count]) => count > 0 && !/^(list|watch|get) /.test(what))
    .map(([what, count]) => `${count} ${what}`)
    .join(", ") || "none"

/** Figures of the controller's loop over an embedded cluster: time, requests, memory. */
export const looping = async (): Promise<Figures> => {
  const served = await opened(UNITS, NODES / UNITS)
  const process = controller(served.kubeconfig)
  const patched = async (count: number): Promise<number> => {
    const from = performance.now()
    while (((await served.requests())["patch nodes"] ?? 0) < count) {
      if (performance.now() - from > 300_000) throw new Error(`no ${count} nodes patched after 5 minutes`)
      await sleep(100)
    }
    return (performance.now() - from) / 1000
  }
  await patched(NODES)
  await sleep(15_000)
  const begun = await served.requests()
  await served.tell({ _tag: "Sites", units: UNITS, groups: GROUPS })
  const seconds = await patched(2 * NODES)
  await sleep(25_000)
  const settledAt = await served.requests()
  const before = used(process)
  await sleep(30_000)
  const rested = await served.requests()
  const idle = used(process) - before
  await served.tell({ _tag: "Move" })
  await sleep(15_000)
  const after = await served.requests()
  const memory = rss(process, "VmRSS")
  process.kill("SIGTERM")
  await once(process, "exit")
  await served.stop()
  return [
    ["until all nodes are patched, over HTTP", `${seconds.toFixed(1)} s`],
    ["  requests but lists and watches", sent(begun, settledAt)],
    ["  of half a minute of rest", `${sent(settledAt, rested)}; ${idle.toFixed(1)} s of CPU`],
    ["  of one node that changes its unit", sent(rested, after)],
    ["  memory (RSS)", `${memory.toFixed(0)} MB`]
  ]
}
