/** Parts that end and start anew, and an API server that nobody reaches. */
import { PLACES } from "../../traffic/places.ts"
import * as deeds from "../deeds.ts"
import type { Desk } from "../desks.ts"
import { ECHO, WEB } from "../families.ts"
import { answered, everything, podOf, type Question, questions, replicas, without } from "../questions.ts"
import type { Story } from "../scene.ts"

export const OUTAGES: readonly Story[] = [
  {
    name: "is right after a restart of each part",
    play: async (on) => {
      const { client } = on.plane
      const all = everything(client, [ECHO, WEB])
      for (const part of ["helper", "coredns"] as const) {
        await Promise.all(on.desks.map((desk) => desk.crash(part)))
        if (part === "helper") await answered("while daemon and wrapper are away", on.desks, all)
        for (const desk of on.desks) desk.start(part)
        await Promise.all(on.desks.map((desk) => desk.ready(part)))
        await answered(`after a restart of the ${part}`, on.desks, all)
      }
      await on.plane.restart("kube-apiserver", "SIGKILL")
      await answered("after a restart of the API server", on.desks, all)
      const pods = await replicas(client, WEB)
      const pod = podOf(pods, "web-beijing-1")
      await deeds.ready(client, pod, "False")
      await answered("what changed after that restart", on.desks, without(WEB, pods, [pod]), 90)
      await deeds.ready(client, pod, "True")
      await answered("what changed back", on.desks, all)
    }
  },
  {
    name: "goes on with upstream gone, also when CoreDNS and what is beside it start meanwhile",
    play: async (on) => {
      const { client } = on.plane
      const [echo, web] = [await replicas(client, ECHO), await replicas(client, WEB)]
      const all = (desk: Desk): readonly Question[] => [
        ...questions(desk, ECHO, echo),
        ...questions(desk, WEB, web)
      ]
      // the file holds the unit's own names; without the API server a new CoreDNS knows no others
      const own = (desk: Desk): readonly Question[] =>
        desk.form === "serving"
          ? all(desk)
          : [...echo, ...web].flatMap(({ name, unit, ordinal, address }) => {
              if (unit !== PLACES[desk.agent.node.name]) return []
              const family = name.startsWith("web") ? WEB : ECHO
              return [name, `${family.grid}-${ordinal}`].map(
                (host) =>
                  ({ type: "A", name: `${host}.${family.service}.default.svc`, answer: address }) as const
              )
            })
      await on.network.cut()
      try {
        await answered("upstream gone", on.desks, all)
        await Promise.all(on.desks.map((desk) => desk.crash("helper")))
        for (const desk of on.desks) desk.start("helper")
        await Promise.all(on.of("serving").map((desk) => desk.ready("helper")))
        await answered("upstream gone, then daemon and wrapper anew", on.desks, all)
        await Promise.all(on.desks.map((desk) => desk.crash("coredns")))
        for (const desk of on.desks) desk.start("coredns")
        await answered("upstream gone, then CoreDNS anew", on.desks, own, 45)
        await deeds.end(client, podOf(web, "web-guangzhou-0"))
      } finally {
        await on.network.heal()
      }
      await answered("upstream back", on.desks, everything(client, [ECHO, WEB]), 90)
    }
  }
]
