import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { controllers } from "../../src/embedded/controllers.ts"
import type { KubeObject } from "../../src/embedded/cluster.ts"
import { lookup } from "../../src/embedded/lookup.ts"
import * as Sorted from "../../src/embedded/sorted.ts"
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  NODES,
  PODS,
  SERVICES,
  SETS,
  Stage,
  deployment,
  isReady,
  node,
  podsOf,
  service,
  statefulSet,
  type SeenPod
} from "./stage.ts"

const ZONES = ["bj", "gz", "Zone_A", "constructor"]
const zone = fc.constantFrom(...ZONES)
// A run is a hundred writes and more.
const RUNS = { numRuns: 30 }

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
    expect([...countBy(podsOf(stage, "web").map((pod) => pod.spec.nodeName)).values()]).toEqual([2, 2, 2, 2])
  })

  it("ends a rolling update with only new pods, within its bounds at every step", () => {
    const bound = fc.integer({ min: 0, max: 3 })
    const size = fc.integer({ min: 1, max: 6 })
    fc.assert(
      fc.property(
        size,
        bound,
        bound,
        fc.array(fc.constantFrom("web:2", "web:3"), { minLength: 1 }),
        (n, up, down, edits) => {
          const maxSurge = up === 0 && down === 0 ? 1 : up
          const strategy = { rollingUpdate: { maxSurge, maxUnavailable: down } }
          const stage = stageOf(3)
          stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: n, strategy }))
          stage.settle()
          for (const image of edits) {
            stage.must("PATCH", `${DEPLOYMENTS}/web`, imageEdit("web", image))
            for (let turns = 0; turns < 7; turns++) step(stage, n - down, n + maxSurge)
          }
          while (step(stage, n - down, n + maxSurge)) continue
          const images = podsOf(stage, "web").map((pod) => pod.spec.containers[0]?.image)
          expect(images).toEqual(Array(n).fill(edits.at(-1)))
          expect(podsOf(stage, "web").every(isReady)).toBe(true)
          expect(conditionOf(stage, "Progressing")).toMatchObject({
            status: "True",
            reason: "NewReplicaSetAvailable"
          })
          expect(conditionOf(stage, "Available")).toMatchObject({
            status: "True",
            reason: "MinimumReplicasAvailable"
          })
        }
      ),
      RUNS
    )
  })

  it("says in its status what runs", () => {
    const stage = stageOf(2)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 3 }))
    stage.settle()
    const { metadata, status } = stage.all<Workload>("apps/deployments")[0] as Workload
    expect(metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("1")
    expect(status).toMatchObject({
      observedGeneration: 2,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3
    })
    expect(status).not.toHaveProperty("unavailableReplicas")
    expect(status?.conditions?.map((each) => each.type)).toEqual(["Available", "Progressing"])
  })

  it("goes back to the replica set of an earlier template, which becomes the newest revision", () => {
    const stage = stageOf(1)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
    stage.settle()
    for (const image of ["web:2", "web:1"]) {
      stage.must("PATCH", `${DEPLOYMENTS}/web`, imageEdit("web", image))
      stage.settle()
    }
    const sets = stage.all<Workload>("apps/replicasets")
    expect(
      sets
        .map(
          (set) => `${set.spec.replicas} ${set.metadata.annotations?.["deployment.kubernetes.io/revision"]}`
        )
        .toSorted()
    ).toEqual(["0 2", "2 3"])
  })

  it.each([
    [0, ["7"]],
    [2, ["5", "6", "7"]],
    [undefined, ["1", "2", "3", "4", "5", "6", "7"]]
  ])("keeps as many old revisions as revisionHistoryLimit %s says", (revisionHistoryLimit, revisions) => {
    const stage = stageOf(1)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 1, revisionHistoryLimit }))
    stage.settle()
    for (let edit = 2; edit <= 7; edit++) {
      stage.must("PATCH", `${DEPLOYMENTS}/web`, imageEdit("web", `web:${edit}`))
      stage.settle()
    }
    const left = stage
      .all("apps/replicasets")
      .map((set) => set.metadata.annotations?.["deployment.kubernetes.io/revision"] ?? "")
    expect(left.toSorted()).toEqual(revisions)
  })

  it("starts nothing new with the strategy Recreate before every old pod is gone", () => {
    const stage = stageOf(2, { podStartDelay: 1000 })
    const strategy = { type: "Recreate" }
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 3, strategy }))
    stage.settle()
    stage.wait(1000)
    stage.settle()
    stage.must("PATCH", `${DEPLOYMENTS}/web`, imageEdit("web", "web:2"))
    while (stage.turn().length > 0 || stage.world.queue.length > 0) {
      expect(new Set(podsOf(stage, "web").map((pod) => pod.spec.containers[0]?.image)).size).toBeLessThan(2)
    }
    expect(podsOf(stage, "web").map((pod) => pod.spec.containers[0]?.image)).toEqual(Array(3).fill("web:2"))
  })

  it("keeps its old pods where the new image can't be pulled, and says so once the deadline is over", () => {
    const stage = stageOf(3)
    const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 3, strategy, progressDeadlineSeconds: 60 }))
    stage.settle()
    stage.must("PATCH", `${DEPLOYMENTS}/web`, imageEdit("web", "registry.invalid/web:2"))
    stage.settle()
    expect(readyOf(stage, "web")).toBe(3)
    expect(conditionOf(stage, "Progressing")).toMatchObject({ status: "True", reason: "ReplicaSetUpdated" })
    stage.wait(61_000)
    stage.settle()
    expect(conditionOf(stage, "Progressing")).toMatchObject({
      status: "False",
      reason: "ProgressDeadlineExceeded"
    })
  })

  it("shows a pod that the server refuses as a condition, until there are enough pods", () => {
    const active = controllers(["deployments", "replicasets"])
    const stage = new Stage(active)
    const inShop = DEPLOYMENTS.replace("default", "shop")
    stage.must("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "shop" }
    })
    stage.must("POST", inShop, deployment("web", { replicas: 1 }))
    stage.settle()
    stage.must("DELETE", "/api/v1/namespaces/shop")
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

  it("keeps its size while paused, without a rollout", () => {
    const stage = stageOf(2)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
    stage.settle()
    stage.must("PATCH", `${DEPLOYMENTS}/web`, { spec: { paused: true, replicas: 4 } })
    stage.must("PATCH", `${DEPLOYMENTS}/web`, imageEdit("web", "web:2"))
    stage.settle()
    expect(podsOf(stage, "web").map((pod) => pod.spec.containers[0]?.image)).toEqual(Array(4).fill("web:1"))
    stage.must("PATCH", `${DEPLOYMENTS}/web`, { spec: { paused: null } })
    stage.settle()
    expect(podsOf(stage, "web").map((pod) => pod.spec.containers[0]?.image)).toEqual(Array(4).fill("web:2"))
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

describe("a StatefulSet", () => {
  it("ends with one ready pod for each ordinal, whatever happened to it", () => {
    const edit = fc.oneof(
      fc.record({ replicas: fc.integer({ min: 0, max: 4 }) }),
      fc.record({ image: fc.constantFrom("db:2", "db:3") }),
      fc.record({ kill: fc.integer({ min: 0, max: 4 }) })
    )
    const policy = fc.constantFrom("OrderedReady", "Parallel")
    fc.assert(
      fc.property(
        policy,
        fc.integer({ min: 0, max: 2 }),
        fc.array(edit, { maxLength: 6 }),
        fc.nat(5),
        (podManagementPolicy, first, edits, turns) => {
          const stage = stageOf(3)
          stage.must(
            "POST",
            SETS,
            statefulSet("db", { replicas: 2, podManagementPolicy, ordinals: { start: first } })
          )
          let [replicas, image] = [2, "db:1"]
          for (const each of edits) {
            for (let count = 0; count < turns; count++) stage.turn()
            if ("replicas" in each)
              stage.must("PATCH", `${SETS}/db`, { spec: { replicas: (replicas = each.replicas) } })
            else if ("image" in each) stage.must("PATCH", `${SETS}/db`, imageEdit("db", (image = each.image)))
            else stage.ask("DELETE", `${PODS}/db-${each.kill}`)
          }
          stage.settle()
          const pods = podsOf(stage, "db")
          expect(pods.map((pod) => pod.metadata.name)).toEqual(
            Array.from({ length: replicas }, (_, place) => `db-${place + first}`)
          )
          expect(pods.every(isReady)).toBe(true)
          expect(new Set(pods.map((pod) => pod.spec.containers[0]?.image))).toEqual(
            new Set(replicas > 0 ? [image] : [])
          )
          const { status } = stage.all<Workload>("apps/statefulsets")[0] as Workload
          expect(status).toMatchObject({ replicas, availableReplicas: replicas })
          expect(status?.["currentRevision"]).toBe(status?.["updateRevision"])
        }
      ),
      RUNS
    )
  })

  it("makes a pod only after all pods before it are ready", () => {
    const stage = stageOf(2, { podStartDelay: 500 })
    stage.must("POST", SETS, statefulSet("db", { replicas: 4 }))
    for (let count = 1; count <= 4; count++) {
      stage.settle()
      expect(podsOf(stage, "db")).toHaveLength(count)
      stage.wait(500)
    }
  })

  it("makes all pods at once with the policy Parallel", () => {
    const stage = stageOf(2, { podStartDelay: 500 })
    stage.must("POST", SETS, statefulSet("db", { replicas: 4, podManagementPolicy: "Parallel" }))
    stage.settle()
    expect(podsOf(stage, "db")).toHaveLength(4)
  })

  it("updates no pod below the partition", () => {
    const stage = stageOf(2)
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 2 } }
    stage.must("POST", SETS, statefulSet("db", { replicas: 4, updateStrategy }))
    stage.settle()
    stage.must("PATCH", `${SETS}/db`, imageEdit("db", "db:2"))
    stage.settle()
    stage.must("DELETE", `${PODS}/db-0`)
    stage.settle()
    expect(podsOf(stage, "db").map((pod) => pod.spec.containers[0]?.image)).toEqual([
      "db:1",
      "db:1",
      "db:2",
      "db:2"
    ])
  })

  it("keeps a pod's claim for its successor", () => {
    const stage = stageOf(1)
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
    }
    stage.must("POST", SETS, statefulSet("db", { replicas: 2, volumeClaimTemplates: [claim] }))
    stage.settle()
    const before = stage.all("/persistentvolumeclaims").map((each) => [each.metadata.name, each.metadata.uid])
    expect(before.map(([name]) => name)).toEqual(["data-db-0", "data-db-1"])
    stage.must("DELETE", `${PODS}/db-1`)
    stage.settle()
    expect(
      stage.all("/persistentvolumeclaims").map((each) => [each.metadata.name, each.metadata.uid])
    ).toEqual(before)
  })
})

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

describe("a node that goes", () => {
  it("takes its pods along, which come back elsewhere", () => {
    const stage = stageOf(3)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 6 }))
    stage.settle()
    stage.must("DELETE", `${NODES}/n1`)
    stage.settle()
    expect(countBy(podsOf(stage, "web").map((pod) => pod.spec.nodeName))).toEqual(
      new Map([
        ["n0", 3],
        ["n2", 3]
      ])
    )
    expect(podsOf(stage, "web").every(isReady)).toBe(true)
  })
})

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

describe("garbage collection", () => {
  it("takes the children of the owner that goes, never others'", () => {
    const tree = fc.array(fc.record({ parents: fc.array(fc.nat(20), { maxLength: 3 }) }), {
      minLength: 1,
      maxLength: 12
    })
    const policy = fc.constantFrom("Background", "Foreground", "Orphan")
    fc.assert(
      fc.property(tree, fc.nat(), policy, fc.nat(4), (given, which, propagationPolicy, turns) => {
        const stage = new Stage()
        const uids: string[] = []
        const parents = given.map(({ parents: all }, place) =>
          [...new Set(all.map((each) => each % given.length))].filter((each) => each < place)
        )
        parents.forEach((all, place) => {
          const ownerReferences = all.map((each) => ownerOf(`c${each}`, uids[each] ?? ""))
          uids.push(
            stage.must("POST", CONFIG_MAPS, configMap(`c${place}`, { ownerReferences })).metadata.uid ?? ""
          )
          for (let count = 0; count < turns; count++) stage.turn()
        })
        const root = which % given.length
        stage.must("DELETE", `${CONFIG_MAPS}/c${root}`, undefined, { propagationPolicy })
        stage.settle()
        const left = stage
          .all("/configmaps")
          .map((each) => each.metadata.name)
          .filter((each) => /^c\d+$/.test(each))
        expect(left.toSorted()).toEqual(survivors(parents, root, propagationPolicy === "Orphan").toSorted())
      }),
      RUNS
    )
  })

  it.each(["Background", "Foreground", "Orphan"])(
    "of one of two owners (%s) leaves the child with the other",
    (propagationPolicy) => {
      const stage = new Stage()
      const owners = ["one", "other"].map((name) => {
        const { uid } = stage.must("POST", CONFIG_MAPS, configMap(name)).metadata
        return { ...ownerOf(name, uid ?? ""), blockOwnerDeletion: true }
      })
      stage.must("POST", CONFIG_MAPS, configMap("child", { ownerReferences: owners }))
      stage.must("DELETE", `${CONFIG_MAPS}/one`, undefined, { propagationPolicy })
      stage.settle()
      const left = stage.all("/configmaps").filter((each) => ["one", "child"].includes(each.metadata.name))
      expect(left.map(({ metadata }) => [metadata.name, metadata.ownerReferences])).toEqual([
        ["child", [owners[1]]]
      ])
    }
  )

  it("deletes a child whose owner was gone before it came", () => {
    const stage = new Stage()
    stage.must("POST", CONFIG_MAPS, configMap("late", { ownerReferences: [ownerOf("gone", "no-such-uid")] }))
    stage.settle()
    expect(stage.all("/configmaps").map((each) => each.metadata.name)).not.toContain("late")
  })

  it("leaves a child alone whose owner is of a kind that isn't served", () => {
    const stage = new Stage()
    const owner = { apiVersion: "example.com/v1", kind: "Thing", name: "x", uid: "no-such-uid" }
    stage.must("POST", CONFIG_MAPS, configMap("kept", { ownerReferences: [owner] }))
    stage.settle()
    expect(stage.all("/configmaps").map((each) => each.metadata.name)).toContain("kept")
  })

  it("keeps a foreground owner until those that block it are gone", () => {
    const stage = new Stage()
    const { uid } = stage.must("POST", CONFIG_MAPS, configMap("owner")).metadata
    const ownerReferences = [{ ...ownerOf("owner", uid ?? ""), blockOwnerDeletion: true }]
    stage.must("POST", CONFIG_MAPS, configMap("held", { ownerReferences, finalizers: ["example.com/wait"] }))
    stage.settle()
    stage.must("DELETE", `${CONFIG_MAPS}/owner`, undefined, { propagationPolicy: "Foreground" })
    stage.settle()
    expect(stage.all("/configmaps").map((each) => each.metadata.name)).toEqual(
      expect.arrayContaining(["held", "owner"])
    )
    stage.must("PATCH", `${CONFIG_MAPS}/held`, { metadata: { finalizers: null } })
    stage.settle()
    expect(stage.all("/configmaps").filter((each) => ["held", "owner"].includes(each.metadata.name))).toEqual(
      []
    )
  })
})

describe("a namespace that is deleted", () => {
  it("goes with everything in it", () => {
    const stage = stageOf(1)
    stage.must("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "shop" }
    })
    stage.must("POST", DEPLOYMENTS.replace("default", "shop"), deployment("web", { replicas: 2 }))
    stage.must("POST", SERVICES.replace("default", "shop"), service("web", "web"))
    stage.settle()
    stage.must("DELETE", "/api/v1/namespaces/shop")
    stage.settle()
    expect(stage.all("/namespaces").map((each) => each.metadata.name)).not.toContain("shop")
    expect(stage.all("/pods")).toEqual([])
    expect(
      stage.all("discovery.k8s.io/endpointslices").filter((each) => each.metadata.namespace === "shop")
    ).toEqual([])
  })
})

describe("a settled world", () => {
  it("does not depend on how its steps were batched", () => {
    const turns = fc.array(fc.nat(12), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(turns, turns, (one, other) => {
        expect(outcome(story(one))).toEqual(outcome(story(other)))
      }),
      RUNS
    )
  })

  it("is the same world for the same requests", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { minLength: 8, maxLength: 8 }), (turns) => {
        expect(story(turns).world.look).toEqual(story(turns).world.look)
      }),
      { numRuns: 20 }
    )
  })

  it("is at rest: an hour later nothing is written", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { minLength: 8, maxLength: 8 }), (turns) => {
        const stage = story(turns)
        stage.wait(3_600_000)
        expect(stage.settle()).toEqual([])
      }),
      RUNS
    )
  })

  it("finds by its index what a fresh look at the cluster finds", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { minLength: 8, maxLength: 8 }), (turns) => {
        const stage = story(turns)
        const fresh = new Stage()
        fresh.world = { ...fresh.world, look: refreshed(stage) }
        expect([...entries(stage)]).toEqual([...entries(fresh)])
      }),
      RUNS
    )
  })

  it("writes nothing at all without controllers", () => {
    const stage = new Stage(controllers([]))
    stage.must("POST", NODES, node("n0"))
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
    expect(stage.settle()).toEqual([])
  })

  it("costs a step of the objects concerned, not of all there are", () => {
    const cost = (others: number): number => {
      const stage = stageOf(2)
      for (let place = 0; place < others; place++)
        stage.must("POST", DEPLOYMENTS, deployment(`other-${place}`, { replicas: 1 }))
      stage.settle()
      stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
      let turns = 0
      while (stage.world.queue.length > 0) {
        stage.turn()
        turns++
      }
      return turns
    }
    expect(cost(30)).toBe(cost(3))
  })
})

interface Workload extends KubeObject {
  readonly spec: { readonly replicas?: number }
  readonly status?: {
    readonly readyReplicas?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
    }[]
    readonly [field: string]: unknown
  }
}

/** A stage with this many nodes, settled. */
const stageOf = (nodes: number, { podStartDelay = 0 } = {}): Stage => {
  const stage = new Stage(controllers(undefined, podStartDelay))
  for (let place = 0; place < nodes; place++) stage.must("POST", NODES, node(`n${place}`))
  stage.settle()
  return stage
}

/** One turn of a rollout, in which the bounds hold; false where nothing is left to do. */
const step = (stage: Stage, least: number, most: number): boolean => {
  stage.turn()
  const pods = podsOf(stage, "web").filter((pod) => !pod.metadata.deletionTimestamp)
  expect(pods.filter(isReady).length).toBeGreaterThanOrEqual(least)
  expect(pods.length).toBeLessThanOrEqual(most)
  return stage.world.queue.length > 0
}

const readyOf = (stage: Stage, name: string): number =>
  stage.all<Workload>("apps/deployments").find((each) => each.metadata.name === name)?.status
    ?.readyReplicas ?? 0

const conditionOf = (stage: Stage, type: string): unknown =>
  stage.all<Workload>("apps/deployments")[0]?.status?.conditions?.find((each) => each.type === type)

const imageEdit = (app: string, image: string): object => ({
  spec: {
    template: {
      metadata: { labels: { app } },
      spec: { containers: [{ name: "main", image, ports: [{ name: "http", containerPort: 8080 }] }] }
    }
  }
})

const countBy = <T>(all: readonly T[]): ReadonlyMap<T, number> => {
  const counts = new Map<T, number>()
  for (const each of all) counts.set(each, (counts.get(each) ?? 0) + 1)
  return new Map([...counts].toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)))
}

const configMap = (name: string, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata }
})

const ownerOf = (name: string, uid: string): object => ({ apiVersion: "v1", kind: "ConfigMap", name, uid })

/** Who is left when one goes: all but itself and those all of whose parents went, level by level. */
const survivors = (
  parents: readonly (readonly number[])[],
  root: number,
  orphan: boolean
): readonly string[] => {
  const gone = new Set([root])
  if (!orphan) {
    parents.forEach((all, place) => {
      if (all.length > 0 && all.every((each) => gone.has(each))) gone.add(place)
    })
  }
  return parents.flatMap((_, place) => (gone.has(place) ? [] : [`c${place}`]))
}

/** A fixed story; after each of its requests the controllers take so many turns, and at the end they settle. */
const story = (turns: readonly number[]): Stage => {
  const stage = new Stage()
  const acts: readonly (() => unknown)[] = [
    () => stage.must("POST", NODES, node("n0", { zone: "bj" })),
    () => stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 3 })),
    () => stage.must("POST", SERVICES, service("web", "web")),
    () => stage.must("POST", NODES, node("n1", { zone: "gz" })),
    () => stage.must("POST", SETS, statefulSet("db", { replicas: 2 })),
    () => stage.must("PATCH", `${DEPLOYMENTS}/web`, imageEdit("web", "web:2")),
    () => stage.must("PATCH", `${SETS}/db`, { spec: { replicas: 1 } }),
    () => stage.must("DELETE", `${NODES}/n0`)
  ]
  acts.forEach((act, place) => {
    act()
    for (let count = 0; count < (turns[place] ?? 0); count++) stage.turn()
  })
  stage.settle()
  return stage
}

/** What a world looks like to someone who doesn't read generated names, addresses and times. */
const outcome = (stage: Stage): readonly string[] => {
  const pods = stage
    .all<SeenPod>("/pods")
    .map((pod) => [
      pod.metadata.labels?.["app"],
      pod.spec.nodeName,
      pod.spec.containers[0]?.image,
      isReady(pod)
    ])
  const workloads = ["apps/deployments", "apps/statefulsets"].flatMap((resource) =>
    stage
      .all<Workload>(resource)
      .map(({ metadata, status }) => [
        metadata.name,
        status?.["replicas"],
        status?.readyReplicas,
        (status?.conditions ?? []).map((each) => `${each.type} ${each.status} ${each.reason}`).toSorted()
      ])
  )
  const endpoints = stage
    .all<Slice>("discovery.k8s.io/endpointslices")
    .filter((slice) => slice.metadata.labels?.["kubernetes.io/service-name"] === "web")
    .flatMap((slice) => (slice.endpoints ?? []).map((each) => [each.nodeName, each.conditions]))
  return [...pods, ...workloads, ...endpoints].map((each) => JSON.stringify(each)).toSorted()
}

interface Slice extends KubeObject {
  readonly endpoints?: readonly { readonly conditions?: unknown; readonly nodeName?: string }[]
}

const refreshed = (stage: Stage): Stage["world"]["look"] => lookup(stage.world.look.cluster)

const entries = (stage: Stage): Iterable<unknown> => Sorted.from(stage.world.look.index, "")
