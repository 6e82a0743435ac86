/** Pods and nodes that come, go and move. */
import { expect } from "vitest"
import { at } from "../../client.ts"
import { BEIJING, GUANGZHOU, NODES, PLACES } from "../places.ts"
import type { Rules } from "../rules.ts"
import type { Pod, Scene, Story } from "../scene.ts"
import { answersFromUnits, DEFAULT, GRIDS, nothing, patched, podIn, withoutPods } from "./deeds.ts"

export const MOVES: readonly Story[] = [
  {
    name: "only pods of the own unit answer, in 200 requests from each node",
    play: async (scene) => {
      await answersFromUnits(scene, 200)
    }
  },
  {
    name: "pods that move to another node are found there",
    play: async (scene) => {
      const { node } = await podIn(scene, "beijing")
      const moved = (await scene.pods()).filter((pod) => pod.node === node)
      await scene.change({ what: `all pods leave ${node}`, unanswered: BEIJING }, async () => {
        await cordon(scene, node, true)
        for (const { name } of moved) await scene.plane.client.remove(`${DEFAULT}/pods/${name}`)
        await scene.ready({ beijing: 2, guangzhou: 2 })
      })
      expect((await scene.pods()).map((pod) => pod.node)).not.toContain(node)
      await answersFromUnits(scene, 50)
      await cordon(scene, node, false)
    }
  },
  {
    name: "pods that end slowly are used until others are ready, and no request is lost",
    play: async (scene) => {
      const ending = (await scene.pods()).filter(({ node }) => PLACES[node] === "guangzhou")
      await scene.change({ what: "guangzhou's pods end slowly" }, async () => {
        await Promise.all(GUANGZHOU.map((node) => cordon(scene, node, true)))
        await Promise.all(ending.map((pod) => finalizers(scene, pod, ["servicegroup.test/slow"])))
        await Promise.all(ending.map(({ name }) => scene.plane.client.remove(`${DEFAULT}/pods/${name}`)))
        await scene.settled()
        for (const node of GUANGZHOU)
          expect((await scene.rules(node)).values().toArray(), node).toContainEqual(behind(ending))
      })
      await scene.change({ what: "others take their place" }, async () => {
        await Promise.all(GUANGZHOU.map((node) => cordon(scene, node, false)))
        await scene.ready({ beijing: 2, guangzhou: 2 })
      })
      await answersFromUnits(scene, 50)
      await scene.change({ what: "the slow pods are gone" }, () =>
        Promise.all(ending.map((pod) => finalizers(scene, pod, null)))
      )
    }
  },
  {
    name: "a node that changes its unit takes its pods along",
    play: async (scene) => {
      const { node } = await podIn(scene, "beijing")
      const moved = { ...PLACES, [node]: "guangzhou" }
      await scene.change({ what: `${node} goes to guangzhou`, units: moved }, nothing)
      await answersFromUnits(scene, 50, moved)
      await scene.change({ what: `${node} comes back`, units: PLACES }, nothing)
      await answersFromUnits(scene, 50)
    }
  },
  {
    name: "a node without pods that changes its unit changes its own traffic, and no other node's rules",
    play: async (scene) => {
      const [node = ""] = await withoutPods(scene, BEIJING)
      const others = NODES.filter((each) => each !== node)
      const rules = (): Promise<readonly Rules[]> => Promise.all(others.map((each) => scene.rules(each)))
      const before = await rules()
      const own = await scene.rules(node)
      const moved = { ...PLACES, [node]: "guangzhou" }
      await scene.change({ what: `${node} goes to guangzhou`, units: moved }, nothing)
      await answersFromUnits(scene, 50, moved)
      expect(await scene.rules(node)).toEqual(await scene.rules("gz-1"))
      expect(await rules()).toEqual(before)
      await scene.change({ what: `${node} comes back`, units: PLACES }, nothing)
      await answersFromUnits(scene, 50)
      expect(await scene.rules(node)).toEqual(own)
      expect(await rules()).toEqual(before)
    }
  },
  {
    name: "a node that leaves its unit reaches its own pods alone",
    play: async (scene) => {
      const host = await podIn(scene, "guangzhou")
      const leaving = [host.node, ...(await withoutPods(scene, GUANGZHOU))]
      const left = Object.fromEntries(Object.entries(PLACES).filter(([node]) => !leaving.includes(node)))
      await scene.change({ what: `${leaving.join(", ")} leave`, units: left }, nothing)
      await answersFromUnits(scene, 50, left)
      await scene.change({ what: "they come back", units: PLACES }, nothing)
      await answersFromUnits(scene, 50)
    }
  },
  {
    name: "a unit whose pods aren't ready is answered by nobody",
    play: async (scene) => {
      const all = (await scene.pods()).filter(({ node }) => PLACES[node] === "guangzhou")
      await scene.change({ what: "guangzhou isn't ready", unanswered: GUANGZHOU }, async () => {
        await Promise.all(all.map((pod) => readiness(scene, pod, "False")))
        await scene.settled()
        await answersFromUnits(scene, 50)
        await Promise.all(all.map((pod) => readiness(scene, pod, "True")))
      })
      await answersFromUnits(scene, 50)
    }
  },
  {
    name: "a unit without pods is answered by nobody until it has some",
    play: async (scene) => {
      const grid = await scene.plane.client.get(`${GRIDS}/deploymentgrids/deploymentgrid-demo`)
      const none = { ...(at(grid, "spec", "template") as object), replicas: 0 }
      await scene.change({ what: "guangzhou is emptied", unanswered: GUANGZHOU }, async () => {
        const emptied = { templatePool: { none }, templates: { guangzhou: "none" } }
        await patched(scene, "deploymentgrids/deploymentgrid-demo", { spec: emptied })
        await scene.ready({ beijing: 2, guangzhou: 0 })
        await scene.settled()
        await answersFromUnits(scene, 50)
        const back = { templatePool: null, templates: null }
        await patched(scene, "deploymentgrids/deploymentgrid-demo", { spec: back })
        await scene.ready({ beijing: 2, guangzhou: 2 })
      })
      await answersFromUnits(scene, 50)
    }
  }
]

/** What rules that lead to these pods say, in their order. */
const behind = (pods: readonly Pod[]): readonly string[] =>
  pods.map(({ address }) => `${address}:8080`).sort()

const finalizers = (scene: Scene, pod: Pod, wanted: readonly string[] | null): Promise<unknown> =>
  scene.plane.client.patch(`${DEFAULT}/pods/${pod.name}`, "merge", { metadata: { finalizers: wanted } })

const cordon = (scene: Scene, node: string, unschedulable: boolean): Promise<unknown> =>
  scene.plane.client.patch(`/api/v1/nodes/${node}`, "merge", { spec: { unschedulable } })

/** Says of a pod what its kubelet would say of its probe. */
const readiness = (scene: Scene, pod: Pod, status: "True" | "False"): Promise<unknown> =>
  scene.plane.client.patch(`${DEFAULT}/pods/${pod.name}/status`, "strategic-merge", {
    status: { conditions: ["Ready", "ContainersReady"].map((type) => ({ type, status })) }
  })
