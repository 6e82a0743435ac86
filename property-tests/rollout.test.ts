/** When a workload is ready, and when its rollout failed. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { child, type ChildObject } from "../src/core/child.ts"
import type { JsonObject } from "../src/core/kube.ts"
import { isReady, rolloutFailure } from "../src/core/rollout.ts"
import { readyStatus, RUNS, same, shortChild } from "./given.ts"
import { anyJson, poisoned } from "./words.ts"

const deployment = (status: JsonObject, replicas: number | undefined = 2, generation = 1) =>
  shortChild("web-a", { status: JSON.stringify(status), replicas, generation })

const set = (status: JsonObject) =>
  shortChild("web-a", { kind: "StatefulSet", status: JSON.stringify(status), replicas: 2 })

describe("isReady", () => {
  it("is true once every replica is new and ready", () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(9), (replicas, generation) => {
        const status = { ...readyStatus(replicas), observedGeneration: generation }
        same(isReady(deployment(status, replicas, generation)), true)
      }),
      RUNS
    )
  })

  it("R76 is false while anything is behind", () => {
    const behind = fc.oneof(
      fc.record({ readyReplicas: fc.nat(4) }),
      fc.record({ updatedReplicas: fc.nat(4) }),
      fc.record({ replicas: fc.integer({ min: 6, max: 9 }) }),
      fc.record({ observedGeneration: fc.nat(2) }),
      fc.constantFrom("readyReplicas", "updatedReplicas", "replicas", "observedGeneration").map((field) => ({
        [field]: null
      }))
    )
    fc.assert(
      fc.property(behind, (part) => {
        same(isReady(deployment({ ...readyStatus(5), observedGeneration: 3, ...part }, 5, 3)), false)
      }),
      RUNS
    )
  })

  it("is true with no replicas where none are wanted", () => {
    expect(isReady(deployment({ observedGeneration: 1 }, 0))).toBe(true)
  })

  it("takes one replica as wanted where the spec doesn't say", () => {
    expect(
      isReady(shortChild("web-a", { replicas: undefined, status: JSON.stringify(readyStatus(1)) }))
    ).toBe(true)
    expect(
      isReady(shortChild("web-a", { replicas: undefined, status: JSON.stringify(readyStatus(2)) }))
    ).toBe(false)
  })

  it("is true for a StatefulSet whose revisions are one, whatever it counts as updated", () => {
    const { updatedReplicas: _, ...status } = readyStatus(2)
    expect(isReady(set({ ...status, currentRevision: "web-a-1", updateRevision: "web-a-1" }))).toBe(true)
    expect(isReady(set({ ...status, currentRevision: "web-a-1", updateRevision: "web-a-2" }))).toBe(false)
  })

  it("is true for a StatefulSet whose pods are new but for those of its partition", () => {
    const status = { ...readyStatus(5), currentRevision: "web-a-1", updateRevision: "web-a-2" }
    fc.assert(
      fc.property(fc.nat(6), fc.nat(5), (partition, updatedReplicas) => {
        const object: ChildObject = {
          apiVersion: "apps/v1",
          kind: "StatefulSet",
          metadata: { name: "web-a", uid: "u", resourceVersion: "1" },
          spec: { replicas: 5, updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } } },
          status: { ...status, updatedReplicas }
        }
        same(isReady(child("StatefulSet", object, [])), updatedReplicas >= 5 - partition)
      }),
      RUNS
    )
  })

  it("is true for a Service that exists", () => {
    expect(isReady(shortChild("web-svc", { kind: "Service", status: "{}" }))).toBe(true)
  })
})

describe("rolloutFailure", () => {
  it("says that the deadline passed, in Kubernetes' words", () => {
    const conditions = [
      { type: "Available", status: "False", reason: "MinimumReplicasUnavailable" },
      { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "has timed out" }
    ]
    expect(rolloutFailure(deployment({ conditions }))).toBe("ProgressDeadlineExceeded: has timed out")
  })

  it("says that pods can't be created, in Kubernetes' words", () => {
    const conditions = [
      { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" }
    ]
    expect(rolloutFailure(deployment({ conditions }))).toBe("FailedCreate: exceeded quota")
  })

  it.each([
    [{}],
    [{ conditions: null }],
    [{ conditions: [] }],
    [{ conditions: [{ type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" }] }],
    [{ conditions: [{ type: "Available", status: "False" }] }],
    [{ conditions: [{ type: "Progressing", status: "False", reason: "DeploymentPaused" }] }]
  ])("says nothing for %j", (status) => {
    expect(rolloutFailure(deployment(status))).toBeUndefined()
  })

  it("P11 says words that are no texts as JSON", () => {
    const conditions = [{ type: "ReplicaFailure", status: "True", reason: { toString: 1 }, message: [null] }]
    expect(rolloutFailure(deployment({ conditions }))).toBe('{"toString":1}: [null]')
  })

  it("P11 never throws, whatever a status holds", () => {
    const whole = {
      ...readyStatus(1),
      conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "no" }]
    }
    fc.assert(
      fc.property(fc.oneof(poisoned<unknown>(whole), anyJson), (status) => {
        const child = shortChild("web-a", { status: JSON.stringify(status ?? {}) })
        isReady(child)
        rolloutFailure(child)
      }),
      RUNS
    )
  })
})
