/**
 * An EndpointSlice or Endpoints object as upstream sent it: where each of its endpoints stands in the bytes, and what a
 * decision needs to know of it.
 */
import { Head, type Item, texts } from "./item.ts"
import { ANY_FAMILY, familyOf } from "./local.ts"
import { inside, type Malformed, type Range, type Reader, reading } from "./scan.ts"
import { type Candidate, type Candidates, HEADLESS, HOSTNAME, readiness, SERVICE_NAME } from "./topology.ts"

export type SliceKind = "EndpointSlice" | "Endpoints"

/** An endpoint and where it stands: from its first byte to before the comma or bracket that follows. */
export interface Endpoint extends Candidate, Range {}

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
  readonly endpoints: readonly Endpoint[]
  readonly lists: readonly List[]
  /** of an Endpoints object; a slice has none, and one list */
  readonly subsets: readonly Subset[]
  /** the values of `endpoints` (`subsets` of an Endpoints object) and `ports`, where there are any */
  readonly content: Range | undefined
  readonly ports: Range | undefined
}

/** An endpoint whose family is known once the whole slice is read. */
type Found = { -readonly [field in keyof Endpoint]: Endpoint[field] }

interface Draft {
  endpoints: Found[]
  subsets: Subset[]
  lists: List[]
}

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
  content: (reader: Reader, share: (text: string) => string) => Draft
): Slice | Malformed =>
  reading(bytes, (reader) => {
    const head = new Head(reader, share)
    let draft: Draft = { endpoints: [], subsets: [], lists: [] }
    let at: Range | undefined
    let ports: Range | undefined
    let family = ""
    const whole = reader.object("the object", (name) => {
      if (head.read(name)) return
      if (name === field) {
        reader.peek()
        const from = reader.place
        draft = content(reader, share)
        at = { from, to: reader.place }
      } else if (name === "ports") ports = reader.range()
      else if (name === "addressType") family = share(reader.text(name) ?? "")
      else reader.skip()
    })
    if (!whole) reader.fail("the object is null")
    return assembled(head.item(), kind, draft, { content: at, ports, family })
  })

/** Written out field by field: ten thousand of these are held, and spreading makes them twice as large. */
const assembled = (
  item: Item,
  kind: SliceKind,
  draft: Draft,
  rest: { readonly content: Range | undefined; readonly ports: Range | undefined; readonly family: string }
): Slice => {
  const isSlice = kind === "EndpointSlice"
  const family = isSlice ? rest.family : ANY_FAMILY
  if (isSlice) for (const each of draft.endpoints) each.family = family
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
    endpoints: draft.endpoints,
    lists: draft.lists,
    subsets: draft.subsets,
    content: rest.content,
    ports: rest.ports
  }
}

const own = (map: { readonly [key: string]: string }, key: string): string | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined

const sliceEndpoints = (reader: Reader, share: (text: string) => string): Draft => {
  const found: Found[] = []
  entries(reader, "endpoints", () => found.push(sliceEndpoint(reader, share)))
  return { endpoints: found, subsets: [], lists: [{ first: 0, count: found.length }] }
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

const sliceEndpoint = (reader: Reader, share: (text: string) => string): Endpoint => {
  reader.peek()
  const from = reader.place
  let node: string | undefined
  let hostname: string | undefined
  let conditions: Conditions = noConditions
  const whole = reader.object("", (field) => {
    if (field === "nodeName") node = nonEmpty(reader.text(".nodeName"), share)
    else if (field === "conditions") conditions = conditionsOf(reader)
    else if (field === "topology" || field === "deprecatedTopology") {
      const topology = texts(reader, `.${field}`, share, (key) => key === HOSTNAME)
      hostname = nonEmpty(topology[HOSTNAME], share) ?? hostname
    } else reader.skip()
  })
  if (!whole) reader.fail(" is null")
  const { ready, serving } = conditions
  return { from, to: reader.place, node, hostname, family: "", readiness: readiness(ready, serving) }
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

const nonEmpty = (text: string | undefined, share: (text: string) => string): string | undefined =>
  text === undefined || text === "" ? undefined : share(text)

const subsets = (reader: Reader, share: (text: string) => string): Draft => {
  const draft: Draft = { endpoints: [], subsets: [], lists: [] }
  entries(reader, "subsets", () => {
    reader.peek()
    const from = reader.place
    const found = subset(reader, share)
    const lists: List[] = found.map((list) => {
      const first = draft.endpoints.length
      for (const endpoint of list) draft.endpoints.push(endpoint)
      return { first, count: list.length }
    })
    draft.subsets.push({ from, to: reader.place, lists })
    draft.lists.push(...lists)
  })
  return draft
}

const subset = (reader: Reader, share: (text: string) => string): readonly (readonly Endpoint[])[] => {
  const lists = new Map<string, readonly Endpoint[]>()
  const whole = reader.object("", (field) => {
    const ready = field === "addresses"
    if (!ready && field !== "notReadyAddresses") return reader.skip()
    const found: Endpoint[] = []
    entries(reader, `.${field}`, () => found.push(address(reader, share, ready)))
    lists.set(field, found)
  })
  if (!whole) reader.fail(" is null")
  return [...lists.values()]
}

const address = (reader: Reader, share: (text: string) => string, ready: boolean): Endpoint => {
  reader.peek()
  const from = reader.place
  let node: string | undefined
  let ip = ""
  const whole = reader.object("", (field) => {
    if (field === "nodeName") node = nonEmpty(reader.text(".nodeName"), share)
    else if (field === "ip") ip = reader.text(".ip") ?? ""
    else reader.skip()
  })
  if (!whole) reader.fail(" is null")
  return {
    from,
    to: reader.place,
    node,
    hostname: undefined,
    family: familyOf(ip),
    readiness: readiness(ready, ready)
  }
}
