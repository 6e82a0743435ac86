/** Services that are made and edited. */
import { expect } from "vitest"
import { at } from "../../client.ts"
import { until } from "../../deadline.ts"
import { shown } from "../expected.ts"
import { mates, NODES, PLACES } from "../places.ts"
import { ENDPOINTS, MADE, type Pod, type Scene, SERVICE, type Story } from "../scene.ts"
import { answersFromUnits, DEFAULT, ECHO, inUnit, names, orNobody, patched } from "./deeds.ts"

export const EDITS: readonly Story[] = [
  {
    name: "a Service without topologyKeys crosses units; with them it keeps to the node's surroundings",
    play: async (scene) => {
      await made(scene, "plain", { selector: ECHO, ports: [PORT_80] })
      await scene.settled()
      const all = names(await scene.pods())
      for (const [node, answered] of await scene.asked("plain", 100)) expect(answered, node).toEqual(all)
      for (const [keys, near] of KEYS) {
        await annotated(scene, "plain", keys)
        await scene.settled()
        const pods = await scene.pods()
        for (const [node, answered] of await scene.asked("plain", 100))
          expect(answered, `${node} with ${keys}`).toEqual(orNobody(near(node, pods)))
      }
      await scene.plane.client.remove(`${DEFAULT}/services/plain`)
      await scene.settled()
    }
  },
  {
    name: "topologyKeys of the grid that are changed change the rules",
    play: async (scene) => {
      const node = "kubernetes.io/hostname"
      await scene.change({ what: "the grid keeps to the node first" }, async () => {
        await patched(scene, "servicegrids/servicegrid-demo", { spec: { topologyKeys: [node, "location"] } })
        await annotationIs(scene, JSON.stringify([node, "location"]))
      })
      const pods = await scene.pods()
      for (const [from, answered] of await scene.asked(SERVICE, 100))
        expect(answered, from).toEqual(orNobody(nodeFirst(from, pods)))
      await scene.change({ what: "the grid keeps to the unit again" }, async () => {
        await patched(scene, "servicegrids/servicegrid-demo", { spec: { topologyKeys: null } })
        await annotationIs(scene, '["location"]')
      })
      await answersFromUnits(scene, 50)
    }
  },
  {
    name: "a headless Service shows all its pods on every node, or the unit's where its scope is the unit",
    play: async (scene) => {
      await made(scene, "headless", { selector: ECHO, ports: [PORT_80], clusterIP: "None" })
      await annotated(scene, "headless", '["location"]')
      const all = (await scene.pods()).map(({ address }) => address).sort()
      await scene.settled()
      for (const node of NODES) await listed(scene, "headless", node, all)
      const scope = { metadata: { annotations: { "superedge.io/headless-scope": "unit" } } }
      await scene.plane.client.patch(`${DEFAULT}/services/headless`, "merge", scope)
      const own = (node: string): readonly string[] =>
        mates(PLACES, node).flatMap((mate) =>
          all.filter((each) => each.startsWith(`10.244.${NODES.indexOf(mate) + 1}.`))
        )
      for (const node of NODES) await listed(scene, "headless", node, own(node))
      await scene.plane.client.remove(`${DEFAULT}/services/headless`)
      await scene.settled()
    }
  },
  {
    name: "a local endpoint of the API server takes its place on every node, and is gone with its annotations",
    play: async (scene) => {
      const says = (address: string | null, port: string | null): Promise<unknown> =>
        scene.plane.client.patch(ENDPOINTS, "merge", {
          metadata: {
            annotations: { "superedge.io/local-endpoint": address, "superedge.io/local-port": port }
          }
        })
      const leads = async (): Promise<ReadonlySet<string>> =>
        new Set(
          (await Promise.all(NODES.map((node) => scene.rules(node)))).map(
            (rules) => rules.get(API)?.join() ?? ""
          )
        )
      const before = await leads()
      expect(before.size).toBe(1)
      await says("169.254.20.11", "51003")
      await scene.settled()
      expect(await leads()).toEqual(new Set(["169.254.20.11:51003"]))
      await says(null, null)
      await scene.settled()
      expect(await leads()).toEqual(before)
    }
  }
]

/** The Service of the API server itself. */
const API = "10.96.0.1:443/tcp"

const PORT_80 = { port: 80, targetPort: 8080 }

const onNode = (node: string, pods: readonly Pod[]): readonly Pod[] => pods.filter((pod) => pod.node === node)

/** Those on the node, or where there are none those of its unit. */
const nodeFirst = (node: string, pods: readonly Pod[]): readonly Pod[] => {
  const own = onNode(node, pods)
  return own.length > 0 ? own : inUnit(node, pods)
}

type Near = (node: string, pods: readonly Pod[]) => readonly Pod[]

/** Values of the annotation, one edited into the next, and who must answer then. */
const KEYS: readonly (readonly [string | null, Near])[] = [
  ['["location"]', inUnit],
  ['["kubernetes.io/hostname","location"]', nodeFirst],
  ['["kubernetes.io/hostname"]', onNode],
  ["location", onNode],
  ['["rack","*"]', (_, pods) => pods],
  [null, (_, pods) => pods]
]

const made = (scene: Scene, name: string, spec: unknown): Promise<unknown> =>
  scene.plane.client.create(`${DEFAULT}/services`, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, labels: { [MADE]: "" } },
    spec
  })

const annotated = (scene: Scene, name: string, topologyKeys: string | null): Promise<unknown> =>
  scene.plane.client.patch(`${DEFAULT}/services/${name}`, "merge", {
    metadata: { annotations: { topologyKeys } }
  })

const annotationIs = (scene: Scene, wanted: string): Promise<unknown> =>
  until({ what: `topologyKeys ${wanted} on ${SERVICE}`, seconds: 30 }, async () => {
    const service = await scene.plane.client.get(`${DEFAULT}/services/${SERVICE}`)
    return at(service, "metadata", "annotations", "topologyKeys") === wanted
  })

/** Waits until a node's wrapper lists these addresses for a Service, and says the same as the published decision. */
const listed = (scene: Scene, name: string, node: string, addresses: readonly string[]): Promise<unknown> =>
  until({ what: `${addresses.join(", ")} in the slices of ${name} on ${node}`, seconds: 30 }, async () => {
    const path = `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D${name}`
    const items = at(await scene.station(node).shown(path), "items") as Parameters<typeof addressesOf>[0]
    const found = await scene.objects()
    const service = found.services.find(({ metadata }) => metadata.name === name)
    const decided = service === undefined ? [] : addressesOf(shown(found, service, node))
    const told = addressesOf(items)
    if (told.join() === addresses.join() && decided.join() === told.join()) return true
    throw new Error(`listed: ${told.join(", ")}; decided: ${decided.join(", ")}`)
  })

const addressesOf = (slices: ReturnType<typeof shown>): readonly string[] =>
  slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])).sort()
