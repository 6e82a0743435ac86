/** Sets whose pods have no names, and what is said of them. */
import { describe, expect, it } from "vitest"
import type { EndpointSlice } from "../src/core/endpoints.ts"
import type { StatefulSetGrid } from "../src/core/grid.ts"
import type { Node, StatefulSet } from "../src/core/kube.ts"
import { unnamed } from "../src/core/unnamed.ts"

const grids = [
  {
    kind: "StatefulSetGrid",
    metadata: { name: "web", namespace: "shop", uid: "u" },
    spec: { gridUniqKey: "zone" }
  }
] as unknown as readonly StatefulSetGrid[]

const set = (unit: string, serviceName: string | null, owner = "u", namespace = "shop"): StatefulSet =>
  ({
    metadata: {
      name: `web-${unit}`,
      namespace,
      annotations: { "superedge.io/grid-key": "zone", "superedge.io/unit": unit },
      ownerReferences: [{ uid: owner, controller: true }]
    },
    spec: { serviceName }
  }) as unknown as StatefulSet

const slice = (service: string, namespace = "shop"): EndpointSlice =>
  ({
    metadata: { name: `${service}-x`, namespace, labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    endpoints: null
  }) as unknown as EndpointSlice

const node = (zone: string | null): Node => ({ metadata: { name: "n", labels: { zone } } }) as unknown as Node

const said = (sets: readonly StatefulSet[], slices: readonly EndpointSlice[], at = node("a")) =>
  unnamed({ grids, sets, slices, node: at })

describe("unnamed", () => {
  it("says nothing of a set whose Service has a slice, be it an empty one", () => {
    expect(said([set("a", "web-svc")], [slice("web-svc")])).toEqual([])
  })

  it("R151 says which set has which Service that is not there", () => {
    expect(said([set("a", "nope")], [slice("web-svc")])).toEqual([
      "the pods of StatefulSet shop/web-a get no short names: its serviceName is shop/nope, and there is no headless Service of that name (one with a clusterIP gives none)"
    ])
  })

  it("takes no Service of another namespace for it", () => {
    expect(said([set("a", "web-svc")], [slice("web-svc", "default")])).toHaveLength(1)
  })

  it.each([[null], [""]])("says that a set has no serviceName where that is %j", (name) => {
    expect(said([set("a", name)], [])).toEqual([
      "the pods of StatefulSet shop/web-a get no short names: it has no serviceName"
    ])
  })

  it("says nothing of other units, nor of sets of nobody or of no grid", () => {
    expect(said([set("b", "nope"), set("a", "nope", "other")], [])).toEqual([])
    expect(said([set("a", "nope")], [], node(null))).toEqual([])
  })

  it("does not depend on the order of the sets", () => {
    const sets = [
      set("a", "nope"),
      { ...set("a", "gone"), metadata: { ...set("a", "gone").metadata, name: "x" } }
    ]
    expect(said(sets, [])).toEqual(said(sets.toReversed(), []))
    expect(said(sets, [])).toHaveLength(2)
  })
})
