/**
 * An EndpointSlice or Endpoints object as upstream sent it: where each of its endpoints stands in the bytes, and what a
 * decision needs to know of it. A hundred thousand endpoints are held so: those that are alike to a decision are one object, and
 * their places are numbers in one list.
 */
import { Head, type Item, texts } from "./item.ts"
import { ANY_FAMILY, familyOf } from "./local.ts"
import { inside, type Malformed, type Range, type Reader, reading } from "./scan.ts"
import {
  type Candidate,
  type Candidates,
  HEADLESS,
  HOSTNAME,
  type Readiness,
  readiness,
  SERVICE_NAME
} from "./topology.ts"

export type SliceKind = "EndpointSlice" | "Endpoints"

/**
 * Where the entries of a list stand, one behind the other: two numbers each, its first byte and the one after its last (what follows is a
 * comma or a bracket).
 */
export type Spots = readonly number[]

/** A list of endpoints in the bytes: `count` of them from the one numbered `first`. */
export interface List {
  readonly first: number
  readonly count: number
}

/** A subset of an Endpoints object, which goes when all its addresses do. */
export interface Subset extends Range {
  readonly lists: readonly List[]
}

export interface Slice extends Item, Candidates {
  readonly namespace: string
  readonly kind: SliceKind
  readonly family: string
  readonly endpoints: readonly Candidate[]
  /** where the endpoints stand */
  readonly spots: Spots
  readonly lists: readonly List[]
  /** of an Endpoints object; a slice has none, and one list */
  readonly subsets: readonly Subset[]
  /** the values of `endpoints` (`subsets` of an Endpoints object) and `ports`, where there are any */
  readonly content: Range | undefined
  readonly ports: Range | undefined
}

/** What was found of the endpoints; of which family those of a slice are is known once all of it is read. */
interface Draft {
  readonly endpoints: Candidate[]
  readonly spots: number[]
  readonly subsets: Subset[]
  readonly lists: List[]
}

const draft = (): Draft => ({ endpoints: [], spots: [], subsets: [], lists: [] })

/** The index of an EndpointSlice's bytes (discovery.k8s.io/v1 or v1beta1), or why they are none. Never throws. */
export const slice = (bytes: Uint8Array, share: (text: string) => string): Slice | Malformed =>
  indexed(bytes, share, "EndpointSlice", "endpoints", sliceEndpoints)

/** The index of the bytes of an Endpoints object (core/v1), or why they are none. Never throws. */
export const endpoints = (bytes: Uint8Array, share: (text: string) => string): Slice | Malformed =>
  indexed(bytes, share, "Endpoints", "subsets", subsets)

const indexed = (
  bytes: Uint8Array,
  share: (text: string) => string,
  kind: SliceKind,
  field: string,
  content: (reader: Reader, share: (text: string) => string, family: string) => Draft
): Slice | Malformed =>
  reading(bytes, (reader) => {
    const head = new Head(reader, share)
    let found = draft()
    let at: Range | undefined
    let ports: Range | undefined
    let family = ANY_FAMILY
    const whole = reader.object("the object", (name) => {
      if (head.read(name)) return
      if (name === field) {
        reader.peek()
        const from = reader.place
        found = content(reader, share, family)
        at = { from, to: reader.place }
      } else if (name === "ports") ports = reader.range()
      else if (name === "addressType") family = share(reader.text(name) ?? ANY_FAMILY)
      else reader.skip()
    })
    if (!whole) reader.fail("the object is null")
    return assembled(head.item(), kind, found, { content: at, ports, family })
  })

/** Written out field by field: ten thousand of these are held, and spreading makes them twice as large. */
const assembled = (
  item: Item,
  kind: SliceKind,
  found: Draft,
  rest: { readonly content: Range | undefined; readonly ports: Range | undefined; readonly family: string }
): Slice => {
  const isSlice = kind === "EndpointSlice"
  const family = isSlice ? rest.family : ANY_FAMILY
  // The API server writes the family first; who writes it last is understood too.
  if (isSlice && found.endpoints.some((each) => each.family !== family))
    for (const [i, each] of found.endpoints.entries())
      found.endpoints[i] = candidate(each.node, each.hostname, family, each.readiness)
  const service = isSlice ? own(item.labels, SERVICE_NAME) : item.name
  return {
    key: item.key,
    uid: item.uid,
    revision: item.revision,
    bytes: item.bytes,
    namespace: item.namespace ?? "",
    name: item.name,
    labels: item.labels,
    annotations: item.annotations,
    clusterIP: undefined,
    apiVersion: item.apiVersion,
    body: item.body,
    metadata: item.metadata,
    version: item.version,
    kind,
    family,
    service: service === "" ? undefined : service,
    headless: own(item.labels, HEADLESS) !== undefined,
    // A list that grew has room for half as many again.
    endpoints: found.endpoints.slice(),
    spots: found.spots.slice(),
    lists: found.lists,
    subsets: found.subsets,
    content: rest.content,
    ports: rest.ports
  }
}

const own = (map: { readonly [key: string]: string }, key: string): string | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined

const sliceEndpoints = (reader: Reader, share: (text: string) => string, family: string): Draft => {
  const found = draft()
  entries(reader, "endpoints", () => sliceEndpoint(reader, share, family, found))
  found.lists.push({ first: 0, count: found.endpoints.length })
  return found
}

/** Visits the entries of a list; which of them an error is in is put into words only then: to do so for each would cost more than to read it. */
const entries = (reader: Reader, what: string, visit: () => void): void => {
  let at = 0
  try {
    reader.array(what, (i) => {
      at = i
      visit()
    })
  } catch (error) {
    throw inside(`${what}[${at}]`, error)
  }
}

const sliceEndpoint = (
  reader: Reader,
  share: (text: string) => string,
  family: string,
  into: Draft
): void => {
  reader.peek()
  const from = reader.place
  let node: string | undefined
  let hostname: string | undefined
  let conditions: Conditions = noConditions
  const whole = reader.object("", (field) => {
    if (field === "nodeName") node = nonEmpty(reader.text(".nodeName"))
    else if (field === "conditions") conditions = conditionsOf(reader)
    else if (field === "topology" || field === "deprecatedTopology") {
      const topology = texts(reader, `.${field}`, share, (key) => key === HOSTNAME)
      hostname = nonEmpty(topology[HOSTNAME]) ?? hostname
    } else reader.skip()
  })
  if (!whole) reader.fail(" is null")
  const { ready, serving } = conditions
  into.endpoints.push(candidate(node, hostname, family, readiness(ready, serving)))
  into.spots.push(from, reader.place)
}

interface Conditions {
  ready?: boolean | undefined
  serving?: boolean | undefined
}

const noConditions: Conditions = {}

const conditionsOf = (reader: Reader): Conditions => {
  const found: Conditions = {}
  reader.object(".conditions", (name) => {
    if (name === "ready") found.ready = reader.boolean(".conditions.ready")
    else if (name === "serving") found.serving = reader.boolean(".conditions.serving")
    else reader.skip()
  })
  return found
}

const nonEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text)

/** Candidates that are in use, by node: those that are alike are the same one. */
const candidates = new Map<string, Candidate[]>()
const MOST_CANDIDATES = 50_000

const candidate = (
  node: string | undefined,
  hostname: string | undefined,
  family: string,
  ready: Readiness
): Candidate => {
  const name = node ?? hostname ?? ""
  let alike = candidates.get(name)
  if (alike === undefined) {
    if (candidates.size >= MOST_CANDIDATES) candidates.clear()
    alike = []
    candidates.set(name, alike)
  }
  for (const each of alike)
    if (
      each.family === family &&
      each.readiness === ready &&
      each.node === node &&
      each.hostname === hostname
    )
      return each
  const fresh = { node, hostname, family, readiness: ready }
  // Texts of users are among these: nobody can make the list of one name long.
  if (alike.length < MOST_ALIKE) alike.push(fresh)
  return fresh
}
const MOST_ALIKE = 16

const subsets = (reader: Reader): Draft => {
  const found = draft()
  entries(reader, "subsets", () => {
    reader.peek()
    const from = reader.place
    const lists: List[] = []
    for (const list of subset(reader)) {
      lists.push({ first: found.endpoints.length, count: list.endpoints.length })
      for (const each of list.endpoints) found.endpoints.push(each)
      for (const each of list.spots) found.spots.push(each)
    }
    found.subsets.push({ from, to: reader.place, lists })
    found.lists.push(...lists)
  })
  return found
}

const subset = (reader: Reader): Iterable<Draft> => {
  const lists = new Map<string, Draft>()
  const whole = reader.object("", (field) => {
    const ready = field === "addresses"
    if (!ready && field !== "notReadyAddresses") return reader.skip()
    const found = draft()
    entries(reader, `.${field}`, () => address(reader, ready, found))
    lists.set(field, found)
  })
  if (!whole) reader.fail(" is null")
  return lists.values()
}

const address = (reader: Reader, ready: boolean, into: Draft): void => {
  reader.peek()
  const from = reader.place
  let node: string | undefined
  let ip = ""
  const whole = reader.object("", (field) => {
    if (field === "nodeName") node = nonEmpty(reader.text(".nodeName"))
    else if (field === "ip") ip = reader.text(".ip") ?? ""
    else reader.skip()
  })
  if (!whole) reader.fail(" is null")
  into.endpoints.push(candidate(node, undefined, familyOf(ip), readiness(ready, ready)))
  into.spots.push(from, reader.place)
}
