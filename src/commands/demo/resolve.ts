/**
 * (scene, width) -> the table of what names resolve to on nodes, and what of it is not as it should be.
 *
 * Names are made of the slices that a node's wrapper shows CoreDNS, as CoreDNS makes them. What they should lead to is read from the cluster's
 * own slices; nothing here is computed by the rules that the wrapper runs.
 */
import type { Paint } from "./paint.ts"
import { type Answers, endpointsOf, type EndpointSlice, type Scene } from "./scene.ts"
import { type Cell, cut, table } from "./table.ts"

/** What is asked, and of whom. */
export interface Lookup {
  /** the headless Service */
  readonly service: string
  /** the StatefulSetGrid */
  readonly grid: string
  readonly ordinals: readonly number[]
  /** nodes, and the unit that each is in */
  readonly nodes: readonly { readonly node: string; readonly unit: string }[]
}

/** The answers that slices make: those of a Service's ready endpoints that have a host name. */
export const answersOf = (slices: readonly EndpointSlice[], service: string): Answers => {
  const found = new Map<string, string[]>()
  for (const { metadata, endpoints } of slices) {
    if (metadata.labels?.["kubernetes.io/service-name"] !== service) continue
    for (const { hostname, addresses, conditions } of endpoints ?? [])
      if (hostname !== undefined && conditions?.ready !== false)
        found.set(hostname, [...(found.get(hostname) ?? []), ...addresses].sort())
  }
  return found
}

/** The address of a pod, by the cluster's own slices. */
const addressOf = ({ slices }: Scene, { service }: Lookup, name: string): string | undefined =>
  endpointsOf(slices, service).find(({ pod, ready }) => pod === name && ready)?.address

/** What is missing where the short names lead to the unit's own pods on each node, and the full ones to what they say, as the cluster had it. */
export const missingNames = ({ names }: Scene, truth: Scene, asked: Lookup): readonly string[] =>
  asked.nodes.flatMap(({ node, unit }) => {
    const got = names.find((each) => each.node === node)?.got ?? "nobody asked"
    if (typeof got === "string") return [`CoreDNS on ${node}: ${got}`]
    return asked.ordinals.flatMap((ordinal) =>
      [
        { host: `${asked.grid}-${ordinal}`, pod: `${asked.grid}-${unit}-${ordinal}` },
        ...asked.nodes
          .map((other) => `${asked.grid}-${other.unit}-${ordinal}`)
          .map((pod) => ({ host: pod, pod }))
      ].flatMap(({ host, pod }) => {
        const address = addressOf(truth, asked, pod)
        if (address === undefined) return [`the slices of ${asked.service} hold no ready pod ${pod}`]
        const answer = got.get(host)?.join(", ")
        return answer === address
          ? []
          : [`${host}.${asked.service} is ${answer ?? "nothing"} on ${node}; it should be ${address}`]
      })
    )
  })

/** A line for each name, a column for each node; each line at most so wide. */
export const resolving = (scene: Scene, asked: Lookup, width: number, paint: Paint): readonly string[] => {
  const pods = new Map(endpointsOf(scene.slices, asked.service).map(({ address, pod }) => [address, pod]))
  const hosts = asked.ordinals.map((ordinal) => `${asked.grid}-${ordinal}`)
  const full = asked.nodes.map(({ unit }) => `${asked.grid}-${unit}-0`)
  const titles = ["NAME", ...asked.nodes.map(({ node, unit }) => `ON ${node} (${unit})`)]
  const rows = [...hosts, ...full].map((host): readonly Cell[] => [
    { text: `${host}.${asked.service}`, paint: paint.bold },
    ...asked.nodes.map(({ node, unit }): Cell => {
      const got = scene.names.find((each) => each.node === node)?.got
      if (typeof got === "string" || got === undefined) return { text: got ?? "-", paint: paint.yellow }
      const addresses = got.get(host) ?? []
      const text = addresses.map((each) => `${each} ${pods.get(each) ?? ""}`.trim()).join(", ")
      const own = addresses.every((each) => pods.get(each)?.startsWith(`${asked.grid}-${unit}-`) === true)
      return {
        text: text === "" ? "no such name" : text,
        paint: !hosts.includes(host) ? paint.dim : own ? paint.green : paint.yellow
      }
    })
  ])
  return [
    ...table([titles.map((text): Cell => ({ text, paint: paint.dim })), ...rows], width),
    paint.dim(cut("Each name ends in .default.svc.cluster.local.", width))
  ]
}
