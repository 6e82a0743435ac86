/** The kinds that are compared: what their objects look like, and what a status may say. */
import fc from "fast-check"
import { accounts, configMaps, endpoints, leases, secrets, serviceCIDRs, slices } from "./data-kinds.ts"
import { fields, orNull, podTemplate, sometimes, texts } from "./fields.ts"
import { condition, kind, type Kind } from "./kind.ts"

const selector = fc.constant({ matchLabels: { app: "x" } })

const deploymentSpec = fields({
  replicas: sometimes(orNull(fc.constantFrom(0, 1, 3))),
  selector,
  strategy: sometimes(
    orNull(
      fc.constantFrom<object>(
        {},
        { type: "Recreate" },
        { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } },
        { rollingUpdate: { maxUnavailable: "50%" } }
      )
    ),
    4
  ),
  minReadySeconds: sometimes(fc.constantFrom(0, 5), 6),
  paused: sometimes(fc.boolean(), 8),
  template: podTemplate
})

const templatePointers = [
  "/spec/replicas",
  "/spec/template/spec/containers/0/image",
  "/spec/template/spec/containers/-",
  "/spec/template/spec/containers/1",
  "/spec/template/spec/containers/0/env/0",
  "/spec/template/spec/nodeSelector"
]

const container = "/spec/template/spec/containers/0"

const templateEdits = [
  { op: "replace", path: "/spec/replicas", value: 2 },
  { op: "replace", path: `${container}/image`, value: "i:2" },
  { op: "add", path: `${container}/env`, value: [{ name: "A", value: "1" }, { name: "B" }] },
  { op: "add", path: "/spec/template/spec/containers/-", value: { name: "e", image: "i" } },
  { op: "copy", from: `${container}/image`, path: "/metadata/annotations" },
  { op: "move", from: container, path: "/spec/template/spec/containers/0" },
  { op: "remove", path: "/spec/template/spec/terminationGracePeriodSeconds" }
]

const deployments = kind("apps/v1", "Deployment", "deployments", {
  parts: { spec: deploymentSpec },
  status: fc.constantFrom<object>(
    { replicas: 2, readyReplicas: 1 },
    { conditions: [condition] },
    { conditions: [{ ...condition, type: "Other" }, condition] },
    {}
  ),
  pointers: [...templatePointers, "/spec/paused"],
  edits: [...templateEdits, { op: "add", path: "/spec/paused", value: true }],
  fieldSelectors: []
})

/** Without volumeClaimTemplates: 4 and 5 in src/embedded/model.ts. */
const statefulSets = kind("apps/v1", "StatefulSet", "statefulsets", {
  parts: {
    spec: fields({
      replicas: sometimes(orNull(fc.constantFrom(0, 2))),
      serviceName: sometimes(fc.constantFrom("s", "s", "t"), 6),
      selector,
      updateStrategy: sometimes(
        orNull(fc.constantFrom<object>({}, { type: "OnDelete" }, { rollingUpdate: { partition: 1 } })),
        5
      ),
      template: podTemplate
    })
  },
  status: fc.constantFrom<object>(
    { replicas: 2, readyReplicas: 1 },
    { replicas: 1, currentRevision: "r" },
    {}
  ),
  pointers: [...templatePointers, "/spec/serviceName"],
  edits: templateEdits,
  fieldSelectors: []
})

const servicePort = fields({
  port: fc.constantFrom(80, 443, 53),
  name: sometimes(fc.constantFrom("a", "b")),
  protocol: sometimes(fc.constantFrom("TCP", "UDP"), 4),
  targetPort: sometimes(fc.constantFrom<unknown>(8080, "http"), 3)
})

/** No two ports of one number: 4 in src/embedded/model.ts. */
const portNumber = (port: object): unknown => (port as { readonly port: number }).port

const services = kind("v1", "Service", "services", {
  parts: {
    spec: fields({
      type: sometimes(orNull(fc.constantFrom("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")), 3),
      externalName: sometimes(fc.constant("a.example"), 4),
      clusterIP: sometimes(fc.constantFrom("None", "None", ""), 5),
      selector: sometimes(orNull(texts("app", "v"))),
      ports: sometimes(orNull(fc.uniqueArray(servicePort, { maxLength: 2, selector: portNumber })), 8).map(
        (ports) => ports ?? [{ port: 80, name: "a" }]
      ),
      sessionAffinity: sometimes(orNull(fc.constantFrom("None", "ClientIP")), 5),
      publishNotReadyAddresses: sometimes(fc.boolean(), 6),
      externalTrafficPolicy: sometimes(fc.constantFrom("Local", "Cluster"), 8),
      externalIPs: sometimes(fc.constantFrom(["1.2.3.4"], []), 8)
    })
  },
  status: fc.constantFrom<object>(
    { loadBalancer: { ingress: [{ ip: "5.6.7.8" }] } },
    { conditions: [condition] },
    { loadBalancer: {} }
  ),
  pointers: ["/spec/ports/0/targetPort", "/spec/ports/-", "/spec/selector/app", "/spec/type"],
  edits: [
    { op: "replace", path: "/spec/ports/0/targetPort", value: 8081 },
    { op: "add", path: "/spec/ports/-", value: { name: "z", port: 9000 } },
    { op: "add", path: "/spec/selector", value: { app: "y" } },
    { op: "replace", path: "/spec/type", value: "NodePort" }
  ],
  fieldSelectors: [
    "spec.type=NodePort",
    "spec.clusterIP=None",
    "spec.clusterIP!=None",
    "spec.clusterIP!=None,spec.type==ClusterIP",
    "metadata.namespace=<ns>",
    "spec.externalName=a.example"
  ],
  watchedFields: ["spec.clusterIP!=None", "spec.type=ClusterIP"]
})

const nodes = kind("v1", "Node", "nodes", {
  cluster: true,
  parts: {
    spec: sometimes(
      fields({
        unschedulable: sometimes(fc.boolean()),
        taints: sometimes(fc.constantFrom<object>([], [{ key: "k", effect: "NoSchedule" }]), 3)
      })
    )
  },
  status: fc.constantFrom<object>(
    { conditions: [{ type: "Ready", status: "True" }] },
    { capacity: { cpu: "4", memory: "8Gi" }, allocatable: { cpu: 4 } },
    { addresses: [{ type: "InternalIP", address: "1.2.3.4" }] },
    {}
  ),
  pointers: ["/spec/unschedulable", "/spec/taints", "/spec/taints/0"],
  edits: [
    { op: "add", path: "/spec/unschedulable", value: true },
    { op: "remove", path: "/spec/taints" },
    { op: "add", path: "/spec/taints", value: [{ key: "k", effect: "NoExecute" }] }
  ],
  fieldSelectors: ["spec.unschedulable=true", "spec.unschedulable!=true"]
})

const grids = kind("superedge.io/v1", "DeploymentGrid", "deploymentgrids", {
  parts: {
    spec: sometimes(
      fields({
        gridUniqKey: fc.constantFrom("zone", "a/b", "a b", ""),
        template: sometimes(orNull(deploymentSpec)),
        templatePool: sometimes(
          orNull(fc.constantFrom<object>({}, { t1: { replicas: 1 } }, { t1: null }, { default: {} })),
          4
        ),
        templates: sometimes(orNull(fc.constantFrom<object>({}, { u: "t1" }, { u: null })), 4),
        defaultTemplateName: sometimes(orNull(fc.constantFrom("", "t1")), 4),
        extra: sometimes(fc.constant(1), 12),
        autoDeleteUnusedTemplate: sometimes(fc.constantFrom<unknown>(true, false, "x"), 9)
      }),
      12
    ).map((spec) => spec ?? { gridUniqKey: "zone" })
  },
  status: fc.constantFrom<object>(
    { units: 2, states: { u: { replicas: 1 } } },
    { states: { u: { replicas: 2 }, v: {} }, conditions: [condition] },
    { units: "x" },
    {}
  ),
  pointers: ["/spec/gridUniqKey", "/spec/template/replicas", "/spec/templatePool", "/spec/extra"],
  edits: [
    { op: "replace", path: "/spec/gridUniqKey", value: "rack" },
    { op: "add", path: "/spec/templatePool", value: { t1: { replicas: 1 }, t2: { replicas: 2 } } },
    { op: "add", path: "/spec/templates", value: { u: "t1" } },
    { op: "remove", path: "/spec/templatePool" }
  ],
  fieldSelectors: []
})

const serviceGrids = kind("superedge.io/v1", "ServiceGrid", "servicegrids", {
  parts: {
    spec: fields({
      gridUniqKey: fc.constantFrom("zone", "a/b", ""),
      template: sometimes(
        orNull(fc.constantFrom<object>({}, { ports: [{ port: 80 }] }, { type: "NodePort" }))
      ),
      topologyKeys: sometimes(fc.constantFrom<unknown>(["zone"], ["zone", "*"], ["*", "zone"], [], "zone"), 3)
    })
  },
  status: fc.constantFrom<object>(
    { loadBalancer: { ingress: [{ ip: "5.6.7.8" }] } },
    { conditions: [condition] },
    {}
  ),
  pointers: ["/spec/gridUniqKey", "/spec/topologyKeys/-", "/spec/template/ports/0"],
  edits: [
    { op: "replace", path: "/spec/gridUniqKey", value: "rack" },
    { op: "add", path: "/spec/topologyKeys", value: ["zone", "rack"] }
  ],
  fieldSelectors: []
})

export const KINDS: readonly Kind[] = [
  deployments,
  statefulSets,
  services,
  configMaps,
  nodes,
  grids,
  serviceGrids,
  secrets,
  leases,
  accounts,
  slices,
  endpoints,
  serviceCIDRs
]
