/**
 * What the API server fills in where an object of a built-in kind says nothing.
 *
 * The values are those of Kubernetes' own defaulting (`pkg/apis/core/v1`, `pkg/apis/apps/v1` of 1.37); addresses and
 * ports of Services are handed out elsewhere.
 */
import { get, isObj, listAt, objAt, text, withAt, type Draft, type Obj } from "./json.ts"

/** The object with the defaults of its kind; objects of other kinds come back as they are. */
export const withDefaults = (kind: string, object: Obj): Obj => DEFAULTS[kind]?.(object) ?? object

type Step = (object: Obj) => Obj

/** The key's value, made where it is absent. */
const preset =
  (key: string, value: unknown): Step =>
  (object) =>
    Object.hasOwn(object, key) && object[key] !== null ? object : { ...object, [key]: value }

/** Several values at once, each made where its key is absent. */
const presets = (values: Obj): Step => {
  const keys = Object.keys(values)
  return (object) => {
    const missing = keys.filter((key) => !Object.hasOwn(object, key) || object[key] === null)
    if (missing.length === 0) return object
    const out: Draft = { ...object }
    for (const key of missing) out[key] = values[key]
    return out
  }
}

const all =
  (...steps: readonly Step[]): Step =>
  (object) =>
    steps.reduce((so, step) => step(so), object)

/** The step at an object below; nothing where there is none. */
const below =
  (path: readonly string[], step: Step): Step =>
  (object) => {
    const inner = get(object, ...path)
    if (!isObj(inner)) return object
    const next = step(inner)
    return next === inner ? object : withAt(object, path, next)
  }

const each =
  (path: readonly string[], step: Step): Step =>
  (object) => {
    const items = listAt(object, ...path)
    const next = items.map((item) => (isObj(item) ? step(item) : item))
    return next.every((item, index) => item === items[index]) ? object : withAt(object, path, next)
  }

const httpGet = all(preset("path", "/"), preset("scheme", "HTTP"))

const probe = all(
  presets({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  below(["httpGet"], httpGet),
  below(["grpc"], preset("service", ""))
)

const pullPolicy: Step = (container) =>
  preset(
    "imagePullPolicy",
    tagOf(text(container, "image")) === "latest" ? "Always" : "IfNotPresent"
  )(container)

/** The tag of an image reference; `latest` where it names neither tag nor digest. */
const tagOf = (image: string): string => {
  const [reference = "", digest] = image.split("@", 2)
  const tag = /:([^:/]+)$/.exec(reference)?.[1]
  return tag ?? (digest === undefined && image !== "" ? "latest" : "")
}

const container = all(
  pullPolicy,
  presets({ terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" }),
  below(["livenessProbe"], probe),
  below(["readinessProbe"], probe),
  below(["startupProbe"], probe),
  below(["lifecycle", "postStart", "httpGet"], httpGet),
  below(["lifecycle", "preStop", "httpGet"], httpGet),
  each(["env"], below(["valueFrom", "fieldRef"], preset("apiVersion", "v1"))),
  each(["ports"], preset("protocol", "TCP"))
)

const mode = preset("defaultMode", 0o644)
const downwardItems = each(["items"], below(["fieldRef"], preset("apiVersion", "v1")))

const projection = all(
  below(["serviceAccountToken"], preset("expirationSeconds", 3600)),
  below(["downwardAPI"], downwardItems)
)

const volumeSources = all(
  below(["secret"], mode),
  below(["configMap"], mode),
  below(["downwardAPI"], all(mode, downwardItems)),
  below(["projected"], all(mode, each(["sources"], projection))),
  below(["hostPath"], preset("type", "")),
  below(["ephemeral", "volumeClaimTemplate", "spec"], preset("volumeMode", "Filesystem"))
)

const volume: Step = (object) =>
  volumeSources(Object.keys(object).some((key) => key !== "name") ? object : { ...object, emptyDir: {} })

const serviceAccount: Step = (spec) => {
  const name = text(spec, "serviceAccountName") || text(spec, "serviceAccount")
  return name === "" ? spec : { ...spec, serviceAccountName: name, serviceAccount: name }
}

const hostPorts: Step = (spec) => {
  if (spec["hostNetwork"] !== true) return spec
  const port: Step = (object) => preset("hostPort", object["containerPort"])(object)
  return all(
    each(["containers"], each(["ports"], port)),
    each(["initContainers"], each(["ports"], port))
  )(spec)
}

const podSpec = all(
  serviceAccount,
  presets({
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    schedulerName: "default-scheduler"
  }),
  each(["containers"], container),
  each(["initContainers"], container),
  each(["volumes"], volume)
)

const template = below(["template", "spec"], podSpec)

const deploymentStrategy: Step = (strategy) => {
  const typed = preset("type", "RollingUpdate")(strategy)
  if (typed["type"] !== "RollingUpdate") return typed
  const rolling = all(
    preset("maxUnavailable", "25%"),
    preset("maxSurge", "25%")
  )(objAt(typed, "rollingUpdate"))
  return { ...typed, rollingUpdate: rolling }
}

const rolling = all(preset("partition", 0), preset("maxUnavailable", 1))

const updateStrategy: Step = (strategy) => {
  const typed = Object.hasOwn(strategy, "type")
    ? strategy
    : { ...strategy, type: "RollingUpdate", rollingUpdate: objAt(strategy, "rollingUpdate") }
  return typed["type"] === "RollingUpdate" ? below(["rollingUpdate"], rolling)(typed) : typed
}

const claim = all(
  preset("apiVersion", "v1"),
  preset("kind", "PersistentVolumeClaim"),
  below(["spec"], preset("volumeMode", "Filesystem")),
  below(["status"], preset("phase", "Pending"))
)

const deployment = below(
  ["spec"],
  all(
    presets({ replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
    below(["strategy"], deploymentStrategy),
    template
  )
)

const retention = all(preset("whenDeleted", "Retain"), preset("whenScaled", "Retain"))

const statefulSet = below(
  ["spec"],
  all(
    preset("podManagementPolicy", "OrderedReady"),
    below(["updateStrategy"], updateStrategy),
    (spec) => ({
      ...spec,
      persistentVolumeClaimRetentionPolicy: retention(objAt(spec, "persistentVolumeClaimRetentionPolicy"))
    }),
    presets({ replicas: 1, revisionHistoryLimit: 10 }),
    each(["volumeClaimTemplates"], claim),
    template
  )
)

const replicaSet = below(["spec"], all(preset("replicas", 1), template))

const servicePort: Step = (port) => {
  const target = port["targetPort"]
  const unset = target === undefined || target === null || target === 0 || target === ""
  return preset("protocol", "TCP")(unset ? { ...port, targetPort: port["port"] } : port)
}

const affinity: Step = (spec) => {
  if (spec["sessionAffinity"] === "None") return withAt(spec, ["sessionAffinityConfig"], undefined)
  if (spec["sessionAffinity"] !== "ClientIP") return spec
  const given = get(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds")
  return given === undefined
    ? withAt(spec, ["sessionAffinityConfig"], { clientIP: { timeoutSeconds: 10800 } })
    : spec
}

const traffic: Step = (spec) => {
  const type = text(spec, "type")
  const outside = type === "NodePort" || type === "LoadBalancer"
  const reachable = outside || (type === "ClusterIP" && listAt(spec, "externalIPs").length > 0)
  return all(
    reachable ? preset("externalTrafficPolicy", "Cluster") : (same) => same,
    outside || type === "ClusterIP" ? preset("internalTrafficPolicy", "Cluster") : (same) => same,
    type === "LoadBalancer" ? preset("allocateLoadBalancerNodePorts", true) : (same) => same
  )(spec)
}

const service = below(
  ["spec"],
  all(
    preset("sessionAffinity", "None"),
    affinity,
    preset("type", "ClusterIP"),
    each(["ports"], servicePort),
    traffic
  )
)

/** An address of a load balancer is a virtual one unless it says otherwise. */
const balancer: Step = (object) =>
  text(object, "spec", "type") === "LoadBalancer"
    ? each(["status", "loadBalancer", "ingress"], (ingress) =>
        text(ingress, "ip") === "" ? ingress : preset("ipMode", "VIP")(ingress)
      )(object)
    : object

/** What is written as text is kept as bytes, in base64. */
const secretData: Step = (object) => {
  const given = objAt(object, "stringData")
  if (Object.keys(given).length === 0) return object
  const data = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, Buffer.from(String(value), "utf8").toString("base64")])
  )
  return withAt({ ...object, data: { ...objAt(object, "data"), ...data } }, ["stringData"], undefined)
}

const requestsFromLimits: Step = (object) => {
  const limits = objAt(object, "resources", "limits")
  if (Object.keys(limits).length === 0) return object
  return withAt(object, ["resources", "requests"], { ...limits, ...objAt(object, "resources", "requests") })
}

const podAddresses: Step = (status) => {
  const ip = text(status, "podIP")
  if (ip === "" || listAt(status, "podIPs").length > 0) return status
  return { ...status, podIPs: [{ ip }] }
}

const pod = all(
  below(
    ["spec"],
    all(
      podSpec,
      each(["containers"], requestsFromLimits),
      each(["initContainers"], requestsFromLimits),
      preset("enableServiceLinks", true),
      hostPorts
    )
  ),
  below(["status"], podAddresses)
)

const namespace: Step = (object) => {
  const name = text(object, "metadata", "name")
  const labelled =
    name === "" ? object : withAt(object, ["metadata", "labels", "kubernetes.io/metadata.name"], name)
  return below(["status"], preset("phase", "Active"))(labelled)
}

const node = below(["status"], (status) =>
  isObj(status["capacity"]) ? preset("allocatable", status["capacity"])(status) : status
)

const endpointSlice = each(["ports"], all(preset("name", ""), preset("protocol", "TCP")))

const definitionNames: Step = (names) => {
  const name = text(names, "kind")
  return all(preset("singular", name.toLowerCase()), preset("listKind", `${name}List`))(names)
}

const definition = below(
  ["spec"],
  all(below(["names"], definitionNames), preset("conversion", { strategy: "None" }))
)

const DEFAULTS: Readonly<Record<string, Step | undefined>> = {
  Deployment: deployment,
  StatefulSet: statefulSet,
  ReplicaSet: replicaSet,
  Service: all(service, balancer),
  Pod: pod,
  Namespace: namespace,
  Node: node,
  PersistentVolumeClaim: (object) =>
    all(
      below(["spec"], preset("volumeMode", "Filesystem")),
      below(["status"], preset("phase", "Pending"))
    )(object),
  CustomResourceDefinition: definition,
  EndpointSlice: endpointSlice,
  Endpoints: each(["subsets"], each(["ports"], preset("protocol", "TCP"))),
  Secret: all(secretData, preset("type", "Opaque"))
}
