/**
 * What a node is shown of a Service, and why: for people, for tests of policies, and for the wrapper itself.
 *
 * `reachable` is `explain` filtered by kept: one decision, never told twice.
 */
import {
  type Endpoints,
  type EndpointSlice,
  isEndpoints,
  sighted,
  type Sighted,
  trimmedEndpoints,
  trimmedSlice
} from "./endpoints.ts"
import type { Node, Service } from "./kube.ts"
import { type Local, local, localEndpoints, localPorts, localSubsets, placing } from "./local.ts"
import { API_SERVER, HOSTNAME, known, reason, type Surroundings, type Verdict, verdicts } from "./topology.ts"
import { unitOf } from "./units.ts"

/** All slices of one Service (or its Endpoints object), and where it is looked at from. */
export interface Sight<S extends EndpointSlice | Endpoints = EndpointSlice | Endpoints> {
  /** undefined: not known yet, and then nothing that is on another node is shown */
  readonly service: Service | undefined
  readonly slices: readonly S[]
  /** this node */
  readonly node: Node
  readonly nodes: ReadonlyMap<string, Node>
  /** Endpoints `default/kubernetes`, whose annotations may name a local endpoint for it; else the Service's do */
  readonly apiServer?: Endpoints | undefined
}

/** One endpoint: kept or not, and by which rule. */
export interface Explained {
  /** its first address */
  readonly address: string
  /** name of the slice or Endpoints object */
  readonly slice: string
  readonly kept: boolean
  /** in words, with the values that decided it */
  readonly reason: string
  /** the same for programs */
  readonly verdict: Verdict
}

/**
 * One row for each endpoint, in the order of slices and of endpoints in them.
 *
 * Depends on the annotations and cluster IP of the Service, the labels of nodes, and where endpoints are; not on the order of
 * slices. A local endpoint of `default/kubernetes` is one row more.
 */
export const explain = (sight: Sight): readonly Explained[] =>
  judged(sight).flatMap(({ slice, seen, given, here }) => {
    const row = (address: string, verdict: Verdict): Explained => ({
      address,
      slice: slice.metadata.name,
      kept: verdict.kept,
      reason: reason(verdict),
      verdict
    })
    const rows = given.map((verdict, i) => row(seen.endpoints[i]?.address ?? "", verdict))
    return here === undefined
      ? rows
      : [...rows, row(here.address, { kept: true, rule: "LocalEndpoint", ...here })]
  })

/** The same slices, without the endpoints that this node may not use; a slice of which nothing is dropped is the same object. */
export const reachable = <S extends EndpointSlice | Endpoints>(sight: Sight<S>): readonly S[] =>
  judged(sight).map(({ slice, given, here }) => {
    const kept = given.map((verdict) => verdict.kept)
    return (isEndpoints(slice) ? shownEndpoints(slice, kept, here) : shownSlice(slice, kept, here)) as S
  })

const shownSlice = (
  slice: EndpointSlice,
  kept: readonly boolean[],
  here: Local | undefined
): EndpointSlice =>
  here === undefined
    ? trimmedSlice(slice, kept)
    : { ...slice, endpoints: localEndpoints(here), ports: localPorts(here, slice.ports) }

const shownEndpoints = (object: Endpoints, kept: readonly boolean[], here: Local | undefined): Endpoints =>
  here === undefined ? trimmedEndpoints(object, kept) : { ...object, subsets: localSubsets(here) }

interface Given<S> {
  readonly slice: S
  readonly seen: Sighted
  readonly given: readonly Verdict[]
  /** what stands there instead of all that is dropped */
  readonly here: Local | undefined
}

const judged = <S extends EndpointSlice | Endpoints>(sight: Sight<S>): readonly Given<S>[] => {
  const { service } = sight
  const says = service && known(service.metadata.annotations, service.spec?.clusterIP)
  const seen = sight.slices.map((slice) => ({ slice, ...sighted(slice) }))
  const given = verdicts(says, seen, around(sight))
  const all = seen.map((each, i) => ({
    slice: each.slice,
    seen: each,
    given: given[i] ?? [],
    here: undefined
  }))
  const here =
    local(sight.apiServer?.metadata.annotations) ??
    (service && named(service) === API_SERVER ? local(service.metadata.annotations) : undefined)
  const mine = seen.filter((each) => `${each.namespace}/${each.service ?? ""}` === API_SERVER)
  const instead = placing(here, mine)
  if (here === undefined || instead === undefined) return all
  const dropped: Verdict = { kept: false, rule: "LocalEndpoint", ...here }
  return all.map((each) => {
    const shown = instead.get(each.seen)
    if (shown === undefined) return each
    return { ...each, given: each.given.map(() => dropped), here: shown === "none" ? undefined : shown }
  })
}

const named = ({ metadata }: Service): string => `${metadata.namespace ?? ""}/${metadata.name}`

const around = ({ node, nodes }: Sight): Surroundings => {
  const own = node.metadata.name
  const labels = (name: string): unknown => (name === own ? node : nodes.get(name))?.metadata.labels
  return {
    own,
    value: (name, key) => unitOf(key, labels(name)),
    named: (hostname) => {
      if (unitOf(HOSTNAME, node.metadata.labels) === hostname) return own
      const found = [...nodes.keys()].filter(
        (name) => name !== own && unitOf(HOSTNAME, labels(name)) === hostname
      )
      return found.sort()[0] ?? hostname
    }
  }
}
