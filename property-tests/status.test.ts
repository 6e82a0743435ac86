/** Is it all right, and if not, which unit and why. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Child } from "../src/core/child.ts"
import type { GridStatus, Refusal, ServiceGrid } from "../src/core/grid.ts"
import type { Condition } from "../src/core/kube.ts"
import type { Step } from "../src/core/plan.ts"
import { byReason, status, statusDigest, troubles } from "../src/core/status.ts"
import { byName, frozen, NOW, RUNS, same, SECOND, shortChild, web, webService } from "./given.ts"
import { grids, holdOf, input, kinds, planOf, refusedFor, told } from "./reported.ts"
import { poisoned } from "./words.ts"

describe("status", () => {
  it("P14 R76 is Ready exactly if every unit's child is there, current and ready", () => {
    fc.assert(
      fc.property(grids, (units) => {
        const { conditions, ...shown } = told(units)
        const wanted = units.filter(({ leaves }) => !leaves)
        const lagging = wanted.filter(({ ready }) => !ready)
        same(shown.units, wanted.length)
        same(shown.readyUnits, wanted.length - lagging.length)
        same(conditions?.[0]?.status, wanted.length > 0 && lagging.length === 0 ? "True" : "False")
      }),
      RUNS
    )
  })

  it("R76 is Degraded exactly if something is wrong, with a reason in CamelCase", () => {
    fc.assert(
      fc.property(grids, (units) => {
        const degraded = told(units).conditions?.[2]
        const reasons = new Set(units.flatMap(({ trouble }) => trouble ?? []))
        const [only] = reasons
        same(degraded?.status, reasons.size > 0 ? "True" : "False")
        same(degraded?.reason, reasons.size > 1 ? "SeveralReasons" : (only ?? "AsExpected"))
      }),
      RUNS
    )
  })

  it("is Progressing exactly if something is on its way", () => {
    fc.assert(
      fc.property(grids, (units) => {
        same(told(units).conditions?.[1]?.status, units.some(({ busy }) => busy) ? "True" : "False")
      }),
      RUNS
    )
  })

  it("R76 names units in sorted order, the first ten of them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (count, seed) => {
        const units = Array.from({ length: count }, (_, i) => `u${100 + i}`)
        const mixed = [...units].sort(
          (a, b) => ((seed >> (a.length + 3)) % 2 === 0 ? 1 : -1) * (a < b ? 1 : -1)
        )
        const { conditions } = told(mixed.map((unit) => kinds["creating"](unit)))
        const rest = count > 10 ? ` and ${count - 10} more` : ""
        same(
          conditions?.[0]?.message,
          `0 of ${count} units are ready, waiting for ${units.slice(0, 10).join(", ")}${rest}`
        )
      }),
      RUNS
    )
  })

  it("R77 changes a condition's time exactly when its status changes", () => {
    const before = fc.array(fc.constantFrom("True", "False", "Unknown", undefined), {
      minLength: 3,
      maxLength: 3
    })
    fc.assert(
      fc.property(grids, before, (units, statuses) => {
        const stood = types.flatMap((type, i) =>
          statuses[i] === undefined
            ? []
            : [{ type, status: statuses[i], lastTransitionTime: LONG_AGO, message: "other" }]
        )
        const { conditions } = told(units, { conditions: stood.reverse() })
        same(
          conditions?.map((each) => each.lastTransitionTime),
          conditions?.map((each, i) => (each.status === statuses[i] ? LONG_AGO : "2026-01-01T00:00:00Z"))
        )
      }),
      RUNS
    )
  })

  it("R75 reaches the grid's generation, in every condition too", () => {
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), (generation, service) => {
        const grid = service ? webService("zone", {}, { generation }) : web("zone", {}, { generation })
        const shown = status({ ...input([]), grid })
        same(shown.observedGeneration, generation)
        same(
          shown.conditions?.map((each) => each.observedGeneration),
          [generation, generation, generation]
        )
      }),
      RUNS
    )
  })

  it("keeps messages under 2,000 characters, without half a character at the end", () => {
    const long = fc.tuple(fc.nat(2100), fc.constantFrom("x", "é", "😀")).map(([n, c]) => `m${c.repeat(n)}`)
    fc.assert(
      fc.property(fc.array(long, { minLength: 1, maxLength: 3 }), (messages) => {
        const units = messages.map((message, i) => refusedFor(`u${i}`, message))
        for (const { message } of told(units).conditions ?? [])
          if (!(String(message).length <= 2000 && String(message).isWellFormed())) same(message, "short")
      }),
      RUNS
    )
  })

  it("R81 says the same at another time, but for times", () => {
    fc.assert(
      fc.property(grids, (units) => {
        const first = told(units)
        const later = status({ ...input(units, first), now: NOW + 5 * SECOND })
        same(statusDigest(later), statusDigest(first))
      }),
      RUNS
    )
  })

  it("P11 R205 never throws, whatever stands in a grid's status", () => {
    const stood = told([kinds["ready"]("a"), kinds["leaving"]("b")])
    fc.assert(
      fc.property(poisoned<unknown>(stood), (poison) => {
        same(told([kinds["ready"]("a")], poison as GridStatus).readyUnits, 1)
        statusDigest((poison ?? {}) as GridStatus)
      }),
      RUNS
    )
  })

  it("R74 shows the states of two units that differ", () => {
    const units = [kinds["ready"]("a"), kinds["rolling"]("b")]
    expect(told(units)).toMatchObject({
      units: 2,
      readyUnits: 1,
      states: { a: { readyReplicas: 1 }, b: { replicas: 1, readyReplicas: 0 } },
      conditions: [
        {
          type: "Ready",
          status: "False",
          reason: "NotReady",
          message: "1 of 2 units are ready, waiting for b"
        },
        { type: "Progressing", status: "True", reason: "RollingOut", message: "rolling out b" },
        { type: "Degraded", status: "False", reason: "AsExpected" }
      ]
    })
  })

  it("R79 shows a unit in its grace time, and when it goes", () => {
    const shown = told([kinds["ready"]("a"), kinds["leaving"]("c")])
    expect(Object.keys(shown.states ?? {})).toEqual(["a", "c"])
    expect(shown.conditions?.[0]).toMatchObject({ status: "True", message: "1 of 1 units are ready" })
    expect(shown.conditions?.[1]).toMatchObject({
      status: "True",
      reason: "UnitGrace",
      message: "web-c is deleted at 2026-01-01T00:01:00Z unless a node of c returns"
    })
  })

  it("R78 says that no unit is left, naming the key, and shows no states", () => {
    expect(told([])).toMatchObject({
      units: 0,
      readyUnits: 0,
      states: {},
      conditions: [
        {
          status: "False",
          reason: "NoUnits",
          message: 'no node has the label "zone"; label nodes with it, each value is a unit'
        },
        { status: "False", reason: "Settled" },
        { status: "False", reason: "AsExpected" }
      ]
    })
  })

  it("R21 tells why a whole grid is refused", () => {
    const refused = [{ reason: "InvalidGridKey", path: "spec.gridUniqKey", message: "spec.gridUniqKey: no" }]
    const shown = status({ ...input([]), plan: { ...planOf([]), refused } })
    expect(shown.conditions).toMatchObject([
      { status: "False", reason: "InvalidGridKey", message: "spec.gridUniqKey: no" },
      { status: "False" },
      { status: "True", reason: "InvalidGridKey", message: "spec.gridUniqKey: no" }
    ])
  })

  it("R26 says that a grid is being deleted", () => {
    const grid = web("zone", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" })
    expect(status({ ...input([]), grid }).conditions?.[0]).toMatchObject({
      status: "False",
      reason: "Deleting"
    })
  })

  it("R76 is Ready while a child that is wanted no more is still going", () => {
    const shown = told([kinds["ready"]("a"), kinds["going"]("c"), kinds["undeletable"]("d")])
    expect(shown.conditions?.map((each) => each.status)).toEqual(["True", "True", "True"])
  })
})

describe("status of a ServiceGrid", () => {
  it("R71 shows the load balancer, and that the Service is in place", () => {
    const child = service({ loadBalancer: { ingress: [{ ip: "5.6.7.8" }] } })
    expect(serviceStatus([{ _tag: "Keep", unit: undefined, name: "web-svc" }], [child])).toMatchObject({
      service: "web-svc",
      loadBalancer: { ingress: [{ ip: "5.6.7.8" }] },
      conditions: [
        { status: "True", reason: "InPlace" },
        { status: "False", reason: "Settled" },
        { status: "False", reason: "AsExpected" }
      ]
    })
  })

  it("shows the grid's own Service where it owns another", () => {
    const other = shortChild("a-svc", { kind: "Service", unit: undefined, status: "{}" })
    expect(
      serviceStatus([{ _tag: "Keep", unit: undefined, name: "web-svc" }], [other, service({})])
    ).toMatchObject({
      service: "web-svc"
    })
  })

  it.each([{}, { loadBalancer: {} }, { loadBalancer: null }])("shows no load balancer for %j", (its) => {
    expect(
      serviceStatus([{ _tag: "Keep", unit: undefined, name: "web-svc" }], [service(its)])
    ).not.toHaveProperty("loadBalancer")
  })

  it("R69 needs no unit to be Ready", () => {
    const shown = serviceStatus([{ _tag: "Create", unit: undefined, name: "web-svc" }], [])
    expect(shown.conditions).toMatchObject([
      { status: "False", reason: "NotReady", message: "web-svc is not in place" },
      { status: "True", reason: "RollingOut", message: "rolling out web-svc" },
      { status: "False" }
    ])
  })

  it("R70 turns its condition once an illegal port is corrected, and keeps the others", () => {
    const steps: readonly Step[] = [
      { _tag: "Held", unit: undefined, name: "web-svc", until: NOW, hold: holdOf("Invalid", 1) }
    ]
    const wrong = serviceStatus(steps, [])
    expect(wrong.conditions?.[2]).toMatchObject({ status: "True", reason: "Invalid", message: "web-svc: no" })
    const right = serviceStatus(
      [{ _tag: "Keep", unit: undefined, name: "web-svc" }],
      [service({})],
      wrong,
      NOW + SECOND
    )
    expect(right.conditions?.map((each) => [each.status, each.lastTransitionTime])).toEqual([
      ["True", "2026-01-01T00:00:01Z"],
      ["False", "2026-01-01T00:00:00Z"],
      ["False", "2026-01-01T00:00:01Z"]
    ])
  })
})

describe("troubles", () => {
  it("R11 R29 R42 are sorted by unit, each with what the server or the plan says", () => {
    const units = [kinds["invalid"]("c"), kinds["foreign"]("b"), kinds["stuck"]("a"), kinds["ready"]("d")]
    const { plan, children } = input(units)
    expect(troubles(plan, children).map(({ unit, reason, message }) => [unit, reason, message])).toEqual([
      ["a", "WriteFailed", "unit a: no"],
      ["b", "ForeignChild", "b is foreign"],
      ["c", "Invalid", "unit c: no"]
    ])
  })
})

describe("byReason", () => {
  it("R83 tells one message a reason, each text once, the first ten", () => {
    const refusal = (reason: string, message: string): Refusal => ({ reason, path: "", message })
    const many = Array.from({ length: 12 }, (_, i) => refusal("Many", `m${i}`))
    expect([...byReason([refusal("One", "x"), refusal("One", "x"), ...many])]).toEqual([
      ["One", "x"],
      ["Many", "m0; m1; m2; m3; m4; m5; m6; m7; m8; m9; and 2 more"]
    ])
  })
})

describe("statusDigest", () => {
  it("R36 R81 is the same for what the server gives back, with others' conditions beside ours", () => {
    fc.assert(
      fc.property(grids, (units) => {
        const shown = told(units)
        const theirs: Condition = { type: "Theirs", status: "True" }
        const stored = JSON.parse(
          JSON.stringify({
            ...shown,
            conditions: [theirs, ...(shown.conditions ?? [])].reverse(),
            clusters: null
          })
        ) as GridStatus
        same(statusDigest(frozen(stored)), statusDigest(shown))
      }),
      RUNS
    )
  })

  it("R81 differs where one child's status differs", () => {
    const before = told([kinds["ready"]("a"), kinds["ready"]("b")])
    expect(statusDigest(told([kinds["ready"]("a"), kinds["rolling"]("b")]))).not.toBe(statusDigest(before))
    const states = { ...before.states, b: { ...before.states?.["b"], availableReplicas: 0 } }
    expect(statusDigest({ ...before, states })).not.toBe(statusDigest(before))
  })
})

const types = ["Ready", "Progressing", "Degraded"] as const
const LONG_AGO = "2020-02-02T00:00:00Z"

const service = (its: object) =>
  shortChild("web-svc", { kind: "Service", unit: undefined, status: JSON.stringify(its) })

const serviceStatus = (
  steps: readonly Step[],
  children: readonly Child[],
  stood?: ServiceGrid["status"],
  now = NOW
) =>
  status({
    grid: frozen({ ...webService("zone"), ...(stood === undefined ? {} : { status: stood }) }),
    plan: planOf(steps),
    units: [],
    children: byName(children),
    now,
    notices: [],
    offset: 0
  })
