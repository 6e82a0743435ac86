/** Deployments whose template changes: what may run meanwhile, what runs in the end, and what is kept of before. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  DEPLOYMENTS,
  RUNS,
  conditionOf,
  deployment,
  imageEdit,
  imagesOf,
  isReady,
  podsOf,
  readyOf,
  stageOf,
  type Stage,
  type Workload
} from "./stage.ts"

describe("a Deployment", () => {
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
          const images = imagesOf(stage, "web")
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
      expect(new Set(imagesOf(stage, "web")).size).toBeLessThan(2)
    }
    expect(imagesOf(stage, "web")).toEqual(Array(3).fill("web:2"))
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

  it("keeps its size while paused, without a rollout", () => {
    const stage = stageOf(2)
    stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
    stage.settle()
    stage.must("PATCH", `${DEPLOYMENTS}/web`, { spec: { paused: true, replicas: 4 } })
    stage.must("PATCH", `${DEPLOYMENTS}/web`, imageEdit("web", "web:2"))
    stage.settle()
    expect(imagesOf(stage, "web")).toEqual(Array(4).fill("web:1"))
    stage.must("PATCH", `${DEPLOYMENTS}/web`, { spec: { paused: null } })
    stage.settle()
    expect(imagesOf(stage, "web")).toEqual(Array(4).fill("web:2"))
  })
})

/** One turn of a rollout, in which the bounds hold; false where nothing is left to do. */
const step = (stage: Stage, least: number, most: number): boolean => {
  stage.turn()
  const pods = podsOf(stage, "web").filter((pod) => !pod.metadata.deletionTimestamp)
  expect(pods.filter(isReady).length).toBeGreaterThanOrEqual(least)
  expect(pods.length).toBeLessThanOrEqual(most)
  return stage.world.queue.length > 0
}
