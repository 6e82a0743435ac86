/**
 * An EndpointSlice in the other version of discovery.k8s.io: v1 has `nodeName`, `zone` and `deprecatedTopology`, v1beta1 one map `topology`.
 *
 * As the API server converts them (pkg/apis/discovery/v1beta1/conversion.go), but on bytes: what isn't converted stays as it was written.
 */
import { asciiJson, type Edit, edited } from "./bytes.ts"
import { removed } from "./cut.ts"
import type { StringMap } from "./kube.ts"
import { type Range, type Reader, reading } from "./scan.ts"
import { HOSTNAME } from "./topology.ts"

export const V1 = "discovery.k8s.io/v1"
export const V1BETA1 = "discovery.k8s.io/v1beta1"

const ZONE = "topology.kubernetes.io/zone"

/** The bytes of a slice in a version; the very same bytes where they have it already, or where they can't be read. */
export const inVersion = (bytes: Uint8Array, apiVersion: string): Uint8Array => {
  const changes: Edit[] = []
  const has = reading(bytes, (reader) => {
    let version: string | undefined
    const endpoints: Found[] = []
    reader.object("the slice", (field) => {
      if (field === "apiVersion") {
        reader.peek()
        const from = reader.at
        version = reader.text(field)
        changes.push({ from, to: reader.at, text: JSON.stringify(apiVersion) })
      } else if (field === "endpoints") reader.array(field, () => endpoints.push(endpoint(reader)))
      else reader.skip()
    })
    const convert = apiVersion === V1BETA1 ? toBeta : toStable
    for (const each of endpoints) changes.push(...edits(each, convert(each)))
    return { version }
  })
  if ("_tag" in has || has.version === undefined || has.version === apiVersion) return bytes
  return edited(
    bytes,
    changes.toSorted((a, b) => a.from - b.from)
  )
}

/** An endpoint, as far as the versions differ. */
interface Found {
  /** after the brace that opens it */
  readonly open: number
  /** each field with its name, in order */
  readonly fields: readonly Range[]
  /** numbers of those that are written anew */
  readonly gone: ReadonlySet<number>
  readonly node: string | undefined
  readonly zone: string | undefined
  readonly topology: StringMap
}

const endpoint = (reader: Reader): Found => {
  reader.peek()
  const open = reader.at + 1
  const fields: Range[] = []
  const gone = new Set<number>()
  let node: string | undefined
  let zone: string | undefined
  const topology = new Map<string, string>()
  reader.object("an endpoint", (field) => {
    const from = reader.field
    if (field === "nodeName") node = reader.text(field)
    else if (field === "zone") zone = reader.text(field)
    else if (field === "topology" || field === "deprecatedTopology")
      reader.object(field, (key) => {
        const value = reader.text(key)
        if (value !== undefined) topology.set(key, value)
      })
    else reader.skip()
    if (ANEW.has(field)) gone.add(fields.length)
    fields.push({ from, to: reader.at })
  })
  return { open, fields, gone, node, zone, topology: Object.fromEntries(topology) }
}

const ANEW: ReadonlySet<string> = new Set(["zone", "topology", "deprecatedTopology"])

const toBeta = ({ node, zone, topology }: Found): { readonly [field: string]: unknown } => {
  const all = {
    ...topology,
    ...(node !== undefined && { [HOSTNAME]: node }),
    ...(zone !== undefined && { [ZONE]: zone })
  }
  return Object.keys(all).length === 0 ? {} : { topology: all }
}

const toStable = ({ node, zone: given, topology }: Found): { readonly [field: string]: unknown } => {
  const { [ZONE]: zone = given, [HOSTNAME]: hostname, ...rest } = topology
  // The name of a node stays what it is; where there is none, its host name goes on saying where the endpoint is.
  const left = node === undefined && hostname !== undefined ? { ...rest, [HOSTNAME]: hostname } : rest
  return {
    ...(zone !== undefined && { zone }),
    ...(Object.keys(left).length > 0 && { deprecatedTopology: left })
  }
}

/** An endpoint without the fields that are written anew, and with what they become at its beginning. */
const edits = (
  { open, fields, gone }: Found,
  put: { readonly [field: string]: unknown }
): readonly Edit[] => {
  const text = asciiJson(put).slice(1, -1)
  const cuts = removed(fields, (i) => gone.has(i))
  if (text === "") return cuts
  return [{ from: open, to: open, text: gone.size < fields.length ? `${text},` : text }, ...cuts]
}
