/** What goes with what goes: children with their owners, objects with their namespace. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  NAMESPACES,
  RUNS,
  SERVICES,
  Stage,
  deployment,
  namespace,
  service,
  stageOf
} from "./stage.ts"

describe("garbage collection", () => {
  it("takes the children of the owner that goes, never others'", () => {
    const tree = fc.array(fc.record({ parents: fc.array(fc.nat(20), { maxLength: 3 }) }), {
      minLength: 1,
      maxLength: 12
    })
    const policy = fc.constantFrom("Background", "Foreground", "Orphan")
    fc.assert(
      fc.property(tree, fc.nat(), policy, fc.nat(4), (given, which, propagationPolicy, turns) => {
        const stage = new Stage()
        const uids: string[] = []
        const parents = given.map(({ parents: all }, place) =>
          [...new Set(all.map((each) => each % given.length))].filter((each) => each < place)
        )
        parents.forEach((all, place) => {
          const ownerReferences = all.map((each) => ownerOf(`c${each}`, uids[each] ?? ""))
          uids.push(
            stage.must("POST", CONFIG_MAPS, configMap(`c${place}`, { ownerReferences })).metadata.uid ?? ""
          )
          for (let count = 0; count < turns; count++) stage.turn()
        })
        const root = which % given.length
        stage.must("DELETE", `${CONFIG_MAPS}/c${root}`, undefined, { propagationPolicy })
        stage.settle()
        const left = stage
          .all("/configmaps")
          .map((each) => each.metadata.name)
          .filter((each) => /^c\d+$/.test(each))
        expect(left.toSorted()).toEqual(survivors(parents, root, propagationPolicy === "Orphan").toSorted())
      }),
      RUNS
    )
  })

  it.each(["Background", "Foreground", "Orphan"])(
    "of one of two owners (%s) leaves the child with the other",
    (propagationPolicy) => {
      const stage = new Stage()
      const owners = ["one", "other"].map((name) => {
        const { uid } = stage.must("POST", CONFIG_MAPS, configMap(name)).metadata
        return { ...ownerOf(name, uid ?? ""), blockOwnerDeletion: true }
      })
      stage.must("POST", CONFIG_MAPS, configMap("child", { ownerReferences: owners }))
      stage.must("DELETE", `${CONFIG_MAPS}/one`, undefined, { propagationPolicy })
      stage.settle()
      const left = stage.all("/configmaps").filter((each) => ["one", "child"].includes(each.metadata.name))
      expect(left.map(({ metadata }) => [metadata.name, metadata.ownerReferences])).toEqual([
        ["child", [owners[1]]]
      ])
    }
  )

  it("deletes a child whose owner was gone before it came", () => {
    const stage = new Stage()
    stage.must("POST", CONFIG_MAPS, configMap("late", { ownerReferences: [ownerOf("gone", "no-such-uid")] }))
    stage.settle()
    expect(stage.all("/configmaps").map((each) => each.metadata.name)).not.toContain("late")
  })

  it("leaves a child alone whose owner is of a kind that isn't served", () => {
    const stage = new Stage()
    const owner = { apiVersion: "example.com/v1", kind: "Thing", name: "x", uid: "no-such-uid" }
    stage.must("POST", CONFIG_MAPS, configMap("kept", { ownerReferences: [owner] }))
    stage.settle()
    expect(stage.all("/configmaps").map((each) => each.metadata.name)).toContain("kept")
  })

  it("keeps a foreground owner until those that block it are gone", () => {
    const stage = new Stage()
    const { uid } = stage.must("POST", CONFIG_MAPS, configMap("owner")).metadata
    const ownerReferences = [{ ...ownerOf("owner", uid ?? ""), blockOwnerDeletion: true }]
    stage.must("POST", CONFIG_MAPS, configMap("held", { ownerReferences, finalizers: ["example.com/wait"] }))
    stage.settle()
    stage.must("DELETE", `${CONFIG_MAPS}/owner`, undefined, { propagationPolicy: "Foreground" })
    stage.settle()
    expect(stage.all("/configmaps").map((each) => each.metadata.name)).toEqual(
      expect.arrayContaining(["held", "owner"])
    )
    stage.must("PATCH", `${CONFIG_MAPS}/held`, { metadata: { finalizers: null } })
    stage.settle()
    expect(stage.all("/configmaps").filter((each) => ["held", "owner"].includes(each.metadata.name))).toEqual(
      []
    )
  })
})

describe("a namespace that is deleted", () => {
  it("goes with everything in it", () => {
    const stage = stageOf(1)
    stage.must("POST", NAMESPACES, namespace("shop"))
    stage.must("POST", DEPLOYMENTS.replace("default", "shop"), deployment("web", { replicas: 2 }))
    stage.must("POST", SERVICES.replace("default", "shop"), service("web", "web"))
    stage.settle()
    stage.must("DELETE", `${NAMESPACES}/shop`)
    stage.settle()
    expect(stage.all("/namespaces").map((each) => each.metadata.name)).not.toContain("shop")
    expect(stage.all("/pods")).toEqual([])
    expect(
      stage.all("discovery.k8s.io/endpointslices").filter((each) => each.metadata.namespace === "shop")
    ).toEqual([])
  })
})

const configMap = (name: string, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata }
})

const ownerOf = (name: string, uid: string): object => ({ apiVersion: "v1", kind: "ConfigMap", name, uid })

/** Who is left when one goes: all but itself and those all of whose parents went, level by level. */
const survivors = (
  parents: readonly (readonly number[])[],
  root: number,
  orphan: boolean
): readonly string[] => {
  const gone = new Set([root])
  if (!orphan) {
    parents.forEach((all, place) => {
      if (all.length > 0 && all.every((each) => gone.has(each))) gone.add(place)
    })
  }
  return parents.flatMap((_, place) => (gone.has(place) ? [] : [`c${place}`]))
}
