/**
 * (StatefulSetGrids, their sets, Services, slices, node) -> the DNS names that this node's pods may use, with their addresses.
 *
 * In every unit `<grid>-<ordinal>.<service>` is the unit's own pod of that ordinal, beside `<set>-<ordinal>.<service>`, its own name. Rule of
 * Kubernetes: a pod of a set has a name in DNS where the set's `serviceName` is a headless Service that publishes it.
 */
import type { EndpointSlice } from "./endpoints.ts"
import type { StatefulSetGrid } from "./grid.ts"
import type { Node, Service, StatefulSet } from "./kube.ts"
import {
  type Alias,
  aliasOf,
  isOwn,
  namedSet,
  nameIn,
  namespaceIn,
  namespaceOf,
  namingGrid,
  ordinalOf,
  type OwnSet,
  ownSet,
  isAddressed,
  textOf
} from "./own-sets.ts"
import { byText, text } from "./site.ts"
import { SERVICE_NAME } from "./topology.ts"
import { grouped, own } from "./value.ts"

export interface NamesInput {
  readonly grids: readonly StatefulSetGrid[]
  readonly sets: readonly StatefulSet[]
  readonly services: readonly Service[]
  readonly slices: readonly EndpointSlice[]
  /** whose pods ask */
  readonly node: Node
  /** such as `cluster.local` */
  readonly clusterDomain: string
}

/** A name with all its addresses, IPv4 and IPv6, sorted. */
export interface Name {
  readonly name: string
  readonly addresses: readonly string[]
}

/** All names of the node's units, short and full, sorted; those without a published address are left out. */
export const names = (o: NamesInput): readonly Name[] => {
  const found = new Map<string, Set<string>>()
  for (const { host, set, endpoint, verdict } of podNames(o)) {
    if (verdict._tag !== "Given") continue
    const whole = wholeName({ host, service: set.service }, o.clusterDomain)
    const known = found.get(whole) ?? new Set<string>()
    for (const each of endpoint.addresses) known.add(each)
    if (known.size > 0) found.set(whole, known)
  }
  return [...found]
    .map(([name, addresses]) => ({ name, addresses: [...addresses].sort() }))
    .sort((a, b) => byText(a.name, b.name))
}

/** The name in DNS of a Service, `namespace/name`, or of a host of it. */
export const wholeName = (
  { host, service }: { readonly host: string | undefined; readonly service: string },
  clusterDomain: string
): string => {
  const whole = `${nameIn(service)}.${namespaceIn(service)}.svc.${clusterDomain}`
  return host === undefined ? whole : `${host}.${whole}`
}

/** One of the two names of a pod of the node's units, given or not. */
export interface PodName {
  /** the first label of the name: the pod's own, or the short one */
  readonly host: string
  readonly set: OwnSet
  readonly endpoint: HostEndpoint
  readonly verdict:
    Exclude<Alias, { readonly _tag: "Given" }> | { readonly _tag: "Given" } | { readonly _tag: "NotReady" }
}

/** Both names of each pod of the node's units that a headless Service has an endpoint of, and whether they are given. */
export const podNames = (o: Omit<NamesInput, "clusterDomain">): readonly PodName[] => {
  const headless = new Set(o.services.filter(isHeadless).map(keyOf))
  const published = new Map<string, Published>()
  const slices = byService(o.slices)
  const of = (service: string): Published => {
    const known = published.get(service)
    if (known !== undefined) return known
    const endpoints = (slices.get(service) ?? []).flatMap(hostsOf)
    const made = { endpoints, hosts: new Set(endpoints.map(({ host }) => host)) }
    published.set(service, made)
    return made
  }
  return ownSets(o)
    .filter(({ service }) => headless.has(service))
    .flatMap((set) => of(set.service).endpoints.flatMap((each) => bothNames(set, each, of(set.service))))
}

interface Published {
  readonly endpoints: readonly HostEndpoint[]
  readonly hosts: ReadonlySet<string>
}

const bothNames = (set: OwnSet, endpoint: HostEndpoint, { hosts }: Published): readonly PodName[] => {
  const ordinal = ordinalOf(endpoint.host, set)
  if (ordinal === undefined) return []
  const alias = aliasOf(set, ordinal, (host) => hosts.has(host))
  const given = { _tag: endpoint.ready ? "Given" : "NotReady" } as const
  return [
    { host: endpoint.host, set, endpoint, verdict: given },
    { host: alias.host, set, endpoint, verdict: alias._tag === "Given" ? given : alias }
  ]
}

/** The sets of the node's units. */
export const ownSets = (o: Pick<NamesInput, "grids" | "sets" | "node">): readonly OwnSet[] => {
  const grids = new Map(o.grids.map(namingGrid).map((grid) => [grid.uid, grid]))
  const sets = new Map(o.sets.map(namedSet).map((set) => [set.key, set]))
  const by = { grid: (uid: string) => grids.get(uid), set: (key: string) => sets.get(key) }
  const labels = o.node.metadata.labels ?? undefined
  return [...sets.values()].filter((set) => isOwn(set, labels)).flatMap((set) => ownSet(set, by) ?? [])
}

export const isHeadless = (service: Service): boolean => own(service.spec, "clusterIP") === "None"

/** The headless Services that slices with their label are of: who reads those needs no Services. */
export const headlessServices = (slices: readonly EndpointSlice[]): readonly Service[] => {
  const found = new Map<string, Service>()
  for (const { metadata } of slices) {
    const name = own(metadata.labels, SERVICE_NAME)
    if (typeof name !== "string") continue
    const service = { metadata: { name, namespace: namespaceOf(metadata) }, spec: { clusterIP: "None" } }
    found.set(keyOf(service), service)
  }
  return [...found.values()]
}

export const keyOf = ({ metadata }: Service): string =>
  `${namespaceOf(metadata)}/${text(own(metadata, "name"))}`

/** Slices with addresses by the Service that they are of, `namespace/name`. */
export const byService = (slices: readonly EndpointSlice[]): ReadonlyMap<string, readonly EndpointSlice[]> =>
  grouped(
    slices.filter(({ addressType }) => isAddressed(addressType)),
    ({ metadata }) => {
      const service = text(own(own(metadata, "labels"), SERVICE_NAME))
      return `${namespaceOf(metadata)}/${service}`
    }
  )

/** An endpoint that has a name. */
export interface HostEndpoint {
  readonly host: string
  /** what the Service publishes; it is true of all where that publishes those that are not ready, too */
  readonly ready: boolean
  readonly addresses: readonly string[]
  /** the slice's name */
  readonly slice: string
  /** the pod's name, where the slice says it */
  readonly pod: string | undefined
}

/** The endpoints of a slice that have a name of their own. */
const hostsOf = (slice: EndpointSlice): readonly HostEndpoint[] =>
  endpointsOf(slice).flatMap((each) => (each.host === undefined ? [] : [{ ...each, host: each.host }]))

/** All endpoints of a slice, those without a name, too. */
export const endpointsOf = ({
  metadata,
  endpoints
}: EndpointSlice): readonly (Omit<HostEndpoint, "host"> & { readonly host: string | undefined })[] =>
  listOf(endpoints).map((endpoint) => ({
    host: textOf(own(endpoint, "hostname")),
    ready: (own(own(endpoint, "conditions"), "ready") ?? true) === true,
    addresses: listOf(own(endpoint, "addresses")).filter((each) => typeof each === "string"),
    slice: text(own(metadata, "name")),
    pod: textOf(own(own(endpoint, "targetRef"), "name"))
  }))

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : []
