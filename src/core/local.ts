/**
 * The address at which this node's pods reach the API server, where `default/kubernetes` says that it isn't the API server's own:
 * the node's proxy, which goes on answering when the cloud is gone.
 */
import { isObject } from "./json.ts"
import { own } from "./value.ts"

export const LOCAL_ENDPOINT = "superedge.io/local-endpoint"
export const LOCAL_PORT = "superedge.io/local-port"

export interface Local {
  /** an IP, loopback included */
  readonly address: string
  readonly port: number
}

/** The local endpoint that annotations name; undefined where one of the two is missing, or is no IP or port. */
export const local = (annotations: unknown): Local | undefined => {
  const address = own(annotations, LOCAL_ENDPOINT)
  const port = own(annotations, LOCAL_PORT)
  if (typeof address !== "string" || typeof port !== "string") return undefined
  if (!(isIPv4(address) || isIPv6(address)) || !/^[1-9][0-9]{0,4}$/.test(port)) return undefined
  return Number(port) > 65535 ? undefined : { address, port: Number(port) }
}

const isIPv4 = (text: string): boolean => {
  const parts = text.split(".")
  return parts.length === 4 && parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256)
}

const isIPv6 = (text: string): boolean => {
  const halves = text.split("::")
  if (halves.length > 2) return false
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")))
  const last = groups.at(-1) ?? ""
  const embedded = last.includes(".")
  if (embedded && (!isIPv4(last) || text.endsWith("::"))) return false
  const hex = embedded ? groups.slice(0, -1) : groups
  const size = hex.length + (embedded ? 2 : 0)
  return (
    hex.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) && (halves.length === 2 ? size < 8 : size === 8)
  )
}

/** The address family of an IP as it is written. */
export const familyOf = (ip: string): "IPv4" | "IPv6" => (ip.includes(":") ? "IPv6" : "IPv4")

/**
 * What the objects of `default/kubernetes` show instead: the first of them that can hold the address, by key, has it, the others none. undefined:
 * no address of its own is named, or no object can hold it, and all stay as they are.
 */
export const placing = <S extends { readonly key: string; readonly family: string }>(
  here: Local | undefined,
  slices: readonly S[]
): ReadonlyMap<S, Local | "none"> | undefined => {
  if (here === undefined) return undefined
  const fit = slices.filter(({ family }) => family === ANY_FAMILY || family === familyOf(here.address))
  const [held] = fit.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return held && new Map(slices.map((slice) => [slice, slice === held ? here : "none"]))
}

/** The family of an Endpoints object, which takes addresses of any. */
export const ANY_FAMILY = ""

/** What a slice has as its endpoints instead. */
export const localEndpoints = (here: Local) => [
  { addresses: [here.address], conditions: { ready: true, serving: true, terminating: false } }
]

/** What a slice has as its ports instead: its first one, with the number of the local one. */
export const localPorts = (here: Local, ports: unknown) => {
  const first: unknown = Array.isArray(ports) ? ports[0] : undefined
  const said = Object.entries(isObject(first) ? first : {}).filter(([, value]) => value !== null)
  // A port without a protocol makes kube-proxy panic, and null is none.
  return [{ name: "https", protocol: "TCP", ...Object.fromEntries(said), port: here.port }]
}

/** What an Endpoints object has as its subsets instead. */
export const localSubsets = (here: Local) => [
  { addresses: [{ ip: here.address }], ports: [{ name: "https", port: here.port, protocol: "TCP" }] }
]
