/** Pods, slices and Services that change, and how soon that is answered. */
import { expect } from "vitest"
import { PLACES } from "../../traffic/places.ts"
import * as deeds from "../deeds.ts"
import type { Desk } from "../desks.ts"
import { WEB } from "../families.ts"
import {
  absent,
  answered,
  everything,
  podOf,
  type Question,
  questions,
  replicas,
  without
} from "../questions.ts"
import type { Story } from "../scene.ts"

export const CHANGES: readonly Story[] = [
  {
    name: "R149: gives IPv6 addresses, and no data where there is none, in whatever domain",
    play: async (on) => {
      const { client } = on.plane
      await answered("AAAA without slice", on.desks, () => six([], ["web-0", "web-1", "web-beijing-0"]))
      const slice = new deeds.SixSlice(client, WEB)
      await slice.make({ "web-beijing-0": "fd00::b0", "web-guangzhou-0": "fd00::a0" })
      try {
        await answered("AAAA", on.desks, ({ agent }) => {
          const own = agent.node.name.startsWith("bj") ? "fd00::b0" : "fd00::a0"
          const given = { "web-0": own, "web-beijing-0": "fd00::b0", "web-guangzhou-0": "fd00::a0" }
          return six(Object.entries(given), ["web-1", "web-beijing-1"])
        })
        await answered("A beside AAAA", on.desks, async (desk) =>
          (await everything(client, [WEB])(desk)).filter(({ type }) => type === "A")
        )
      } finally {
        await slice.remove()
      }
      await answered("AAAA after the slice", on.desks, () => six([], ["web-0", "web-beijing-0"]))
    }
  },
  {
    name: "R148: follows a pod that moves; while it ends it has no name",
    play: async (on) => {
      const { client } = on.plane
      const all = await replicas(client, WEB)
      const pod = podOf(all, "web-beijing-0")
      await deeds.cordon(client, pod.node, true)
      const release = await deeds.hold(client, pod)
      try {
        await deeds.end(client, pod)
        await answered("while it ends", on.desks, without(WEB, all, [pod]))
      } finally {
        await release()
      }
      await answered("after the move", on.desks, everything(client, [WEB]), 30)
      await deeds.cordon(client, pod.node, null)
      const moved = podOf(await replicas(client, WEB), pod.name)
      expect(moved.node).not.toBe(pod.node)
      expect(moved.address).not.toBe(pod.address)
    }
  },
  {
    name: "R148: knows no pod that isn't ready, unless its Service wants it, and none that failed",
    play: async (on) => {
      const { client } = on.plane
      const all = await replicas(client, WEB)
      const [waiting, broken] = [podOf(all, "web-beijing-1"), podOf(all, "web-guangzhou-1")]
      const publish = (publishNotReadyAddresses: true | null): Promise<unknown> =>
        deeds.edit(client, "servicegrids", WEB.grid, { spec: { template: { publishNotReadyAddresses } } })
      await deeds.ready(client, waiting, "False")
      await answered("not ready", on.desks, without(WEB, all, [waiting]))
      await publish(true)
      await answered("not ready, but published", on.desks, (desk) => questions(desk, WEB, all))
      const release = await deeds.hold(client, broken)
      try {
        await deeds.failed(client, broken)
        await answered("failed", on.desks, without(WEB, all, [broken]))
      } finally {
        await release()
      }
      await publish(null)
      await answered("not published", on.desks, (desk) => absent(desk, WEB, [waiting]))
      await deeds.ready(client, waiting, "True")
      await answered("ready again", on.desks, everything(client, [WEB]), 30)
    }
  },
  {
    name: "keeps the Service's own name in the unit where it asks for that, in the serving form",
    play: async (on) => {
      const { client } = on.plane
      const all = await replicas(client, WEB)
      const scope = (scoped: "unit" | null): Promise<unknown> =>
        deeds.edit(client, "servicegrids", WEB.grid, {
          metadata: { annotations: { "superedge.io/headless-scope": scoped } }
        })
      await scope("unit")
      await answered("scope unit", on.desks, (desk) => {
        const unit = PLACES[desk.agent.node.name]
        const others = all.filter((each) => desk.form === "serving" && each.unit !== unit)
        return without(WEB, all, others)(desk)
      })
      await scope(null)
      await answered("no scope", on.desks, everything(client, [WEB]))
    }
  },
  {
    name: "answers soon after a change",
    play: async (on) => {
      const { client } = on.plane
      const slice = new deeds.SixSlice(client, WEB)
      const address = (n: number): string => `fd00::c:${n.toString(16)}`
      let last = 0
      const next = (desks: readonly Desk[]): Promise<readonly number[]> => {
        const answer = address(++last)
        const asked = { type: "AAAA", name: "web-0.web-svc.default.svc", answer } as const
        return deeds.lag(desks, asked, () => slice.change(answer, 2))
      }
      const pod = podOf(await replicas(client, WEB), "web-beijing-0")
      const flip = (desks: readonly Desk[], status: "True" | "False"): Promise<readonly number[]> => {
        const answer = status === "True" ? pod.address : "NXDOMAIN"
        const asked = { type: "A", name: "web-0.web-svc.default.svc", answer } as const
        return deeds.lag(desks, asked, () => deeds.ready(client, pod, status))
      }
      await slice.make({ "web-beijing-0": address(0), "web-guangzhou-0": address(0) })
      const [serving, daemon] = [on.of("serving"), on.of("daemon")]
      const inBeijing = serving.filter(({ agent }) => PLACES[agent.node.name] === "beijing")
      const slices: number[] = []
      const files: number[] = []
      const pods: number[] = []
      await next(on.desks)
      for (let i = 0; i < 10; i++) slices.push(...(await next(serving)))
      for (let i = 0; i < 3; i++) files.push(...(await next(daemon)))
      await slice.remove()
      for (let i = 0; i < 5; i++)
        for (const status of ["False", "True"] as const) pods.push(...(await flip(inBeijing, status)))
      await answered("after the measurement", on.desks, everything(client, [WEB]))
      const ms = (all: readonly number[]): string =>
        `${deeds.median(all).toFixed(1)} ms (most ${Math.max(...all).toFixed(1)}, ${all.length} times)`
      process.stdout.write(
        `\nnames: from a slice's change to the answer, serving form ${ms(slices)}, daemon form ${ms(files)}; from a pod's readiness to the answer, serving form ${ms(pods)}\n`
      )
      // thrice what is promised: 100 ms, and the plugin's `reload` of 2 s; where the cluster's own controller takes part, more
      expect(deeds.median(slices)).toBeLessThan(300)
      expect(deeds.median(pods)).toBeLessThan(1000)
      expect(Math.max(...files)).toBeLessThan(6000)
    }
  }
]

/** AAAA of hosts behind web-svc. */
const six = (given: readonly (readonly [string, string])[], none: readonly string[]): readonly Question[] =>
  [...given, ...none.map((host) => [host, "NODATA"] as const)].map(([host, answer]) => ({
    type: "AAAA",
    name: `${host}.web-svc.default.svc`,
    answer
  }))
