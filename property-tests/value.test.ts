import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { shapeOf, shapes, unlisted } from "../src/core/schema.ts"
import { spelling } from "../src/core/value.ts"

const podSpec = shapeOf(shapeOf(shapeOf(shapes.Deployment, "spec"), "template"), "spec")
const affinity = shapeOf(shapeOf(podSpec, "affinity"), "podAffinity")
const required = shapeOf(affinity, "requiredDuringSchedulingIgnoredDuringExecution")

describe("spelling", () => {
  it.each([null, undefined, "", 0, false, [], {}])("is empty for %j, which says nothing", (value) => {
    expect(spelling(value, unlisted)).toBe("")
  })

  it("is the same for two values exactly where they are the same value", () => {
    const plain = fc.oneof(
      fc.constantFrom("true", "false", "80", "-1", "[]", "{}", '"x"', "a", 80, -1, true),
      fc.string(),
      fc.integer()
    )
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        const nothing = (value: unknown): boolean => value === "" || value === 0 || value === false
        expect(spelling(a, unlisted) === spelling(b, unlisted)).toBe(a === b || (nothing(a) && nothing(b)))
      }),
      { numRuns: 10_000 }
    )
  })

  it("of a list or object that is one value depends on all of it, save the order of keys", () => {
    const json = fc
      .jsonValue({ maxDepth: 3 })
      .filter((value) => !/null|false|""|\[\]|\{\}|[^\d]0[^\d]|-0/.test(` ${JSON.stringify(value)} `))
    const tolerations = shapeOf(podSpec, "tolerations")
    fc.assert(
      fc.property(fc.array(json), fc.array(json), (a, b) => {
        expect(spelling(a, tolerations) === spelling(b, tolerations)).toBe(sorted(a) === sorted(b))
        expect(spelling(JSON.parse(sorted(a)), tolerations)).toBe(spelling(a, tolerations))
      }),
      { numRuns: 10_000 }
    )
  })

  it("drops zeros inside of one value, but not those that say something", () => {
    const tolerations = shapeOf(podSpec, "tolerations")
    const of = (toleration: unknown) => spelling([toleration], tolerations)
    expect(of({ key: "", operator: "Exists" })).toBe(of({ operator: "Exists" }))
    expect(of({ operator: "Exists", tolerationSeconds: 0 })).not.toBe(of({ operator: "Exists" }))
  })

  it("tells an empty selector, which selects all, from none", () => {
    const of = (term: unknown) => spelling([term], required)
    expect(of({ topologyKey: "z", namespaceSelector: {} })).not.toBe(of({ topologyKey: "z" }))
    expect(of({ topologyKey: "z", labelSelector: { matchLabels: {} } })).toBe(
      of({ topologyKey: "z", labelSelector: {} })
    )
    expect(of({ topologyKey: "z", labelSelector: null })).toBe(of({ topologyKey: "z" }))
  })

  it("keeps empty label values", () => {
    const nodeSelector = shapeOf(podSpec, "nodeSelector")
    expect(spelling({ zone: "" }, nodeSelector)).not.toBe(spelling({}, nodeSelector))
    expect(spelling({ zone: "", a: "b" }, nodeSelector)).not.toBe(spelling({ a: "b" }, nodeSelector))
  })

  it("fills in what the server fills in inside of one value", () => {
    const claims = shapeOf(shapeOf(shapes.StatefulSet, "spec"), "volumeClaimTemplates")
    const sent = {
      metadata: { name: "d", creationTimestamp: null },
      spec: { accessModes: ["ReadWriteOnce"] },
      status: {}
    }
    const stored = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "d" },
      spec: { accessModes: ["ReadWriteOnce"], volumeMode: "Filesystem", resources: {} },
      status: { phase: "Pending" }
    }
    expect(spelling([sent], claims)).toBe(spelling([stored], claims))
    const block = { ...sent, spec: { ...sent.spec, volumeMode: "Block" } }
    expect(spelling([block], claims)).not.toBe(spelling([stored], claims))
  })
})

const sorted = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(sorted).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)}:${sorted(each)}`)
    .sort()
    .join(",")}}`
}
