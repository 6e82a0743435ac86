/**
 * (scene, width) -> the table of what each node's kube-proxy gets, and what of it is not as it should be.
 *
 * What should be there is read from the cluster's own slices and node labels; nothing here is computed by the rules
 * that the wrapper runs.
 */
import type { Unit } from "./missing.ts"
import type { Paint } from "./paint.ts"
import { type Endpoint, endpointsOf, sameEndpoints, type Scene, type View } from "./scene.ts"
import { type Cell, cut, table } from "./table.ts"

/** What is asked of the nodes. */
export interface Question {
  readonly service: string
  /** the node label whose values are the units */
  readonly key: string
}

const unitOf = ({ nodes }: Scene, key: string, name: string): string =>
  nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels?.[key] ?? ""

/**
 * What is missing where every node of these units should reach its own unit's endpoints and no others: `truth` tells
 * which those are, as the cluster had it then.
 */
export const missingReach = (
  { views }: Scene,
  truth: Scene,
  asked: Question & { readonly units: readonly Unit[] }
): readonly string[] => {
  const all = endpointsOf(truth.slices, asked.service)
  return asked.units.flatMap(({ unit, nodes, replicas }) => {
    const own = all.filter(({ nodeName }) => unitOf(truth, asked.key, nodeName) === unit)
    return own.length === replicas
      ? nodes.flatMap((node) => lacking(node, own, views))
      : [`the slices of ${asked.service} hold ${own.length} endpoints in ${unit}, not ${replicas}`]
  })
}

const lacking = (node: string, own: readonly Endpoint[], views: readonly View[]): readonly string[] => {
  const got = views.find((view) => view.node === node)?.got ?? "nobody asked"
  if (typeof got === "string") return [`kube-proxy on ${node}: ${got}`]
  return sameEndpoints(got, own)
    ? []
    : [`kube-proxy on ${node} gets ${namesOf(got)}; it should be ${namesOf(own)}`]
}

const namesOf = (endpoints: readonly Endpoint[]): string =>
  endpoints.length === 0
    ? "nothing"
    : endpoints
        .map(({ pod, address, nodeName, ready }) => {
          const name = pod === "" ? address : pod.slice(pod.lastIndexOf("-") + 1)
          return `${name} on ${nodeName || "no node"}${ready ? "" : " (not ready)"}`
        })
        .join(", ")

/** A line for each node, and whether the nodes reach the cluster; each line at most so wide. */
export const reach = (scene: Scene, asked: Question, width: number, paint: Paint): readonly string[] => {
  const titles = ["NODE", "UNIT", "REACHES", "PODS"].map((text): Cell => ({ text, paint: paint.dim }))
  const rows = scene.views.map((view) => cells(scene, view, asked.key, paint))
  const said =
    scene.upstream === "There"
      ? paint.dim(cut("The wrappers reach the API server.", width))
      : paint.yellow(cut("The wrappers are cut off from the API server; this is what they answer.", width))
  return [...table([titles, ...rows], width), said]
}

const cells = (scene: Scene, { node, got }: View, key: string, paint: Paint): readonly Cell[] => {
  const unit = unitOf(scene, key, node)
  const place = [{ text: node, paint: paint.bold }, { text: unit === "" ? "-" : unit }]
  if (typeof got === "string") return [...place, { text: got, paint: paint.yellow }]
  const units = Map.groupBy(got, ({ nodeName }) => unitOf(scene, key, nodeName))
  const counts = [...units].map(([name, those]) => `${those.length} in ${name === "" ? "no unit" : name}`)
  const own = got.every(({ nodeName }) => unitOf(scene, key, nodeName) === unit)
  return [
    ...place,
    {
      text: counts.length === 0 ? "none" : counts.join(", "),
      paint: !own ? paint.yellow : counts.length === 0 ? paint.dim : paint.green
    },
    { text: got.length === 0 ? "" : namesOf(got) }
  ]
}
