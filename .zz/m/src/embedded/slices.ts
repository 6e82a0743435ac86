/**
 * Service -> EndpointSlices: where the pods that its selector matches can be reached.
 *
 * Endpoints stay in the slice they are in; new ones fill the slices that have room, at most 100 each. A service
 * without any pod keeps one empty slice, as the real controller does.
 */
import type { StringMap } from "../core/kube.ts"
import type { Change, Request } from "./cluster.ts"
import { nothing, type Act, type Concern, type Controller } from "./controller.ts"
import { same } from "./hash.ts"
import {
  controlledBy,
  controllerOf,
  isReady,
  valueOf,
  type ClusterNode,
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  type Pod,
  type Service
} from "./kinds.ts"
import {
  SERVICE_NAME,
  at as objectAt,
  keyOfObject,
  podsLabelled,
  podsOn,
  slicesOf,
  type Lookup
} from "./lookup.ts"
import { list } from "./model.ts"
import { create, remove, replace } from "./requests.ts"

export const slices: Controller = {
  name: "slices",
  concerns: (look, change) => concerns(look, change),
  act: (look, key, at) => {
    const service = objectAt(look, "/services", key) as Service | undefined
    return service === undefined || service.metadata.deletionTimestamp ? nothing : act(look, service, at)
  }
}

const concerns = (look: Lookup, change: Change): readonly Concern[] => {
  const { resource, type, object, before } = change
  if (resource === "/services") return [{ key: keyOfObject(object) }]
  if (resource === "discovery.k8s.io/endpointslices") {
    const name = valueOf(object.metadata.labels, SERVICE_NAME)
    return name === undefined ? [] : [{ key: `${object.metadata.namespace}/${name}` }]
  }
  if (resource === "/pods") {
    const old = before as Pod | undefined
    const now = type === "DELETED" ? undefined : (object as Pod)
    return old && now && same(trace(old), trace(now)) ? [] : servicesOf(look, [old, now])
  }
  if (
    resource !== "/nodes" ||
    (before && valueOf(before.metadata.labels, ZONE) === valueOf(object.metadata.labels, ZONE))
  ) {
    return []
  }
  return servicesOf(look, podsOn(look, object.metadata.name))
}

/** All of a pod that an endpoint shows or depends on. */
const trace = (pod: Pod): unknown => [
  pod.metadata.labels,
  pod.metadata.deletionTimestamp,
  pod.spec.nodeName,
  pod.status?.podIP,
  pod.status?.phase,
  isReady(pod)
]

const servicesOf = (look: Lookup, pods: readonly (Pod | undefined)[]): readonly Concern[] => {
  const keys = new Set<string>()
  for (const pod of pods) {
    if (pod === undefined) continue
    for (const service of list(
      look.cluster,
      "/services",
      pod.metadata.namespace ?? ""
    ) as readonly Service[]) {
      const selector = selectorOf(service)
      if (selector !== undefined && isLabelled(pod, selector)) keys.add(keyOfObject(service))
    }
  }
  return [...keys].map((key) => ({ key }))
}

const act = (look: Lookup, service: Service, at: number): Act => {
  const selector = selectorOf(service)
  if (selector === undefined) return nothing
  const families = (service.spec?.["ipFamilies"] as readonly string[] | null | undefined) ?? ["IPv4"]
  const pods = podsLabelled(look, service.metadata.namespace ?? "", selector)
  const existing = slicesOf(look, service.metadata.namespace ?? "", service.metadata.name).filter(
    (slice) => controllerOf(slice)?.uid === service.metadata.uid && !slice.metadata.deletionTimestamp
  )
  const foreign = existing.filter((slice) => !families.includes(slice.addressType))
  const requests = families.flatMap((family) => {
    const ofFamily = existing.filter((slice) => slice.addressType === family)
    return written(service, fits(groupsOf(look, service, pods, family), ofFamily), family, at)
  })
  return { requests: [...requests, ...foreign.map((slice) => remove(AGENT, SLICES, slice, at))] }
}

interface Group {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

/** Endpoints by the ports at which they listen: pods may give one name of a port different numbers. */
const groupsOf = (look: Lookup, service: Service, pods: readonly Pod[], family: string): readonly Group[] => {
  const groups = new Map<
    string,
    { readonly ports: readonly EndpointPort[]; readonly endpoints: Endpoint[] }
  >()
  for (const pod of pods) {
    const endpoint = endpointOf(look, service, pod, family)
    if (endpoint === undefined) continue
    const ports = portsOf(service, pod)
    const key = JSON.stringify(ports)
    const group = groups.get(key) ?? { ports, endpoints: [] }
    group.endpoints.push(endpoint)
    groups.set(key, group)
  }
  return groups.size > 0 ? [...groups.values()] : [{ ports: [], endpoints: [] }]
}

const endpointOf = (look: Lookup, service: Service, pod: Pod, family: string): Endpoint | undefined => {
  const addresses = (pod.status?.podIPs ?? [])
    .map(({ ip }) => ip)
    .filter((ip) => ip.includes(":") === (family === "IPv6"))
  if (addresses.length === 0 || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed")
    return undefined
  const serving = isReady(pod)
  const terminating = Boolean(pod.metadata.deletionTimestamp)
  const nodeName = pod.spec.nodeName ?? undefined
  const node =
    nodeName === undefined ? undefined : (objectAt(look, "/nodes", nodeName) as ClusterNode | undefined)
  const zone = valueOf(node?.metadata.labels, ZONE)
  const published = service.spec?.["publishNotReadyAddresses"] === true
  const named = pod.spec.hostname && pod.spec.subdomain === service.metadata.name
  return {
    addresses: addresses.slice(0, 1),
    conditions: { ready: published || (serving && !terminating), serving, terminating },
    ...(named && pod.spec.hostname ? { hostname: pod.spec.hostname } : {}),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: {
      kind: "Pod",
      namespace: pod.metadata.namespace ?? "",
      name: pod.metadata.name,
      uid: pod.metadata.uid ?? ""
    },
    ...(zone === undefined ? {} : { zone })
  }
}

const portsOf = (service: Service, pod: Pod): readonly EndpointPort[] =>
  (service.spec?.ports ?? []).flatMap((each) => {
    const { name, port, targetPort, protocol = "TCP", appProtocol } = each as unknown as ServicePort
    const number = numberOf(pod, targetPort ?? port, protocol)
    return number === undefined
      ? []
      : [{ name: name ?? "", port: number, protocol, ...(appProtocol ? { appProtocol } : {}) }]
  })

/** A port's number: as it stands, or that of the container port of this name. */
const numberOf = (pod: Pod, target: number | string, protocol: string): number | undefined => {
  if (typeof target === "number") return target
  if (/^\d+$/.test(target)) return Number(target)
  for (const container of pod.spec.containers ?? []) {
    const port = container.ports?.find(
      (each) => each.name === target && (each.protocol ?? "TCP") === protocol
    )
    if (port !== undefined) return port.containerPort
  }
  return undefined
}

/** What slices shall hold: those that stay, with their endpoints; those that are new; those that aren't needed. */
interface Fit {
  readonly kept: readonly (Group & { readonly slice: EndpointSlice })[]
  readonly fresh: readonly Group[]
  readonly spare: readonly EndpointSlice[]
}

const fits = (groups: readonly Group[], existing: readonly EndpointSlice[]): Fit => {
  const all = groups.map((group) =>
    fit(
      group,
      existing.filter((slice) => same(slice.ports ?? [], group.ports))
    )
  )
  return {
    kept: all.flatMap(({ kept }) => kept),
    fresh: all.flatMap(({ fresh }) => fresh),
    spare: [
      ...all.flatMap(({ spare }) => spare),
      ...existing.filter((slice) => !groups.some(({ ports }) => same(slice.ports ?? [], ports)))
    ]
  }
}

/** The endpoints of one group of ports in as few changed slices as may be. */
const fit = ({ ports, endpoints }: Group, existing: readonly EndpointSlice[]): Fit => {
  const left = new Map(endpoints.map((each) => [identity(each), each]))
  const kept = existing.map((slice) => ({ slice, ports, endpoints: taking(slice, left) }))
  const fresh: { readonly ports: readonly EndpointPort[]; readonly endpoints: Endpoint[] }[] = []
  for (const endpoint of left.values()) {
    const room = [...kept, ...fresh].find((each) => each.endpoints.length < CAPACITY)
    if (room === undefined) fresh.push({ ports, endpoints: [endpoint] })
    else room.endpoints.push(endpoint)
  }
  if (endpoints.length === 0 && existing.length === 0) fresh.push({ ports, endpoints: [] })
  // Without any endpoint one slice stays, to say so.
  const [first] = kept
  const needed = endpoints.length === 0 && first ? [first] : kept.filter((each) => each.endpoints.length > 0)
  return {
    kept: needed,
    fresh,
    spare: kept.filter((each) => !needed.includes(each)).map(({ slice }) => slice)
  }
}

/** The writes: a slice that isn't needed becomes one that is new, before any is made or deleted. */
const written = (
  service: Service,
  { kept, fresh, spare }: Fit,
  family: string,
  at: number
): readonly Request[] => {
  const labels = labelsOf(service)
  const reused = fresh.slice(0, spare.length).flatMap((group, place) => {
    const slice = spare[place]
    return slice === undefined ? [] : [{ ...group, slice }]
  })
  const stale = kept.filter(
    ({ slice, endpoints }) => !same(slice.endpoints ?? [], endpoints) || !same(slice.metadata.labels, labels)
  )
  return [
    ...[...stale, ...reused].map((each) => replace(AGENT, SLICES, changed(each.slice, each, labels, at), at)),
    ...spare.slice(reused.length).map((slice) => remove(AGENT, SLICES, slice, at)),
    ...fresh
      .slice(reused.length)
      .map((group) =>
        create(AGENT, SLICES, service.metadata.namespace, sliceOf(service, family, group, at), at)
      )
  ]
}

/** The wanted endpoints that are in this slice already, in its order, taken out of those that are left. */
const taking = (slice: EndpointSlice, left: Map<string, Endpoint>): Endpoint[] => {
  const kept: Endpoint[] = []
  for (const each of slice.endpoints ?? []) {
    const wanted = left.get(identity(each))
    if (wanted === undefined) continue
    left.delete(identity(each))
    kept.push(wanted)
  }
  return kept
}

const identity = ({ targetRef, addresses }: Endpoint): string =>
  String(targetRef?.["uid"] ?? addresses.join(","))

const changed = (
  slice: EndpointSlice,
  { ports, endpoints }: Group,
  labels: StringMap,
  at: number
): EndpointSlice => {
  const annotations = { ...slice.metadata.annotations, ...trigger(at) }
  return { ...slice, metadata: { ...slice.metadata, labels, annotations }, endpoints, ports }
}

const sliceOf = (service: Service, family: string, { ports, endpoints }: Group, at: number): object => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: {
    generateName: `${service.metadata.name}-`,
    namespace: service.metadata.namespace,
    labels: labelsOf(service),
    annotations: trigger(at),
    ownerReferences: [controlledBy(service, "v1", "Service")]
  },
  addressType: family,
  endpoints,
  ports
})

const labelsOf = (service: Service): StringMap => ({
  ...service.metadata.labels,
  "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
  [SERVICE_NAME]: service.metadata.name,
  ...(service.spec?.clusterIP === "None" ? { "service.kubernetes.io/headless": "" } : {})
})

const trigger = (at: number): StringMap => ({
  "endpoints.kubernetes.io/last-change-trigger-time": new Date(at).toISOString().replace(/\.\d+Z$/, "Z")
})

/** Services without a selector, or that only name another host, have no pods of their own. */
const selectorOf = (service: Service): StringMap | undefined => {
  const selector = service.spec?.["selector"] as StringMap | null | undefined
  if (!selector || Object.keys(selector).length === 0 || service.spec?.type === "ExternalName")
    return undefined
  return selector
}

const isLabelled = (pod: Pod, selector: StringMap): boolean =>
  Object.entries(selector).every(([key, value]) => valueOf(pod.metadata.labels, key) === value)

interface ServicePort {
  readonly name?: string
  readonly port: number
  readonly targetPort?: number | string
  readonly protocol?: string
  readonly appProtocol?: string
}

const AGENT = "kube-controller-manager"
const SLICES = "discovery.k8s.io/endpointslices"
const ZONE = "topology.kubernetes.io/zone"
const CAPACITY = 100
