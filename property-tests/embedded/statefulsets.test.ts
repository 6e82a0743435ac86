import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  PODS,
  RUNS,
  SETS,
  imageEdit,
  imagesOf,
  isReady,
  podsOf,
  stageOf,
  statefulSet,
  type Workload
} from "./stage.ts"

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
    expect(imagesOf(stage, "db")).toEqual(["db:1", "db:1", "db:2", "db:2"])
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
