/**
 * EndpointSlices and Endpoints as Kubernetes writes them in JSON, as far as a decision reads them.
 */
import { isObject } from "./json.ts"
import type { KubeObject } from "./kube.ts"
import { ANY_FAMILY, familyOf } from "./local.ts"
import { type Candidate, type Candidates, HEADLESS, HOSTNAME, readiness, SERVICE_NAME } from "./topology.ts"
import { own } from "./value.ts"

type Maybe<T> = T | null | undefined

/** An endpoint of a slice; `topology` is v1beta1's. */
export interface SliceEndpoint {
  readonly addresses?: Maybe<readonly string[]>
  readonly conditions?: Maybe<{
    readonly ready?: Maybe<boolean>
    readonly serving?: Maybe<boolean>
    readonly terminating?: Maybe<boolean>
  }>
  readonly nodeName?: Maybe<string>
  readonly topology?: Maybe<{ readonly [key: string]: string }>
  readonly [field: string]: unknown
}

/** discovery.k8s.io/v1 or v1beta1 */
export interface EndpointSlice extends KubeObject {
  readonly addressType?: Maybe<string>
  readonly endpoints?: Maybe<readonly SliceEndpoint[]>
  readonly ports?: Maybe<readonly { readonly [field: string]: unknown }[]>
}

export interface EndpointAddress {
  readonly ip: string
  readonly nodeName?: Maybe<string>
  readonly [field: string]: unknown
}

export interface EndpointSubset {
  readonly addresses?: Maybe<readonly EndpointAddress[]>
  readonly notReadyAddresses?: Maybe<readonly EndpointAddress[]>
  readonly ports?: Maybe<readonly { readonly [field: string]: unknown }[]>
}

/** core/v1 */
export interface Endpoints extends KubeObject {
  readonly subsets?: Maybe<readonly EndpointSubset[]>
}

/** One endpoint, as it is judged and named in an answer. */
export interface Judged extends Candidate {
  readonly address: string
}

/** What is judged of a slice or Endpoints object: all endpoints in the order in which they stand. */
export interface Sighted extends Candidates {
  readonly key: string
  /** of a slice; an Endpoints object takes any */
  readonly family: string
  readonly endpoints: readonly Judged[]
}

/** Whether an object is an Endpoints object rather than a slice. */
export const isEndpoints = (object: EndpointSlice | Endpoints): object is Endpoints =>
  object.kind === "Endpoints" || (own(object, "subsets") !== undefined && object.kind !== "EndpointSlice")

/** What is judged of an object; entries that are no objects count as endpoints without a node. */
export const sighted = (object: EndpointSlice | Endpoints): Sighted => {
  const { labels, name, namespace } = object.metadata
  const named = text(own(labels, SERVICE_NAME))
  return {
    key: `${namespace ?? ""}/${name}`,
    family: isEndpoints(object) ? ANY_FAMILY : (object.addressType ?? ""),
    namespace: namespace ?? "",
    service: isEndpoints(object) ? name : named,
    headless: typeof own(labels, HEADLESS) === "string",
    endpoints: isEndpoints(object) ? addresses(object) : endpointsOf(object)
  }
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** The node of an endpoint; what is no text names none that there is, so that it is never shown more widely. */
const nodeOf = (endpoint: unknown): string | undefined => {
  const name = own(endpoint, "nodeName")
  if (name === undefined || name === null || name === "") return undefined
  return typeof name === "string" ? name : JSON.stringify(name)
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const endpointsOf = (slice: EndpointSlice): readonly Judged[] =>
  list(slice.endpoints).map((endpoint) => {
    const conditions = own(endpoint, "conditions")
    return {
      address: text(list(own(endpoint, "addresses"))[0]) ?? "",
      node: nodeOf(endpoint),
      // v1beta1, and what became of it in v1
      hostname:
        text(own(own(endpoint, "topology"), HOSTNAME)) ??
        text(own(own(endpoint, "deprecatedTopology"), HOSTNAME)),
      family: slice.addressType ?? "",
      readiness: readiness(own(conditions, "ready"), own(conditions, "serving"))
    }
  })

/** The fields of a subset that hold addresses. */
export const ADDRESS_FIELDS = ["addresses", "notReadyAddresses"] as const

const addresses = (object: Endpoints): readonly Judged[] =>
  list(object.subsets).flatMap((subset) =>
    ADDRESS_FIELDS.flatMap((field) =>
      list(own(subset, field)).map((each) => {
        const address = text(own(each, "ip")) ?? ""
        const ready = field === "addresses"
        return {
          address,
          node: nodeOf(each),
          hostname: undefined,
          family: familyOf(address),
          readiness: readiness(ready, ready)
        }
      })
    )
  )

/** A slice without the endpoints that aren't kept, given in their order; the same object where all are. */
export const trimmedSlice = (slice: EndpointSlice, kept: readonly boolean[]): EndpointSlice =>
  kept.every(Boolean)
    ? slice
    : { ...slice, endpoints: list(slice.endpoints).filter((_, i) => kept[i]) as readonly SliceEndpoint[] }

/** An Endpoints object without the addresses that aren't kept, and without subsets that lost all of theirs. */
export const trimmedEndpoints = (object: Endpoints, kept: readonly boolean[]): Endpoints => {
  if (kept.every(Boolean)) return object
  let at = 0
  const subsets = list(object.subsets).flatMap((subset) => {
    if (!isObject(subset)) return [subset]
    let had = 0
    let left = 0
    const fields = ADDRESS_FIELDS.flatMap((field) => {
      const before = list(own(subset, field))
      const after = before.filter(() => kept[at++])
      had += before.length
      left += after.length
      return before.length === after.length ? [] : [[field, after] as const]
    })
    return had > 0 && left === 0 ? [] : [{ ...subset, ...Object.fromEntries(fields) }]
  })
  return { ...object, subsets: subsets as readonly EndpointSubset[] }
}
