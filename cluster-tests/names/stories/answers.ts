/** What is answered while nothing changes. */
import { expect } from "vitest"
import { PLACES } from "../../traffic/places.ts"
import { WRAPPER } from "../../traffic/wrappers.ts"
import { OUTSIDE } from "../corefile.ts"
import * as deeds from "../deeds.ts"
import { DNS_LISTEN, FOREIGN } from "../desks.ts"
import { DB, ECHO, ODD, TAKEN, WEB } from "../families.ts"
import { answered, everything, replicas } from "../questions.ts"
import type { Story } from "../scene.ts"

export const ANSWERS: readonly Story[] = [
  {
    name: "answers the StatefulSetGrid walkthrough: each name leads to the unit's own pod",
    play: async (on) => {
      await answered("the walkthrough", on.desks, everything(on.plane.client, [ECHO]), 60)
      for (const desk of on.desks) {
        const unit = PLACES[desk.agent.node.name]
        for (const ordinal of [0, 1, 2]) {
          const address = await desk.ask("A", `${ECHO.grid}-${ordinal}.${ECHO.service}.default.svc`)
          const { body } = await desk.agent.get(`http://${address}:8080/`)
          expect(body.split(" ")[0], desk.name).toBe(`${ECHO.grid}-${unit}-${ordinal}`)
        }
      }
    }
  },
  {
    name: "R142, R153: knows short names of the unit alone, full ones of all, SRV of each pod once",
    play: async (on) => {
      await answered("web", on.desks, everything(on.plane.client, [WEB]))
      for (const desk of on.desks) {
        const hosts = ["web-beijing-0", "web-beijing-1", "web-guangzhou-0", "web-guangzhou-1"]
        const wanted = hosts.map((host) => `8080 ${host}.web-svc.default.svc.${desk.domain}`).join(", ")
        expect(await desk.ask("SRV", "_http._tcp.web-svc.default.svc"), desk.name).toBe(wanted)
      }
    }
  },
  {
    name: "R141, R150, R152: knows units by owner, in whatever way grid, key and unit are called",
    play: async (on) => {
      await answered("zone1-db and odd", on.desks, everything(on.plane.client, [DB, ODD]))
    }
  },
  {
    name: "leaves a name to the pod that bore it: a StatefulSet called as a grid is",
    play: async (on) => {
      await answered("taken", on.desks, async () => {
        const pods = await replicas(on.plane.client, TAKEN)
        const names = pods.map(({ name }) => name).toSorted()
        expect(names).toEqual(["taken-0", "taken-beijing-0", "taken-guangzhou-0"])
        return pods.map(
          ({ name, address }) =>
            ({ type: "A", name: `${name}.taken-svc.default.svc`, answer: address }) as const
        )
      })
    }
  },
  {
    name: "R155: answers for the API server, the world, and what someone else wrote in the file",
    play: async (on) => {
      await answered("other names", on.desks, ({ form }) => [
        { type: "A", name: "kubernetes.default.svc", answer: "10.96.0.1" },
        { type: "A", name: `${OUTSIDE.name}.`, answer: OUTSIDE.address },
        { type: "A", name: FOREIGN.host, answer: form === "daemon" ? FOREIGN.address : "NXDOMAIN" },
        { type: "A", name: "nothing.default.svc", answer: "NXDOMAIN" }
      ])
    }
  },
  {
    name: "R153: shows CoreDNS what it shows nobody else",
    play: async (on) => {
      const path =
        "/apis/discovery.k8s.io/v1/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dweb-svc"
      const real = deeds.listed(await on.plane.client.get(path))
      for (const { agent, name } of on.of("serving")) {
        const shown = async (at: string): Promise<readonly string[]> =>
          deeds.listed(JSON.parse((await agent.get(`http://${at}${path}`)).body))
        expect(await shown(WRAPPER), name).toEqual(real)
        const unit = PLACES[agent.node.name]
        const own = (await replicas(on.plane.client, WEB)).filter((each) => each.unit === unit)
        const more = own.map(({ address, ordinal }) => `${address} web-${ordinal} undefined`)
        expect(await shown(DNS_LISTEN), name).toEqual([...real, ...more].toSorted())
      }
    }
  }
]
