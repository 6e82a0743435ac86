/**
 * The canonical form of an Endpoints' subsets: addresses that offer the same ports stand together, in the order that
 * Kubernetes gives them (`pkg/api/v1/endpoints` of 1.37): ports and subsets by a hash of what they say.
 */
import type { JsonObject } from "../core/kube.ts"
import { byHash } from "./fnv.ts"

export interface Address {
  readonly ip: string
  readonly hostname?: string
  readonly nodeName?: string
  readonly targetRef?: JsonObject
}

export interface Port {
  readonly name?: string
  readonly port: number
  readonly protocol: string
  readonly appProtocol?: string
}

export interface Subset {
  readonly addresses?: readonly Address[]
  readonly notReadyAddresses?: readonly Address[]
  readonly ports?: readonly Port[]
}

/** Where an address can be reached: at this port, or at none that is known. */
export interface Offer {
  readonly address: Address
  readonly port: Port | undefined
  readonly ready: boolean
}

/** The subsets that say all of these offers; the order of the offers doesn't matter. */
export const subsets = (offers: readonly Offer[]): readonly Subset[] => {
  const groups = new Map<string, { readonly ports: Port[]; readonly offers: readonly Offer[] }>()
  for (const each of byPort(offers)) {
    const offered = [...each.values()].toSorted((one, other) => byAddress(one.address, other.address))
    const key = JSON.stringify(offered.map(({ address, ready }) => [identity(address), ready]))
    const group = groups.get(key) ?? { ports: [], offers: offered }
    groups.set(key, group)
    const port = offered[0]?.port
    if (port !== undefined) group.ports.push(port)
  }
  const made = [...groups.values()].map(({ ports, offers: all }): Subset => {
    const [ready, unready] = [true, false].map((wanted) =>
      all.filter((offer) => offer.ready === wanted).map(({ address }) => address)
    ) as [Address[], Address[]]
    return {
      ...(ready.length > 0 ? { addresses: ready } : {}),
      ...(unready.length > 0 ? { notReadyAddresses: unready } : {}),
      ...(ports.length > 0 ? { ports: byHash(ports, portText) } : {})
    }
  })
  return byHash(made, subsetText)
}

/** The offers of each port by address; one that isn't ready outweighs one that is. */
const byPort = (offers: readonly Offer[]): Iterable<ReadonlyMap<string, Offer>> => {
  const ports = new Map<string, Map<string, Offer>>()
  const addresses = new Map<string, Address>()
  for (const offer of offers) {
    const [id, key] = [identity(offer.address), offer.port === undefined ? "" : portText(offer.port)]
    const address = addresses.get(id) ?? offer.address
    addresses.set(id, address)
    const of = ports.get(key) ?? new Map<string, Offer>()
    ports.set(key, of)
    if (of.get(id)?.ready !== false) of.set(id, { ...offer, address })
  }
  return ports.values()
}

const uidOf = ({ targetRef }: Address): string => String(targetRef?.["uid"] ?? "")

const identity = (address: Address): string => `${address.ip} ${uidOf(address)}`

const byAddress = (one: Address, other: Address): number => {
  const [a, b] = one.ip === other.ip ? [uidOf(one), uidOf(other)] : [one.ip, other.ip]
  return a < b ? -1 : a > b ? 1 : 0
}

// What is hashed is the text that Go's spew writes of the structs.

const string = (value: unknown): string => `(string)${typeof value === "string" ? value : ""}`

const pointer = (value: string | undefined): string => `(*string)${value ?? "<nil>"}`

const portFields = ({ name, port, protocol, appProtocol }: Port): string =>
  `{Name:${string(name)} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:${pointer(appProtocol)}}`

const portText = (port: Port): string => `(v1.EndpointPort)${portFields(port)}`

const addressFields = ({ ip, hostname, nodeName, targetRef }: Address): string =>
  `{IP:${string(ip)} Hostname:${string(hostname)} NodeName:${pointer(nodeName)} TargetRef:(*v1.ObjectReference)${referenceFields(targetRef)}}`

const referenceFields = (of: JsonObject | undefined): string =>
  of === undefined
    ? "<nil>"
    : `{Kind:${string(of["kind"])} Namespace:${string(of["namespace"])} Name:${string(of["name"])} UID:(types.UID)${String(of["uid"] ?? "")} APIVersion:${string(of["apiVersion"])} ResourceVersion:${string(of["resourceVersion"])} FieldPath:${string(of["fieldPath"])}}`

const listText = <T>(all: readonly T[] | undefined, fields: (each: T) => string): string =>
  all === undefined ? "<nil>" : `[${all.map(fields).join(" ")}]`

const subsetText = ({ addresses, notReadyAddresses, ports }: Subset): string =>
  `(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)${listText(addresses, addressFields)} NotReadyAddresses:([]v1.EndpointAddress)${listText(notReadyAddresses, addressFields)} Ports:([]v1.EndpointPort)${listText(ports, portFields)}}`
