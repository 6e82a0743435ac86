/** StatefulSets that are called as a grid is: what its status says of them, and how the loop hears of them. */
import { describe, expect, it } from "vitest"
import { shortNameTaken } from "../src/core/rivals.ts"
import { status, statusDigest } from "../src/core/status.ts"
import { Observed } from "../src/shell/observed.ts"
import { type SeenGrid, seenGrid } from "../src/shell/seen.ts"
import { frozen, NOW, SECOND, shortChild, webSet } from "./given.ts"
import { input } from "./reported.ts"
import { condition, during, events, ofChildren, ofStatus, settled } from "./stories/calm.ts"
import type { Stage } from "./stories/stage.ts"
import { simple } from "./stories/words.ts"

const set = (serviceName: string) =>
  shortChild("web-a", {
    kind: "StatefulSet",
    serviceName,
    owner: { kind: "StatefulSetGrid", name: "web", uid: "u" }
  })
const rival = (serviceName: string) => ({ key: "default/web", uid: "r", revision: "1", serviceName })

describe("shortNameTaken", () => {
  it("names the set, its Service, the names and what to do", () => {
    expect(shortNameTaken([set("web-svc")], rival("web-svc"))).toEqual({
      reason: "ShortNameTaken",
      path: "metadata.name",
      message:
        "StatefulSet default/web has pods in Service web-svc, too, which bear the names web-0, web-1 and so on there, so this grid's pods have no such names in their units: rename the grid or that StatefulSet, or give one of them another serviceName"
    })
  })

  it("is nothing where the Services are others, or where there are none", () => {
    expect(shortNameTaken([set("web-svc")], rival("db"))).toBeUndefined()
    expect(shortNameTaken([set("")], rival(""))).toBeUndefined()
    expect(shortNameTaken([], rival("web-svc"))).toBeUndefined()
    expect(shortNameTaken([set("web-svc")], undefined)).toBeUndefined()
  })
})

describe("status", () => {
  const taken = shortNameTaken([set("web-svc")], rival("web-svc"))
  const grid = webSet("zone")
  const told = (shortNames: typeof taken | "Unknown", stood?: object, now = NOW) =>
    status({
      ...input([]),
      grid: stood === undefined ? grid : frozen({ ...grid, status: stood }),
      shortNames,
      now
    })
  const typesOf = (shown: ReturnType<typeof told>) => shown.conditions?.map(({ type }) => type)

  it("has the condition ShortNames while they are taken, and no longer", () => {
    const first = told(taken)
    expect(first.conditions?.[3]).toEqual({
      type: "ShortNames",
      status: "False",
      reason: "ShortNameTaken",
      message: taken?.message,
      observedGeneration: 1,
      lastTransitionTime: "2026-01-01T00:00:00Z"
    })
    expect(typesOf(told(undefined, first))).toEqual(["Ready", "Progressing", "Degraded"])
    expect(statusDigest(told(undefined, first))).not.toBe(statusDigest(first))
    expect(told(taken, first, NOW + 5 * SECOND).conditions?.[3]).toEqual(first.conditions?.[3])
  })

  it("leaves the condition as it stands while it isn't known what sets there are", () => {
    const first = told(taken)
    expect(told("Unknown", first, NOW + 5 * SECOND).conditions?.[3]).toEqual(first.conditions?.[3])
    expect(typesOf(told("Unknown"))).toEqual(["Ready", "Progressing", "Degraded"])
  })
})

describe("Observed", () => {
  it("makes those grids due whose names may be free again, once all sets are known", () => {
    const observed = new Observed()
    const of = (name: string, conditions: readonly object[]): SeenGrid =>
      seenGrid("StatefulSetGrid")(
        { metadata: { name, namespace: "default" }, spec: { gridUniqKey: "zone" }, status: { conditions } },
        {
          key: `default/${name}`,
          kind: "StatefulSetGrid",
          namespace: "default",
          name,
          uid: name,
          revision: "1"
        }
      )
    const items = [of("web", [{ type: "ShortNames", status: "False" }]), of("db", [{ type: "Ready" }])]
    observed.readGrids("StatefulSetGrid", [{ _tag: "Listed", revision: "2", items, unread: [] }])
    for (const { grid } of items) expect(observed.rival(grid)).toBe("Unknown")
    const { now, soon } = observed.readOthers([{ _tag: "Listed", revision: "3", items: [], unread: [] }])
    expect([[...now], [...soon]]).toEqual([[], ["StatefulSetGrid/default/web"]])
    for (const { grid } of items) expect(observed.rival(grid)).toBeUndefined()
  })
})

/** The place of StatefulSetGrid default/app, whose pods are in Service app-svc. */
const PLACE = 2
const SETS = "/apis/apps/v1/namespaces/default/statefulsets"

const taken = (stage: Stage) => condition(stage, "ShortNames", PLACE)

describe("the loop", () => {
  it("says that a foreign set takes a grid's names, as long as it is there", () => {
    const stage = settled({ n1: "a", n2: "b" }, simple, { place: PLACE })
    expect(taken(stage)).toBeUndefined()
    const came = during(stage, () => addSet(stage, "app", "app-svc"))
    expect([ofStatus(came), ofChildren(came)]).toEqual([1, []])
    expect(taken(stage)).toMatchObject({ status: "False", reason: "ShortNameTaken" })
    expect(taken(stage)?.message).toContain("StatefulSet default/app has pods in Service app-svc, too")
    expect(
      events(stage).filter((each) => (each as { reason?: string }).reason === "ShortNameTaken")
    ).toHaveLength(1)
    expect(condition(stage, "Degraded", PLACE)?.status).toBe("False")
    const went = during(stage, () => dropSet(stage, "app"))
    expect([ofStatus(went), ofChildren(went)]).toEqual([1, []])
    expect(taken(stage)).toBeUndefined()
    expect(stage.truth.violations).toEqual([])
  })

  it("writes nothing at rest, nor for what a foreign set does besides", () => {
    const stage = settled({ n1: "a" }, simple, { place: PLACE })
    addSet(stage, "app", "app-svc")
    stage.advance(5000)
    const before = [...stage.server.sent]
    expect(during(stage, () => {}, 400_000)).toEqual([])
    expect([...stage.server.sent].filter(([verb]) => verb !== "watch")).toEqual(
      before.filter(([verb]) => verb !== "watch")
    )
    const touched = during(stage, () => {
      for (let i = 0; i < 20; i++) scale(stage, "app", i)
      stage.server.cut()
    })
    expect(touched).toEqual([])
    expect(during(stage, () => stage.server.expire(), 1_300_000)).toEqual([])
    expect(taken(stage)?.reason).toBe("ShortNameTaken")
  })

  it("says nothing of a set of another name, Service or namespace", () => {
    const stage = settled({ n1: "a" }, simple, { place: PLACE })
    const writes = during(stage, () => {
      addSet(stage, "app", "other-svc")
      addSet(stage, "app-x", "app-svc")
      addSet(stage, "app", "app-svc", "edge")
    })
    expect(writes).toEqual([])
  })

  it("says so again after a restart, without a write, and takes back what is over by then", () => {
    const stage = settled({ n1: "a" }, simple, { place: PLACE })
    addSet(stage, "app", "app-svc")
    stage.advance(5000)
    const restart = (): void => {
      stage.kill()
      stage.start()
    }
    expect(ofStatus(during(stage, restart))).toBe(0)
    expect(taken(stage)?.reason).toBe("ShortNameTaken")
    stage.kill()
    dropSet(stage, "app")
    expect(ofStatus(during(stage, () => stage.start()))).toBe(1)
    expect(taken(stage)).toBeUndefined()
  })

  it("sees a set of another grid as a rival, too", () => {
    const stage = settled({ n1: "a" }, simple, { place: PLACE })
    const grid = {
      apiVersion: "superedge.io/v1",
      kind: "StatefulSetGrid",
      metadata: { name: "app-a", namespace: "default" },
      spec: {
        gridUniqKey: "zone",
        template: {
          serviceName: "app-svc",
          selector: { matchLabels: { app: "x" } },
          template: {
            metadata: { labels: { app: "x" } },
            spec: { containers: [{ name: "c", image: "nginx:1" }] }
          }
        }
      }
    }
    post(stage, "/apis/superedge.io/v1/namespaces/default/statefulsetgrids", grid)
    stage.advance(5000)
    const path = "/apis/superedge.io/v1/namespaces/default/statefulsetgrids/app-a"
    const { body } = stage.server.ask({ method: "GET", path, query: {} })
    const { conditions } = (
      body as unknown as { status: { conditions: readonly { type: string; message: string }[] } }
    ).status
    expect(conditions.find(({ type }) => type === "ShortNames")?.message).toContain(
      "StatefulSet default/app-a has pods"
    )
    expect(taken(stage)).toBeUndefined()
  })
})

const post = (stage: Stage, path: string, body: object): void => {
  const { code } = stage.server.ask({
    method: "POST",
    path,
    query: {},
    contentType: "application/json",
    body
  })
  if (code !== 201) throw new Error(`${path}: ${code}`)
}

const addSet = (stage: Stage, name: string, serviceName: string, namespace = "default"): void =>
  post(stage, SETS.replace("default", namespace), {
    metadata: { name, namespace },
    spec: {
      serviceName,
      selector: { matchLabels: { app: "foreign" } },
      template: {
        metadata: { labels: { app: "foreign" } },
        spec: { containers: [{ name: "c", image: "nginx:1" }] }
      }
    }
  })

const scale = (stage: Stage, name: string, replicas: number): void => {
  stage.server.ask({
    method: "PATCH",
    path: `${SETS}/${name}`,
    query: {},
    contentType: "application/merge-patch+json",
    body: { spec: { replicas } }
  })
}

const dropSet = (stage: Stage, name: string): void => {
  stage.server.ask({ method: "DELETE", path: `${SETS}/${name}`, query: {} })
}
