/**
 * (endpoints of one Service, node) -> the endpoints that this node may use, and why.
 *
 * One decision for each Service and address family, over all its slices. Order in which things came, caches and the
 * form of the objects don't matter here.
 */
import { isLabelKey, TOPOLOGY_KEYS } from "./grid.ts"
import { asText } from "./json.ts"
import { own } from "./value.ts"

export const SERVICE_NAME = "kubernetes.io/service-name"
export const HEADLESS = "service.kubernetes.io/headless"
export const HEADLESS_SCOPE = "superedge.io/headless-scope"
export const HOSTNAME = "kubernetes.io/hostname"

/** What a Service says of who may use its endpoints. */
export type Scope =
  | { readonly _tag: "Everywhere" }
  | { readonly _tag: "Within"; readonly keys: readonly string[] }
  /** the annotation can't be read: nothing meets it */
  | { readonly _tag: "Closed"; readonly message: string }

const everywhere: Scope = { _tag: "Everywhere" }

/**
 * The scope that a Service's annotation `topologyKeys` asks for: a JSON array of label keys, among which `"*"` may stand.
 * Absent, null or `[]` is none; whatever else it is, it is closed, and the message says what is wrong with it.
 */
export const scope = (annotations: unknown): Scope => {
  const given = own(annotations, TOPOLOGY_KEYS)
  if (given === undefined || given === null) return everywhere
  const closed = (why: string): Scope => ({
    _tag: "Closed",
    message: `annotation ${TOPOLOGY_KEYS}: ${asText(given)} ${why}; write a JSON array of label keys, such as ["zone"]`
  })
  if (typeof given !== "string") return closed("is no text")
  const keys = parsed(given)
  if (!Array.isArray(keys)) return closed("is no JSON array")
  if (keys.length === 0) return everywhere
  const wrong: unknown = keys.find((key) => typeof key !== "string" || !(key === "*" || isLabelKey(key)))
  if (wrong !== undefined) return closed(`has ${JSON.stringify(wrong)}, which is no label key`)
  return { _tag: "Within", keys: keys as readonly string[] }
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return undefined
  }
}

/** What is known of a Service. */
export interface Known {
  readonly scope: Scope
  /** clusterIP None */
  readonly headless: boolean
  /** headless, yet kept to its scope: annotation `superedge.io/headless-scope: unit` */
  readonly unitScope: boolean
}

/** What a Service's annotations and cluster IP say. */
export const known = (annotations: unknown, clusterIP: unknown): Known => ({
  scope: scope(annotations),
  headless: clusterIP === "None",
  unitScope: own(annotations, HEADLESS_SCOPE) === "unit"
})

/** `Ready`: ready (absent means so); `Serving`: not ready, but serving (absent means so); `Other`: neither. */
export type Readiness = "Ready" | "Serving" | "Other"

export const readiness = (ready: unknown, serving: unknown): Readiness =>
  ready !== false ? "Ready" : serving !== false ? "Serving" : "Other"

/** An endpoint, as far as it is judged. */
export interface Candidate {
  readonly node: string | undefined
  /** without `node`: the label `kubernetes.io/hostname` of its node (discovery.k8s.io/v1beta1) */
  readonly hostname: string | undefined
  /** IPv4, IPv6, FQDN */
  readonly family: string
  readonly readiness: Readiness
}

/** A slice or an Endpoints object, as far as it is judged. */
export interface Candidates {
  readonly namespace: string
  /** undefined: nobody routes by it */
  readonly service: string | undefined
  /** the label `service.kubernetes.io/headless` */
  readonly headless: boolean
  readonly endpoints: readonly Candidate[]
}

/** This node, and what it knows of the others. */
export interface Surroundings {
  readonly own: string
  /** the value of a label of a node; undefined where the node, or the label, isn't there or is empty */
  readonly value: (node: string, key: string) => string | undefined
  /** the name of the node with that label `kubernetes.io/hostname`; where there is none, of the node called so */
  readonly named: (hostname: string) => string
}

export type Verdict =
  | { readonly kept: true; readonly rule: "NoService" | "ApiServer" | "Headless" | "NoRule" | "Unplaced" }
  | { readonly kept: true; readonly rule: "OwnNode"; readonly node: string }
  | { readonly kept: true; readonly rule: "AnyNode"; readonly node: string }
  | {
      readonly kept: true
      readonly rule: "SameValue"
      readonly node: string
      readonly key: string
      readonly here: string
    }
  | {
      readonly kept: false
      readonly rule: "OtherValue"
      readonly node: string
      readonly key: string
      readonly here: string
      readonly there: string | undefined
    }
  | {
      readonly kept: false
      readonly rule: "NoMatch"
      readonly node: string
      readonly keys: readonly string[]
    }
  | { readonly kept: false; readonly rule: "Broken"; readonly node: string; readonly message: string }
  | { readonly kept: false; readonly rule: "UnknownService"; readonly node: string }
  /** of `default/kubernetes`, where this node has an address of its own for it */
  | {
      readonly kept: boolean
      readonly rule: "LocalEndpoint"
      readonly address: string
      readonly port: number
    }

/** The Service of the API server itself. */
export const API_SERVER = "default/kubernetes"

/**
 * A verdict for each endpoint of each slice of one Service, in their order.
 *
 * `service` undefined: it isn't known yet, and then nothing on another node is shown. Readiness picks the key, never
 * which endpoints of that key are kept. An endpoint without a node, and one on this node, is always kept.
 */
export const verdicts = (
  service: Known | undefined,
  slices: readonly Candidates[],
  around: Surroundings
): readonly (readonly Verdict[])[] => {
  const judge = new Judge(service, slices, around)
  return slices.map((slice) => {
    judge.turn(slice)
    return slice.endpoints.map((endpoint) => judge.verdict(endpoint))
  })
}

/** For each slice the numbers of the endpoints whose verdict is that they aren't kept, ascending. */
export const dropped = (
  service: Known | undefined,
  slices: readonly Candidates[],
  around: Surroundings
): readonly (readonly number[])[] => {
  const judge = new Judge(service, slices, around)
  return slices.map((slice) => {
    judge.turn(slice)
    let gone: number[] | undefined
    for (let i = 0; i < slice.endpoints.length; i++) {
      const endpoint = slice.endpoints[i]
      if (endpoint === undefined || KEEPS[judge.rule(endpoint)]) continue
      if (gone === undefined) gone = [i]
      else gone.push(i)
    }
    return gone ?? nobody
  })
}
const nobody: readonly number[] = []

/** The rules that decide; which of them keep an endpoint. */
type Rule = Exclude<Verdict["rule"], "LocalEndpoint">
const KEEPS: { readonly [R in Rule]: boolean } = {
  NoService: true,
  ApiServer: true,
  Headless: true,
  NoRule: true,
  Unplaced: true,
  OwnNode: true,
  AnyNode: true,
  SameValue: true,
  OtherValue: false,
  NoMatch: false,
  Broken: false,
  UnknownService: false
}

/** The one decision on endpoints of one Service's slices: first which rule, then, for those who ask, the words of it. */
class Judge {
  readonly #service: Known | undefined
  readonly #slices: readonly Candidates[]
  readonly #around: Surroundings
  /** the keys that were picked, by family */
  #picked = new Map<string, string | undefined>()
  /** the key that was compared last, and this node's value of it */
  #compared: string | undefined
  #here: string | undefined
  #slice: Candidates | undefined
  #free: Free | undefined

  constructor(service: Known | undefined, slices: readonly Candidates[], around: Surroundings) {
    this.#service = service
    this.#slices = slices
    this.#around = around
  }

  /** The next endpoints are of this slice. */
  turn(slice: Candidates): void {
    const before = this.#slice
    if (before?.service !== slice.service || before?.namespace !== slice.namespace) this.#picked = new Map()
    this.#slice = slice
    this.#free = freely(this.#service, slice)
  }

  rule(endpoint: Candidate): Rule {
    if (this.#free !== undefined) return this.#free
    const around = this.#around
    const node = placed(endpoint, around)
    if (node === undefined) return "Unplaced"
    if (node === around.own) return "OwnNode"
    if (this.#service === undefined) return "UnknownService"
    const { scope: kept } = this.#service
    if (kept._tag === "Everywhere") return "NoRule"
    if (kept._tag === "Closed") return "Broken"
    const key = this.#key(endpoint.family, kept.keys)
    if (key === undefined) return "NoMatch"
    if (key === "*") return "AnyNode"
    if (key !== this.#compared) {
      this.#compared = key
      this.#here = around.value(around.own, key)
    }
    return around.value(node, key) === this.#here ? "SameValue" : "OtherValue"
  }

  verdict(endpoint: Candidate): Verdict {
    const rule = this.rule(endpoint)
    const around = this.#around
    const node = placed(endpoint, around) ?? ""
    const scope = this.#service?.scope
    const keys = scope?._tag === "Within" ? scope.keys : []
    const key = this.#picked.get(endpoint.family) ?? ""
    const here = around.value(around.own, key) ?? ""
    switch (rule) {
      case "NoService":
      case "ApiServer":
      case "Headless":
      case "NoRule":
      case "Unplaced":
        return { kept: true, rule }
      case "OwnNode":
      case "AnyNode":
        return { kept: true, rule, node }
      case "SameValue":
        return { kept: true, rule, node, key, here }
      case "OtherValue":
        return { kept: false, rule, node, key, here, there: around.value(node, key) }
      case "NoMatch":
        return { kept: false, rule, node, keys }
      case "Broken":
        return { kept: false, rule, node, message: scope?._tag === "Closed" ? scope.message : "" }
      case "UnknownService":
        return { kept: false, rule, node }
    }
  }

  /** The key that was picked for a family. */
  #key(family: string, keys: readonly string[]): string | undefined {
    const known = this.#picked.get(family)
    if (known !== undefined || this.#picked.has(family) || this.#slice === undefined) return known
    const key = pick(keys, this.#slices, this.#slice, family, this.#around)
    this.#picked.set(family, key)
    return key
  }
}

type Free = Extract<Rule, "NoService" | "ApiServer" | "Headless" | "NoRule">

/** The rule of a slice that nobody may trim. */
const freely = (service: Known | undefined, slice: Candidates): Free | undefined => {
  if (slice.service === undefined) return "NoService"
  if (`${slice.namespace}/${slice.service}` === API_SERVER) return "ApiServer"
  if (service === undefined) return undefined
  if ((service.headless || slice.headless) && !service.unitScope) return "Headless"
  return service.scope._tag === "Everywhere" ? "NoRule" : undefined
}

/** The node of an endpoint, whether it is known or not. */
const placed = (endpoint: Candidate, around: Surroundings): string | undefined =>
  endpoint.node ?? (endpoint.hostname === undefined ? undefined : around.named(endpoint.hostname))

/** Over the endpoints of a family in all slices of the same Service: the first key with a ready one, else with a serving one, else with any. */
const pick = (
  keys: readonly string[],
  slices: readonly Candidates[],
  { namespace, service }: Candidates,
  family: string,
  around: Surroundings
): string | undefined => {
  let serving: string | undefined
  let any: string | undefined
  for (const key of keys) {
    const here = around.value(around.own, key)
    if (here === undefined && key !== "*") continue
    for (const slice of slices) {
      if (slice.service !== service || slice.namespace !== namespace) continue
      for (const endpoint of slice.endpoints) {
        if (endpoint.family !== family) continue
        const node = placed(endpoint, around)
        if (node === undefined || !(key === "*" || around.value(node, key) === here)) continue
        if (endpoint.readiness === "Ready") return key
        if (endpoint.readiness === "Serving") serving ??= key
        any ??= key
      }
    }
  }
  return serving ?? any
}

/** A verdict in words, with the values that decided it. */
export const reason = (verdict: Verdict): string => {
  switch (verdict.rule) {
    case "NoService":
      return `kept: the slice has no label ${SERVICE_NAME}, so no Service routes by it`
    case "ApiServer":
      return `kept: nothing is removed from ${API_SERVER}`
    case "Headless":
      return `kept: a headless Service is trimmed only where its annotation ${HEADLESS_SCOPE} is "unit"`
    case "NoRule":
      return `kept: the Service has no annotation ${TOPOLOGY_KEYS}`
    case "Unplaced":
      return "kept: the endpoint names no node, so it can't be placed"
    case "OwnNode":
      return `kept: it is on this node, ${verdict.node}`
    case "AnyNode":
      return `kept: key "*" takes any node, ${verdict.node} too`
    case "SameValue":
      return `kept: ${verdict.node} has ${verdict.key}=${verdict.here}, as this node has`
    case "OtherValue":
      return `dropped: ${verdict.node} has ${label(verdict.key, verdict.there)}, this node has ${label(verdict.key, verdict.here)}`
    case "NoMatch":
      return `dropped: ${verdict.node} is elsewhere, and no endpoint meets any of the keys ${JSON.stringify(verdict.keys)}`
    case "Broken":
      return `dropped: ${verdict.message}`
    case "UnknownService":
      return `dropped: it is on ${verdict.node}, and the Service isn't known yet`
    case "LocalEndpoint": {
      const here = `${verdict.address} port ${verdict.port}`
      return verdict.kept
        ? `kept: this node's pods reach the API server at ${here}`
        : `dropped: this node's pods reach the API server at ${here} instead`
    }
  }
}

const label = (key: string, value: string | undefined): string =>
  value === undefined || value === "" ? `no ${key}` : `${key}=${value}`
