/** Whole Services, as the API server has them, against what grids want: which are written, and which are let alone. */
import { describe, expect, it } from "vitest"
import type { ChildObject } from "../src/core/child.ts"
import { childObject } from "../src/core/desired.ts"
import type { Service } from "../src/core/kube.ts"
import { frozen, web, webService } from "./given.ts"
import { live, messageOf, steps, tags } from "./planned.ts"

describe("plan of a Service", () => {
  const ports = [
    { name: "h", port: 80 },
    { name: "s", port: 443 }
  ]
  it.each([
    ["R60 port 443", { ports }, { ports: ports.slice(0, 1) }],
    ["R60 a selector key", { selector: { app: "web", v: "1" } }, { selector: { app: "web" } }],
    ["R60 externalIPs", { externalIPs: ["1.2.3.4"] }, {}],
    ["R61 sessionAffinity", { sessionAffinity: "ClientIP" }, {}],
    ["R61 publishNotReadyAddresses", { publishNotReadyAddresses: true }, { publishNotReadyAddresses: false }],
    ["R62 allocateLoadBalancerNodePorts", {}, { allocateLoadBalancerNodePorts: false }],
    ["R62 sessionAffinityConfig", {}, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }],
    [
      "R63 a targetPort",
      { ports: [{ port: 80, targetPort: 8080 }] },
      { ports: [{ port: 80, targetPort: 9090 }] }
    ]
  ])("%s is followed", (_, before, after) => {
    expect(tags(webService("zone", after), [], [live(webService("zone", before))])).toEqual([
      "web-svc Change"
    ])
  })

  it("R63 keeps what the server and the load balancer gave", () => {
    const grid = webService("zone", { type: "LoadBalancer" })
    const object = live(grid) as Service
    const provisioned = frozen({
      ...object,
      metadata: { ...object.metadata, finalizers: ["service.kubernetes.io/load-balancer-cleanup"] },
      spec: {
        ...object.spec,
        clusterIP: "10.0.0.1",
        clusterIPs: ["10.0.0.1"],
        ports: [{ port: 80, targetPort: 8080, protocol: "TCP", nodePort: 30080 }]
      },
      status: { loadBalancer: { ingress: [{ ip: "5.6.7.8" }] } }
    })
    expect(tags(grid, [], [provisioned])).toEqual(["web-svc Keep"])
    expect(childObject(grid, undefined)?.spec).not.toHaveProperty("clusterIP")
  })

  it("writes nothing for a node port of 0, which the server chose", () => {
    const grid = webService("zone", { type: "NodePort", ports: [{ port: 80, nodePort: 0, protocol: "" }] })
    const object = live(grid) as Service
    const chosen = frozen({
      ...object,
      spec: { ...object.spec, ports: [{ port: 80, nodePort: 30080, protocol: "TCP" }] }
    })
    expect(tags(grid, [], [chosen])).toEqual(["web-svc Keep"])
  })

  it("R64 brings the annotation back that was deleted by hand", () => {
    const object = live(webService("zone"))
    const { topologyKeys: _, ...annotations } = object.metadata.annotations ?? {}
    const edited = frozen({ ...object, metadata: { ...object.metadata, annotations } }) as ChildObject
    expect(tags(webService("zone"), [], [edited])).toEqual(["web-svc Change"])
  })

  it("R64 follows the grid key", () => {
    expect(tags(webService("zone2"), [], [live(webService("zone1"))])).toEqual(["web-svc Change"])
  })

  it("R68 lets a user's Service be and names it", () => {
    const users = { kind: "Service", metadata: { name: "web-svc", namespace: "default", uid: "u" }, spec: {} }
    const [step] = steps(webService("zone"), [], [frozen(users)])
    expect(messageOf(step)).toContain("Service default/web-svc exists and has no owner")
  })

  it("R69 is created without any unit", () => {
    expect(tags(webService("zone"), [], [])).toEqual(["web-svc Create"])
  })

  it.each([
    ["headless", { clusterIP: "None" }, { clusterIP: "10.0.0.1" }],
    ["headless no more", {}, { clusterIP: "None" }]
  ])("R72 is left running where it should become %s", (_, after, before) => {
    const object = live(webService("zone"))
    const running = frozen({ ...object, spec: { ...object.spec, ...before } }) as ChildObject
    expect(steps(webService("zone", after), [], [running])).toMatchObject([
      { _tag: "Refused", refusal: { reason: "ImmutableField", path: "spec.template.clusterIP" } }
    ])
  })

  it("R73 has its own key", () => {
    expect(childObject(webService("park"), undefined)?.metadata.annotations).toMatchObject({
      topologyKeys: '["park"]'
    })
    expect(tags(web("city"), ["a"], [live(web("city"))])).toEqual(["web-a Keep"])
  })
})
