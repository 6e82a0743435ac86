/** What could not be written is told to those whom it is about. */
import { describe, expect, it } from "vitest"
import { site } from "../src/core/site.ts"
import { SiteNode } from "../src/core/site-node.ts"
import { sitesOf } from "../src/core/sites.ts"
import { allWritten, type Unwritten } from "../src/core/unwritten.ts"
import { node } from "./given.ts"
import { group, unit } from "./sited.ts"

const units = [unit("u1", { nodes: ["n1"] }), unit("u2", { nodes: ["n2"] })]
const groups = [group("g", { nodeUnits: ["u1"], autoFindNodeKeys: ["city"] })]
const nodes = [node("n1", { city: "bj" }), node("n2", {})]

const told = (unwritten: Partial<Unwritten>) =>
  sitesOf({
    units: units.map((each) => site("NodeUnit", each)),
    groups: groups.map((each) => site("NodeGroup", each)),
    nodes: nodes.map((each) => new SiteNode(each)),
    maxNodesChanged: 1,
    unwritten: { ...allWritten, ...unwritten }
  }).refused.map(({ message, reason }) => [reason, message])

describe("what could not be written", () => {
  it("is told to nobody where all was written", () => {
    expect(told({})).toEqual([])
  })

  it("R158 of a node is told to its units", () => {
    expect(told({ nodes: new Map([["n2", "forbidden"]]) })).toEqual([
      [
        "NodeNotWritten",
        "NodeUnit u2: spec: what nodes carry could not be written: forbidden (n2); it is tried again"
      ]
    ])
  })

  it("of a unit that is found is told to its group", () => {
    expect(told({ units: new Map([["bj", "forbidden"]]) })).toEqual([
      [
        "UnitNotWritten",
        "NodeGroup g: spec.autoFindNodeKeys: units that it finds could not be made, set right or deleted: forbidden (bj); it is tried again"
      ]
    ])
    expect(told({ units: new Map([["unit-node-all", "forbidden"]]) })).toEqual([])
  })

  it("of a finalizer is told to the object", () => {
    expect(told({ finalizers: new Map([["NodeGroup g", "forbidden"]]) })).toEqual([
      [
        "FinalizerNotWritten",
        "NodeGroup g: metadata.finalizers: could not be written: forbidden (g); it is tried again"
      ]
    ])
  })
})
