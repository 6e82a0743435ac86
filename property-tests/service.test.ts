/** (service grid) -> its Service: the template, the owner, and the keys by which traffic stays. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ServiceGrid } from "../src/core/grid.ts"
import type { ServiceSpec } from "../src/core/kube.ts"
import { service } from "../src/core/service.ts"
import { frozen, port80, RUNS, same, webService } from "./given.ts"
import { anyJson, labelKey, poisoned } from "./words.ts"

describe("service", () => {
  it("P14 R2 R64 names the grid key as its only topology key, whatever the key", () => {
    fc.assert(
      fc.property(labelKey, (key) => {
        const { wanted, refused } = service(webService(key))
        same(refused, [])
        same(
          wanted.map(({ metadata }) => metadata.annotations),
          [{ "superedge.io/grid": "web", "superedge.io/grid-key": key, topologyKeys: JSON.stringify([key]) }]
        )
      }),
      RUNS
    )
  })

  it("takes spec.topologyKeys in their order", () => {
    fc.assert(
      fc.property(keyList, ({ key, keys }) => {
        const [wanted] = service(withKeys(key, keys)).wanted
        same(wanted?.metadata.annotations?.["topologyKeys"], JSON.stringify(keys))
      }),
      RUNS
    )
  })

  it("refuses spec.topologyKeys with one mistake in them", () => {
    const mistakes = fc.constantFrom<(keys: readonly string[], key: string) => unknown>(
      (keys, key) => keys.filter((each) => each !== key),
      (keys) => [...keys, keys[0]],
      (keys) => ["*", ...keys.filter((each) => each !== "*")],
      (keys) => ["a b", ...keys],
      (keys) => [null, ...keys],
      (keys) => [[], ...keys],
      (keys) => keys.join(","),
      () => [],
      () => ({})
    )
    fc.assert(
      fc.property(keyList, mistakes, ({ key, keys }, mistake) => {
        const { wanted, refused } = service(withKeys(key, mistake(keys, key)))
        same(wanted, [])
        same(
          refused.map(({ reason, path }) => [reason, path]),
          [["InvalidTopologyKeys", "spec.topologyKeys"]]
        )
      }),
      RUNS
    )
  })

  it("R205 P11 never throws, whatever a stored grid says", () => {
    const { spec } = webService("zone", { externalIPs: ["1.2.3.4"] }, {}, { topologyKeys: ["zone", "*"] })
    fc.assert(
      fc.property(poisoned(spec), (poison) => {
        const { wanted, refused } = service(frozen({ ...webService("zone"), spec: poison }))
        same(wanted.length + refused.length, 1)
      }),
      RUNS
    )
  })

  it.each<ServiceSpec>([
    { clusterIP: "None" },
    { type: "NodePort", ports: [{ port: 80, nodePort: 30080 }] },
    { type: "LoadBalancer", loadBalancerClass: "x.io/lb", allocateLoadBalancerNodePorts: false },
    { type: "ExternalName", externalName: "example.com", ports: [] },
    { internalTrafficPolicy: "Local", trafficDistribution: "PreferClose" },
    { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
    { publishNotReadyAddresses: false, externalIPs: ["1.2.3.4"], future: { x: [1] } }
  ])("R16 R60 R61 R62 R67 passes on %j", (spec) => {
    const [wanted] = service(webService("zone", spec)).wanted
    expect(wanted?.spec).toEqual({ selector: { app: "web" }, ports: [port80], ...spec })
    expect(wanted?.metadata.annotations?.["topologyKeys"]).toBe('["zone"]')
  })

  it("leaves to the server what the template leaves to the server", () => {
    const spec = {
      clusterIP: "",
      type: "",
      sessionAffinity: null,
      ports: [{ port: 80, nodePort: 0, protocol: "" }]
    }
    expect(service(webService("zone", spec)).wanted[0]?.spec).toEqual({
      selector: { app: "web" },
      ports: [{ port: 80 }]
    })
  })

  it("R25 is called <grid>-svc and wants its owner from the start", () => {
    const [wanted] = service(webService("zone")).wanted
    expect(wanted?.metadata).toMatchObject({ name: "web-svc", namespace: "default" })
    expect(wanted?.metadata.ownerReferences).toEqual([
      {
        apiVersion: "superedge.io/v1",
        kind: "ServiceGrid",
        name: "web",
        uid: "uid-of-web",
        controller: true,
        blockOwnerDeletion: true
      }
    ])
  })

  it("R64 follows the grid key with label and annotations", () => {
    const [wanted] = service(webService("zone2")).wanted
    expect(wanted?.metadata.labels).toEqual({
      "superedge.io/grid-selector": "web",
      "superedge.io/grid-uniq-key": "zone2"
    })
    expect(wanted?.metadata.annotations).toMatchObject({
      "superedge.io/grid-key": "zone2",
      topologyKeys: '["zone2"]'
    })
  })

  it("R65 carries the grid's annotations without the tools' ones", () => {
    const annotations = {
      lb: "x",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
      "meta.helm.sh/release-name": "web"
    }
    const [wanted] = service(webService("zone", {}, { annotations })).wanted
    expect(Object.keys(wanted?.metadata.annotations ?? {}).sort()).toEqual([
      "lb",
      "superedge.io/grid",
      "superedge.io/grid-key",
      "topologyKeys"
    ])
  })

  it("R66 does not take topology keys from an annotation of the grid", () => {
    const [wanted] = service(webService("zone", {}, { annotations: { topologyKeys: '["other"]' } })).wanted
    expect(wanted?.metadata.annotations?.["topologyKeys"]).toBe('["zone"]')
  })

  it("says of no unit that it is its own", () => {
    const [wanted] = service(webService("zone", {}, { annotations: { "superedge.io/unit": "a" } })).wanted
    expect(Object.hasOwn(wanted?.metadata.annotations ?? {}, "superedge.io/unit")).toBe(false)
  })

  it.each([
    [
      "a key that is none",
      webService("a b"),
      "InvalidGridKey",
      "spec.gridUniqKey",
      'spec.gridUniqKey: "a b" is no label key; use the key of a node label, such as "zone" or "topology.kubernetes.io/zone"'
    ],
    [
      "a name that makes no Service name",
      webService("zone", {}, { name: "1web" }),
      "InvalidName",
      "metadata.name",
      'metadata.name: "1web-svc" is no Service name; use at most 59 lower-case letters, digits and "-", starting with a letter'
    ],
    [
      "no template",
      webService("zone", {}, {}, { template: null }),
      "TemplateMissing",
      "spec.template",
      "spec.template: is missing; a ServiceGrid needs a Service spec"
    ],
    [
      "a port twice, the protocol named once",
      webService("zone", { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] }),
      "DuplicateKey",
      "spec.template.ports",
      "spec.template.ports: has port=80,protocol=TCP twice; server-side apply takes each key once"
    ],
    [
      "topology keys without the grid key",
      webService("zone", {}, {}, { topologyKeys: ["park"] }),
      "InvalidTopologyKeys",
      "spec.topologyKeys",
      'spec.topologyKeys: ["park"] does not contain the grid key "zone"'
    ]
  ])("R21 refuses %s with the field, the value and what is accepted", (_, grid, reason, path, message) => {
    expect(service(grid)).toEqual({ wanted: [], refused: [{ reason, path, message }] })
  })

  it("takes one port number for two protocols", () => {
    const ports = [{ port: 53 }, { port: 53, protocol: "UDP" }]
    expect(service(webService("zone", { ports })).wanted[0]?.spec?.ports).toEqual(ports)
  })

  it("does not depend on anything that the grid's status says", () => {
    fc.assert(
      fc.property(anyJson, (status) => {
        const grid = frozen({ ...webService("zone"), status } as ServiceGrid)
        same(service(grid), service(webService("zone")))
      }),
      RUNS
    )
  })
})

const withKeys = (key: string, topologyKeys: unknown): ServiceGrid =>
  webService(key, {}, {}, { topologyKeys: topologyKeys as readonly string[] })

/** A grid key, and a legal list of topology keys with it. */
const keyList = fc
  .record({
    keys: fc.uniqueArray(labelKey, { minLength: 1, maxLength: 4 }),
    at: fc.nat(3),
    any: fc.boolean()
  })
  .map(({ keys, at, any }) => ({ key: keys[at % keys.length] ?? "", keys: any ? [...keys, "*"] : keys }))
