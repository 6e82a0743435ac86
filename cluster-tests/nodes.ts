/** Nodes that nobody has to run: API objects, made Ready and free of taints. */
import { at, type Client } from "./client.ts"

const CAPACITY = { cpu: "64", memory: "256Gi", pods: "1000" }

/** Makes a node, or takes the one of that name; with its labels, Ready, and open to pods. */
export const node = async (
  client: Client,
  name: string,
  labels: Readonly<Record<string, string>>
): Promise<void> => {
  const path = `/api/v1/nodes/${name}`
  const own = { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" }
  if ((await client.find(path)) === undefined)
    await client.create("/api/v1/nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { ...own, ...labels } }
    })
  else if (Object.keys(labels).length > 0) await client.patch(path, "merge", { metadata: { labels } })
  await readied(client, name)
}

/** Says what a node's kubelet would say at its start; without an address it is one for documentation, which leads nowhere. */
export const readied = async (client: Client, name: string, address = "192.0.2.1"): Promise<void> => {
  const path = `/api/v1/nodes/${name}`
  const now = new Date().toISOString().replace(/\.\d+/, "")
  const condition = {
    type: "Ready",
    status: "True",
    reason: "Fake",
    lastHeartbeatTime: now,
    lastTransitionTime: now
  }
  await client.patch(`${path}/status`, "merge", {
    status: {
      capacity: CAPACITY,
      allocatable: CAPACITY,
      addresses: [{ type: "InternalIP", address }],
      conditions: [condition]
    }
  })
  // admission sets not-ready at creation, which a lifecycle controller would take away
  if (at(await client.get(path), "spec", "taints") !== undefined)
    await client.patch(path, "merge", { spec: { taints: null } })
}
