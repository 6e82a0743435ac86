/** The kinds that are compared: where each is found, what its objects look like, and what a status may say. */
import fc from "fast-check"
import { fields, metadata, orNull, podTemplate, sometimes, texts } from "./fields.ts"
import { NAMESPACE } from "./turns.ts"

export interface Kind {
  readonly kind: string
  readonly apiVersion: string
  readonly collection: string
  /** of every namespace */
  readonly everywhere: string
  readonly names: readonly string[]
  readonly custom: boolean
  /** has a scale */
  readonly scales: boolean
  readonly object: (name: string) => fc.Arbitrary<object>
  /** undefined where the kind has no status of its own to write */
  readonly status: fc.Arbitrary<object> | undefined
  /** pointers that a JSON patch may go to */
  readonly pointers: readonly string[]
  /** operations of a JSON patch that can be done to most of its objects */
  readonly edits: readonly object[]
  readonly fieldSelectors: readonly string[]
}

type Spec = Readonly<Record<string, fc.Arbitrary<unknown>>>

const kind = (
  apiVersion: string,
  name: string,
  plural: string,
  rest: Pick<Kind, "status" | "pointers" | "edits" | "fieldSelectors"> & {
    readonly parts: Spec
    readonly cluster?: true
  }
): Kind => {
  const base = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`
  const { parts, cluster, ...others } = rest
  const custom = !["v1", "apps/v1"].includes(apiVersion)
  const everywhere = `${base}/${plural}`
  return {
    ...others,
    kind: name,
    apiVersion,
    everywhere,
    collection: cluster ? everywhere : `${base}/namespaces/${NAMESPACE}/${plural}`,
    names: cluster ? [`${NAMESPACE}-a`, `${NAMESPACE}-b`] : ["a", "b"],
    custom,
    scales: apiVersion === "apps/v1",
    object: (called) =>
      fields({
        apiVersion: fc.constant(apiVersion),
        kind: fc.constant(name),
        metadata: metadata(called, custom),
        ...parts
      })
  }
}

const condition = {
  type: "Ready",
  status: "True",
  reason: "R",
  message: "m",
  lastTransitionTime: "2020-01-01T00:00:00Z"
}

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

/** Without volumeClaimTemplates: what messages and owners say of them is the model's known gap. */
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

/** Two ports of one number are left to the stories that are recorded. */
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
  fieldSelectors: ["spec.type=NodePort", "spec.clusterIP=None"]
})

const configMaps = kind("v1", "ConfigMap", "configmaps", {
  parts: {
    data: sometimes(
      orNull(
        fc.dictionary(
          fc.constantFrom("k", "l"),
          orNull(fc.constantFrom("1", "2", "")) as fc.Arbitrary<unknown>,
          {
            maxKeys: 2
          }
        )
      )
    ),
    immutable: sometimes(fc.boolean(), 12)
  },
  status: undefined,
  pointers: ["/data", "/data/k", "/data/l", "/immutable"],
  edits: [
    { op: "add", path: "/data", value: { k: "1", l: "2" } },
    { op: "add", path: "/data/m", value: "3" },
    { op: "move", from: "/data/k", path: "/data/n" }
  ],
  fieldSelectors: []
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

export const KINDS: readonly Kind[] = [deployments, statefulSets, services, configMaps, nodes, grids]
