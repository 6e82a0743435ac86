/** Deployments: their pods and their status, whatever happens to pods; their updates stand in rollout.test.ts. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { KubeObject } from "../../src/embedded/cluster.ts"
import { controllers } from "../../src/embedded/controllers.ts"
import {
  DEPLOYMENTS,
  NAMESPACES,
  NODES,
  PODS,
  RUNS,
  Stage,
  conditionOf,
  deployment,
  isReady,
  namespace,
  node,
  podsOf,
  podsPerNode,
  readyOf,
  stageOf,
  type Workload
} from "./stage.ts"

const ZONES = ["bj", "gz", "Zone_A", "constructor"]
const zone = fc.constantFrom(...ZONES)

describe("a Deployment", () => {
  it("ends with its replicas ready, on nodes that its nodeSelector selects", () => {
    const nodes = fc.array(fc.record({ zone, cordoned: fc.boolean() }), { maxLength: 6 })
    fc.assert(
      fc.property(nodes, zone, fc.integer({ min: 0, max: 5 }), (given, wanted, replicas) => {
        const stage = new Stage()
        given.forEach((each, place) => {
          stage.must("POST", NODES, node(`n${place}`, { zone: each.zone }, { unschedulable: each.cordoned }))
        })
        const spec = { nodeSelector: { zone: wanted } }
        stage.must("POST", DEPLOYMENTS, deployment("web", { replicas }, "web:1", spec))
        stage.settle()
        const fitting = given.flatMap((each, place) =>
          each.zone === wanted && !each.cordoned ? [`n${place}`] : []
        )
        const pods = podsOf(stage, "web")
        expect(pods).toHaveLength(replicas)
        expect(pods.filter(isReady)).toHaveLength(fitting.length > 0 ? replicas : 0)
        for (const pod of pods) expect([...fitting, undefined]).toContain(pod.spec.nodeName)
        expect(readyOf(stage, "web")).toBe(fitting.length > 0 ? replicas : 0)
      }),
      RUNS
    )
  })

  it("spreads its pods over the nodes", () => {
    const stage = stageOf(4)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 8 }))
    stage.settle()
    expect([...podsPerNode(stage, "web").values()]).toEqual([2, 2, 2, 2])
  })

  it("says in its status what runs", () => {
    const stage = stageOf(2)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 3 }))
    stage.settle()
    const { metadata, status } = stage.all<Workload>("apps/deployments")[0] as Workload
    expect(metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("1")
    expect(status).toMatchObject({
      // who notes the revision doesn't change what is wanted
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      terminatingReplicas: 0
    })
    expect(status).not.toHaveProperty("unavailableReplicas")
    expect(status?.conditions?.map((each) => each.type)).toEqual(["Available", "Progressing"])
  })

  it("tells of each size that it gives a replica set", () => {
    const stage = stageOf(2)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 1 }))
    stage.settle()
    stage.must("PATCH", `${DEPLOYMENTS}/web`, { spec: { replicas: 3 } })
    stage.settle()
    const told = stage.all<KubeObject & { readonly message: string }>("/events")
    expect(told.map(({ message }) => message.replace(/web-\w+/, "web-x")).sort()).toEqual([
      "Scaled up replica set web-x from 0 to 1",
      "Scaled up replica set web-x from 1 to 3"
    ])
  })

  it("shows a pod that the server refuses as a condition, until there are enough pods", () => {
    const active = controllers(["deployments", "replicasets"])
    const stage = new Stage(active)
    const inShop = DEPLOYMENTS.replace("default", "shop")
    stage.must("POST", NAMESPACES, namespace("shop"))
    stage.must("POST", inShop, deployment("web", { replicas: 1 }))
    stage.settle()
    stage.must("DELETE", `${NAMESPACES}/shop`)
    stage.must("PATCH", `${inShop}/web`, { spec: { replicas: 2 } })
    stage.settle()
    expect(conditionOf(stage, "ReplicaFailure")).toMatchObject({
      status: "True",
      reason: "FailedCreate",
      message: expect.stringContaining("shop because it is being terminated") as string
    })
    stage.must("PATCH", `${inShop}/web`, { spec: { replicas: 1 } })
    stage.settle()
    expect(conditionOf(stage, "ReplicaFailure")).toBeUndefined()
  })

  it("replaces a pod that failed, and one that is on its way out", () => {
    const stage = stageOf(1, { podStartDelay: 1000 })
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
    stage.settle()
    const [one, other] = podsOf(stage, "web").map((pod) => `${PODS}/${pod.metadata.name}`)
    stage.must("PATCH", `${one}/status`, { status: { phase: "Failed" } })
    stage.must("PATCH", `${other}`, { metadata: { finalizers: ["example.com/wait"] } })
    stage.must("DELETE", `${other}`)
    stage.settle()
    expect(podsOf(stage, "web")).toHaveLength(4)
    stage.wait(1000)
    stage.settle()
    expect(podsOf(stage, "web").filter(isReady)).toHaveLength(2)
    expect(readyOf(stage, "web")).toBe(2)
  })

  it("takes over a pod that its selector matches, unless that is finished", () => {
    const stage = stageOf(1)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
    stage.settle()
    const labels = podsOf(stage, "web")[0]?.metadata.labels
    for (const name of ["alive", "finished"]) {
      stage.must("POST", PODS, {
        metadata: { name, labels },
        spec: { containers: [{ name: "main", image: "web:1" }] }
      })
      if (name === "finished") stage.must("PATCH", `${PODS}/${name}/status`, { status: { phase: "Failed" } })
    }
    stage.settle()
    const owned = podsOf(stage, "web").filter((pod) => pod.metadata.ownerReferences?.length === 1)
    expect(owned).toHaveLength(2)
    expect(
      podsOf(stage, "web")
        .filter((pod) => !owned.includes(pod))
        .map((pod) => pod.metadata.name)
    ).toEqual(["finished"])
  })

  it("keeps the pods of a deployment that was deleted as their orphan's owner", () => {
    const stage = stageOf(2)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
    stage.settle()
    const before = podsOf(stage, "web").map((pod) => pod.metadata.uid)
    stage.must("DELETE", `${DEPLOYMENTS}/web`, undefined, { propagationPolicy: "Orphan" })
    stage.settle()
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
    stage.settle()
    expect(podsOf(stage, "web").map((pod) => pod.metadata.uid)).toEqual(before)
  })
})
