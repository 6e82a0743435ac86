/** Children in short: what was applied looks as it was wanted, and nobody is taken for an owner who isn't. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { child, type ChildObject, ownership, statusOf, wantedChild } from "../src/core/child.ts"
import type { Deployment, ManagedFieldsEntry } from "../src/core/kube.ts"
import { service } from "../src/core/service.ts"
import {
  applied,
  frozen,
  liveDeployment,
  podTemplate,
  RUNS,
  same,
  template,
  web,
  webService,
  webSet
} from "./given.ts"
import { wantedIn } from "./planned.ts"
import { anyJson, labelKey, poisoned, someUnits } from "./words.ts"

const superEdge = "application-grid-controller"
const hashLabel = {
  "f:spec": { "f:template": { "f:metadata": { "f:labels": { "f:superedge.io/template-hash-key": {} } } } }
}
const leftBehind = { "f:spec": { "f:replicas": {}, ...hashLabel["f:spec"] } }
const superEdgesEntry = {
  manager: superEdge,
  operation: "Update",
  apiVersion: "apps/v1",
  time: "2025-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: {
    "f:spec": {
      "f:replicas": {},
      "f:template": {
        "f:metadata": { "f:labels": { "f:superedge.io/template-hash-key": {} } },
        "f:spec": { "f:hostNetwork": {} }
      }
    }
  }
}
const kubectlsEntry = {
  manager: "kubectl-edit",
  operation: "Update",
  apiVersion: "apps/v1",
  fieldsV1: { "f:metadata": { "f:labels": { "f:mine": {} } } }
}

describe("child", () => {
  it("P1 owns right after the apply what is wanted, whatever key and unit", () => {
    fc.assert(
      fc.property(labelKey, someUnits(1), fc.nat(2), (key, units, which) => {
        const [unit = ""] = units
        const object: ChildObject | undefined =
          which === 0
            ? wantedIn(web(key), [unit]).wanted[0]
            : which === 1
              ? wantedIn(webSet(key), [unit]).wanted[0]
              : service(webService(key)).wanted[0]
        const kind = which === 0 ? "Deployment" : which === 1 ? "StatefulSet" : "Service"
        const wanted = object && wantedChild(kind, object, new WeakMap())
        const live = object && child(kind, applied(object), [])
        same(live?.owned, wanted?.digest)
        same(live?.fixed, wanted?.fixed)
        same([live?.unit, live?.name], [wanted?.unit, wanted?.name])
      }),
      RUNS
    )
  })

  it("R35 owns the same when the server writes amounts in another way", () => {
    const resources = (cpu: string | number, memory: string) =>
      wantedIn(
        web("zone", {
          template: podTemplate({ containers: [{ name: "c", resources: { limits: { cpu, memory } } }] })
        }),
        ["a"]
      ).wanted[0] as Deployment
    const wanted = wantedChild("Deployment", resources(0.5, "1024Mi"), new WeakMap())
    expect(child("Deployment", applied(resources("500m", "1Gi")), []).owned).toBe(wanted.digest)
    expect(child("Deployment", applied(resources("501m", "1Gi")), []).owned).not.toBe(wanted.digest)
  })

  it("P3 takes the controller for the owner, and nobody else", () => {
    const other = fc.constantFrom<unknown>(
      { kind: "DeploymentGrid", name: "web", uid: "not-the-controller" },
      { kind: "DeploymentGrid", name: "web", uid: "nor-this", controller: false },
      { kind: "DeploymentGrid", name: "web", uid: "nor-that", controller: null },
      { kind: "DeploymentGrid", name: "web", uid: "nor-a-word", controller: "true" },
      null,
      5,
      []
    )
    const owner = { kind: "Helm", name: "h", uid: "u" }
    fc.assert(
      fc.property(fc.array(other, { maxLength: 3 }), fc.nat(3), fc.boolean(), (others, at, owned) => {
        const references = owned
          ? [...others.slice(0, at), { ...owner, controller: true }, ...others.slice(at)]
          : others
        const object = liveDeployment({ ownerReferences: references as never })
        same(child("Deployment", object, []).owner, owned ? owner : undefined)
      }),
      RUNS
    )
  })

  it("R205 P11 never throws, whatever a stored object holds beside its name", () => {
    const whole = applied(wantedIn(webSet("zone"), ["a"]).wanted[0] ?? liveDeployment())
    const { name, ...metadata } = whole.metadata
    const anything = fc.oneof(poisoned({ metadata, spec: whole.spec, status: { replicas: 1 } }), anyJson)
    fc.assert(
      fc.property(
        anything,
        fc.constantFrom("Deployment" as const, "StatefulSet" as const, "Service" as const),
        (some, kind) => {
          const meta = (some as { metadata?: object } | null)?.metadata
          const object = { ...(some as object), metadata: { ...meta, name } } as ChildObject
          same(child(kind, object, ["application-grid-controller"]).name, "web-a")
        }
      ),
      RUNS
    )
  })

  it("keeps the status as the API gave it", () => {
    const status = { observedGeneration: 3, currentRevision: "web-a-1", conditions: [] }
    expect(statusOf(child("StatefulSet", frozen({ ...liveDeployment(), status }), []))).toEqual(status)
    expect(statusOf(child("Deployment", liveDeployment(), []))).toEqual({})
  })

  it("R57 is alone on replicas where it applied them and nobody else has them", () => {
    const [sent] = wantedIn(web("zone"), ["a"]).wanted as readonly Deployment[]
    const object = sent ?? liveDeployment()
    const alone = (live: Deployment) => child("Deployment", live, []).aloneOnReplicas
    const live = applied(object)
    const autoscaler = { manager: "hpa", operation: "Update", fieldsV1: { "f:spec": { "f:replicas": {} } } }
    const { replicas: _, ...rest } = object.spec
    expect(alone(live)).toBe(true)
    expect(alone(applied(object, {}, "kubectl"))).toBe(false)
    expect(alone(applied({ ...object, spec: rest }))).toBe(false)
    expect(
      alone(applied(object, { managedFields: [...(live.metadata.managedFields ?? []), autoscaler] }))
    ).toBe(false)
  })

  it("R40 is legacy while SuperEdge's manager owns what a template says", () => {
    const of = (entries: readonly ManagedFieldsEntry[]) =>
      child("Deployment", liveDeployment({ managedFields: entries }), [superEdge]).legacy
    expect(of([superEdgesEntry])).toBe(true)
    expect(of([{ ...superEdgesEntry, manager: "before-first-apply" }])).toBe(true)
    expect(of([{ ...superEdgesEntry, manager: "kubectl-edit" }])).toBe(false)
    expect(of([{ ...superEdgesEntry, fieldsV1: leftBehind }])).toBe(false)
    expect(of([])).toBe(false)
  })
})

describe("ownership", () => {
  const object = liveDeployment({ managedFields: [superEdgesEntry, kubectlsEntry] })

  it("R40 gives us everything of SuperEdge's but the pod label by which it marked templates", () => {
    expect(ownership(object, [superEdge], true)).toEqual([
      { ...superEdgesEntry, fieldsV1: hashLabel },
      kubectlsEntry,
      {
        ...superEdgesEntry,
        manager: "servicegroup",
        operation: "Apply",
        fieldsV1: { "f:spec": { "f:replicas": {}, "f:template": { "f:spec": { "f:hostNetwork": {} } } } }
      }
    ])
  })

  it("R56 leaves replicas to SuperEdge's manager where the template has none", () => {
    expect(ownership(object, [superEdge], false)).toEqual([
      { ...superEdgesEntry, fieldsV1: leftBehind },
      kubectlsEntry,
      {
        ...superEdgesEntry,
        manager: "servicegroup",
        operation: "Apply",
        fieldsV1: { "f:spec": { "f:template": { "f:spec": { "f:hostNetwork": {} } } } }
      }
    ])
  })

  it("is undefined once it was done", () => {
    const managedFields = ownership(object, [superEdge], true) ?? []
    expect(ownership(liveDeployment({ managedFields }), [superEdge], true)).toBeUndefined()
  })
})

describe("wantedChild", () => {
  it("wants a rolling update unless the template says otherwise", () => {
    const rolls = (type: string | undefined) => {
      const strategy = type === undefined ? {} : { strategy: { type }, updateStrategy: { type } }
      const [set] = wantedIn(webSet("zone", { template: template("nginx:1", strategy) }), ["a"]).wanted
      return wantedChild("StatefulSet", set ?? liveDeployment(), new WeakMap()).rolls
    }
    expect([rolls(undefined), rolls("RollingUpdate"), rolls("OnDelete")]).toEqual([true, true, false])
  })

  it("gives the same with a memo that others of the same template filled", () => {
    const units = ["a", "b", "c"]
    const { wanted } = wantedIn(web("zone"), units)
    const memo = new WeakMap()
    const together = wanted.map((each) => wantedChild("Deployment", each, memo).digest)
    expect(together).toEqual(wanted.map((each) => wantedChild("Deployment", each, new WeakMap()).digest))
    expect(new Set(together).size).toBe(3)
  })
})
