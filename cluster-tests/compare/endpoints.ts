/** Services and pods of many kinds, and what is done to them one step after the other. */
import type { Ask } from "./turns.ts"

const BASE = "/api/v1/namespaces/default"

interface Told {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly spec: object
  readonly status: object
  readonly deleted: boolean
}

const port = (name: string, containerPort: number, protocol = "TCP"): object => ({
  name,
  containerPort,
  protocol
})

const ready = (status: "True" | "False", minute: number): object => ({
  conditions: [
    { type: "Ready", status, lastTransitionTime: `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z` }
  ]
})

const running = (host: number, isReady: boolean): object => ({
  phase: "Running",
  podIP: `10.244.0.${host}`,
  podIPs: [{ ip: `10.244.0.${host}` }],
  ...ready(isReady ? "True" : "False", 0)
})

const pod = (
  name: string,
  status: object,
  spec: object = {},
  more: { readonly deleted?: boolean; readonly ports?: readonly object[] } = {}
): Told => ({
  name,
  labels: { app: "a", pod: name },
  spec: {
    nodeName: "n1",
    containers: [
      { name: "c", image: "i", ports: more.ports ?? [port("http", 8080), port("dns", 53, "UDP")] }
    ],
    ...spec
  },
  status,
  deleted: more.deleted ?? false
})

export const PODS: readonly Told[] = [
  pod("ready", running(10, true)),
  pod("elsewhere", running(9, true), { nodeName: "n2" }),
  pod("unready", running(11, false)),
  pod("other-port", running(12, true), {}, { ports: [port("http", 9090), port("dns", 53, "UDP")] }),
  pod("one-port", running(13, true), { nodeName: "n2" }, { ports: [port("http", 8080)] }),
  pod("no-port", running(14, false), {}, { ports: [] }),
  pod("over", { ...running(15, false), phase: "Succeeded" }),
  pod("failed", { ...running(16, false), phase: "Failed" }),
  pod("nowhere", { phase: "Pending", ...ready("False", 0) }),
  pod("ending", running(17, true), {}, { deleted: true }),
  pod("ending-unready", running(18, false), {}, { deleted: true }),
  pod("named", running(19, true), { hostname: "h", subdomain: "headless" }),
  pod("bare", { phase: "Running", podIP: "10.244.0.20", podIPs: [{ ip: "10.244.0.20" }] }),
  pod(
    "helped",
    running(21, true),
    {
      initContainers: [{ name: "s", image: "i", restartPolicy: "Always", ports: [port("http", 7070)] }],
      restartPolicy: "Always"
    },
    { ports: [] }
  )
]

const service = (name: string, spec: object, labels: Readonly<Record<string, string>> = {}): object => ({
  metadata: { name, labels },
  spec: { selector: { app: "a" }, ports: [{ port: 80, targetPort: "http" }], ...spec }
})

const SEVERAL = [
  { name: "web", port: 80, targetPort: "http", appProtocol: "kubernetes.io/h2c" },
  { name: "dns", port: 53, protocol: "UDP", targetPort: "dns" },
  { name: "admin", port: 9000 },
  { name: "other", port: 9001, protocol: "SCTP" }
]

export const SERVICES: readonly object[] = [
  service("plain", {}),
  service("number", { ports: [{ port: 80 }] }),
  service("several", { ports: SEVERAL }),
  service("headless", { clusterIP: "None" }),
  service("headless-bare", { clusterIP: "None", ports: [] }),
  service("headless-several", { clusterIP: "None", ports: SEVERAL, publishNotReadyAddresses: true }),
  service("published", { publishNotReadyAddresses: true }),
  service("nobody", { selector: { app: "none" } }),
  service("one", { selector: { app: "a", pod: "ready" } }),
  service("unready", { selector: { pod: "unready" } }),
  service("unlistened", { ports: [{ port: 80, targetPort: "gone" }] }),
  service("own", { selector: null }),
  service("named", { type: "ExternalName", externalName: "a.example", ports: null }),
  service(
    "labelled",
    {},
    { tier: "front", "service.kubernetes.io/headless": "said", "kubernetes.io/service-name": "x" }
  ),
  service("node-port", { type: "NodePort", sessionAffinity: "ClientIP" }, { tier: "edge" })
]

const MERGE = "application/merge-patch+json"

const patched = (path: string, body: object): Ask => ({
  method: "PATCH",
  path: `${BASE}/${path}`,
  contentType: MERGE,
  body
})

export const STEPS: readonly { readonly what: string; readonly asks: readonly Ask[] }[] = [
  {
    what: "after a pod is no longer ready",
    asks: [patched("pods/ready/status", { status: ready("False", 1) })]
  },
  { what: "after a pod is ready", asks: [patched("pods/unready/status", { status: ready("True", 2) })] },
  {
    what: "after a pod got an address",
    asks: [patched("pods/nowhere/status", { status: { ...running(30, false), ...ready("False", 3) } })]
  },
  {
    what: "after a pod went",
    asks: [{ method: "DELETE", path: `${BASE}/pods/elsewhere`, body: { gracePeriodSeconds: 0 } }]
  },
  { what: "after a pod began to end", asks: [{ method: "DELETE", path: `${BASE}/pods/other-port` }] },
  {
    what: "after Services changed",
    asks: [
      patched("services/plain", { metadata: { labels: { tier: "back" } } }),
      patched("services/several", { spec: { ports: SEVERAL.slice(1) } }),
      patched("services/one", { spec: { selector: { pod: "named" } } }),
      patched("services/nobody", { spec: { selector: { app: "a" } } }),
      patched("services/node-port", { metadata: { labels: { tier: null } } })
    ]
  },
  {
    what: "after a pod lost its label",
    asks: [patched("pods/one-port", { metadata: { labels: { app: null } } })]
  },
  {
    what: "after a Service went",
    asks: [{ method: "DELETE", path: `${BASE}/services/number` }]
  },
  {
    what: "after somebody wrote Endpoints of a Service without a selector",
    asks: [
      {
        method: "POST",
        path: `${BASE}/endpoints`,
        body: {
          metadata: { name: "own" },
          subsets: [{ addresses: [{ ip: "10.9.0.1" }], ports: [{ port: 80 }] }]
        }
      }
    ]
  },
  { what: "after that Service went too", asks: [{ method: "DELETE", path: `${BASE}/services/own` }] }
]
