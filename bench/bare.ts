/**
 * The bare loop that the controller is held against: the same writes by the same client with the same concurrency, and nothing
 * else. It waits for a line on standard input, then sends them all.
 */
import * as Effect from "effect/Effect"
import { once } from "node:events"
import type { Deployment } from "../src/core/index.ts"
import * as Api from "../src/shell/api.ts"
import { each } from "../src/shell/each.ts"
import { CHILDREN } from "../src/shell/kinds.ts"
import { grid, KEY, unit } from "./grids.ts"

const [kubeconfig = "", grids = "20", units = "1000", concurrency = "16"] = process.argv.slice(2)

const child = (i: number, site: string): Deployment => {
  const { metadata, spec } = grid(i)
  const template = spec.template?.template
  const name = `${metadata.name}-${site}`
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name,
      namespace: "default",
      resourceVersion: "1",
      labels: {
        team: "edge",
        "superedge.io/grid-selector": metadata.name,
        "superedge.io/grid-uniq-key": "site"
      },
      annotations: {
        "superedge.io/grid": metadata.name,
        "superedge.io/grid-key": KEY,
        "superedge.io/unit": site
      },
      ownerReferences: [
        {
          apiVersion: "superedge.io/v1",
          kind: "DeploymentGrid",
          name: metadata.name,
          uid: `uid-${i}`,
          controller: true,
          blockOwnerDeletion: true
        }
      ]
    },
    spec: {
      ...spec.template,
      template: { ...template, spec: { ...template?.spec, nodeSelector: { [KEY]: site } } }
    }
  }
}

const writes = function* (): Generator<readonly [number, string]> {
  for (let u = 0; u < Number(units); u++) for (let i = 0; i < Number(grids); i++) yield [i, unit(u)]
}

const program = Effect.gen(function* () {
  const api = yield* Api.Api
  process.stdout.write("ready\n")
  yield* Effect.promise(() => once(process.stdin, "data"))
  yield* each(writes(), Number(concurrency), ([i, site]) =>
    Effect.asVoid(api.apply(CHILDREN.Deployment, child(i, site), { manager: "servicegroup", force: true }))
  )
  const { user, system } = process.cpuUsage()
  process.stdout.write(`${JSON.stringify({ cpu: (user + system) / 1e6 })}\n`)
  yield* Effect.never
})

Effect.runFork(program.pipe(Effect.provide(Api.layer({ kubeconfig, context: "" }))))
process.stdin.on("end", () => process.exit())
