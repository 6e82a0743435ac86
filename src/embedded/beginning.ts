/**
 * What a cluster holds before anybody asks for anything: what the API server itself makes at its start, in its own
 * requests. Its address is one that leads nowhere, since no pod is run that could ask for it.
 */
import type { Request } from "./cluster.ts"
import { timestamp } from "./store.ts"

type Asked = Omit<Request, "at" | "userAgent">

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"]

const CIDR = "/apis/networking.k8s.io/v1/servicecidrs"
const ADDRESS = "192.0.2.1"
const PORT = 6443

const posted = (path: string, body: object): Asked => ({ method: "POST", path, query: {}, body })

/** The requests in their order. */
export const beginning = (time: number): readonly Asked[] => [
  posted(CIDR, { metadata: { name: "kubernetes" }, spec: { cidrs: ["10.96.0.0/16"] } }),
  ready(time),
  ...NAMESPACES.map((name) => posted("/api/v1/namespaces", { metadata: { name } })),
  posted("/api/v1/namespaces/default/services", {
    metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      clusterIP: "10.96.0.1",
      ipFamilyPolicy: "SingleStack",
      ports: [{ name: "https", port: 443, targetPort: PORT }]
    }
  }),
  posted("/api/v1/namespaces/default/endpoints", {
    metadata: { name: "kubernetes", labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
    subsets: [{ addresses: [{ ip: ADDRESS }], ports: [{ name: "https", port: PORT }] }]
  }),
  posted("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
    metadata: { name: "kubernetes", labels: { "kubernetes.io/service-name": "kubernetes" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [ADDRESS], conditions: { ready: true } }],
    ports: [{ name: "https", port: PORT }]
  })
]

const ready = (time: number): Asked => ({
  method: "PATCH",
  path: `${CIDR}/kubernetes/status`,
  query: { fieldManager: "kubernetes-service-cidr-controller", force: "true" },
  contentType: "application/apply-patch+yaml",
  body: {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: "kubernetes" },
    status: {
      conditions: [
        {
          type: "Ready",
          status: "True",
          lastTransitionTime: timestamp(time),
          message: "Kubernetes default Service CIDR is ready"
        }
      ]
    }
  }
})
