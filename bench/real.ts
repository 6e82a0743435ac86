/**
 * A real API server and etcd to measure against, without the controllers that Kubernetes has: see cluster-tests/control-plane.ts.
 */
import { controlPlane } from "../cluster-tests/control-plane.ts"
import { defined } from "../cluster-tests/controller.ts"
import { gridApplied, joining, nodes } from "./grids.ts"
import type { Cluster } from "./processes.ts"
import type { Order } from "./served.ts"

/** verb and resource -> requests, of the API server's own metric apiserver_request_total; without watches. */
const counted = (metrics: string): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const [, labels = "", value] of metrics.matchAll(/^apiserver_request_total\{([^}]*)\} (\S+)/gm)) {
    const label = (name: string): string => new RegExp(`[,{]?${name}="([^"]*)"`).exec(labels)?.[1] ?? ""
    const subresource = label("subresource") === "" ? "" : `/${label("subresource")}`
    const what = `${label("verb").toLowerCase()} ${label("resource")}${subresource}`
    found.set(what, (found.get(what) ?? 0) + Number(value))
  }
  return found
}

/** A fresh API server with so many units of `each` nodes. */
export const real = async (units: number, each = 1): Promise<Cluster> => {
  const plane = await controlPlane({ controllers: "none" })
  const asked = async (method: string, path: string, body?: unknown, type?: string): Promise<unknown> => {
    const { code, body: answer } = await plane.client.ask(method, path, body, type)
    if (code >= 300) throw new Error(`${method} ${path}: ${code} ${JSON.stringify(answer)}`)
    return answer
  }
  await defined(plane)
  for (const node of nodes(units, each)) await asked("POST", "/api/v1/nodes", node)
  const grids = async (number: number, image: string): Promise<void> => {
    for (let i = 0; i < number; i++) {
      const { path, body } = gridApplied(i, image)
      await asked("PATCH", `${path}?fieldManager=bench&force=true`, body, "application/apply-patch+yaml")
    }
  }
  return {
    kubeconfig: plane.kubeconfig,
    tell: async (order: Order) => {
      if (order._tag === "Grids") await grids(order.number, order.image)
      if (order._tag === "Join") await asked("POST", "/api/v1/nodes", joining(order.units))
      return "done"
    },
    children: async () => {
      const { items, metadata } = (await asked("GET", "/apis/apps/v1/deployments?limit=1")) as {
        readonly items: readonly unknown[]
        readonly metadata: { readonly remainingItemCount?: number }
      }
      return items.length + (metadata.remainingItemCount ?? 0)
    },
    requests: async () => Object.fromEntries(counted(String(await asked("GET", "/metrics")))),
    stop: plane.stop
  }
}
