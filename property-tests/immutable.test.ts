import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { immutable } from "../src/core/immutable.ts"
import { anyApplied, applied } from "./applied.ts"
import type { Fields } from "./openapi.ts"

describe("immutable", () => {
  it("is the same for what was sent and for what the server made of it", () => {
    fc.assert(
      fc.property(anyApplied, ({ kind, sent, live }) => {
        expect(immutable(kind, live)).toEqual(immutable(kind, sent))
      }),
      { numRuns: 10_000 }
    )
  })

  const changes: readonly (readonly [string, (spec: Fields) => Fields])[] = [
    ["spec.selector", (spec) => ({ ...spec, selector: { matchLabels: { app: "other" } } })],
    ["spec.serviceName", (spec) => ({ ...spec, serviceName: "other" })],
    [
      "spec.podManagementPolicy",
      (spec) => ({
        ...spec,
        podManagementPolicy: spec["podManagementPolicy"] === "Parallel" ? "OrderedReady" : "Parallel"
      })
    ],
    [
      "spec.volumeClaimTemplates",
      (spec) => ({ ...spec, volumeClaimTemplates: [{ metadata: { name: "other" }, spec: {} }] })
    ]
  ]

  it("names exactly the field that was changed", () => {
    fc.assert(
      fc.property(applied("StatefulSet"), fc.constantFrom(...changes), ({ sent, live }, [path, change]) => {
        const before = immutable("StatefulSet", live)
        const after = immutable("StatefulSet", { spec: change(sent["spec"] as Fields) })
        expect(Object.keys(after).filter((each) => after[each] !== before[each])).toEqual([path])
      }),
      { numRuns: 10_000 }
    )
  })

  it("does not depend on what may change", () => {
    fc.assert(
      fc.property(anyApplied, ({ kind, sent }) => {
        const spec = { ...(sent["spec"] as Fields), template: {}, replicas: 77, strategy: {}, ports: [] }
        expect(immutable(kind, { ...sent, metadata: {}, spec })).toEqual(immutable(kind, sent))
      }),
      { numRuns: 10_000 }
    )
  })

  const claim = (spec: Fields) =>
    immutable("StatefulSet", { spec: { volumeClaimTemplates: [{ metadata: { name: "d" }, spec }] } })

  it("tells a claim without storage class from one with the default class", () => {
    expect(claim({ storageClassName: "" })).not.toEqual(claim({}))
  })

  it("takes equal amounts of a claim as equal", () => {
    const storage = (amount: string) => claim({ resources: { requests: { storage: amount } } })
    expect(storage("1024Mi")).toEqual(storage("1Gi"))
    expect(storage("1024Mi")).not.toEqual(storage("1025Mi"))
  })

  it("tells of a Service whether it is headless", () => {
    const service = (clusterIP: unknown) => immutable("Service", { spec: { clusterIP } })
    expect(service("None")).not.toEqual(service("10.0.0.1"))
    expect(service(undefined)).toEqual(service("10.0.0.1"))
    expect(service("")).toEqual(service(null))
  })

  it("never throws", () => {
    fc.assert(
      fc.property(fc.anything(), (spec) => {
        for (const kind of ["Deployment", "StatefulSet", "Service"] as const)
          expect(typeof immutable(kind, { spec })).toBe("object")
      }),
      { numRuns: 10_000 }
    )
  })
})
