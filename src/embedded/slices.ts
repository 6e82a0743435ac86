/**
 * Service -> EndpointSlices: where the pods that its selector matches can be reached.
 *
 * Endpoints stay in the slice they are in; new ones fill the slices that have room, at most 100 each. A service
 * without any pod keeps one empty slice, as the real controller does.
 */
import type { StringMap } from "../core/kube.ts"
import type { Change, Request } from "./cluster.ts"
import { nothing, type Act, type Concern, type Controller } from "./controller.ts"
import { byHash } from "./fnv.ts"
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
import { create, remove, replace } from "./requests.ts"
import {
  addressesOf,
  concernedBy,
  hostnameOf,
  isOver,
  portsOf,
  selectorOf,
  servicesOf,
  triggerOf,
  withTrigger,
  type Shown
} from "./selected.ts"

export const slices: Controller = {
  name: "slices",
  concerns: (look, change) => concerns(look, change),
  act: (look, key, at) => {
    const service = objectAt(look, "/services", key) as Service | undefined
    return service === undefined || service.metadata.deletionTimestamp ? nothing : act(look, service, at)
  }
}

const concerns = (look: Lookup, change: Change): readonly Concern[] => {
  const { resource, object, before } = change
  if (resource === "/services") return [{ key: keyOfObject(object) }]
  if (resource === "discovery.k8s.io/endpointslices") {
    const name = valueOf(object.metadata.labels, SERVICE_NAME)
    return name === undefined ? [] : [{ key: `${object.metadata.namespace}/${name}` }]
  }
  if (resource === "/pods") return concernedBy(look, change)
  if (
    resource !== "/nodes" ||
    (before && valueOf(before.metadata.labels, ZONE) === valueOf(object.metadata.labels, ZONE))
  ) {
    return []
  }
  return servicesOf(look, podsOn(look, object.metadata.name))
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
  const now = pods.filter(isShown).map((pod): Shown => [pod, isReady(pod)])
  const trigger = triggerOf(service, now, existing.length > 0 ? shown(existing) : undefined)
  const requests = families.flatMap((family) => {
    const ofFamily = existing.filter((slice) => slice.addressType === family)
    const fitting = fits(groupsOf(look, service, pods, family), ofFamily)
    return written(service, fitting, { family, trigger, at })
  })
  return { requests: [...requests, ...foreign.map((slice) => remove(AGENT, SLICES, slice, at))] }
}

const isShown = (pod: Pod): boolean => !isOver(pod) && (pod.status?.podIPs ?? []).length > 0

/** Which pods are shown, and whether as serving. */
const shown = (all: readonly EndpointSlice[]): ReadonlyMap<string, boolean> =>
  new Map(
    all
      .flatMap(({ endpoints }) => endpoints ?? [])
      .map(({ targetRef, conditions }) => [String(targetRef?.["uid"]), conditions?.serving === true])
  )

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
    const ports = byHash(portsOf(service, pod), portText)
    const key = JSON.stringify(ports)
    const group = groups.get(key) ?? { ports, endpoints: [] }
    group.endpoints.push(endpoint)
    groups.set(key, group)
  }
  return groups.size > 0 ? [...groups.values()] : [{ ports: [], endpoints: [] }]
}

const endpointOf = (look: Lookup, service: Service, pod: Pod, family: string): Endpoint | undefined => {
  const addresses = addressesOf(pod, family)
  if (addresses.length === 0 || isOver(pod)) return undefined
  const serving = isReady(pod)
  const terminating = Boolean(pod.metadata.deletionTimestamp)
  const nodeName = pod.spec.nodeName || undefined
  const node =
    nodeName === undefined ? undefined : (objectAt(look, "/nodes", nodeName) as ClusterNode | undefined)
  const zone = valueOf(node?.metadata.labels, ZONE) || undefined
  const published = service.spec?.["publishNotReadyAddresses"] === true
  const hostname = hostnameOf(pod, service)
  return {
    addresses,
    conditions: { ready: published || (serving && !terminating), serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
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

/** What Go's spew writes of a port, by a hash of which ports are ordered. */
const portText = ({ name, protocol, port, appProtocol }: EndpointPort): string =>
  `(v1.EndpointPort){Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} Port:(*int32)${port} AppProtocol:(*string)${appProtocol ?? "<nil>"}}`

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

/** What is the same in all slices of a family that are written at once. */
interface How {
  readonly family: string
  readonly trigger: string | undefined
  readonly at: number
}

/** The writes: a slice that isn't needed becomes one that is new, before any is made or deleted. */
const written = (service: Service, { kept, fresh, spare }: Fit, how: How): readonly Request[] => {
  const { at } = how
  const labels = labelsOf(service)
  const reused = fresh.slice(0, spare.length).flatMap((group, place) => {
    const slice = spare[place]
    return slice === undefined ? [] : [{ ...group, slice }]
  })
  const stale = kept.filter(
    ({ slice, endpoints }) => !same(slice.endpoints ?? [], endpoints) || !same(slice.metadata.labels, labels)
  )
  return [
    ...[...stale, ...reused].map((each) =>
      replace(AGENT, SLICES, changed(each.slice, each, labels, how), at)
    ),
    ...spare.slice(reused.length).map((slice) => remove(AGENT, SLICES, slice, at)),
    ...fresh
      .slice(reused.length)
      .map((group) => create(AGENT, SLICES, service.metadata.namespace, sliceOf(service, group, how), at))
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
  { trigger }: How
): EndpointSlice => {
  const annotations = withTrigger(slice.metadata.annotations, trigger)
  const metadata = { ...slice.metadata, labels, ...(annotations && { annotations }) }
  return { ...slice, metadata, endpoints, ports }
}

const sliceOf = (service: Service, { ports, endpoints }: Group, { family, trigger }: How): object => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: {
    generateName: `${service.metadata.name}-`,
    namespace: service.metadata.namespace,
    labels: labelsOf(service),
    annotations: withTrigger({}, trigger),
    ownerReferences: [controlledBy(service, "v1", "Service")]
  },
  addressType: family,
  endpoints,
  ports
})

/** The labels of the Service, and what only the controller says. */
const labelsOf = (service: Service): StringMap => {
  const { [HEADLESS]: _, ...labels } = service.metadata.labels ?? {}
  const address = service.spec?.clusterIP ?? ""
  return {
    ...labels,
    "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    [SERVICE_NAME]: service.metadata.name,
    ...(address === "" || address === "None" ? { [HEADLESS]: "" } : {})
  }
}

const AGENT = "kube-controller-manager"
const SLICES = "discovery.k8s.io/endpointslices"
const HEADLESS = "service.kubernetes.io/headless"
const ZONE = "topology.kubernetes.io/zone"
const CAPACITY = 100
