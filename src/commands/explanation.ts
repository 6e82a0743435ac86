/**
 * Who uses which endpoint of a Service, in the words of a person: a table for each group of nodes that are shown the same.
 */
import type { EndpointSlice, Endpoints } from "../core/endpoints.ts"
import { sighted } from "../core/endpoints.ts"
import { explain, type Explained } from "../core/explain.ts"
import type { Node, Service } from "../core/kube.ts"
import { API_SERVER, HEADLESS_SCOPE, known, type Known } from "../core/topology.ts"
import { unitOf } from "../core/units.ts"
import { naming } from "../core/words.ts"
import { columns } from "./columns.ts"

/** Everything an explanation is made from. */
export interface Scenery {
  readonly service: Service
  readonly slices: readonly EndpointSlice[]
  readonly nodes: ReadonlyMap<string, Node>
  /** Endpoints `default/kubernetes`, where the Service is that one */
  readonly apiServer: Endpoints | undefined
}

/** One endpoint, as a node is shown it or not. */
interface Row extends Explained {
  readonly node: string | undefined
}

/** Nodes that are shown the same. Reasons are told as the first of them sees it that doesn't hold the endpoint itself. */
interface Group {
  readonly nodes: readonly string[]
  /** of each key, those of the nodes' values that there are; undefined: a node has none */
  readonly values: { readonly [key: string]: readonly (string | undefined)[] }
  readonly used: number
  readonly endpoints: readonly Row[]
}

export interface Explanation {
  readonly service: string
  /** what the Service says, in words */
  readonly rule: string
  readonly keys: readonly string[]
  readonly groups: readonly Group[]
}

/** The explanation for some nodes: those that are shown the same are one group, in the order of their first ones. */
export const explanation = (scenery: Scenery, asked: readonly string[]): Explanation => {
  const { service, slices, nodes, apiServer } = scenery
  const says = known(service.metadata.annotations, service.spec?.clusterIP)
  const seen = slices.map(sighted)
  const keys = says.scope._tag === "Within" ? says.scope.keys : []
  const placed = seen.flatMap(({ endpoints }) => endpoints.map(({ node }) => node))
  const found = new Map<string, { readonly nodes: string[]; rows: readonly Explained[] }>()
  for (const name of asked) {
    const node = nodes.get(name) ?? { metadata: { name } }
    const rows = explain({ service, slices, node, nodes, apiServer })
    const shown = rows.map(({ kept }) => (kept ? "1" : "0")).join("")
    const group = found.get(shown)
    if (group === undefined) found.set(shown, { nodes: [name], rows })
    else {
      group.nodes.push(name)
      if (group.rows.some(isHere))
        group.rows = group.rows.map((row, i) => (isHere(row) ? (rows[i] ?? row) : row))
    }
  }
  const groups = [...found.values()].map((group): Group => ({
    nodes: group.nodes,
    values: valuesOf(keys, group.nodes, nodes),
    used: group.rows.filter(({ kept }) => kept).length,
    endpoints: withNodes(group.rows, placed)
  }))
  const name = `${service.metadata.namespace ?? "default"}/${service.metadata.name}`
  const headless = says.headless || seen.some((each) => each.headless)
  return { service: name, rule: ruleOf(name, { ...says, headless }), keys, groups }
}

const isHere = ({ verdict }: Explained): boolean => verdict.rule === "OwnNode"

/** Rows come in the order of the endpoints; the one that stands there instead of them all is one more. */
const withNodes = (rows: readonly Explained[], placed: readonly (string | undefined)[]): readonly Row[] => {
  let at = 0
  return rows.map((row) => {
    const added = row.verdict.rule === "LocalEndpoint" && row.kept
    const judged = "node" in row.verdict ? row.verdict.node : undefined
    return { ...row, node: added ? undefined : (placed[at++] ?? judged) }
  })
}

const valuesOf = (
  keys: readonly string[],
  names: readonly string[],
  nodes: ReadonlyMap<string, Node>
): Group["values"] =>
  Object.fromEntries(
    keys
      .filter((key) => key !== "*")
      .map((key) => [key, [...new Set(names.map((name) => unitOf(key, nodes.get(name)?.metadata.labels)))]])
  )

const ruleOf = (name: string, { scope, headless, unitScope }: Known): string => {
  if (name === API_SERVER)
    return "the API server itself: nothing is removed, unless it has a local endpoint (superedge.io/local-endpoint)"
  if (headless && !unitScope) {
    const besides = scope._tag === "Everywhere" ? "" : "its annotation topologyKeys doesn't count: "
    return `headless: ${besides}every node is shown every endpoint, unless the annotation ${HEADLESS_SCOPE} is "unit"`
  }
  const scoped = headless ? `headless, with ${HEADLESS_SCOPE} "unit": ` : ""
  switch (scope._tag) {
    case "Everywhere":
      return `${scoped}no annotation topologyKeys: every node uses every endpoint`
    case "Closed":
      return `${scoped}broken, so closed: a node uses only endpoints of its own, and those without a node. ${scope.message}`
    case "Within":
      return `${scoped}topologyKeys ${JSON.stringify(scope.keys)}: the first key counts at which a ready endpoint has this node's value`
  }
}

const HEAD = ["ADDRESS", "SLICE", "NODE", "KEPT", "REASON"] as const

/** The text of an explanation. */
export const render = ({ service, rule, groups }: Explanation): string => {
  const out = [`Service ${service}`, `  ${rule}`]
  for (const group of groups) {
    const { endpoints, used } = group
    out.push("", headingOf(group))
    if (endpoints.length > 0) out.push(...table(endpoints))
    const by = group.nodes.length === 1 ? (group.nodes[0] ?? "") : `each of these ${group.nodes.length} nodes`
    out.push(
      `${used} of ${endpoints.length} ${endpoints.length === 1 ? "endpoint is" : "endpoints are"} used by ${by}`
    )
  }
  if (groups.length === 0) out.push("", "There is no node that could use an endpoint.")
  return out.join("\n")
}

const table = (endpoints: readonly Row[]): readonly string[] =>
  columns(
    HEAD,
    endpoints.map(({ address, slice, node, kept, reason }) => [
      address === "" ? "-" : address,
      slice,
      node ?? "-",
      kept ? "yes" : "no",
      reason.replace(/^(?:kept|dropped): /, "")
    ])
  )

/** Names, or values, that are written out at most. */
const MOST = 6

const headingOf = ({ nodes, values }: Group): string => {
  const count = nodes.length === 1 ? "" : ` (${nodes.length} nodes)`
  const told = Object.entries(values).map(([key, all]) =>
    all.length > 1 ? `${key} differs` : all[0] === undefined ? `no ${key}` : `${key}=${all[0]}`
  )
  return `Node ${naming(nodes, MOST)}${count}${told.length === 0 ? "" : `: ${told.join(", ")}`}`
}
