/** Generators of parts of objects: records with some fields left out or null, metadata, pod templates. */
import fc from "fast-check"

type Arbitrary = fc.Arbitrary<unknown>

/** Left out in one of `every` cases. */
export const sometimes = (arbitrary: Arbitrary, every = 2): Arbitrary =>
  fc.oneof({ weight: 1, arbitrary }, { weight: every - 1, arbitrary: fc.constant(undefined) })

/** Null, which means absent, now and then. */
export const orNull = (arbitrary: Arbitrary): Arbitrary =>
  fc.oneof({ weight: 14, arbitrary }, { weight: 1, arbitrary: fc.constant(null) })

/** An object without the fields that came out undefined. */
export const fields = (of: Readonly<Record<string, Arbitrary>>): fc.Arbitrary<object> =>
  fc
    .record(of)
    .map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)))

export const texts = (...keys: readonly string[]): Arbitrary =>
  fc.dictionary(fc.constantFrom(...keys), fc.constantFrom("1", "2", ""), { maxKeys: 2 })

/** Of custom objects without what is empty, which is stored when it is applied, though never shown: 5 in src/embedded/model.ts. */
export const metadata = (name: string, custom: boolean): Arbitrary =>
  fields({
    name: fc.constant(name),
    labels: sometimes(orNull(texts("a", "b")).map((labels) => (custom ? filled(labels) : labels))),
    annotations: sometimes(
      orNull(texts("x/y", "z")).map((given) => (custom ? filled(given) : given)),
      4
    ),
    finalizers: sometimes(fc.constantFrom(["x.io/a"], ["x.io/a", "x.io/b"], custom ? ["x.io/b"] : []), 8)
  })

const filled = (map: unknown): unknown =>
  typeof map === "object" && map !== null && Object.keys(map).length > 0 ? map : undefined

const variable = fc.oneof(
  fields({ name: fc.constantFrom("A", "B", "C"), value: sometimes(orNull(fc.constantFrom("1", "2", ""))) }),
  fc.constant({ name: "F", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } })
)

/** Numbers of as many digits, whose owners have one order: 6 in src/embedded/model.ts. */
const port = fields({
  containerPort: fc.constantFrom(80, 81),
  protocol: sometimes(fc.constantFrom("TCP", "UDP")),
  name: sometimes(fc.constantFrom("http", "dns"))
})

const nameOf = (item: object): unknown => (item as { readonly name?: unknown }).name
const portOf = (item: object): unknown => (item as { readonly containerPort?: unknown }).containerPort

const container = (name: string): Arbitrary =>
  fields({
    name: fc.constant(name),
    image: fc.constantFrom("i", "i:1", "i@sha256:aa", "i:latest"),
    env: sometimes(orNull(fc.uniqueArray(variable, { maxLength: 3, selector: nameOf }))),
    ports: sometimes(orNull(fc.uniqueArray(port, { maxLength: 2, selector: portOf }))),
    args: sometimes(orNull(fc.array(fc.constantFrom("-a", "-b"), { maxLength: 2 })), 3),
    resources: sometimes(
      fields({
        limits: sometimes(fc.constantFrom({ cpu: "1" }, { cpu: 0.5, memory: "1024Mi" }, {})),
        requests: sometimes(fc.constantFrom({ cpu: "100m" }, { memory: "1Gi" }))
      })
    ),
    livenessProbe: sometimes(
      fc.constantFrom<object>(
        { httpGet: { port: 80 } },
        { tcpSocket: { port: "http" } },
        { exec: { command: ["a"] } },
        { grpc: { port: 3 } }
      ),
      4
    ),
    tty: sometimes(fc.boolean(), 5),
    securityContext: sometimes(fc.constantFrom<object>({}, { runAsUser: 0 }, { privileged: false }), 5),
    volumeMounts: sometimes(fc.constant([{ name: "v", mountPath: "/v" }]), 6)
  })

const containers = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(container("c")) },
  { weight: 3, arbitrary: fc.tuple(container("c"), container("d")) },
  { weight: 1, arbitrary: fc.tuple(container("d")) }
)

const podSpec = fields({
  containers,
  nodeSelector: sometimes(orNull(texts("zone", "disk")), 4),
  tolerations: sometimes(
    orNull(
      fc.constantFrom<object>([], [{ key: "edge", operator: "Exists" }], [{ operator: "Exists", value: "" }])
    ),
    4
  ),
  volumes: sometimes(
    orNull(
      fc.constantFrom<object>(
        [],
        [{ name: "v" }],
        [{ name: "v", emptyDir: {} }],
        [{ name: "v", configMap: { name: "m" } }]
      )
    ),
    3
  ),
  hostNetwork: sometimes(fc.boolean(), 8),
  terminationGracePeriodSeconds: sometimes(fc.constantFrom(0, 5), 6),
  securityContext: sometimes(orNull(fc.constantFrom<object>({}, { fsGroup: 1 })), 6),
  serviceAccountName: sometimes(fc.constantFrom("x", ""), 8)
})

export const podTemplate: Arbitrary = fields({
  metadata: fc.oneof(
    { weight: 9, arbitrary: fc.constant({ labels: { app: "x" } }) },
    { weight: 1, arbitrary: fc.constant({ labels: { app: "x", extra: "1" }, creationTimestamp: null }) }
  ),
  spec: podSpec
})
