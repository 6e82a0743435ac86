/** `status.states`: whole where there is room, and never more than the API server takes. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Child } from "../src/core/child.ts"
import type { JsonObject } from "../src/core/kube.ts"
import { states } from "../src/core/states.ts"
import { byName, readyStatus, RUNS, same, shortChild } from "./given.ts"
import { someUnits } from "./words.ts"

const KB = 1024
const MB = 1024 * 1024

const condition = (status: string, message: string) => ({
  type: "Available",
  status,
  reason: status === "True" ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
  message
})

const good = (message = "ok"): JsonObject => ({ ...readyStatus(1), conditions: [condition("True", message)] })
const bad = (message = "no"): JsonObject => ({
  observedGeneration: 1,
  replicas: 3,
  readyReplicas: 1,
  conditions: [condition("False", message)]
})

describe("states", () => {
  it("R74 are the children's own statuses, by exact unit", () => {
    fc.assert(
      fc.property(someUnits(), fc.nat(), (units, pick) => {
        const statuses = units.map((_, i) => ((pick >> i) % 2 === 0 ? good() : bad()))
        const children = units.map((unit, i) => of(unit, statuses[i] ?? {})).reverse()
        same(
          Object.entries(states(byName([...children, shortChild("x", { unit: undefined })]))),
          inOrder(units.map((unit, i) => [unit, statuses[i]]))
        )
      }),
      RUNS
    )
  })

  it("R85 have what a StatefulSet has", () => {
    const status = {
      currentRevision: "web-a-1",
      updateRevision: "web-a-2",
      currentReplicas: 1,
      collisionCount: 0
    }
    const set = shortChild("web-a", { kind: "StatefulSet", status: JSON.stringify(status) })
    expect(states(byName([set]))).toEqual({ a: status })
  })

  it("R78 are empty without children", () => {
    expect(states(byName<Child>([]))).toEqual({})
  })

  it.each([1000, 5000, 10_000])("stay under 1 MB for %d units of 63 characters, ready or not", (count) => {
    for (const status of [good("é".repeat(2000)), bad("名".repeat(2000)), bad("x")]) {
      const shown = states(many(count, () => status))
      expect(size(shown)).toBeLessThan(MB - 64 * KB)
    }
  })

  // 100 runs: each builds half a megabyte.
  it("are whole up to 512 KB, and beyond that short where they are ready", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 400 }),
        fc.integer({ min: -3, max: 40 }),
        fc.boolean(),
        (count, over, wide) => {
          const whole = fill(count, 512 * KB - 6 * count - 2 - 600 + Math.max(over, 0) * KB, wide)
          const shown = states(whole)
          if (over <= 0) expect(size(shown)).toBeGreaterThan(500 * KB)
          else if (over > 3) same(shown["u1000"], { replicas: 1, readyReplicas: 1 })
          expect(Object.keys(shown)).toHaveLength(count)
        }
      ),
      { numRuns: 100 }
    )
  })

  it("R74 show the first 50 units that aren't ready whole, and of the rest counts and one reason", () => {
    const shown = states(many(2000, (i) => (i % 4 === 3 ? bad("m".repeat(500)) : good("m".repeat(500)))))
    const unready = Object.keys(shown).filter((_, i) => i % 4 === 3)
    expect(unready).toHaveLength(500)
    for (const [i, unit] of unready.entries())
      expect(shown[unit]).toEqual(
        i < 50
          ? bad("m".repeat(500))
          : { replicas: 3, readyReplicas: 1, reason: "MinimumReplicasUnavailable" }
      )
    expect(shown[name(0)]).toEqual({ replicas: 1, readyReplicas: 1 })
  })

  it("do without one status that is larger than all others may be together", () => {
    const shown = states(byName([of("a", bad("m".repeat(2 * MB))), of("b", bad())]))
    expect(shown).toEqual({
      a: { replicas: 3, readyReplicas: 1, reason: "MinimumReplicasUnavailable" },
      b: bad()
    })
  })
})

/** The child of a unit, in whatever order names stand. */
const of = (unit: string, status: JsonObject): Child =>
  shortChild(`web-${unit}`, { unit, status: JSON.stringify(status) })

const name = (i: number): string => `${String(i).padStart(5, "0")}${"u".repeat(58)}`

const many = (count: number, status: (i: number) => JsonObject) =>
  byName(Array.from({ length: count }, (_, i) => of(name(i), status(i))))

/** Ready children, `u1000` and on, whose states take so many bytes together. */
const fill = (count: number, bytes: number, wide: boolean) => {
  const each = Math.floor(bytes / count) - size(good("")) - 5
  const message = wide ? "名".repeat(Math.floor(each / 3)) : "m".repeat(each)
  return byName(Array.from({ length: count }, (_, i) => of(`u${1000 + i}`, good(message))))
}

const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** JavaScript keeps whole numbers first. */
const inOrder = (entries: readonly (readonly [string, unknown])[]) =>
  Object.entries(Object.fromEntries(entries))
