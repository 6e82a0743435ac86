import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ownedTree, wantedTree } from "../src/core/fields.ts"
import { type FieldPath, takeover } from "../src/core/takeover.ts"
import { differences } from "../src/core/tree.ts"
import { anyApplied, entry, MANAGER } from "./applied.ts"
import type { Fields, FieldSet, Value } from "./openapi.ts"

const LEGACY = "application-grid-controller"
const RUNS = { numRuns: 10_000 }
const HASH: FieldPath = ["spec", "template", "metadata", "labels", "superedge.io/template-hash-key"]
const REPLICAS: FieldPath = ["spec", "replicas"]

const take = (managedFields: unknown, except: readonly FieldPath[] = []): readonly Fields[] | undefined =>
  takeover(managedFields, {
    from: [LEGACY, "before-first-apply"],
    to: MANAGER,
    except,
    apiVersion: "apps/v1"
  }) as readonly Fields[] | undefined

const setOf = (
  entries: readonly Fields[] | undefined,
  manager: string,
  operation: string
): FieldSet | undefined =>
  entries?.find((each) => each["manager"] === manager && each["operation"] === operation)?.["fieldsV1"] as
    FieldSet | undefined

describe("takeover", () => {
  it("makes all that the former manager had ours, so that nothing is left to write", () => {
    fc.assert(
      fc.property(anyApplied, fc.constantFrom("Update", "Apply"), ({ kind, sent, live, set }, operation) => {
        const managedFields = take([entry(LEGACY, operation, set)])
        const owned = ownedTree(
          kind,
          { ...live, metadata: { ...(live["metadata"] as Fields), managedFields } },
          MANAGER
        )
        expect(differences(wantedTree(kind, sent), owned)).toEqual([])
        expect(managedFields).toHaveLength(1)
      }),
      RUNS
    )
  })

  it("shows afterwards what is wanted no more, so that the next apply removes it", () => {
    fc.assert(
      fc.property(anyApplied, ({ kind, sent, live, set }) => {
        const { "f:spec": spec = {}, ...rest } = set
        const old = entry(LEGACY, "Update", { ...rest, "f:spec": { ...spec, "f:dropped": {} } })
        const managedFields = take([old])
        const owned = ownedTree(
          kind,
          { ...live, metadata: { ...(live["metadata"] as Fields), managedFields } },
          MANAGER
        )
        expect(differences(wantedTree(kind, sent), owned).map(({ path }) => path)).toEqual(["spec.dropped"])
      }),
      RUNS
    )
  })

  it("joins what we have with what they had, path by path", () => {
    fc.assert(
      fc.property(anySet, anySet, anySet, (ours, theirs, more) => {
        const taken = take([
          entry(MANAGER, "Apply", ours),
          entry(LEGACY, "Update", theirs),
          entry(LEGACY, "Apply", more)
        ])
        const all = new Set([...paths(ours), ...paths(theirs), ...paths(more)])
        expect(new Set(paths(setOf(taken, MANAGER, "Apply") ?? {}))).toEqual(all)
        expect(taken).toHaveLength(1)
      }),
      RUNS
    )
  })

  it("splits a set at the exceptions: no path is lost, none is had twice", () => {
    fc.assert(
      fc.property(
        anySet,
        fc.array(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
        (theirs, except) => {
          const taken = take([entry(LEGACY, "Update", theirs)], except)
          if (taken === undefined) {
            expect(paths(theirs).every((path) => isBelow(path, except))).toBe(true)
            return
          }
          const [moved, stayed] = [
            paths(setOf(taken, MANAGER, "Apply") ?? {}),
            paths(setOf(taken, LEGACY, "Update") ?? {})
          ]
          expect([...moved, ...stayed].sort()).toEqual([...paths(theirs)].sort())
          expect(stayed.every((path) => isBelow(path, except))).toBe(true)
          expect(moved.some((path) => isBelow(path, except))).toBe(false)
        }
      ),
      RUNS
    )
  })

  it("leaves the pod label of SuperEdge and replicas with the manager that had them", () => {
    const labels = { ".": {}, "f:app": {}, "f:superedge.io/template-hash-key": {} }
    const theirs = {
      "f:spec": { "f:replicas": {}, "f:paused": {}, "f:template": { "f:metadata": { "f:labels": labels } } }
    }
    const taken = take([entry(LEGACY, "Update", theirs)], [HASH, REPLICAS])
    expect(setOf(taken, LEGACY, "Update")).toEqual({
      "f:spec": {
        "f:replicas": {},
        "f:template": { "f:metadata": { "f:labels": { "f:superedge.io/template-hash-key": {} } } }
      }
    })
    expect(setOf(taken, MANAGER, "Apply")).toEqual({
      "f:spec": { "f:paused": {}, "f:template": { "f:metadata": { "f:labels": { ".": {}, "f:app": {} } } } }
    })
  })

  it("does nothing a second time", () => {
    fc.assert(
      fc.property(anyApplied, ({ set }) => {
        const once = take([entry(LEGACY, "Update", set)], [HASH, REPLICAS])
        expect(take(once, [HASH, REPLICAS])).toBeUndefined()
      }),
      { numRuns: 10_000 }
    )
  })

  it("leaves other managers and subresources as they are", () => {
    const status = { ...entry(LEGACY, "Update", { "f:status": {} }), subresource: "status" }
    const others = [
      entry("kubectl", "Apply", { "f:spec": { "f:paused": {} } }),
      status,
      entry(MANAGER, "Update", { "f:spec": {} })
    ]
    expect(take(others)).toBeUndefined()
    expect(take([...others, entry(LEGACY, "Update", { "f:spec": { "f:x": {} } })])?.slice(0, 3)).toEqual(
      others
    )
  })

  it("writes our entry as the API server wants it", () => {
    expect(take([entry(LEGACY, "Update", { "f:spec": { "f:x": {} } })])).toEqual([
      {
        manager: MANAGER,
        operation: "Apply",
        apiVersion: "apps/v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": { "f:x": {} } }
      }
    ])
  })

  it("keeps a label called __proto__", () => {
    const set = JSON.parse('{"f:metadata":{"f:labels":{"f:__proto__":{},"__proto__":{}}}}') as FieldSet
    expect(
      JSON.stringify(
        setOf(take([entry(LEGACY, "Update", set), entry(MANAGER, "Apply", set)]), MANAGER, "Apply")
      )
    ).toBe(JSON.stringify(set))
  })

  it.each([
    null,
    undefined,
    "x",
    7,
    {},
    [null],
    ["x"],
    [{}],
    [{ manager: LEGACY, fieldsV1: "x" }],
    [{ manager: LEGACY }]
  ])("moves nothing where managedFields is %j", (managedFields) => {
    expect(take(managedFields)).toBeUndefined()
  })
})

// ---- field sets of three names

const { set: anySet } = fc.letrec<{ set: FieldSet }>((tie) => ({
  set: fc.dictionary(
    fc.constantFrom("f:a", "f:b", "f:c", 'k:{"name":"x"}', 'v:"y"'),
    fc.oneof({ depthSize: "small" }, fc.constant({}), tie("set")),
    { minKeys: 1, maxKeys: 3, noNullPrototype: true }
  )
}))

/** The paths that a set owns. */
const paths = (set: FieldSet, from = ""): readonly string[] => {
  const steps = Object.entries(set)
  if (steps.length === 0 && from !== "") return [from]
  return steps.flatMap(([step, below]) =>
    step === "." ? [from] : paths(below as Value as FieldSet, `${from}/${step}`)
  )
}

const isBelow = (path: string, tops: readonly FieldPath[]): boolean =>
  tops.some((top) => {
    const prefix = top.map((name) => `/f:${name}`).join("")
    return path === prefix || path.startsWith(`${prefix}/`)
  })
