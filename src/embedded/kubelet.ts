/**
 * What kubelets do as far as others see it: a node becomes ready, a pod that is bound to it runs and is ready, one
 * that is deleted goes, and so do the pods of a node that is no more.
 *
 * Nothing is executed. An image of a registry under `.invalid` (RFC 2606: no such host can exist) is never pulled,
 * so that a rollout can be seen to fail.
 */
import type { Change, KubeObject, Request } from "./cluster.ts"
import { nothing, type Act, type Concern, type Controller } from "./controller.ts"
import {
  conditionOf,
  isActive,
  timestamp,
  type ClusterNode,
  type Condition,
  type Container,
  type Pod,
  type Taint
} from "./kinds.ts"
import { at as objectAt, keyOfObject, loadOf, nodesLabelled, podsOn, taken, type Lookup } from "./lookup.ts"
import { hash } from "./hash.ts"
import { patch, remove, replace } from "./requests.ts"
import { untolerated } from "./scheduler.ts"

/** Kubelets whose pods take so long to become ready, in milliseconds. */
export const kubelet = (startDelay: number): Controller => ({
  name: "kubelet",
  concerns: (look, change) => concerns(look, change, startDelay),
  act: (look, key, at) => {
    const [what, rest = ""] = key.split(" ")
    if (what === "node") return actOnNode(look, rest, at)
    if (what === "claim") return actOnClaim(look, rest, at)
    const pod = objectAt(look, "/pods", rest) as Pod | undefined
    return pod === undefined ? nothing : actOnPod(look, pod, what === "start", startDelay, at)
  }
})

const concerns = (look: Lookup, change: Change, startDelay: number): readonly Concern[] => {
  const { resource, type, object, before } = change
  if (resource === "/nodes") {
    const pods = podsOn(look, object.metadata.name).map((pod) => ({ key: `pod ${keyOfObject(pod)}` }))
    return [
      { key: `node ${object.metadata.name}` },
      ...(type === "MODIFIED" && sameTaints(change) ? [] : pods)
    ]
  }
  if (type === "DELETED") return []
  if (resource === "/persistentvolumeclaims") return [{ key: `claim ${keyOfObject(object)}` }]
  if (resource !== "/pods" || !(object as Pod).spec.nodeName) return []
  const key = keyOfObject(object)
  if (startDelay <= 0) return [{ key: `start ${key}` }]
  const bound = !(before as Pod | undefined)?.spec.nodeName
  return [{ key: `pod ${key}` }, ...(bound ? [{ key: `start ${key}`, after: startDelay }] : [])]
}

const sameTaints = ({ object, before }: Change): boolean =>
  (object as ClusterNode).spec?.taints === (before as ClusterNode | undefined)?.spec?.taints

const actOnPod = (look: Lookup, pod: Pod, starting: boolean, startDelay: number, at: number): Act => {
  const nodeName = pod.spec.nodeName
  if (!nodeName) return nothing
  const node = objectAt(look, "/nodes", nodeName) as ClusterNode | undefined
  if (pod.metadata.deletionTimestamp || node === undefined) {
    return {
      requests: [
        remove(node ? "kubelet" : "kube-controller-manager", "/pods", pod, at, { gracePeriodSeconds: 0 })
      ]
    }
  }
  if (untolerated(node, pod.spec.tolerations ?? [], ["NoExecute"]) !== undefined) {
    return { requests: [remove("kube-controller-manager", "/pods", pod, at)] }
  }
  if (!isActive(pod) || pod.status?.phase === "Running") return nothing
  if (!starting)
    return pod.status?.["startTime"] ? nothing : { requests: [reported(pod, node, undefined, at)] }
  const stuck = (pod.spec.containers ?? []).some(isUnpullable)
  if (stuck && pod.status?.["startTime"]) return nothing
  const ip = stuck ? undefined : pod.spec.hostNetwork ? addressOf(node) : freeAddress(look, pod, node)
  return startDelay > 0 && !pod.status?.["startTime"] && stuck
    ? nothing
    : { requests: [reported(pod, node, ip, at)] }
}

/** A pod's status on its node: running and ready with its address, or still pulling images without one. */
const reported = (pod: Pod, node: ClusterNode, ip: string | undefined, at: number): Request => {
  const ready = ip !== undefined
  const now = timestamp(at)
  const state = (container: Container): object =>
    ready
      ? { running: { startedAt: now } }
      : {
          waiting: isUnpullable(container)
            ? { reason: "ErrImagePull", message: `failed to pull image "${container.image}": no such host` }
            : { reason: "ContainerCreating" }
        }
  const kept = (pod.status?.conditions ?? []).filter((each) => each.type === "PodScheduled")
  const condition = (type: string, good: boolean): Condition =>
    ({
      ...(good
        ? {}
        : { message: `containers with unready status: [${names(pod)}]`, reason: "ContainersNotReady" }),
      type,
      status: good ? "True" : "False",
      lastProbeTime: null,
      lastTransitionTime: now,
      observedGeneration: pod.metadata.generation ?? 1
    }) as Condition
  const host = addressOf(node)
  const status = {
    ...pod.status,
    phase: ready ? "Running" : "Pending",
    startTime: (pod.status?.["startTime"] as string | undefined) ?? now,
    hostIP: host,
    hostIPs: [{ ip: host }],
    ...(ready ? { podIP: ip, podIPs: [{ ip }] } : {}),
    conditions: [
      condition("PodReadyToStartContainers", ready),
      condition("Initialized", true),
      condition("Ready", ready),
      condition("ContainersReady", ready),
      ...kept
    ],
    containerStatuses: (pod.spec.containers ?? []).map((container) => ({
      name: container.name,
      image: container.image ?? "",
      imageID: ready ? `${container.image ?? ""}@sha256:${digits(container.image ?? "", 64)}` : "",
      ...(ready
        ? { containerID: `containerd://${digits(`${pod.metadata.uid} ${container.name}`, 64)}` }
        : {}),
      ready,
      started: ready,
      restartCount: 0,
      lastState: {},
      state: state(container)
    }))
  }
  return replace("kubelet", "/pods", { ...pod, status } as KubeObject, at, "status")
}

/**
 * A node that nobody reports for gets the status of a healthy kubelet, and every node a range for its pods. The taint
 * that the server puts on new nodes goes when the node is ready, and comes back when it isn't.
 */
const actOnNode = (look: Lookup, name: string, at: number): Act => {
  const node = objectAt(look, "/nodes", name) as ClusterNode | undefined
  if (node === undefined || node.metadata.deletionTimestamp) return nothing
  const ready = conditionOf(node, "Ready")
  const requests = ready === undefined ? [joined(look, node, at)] : []
  const podCIDR = node.spec?.podCIDR ?? freeRange(look)
  const taints = tainted(node.spec?.taints ?? [], ready === undefined || ready.status === "True")
  const timeless = node.metadata.annotations?.[TTL] === undefined
  if (timeless || podCIDR !== node.spec?.podCIDR || taints.length !== (node.spec.taints ?? []).length) {
    const spec = { podCIDR, podCIDRs: [podCIDR], taints: taints.length > 0 ? taints : null }
    const metadata = { annotations: { [TTL]: "0" } }
    requests.push(patch("kube-controller-manager", "/nodes", node, { metadata, spec }, at))
  }
  return { requests }
}

const tainted = (taints: readonly Taint[], ready: boolean): readonly Taint[] => {
  const others = taints.filter((taint) => taint.key !== NOT_READY)
  if (ready) return others
  return others.length < taints.length ? taints : [...taints, { key: NOT_READY, effect: "NoSchedule" }]
}

const joined = (look: Lookup, node: ClusterNode, at: number): Request => {
  const now = timestamp(at)
  const room = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "64Gi" }
  const good = (type: string, status: string, reason: string, message: string): Condition => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now
  })
  const address = `172.30.${Math.floor((nodesLabelled(look, {}).length + 10) / 250)}.${((nodesLabelled(look, {}).length + 10) % 250) + 1}`
  const status = {
    ...node.status,
    capacity: { ...room, ...(node.status?.["capacity"] as object | undefined) },
    allocatable: { ...room, ...(node.status?.["allocatable"] as object | undefined) },
    conditions: [
      ...(node.status?.conditions ?? []),
      good(
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available"
      ),
      good("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
      good("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
      good("Ready", "True", "KubeletReady", "kubelet is posting ready status")
    ],
    addresses: node.status?.addresses ?? [
      { type: "InternalIP", address },
      { type: "Hostname", address: node.metadata.name }
    ],
    nodeInfo: { ...NODE_INFO, ...given(node.status?.["nodeInfo"]) }
  }
  return replace("kubelet", "/nodes", { ...node, status } as KubeObject, at, "status")
}

/** What somebody has said of a node: empty texts say nothing. */
const given = (info: unknown): object =>
  Object.fromEntries(Object.entries((info ?? {}) as object).filter(([, value]) => value !== ""))

/** A claim is bound at once, to a volume that nobody sees. */
const actOnClaim = (look: Lookup, key: string, at: number): Act => {
  const claim = objectAt(look, "/persistentvolumeclaims", key) as Claim | undefined
  if (claim === undefined || claim.metadata.deletionTimestamp || claim.status?.phase === "Bound")
    return nothing
  const status = {
    phase: "Bound",
    accessModes: claim.spec?.accessModes ?? ["ReadWriteOnce"],
    capacity: claim.spec?.resources?.requests ?? {}
  }
  const bound = { ...claim, status } as KubeObject
  const volume = { spec: { volumeName: claim.spec?.volumeName ?? `pvc-${claim.metadata.uid}` } }
  return {
    requests: [
      replace("kube-controller-manager", "/persistentvolumeclaims", bound, at, "status"),
      patch("kube-controller-manager", "/persistentvolumeclaims", claim, volume, at)
    ]
  }
}

/** An address of the node's range that no pod has; where to begin depends on the pod, so that it seldom collides. */
const freeAddress = (look: Lookup, pod: Pod, node: ClusterNode): string => {
  const range = (node.spec?.podCIDR ?? "10.244.255.0/24").split(".").slice(0, 3).join(".")
  const begin = loadOf(look, node.metadata.name)
  for (let step = 0; step < 252; step++) {
    const address = `${range}.${((begin + step) % 252) + 2}`
    if (!taken(look, address)) return address
  }
  return `${range}.${(pod.metadata.name.length % 252) + 2}`
}

const freeRange = (look: Lookup): string => {
  const begin = nodesLabelled(look, {}).length
  for (let step = 0; step < 65_536; step++) {
    const place = begin + step
    const range = `10.${(244 + Math.floor(place / 256)) % 256}.${place % 256}.0/24`
    if (!taken(look, range)) return range
  }
  return "10.244.255.0/24"
}

const addressOf = (node: ClusterNode): string =>
  node.status?.addresses?.find((each) => each.type === "InternalIP")?.address ?? "172.30.0.1"

const names = (pod: Pod): string => (pod.spec.containers ?? []).map((each) => each.name).join(" ")

const isUnpullable = ({ image }: Container): boolean => /^[^/]*\.invalid(?::\d+)?\//.test(image ?? "")

const digits = (text: string, length: number): string => {
  let all = ""
  while (all.length < length) all += hashDigits(`${text} ${all.length}`)
  return all.slice(0, length)
}

const hashDigits = (text: string): string =>
  Array.from(hash(text), (letter) => (letter.charCodeAt(0) % 16).toString(16)).join("")

interface Claim extends KubeObject {
  readonly spec?: {
    readonly accessModes?: readonly string[]
    readonly volumeName?: string
    readonly resources?: { readonly requests?: object }
  }
  readonly status?: { readonly phase?: string }
}

/** How many seconds kubelets may keep what they have read: as the controller manager sets it in a cluster of up to 100 nodes. */
const TTL = "node.alpha.kubernetes.io/ttl"

const NOT_READY = "node.kubernetes.io/not-ready"

const NODE_INFO = {
  architecture: "amd64",
  bootID: "",
  containerRuntimeVersion: "embedded://1.0",
  kernelVersion: "6.12.0",
  kubeProxyVersion: "",
  kubeletVersion: "v1.37.2",
  machineID: "",
  operatingSystem: "linux",
  osImage: "ServiceGroup embedded cluster",
  systemUUID: ""
}
