/**
 * Objects as they are sent to the API server, and as it then stores them: an oracle for who owns what.
 *
 * Nothing is parsed or compared here: each generator gives a value in two forms, what is sent and what is stored (another
 * spelling of an amount, a default that the server fills in, a zero that it drops), so the answer is known from the start. Field
 * sets are made from the API server's recorded OpenAPI document, as structured-merge-diff makes them.
 */
import { readFileSync } from "node:fs"
import fc from "fast-check"

export type Value = null | boolean | number | string | readonly Value[] | { readonly [field: string]: Value }
export type Fields = { readonly [field: string]: Value }
export type Kind = "Deployment" | "StatefulSet" | "Service"

// ---- field sets, from the OpenAPI document

export interface Schema {
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly type?: string
  readonly properties?: { readonly [name: string]: Schema }
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly default?: Value
  readonly "x-kubernetes-list-type"?: string
  readonly "x-kubernetes-list-map-keys"?: readonly string[]
  readonly "x-kubernetes-map-type"?: string
}

const document = JSON.parse(
  readFileSync(new URL("../src/embedded/openapi.json", import.meta.url), "utf8")
) as { readonly components: { readonly schemas: { readonly [name: string]: Schema } } }

const refOf = (schema: Schema): string | undefined => schema.$ref ?? schema.allOf?.[0]?.$ref

/** A schema with what it refers to merged in, and the short name of that (`Quantity`). */
export const resolved = (schema: Schema): Schema & { readonly name: string } => {
  const ref = refOf(schema)
  const name = ref?.split("/").at(-1) ?? ""
  return {
    ...(ref === undefined ? {} : document.components.schemas[name]),
    ...schema,
    name: name.split(".").at(-1) ?? ""
  }
}

const group = { Deployment: "apps", StatefulSet: "apps", Service: "core" }

export const schemaOf = (kind: Kind): Schema => ({
  $ref: `#/components/schemas/io.k8s.api.${group[kind]}.v1.${kind}`
})

export type FieldSet = { readonly [step: string]: FieldSet }

const STRIPPED = ["apiVersion", "kind", "status"]
const STRIPPED_META = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]

/** What the API server notes in `managedFields` for an applied object. */
export const fieldSet = (kind: Kind, sent: Fields): FieldSet => {
  const metadata = sent["metadata"] as Fields
  const body = {
    ...omit(sent, STRIPPED),
    metadata: omit(metadata, STRIPPED_META)
  }
  if (Object.keys(body.metadata).length === 0) return setAt(schemaOf(kind), omit(body, ["metadata"])) ?? {}
  return setAt(schemaOf(kind), body) ?? {}
}

const omit = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

const setAt = (schema: Schema, value: Value): FieldSet | undefined => {
  const shape = resolved(schema)
  if (value === null || typeof value !== "object") return {}
  if (shape["x-kubernetes-map-type"] === "atomic") return {}
  if (Array.isArray(value)) return listSet(shape, value as readonly Value[])
  const fields = value as Fields
  if (Object.keys(fields).length === 0) return {}
  const steps = Object.entries(fields).flatMap(([name, field]) => {
    const below = setAt(shape.properties?.[name] ?? shape.additionalProperties ?? {}, field)
    return below === undefined ? [] : [[`f:${name}`, below] as const]
  })
  return steps.length === 0 ? undefined : Object.fromEntries(steps)
}

const listSet = (shape: Schema, items: readonly Value[]): FieldSet | undefined => {
  const item = shape.items ?? {}
  if (shape["x-kubernetes-list-type"] === "set")
    return items.length === 0
      ? undefined
      : Object.fromEntries(items.map((each) => [`v:${JSON.stringify(each)}`, {}]))
  if (shape["x-kubernetes-list-type"] !== "map") return {}
  if (items.length === 0) return undefined
  return Object.fromEntries(
    items.map((each) => {
      const below = setAt(item, each) ?? {}
      return [itemStep(shape, each as Fields), Object.keys(below).length === 0 ? {} : { ".": {}, ...below }]
    })
  )
}

/** `k:{"containerPort":80,"protocol":"TCP"}` */
export const itemStep = (list: Schema, item: Fields): string => {
  const properties = resolved(list.items ?? {}).properties ?? {}
  const keys = [...(list["x-kubernetes-list-map-keys"] ?? [])].sort()
  return `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, item[key] ?? properties[key]?.default ?? null])))}`
}

// ---- values in two forms

/** What is sent and what the server stores; absent where `undefined`. */
export interface Pair {
  readonly sent: Value | undefined
  readonly stored: Value | undefined
}

const both = (value: fc.Arbitrary<Value>): fc.Arbitrary<Pair> =>
  value.map((each) => ({ sent: each, stored: each }))
const either = (...values: readonly Value[]): fc.Arbitrary<Pair> => both(fc.constantFrom(...values))
/** a zero that the server doesn't keep, or another value that it does */
const zero = (none: Value, some: Value): fc.Arbitrary<Pair> =>
  fc.constantFrom({ sent: none, stored: undefined }, { sent: some, stored: some })

/** An object; `filled` is what the server puts where a field isn't sent. */
const object = (
  fields: { readonly [name: string]: fc.Arbitrary<Pair> },
  filled: Fields = {}
): fc.Arbitrary<Pair> =>
  fc
    .record(
      Object.fromEntries(
        Object.entries(fields).map(([name, pair]) => [name, fc.option(pair, { nil: undefined })])
      )
    )
    .map((chosen) => joined(chosen, filled))

const need = (
  pair: fc.Arbitrary<Pair>,
  fields: { readonly [name: string]: fc.Arbitrary<Pair> }
): fc.Arbitrary<Pair> =>
  fc.tuple(pair, fc.record(fields)).map(([base, chosen]) => {
    const more = joined(chosen, {})
    return {
      sent: { ...(more.sent as Fields), ...(base.sent as Fields) },
      stored: { ...(more.stored as Fields), ...(base.stored as Fields) }
    }
  })

const joined = (chosen: { readonly [name: string]: Pair | undefined }, filled: Fields): Pair => {
  const sent: { [name: string]: Value } = {}
  const stored: { [name: string]: Value } = { ...filled }
  for (const [name, pair] of Object.entries(chosen)) {
    if (pair?.sent !== undefined) sent[name] = pair.sent
    if (pair?.stored !== undefined) stored[name] = pair.stored
  }
  return { sent, stored }
}

const listOf = (pair: fc.Arbitrary<Pair>, min = 0, max = 3): fc.Arbitrary<Pair> =>
  fc.array(pair, { minLength: min, maxLength: max }).map(listed)

const listed = (pairs: readonly Pair[]): Pair => ({
  sent: pairs.map((each) => each.sent ?? null),
  stored: pairs.length === 0 ? undefined : pairs.map((each) => each.stored ?? null)
})

/** A list in which each key stands once. */
const keyedBy = (
  key: string,
  keys: readonly Value[],
  item: fc.Arbitrary<Pair>,
  min = 0
): fc.Arbitrary<Pair> =>
  fc
    .shuffledSubarray([...keys], { minLength: min })
    .chain((chosen) =>
      fc.tuple(...chosen.map((each) => need(item, { [key]: both(fc.constant(each)) }))).map(listed)
    )

/** An amount in thousandths, spelled in two ways. */
const amount: fc.Arbitrary<Pair> = fc.integer({ min: 1, max: 1 << 20 }).chain((n) => {
  const spellings: readonly Value[] = [`${n}m`, `${n / 1000}`, n / 1000, `${n}e-3`, `${n * 1000}u`]
  return fc.record({ sent: fc.constantFrom(...spellings), stored: fc.constantFrom(...spellings) })
})
const bytes: fc.Arbitrary<Pair> = fc.integer({ min: 1, max: 4096 }).chain((n) => {
  const spellings: readonly Value[] = [`${n}Gi`, `${n * 1024}Mi`, `${n * 2 ** 20}Ki`, n * 2 ** 30, `${n}.0Gi`]
  return fc.record({ sent: fc.constantFrom(...spellings), stored: fc.constantFrom(...spellings) })
})
const amounts = object({ cpu: amount, memory: bytes })

const words = fc.dictionary(
  fc.constantFrom("app", "tier", "constructor", "__proto__", "example.io/part"),
  fc.constantFrom("", "a", "b"),
  { maxKeys: 3, noNullPrototype: true }
)
const strings = words.map((each) => ({
  sent: each as Value,
  stored: Object.keys(each).length === 0 ? undefined : (each as Value)
}))

const labelSelector = object({
  matchLabels: strings,
  matchExpressions: listOf(
    fc.constantFrom(
      { sent: { key: "k", operator: "Exists", values: [] }, stored: { key: "k", operator: "Exists" } },
      {
        sent: { key: "k", operator: "In", values: ["x", ""] },
        stored: { key: "k", operator: "In", values: ["x", ""] }
      }
    )
  )
})

const fieldRef = fc.constantFrom(
  { sent: { fieldPath: "metadata.name" }, stored: { apiVersion: "v1", fieldPath: "metadata.name" } },
  {
    sent: { fieldPath: "metadata.uid", apiVersion: "v1" },
    stored: { apiVersion: "v1", fieldPath: "metadata.uid" }
  }
)
const resourceFieldRef = fc.constantFrom(
  {
    sent: { resource: "limits.cpu", containerName: "nginx" },
    stored: { resource: "limits.cpu", containerName: "nginx", divisor: "0" }
  },
  {
    sent: { resource: "limits.cpu", containerName: "nginx", divisor: "0.001" },
    stored: { resource: "limits.cpu", containerName: "nginx", divisor: "1m" }
  }
)

const probe = need(
  object(
    { initialDelaySeconds: zero(0, 5), periodSeconds: either(3), timeoutSeconds: either(2) },
    { periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 }
  ),
  {
    httpGet: need(
      object(
        { path: either("/x"), httpHeaders: listOf(either({ name: "X-Y", value: "" })) },
        { path: "/", scheme: "HTTP" }
      ),
      {
        port: either(80, "http")
      }
    )
  }
)

const source = fc.oneof(
  object({ value: zero("", "$(A)") }),
  need(object({}), { valueFrom: need(object({}), { fieldRef }) }),
  need(object({}), { valueFrom: need(object({}), { resourceFieldRef }) }),
  need(object({}), {
    valueFrom: need(object({}), {
      configMapKeyRef: either({ name: "n", key: "k" }, { name: "n", key: "k", optional: false })
    })
  })
)

const port = fc.constantFrom<Pair>(
  { sent: { containerPort: 80 }, stored: { containerPort: 80, protocol: "TCP" } },
  { sent: { containerPort: 80, protocol: "UDP" }, stored: { containerPort: 80, protocol: "UDP" } },
  {
    sent: { containerPort: 81, protocol: "TCP", hostPort: 0 },
    stored: { containerPort: 81, protocol: "TCP" }
  },
  { sent: { containerPort: 82, name: "http" }, stored: { containerPort: 82, name: "http", protocol: "TCP" } }
)
const ports = fc.uniqueArray(port, { maxLength: 3 }).map(listed)

const container = need(
  object(
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
        need(object({ readOnly: zero(false, true), subPath: zero("", "s") }), { name: either("v0") })
      ),
      workingDir: zero("", "/w")
    },
    {
      imagePullPolicy: "IfNotPresent",
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      resources: {}
    }
  ),
  { image: either("nginx:1.27", "nginx:1.28") }
)

const keyToPath = listOf(either({ key: "k", path: "p" }, { key: "k", path: "p", mode: 0 }))
const files = listOf(
  fc.oneof(
    need(object({ mode: either(0, 256) }), { path: either("f"), fieldRef }),
    need(object({}), { path: either("g"), resourceFieldRef })
  )
)
const claim = need(object({ storageClassName: either("", "fast") }, { volumeMode: "Filesystem" }), {
  accessModes: either(["ReadWriteOnce"]),
  resources: need(object({}), { requests: need(object({}), { storage: bytes }) })
})
const volumeSource = fc.oneof(
  need(object({}), { emptyDir: object({ sizeLimit: bytes }) }),
  need(object({}), {
    configMap: need(object({ items: keyToPath }, { defaultMode: 420 }), { name: either("c") })
  }),
  need(object({}), { downwardAPI: object({ items: files }, { defaultMode: 420 }) }),
  need(object({}), {
    ephemeral: need(object({}), { volumeClaimTemplate: need(object({}), { spec: claim }) })
  }),
  need(object({}), {
    projected: need(object({}, { defaultMode: 420 }), {
      sources: listOf(
        fc.oneof(
          fc.constant({
            sent: { serviceAccountToken: { path: "t" } },
            stored: { serviceAccountToken: { path: "t", expirationSeconds: 3600 } }
          }),
          need(object({}), { configMap: need(object({ items: keyToPath }), { name: either("c") }) }),
          need(object({}), { downwardAPI: object({ items: files }) })
        )
      )
    })
  })
)

const podAffinityTerm = need(object({ labelSelector, namespaceSelector: either({}) }), {
  topologyKey: either("zone")
})
const podSpec = need(
  object(
    {
      affinity: object({
        podAntiAffinity: object({
          requiredDuringSchedulingIgnoredDuringExecution: listOf(podAffinityTerm),
          preferredDuringSchedulingIgnoredDuringExecution: listOf(
            need(object({}), { weight: either(1), podAffinityTerm })
          )
        })
      }),
      hostNetwork: zero(false, true),
      imagePullSecrets: keyedBy("name", ["r", "s"], object({})),
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
    }
  ),
  {
    containers: keyedBy("name", ["nginx", "sidecar"], container, 1),
    volumes: fc.tuple(volumeSource, volumeSource, fc.nat(1)).map(([a, b, more]) =>
      listed(
        [a, b].slice(0, more + 1).map((each, i) => ({
          sent: { ...(each.sent as Fields), name: `v${i}` },
          stored: { ...(each.stored as Fields), name: `v${i}` }
        }))
      )
    )
  }
)

const labels = { app: "web" }
const template = need(object({}), {
  metadata: need(object({ annotations: strings }), { labels: either(labels) }),
  spec: podSpec
})
const selector = either({ matchLabels: labels })

const claimTemplates = fc
  .tuple(claim, fc.constantFrom(undefined, null), fc.constantFrom(undefined, {}))
  .map(([spec, created, status]): Pair => ({
    sent: [
      {
        metadata: { name: "data", ...(created === null ? { creationTimestamp: null } : {}) },
        spec: spec.sent ?? {},
        ...(status === undefined ? {} : { status })
      }
    ],
    stored: [
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "data" },
        spec: spec.stored ?? {},
        status: { phase: "Pending" }
      }
    ]
  }))

const specs: { readonly [kind in Kind]: fc.Arbitrary<Pair> } = {
  Deployment: need(
    object(
      {
        replicas: either(0, 3),
        minReadySeconds: zero(0, 5),
        paused: zero(false, true),
        strategy: fc.constantFrom<Pair>(
          {
            sent: {},
            stored: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } }
          },
          {
            sent: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: "50%" } },
            stored: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: "50%" } }
          }
        )
      },
      {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: "RollingUpdate" }
      }
    ),
    { selector, template }
  ),
  StatefulSet: need(
    object(
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
      }
    ),
    { selector, template, serviceName: either("svc") }
  ),
  Service: need(
    object(
      {
        selector: strings,
        type: either("NodePort"),
        clusterIP: either("None"),
        externalIPs: listOf(either("10.9.9.9")),
        publishNotReadyAddresses: zero(false, true),
        sessionAffinity: either("ClientIP")
      },
      {
        type: "ClusterIP",
        sessionAffinity: "None",
        clusterIP: "10.96.0.7",
        clusterIPs: ["10.96.0.7"],
        ipFamilies: ["IPv4"],
        internalTrafficPolicy: "Cluster"
      }
    ).filter(({ sent }) => !("type" in (sent as Fields)) || !("clusterIP" in (sent as Fields))),
    {
      ports: fc
        .shuffledSubarray<Pair>(
          [
            {
              sent: { port: 80, name: "a" },
              stored: { port: 80, name: "a", protocol: "TCP", targetPort: 80 }
            },
            {
              sent: { port: 53, name: "b", protocol: "UDP", targetPort: "dns" },
              stored: { port: 53, name: "b", protocol: "UDP", targetPort: "dns" }
            },
            {
              sent: { port: 53, name: "c", targetPort: 5353 },
              stored: { port: 53, name: "c", protocol: "TCP", targetPort: 5353 }
            }
          ],
          { minLength: 1 }
        )
        .map(listed)
    }
  )
}

const metas = object({
  labels: strings,
  annotations: strings,
  finalizers: fc
    .shuffledSubarray(["a.io/x", "b.io/y"])
    .map((each): Pair => ({ sent: each, stored: each.length === 0 ? undefined : each })),
  ownerReferences: listOf(
    either({
      apiVersion: "superedge.io/v1",
      kind: "DeploymentGrid",
      name: "web",
      uid: "u-1",
      controller: true,
      blockOwnerDeletion: true
    }),
    0,
    1
  )
})

/** An object that was applied, as it was sent and as it is stored; nobody else has written to it. */
export interface Applied {
  readonly kind: Kind
  readonly sent: Fields
  readonly live: Fields
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

export const applied = (kind: Kind): fc.Arbitrary<Applied> =>
  fc.tuple(metas, specs[kind]).map(([meta, spec]) => {
    const sent = {
      apiVersion: kind === "Service" ? "v1" : "apps/v1",
      kind,
      metadata: { name: "web-a", namespace: "default", ...(meta.sent as Fields) },
      spec: spec.sent ?? {}
    }
    const live = {
      ...sent,
      metadata: {
        ...(meta.stored as Fields),
        name: "web-a",
        namespace: "default",
        uid: "u-9",
        resourceVersion: "17",
        managedFields: [
          entry(MANAGER, "Apply", fieldSet(kind, sent)),
          {
            ...entry("kube-controller-manager", "Update", { "f:status": { "f:replicas": {} } }),
            subresource: "status"
          }
        ]
      },
      spec: spec.stored ?? {},
      status: { replicas: 1 }
    }
    return { kind, sent, live }
  })

export const anyApplied: fc.Arbitrary<Applied> = fc.oneof(
  applied("Deployment"),
  applied("StatefulSet"),
  applied("Service")
)
