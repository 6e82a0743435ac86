/** The controllers together: where their world comes to rest, and what that depends on. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { controllers } from "../../src/embedded/controllers.ts"
import { lookup } from "../../src/embedded/lookup.ts"
import * as Sorted from "../../src/embedded/sorted.ts"
import {
  DEPLOYMENTS,
  NODES,
  RUNS,
  SERVICES,
  SETS,
  Stage,
  deployment,
  endpointsOf,
  imageEdit,
  isReady,
  node,
  service,
  stageOf,
  statefulSet,
  type SeenPod,
  type Workload
} from "./stage.ts"

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
  const endpoints = endpointsOf(stage, "web").map((each) => [each.nodeName, each.conditions])
  return [...pods, ...workloads, ...endpoints].map((each) => JSON.stringify(each)).toSorted()
}

const refreshed = (stage: Stage): Stage["world"]["look"] => lookup(stage.world.look.cluster)

const entries = (stage: Stage): Iterable<unknown> => Sorted.from(stage.world.look.index, "")
