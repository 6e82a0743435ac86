/**
 * (StatefulSetGrids, their sets, Services, slices, node) -> the DNS names that this node's pods may use, with their addresses.
 *
 * In every unit `<grid>-<ordinal>.<service>` is the unit's own pod of that ordinal, beside `<set>-<ordinal>.<service>`, its own name. Which pod
 * is whose is told by owner references and ordinals; names are never searched for other names. Rules of Kubernetes: a pod of a set is
 * called `<set>-<ordinal>`, and has a name in DNS where the set's `serviceName` is a headless Service that publishes it.
 */
import { GRID_KEY, type StatefulSetGrid, UNIT } from "./grid.ts"
import type { Node, Service, StatefulSet } from "./kube.ts"
import type { EndpointSlice } from "./endpoints.ts"
import { byText, text } from "./site.ts"
import { SERVICE_NAME } from "./topology.ts"
import { unitOf } from "./units.ts"
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
  const add = (host: string, place: Place, addresses: readonly string[]): void => {
    const name = `${host}.${place.service}.${place.namespace}.svc.${o.clusterDomain}`
    const known = found.get(name) ?? new Set<string>()
    for (const each of addresses) known.add(each)
    if (known.size > 0) found.set(name, known)
  }
  const published = publishing(o.slices)
  const services = new Map(o.services.map((service) => [keyOf(service), service]))
  const sets = o.sets.map(readSet)
  for (const grid of o.grids) {
    const key = own(grid.spec, "gridUniqKey")
    const unit = typeof key === "string" ? unitOf(key, own(o.node.metadata, "labels")) : undefined
    for (const set of sets) {
      if (unit === undefined || set.owner !== grid.metadata.uid || set.key !== key || set.unit !== unit)
        continue
      const place = { namespace: set.namespace, service: set.service }
      if (!isHeadless(services.get(placeKey(place)))) continue
      const alias = isHost(grid.metadata.name) && !isTaken(grid, set, sets) ? grid.metadata.name : undefined
      for (const { ordinal, addresses } of published.podsOf(place, set.name)) {
        add(`${set.name}-${ordinal}`, place, addresses)
        // A pod that bears the short name itself was there first.
        if (alias !== undefined && !published.has(place, `${alias}-${ordinal}`))
          add(`${alias}-${ordinal}`, place, addresses)
      }
    }
  }
  return [...found]
    .map(([name, addresses]) => ({ name, addresses: [...addresses].sort() }))
    .sort((a, b) => byText(a.name, b.name))
}

interface Place {
  readonly namespace: string
  readonly service: string
}

const placeKey = ({ namespace, service }: Place): string => `${namespace}/${service}`

/** A StatefulSet, as far as names need it. */
interface SeenSet {
  readonly name: string
  readonly namespace: string
  /** its `serviceName` */
  readonly service: string
  /** the uid of its controller owner */
  readonly owner: string | undefined
  readonly key: string | undefined
  readonly unit: string | undefined
}

const readSet = (set: StatefulSet): SeenSet => {
  const annotations = own(set.metadata, "annotations")
  return {
    name: text(own(set.metadata, "name")),
    namespace: namespaceOf(set),
    service: text(own(set.spec, "serviceName")),
    owner: ownerOf(own(set.metadata, "ownerReferences")),
    key: maybeText(own(annotations, GRID_KEY)),
    unit: maybeText(own(annotations, UNIT))
  }
}

const ownerOf = (references: unknown): string | undefined => {
  if (!Array.isArray(references)) return undefined
  const owner = (references as readonly unknown[]).find((each) => own(each, "controller") === true)
  return maybeText(own(owner, "uid"))
}

const isHeadless = (service: Service | undefined): boolean => own(service?.spec, "clusterIP") === "None"

/** Whether a set's pods bear the short names themselves: they were there first. */
const isTaken = (grid: StatefulSetGrid, { namespace, service }: SeenSet, sets: readonly SeenSet[]): boolean =>
  sets.some(
    (other) => other.name === grid.metadata.name && other.namespace === namespace && other.service === service
  )

interface Published {
  readonly ordinal: number
  readonly addresses: readonly string[]
}

/** What Services publish, by their slices. */
interface Publishing {
  /** the pods of a set: what slices call ready, which is true of all where the Service publishes those that are not */
  readonly podsOf: (place: Place, set: string) => readonly Published[]
  /** whether an endpoint has this hostname, ready or not */
  readonly has: (place: Place, host: string) => boolean
}

const publishing = (slices: readonly EndpointSlice[]): Publishing => {
  const byService = Map.groupBy(slices.filter(isAddressed), (slice) =>
    placeKey({
      namespace: namespaceOf(slice),
      service: text(own(own(slice.metadata, "labels"), SERVICE_NAME))
    })
  )
  const of = (place: Place): readonly unknown[] =>
    (byService.get(placeKey(place)) ?? []).flatMap(({ endpoints }) => listOf(endpoints))
  return {
    podsOf: (place, set) =>
      of(place).flatMap((endpoint) => {
        const ordinal = ordinalOf(own(endpoint, "hostname"), set)
        const ready = own(own(endpoint, "conditions"), "ready") ?? true
        if (ordinal === undefined || ready !== true) return []
        const addresses = listOf(own(endpoint, "addresses")).filter((each) => typeof each === "string")
        return [{ ordinal, addresses }]
      }),
    has: (place, host) => of(place).some((endpoint) => own(endpoint, "hostname") === host)
  }
}

/** A slice of FQDNs has no addresses. */
const isAddressed = ({ addressType }: EndpointSlice): boolean =>
  addressType === "IPv4" || addressType === "IPv6"

/** The ordinal in the name of a set's pod; undefined where the pod is not the set's. */
const ordinalOf = (host: unknown, set: string): number | undefined => {
  if (typeof host !== "string" || !host.startsWith(`${set}-`)) return undefined
  const digits = host.slice(set.length + 1)
  return ORDINAL.test(digits) ? Number(digits) : undefined
}

/** As Kubernetes writes a number from 0 to 2^31. */
const ORDINAL = /^(?:0|[1-9]\d{0,9})$/

/** Whether it may stand before an ordinal as one label of a DNS name. */
const isHost = (name: string): boolean => HOST.test(name)

const HOST = /^[a-z0-9](?:[-a-z0-9]{0,50}[a-z0-9])?$/

const namespaceOf = (object: { readonly metadata: unknown }): string =>
  text(own(object.metadata, "namespace")) || "default"

const keyOf = (service: Service): string =>
  placeKey({ namespace: namespaceOf(service), service: text(own(service.metadata, "name")) })

const maybeText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : []
