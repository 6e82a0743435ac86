/** Grids that go, with their names. These come last. */
import { readFileSync } from "node:fs"
import { expect } from "vitest"
import { GivenUp } from "../../deadline.ts"
import { PLACES } from "../../traffic/places.ts"
import * as deeds from "../deeds.ts"
import { FOREIGN } from "../desks.ts"
import { DB, DEMO, ECHO, MY_DEMO, ODD, SHARED, TAKEN, WEB } from "../families.ts"
import { absent, answered, everything, replicas } from "../questions.ts"
import type { Story } from "../scene.ts"

export const ENDS: readonly Story[] = [
  {
    name: "R143, R147: of two grids on one Service one goes, and only its names",
    play: async (on) => {
      const { client } = on.plane
      await answered("both", on.desks, everything(client, [DEMO, MY_DEMO]))
      const stays = await replicas(client, MY_DEMO)
      await deeds.removeGrid(client, DEMO.grid)
      await answered("the other's names, then none of this one", on.desks, async (desk) => {
        const unit = PLACES[desk.agent.node.name]
        const own = stays.find((each) => each.unit === unit)
        const is = await desk.ask("A", `my-demo-0.${SHARED}.default.svc`)
        if (is !== own?.address) throw new GivenUp(`${desk.name}: my-demo-0 is ${is}, not ${own?.address}`)
        return [{ type: "A", name: `demo-0.${SHARED}.default.svc`, answer: "NXDOMAIN" }]
      })
      await deeds.removeService(client, SHARED)
      await answered("none without the Service", on.desks, (desk) => absent(desk, MY_DEMO, stays))
    }
  },
  {
    name: "R147, R156: knows no name when the last grid has gone; the file stays, empty but for others' lines",
    play: async (on) => {
      const { client } = on.plane
      const families = [ECHO, WEB, DB, ODD]
      for (const { grid } of [...families, MY_DEMO, TAKEN]) await deeds.removeGrid(client, grid)
      await answered("nothing", on.desks, () =>
        families.map(({ grid, service }) => ({
          type: "A",
          name: `${grid}-0.${service}.default.svc`,
          answer: "NXDOMAIN"
        }))
      )
      for (const { hostsFile, domain } of on.of("daemon")) {
        const lines = readFileSync(hostsFile, "utf8").split("\n")
        const told = lines.filter((line) => line !== "" && !line.startsWith("#"))
        expect(told).toEqual([`${FOREIGN.address} ${FOREIGN.host}.${domain}`])
      }
    }
  }
]
