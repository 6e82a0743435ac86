import { describe, expect, it } from "vitest"
import { DEPLOYMENTS, NODES, Stage, deployment, isReady, node, podsOf } from "./stage.ts"

describe("the scheduler", () => {
  it("says why a pod fits nowhere, and binds it once a node comes that fits", () => {
    const stage = new Stage()
    stage.must("POST", NODES, node("n0", { zone: "bj" }))
    stage.must(
      "POST",
      NODES,
      node("n1", { zone: "gz" }, { taints: [{ key: "only", value: "x", effect: "NoSchedule" }] })
    )
    stage.must(
      "POST",
      DEPLOYMENTS,
      deployment("web", { replicas: 1 }, "web:1", { nodeSelector: { zone: "gz" } })
    )
    stage.settle()
    const condition = podsOf(stage, "web")[0]?.status?.conditions?.find(
      (each) => each.type === "PodScheduled"
    )
    expect(condition).toMatchObject({
      status: "False",
      reason: "Unschedulable",
      message:
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s)."
    })
    stage.must("POST", NODES, node("n2", { zone: "gz" }))
    stage.settle()
    expect(podsOf(stage, "web").map((pod) => [pod.spec.nodeName, isReady(pod)])).toEqual([["n2", true]])
  })

  it("binds a pod that tolerates the taint", () => {
    const stage = new Stage()
    stage.must(
      "POST",
      NODES,
      node("n0", {}, { taints: [{ key: "edge", value: "yes", effect: "NoSchedule" }] })
    )
    const tolerations = [{ key: "edge", operator: "Exists" }]
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 1 }, "web:1", { tolerations }))
    stage.settle()
    expect(podsOf(stage, "web").map(isReady)).toEqual([true])
  })
})
