/** (grid, nodes) -> workloads: one child for each unit, from the template that was meant for it. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { workloads } from "../src/core/workloads.ts"
import { frozen, node, nodesOf, podTemplate, RUNS, same, template, web, webSet } from "./given.ts"
import { selectorOf, unitNamed, wantedIn } from "./planned.ts"
import { labelKey, poisoned, someUnits } from "./words.ts"

describe("workloads", () => {
  it("P14 wants one child for each unit, in the order of units, pinned to it", () => {
    fc.assert(
      fc.property(labelKey, someUnits(), fc.boolean(), (key, units, sets) => {
        const grid = sets ? webSet(key) : web(key)
        const nodes = [...nodesOf(key, units), node("more", { [key]: units[0] ?? "" }), node("none")]
        const { wanted, refused } = workloads(grid, frozen(nodes.reverse()))
        same(refused, [])
        same(wanted.map(unitNamed), units)
        same(
          wanted.map((each) => selectorOf(each)),
          units.map((unit) => ({ [key]: unit }))
        )
      }),
      RUNS
    )
  })

  it("R37 R39 says in the pod template what the grid's says, and the node selector", () => {
    const pods = fc.record(
      {
        nodeSelector: fc.dictionary(
          fc.constantFrom("disk", "zone", "constructor"),
          fc.constantFrom("ssd", "")
        ),
        tolerations: fc.constantFrom([], [{ operator: "Exists" }]),
        hostNetwork: fc.boolean(),
        volumes: fc.constantFrom([{ name: "v", emptyDir: {} }], [])
      },
      { requiredKeys: [] }
    )
    const labels = fc.dictionary(
      fc.constantFrom("track", "constructor", "__proto__"),
      fc.constantFrom("x", "")
    )
    fc.assert(
      fc.property(pods, labels, (pod, more) => {
        const said = podTemplate(pod, { ...more, app: "web" })
        const grid = web("zone", { template: said })
        const [child] = wantedIn(grid, ["a"]).wanted
        const { nodeSelector, ...rest } = child?.spec.template?.spec ?? {}
        const { nodeSelector: before, ...others } = said.template?.spec ?? {}
        same(child?.spec.template?.metadata, said.template?.metadata)
        same(rest, others)
        same(nodeSelector, { ...before, zone: "a" })
      }),
      RUNS
    )
  })

  it("R205 P11 never throws, whatever a stored grid says, nor changes another grid's answer", () => {
    const grid = web("zone", {
      template: template("nginx:1", {
        selector: { matchExpressions: [{ key: "app", operator: "In", values: ["web"] }] }
      }),
      templatePool: {
        t1: podTemplate({ nodeSelector: { disk: "ssd" }, containers: [{ name: "c", env: [{ name: "A" }] }] })
      },
      templates: { a: "t1" },
      defaultTemplateName: "default"
    })
    const nodes = nodesOf("zone", ["a", "b"])
    fc.assert(
      fc.property(poisoned(grid.spec), (spec) => {
        const { wanted, refused } = workloads({ ...grid, spec: { ...spec, gridUniqKey: "zone" } }, nodes)
        const units = [...wanted.map(unitNamed), ...refused.map(({ unit }) => unit)]
        same(units.map(String).sort(), ["a", "b"])
      }),
      RUNS
    )
  })

  it("share among units what their templates share, so that memory and comparison don't grow with units", () => {
    const grid = web("zone", {
      template: podTemplate({ containers: [{ name: "c", image: "nginx:1", env: null }] })
    })
    const [one, other] = wantedIn(grid, ["a", "b"]).wanted
    expect(one?.spec.template?.spec?.["containers"]).toBe(other?.spec.template?.spec?.["containers"])
  })

  it("R3 adds the unit to the node selector that is there", () => {
    const grid = web("zone", { template: podTemplate({ nodeSelector: { disk: "ssd" } }) })
    const { wanted } = wantedIn(grid, ["a", "b", "c"])
    expect(wanted.map(selectorOf)).toEqual(["a", "b", "c"].map((zone) => ({ disk: "ssd", zone })))
    expect(grid.spec.template?.template?.spec?.nodeSelector).toEqual({ disk: "ssd" })
  })

  it("R1 serves a key with a slash", () => {
    const key = "topology.kubernetes.io/zone"
    const { wanted } = wantedIn(web(key), ["bj", "gz"])
    expect(wanted.map(({ metadata }) => metadata.name)).toEqual(["web-bj", "web-gz"])
    expect(wanted.map(selectorOf)).toEqual([{ [key]: "bj" }, { [key]: "gz" }])
    expect(wanted[0]?.metadata.annotations).toEqual({
      "superedge.io/grid": "web",
      "superedge.io/grid-key": key,
      "superedge.io/unit": "bj"
    })
  })

  it("R4 leaves replicas out where the template does", () => {
    const { replicas: _, ...rest } = template()
    const [child] = wantedIn(web("zone", { template: rest }), ["a"]).wanted
    expect(child).toBeDefined()
    expect(Object.hasOwn(child?.spec ?? {}, "replicas")).toBe(false)
  })

  it("R4 takes null replicas as absent", () => {
    const grid = web("zone", { template: template("nginx:1", { replicas: null }) })
    expect(Object.hasOwn(wantedIn(grid, ["a"]).wanted[0]?.spec ?? {}, "replicas")).toBe(false)
  })

  it("R6 serves Zone_A beside b", () => {
    const { wanted } = wantedIn(web("zone"), ["b", "Zone_A"])
    expect(wanted.map(selectorOf)).toEqual([{ zone: "Zone_A" }, { zone: "b" }])
    expect(wanted.map(({ metadata }) => metadata.name)).toEqual(["web-zone-a-791bf90a33", "web-b"])
  })

  it("R14 keeps pod labels and annotations of a pool entry", () => {
    const canary = template("nginx:2", {
      template: {
        metadata: { labels: { app: "web", track: "canary" }, annotations: { note: "x" } },
        spec: { containers: [{ name: "c", image: "nginx:2" }] }
      }
    })
    const [child] = wantedIn(web("zone", { templatePool: { canary }, defaultTemplateName: "canary" }), [
      "a"
    ]).wanted
    expect(child?.spec.template?.metadata).toEqual(canary.template?.metadata)
    expect(child?.spec.selector).toEqual({ matchLabels: { app: "web" } })
  })

  it("R15 keeps the names of volume claim templates", () => {
    const claims = {
      volumeClaimTemplates: [{ metadata: { name: "www" }, spec: { accessModes: ["ReadWriteOnce"] } }]
    }
    const grid = webSet("zone", {
      template: template("nginx:1", claims),
      templatePool: { t1: template("nginx:1", claims) },
      templates: { b: "t1" }
    })
    const { wanted } = wantedIn(grid, ["a", "b"])
    expect(wanted.map(({ spec }) => spec["volumeClaimTemplates"])).toEqual([
      claims.volumeClaimTemplates,
      claims.volumeClaimTemplates
    ])
  })

  it("R16 passes on what it does not know", () => {
    const more = {
      minReadySeconds: 5,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" },
      future: [1]
    }
    const pod = {
      containers: [
        { name: "c", livenessProbe: { grpc: { port: 1 } }, resizePolicy: [{ resourceName: "cpu" }] }
      ]
    }
    const said = { ...podTemplate(pod), ...more }
    const [child] = wantedIn(webSet("zone", { template: said }), ["a"]).wanted
    expect(child?.spec).toMatchObject(more)
    expect(child?.spec.template?.spec).toMatchObject(pod)
  })

  it("R25 wants the owner reference from the start", () => {
    const [child] = wantedIn(web("zone"), ["a"]).wanted
    expect(child?.metadata.ownerReferences).toEqual([
      {
        apiVersion: "superedge.io/v1",
        kind: "DeploymentGrid",
        name: "web",
        uid: "uid-of-web",
        controller: true,
        blockOwnerDeletion: true
      }
    ])
  })

  it("R55 copies no annotation of the grid", () => {
    const [child] = wantedIn(web("zone", {}, { annotations: { lb: "x" } }), ["a"]).wanted
    expect(Object.keys(child?.metadata.annotations ?? {})).toEqual([
      "superedge.io/grid",
      "superedge.io/grid-key",
      "superedge.io/unit"
    ])
  })
})
