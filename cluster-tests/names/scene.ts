/**
 * Six nodes at two places; on one node of each, two CoreDNS: one beside the daemon, one behind the wrapper. The real control plane and the built
 * controller are on the other end of a wire. In guangzhou the cluster's domain is another one, so that none is taken for granted.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { at } from "../client.ts"
import { type ControlPlane, kubeconfigOf } from "../control-plane.ts"
import { until } from "../deadline.ts"
import { done } from "../kubectl.ts"
import type { Agent } from "../traffic/agents.ts"
import type { Network } from "../traffic/network.ts"
import { PLACES } from "../traffic/places.ts"
import { ground, inhabited } from "../traffic/scene.ts"
import { admitted, upstreamOf } from "../traffic/stations.ts"
import type { Form } from "./corefile.ts"
import { Desk, DNS_LISTEN, type Means } from "./desks.ts"
import { LABELS, objects } from "./families.ts"

const MANIFESTS = join(import.meta.dirname, "../../manifests")
const EXAMPLES = join(MANIFESTS, "examples")

const FORMS: readonly Form[] = ["daemon", "serving"]

const DOMAINS = new Map([
  ["bj-1", "cluster.local"],
  ["gz-1", "edge.local"]
])

export interface Story {
  readonly name: string
  readonly play: (on: Scene) => Promise<void>
}

export class Scene {
  readonly plane: ControlPlane
  readonly network: Network
  readonly desks: readonly Desk[]
  readonly #left: AsyncDisposableStack

  private constructor(plane: ControlPlane, net: Network, desks: readonly Desk[], left: AsyncDisposableStack) {
    this.plane = plane
    this.network = net
    this.desks = desks
    this.#left = left
  }

  static async open(): Promise<Scene> {
    await using opened = new AsyncDisposableStack()
    const { net, plane } = await ground(opened)
    try {
      const agents = await inhabited(plane, net, opened)
      await placed(plane)
      for (const [name, labels] of Object.entries(LABELS))
        await plane.client.patch(`/api/v1/nodes/${name}`, "merge", { metadata: { labels } })
      await done(plane.kubectl(["apply", "-f", join(EXAMPLES, "echo-headless.yaml")]))
      await done(plane.kubectl(["apply", "-f", "-"], { input: JSON.stringify(listOf(objects())) }))
      const desks = await manned(plane, agents)
      opened.defer(async () => void (await Promise.all(desks.map((each) => each.crash("coredns", "helper")))))
      for (const part of ["helper", "coredns"] as const) {
        for (const desk of desks) desk.start(part)
        await Promise.all(desks.map((desk) => desk.ready(part)))
      }
      return new Scene(plane, net, desks, opened.move())
    } catch (error) {
      plane.keepLogs()
      const words = error instanceof Error ? error.message : String(error)
      throw new Error(`the scene did not begin (logs: ${plane.folder}): ${words}`, { cause: error })
    }
  }

  async close(): Promise<void> {
    await this.#left.disposeAsync()
  }

  of(form: Form): readonly Desk[] {
    return this.desks.filter((desk) => desk.form === form)
  }
}

const listOf = (items: readonly unknown[]): unknown => ({ apiVersion: "v1", kind: "List", items })

/** The walkthrough's sites: each node with the label of its unit. */
const placed = async (plane: ControlPlane): Promise<void> => {
  await done(plane.kubectl(["apply", "-f", join(EXAMPLES, "sites.yaml")]))
  await until({ what: "nodes with the labels of their units", seconds: 60 }, async () =>
    (await plane.client.items("/api/v1/nodes")).every(
      (node) => at(node, "metadata", "labels", "location") === PLACES[String(at(node, "metadata", "name"))]
    )
  )
}

const manned = async (plane: ControlPlane, agents: readonly Agent[]): Promise<readonly Desk[]> => {
  const admit = async (name: string, manifest: string): Promise<string> => {
    const path = join(plane.folder, `${name}.kubeconfig`)
    writeFileSync(path, kubeconfigOf(await admitted(plane, join(MANIFESTS, manifest))))
    return path
  }
  const upstream = await upstreamOf(plane)
  await done(plane.kubectl(["apply", "-f", join(MANIFESTS, "wrapper-dns/access.yaml")]))
  const means: Means = {
    folder: plane.folder,
    daemon: await admit("dns", "dns/access.yaml"),
    coredns: await admit("coredns", "dns/coredns.yaml"),
    upstream: { ...upstream, more: [`--dns-listen=${DNS_LISTEN}`] }
  }
  return agents.flatMap((agent) => {
    const domain = DOMAINS.get(agent.node.name)
    return domain === undefined ? [] : FORMS.map((form) => new Desk(form, agent, domain, means))
  })
}
