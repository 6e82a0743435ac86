/** Programs that are killed, and a cloud that is cut off. */
import { expect } from "vitest"
import { during, until } from "../../deadline.ts"
import { BEIJING, GUANGZHOU, PLACES } from "../places.ts"
import { MADE, type Scene, SERVICE, type Story } from "../scene.ts"
import { KEPT_SECONDS } from "../wrappers.ts"
import { answersFromUnits, DEFAULT, ECHO, inUnit, names, nothing, podIn, withoutPods } from "./deeds.ts"

export const OUTAGES: readonly Story[] = [
  {
    name: "wrappers that are killed leave the rules in place, and tell what changed when they are back",
    play: async (scene) => {
      const { node } = await podIn(scene, "guangzhou")
      const moved = { ...PLACES, [node]: "beijing" }
      await Promise.all(scene.stations.map((each) => each.crash("wrapper")))
      await answersFromUnits(scene, 50)
      await scene.change({ what: `${node} goes to beijing while no wrapper runs`, units: moved }, () =>
        restarted(scene)
      )
      await answersFromUnits(scene, 50, moved)
      await scene.change({ what: `${node} comes back`, units: PLACES }, nothing)
    }
  },
  {
    name: "a kube-proxy that is killed takes up its rules where they are",
    play: async (scene) => {
      await Promise.all(scene.stations.map((each) => each.crash("proxy")))
      await scene.change({ what: "a pod is added while no kube-proxy runs" }, async () => {
        await extra(scene)
        await restarted(scene)
      })
      await answersFromUnits(scene, 50)
      await removed(scene)
    }
  },
  {
    name: "while the cloud is cut off, traffic goes on in the unit; afterwards what changed is made up for",
    play: async (scene) => {
      const before = await scene.pods()
      await scene.change({ what: "a pod is added while the cloud is cut off" }, async () => {
        await scene.network.cut()
        await extra(scene)
        await during(CUT_SECONDS[scene.mode])
        for (const [node, answered] of await scene.asked(SERVICE, 100))
          expect(answered, node).toEqual(names(inUnit(node, before)))
        await scene.network.heal()
      })
      await answersFromUnits(scene, 50)
      await removed(scene)
    }
  },
  {
    name: "with the cloud cut off, kube-proxies and wrappers that start anew give the rules of before",
    play: async (scene) => {
      await scene.settled()
      const before = await scene.objects()
      // killed, they keep what they last wrote
      await during(2 * KEPT_SECONDS)
      await scene.network.cut()
      const bare = [...(await withoutPods(scene, BEIJING)), ...(await withoutPods(scene, GUANGZHOU))]
      await scene.change(
        { what: "all starts anew, two nodes without any rule", unanswered: bare },
        async () => {
          for (const programs of [["proxy"], ["wrapper"], ["wrapper", "proxy"]] as const) {
            await Promise.all(scene.stations.map((each) => each.crash(...programs)))
            if (programs.at(-1) === "proxy") for (const node of bare) await wiped(scene, node)
            await restarted(scene)
            await scene.settled(before)
            await answersFromUnits(scene, 50)
          }
          await scene.network.heal()
        }
      )
      await answersFromUnits(scene, 50)
    }
  }
]

/** How long the cloud is cut off: kube-proxy's mode makes no difference to that, so the long one is told once. */
const CUT_SECONDS = { nftables: 60, iptables: 10 }

const restarted = (scene: Scene): Promise<unknown> =>
  Promise.all(scene.stations.map((each) => each.restart()))

/** One more pod behind the walkthrough's Service, in guangzhou. */
const extra = async (scene: Scene): Promise<void> => {
  await scene.plane.client.create(`${DEFAULT}/pods`, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "extra", labels: { ...ECHO, [MADE]: "" } },
    spec: { nodeName: "gz-3", containers: [{ name: "echo", image: "echo:1" }] }
  })
  await until({ what: "the extra pod, ready", seconds: 30 }, async () =>
    (await scene.pods()).some(({ name }) => name === "extra")
  )
}

const removed = (scene: Scene): Promise<void> =>
  scene.change({ what: "the extra pod goes", unanswered: GUANGZHOU }, () =>
    scene.plane.client.remove(`${DEFAULT}/pods/extra`)
  )

const wiped = async (scene: Scene, node: string): Promise<void> => {
  await scene.station(node).wipe()
  expect([...(await scene.rules(node)).keys()], `rules that are left on ${node}`).toEqual([])
}
