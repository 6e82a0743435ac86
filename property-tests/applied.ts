/**
 * Objects as they are sent to the API server, and as it then stores them: an oracle for what the server makes of an apply.
 *
 * Nothing is parsed or compared here: each generator gives a value in two forms, what is sent and what is stored (another
 * spelling of an amount, a default that the server fills in, a zero that it drops), so the answer is known from the start.
 */
import fc from "fast-check"
import {
  any,
  Choice,
  either,
  keyedBy,
  listed,
  listOf,
  type Make,
  need,
  object,
  one,
  type Some,
  some,
  withField,
  zero
} from "./choice.ts"
import { type Fields, type FieldSet, fieldSet, type Kind, type Value } from "./openapi.ts"

/** An amount in thousandths, spelled in two ways. */
const amount: Make = (choice) => {
  const n = 1 + choice.below(1 << 20)
  const spellings: Some<Value> = [`${n}m`, `${n / 1000}`, n / 1000, `${n}e-3`, `${n * 1000}u`]
  return { sent: choice.of(spellings), stored: choice.of(spellings) }
}
const bytes: Make = (choice) => {
  const n = 1 + choice.below(4096)
  const spellings: Some<Value> = [`${n}Gi`, `${n * 1024}Mi`, `${n * 2 ** 20}Ki`, n * 2 ** 30, `${n}.0Gi`]
  return { sent: choice.of(spellings), stored: choice.of(spellings) }
}
const amounts = object({ cpu: amount, memory: bytes })

const strings: Make = (choice) => {
  const keys = choice.some(["app", "tier", "constructor", "__proto__", "example.io/part"], 0)
  const value = Object.fromEntries(keys.map((key) => [key, choice.of(["", "a", "b"])]))
  return { sent: value, stored: keys.length === 0 ? undefined : value }
}

const labelSelector = object({
  matchLabels: strings,
  matchExpressions: listOf(
    one(
      { sent: { key: "k", operator: "Exists", values: [] }, stored: { key: "k", operator: "Exists" } },
      {
        sent: { key: "k", operator: "In", values: ["x", ""] },
        stored: { key: "k", operator: "In", values: ["x", ""] }
      }
    )
  )
})

const fieldRef = one(
  { sent: { fieldPath: "metadata.name" }, stored: { apiVersion: "v1", fieldPath: "metadata.name" } },
  {
    sent: { fieldPath: "metadata.uid", apiVersion: "v1" },
    stored: { apiVersion: "v1", fieldPath: "metadata.uid" }
  }
)
const cpuOf = { resource: "limits.cpu", containerName: "nginx" }
const resourceFieldRef = one(
  { sent: cpuOf, stored: { ...cpuOf, divisor: "0" } },
  { sent: { ...cpuOf, divisor: "0.001" }, stored: { ...cpuOf, divisor: "1m" } }
)

const httpGet = object(
  { path: either("/x"), httpHeaders: listOf(either({ name: "X-Y", value: "" })) },
  { path: "/", scheme: "HTTP" },
  { port: either(80, "http") }
)
const probe = object(
  { initialDelaySeconds: zero(0, 5), periodSeconds: either(3), timeoutSeconds: either(2) },
  { periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 },
  { httpGet }
)

const configMapKeyRef = either({ name: "n", key: "k" }, { name: "n", key: "k", optional: false })
const source = any(
  object({ value: zero("", "$(A)") }),
  need({ valueFrom: need({ fieldRef }) }),
  need({ valueFrom: need({ resourceFieldRef }) }),
  need({ valueFrom: need({ configMapKeyRef }) })
)

const ports = some(
  [
    { sent: { containerPort: 80 }, stored: { containerPort: 80, protocol: "TCP" } },
    { sent: { containerPort: 80, protocol: "UDP" }, stored: { containerPort: 80, protocol: "UDP" } },
    {
      sent: { containerPort: 81, protocol: "TCP", hostPort: 0 },
      stored: { containerPort: 81, protocol: "TCP" }
    },
    {
      sent: { containerPort: 82, name: "http" },
      stored: { containerPort: 82, name: "http", protocol: "TCP" }
    }
  ],
  0
)

const container = object(
  {
    args: listOf(either("-x", "")),
    command: listOf(either("sh")),
    env: keyedBy("name", ["A", "B", "C", "__proto__"], source),
    envFrom: listOf(
      either({ prefix: "P_", configMapRef: { name: "c" } }, { secretRef: { name: "s", optional: true } })
    ),
    imagePullPolicy: either("Always"),
    livenessProbe: probe,
    ports,
    resources: object({ limits: amounts }),
    securityContext: object({
      runAsUser: either(0, 5),
      allowPrivilegeEscalation: either(false),
      capabilities: object({ drop: listOf(either("ALL")) })
    }),
    stdin: zero(false, true),
    volumeMounts: keyedBy(
      "mountPath",
      ["/a", "/b"],
      object({ readOnly: zero(false, true), subPath: zero("", "s") }, {}, { name: either("v0") })
    ),
    workingDir: zero("", "/w")
  },
  {
    imagePullPolicy: "IfNotPresent",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    resources: {}
  },
  { image: either("nginx:1.27", "nginx:1.28") }
)

const items = listOf(either({ key: "k", path: "p" }, { key: "k", path: "p", mode: 0 }))
const files = listOf(
  any(
    object({ mode: either(0, 256) }, {}, { path: either("f"), fieldRef }),
    need({ path: either("g"), resourceFieldRef })
  )
)
const configMap = (filled: Fields): Make => object({ items }, filled, { name: either("c") })
const claim = object(
  { storageClassName: either("", "fast") },
  { volumeMode: "Filesystem" },
  { accessModes: either(["ReadWriteOnce"]), resources: need({ requests: need({ storage: bytes }) }) }
)
const sources = listOf(
  any(
    one({
      sent: { serviceAccountToken: { path: "t" } },
      stored: { serviceAccountToken: { path: "t", expirationSeconds: 3600 } }
    }),
    need({ configMap: configMap({}) }),
    need({ downwardAPI: object({ items: files }) })
  )
)
const volume = any(
  need({ emptyDir: object({ sizeLimit: bytes }) }),
  need({ configMap: configMap({ defaultMode: 420 }) }),
  need({ downwardAPI: object({ items: files }, { defaultMode: 420 }) }),
  need({ ephemeral: need({ volumeClaimTemplate: need({ spec: claim }) }) }),
  need({ projected: object({}, { defaultMode: 420 }, { sources }) })
)
const volumes: Make = (choice) => listed(["v0", "v1"].map((name) => withField(volume(choice), "name", name)))

const podAffinityTerm = object(
  { labelSelector, namespaceSelector: either({}) },
  {},
  { topologyKey: either("zone") }
)
const podSpec = object(
  {
    affinity: object({
      podAntiAffinity: object({
        requiredDuringSchedulingIgnoredDuringExecution: listOf(podAffinityTerm),
        preferredDuringSchedulingIgnoredDuringExecution: listOf(need({ weight: either(1), podAffinityTerm }))
      })
    }),
    hostNetwork: zero(false, true),
    imagePullSecrets: keyedBy("name", ["r", "s"], need({})),
    initContainers: keyedBy("name", ["i", "j"], container),
    nodeSelector: strings,
    securityContext: object({ fsGroup: either(0, 7), supplementalGroups: listOf(either(1)) }),
    terminationGracePeriodSeconds: either(0, 5),
    tolerations: listOf(
      either(
        { operator: "Exists" },
        { key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 0 },
        { key: "k", operator: "Exists", effect: "NoExecute" }
      )
    )
  },
  {
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30
  },
  { containers: keyedBy("name", ["nginx", "sidecar"], container, 1), volumes }
)

const labels = { app: "web" }
const template = need({
  metadata: object({ annotations: strings }, {}, { labels: either(labels) }),
  spec: podSpec
})
const selector = either({ matchLabels: labels })

const strategies = one(
  { sent: {}, stored: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } } },
  {
    sent: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: "50%" } },
    stored: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: "50%" } }
  }
)

const claimTemplates: Make = (choice) => {
  const { sent, stored } = claim(choice)
  const metadata: Fields = choice.of<Fields>([{ name: "data" }, { name: "data", creationTimestamp: null }])
  const status = choice.of<Fields>([{}, { status: {} }])
  return {
    sent: [{ metadata, spec: sent ?? {}, ...status }],
    stored: [
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "data" },
        spec: stored ?? {},
        status: { phase: "Pending" }
      }
    ]
  }
}

const servicePorts = some(
  [
    { sent: { port: 80, name: "a" }, stored: { port: 80, name: "a", protocol: "TCP", targetPort: 80 } },
    {
      sent: { port: 53, name: "b", protocol: "UDP", targetPort: "dns" },
      stored: { port: 53, name: "b", protocol: "UDP", targetPort: "dns" }
    },
    {
      sent: { port: 53, name: "c", targetPort: 5353 },
      stored: { port: 53, name: "c", protocol: "TCP", targetPort: 5353 }
    }
  ],
  1
)

const specs: { readonly [kind in Kind]: Make } = {
  Deployment: object(
    { replicas: either(0, 3), minReadySeconds: zero(0, 5), paused: zero(false, true), strategy: strategies },
    {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: "RollingUpdate" }
    },
    { selector, template }
  ),
  StatefulSet: object(
    {
      replicas: either(0, 3),
      podManagementPolicy: either("Parallel"),
      volumeClaimTemplates: claimTemplates,
      updateStrategy: either({ type: "OnDelete" })
    },
    {
      replicas: 1,
      podManagementPolicy: "OrderedReady",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } }
    },
    { selector, template, serviceName: either("svc") }
  ),
  Service: object(
    {
      selector: strings,
      externalIPs: listOf(either("10.9.9.9")),
      publishNotReadyAddresses: zero(false, true),
      sessionAffinity: either("ClientIP")
    },
    {
      sessionAffinity: "None",
      clusterIPs: ["10.96.0.7"],
      ipFamilies: ["IPv4"],
      internalTrafficPolicy: "Cluster",
      type: "ClusterIP"
    },
    {
      ports: servicePorts,
      clusterIP: one({ sent: undefined, stored: "10.96.0.7" }, { sent: "None", stored: "None" })
    }
  )
}

const owner = {
  apiVersion: "superedge.io/v1",
  kind: "DeploymentGrid",
  name: "web",
  uid: "u-1",
  controller: true
}
const finalizers: Make = (choice) => {
  const sent = choice.some(["a.io/x", "b.io/y"], 0)
  return { sent, stored: sent.length === 0 ? undefined : sent }
}
const metas = object({
  labels: strings,
  annotations: strings,
  finalizers,
  ownerReferences: listOf(either(owner), 1)
})

/** An object that was applied, as it was sent and as it is stored; nobody else has written to it. */
export interface Applied {
  readonly kind: Kind
  readonly sent: Fields
  readonly live: Fields
  /** what the applier owns */
  readonly set: FieldSet
}

export const MANAGER = "servicegroup"

export const entry = (manager: string, operation: string, fieldsV1: FieldSet): Fields => ({
  manager,
  operation,
  apiVersion: "apps/v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1
})

const make = (kind: Kind, seed: number): Applied => {
  const choice = new Choice(seed)
  const meta = metas(choice)
  const spec = specs[kind](choice)
  const identity = { name: "web-a", namespace: "default" }
  const type = { apiVersion: kind === "Service" ? "v1" : "apps/v1", kind }
  const sent = { ...type, metadata: { ...identity, ...(meta.sent as Fields) }, spec: spec.sent ?? {} }
  const set = fieldSet(kind, sent)
  const managedFields = [
    entry(MANAGER, "Apply", set),
    {
      ...entry("kube-controller-manager", "Update", { "f:status": { "f:replicas": {} } }),
      subresource: "status"
    }
  ]
  const metadata = {
    ...(meta.stored as Fields),
    ...identity,
    uid: "u-9",
    resourceVersion: "17",
    managedFields
  }
  return { kind, sent, set, live: { ...type, metadata, spec: spec.stored ?? {}, status: { replicas: 1 } } }
}

/** So many different objects of a kind; runs differ in what is done to them. */
const SEEDS = 1500
const made = new Map<string, Applied>()

/** Made once and frozen: nothing may write to what it is given (P14). */
const remembered = (kind: Kind, seed: number): Applied => {
  const key = `${kind} ${seed}`
  let found = made.get(key)
  if (found === undefined) made.set(key, (found = frozen(make(kind, seed))))
  return found
}

const frozen = <A>(value: A): A => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(frozen)
  }
  return value
}

const seeds = fc.noShrink(fc.nat(SEEDS - 1))

export const applied = (kind: Kind): fc.Arbitrary<Applied> => seeds.map((seed) => remembered(kind, seed))

export const anyApplied: fc.Arbitrary<Applied> = fc
  .tuple(fc.constantFrom<Kind>("Deployment", "StatefulSet", "Service"), seeds)
  .map(([kind, seed]) => remembered(kind, seed))
