/**
 * Six nodes at two places with real traffic: a network namespace each, in it a wrapper and a kube-proxy, echo servers on the pods' addresses, and
 * a caller that asks the walkthrough's Service all along. The real control plane and the built controller are on the other end of a wire.
 */
import { join } from "node:path"
import { at } from "../client.ts"
import { type ControlPlane, controlPlane } from "../control-plane.ts"
import { ACCOUNT, controller, deployed } from "../controller.ts"
import { until } from "../deadline.ts"
import { kubelet } from "../kubelet.ts"
import { done } from "../kubectl.ts"
import { readied } from "../nodes.ts"
import { Agent } from "./agents.ts"
import { Callers, type Count, type Rule } from "./callers.ts"
import { expected, type Objects, objects } from "./expected.ts"
import { type Network, network } from "./network.ts"
import { mates, NODES, PLACES, type Units } from "./places.ts"
import { pods } from "./pods.ts"
import type { Mode } from "./proxies.ts"
import { programmed, type Rules } from "./rules.ts"
import { type Station, staffed } from "./stations.ts"

const EXAMPLES = join(import.meta.dirname, "../../manifests/examples")
/** The walkthrough's Service, which the callers ask. */
export const SERVICE = "servicegrid-demo-svc"
/** What stories make besides carries this label. */
export const MADE = "traffic-story"
const PODS = "/api/v1/namespaces/default/pods"
const NODE_UNITS = "/apis/site.superedge.io/v1alpha2/nodeunits"
/** Of the API server itself. */
export const ENDPOINTS = "/api/v1/namespaces/default/endpoints/kubernetes"

export interface Story {
  readonly name: string
  readonly play: (scene: Scene) => Promise<void>
}

export interface Pod {
  readonly name: string
  readonly node: string
  readonly address: string
}

interface Change {
  /** what goes on, for whoever reads of a failure */
  readonly what: string
  /** the nodes to which it may happen meanwhile that nobody answers */
  readonly unanswered?: readonly string[]
  /** the units as they become */
  readonly units?: Units
}

/** The six nodes' network, and a control plane that they reach; both end with what they are opened into. */
export const ground = async (opened: AsyncDisposableStack) => {
  const net = opened.adopt(await network(NODES), (each) => each.end())
  const plane = opened.adopt(await controlPlane({ controllers: "built-in", address: net.address }), (each) =>
    each.stop()
  )
  return { net, plane }
}

export class Scene {
  readonly plane: ControlPlane
  readonly network: Network
  readonly mode: Mode
  /** one a node */
  readonly stations: readonly Station[]
  readonly #callers: Callers
  /** all that ends with it */
  #left: AsyncDisposableStack | undefined
  #units = PLACES

  private constructor(plane: ControlPlane, net: Network, mode: Mode, stations: readonly Station[]) {
    this.plane = plane
    this.network = net
    this.mode = mode
    this.stations = stations
    this.#callers = new Callers(stations.map(({ agent }) => agent))
  }

  static async open(mode: Mode): Promise<Scene> {
    await using opened = new AsyncDisposableStack()
    const { net, plane } = await ground(opened)
    try {
      const stations = await furnished(plane, net, mode, opened)
      const scene = new Scene(plane, net, mode, stations)
      await scene.#begin()
      scene.#left = opened.move()
      return scene
    } catch (error) {
      plane.keepLogs()
      const words = error instanceof Error ? error.message : String(error)
      throw new Error(`the scene did not begin (logs: ${plane.folder}): ${words}`, { cause: error })
    }
  }

  async close(): Promise<void> {
    await this.#left?.disposeAsync()
  }

  station(node: string): Station {
    const found = this.stations.find(({ agent }) => agent.node.name === node)
    if (found === undefined) throw new Error(`there is no node ${node}`)
    return found
  }

  /** Does something, waits until every node's rules are as they must be, and lets no request be answered meanwhile as it may not. */
  async change(
    { what, unanswered = [], units = this.#units }: Change,
    body: () => Promise<unknown>
  ): Promise<void> {
    const [before, after] = [ruled("", this.#units), ruled("", units)]
    this.#callers.under({
      what,
      may: (node) => new Set([...before.may(node), ...after.may(node)]),
      unanswered: new Set([...unanswered, ...before.unanswered, ...after.unanswered])
    })
    this.#units = units
    await this.#place(units)
    await body()
    await this.settled()
    this.#callers.under(ruled(`after: ${what}`, units))
  }

  /** Waits until every node's rules lead where they must, by the API server's objects or by those that are given. */
  async settled(given?: Objects): Promise<void> {
    await until({ what: "rules as they must be on every node", seconds: 90 }, async () => {
      const found = given ?? (await objects(this.plane.client))
      if (given === undefined) await this.#caughtUp(found)
      for (const node of NODES) {
        const difference = differs(await this.rules(node), expected(found, node))
        if (difference !== undefined) throw new Error(`${node}: ${difference}`)
      }
      return true
    })
  }

  /** The rules that a node's kube-proxy has programmed. */
  rules(node: string): Promise<Rules> {
    return programmed(this.station(node).agent.node, this.mode)
  }

  objects(): Promise<Objects> {
    return objects(this.plane.client)
  }

  /** From each node so many requests to a Service's cluster IP; gives the pods that answered, and why others weren't answered. */
  async asked(service: string, times: number): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const url = await this.#url(service)
    const heard = NODES.map(async (node) => {
      const replies = await this.station(node).agent.ask(url, times)
      const names = replies.map(({ answer, failure }) => answer?.split(" ")[0] ?? failure ?? "")
      return [node, new Set(names)] as const
    })
    return new Map(await Promise.all(heard))
  }

  /** The ready pods behind the walkthrough's Service, those that are ending aside. */
  async pods(): Promise<readonly Pod[]> {
    const found = await this.plane.client.items(`${PODS}?labelSelector=appGrid%3Decho`)
    return found.filter(isReady).map((pod) => ({
      name: String(at(pod, "metadata", "name")),
      node: String(at(pod, "spec", "nodeName")),
      address: String(at(pod, "status", "podIP"))
    }))
  }

  /** Waits until so many of them are ready in each unit's Deployment, and no other is but those that are ending. */
  async ready(counts: Readonly<Record<string, number>>): Promise<void> {
    // the pods of a unit that has gone end after its grace of a minute
    await until({ what: `ready pods: ${JSON.stringify(counts)}`, seconds: 150 }, async () => {
      const all = (await this.plane.client.items(`${PODS}?labelSelector=appGrid%3Decho,!${MADE}`)).filter(
        (pod) => at(pod, "metadata", "deletionTimestamp") === undefined
      )
      const names = (await this.pods()).map(({ name }) => name)
      const of = (unit: string): number =>
        names.filter((name) => name.startsWith(`deploymentgrid-demo-${unit}-`)).length
      const wanted = Object.values(counts).reduce((a, b) => a + b, 0)
      if (all.length === wanted && Object.entries(counts).every(([unit, count]) => of(unit) === count))
        return true
      throw new Error(`there are ${all.length}, ready: ${names.join(", ")}`)
    })
  }

  /** Judges all that the callers heard since the last time. */
  judge(): Promise<ReadonlyMap<string, Count>> {
    return this.#callers.judge()
  }

  /** Makes all as it was in the beginning, after a story that failed. */
  async mend(): Promise<void> {
    this.#callers.under(ANYTHING)
    await this.network.heal()
    for (const station of this.stations) await station.restart()
    for (const kind of ["services", "pods"]) {
      const path = `/api/v1/namespaces/default/${kind}`
      for (const each of await this.plane.client.items(`${path}?labelSelector=${MADE}`))
        await this.plane.client.remove(`${path}/${String(at(each, "metadata", "name"))}`)
    }
    const local = { "superedge.io/local-endpoint": null, "superedge.io/local-port": null }
    await this.plane.client.patch(ENDPOINTS, "merge", { metadata: { annotations: local } })
    for (const node of NODES)
      await this.plane.client.patch(`/api/v1/nodes/${node}`, "merge", { spec: { unschedulable: null } })
    for (const pod of await this.plane.client.items(PODS))
      await this.plane.client.patch(`${PODS}/${String(at(pod, "metadata", "name"))}`, "merge", {
        metadata: { finalizers: null }
      })
    await done(this.plane.kubectl(["delete", "pods", "-l", "appGrid=echo", "--wait"]))
    this.#units = PLACES
    await this.#place(PLACES)
    await this.#walk()
    this.#callers.under(ruled("after mending", PLACES))
    await this.#callers.forget()
  }

  async #begin(): Promise<void> {
    await done(this.plane.kubectl(["apply", "-f", join(EXAMPLES, "sites.yaml")]))
    await this.#place(PLACES)
    await this.#walk()
    await this.#callers.begin(await this.#url(SERVICE), ruled("nothing", PLACES))
  }

  /** The walkthrough's grids, as in the example. */
  async #walk(): Promise<void> {
    await done(this.plane.kubectl(["apply", "-f", join(EXAMPLES, "echo-deployment.yaml")]))
    await this.ready({ beijing: 2, guangzhou: 2 })
    await this.settled()
  }

  /** Edits the sites so that the nodes are in these units. A node comes to its new unit before it leaves the old one: so it is never in none. */
  async #place(units: Units): Promise<void> {
    const sites = await this.plane.client.items(NODE_UNITS)
    const named = sites
      .map((site) => String(at(site, "metadata", "name")))
      .filter((name) => Object.values(PLACES).includes(name))
    const wanted = (unit: string): readonly string[] => NODES.filter((node) => units[node] === unit)
    const before = new Map(
      sites.map((site) => [
        String(at(site, "metadata", "name")),
        (at(site, "spec", "nodes") ?? []) as readonly string[]
      ])
    )
    const edit = (unit: string, nodes: readonly string[]): Promise<unknown> =>
      this.plane.client.patch(`${NODE_UNITS}/${unit}`, "merge", { spec: { nodes } })
    for (const unit of named) await edit(unit, [...new Set([...(before.get(unit) ?? []), ...wanted(unit)])])
    for (const unit of named) await edit(unit, wanted(unit))
    await until({ what: "nodes with the labels of their units", seconds: 30 }, async () => {
      const nodes = await this.plane.client.items("/api/v1/nodes")
      return nodes.every(
        (node) => at(node, "metadata", "labels", "location") === units[String(at(node, "metadata", "name"))]
      )
    })
  }

  /** Fails while the slices don't say what the pods do. */
  async #caughtUp({ services, slices }: Objects): Promise<void> {
    const found = await this.plane.client.items(PODS)
    for (const service of services) {
      const selector = at(service, "spec", "selector")
      if (selector === undefined) continue
      const own = slices.filter(
        ({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service.metadata.name
      )
      const listed = own.flatMap((slice) =>
        (slice.endpoints ?? []).map(
          (each) => `${each.addresses?.[0] ?? ""} ${each.conditions?.ready ?? true}`
        )
      )
      const wanted = found
        .filter((pod) => at(pod, "status", "podIP") !== undefined && isSelected(pod, selector))
        .map((pod) => `${String(at(pod, "status", "podIP"))} ${isReady(pod)}`)
      if (listed.sort().join() !== wanted.sort().join())
        throw new Error(
          `the slices of ${service.metadata.name} are late: ${listed.join()}, not ${wanted.join()}`
        )
    }
  }

  async #url(service: string): Promise<string> {
    const found = await this.plane.client.get(`/api/v1/namespaces/default/services/${service}`)
    return `http://${String(at(found, "spec", "clusterIP"))}:${String(at(found, "spec", "ports", 0, "port"))}/`
  }
}

/** All that runs. It ends with `opened`. */
const furnished = async (
  plane: ControlPlane,
  net: Network,
  mode: Mode,
  opened: AsyncDisposableStack
): Promise<readonly Station[]> => {
  const stations = await staffed(plane, await inhabited(plane, net, opened), mode)
  opened.defer(async () => void (await Promise.all(stations.map((each) => each.end()))))
  for (const station of stations) await station.ready()
  return stations
}

/** Agents, kubelet, nodes and controller; they end with `opened`. */
export const inhabited = async (
  plane: ControlPlane,
  net: Network,
  opened: AsyncDisposableStack
): Promise<readonly Agent[]> => {
  const agents = new Map([...net.nodes.values()].map((node) => [node.name, new Agent(node, plane.folder)]))
  opened.defer(async () => void (await Promise.all([...agents.values()].map((each) => each.end()))))
  opened.adopt(kubelet(plane.client, pods(agents)), (each) => each.stop())
  await done(plane.kubectl(["apply", "-f", join(EXAMPLES, "nodes.yaml")]))
  for (const { name, address } of net.nodes.values()) await readied(plane.client, name, address)
  await deployed(plane)
  await (await controller(plane, ACCOUNT, ["--max-nodes-changed", "100%"])).ready()
  return [...agents.values()]
}

const ANYTHING: Rule = { what: "mending", may: () => new Set(NODES), unanswered: new Set(NODES) }

/** Every node is answered from its unit; one in no unit by its own pods, or by nobody. */
const ruled = (what: string, units: Units): Rule => ({
  what,
  may: (node) => new Set(mates(units, node)),
  unanswered: new Set(NODES.filter((node) => units[node] === undefined))
})

const differs = (is: Rules, wanted: Rules): string | undefined => {
  const one = [...new Set([...is.keys(), ...wanted.keys()])].find(
    (service) => is.get(service)?.join() !== wanted.get(service)?.join()
  )
  if (one === undefined) return undefined
  const told = (rules: Rules): string => rules.get(one)?.join() ?? "no rule"
  return `${one} leads to ${told(is) || "nobody"}, not to ${told(wanted) || "nobody"}`
}

const isReady = (pod: unknown): boolean =>
  at(pod, "metadata", "deletionTimestamp") === undefined &&
  ((at(pod, "status", "conditions") ?? []) as readonly unknown[]).some(
    (each) => at(each, "type") === "Ready" && at(each, "status") === "True"
  )

const isSelected = (pod: unknown, selector: unknown): boolean =>
  Object.entries(selector as object).every(([key, value]) => at(pod, "metadata", "labels", key) === value)
