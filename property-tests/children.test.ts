/** Whole workloads, as the API server has them, against what grids want: which are written, and which are let alone. */
import { describe, expect, it } from "vitest"
import type { ChildObject } from "../src/core/child.ts"
import { childObject } from "../src/core/desired.ts"
import type { WorkloadSpec } from "../src/core/kube.ts"
import { unitsOf } from "../src/core/units.ts"
import {
  frozen,
  liveDeployment,
  node,
  NOW,
  podTemplate,
  SECOND,
  template,
  web,
  webService,
  webSet
} from "./given.ts"
import { live, messageOf, podOf, steps, tags } from "./planned.ts"

describe("plan", () => {
  it("R25 creates what is not there", () => {
    expect(tags(web("zone"), ["a", "b"], [])).toEqual(["web-a Create", "web-b Create"])
  })

  it("R36 keeps what was applied, of all kinds", () => {
    for (const grid of [web("zone"), webSet("zone"), webService("zone")])
      expect(steps(grid, ["a"], [live(grid)]).map((step) => step._tag)).toEqual(["Keep"])
  })

  it("R5 R49 writes nothing for a 51st node, a tainted one or one that isn't ready", () => {
    const nodes = [
      ...Array.from({ length: 50 }, (_, i) => node(`n${i}`, { zone: "a" })),
      node("n50", { zone: "a" }, { spec: { unschedulable: true }, status: { conditions: [] } })
    ]
    expect(tags(web("zone"), unitsOf("zone", nodes), [live(web("zone"))])).toEqual(["web-a Keep"])
  })

  it.each([
    [
      "an image",
      (spec: WorkloadSpec) => ({ ...spec, ...podTemplate({ containers: [{ name: "c", image: "evil:1" }] }) })
    ],
    ["replicas", (spec: WorkloadSpec) => ({ ...spec, replicas: 9 })],
    [
      "the node selector",
      (spec: WorkloadSpec) => ({ ...spec, template: podTemplate({ nodeSelector: { zone: "b" } }).template })
    ]
  ])("R31 sets back %s", (_, edit) => {
    const object = live(web("zone"))
    const edited = frozen({ ...object, spec: edit(object.spec as WorkloadSpec) }) as ChildObject
    expect(tags(web("zone"), ["a"], [edited])).toEqual(["web-a Change"])
  })

  it("R31 R32 R33 lets be what others added", () => {
    const object = live(web("zone"))
    const theirs = frozen({
      ...object,
      metadata: {
        ...object.metadata,
        labels: { ...object.metadata.labels, mine: "1" },
        annotations: { ...object.metadata.annotations, "deployment.kubernetes.io/revision": "3" },
        finalizers: ["x.io/hold"]
      },
      spec: {
        ...object.spec,
        template: podTemplate({
          nodeSelector: { zone: "a" },
          containers: [
            { name: "c", image: "nginx:1", terminationMessagePath: "/dev/termination-log" },
            { name: "sidecar", image: "proxy:1" }
          ]
        }).template
      }
    }) as ChildObject
    expect(tags(web("zone"), ["a"], [theirs])).toEqual(["web-a Keep"])
  })

  const env = [
    { name: "A", value: "1" },
    { name: "B", value: "2" }
  ]
  it.each([
    [
      "one of two env entries",
      { containers: [{ name: "c", env }] },
      { containers: [{ name: "c", env: env.slice(1) }] }
    ],
    ["a whole container", { containers: [{ name: "c" }, { name: "d" }] }, { containers: [{ name: "c" }] }],
    [
      "limits",
      { containers: [{ name: "c", resources: { limits: { cpu: 1 } } }] },
      { containers: [{ name: "c" }] }
    ]
  ])("R34 takes away %s that the template has no more", (_, before, after) => {
    const object = live(web("zone", { template: podTemplate(before) }))
    expect(tags(web("zone", { template: podTemplate(after) }), ["a"], [object])).toEqual(["web-a Change"])
  })

  it("R35 writes nothing for amounts that the server spells otherwise", () => {
    const limits = (cpu: number | string, memory: string) =>
      web("zone", {
        template: podTemplate({ containers: [{ name: "c", resources: { limits: { cpu, memory } } }] })
      })
    expect(tags(limits(0.5, "1024Mi"), ["a"], [live(limits("500m", "1Gi"))])).toEqual(["web-a Keep"])
  })

  it.each([
    { strategy: { rollingUpdate: { maxSurge: 2 } } },
    { minReadySeconds: 5 },
    { revisionHistoryLimit: 3 },
    { paused: true }
  ])("R37 changes the child and not its pod template for %j", (more) => {
    const [before, after] = [web("zone"), web("zone", { template: template("nginx:1", more) })]
    expect(tags(after, ["a"], [live(before)])).toEqual(["web-a Change"])
    expect(JSON.stringify(podOf(after))).toBe(JSON.stringify(podOf(before)))
  })

  it("R38 changes replicas alone when replicas change", () => {
    const more = web("zone", { template: template("nginx:1", { replicas: 3 }) })
    expect(JSON.stringify(podOf(more))).toBe(JSON.stringify(podOf(web("zone"))))
  })

  it("R40 takes over what SuperEdge made, once", () => {
    const made = liveDeployment({
      ownerReferences: live(web("zone")).metadata.ownerReferences ?? [],
      managedFields: [superEdges({ "f:spec": { "f:template": { "f:spec": { "f:hostNetwork": {} } } } })]
    })
    expect(tags(web("zone"), ["a"], [made])).toEqual(["web-a TakeOver"])
    const left = liveDeployment({
      ...made.metadata,
      managedFields: [superEdges({ "f:spec": { "f:replicas": {} } })]
    })
    expect(tags(web("zone"), ["a"], [left])).toEqual(["web-a Change"])
  })

  it("R57 hands replicas over before it lets go of them", () => {
    const scaled = live(web("zone", { template: template("nginx:1", { replicas: 3 }) }))
    expect(steps(web("zone", { template: withoutReplicas }), ["a"], [scaled])).toEqual([
      { _tag: "HandOver", unit: "a", name: "web-a", uid: "uid-of-web-a", replicas: 3 }
    ])
    const managedFields = [
      ...(scaled.metadata.managedFields ?? []),
      {
        ...superEdges({ "f:spec": { "f:replicas": {} } }),
        manager: "servicegroup-replicas",
        operation: "Apply"
      }
    ]
    const handed = frozen({ ...scaled, metadata: { ...scaled.metadata, managedFields } })
    expect(tags(web("zone", { template: withoutReplicas }), ["a"], [handed])).toEqual(["web-a Change"])
  })

  it("R4 R56 writes nothing when an autoscaler changes replicas that the template leaves out", () => {
    const object = live(web("zone", { template: withoutReplicas }))
    const scaled = frozen({ ...object, spec: { ...object.spec, replicas: 7 } }) as ChildObject
    expect(tags(web("zone", { template: withoutReplicas }), ["a"], [scaled])).toEqual(["web-a Keep"])
  })

  it("R27 adopts orphans of a grid of the same name", () => {
    const orphan = live(web("zone"), { ownerReferences: [] })
    expect(steps(web("zone", {}, { uid: "a-new-one" }), ["a"], [orphan])).toEqual([
      { _tag: "Change", unit: "a", name: "web-a", uid: "uid-of-web-a" }
    ])
  })

  it("R28 lets a labelled Deployment be that no unit wants", () => {
    const foo = liveDeployment({ name: "foo", labels: { "superedge.io/grid-selector": "web" } })
    expect(tags(web("zone"), ["a"], [live(web("zone")), foo])).toEqual(["web-a Keep"])
  })

  it("R29 lets a user's Deployment of a wanted name be, and serves the other unit", () => {
    const [first, second] = steps(web("zone"), ["a", "b"], [liveDeployment()])
    expect(first).toMatchObject({ _tag: "Refused", unit: "a", refusal: { reason: "ForeignChild" } })
    expect(messageOf(first)).toContain("Deployment default/web-a exists and has no owner")
    expect(second).toEqual({ _tag: "Create", unit: "b", name: "web-b" })
  })

  it("R30 leaves a child to the grid that made it first", () => {
    const first = web("zone", {}, { name: "app", uid: "u-1" })
    const [step] = steps(
      web("zone", {}, { name: "app-edge", uid: "u-2" }),
      ["a"],
      [live(first, {}, "edge-a")]
    )
    expect(messageOf(step)).toContain(
      "Deployment default/app-edge-a exists and belongs to DeploymentGrid app;"
    )
  })

  it("R45 names the selector and lets the child run, while the other unit goes on", () => {
    const grid = web("zone", { templatePool: { t1: otherSelector }, templates: { a: "t1" } })
    const [first, second] = steps(grid, ["a", "b"], [live(web("zone"))])
    expect(first).toMatchObject({
      _tag: "Refused",
      refusal: { unit: "a", reason: "ImmutableField", path: "spec.templatePool[t1].selector" }
    })
    expect(second?._tag).toBe("Create")
  })

  it.each([
    ["serviceName", { serviceName: "other" }],
    ["volumeClaimTemplates", { volumeClaimTemplates: [{ metadata: { name: "data" } }] }],
    ["podManagementPolicy", { podManagementPolicy: "Parallel" }]
  ])("R46 names %s of a StatefulSet and lets it run", (field, more) => {
    const said = template("nginx:1", { serviceName: "web-svc", ...more })
    const [step] = steps(webSet("zone", { template: said }), ["a"], [live(webSet("zone"))])
    expect(step).toMatchObject({
      _tag: "Refused",
      refusal: { reason: "ImmutableField", path: `spec.template.${field}` }
    })
  })

  it("R47 keeps the child of a unit that is back within its grace", () => {
    const grid = web("zone")
    const child = [live(grid)]
    const away = (seconds: number, units: readonly string[] = []) =>
      tags(grid, units, child, { vanished: new Map([["uid-of-web-a", NOW]]), now: NOW + seconds * SECOND })
    expect([away(55), away(75), away(30, ["a"])]).toEqual([["web-a Grace"], ["web-a Delete"], ["web-a Keep"]])
  })

  it("R54 moves a child to another key, and lets those go that are wanted no more", () => {
    const [zone, park] = [web("zone"), web("park")]
    const before = [live(zone), live(zone, {}, "old")]
    expect(tags(park, ["a"], before)).toEqual(["web-a Change", "web-old Grace"])
    expect(childObject(park, "a")?.metadata.labels).toMatchObject({ "superedge.io/grid-uniq-key": "park" })
    expect(podOf(park)?.spec?.nodeSelector).toEqual({ park: "a" })
  })

  it("R55 takes a label away that the grid has no more", () => {
    expect(tags(web("zone"), ["a"], [live(web("zone", {}, { labels: { team: "x" } }))])).toEqual([
      "web-a Change"
    ])
  })

  it("R58 waits for a child that is being deleted, and makes it anew afterwards", () => {
    const going = live(web("zone"), { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x.io/hold"] })
    expect(tags(web("zone"), ["a"], [going])).toEqual(["web-a Terminating"])
    expect(tags(web("zone"), ["a"], [])).toEqual(["web-a Create"])
  })

  it("R59 writes only the unit whose template changed", () => {
    const grid = web("zone", { templatePool: { t2: template("nginx:2") }, templates: { b: "t2" } })
    const before = ["a", "b", "c"].map((unit) => live(web("zone"), {}, unit))
    expect(tags(grid, ["a", "b", "c"], before)).toEqual(["web-a Keep", "web-b Change", "web-c Keep"])
  })

  it("R11 changes two units and lets the third be whose template is not there", () => {
    const grid = web("zone", { template: template("nginx:2"), templates: { b: "nope" } })
    const before = ["a", "b", "c"].map((unit) => live(web("zone"), {}, unit))
    expect(tags(grid, ["a", "b", "c"], before)).toEqual(["web-a Change", "web-b Refused", "web-c Change"])
  })

  it("switches to Recreate by writing the default away first", () => {
    const rolling = live(
      web("zone", { template: template("nginx:1", { strategy: { type: "RollingUpdate" } }) })
    )
    const defaulted = frozen({
      ...rolling,
      spec: { ...rolling.spec, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%" } } }
    }) as ChildObject
    const grid = web("zone", { template: template("nginx:1", { strategy: { type: "Recreate" } }) })
    expect(tags(grid, ["a"], [defaulted])).toEqual(["web-a Switch"])
    expect(tags(grid, ["a"], [live(grid)])).toEqual(["web-a Keep"])
  })
})

const withoutReplicas = template("nginx:1", { replicas: null })
const otherSelector = {
  ...podTemplate({}, { app: "other" }),
  selector: { matchLabels: { app: "other" } }
}

const superEdges = (fieldsV1: object) => ({
  manager: "application-grid-controller",
  operation: "Update",
  apiVersion: "apps/v1",
  fieldsType: "FieldsV1",
  fieldsV1: fieldsV1 as never
})
