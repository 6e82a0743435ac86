/** StatefulSetGrid `web` in two units, beijing and guangzhou, as Kubernetes has it: sets, a headless Service, and a slice with a pod of each. */
import { node, webSet } from "./given.ts"

export const bj = node("bj-1", { zone: "beijing" })
export const gz = node("gz-1", { zone: "guangzhou" })
export const nowhere = node("sh-1", {})

export const grid = webSet("zone", {}, { uid: "grid-uid" })

export const set = (unit: string, more: object = {}, name = `web-${unit}`) => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: {
    name,
    namespace: "default",
    labels: { "superedge.io/grid-selector": "web" },
    annotations: { "superedge.io/grid": "web", "superedge.io/grid-key": "zone", "superedge.io/unit": unit },
    ownerReferences: [
      {
        apiVersion: "superedge.io/v1",
        kind: "StatefulSetGrid",
        name: "web",
        uid: "grid-uid",
        controller: true
      }
    ],
    ...more
  },
  spec: {
    serviceName: "web-svc",
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "c", image: "nginx:1" }] }
    }
  }
})

export const service = (
  spec: object = { clusterIP: "None" },
  name = "web-svc",
  annotations: object = {}
) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "default", annotations },
  spec: { ports: [{ port: 80 }], ...spec }
})

export const endpoint = (hostname: string | undefined, address: string, ready = true) => ({
  ...(hostname !== undefined && { hostname, targetRef: { kind: "Pod", name: hostname } }),
  addresses: [address],
  conditions: { ready }
})

export const slice = (endpoints: readonly object[], of = "web-svc") => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: `${of}-x`, namespace: "default", labels: { "kubernetes.io/service-name": of } },
  addressType: "IPv4",
  endpoints,
  ports: []
})

export const two = slice([endpoint("web-beijing-0", "10.1.0.5"), endpoint("web-guangzhou-0", "10.2.0.5")])

/** What each unit has a pod of its own for. */
export const SHORT = "web-0.web-svc.default.svc.cluster.local"
