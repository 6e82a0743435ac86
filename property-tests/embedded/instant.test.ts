import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { KubeObject } from "../../src/embedded/cluster.ts"
import { controllers } from "../../src/embedded/controllers.ts"
import { DEPLOYMENTS, RUNS, SETS, Stage, deployment, statefulSet } from "./stage.ts"

describe.each([
  ["a Deployment", "apps/deployments", DEPLOYMENTS, deployment],
  ["a StatefulSet", "apps/statefulsets", SETS, statefulSet]
] as const)("%s that is ready at once", (_, resource, path, made) => {
  it("takes one write after each edit, and no pod", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        ([first = 1, ...sizes]) => {
          const stage = new Stage(controllers(["collector", "instant"]))
          stage.must("POST", path, made("web", { replicas: first }))
          expect(stage.settle()).toHaveLength(1)
          for (const replicas of sizes) {
            stage.must("PATCH", `${path}/web`, { spec: { replicas } })
            expect(stage.settle()).toHaveLength(1)
          }
          const [workload] = stage.all<Workload>(resource)
          const replicas = sizes.at(-1) ?? first
          expect(workload?.status).toMatchObject({
            observedGeneration: workload?.metadata.generation,
            replicas,
            readyReplicas: replicas,
            updatedReplicas: replicas,
            availableReplicas: replicas
          })
          expect(stage.all("/pods")).toEqual([])
        }
      ),
      RUNS
    )
  })

  it("is written no more once it says so", () => {
    const stage = new Stage(controllers(["instant"]))
    stage.must("POST", path, made("web", { replicas: 2 }))
    stage.settle()
    stage.must("PATCH", `${path}/web`, { metadata: { labels: { a: "b" } } })
    expect(stage.settle()).toEqual([])
  })
})

interface Workload extends KubeObject {
  readonly status?: Readonly<Record<string, unknown>>
}
