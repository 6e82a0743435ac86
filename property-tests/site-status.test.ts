/** What is said of a unit or group: who is ready, and since when. */
import { describe, expect, it } from "vitest"
import { dated } from "../src/core/site-status.ts"
import { settled } from "./site-world.ts"
import { group, unit } from "./sited.ts"

describe("status", () => {
  it("R177 says who is ready, and how many", () => {
    const u1 = unit("u1", { nodes: ["n3", "n1", "n2"] }, { generation: 4 })
    const world = settled([u1], [], { n1: {}, n2: { ready: false }, n3: {} })
    expect(world.last.units[0]).toEqual({
      observedGeneration: 4,
      nodes: 3,
      readyRate: "2/3",
      readyNodes: ["n1", "n3"],
      notReadyNodes: ["n2"],
      conditions: [
        {
          type: "Ready",
          status: "False",
          reason: "NodesNotReady",
          message: "2/3 nodes are ready, waiting for n2",
          observedGeneration: 4
        },
        {
          type: "Degraded",
          status: "False",
          reason: "AsExpected",
          message: "nothing is refused",
          observedGeneration: 4
        }
      ]
    })
  })

  it("keeps the time of a condition until its status changes", () => {
    const conditions = [{ type: "Ready", status: "True", reason: "A", message: "a" }]
    const first = dated(conditions, undefined, Date.UTC(2026, 0, 1))
    expect(first[0]?.lastTransitionTime).toBe("2026-01-01T00:00:00Z")
    const again = dated(
      [{ ...conditions[0], type: "Ready", status: "True", reason: "B" }],
      first,
      Date.UTC(2026, 1, 1)
    )
    expect(again[0]).toMatchObject({ reason: "B", lastTransitionTime: "2026-01-01T00:00:00Z" })
    const other = dated([{ type: "Ready", status: "False" }], first, Date.UTC(2026, 1, 1))
    expect(other[0]?.lastTransitionTime).toBe("2026-02-01T00:00:00Z")
  })

  it("says which fields have no effect", () => {
    const units = [
      unit("u1", { autonomyLevel: "L4", unitClusterInfo: {} }),
      unit("u2", { autonomyLevel: "L3" })
    ]
    const world = settled(units, [group("g", { workload: [{ name: "w" }] })], {})
    expect(world.last.notices.map(({ path, reason }) => [path, reason])).toEqual([
      ["spec.workload", "FieldHasNoEffect"],
      ["spec.autonomyLevel", "FieldHasNoEffect"],
      ["spec.unitClusterInfo", "FieldHasNoEffect"]
    ])
    expect(world.last.units[0]?.conditions?.[1]).toMatchObject({
      status: "False",
      reason: "FieldHasNoEffect"
    })
  })
})
