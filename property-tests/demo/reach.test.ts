import { describe, expect, it } from "vitest"
import { plain } from "../../src/commands/demo/paint.ts"
import { missingReach, reach } from "../../src/commands/demo/reach.ts"
import { changed, NEW, OLD, theEnd } from "./scenes.ts"

const asked = { service: "servicegrid-demo-svc", key: "location" }
const beijing = { unit: "beijing", nodes: ["bj-1", "bj-2"], replicas: 2, image: OLD }
const guangzhou = { unit: "guangzhou", nodes: ["bj-3", "gz-1", "gz-2", "gz-3"], replicas: 3, image: NEW }
const both = { ...asked, units: [beijing, guangzhou] }

const foreign = { nodeName: "gz-1", address: "10.244.0.3", pod: "demo-x3", ready: true }

describe("missingReach", () => {
  it("misses nothing where every node reaches its own unit", () => {
    expect(missingReach(theEnd, theEnd, both)).toEqual([])
  })

  it("names an endpoint of another unit", () => {
    expect(missingReach(changed(theEnd, "views.0.got.2", foreign), theEnd, both)).toEqual([
      "kube-proxy on bj-1 gets x1 on bj-1, x2 on bj-2, x3 on gz-1; it should be x1 on bj-1, x2 on bj-2"
    ])
  })

  it("names an own endpoint that isn't shown", () => {
    expect(missingReach(changed(theEnd, "views.5.got.0", undefined), theEnd, both)).toEqual([
      "kube-proxy on gz-3 gets x4 on gz-2, x5 on gz-3; it should be x3 on gz-1, x4 on gz-2, x5 on gz-3"
    ])
  })

  it("names an endpoint in another state", () => {
    expect(missingReach(changed(theEnd, "views.1.got.0.ready", false), theEnd, both)).toEqual([
      "kube-proxy on bj-2 gets x1 on bj-1 (not ready), x2 on bj-2; it should be x1 on bj-1, x2 on bj-2"
    ])
  })

  it("names a pod that took over another one's address", () => {
    expect(missingReach(changed(theEnd, "views.0.got.0.pod", "demo-x9"), theEnd, both)).toEqual([
      "kube-proxy on bj-1 gets x9 on bj-1, x2 on bj-2; it should be x1 on bj-1, x2 on bj-2"
    ])
  })

  it("names a node that nobody asked", () => {
    expect(missingReach(changed(theEnd, "views.3", undefined), theEnd, both)).toEqual([
      "kube-proxy on gz-1: nobody asked"
    ])
  })

  it("names the slices where they hold too few endpoints of a unit", () => {
    expect(missingReach(theEnd, changed(theEnd, "slices.0.endpoints.0", undefined), both)).toEqual([
      "the slices of servicegrid-demo-svc hold 1 endpoints in beijing, not 2"
    ])
  })

  it("measures by what was the truth then, whatever the cluster holds now", () => {
    const now = changed(theEnd, "slices.0.endpoints.0.addresses.0", "10.244.0.9")
    expect(missingReach(now, theEnd, both)).toEqual([])
    expect(missingReach(now, now, both)).toHaveLength(2)
  })

  it("doesn't depend on the order of endpoints in a slice", () => {
    const [slice] = theEnd.slices
    const turned = { ...theEnd, slices: [{ ...slice, endpoints: slice?.endpoints?.toReversed() }] }
    expect(missingReach(theEnd, turned as typeof theEnd, both)).toEqual([])
  })

  it("leaves the slices of other Services alone", () => {
    const [slice] = theEnd.slices
    const other = { metadata: { name: "x", labels: { "kubernetes.io/service-name": "x" } } }
    const more = { ...theEnd, slices: [{ ...slice, ...other }, ...theEnd.slices] }
    expect(missingReach(theEnd, more, both)).toEqual([])
  })
})

describe("reach", () => {
  it("has a line for each node, and one for the way to the API server", () => {
    expect(reach(theEnd, asked, 76, plain)).toEqual([
      "NODE  UNIT       REACHES         PODS",
      ...["bj-1", "bj-2"].map((node) => `${node}  beijing    2 in beijing    x1 on bj-1, x2 on bj-2`),
      ...["bj-3", "gz-1", "gz-2", "gz-3"].map(
        (node) => `${node}  guangzhou  3 in guangzhou  x3 on gz-1, x4 on gz-2, x5 on gz-3`
      ),
      "The wrappers reach the API server."
    ])
  })

  it("shows which units a node reaches, and whether that is more than its own", () => {
    const paint = { ...plain, yellow: (text: string) => `!${text}!` }
    const [, line] = reach(changed(theEnd, "views.0.got.2", foreign), asked, 100, paint)
    expect(line).toContain("!2 in beijing, 1 in guangzhou!")
  })

  it("says why a node has no answer", () => {
    const [, line] = reach(changed(theEnd, "views.0.got", "its wrapper is starting"), asked, 100, plain)
    expect(line).toBe("bj-1  beijing    its wrapper is starting")
  })

  it("shows a node that is in no unit and reaches nothing", () => {
    const lost = changed(changed(theEnd, "nodes.0.metadata.labels", {}), "views.0.got", [])
    const [, line] = reach(lost, asked, 100, plain)
    expect(line).toBe("bj-1  -          none")
  })

  it("says that the wrappers are cut off", () => {
    expect(reach(changed(theEnd, "upstream", "Cut"), asked, 100, plain).at(-1)).toBe(
      "The wrappers are cut off from the API server; this is what they answer."
    )
  })

  it("is never wider than it may be", () => {
    for (let width = 20; width < 120; width++)
      for (const line of reach(theEnd, asked, width, plain)) expect(line.length).toBeLessThanOrEqual(width)
  })
})
