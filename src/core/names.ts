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
  aliasOf,
  isOwn,
  namedSet,
  namespaceOf,
  namingGrid,
  ordinalOf,
  type OwnSet,
  ownSet
} from "./own-sets.ts"
import { byText, text } from "./site.ts"
import { SERVICE_NAME } from "./topology.ts"
import { own } from "./value.ts"

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
  const add = (host: string, { service }: OwnSet, addresses: readonly string[]): void => {
    const [namespace, name] = service.split("/")
    const whole = `${host}.${name}.${namespace}.svc.${o.clusterDomain}`
    const known = found.get(whole) ?? new Set<string>()
    for (const each of addresses) known.add(each)
    if (known.size > 0) found.set(whole, known)
  }
  const headless = new Set(o.services.filter(isHeadless).map(keyOf))
  const slices = byService(o.slices)
  for (const set of ownSets(o)) {
    if (!headless.has(set.service)) continue
    const endpoints = (slices.get(set.service) ?? []).flatMap(hostsOf)
    const has = (host: string): boolean => endpoints.some((each) => each.host === host)
    for (const { host, ready, addresses } of endpoints) {
      const ordinal = ready ? ordinalOf(host, set) : undefined
      if (ordinal === undefined) continue
      add(host, set, addresses)
      const alias = aliasOf(set, ordinal, has)
      if (alias._tag === "Given") add(alias.host, set, addresses)
    }
  }
  return [...found]
    .map(([name, addresses]) => ({ name, addresses: [...addresses].sort() }))
    .sort((a, b) => byText(a.name, b.name))
}

/** The sets of the node's units. */
export const ownSets = (o: Pick<NamesInput, "grids" | "sets" | "node">): readonly OwnSet[] => {
  const grids = new Map(o.grids.map(namingGrid).map((grid) => [grid.uid, grid]))
  const sets = new Map(o.sets.map(namedSet).map((set) => [set.key, set]))
  const by = { grid: (uid: string) => grids.get(uid), set: (key: string) => sets.get(key) }
  const labels = o.node.metadata.labels ?? undefined
  return [...sets.values()].filter((set) => isOwn(set, labels)).flatMap((set) => ownSet(set, by) ?? [])
}

const isHeadless = (service: Service): boolean => own(service.spec, "clusterIP") === "None"

const keyOf = ({ metadata }: Service): string => `${namespaceOf(metadata)}/${text(own(metadata, "name"))}`

const byService = (slices: readonly EndpointSlice[]): ReadonlyMap<string, readonly EndpointSlice[]> =>
  Map.groupBy(slices.filter(isAddressed), ({ metadata }) => {
    const service = text(own(own(metadata, "labels"), SERVICE_NAME))
    return `${namespaceOf(metadata)}/${service}`
  })

/** A slice of FQDNs has no addresses. */
const isAddressed = ({ addressType }: EndpointSlice): boolean =>
  addressType === "IPv4" || addressType === "IPv6"

/** An endpoint that has a name. */
interface Host {
  readonly host: string
  /** what the Service publishes; it is true of all where that publishes those that are not ready, too */
  readonly ready: boolean
  readonly addresses: readonly string[]
}

const hostsOf = ({ endpoints }: EndpointSlice): readonly Host[] =>
  listOf(endpoints).flatMap((endpoint) => {
    const host = own(endpoint, "hostname")
    if (typeof host !== "string") return []
    const ready = own(own(endpoint, "conditions"), "ready") ?? true
    const addresses = listOf(own(endpoint, "addresses")).filter((each) => typeof each === "string")
    return [{ host, ready: ready === true, addresses }]
  })

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : []
