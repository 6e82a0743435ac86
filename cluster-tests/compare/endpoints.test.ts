/**
 * What the embedded cluster's controllers make of Services and pods, beside what the real ones make of the same objects: core Endpoints and slices,
 * step by step, but for uids, the names of slices and the order that hangs on them.
 */
import { expect } from "vitest"
import type { KubeObject } from "../../src/embedded/cluster.ts"
import { controllers, settled, told, world, type World } from "../../src/embedded/controllers.ts"
import { list, start, step } from "../../src/embedded/model.ts"
import { subsets, type Offer, type Subset } from "../../src/embedded/subsets.ts"
import { at, type Client } from "../client.ts"
import { until } from "../deadline.ts"
import { node } from "../nodes.ts"
import { ownPlane } from "../own-plane.ts"
import { clusterTest } from "../skip.ts"
import { differences } from "./differences.ts"
import { PODS, SERVICES, STEPS } from "./endpoints.ts"
import type { Ask } from "./turns.ts"

const BASE = "/api/v1/namespaces/default"
const ZONES = { n1: { "topology.kubernetes.io/zone": "za" }, n2: {} }

const plane = ownPlane({ controllers: "built-in" }, async ({ client }) => {
  for (const [name, labels] of Object.entries(ZONES)) await node(client, name, labels)
})

clusterTest(
  "the built-in controllers write the Endpoints and the slices that the real ones write",
  async () => {
    const { client } = plane()
    const model = new Embedded()
    for (const [name, labels] of Object.entries(ZONES))
      model.ask({ method: "POST", path: "/api/v1/nodes", body: { metadata: { name, labels } } })
    const both = async (ask: Ask): Promise<void> => {
      const { code, body } = await client.ask(ask.method, ask.path, ask.body, ask.contentType)
      if (code >= 300) throw new Error(`${ask.method} ${ask.path}: ${JSON.stringify(body)}`)
      model.ask(ask)
    }
    for (const { name, spec, status, labels, deleted } of PODS) {
      await both({ method: "POST", path: `${BASE}/pods`, body: { metadata: { name, labels }, spec } })
      const contentType = "application/merge-patch+json"
      await both({ method: "PATCH", path: `${BASE}/pods/${name}/status`, contentType, body: { status } })
      if (deleted) await both({ method: "DELETE", path: `${BASE}/pods/${name}` })
    }
    for (const service of SERVICES) await both({ method: "POST", path: `${BASE}/services`, body: service })
    await agreed(client, model, "of the Services as they are made")
    for (const { what, asks } of STEPS) {
      for (const ask of asks) await both(ask)
      await agreed(client, model, what)
    }
  }
)

clusterTest(
  "the real controller's subsets stand in the order that the embedded cluster gives them",
  async () => {
    const all = (await plane().client.items(`${BASE}/endpoints`)) as readonly Endpoints[]
    const several = all.filter((each) => (each.subsets ?? []).length > 1)
    expect(several.length).toBeGreaterThan(0)
    for (const each of all)
      expect(subsets((each.subsets ?? []).flatMap(offersOf))).toEqual(each.subsets ?? [])
  }
)

interface Endpoints extends KubeObject {
  readonly subsets?: readonly Subset[]
}

const offersOf = ({ addresses = [], notReadyAddresses = [], ports = [] }: Subset): readonly Offer[] => {
  const shown = [
    ...addresses.map((address) => ({ address, ready: true })),
    ...notReadyAddresses.map((address) => ({ address, ready: false }))
  ]
  const open: readonly Offer["port"][] = ports.length === 0 ? [undefined] : ports
  return shown.flatMap((each) => open.map((port) => ({ ...each, port })))
}

/** The embedded cluster with the controllers of endpoints alone: pods are as they are told to be. */
class Embedded {
  #world: World = world(start(Date.now()), controllers(["slices", "endpoints"]), Date.now())

  ask({ method, path, body, contentType = "application/json" }: Ask): void {
    const now = Date.now()
    const request = { method, path, query: {}, body, contentType, at: now }
    const { cluster, response, changes } = step(this.#world.look.cluster, request)
    if (response.code >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(response.body)}`)
    this.#world = settled(told(this.#world, cluster, changes, now), now).world
  }

  all(resource: string): readonly KubeObject[] {
    return list(this.#world.look.cluster, resource, "default")
  }
}

const agreed = async (client: Client, model: Embedded, what: string): Promise<void> => {
  const there = seen({
    services: model.all("/services"),
    endpoints: model.all("/endpoints"),
    slices: model.all("discovery.k8s.io/endpointslices")
  })
  await until({ what: `the same endpoints ${what}`, seconds: 60 }, async () => {
    const [services, endpoints, slices] = await Promise.all(
      [
        `${BASE}/services`,
        `${BASE}/endpoints`,
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
      ].map((path) => client.items(path) as Promise<readonly KubeObject[]>)
    )
    const here = seen({ services: services ?? [], endpoints: endpoints ?? [], slices: slices ?? [] })
    const found = [...differences(here, there, "")]
    if (found.length > 0) throw new Error(JSON.stringify(found.slice(0, 5)))
    return true
  })
}

interface Objects {
  readonly services: readonly KubeObject[]
  readonly endpoints: readonly KubeObject[]
  readonly slices: readonly KubeObject[]
}

/** By Service: its Endpoints, and its slices in the order of what they say. */
const seen = ({ services, endpoints, slices }: Objects): unknown =>
  Object.fromEntries(
    services
      .filter(({ metadata }) => metadata.name !== "kubernetes")
      .map(({ metadata: { name, creationTimestamp } }) => {
        const plain = (object: KubeObject): unknown => veiled(object, creationTimestamp ?? "")
        const own = slices.filter(
          ({ metadata: { labels } }) =>
            labels?.["kubernetes.io/service-name"] === name &&
            labels["endpointslice.kubernetes.io/managed-by"] === "endpointslice-controller.k8s.io"
        )
        const found = endpoints.find(({ metadata }) => metadata.name === name)
        return [name, { endpoints: found && plain(found), slices: inOrder(own.map(plain)) }]
      })
  )

const UNLIKE = ["uid", "resourceVersion", "generation", "creationTimestamp", "time", "generateName"]

/** Within the names of owned fields. */
const UID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** Lists whose order hangs on uids, or on nothing. */
const UNORDERED = ["subsets", "endpoints"]

/** An object without what differs from run to run; a time is told by whether it is that of the Service. */
const veiled = (value: unknown, created: string): unknown => {
  if (Array.isArray(value)) return value.map((each) => veiled(each, created))
  if (typeof value === "string") return value === created ? "<created>" : value
  if (typeof value !== "object" || value === null) return value
  const isSlice = at(value, "metadata", "generateName") !== undefined
  const fields = Object.entries(value)
    .filter(([name]) => !UNLIKE.includes(name) && !["kind", "apiVersion"].includes(name))
    .map(([name, each]) => {
      const plain = veiled(each, created)
      return [
        name.replace(UID, "<uid>"),
        UNORDERED.includes(name) && Array.isArray(plain) ? inOrder(plain) : plain
      ] as const
    })
  const made = Object.fromEntries(fields) as Readonly<Record<string, unknown>>
  return isSlice ? { ...made, metadata: { ...(made["metadata"] as object), name: "<name>" } } : made
}

const inOrder = (all: readonly unknown[]): readonly unknown[] =>
  all
    .map((each) => [sorted(each), each] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, each]) => each)

/** JSON with sorted keys. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each
  )
