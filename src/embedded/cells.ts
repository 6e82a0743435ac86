/**
 * The cells that `kubectl get` shows of the built-in kinds, one row an object, as the API server prints them
 * (kubernetes, pkg/printers/internalversion). The columns themselves stand in columns.json, as recorded.
 */
import type { LabelSelector } from "../core/kube.ts"
import { age } from "./ages.ts"
import type { KubeObject } from "./cluster.ts"
import { controllerOf } from "./kinds.ts"

export type Cell = string | number | boolean | null

/** The cells of an object of a built-in resource; undefined for a resource that has none of its own. */
export const cells = (resource: string, object: KubeObject, at: number): readonly Cell[] | undefined => {
  const print = PRINTERS.get(resource)
  if (print === undefined) return undefined
  return print({ object, name: object.metadata.name, age: age(object.metadata.creationTimestamp, at), at })
}

interface Row {
  readonly object: KubeObject
  readonly name: string
  readonly age: string
  readonly at: number
}

type Print = (row: Row) => readonly Cell[]

const pods: Print = ({ object, name, age, at }) => {
  const states = list(object, "status", "containerStatuses")
  const ready = states.filter((state) => dig(state, "ready") === true && dig(state, "state", "running"))
  return [
    name,
    `${ready.length}/${list(object, "spec", "containers").length}`,
    podStatus(object),
    restarts(states, at),
    age,
    text(list(object, "status", "podIPs")[0], "ip") || "<none>",
    text(object, "spec", "nodeName") || "<none>",
    text(object, "status", "nominatedNodeName") || "<none>",
    gates(object)
  ]
}

/** The phase, unless something says more: a container that waits or ended, or that the pod is going. */
const podStatus = (pod: KubeObject): string => {
  const phase = text(pod, "status", "phase")
  let status = text(pod, "status", "reason") || phase
  const conditions = list(pod, "status", "conditions")
  if (conditions.some((each) => text(each, "reason") === "SchedulingGated")) status = "SchedulingGated"
  const states = list(pod, "status", "containerStatuses")
  for (const state of states.toReversed()) {
    const waiting = text(state, "state", "waiting", "reason")
    const ended = dig(state, "state", "terminated")
    if (waiting !== "") status = waiting
    else if (ended !== undefined) {
      status = text(ended, "reason") || `ExitCode:${number(ended, "exitCode")}`
    }
  }
  if (status === "Completed" && states.some((state) => dig(state, "state", "running"))) {
    status = conditions.some((each) => text(each, "type") === "Ready" && text(each, "status") === "True")
      ? "Running"
      : "NotReady"
  }
  const isOver = phase === "Succeeded" || phase === "Failed"
  return pod.metadata.deletionTimestamp && !isOver ? "Terminating" : status
}

const restarts = (states: readonly unknown[], at: number): string => {
  const count = states.reduce<number>((sum, state) => sum + number(state, "restartCount"), 0)
  const ends = states
    .map((state) => text(state, "lastState", "terminated", "finishedAt"))
    .filter((end) => end !== "")
  const last = ends.toSorted().at(-1)
  return count > 0 && last !== undefined ? `${count} (${age(last, at)} ago)` : String(count)
}

const gates = (pod: KubeObject): string => {
  const wanted = list(pod, "spec", "readinessGates").map((gate) => text(gate, "conditionType"))
  if (wanted.length === 0) return "<none>"
  const good = list(pod, "status", "conditions").filter((each) => text(each, "status") === "True")
  return `${wanted.filter((type) => good.some((each) => text(each, "type") === type)).length}/${wanted.length}`
}

const deployments: Print = ({ object, name, age }) => [
  name,
  `${number(object, "status", "readyReplicas")}/${number(object, "spec", "replicas")}`,
  number(object, "status", "updatedReplicas"),
  number(object, "status", "availableReplicas"),
  age,
  ...containers(object),
  selector(object)
]

const replicasets: Print = ({ object, name, age }) => [
  name,
  number(object, "spec", "replicas"),
  number(object, "status", "replicas"),
  number(object, "status", "readyReplicas"),
  age,
  ...containers(object),
  selector(object)
]

const statefulsets: Print = ({ object, name, age }) => [
  name,
  `${number(object, "status", "readyReplicas")}/${number(object, "spec", "replicas")}`,
  age,
  ...containers(object)
]

const revisions: Print = ({ object, name, age }) => {
  const owner = controllerOf(object)
  const group = owner?.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0]}` : ""
  const controller = owner ? `${owner.kind.toLowerCase()}${group}/${owner.name}` : "<none>"
  return [name, controller, number(object, "revision"), age]
}

const services: Print = ({ object, name, age }) => [
  name,
  text(object, "spec", "type"),
  words(object, "spec", "clusterIPs")[0] ?? "<none>",
  externalAddress(object),
  servicePorts(object) || "<none>",
  age,
  labels(dig(object, "spec", "selector"))
]

const externalAddress = (service: KubeObject): string => {
  const type = text(service, "spec", "type")
  const external = words(service, "spec", "externalIPs")
  if (type === "ExternalName") return text(service, "spec", "externalName")
  if (type === "ClusterIP" || type === "NodePort") return external.join(",") || "<none>"
  if (type !== "LoadBalancer") return "<unknown>"
  const balancers = list(service, "status", "loadBalancer", "ingress").map(
    (each) => text(each, "ip") || text(each, "hostname")
  )
  const named = [...new Set(balancers.filter((each) => each !== ""))].toSorted()
  return [...named, ...external].join(",") || "<pending>"
}

const servicePorts = (service: KubeObject): string =>
  list(service, "spec", "ports")
    .map((port) => {
      const outer = number(port, "nodePort")
      return `${number(port, "port")}${outer > 0 ? `:${outer}` : ""}/${text(port, "protocol") || "TCP"}`
    })
    .join(",")

const endpoints: Print = ({ object, name, age }) => {
  const subsets = list(object, "subsets")
  if (subsets.length === 0) return [name, "<none>", age]
  const all = subsets.flatMap((subset) => {
    const addresses = list(subset, "addresses").map((each) => text(each, "ip"))
    const ports = list(subset, "ports").map((port) => number(port, "port"))
    if (ports.length === 0) return addresses
    return ports.flatMap((port) =>
      addresses.map((ip) => (ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`))
    )
  })
  return [name, firstOf(all) || "<none>", age]
}

const endpointslices: Print = ({ object, name, age }) => {
  const ports = list(object, "ports").map((port) =>
    dig(port, "port") === undefined ? text(port, "name") || "*" : String(number(port, "port"))
  )
  const addresses = list(object, "endpoints").flatMap((each) => words(each, "addresses"))
  return [
    name,
    text(object, "addressType"),
    firstOf(ports) || "<unset>",
    firstOf(addresses) || "<unset>",
    age
  ]
}

const nodes: Print = ({ object, name, age }) => {
  const ready = list(object, "status", "conditions").find((each) => text(each, "type") === "Ready")
  const status = ready === undefined ? "Unknown" : text(ready, "status") === "True" ? "Ready" : "NotReady"
  const architecture = text(object, "status", "nodeInfo", "architecture")
  const kernel = text(object, "status", "nodeInfo", "kernelVersion") || "<unknown>"
  return [
    name,
    dig(object, "spec", "unschedulable") === true ? `${status},SchedulingDisabled` : status,
    roles(object) || "<none>",
    age,
    text(object, "status", "nodeInfo", "kubeletVersion"),
    address(object, "InternalIP"),
    address(object, "ExternalIP"),
    text(object, "status", "nodeInfo", "osImage") || "<unknown>",
    architecture === "" ? kernel : `${kernel} (${architecture})`,
    text(object, "status", "nodeInfo", "containerRuntimeVersion") || "<unknown>"
  ]
}

const roles = (node: KubeObject): string => {
  const found = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) =>
    key.startsWith(ROLE) ? [key.slice(ROLE.length)] : key === "kubernetes.io/role" ? [value] : []
  )
  return [...new Set(found.filter((role) => role !== ""))].toSorted().join(",")
}

const address = (node: KubeObject, type: string): string =>
  text(
    list(node, "status", "addresses").find((each) => text(each, "type") === type),
    "address"
  ) || "<none>"

const events: Print = ({ object, name, at }) => {
  const since = (time: string): string => age(time === "" ? undefined : time, at)
  const subject = dig(object, "involvedObject") ?? dig(object, "regarding")
  const first =
    text(object, "firstTimestamp") || text(object, "deprecatedFirstTimestamp") || text(object, "eventTime")
  const series = text(object, "series", "lastObservedTime")
  const last = series || text(object, "lastTimestamp") || text(object, "deprecatedLastTimestamp") || first
  const kind = text(subject, "kind").toLowerCase()
  const source =
    text(object, "source", "component") ||
    text(object, "deprecatedSource", "component") ||
    text(object, "reportingComponent") ||
    text(object, "reportingController")
  const host =
    text(object, "source", "host") ||
    text(object, "deprecatedSource", "host") ||
    text(object, "reportingInstance")
  const count =
    number(object, "series", "count") || number(object, "count") || number(object, "deprecatedCount") || 1
  return [
    since(last),
    text(object, "type"),
    text(object, "reason"),
    text(subject, "name") === "" ? kind : `${kind}/${text(subject, "name")}`,
    text(subject, "fieldPath"),
    host === "" ? source : `${source}, ${host}`,
    (text(object, "message") || text(object, "note")).trim(),
    since(first),
    count,
    name
  ]
}

const claims: Print = ({ object, name, age }) => {
  const volume = text(object, "spec", "volumeName")
  const short = new Map([
    ["ReadWriteOnce", "RWO"],
    ["ReadOnlyMany", "ROX"],
    ["ReadWriteMany", "RWX"],
    ["ReadWriteOncePod", "RWOP"]
  ])
  const modes = words(object, "status", "accessModes").map((mode) => short.get(mode) ?? mode)
  return [
    name,
    object.metadata.deletionTimestamp ? "Terminating" : text(object, "status", "phase"),
    volume,
    volume === "" ? "" : text(object, "status", "capacity", "storage"),
    volume === "" ? "" : modes.join(","),
    text(object, "spec", "storageClassName"),
    text(object, "spec", "volumeAttributesClassName") || "<unset>",
    age,
    text(object, "spec", "volumeMode") || "<unset>"
  ]
}

const definitions: Print = ({ object, name }) => {
  const established = list(object, "status", "conditions").find(
    (each) => text(each, "type") === "Established"
  )
  const served = list(object, "spec", "versions").filter((each) => dig(each, "served") === true)
  return [
    name,
    text(object, "spec", "scope"),
    served
      .map((each) => `${text(each, "name")}${dig(each, "storage") === true ? "(storage)" : ""}`)
      .toSorted()
      .join(","),
    object.metadata.creationTimestamp ?? null,
    text(object, "spec", "group"),
    text(object, "spec", "names", "kind"),
    words(object, "spec", "names", "shortNames").join(","),
    text(established, "status") === "True"
  ]
}

const PRINTERS: ReadonlyMap<string, Print> = new Map<string, Print>([
  ["/pods", pods],
  ["/services", services],
  ["/nodes", nodes],
  ["/endpoints", endpoints],
  ["/events", events],
  ["events.k8s.io/events", events],
  ["/namespaces", ({ object, name, age }) => [name, text(object, "status", "phase"), age]],
  ["/configmaps", ({ object, name, age }) => [name, size(object, "data") + size(object, "binaryData"), age]],
  ["/secrets", ({ object, name, age }) => [name, text(object, "type"), size(object, "data"), age]],
  ["/serviceaccounts", ({ name, age }) => [name, age]],
  ["/persistentvolumeclaims", claims],
  ["apps/deployments", deployments],
  ["apps/replicasets", replicasets],
  ["apps/statefulsets", statefulsets],
  ["apps/controllerrevisions", revisions],
  ["discovery.k8s.io/endpointslices", endpointslices],
  [
    "coordination.k8s.io/leases",
    ({ object, name, age }) => [name, text(object, "spec", "holderIdentity"), age]
  ],
  [
    "networking.k8s.io/servicecidrs",
    ({ object, name, age }) => [name, words(object, "spec", "cidrs").join(","), age]
  ],
  ["apiextensions.k8s.io/customresourcedefinitions", definitions]
])

const containers = (object: KubeObject): readonly string[] => {
  const all = list(object, "spec", "template", "spec", "containers")
  return [all.map((each) => text(each, "name")).join(","), all.map((each) => text(each, "image")).join(",")]
}

/** A selector as labels.Selector prints it. */
const selector = (object: KubeObject): string => {
  const { matchLabels, matchExpressions } = (dig(object, "spec", "selector") ?? {}) as LabelSelector
  const exact = Object.entries(matchLabels ?? {}).map(([key, value]) => [key, `${key}=${value}`] as const)
  const others = (matchExpressions ?? []).map(({ key, operator, values }) => {
    const set = `(${(values ?? []).toSorted().join(",")})`
    const texts = new Map([
      ["In", `${key} in ${set}`],
      ["NotIn", `${key} notin ${set}`],
      ["Exists", key],
      ["DoesNotExist", `!${key}`]
    ])
    return [key, texts.get(operator) ?? ""] as const
  })
  const all = [...exact, ...others].toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
  return all.map(([, each]) => each).join(",")
}

const labels = (map: unknown): string => {
  const all = Object.entries((map ?? {}) as Readonly<Record<string, string>>)
  return all.length === 0
    ? "<none>"
    : all
        .map(([key, value]) => `${key}=${value}`)
        .toSorted()
        .join(",")
}

/** The first three, and how many more there are. */
const firstOf = (all: readonly string[]): string =>
  all.length > 3 ? `${all.slice(0, 3).join(",")} + ${all.length - 3} more...` : all.join(",")

/** What stands at a path of fields; undefined where any of them is absent. */
const dig = (value: unknown, ...path: readonly string[]): unknown => {
  let found = value
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined
    found = found[name as keyof typeof found]
  }
  return found ?? undefined
}

const text = (value: unknown, ...path: readonly string[]): string => {
  const found = dig(value, ...path)
  return typeof found === "string" ? found : ""
}

const number = (value: unknown, ...path: readonly string[]): number => {
  const found = dig(value, ...path)
  return typeof found === "number" ? found : 0
}

const list = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = dig(value, ...path)
  return Array.isArray(found) ? found : []
}

const words = (value: unknown, ...path: readonly string[]): readonly string[] =>
  list(value, ...path).filter((each) => typeof each === "string")

const size = (value: unknown, name: string): number =>
  Object.keys((dig(value, name) as object | undefined) ?? {}).length

const ROLE = "node-role.kubernetes.io/"
