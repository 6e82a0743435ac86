/** The loop over sites, on a model of the API server and a virtual clock. */
import { describe, expect, it } from "vitest"
import type { KubeObject } from "../src/core/kube.ts"
import * as Model from "../src/embedded/model.ts"
import { during } from "./stories/calm.ts"
import { Stage } from "./stories/stage.ts"

const UNITS = "site.superedge.io/nodeunits"
const GROUPS = "site.superedge.io/nodegroups"

/** A stage whose loop looks after sites, with these nodes; it is at rest. */
const sited = (...nodes: readonly string[]): Stage => {
  const stage = new Stage({ seed: 0, pageSize: 100, concurrency: 16, sites: true })
  for (const name of nodes) stage.world.node(name, { "kubernetes.io/os": "linux" })
  stage.start()
  stage.advance(30_000)
  return stage
}

const at = (stage: Stage, resource: string, name: string): KubeObject & { readonly status?: unknown } => {
  const found = Model.get(stage.server.cluster, resource, undefined, name)
  if (found === undefined) throw new Error(`no ${resource} ${name}`)
  return found
}

describe("the loop over sites", () => {
  it("R173 makes unit-node-all", () => {
    const stage = sited("n1", "n2")
    expect(at(stage, UNITS, "unit-node-all").status).toMatchObject({ nodes: 2 })
    console.log(
      JSON.stringify(at(stage, UNITS, "unit-node-all"), null, 1),
      JSON.stringify(at(stage, "/nodes", "n1"), null, 1)
    )
    console.log(
      stage.server.wrote
        .map(({ verb, resource, name, code, subresource }) =>
          [verb, resource, name, code, subresource].join(" ")
        )
        .join("\n")
    )
    void during
    void GROUPS
  })
})
