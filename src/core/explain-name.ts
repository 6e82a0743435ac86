/**
 * (a name, all that names are made of) -> what pods of this node get for it, and why: for people, and for tests of policies.
 *
 * What the node's units give comes from `podNames`, of which `names` is made too: one decision, never told twice. All else is what the cluster's
 * DNS answers by itself on every node: the Service's own name, and pods under their own names.
 */
import { type AskedName, askedNames } from "./asked-name.ts"
import type { Service } from "./kube.ts"
import { elsewhere, nameRows, type NameRow, type Scene } from "./name-rows.ts"
import {
  byService,
  endpointsOf,
  type HostEndpoint,
  isHeadless,
  keyOf,
  type NamesInput,
  podNames,
  wholeName
} from "./names.ts"
import { namedSet, nameIn, namespaceIn, namingGrid, ordinal } from "./own-sets.ts"
import { own } from "./value.ts"

export interface NameQuestion extends NamesInput {
  /** short or whole, in lower case */
  readonly name: string
  /** of the pod that asks: short names are completed with it */
  readonly namespace: string
}

/** What pods of the node get for a name, and one row for each thing that had a say. */
export interface ExplainedName {
  /** whole, as far as it is one of the cluster */
  readonly name: string
  readonly node: string
  /** sorted */
  readonly addresses: readonly string[]
  /** who answers: the node's unit, the cluster's DNS as on every node, or nobody */
  readonly from: "Unit" | "Cluster" | "Nobody"
  readonly rows: readonly NameRow[]
}

/**
 * What pods of the node get for a name, and why. Depends on the same as `names`, and not on the order of anything.
 *
 * Of what a resolver makes of a short name the first counts that has addresses, else the first whose Service is there.
 */
export const explainName = (question: NameQuestion): ExplainedName => {
  const services = new Map(question.services.map((service) => [keyOf(service), service]))
  const asked = askedNames(question.name, question)
  const all = asked.map((each) => explained(question, each, services.get(each.service)))
  const known = asked.findIndex(({ service }) => services.has(service))
  return all.find(({ addresses }) => addresses.length > 0) ?? all[known] ?? all[0] ?? outside(question)
}

const outside = ({ name, clusterDomain, node }: NameQuestion): ExplainedName => ({
  name: name.replace(/\.$/, ""),
  node: node.metadata.name,
  addresses: [],
  from: "Nobody",
  rows: [
    {
      rule: "OtherDomain",
      given: false,
      subject: "the name",
      addresses: [],
      reason: `it is no name of a Service or of a pod in svc.${clusterDomain}, such as web-0.web-svc.default.svc.${clusterDomain}; other servers may know it`
    }
  ]
})

const explained = (q: NameQuestion, asked: AskedName, service: Service | undefined): ExplainedName => {
  const { host } = asked
  // Of a Service that isn't there, nobody publishes anything.
  const slices = service === undefined ? [] : (byService(q.slices).get(asked.service) ?? [])
  const endpoints = slices.flatMap(endpointsOf).map((each) => ({ ...each, host: hostOf(each) }))
  const rows =
    host === undefined
      ? [serviceRow(asked, service, endpoints)]
      : hostRows(
          sceneOf(
            { ...q, slices, services: service === undefined ? [] : [service] },
            { ...asked, host },
            endpoints
          )
        )
  const unit = rows.filter(({ rule }) => rule === "OwnPod")
  const given = new Set(unit.length > 0 ? unit : rows.filter(isPublished))
  return {
    name: wholeName(asked, q.clusterDomain),
    node: q.node.metadata.name,
    addresses: [...new Set([...given].flatMap(({ addresses }) => addresses))].sort(),
    from: unit.length > 0 ? "Unit" : given.size > 0 ? "Cluster" : "Nobody",
    rows: rows.map((row) => ({ ...row, given: given.has(row) })).sort((a, b) => place(a) - place(b))
  }
}

/** The answer first; other units may be many. */
const place = ({ rule, given }: NameRow): number => (given ? 0 : rule === "OtherUnit" ? 2 : 1)

const isPublished = ({ addresses }: NameRow): boolean => addresses.length > 0

/** CoreDNS calls endpoints without a name after their address. */
const hostOf = ({ host, addresses }: { host: string | undefined; addresses: readonly string[] }): string =>
  host ?? (addresses[0] ?? "").replace(/[.:]/g, "-")

/** `q`: with what concerns this Service alone. */
const sceneOf = (q: NameQuestion, asked: Scene["asked"], endpoints: readonly HostEndpoint[]): Scene => {
  const sets = q.sets.map(namedSet).sort((a, b) => (a.key < b.key ? -1 : 1))
  return {
    asked,
    node: q.node.metadata.name,
    labels: q.node.metadata.labels ?? undefined,
    grids: new Map(q.grids.map(namingGrid).map((grid) => [grid.uid, grid])),
    sets: new Map(sets.map((set) => [set.key, set])),
    service: q.services[0],
    unnamed: unnamed(asked.service, q.services[0]),
    endpoints,
    podNames: podNames(q).filter(({ set }) => set.service === asked.service)
  }
}

const unnamed = (key: string, service: Service | undefined): Scene["unnamed"] => {
  const name = `Service ${nameIn(key)}`
  if (service === undefined)
    return { rule: "NoService", reason: `${name} doesn't exist in ${namespaceIn(key)}` }
  if (isHeadless(service)) return undefined
  const address = own(service.spec, "clusterIP")
  const has =
    typeof address === "string" && address !== "" ? `has the clusterIP ${address}` : "has no clusterIP"
  return {
    rule: "NotHeadless",
    reason: `${name} isn't headless, it ${has}; pods have short names in a Service with clusterIP None`
  }
}

/** Sets and the grid, then pods that bear the name themselves, then what is left to say. */
const hostRows = (scene: Scene): readonly NameRow[] => {
  const { asked, unnamed: why } = scene
  const rows = nameRows(scene)
  const told = rows.some(({ addresses }) => addresses.length > 0)
  const pods = told ? [] : podRows(scene)
  const service: NameRow[] =
    why === undefined || rows.some(({ rule }) => rule === why.rule)
      ? []
      : [{ ...why, given: false, subject: `Service ${nameIn(asked.service)}`, addresses: [] }]
  const found = [...rows, ...pods, ...service]
  return found.length > 0 ? found : [noGrid(scene)]
}

const podRows = (scene: Scene): readonly NameRow[] =>
  scene.endpoints
    .filter(({ host }) => host === scene.asked.host)
    .map(({ pod, ready, slice, addresses }) => ({
      rule: ready ? "OtherPod" : "NotReady",
      given: false,
      subject: `pod ${pod ?? scene.asked.host}`,
      addresses: ready ? addresses : [],
      reason: ready
        ? `it bears this very name in slice ${slice}; ${elsewhere(scene.service)}`
        : `it bears this very name in slice ${slice}, and isn't ready`
    }))

const noGrid = ({ asked, grids }: Scene): NameRow => {
  const { host, service } = asked
  const [, before, digits = ""] = /^(.+)-(\d+)$/.exec(host) ?? []
  const grid = ordinal(digits) === undefined ? undefined : before
  const namespace = namespaceIn(service)
  const there = [...grids.values()].map(({ key }) => key).filter((key) => namespaceIn(key) === namespace)
  const others =
    there.length === 0 ? "there is none" : `there is ${there.map(nameIn).sort().slice(0, 6).join(", ")}`
  return {
    rule: "NoGrid",
    given: false,
    subject: grid === undefined ? "the name" : `StatefulSetGrid ${grid}`,
    addresses: [],
    reason:
      grid === undefined
        ? `no pod of a StatefulSet is called ${host}: such names end in -0, -1 and so on, without leading zeros`
        : `there is no StatefulSetGrid ${grid} in ${namespace} (${others}), and no pod ${host} in Service ${nameIn(service)}`
  }
}

/** The Service's own name: the cluster's DNS answers it, with addresses of all units. */
const serviceRow = (
  { service: key }: AskedName,
  service: Service | undefined,
  endpoints: readonly HostEndpoint[]
): NameRow => {
  const base = { given: false, subject: `Service ${nameIn(key)}` }
  const why = unnamed(key, service)
  if (service === undefined || why?.rule === "NoService")
    return { ...base, rule: "NoService", addresses: [], reason: why?.reason ?? "" }
  if (why !== undefined) {
    const address = own(service.spec, "clusterIP")
    const addresses = typeof address === "string" && address !== "" ? clusterIPs(service, address) : []
    const reason = `${addresses.length === 0 ? "it has no clusterIP" : "its clusterIP"}; ${elsewhere(undefined)}`
    return { ...base, rule: "ServiceName", addresses, reason }
  }
  const ready = endpoints.filter((each) => each.ready)
  return {
    ...base,
    rule: "ServiceName",
    addresses: ready.flatMap(({ addresses }) => addresses),
    reason: `${ready.length} of ${endpoints.length} endpoints are ready, of all units; ${elsewhere(service)}`
  }
}

const clusterIPs = (service: Service, first: string): readonly string[] => {
  const all = own(service.spec, "clusterIPs")
  const listed = Array.isArray(all) ? all.filter((each) => typeof each === "string") : []
  return listed.length === 0 ? [first] : listed
}
