import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { DEPLOYMENTS, NODES, RUNS, deployment, isReady, podsOf, podsPerNode, stageOf } from "./stage.ts"

describe("kubelets", () => {
  it("give every running pod an address of its own", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 5 }),
        (nodes, sizes) => {
          const stage = stageOf(nodes)
          stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 1 }))
          for (const replicas of sizes) {
            stage.must("PATCH", `${DEPLOYMENTS}/web`, { spec: { replicas } })
            stage.settle()
          }
          const addresses = podsOf(stage, "web").map((pod) => pod.status?.podIP)
          expect(new Set(addresses).size).toBe(sizes.at(-1))
          expect(addresses).not.toContain(undefined)
        }
      ),
      RUNS
    )
  })

  it("make pods ready after the time that they are given", () => {
    const stage = stageOf(1, { podStartDelay: 2000 })
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
    stage.settle()
    stage.wait(1999)
    stage.settle()
    expect(podsOf(stage, "web").map((pod) => pod.status?.phase)).toEqual(["Pending", "Pending"])
    stage.wait(1)
    stage.settle()
    expect(podsOf(stage, "web").map((pod) => pod.status?.phase)).toEqual(["Running", "Running"])
  })
})

describe("a node that goes", () => {
  it("takes its pods along, which come back elsewhere", () => {
    const stage = stageOf(3)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 6 }))
    stage.settle()
    stage.must("DELETE", `${NODES}/n1`)
    stage.settle()
    expect(podsPerNode(stage, "web")).toEqual(
      new Map([
        ["n0", 3],
        ["n2", 3]
      ])
    )
    expect(podsOf(stage, "web").every(isReady)).toBe(true)
  })
})
