/** What is said of a name, case by case. */
import { describe, expect, it } from "vitest"
import { render } from "../src/commands/name-explanation.ts"
import { explainName, type NameQuestion } from "../src/core/explain-name.ts"
import { frozen, node, webSet } from "./given.ts"
import { bj, endpoint, grid, gz, nowhere, service, set, SHORT, slice, two } from "./two-units.ts"

const ask = (name: string, more: Partial<Record<keyof NameQuestion, unknown>> = {}) =>
  explainName(
    frozen({
      name,
      namespace: "default",
      clusterDomain: "cluster.local",
      node: bj,
      grids: [grid],
      sets: [set("beijing"), set("guangzhou")],
      services: [service()],
      slices: [two],
      ...more
    }) as unknown as NameQuestion
  )

/** The rules of all rows, and the reason of the first. */
const why = (...given: Parameters<typeof ask>) => {
  const { from, rows } = ask(...given)
  return [from, rows.map(({ rule }) => rule), rows[0]?.reason]
}

describe("explainName", () => {
  it("R142 says which unit's own pod it is, and whose pods it isn't", () => {
    expect(ask(SHORT)).toEqual({
      name: SHORT,
      node: "bj-1",
      addresses: ["10.1.0.5"],
      from: "Unit",
      rows: [
        {
          rule: "OwnPod",
          given: true,
          subject: "StatefulSet web-beijing",
          unit: "beijing",
          addresses: ["10.1.0.5"],
          reason: "bj-1 is in unit beijing (zone=beijing); web-beijing-0 is ready in slice web-svc-x"
        },
        {
          rule: "OtherUnit",
          given: false,
          subject: "StatefulSet web-guangzhou",
          unit: "guangzhou",
          addresses: [],
          reason: "it is of unit guangzhou, while bj-1 is in unit beijing (zone=beijing)"
        }
      ]
    })
    expect(ask(SHORT, { node: gz }).addresses).toEqual(["10.2.0.5"])
  })

  it("gives another unit's pod under its own name, as CoreDNS does", () => {
    const { from, addresses, rows } = ask("web-guangzhou-0.web-svc.default.svc.cluster.local")
    expect([from, addresses, rows.map(({ given }) => given)]).toEqual(["Cluster", ["10.2.0.5"], [true]])
    expect(rows[0]?.reason).toBe(
      "it is of unit guangzhou, while bj-1 is in unit beijing (zone=beijing); CoreDNS answers it by itself, as on every node"
    )
  })

  it.each([
    ["web-0.web-svc", SHORT],
    ["web-0.web-svc.default", SHORT],
    ["web-0.web-svc.default.svc", SHORT],
    [`${SHORT}.`, SHORT],
    ["web-svc", "web-svc.default.svc.cluster.local"],
    ["web-svc.default", "web-svc.default.svc.cluster.local"]
  ])("takes %s as a pod's resolver does", (name, whole) => {
    const answer = ask(name)
    expect([answer.name, answer.addresses[0]]).toEqual([whole, "10.1.0.5"])
  })

  it.each(["web-0.web-svc.", "example.com.", "a.b.c.d.svc.cluster.local", "www.example.com", ".web-svc"])(
    "says that %s is none of the cluster's names",
    (name) => {
      expect(why(name).slice(0, 2)).not.toContain("Unit")
      expect(ask(name).addresses).toEqual([])
    }
  )

  it("R151 says that there is no such Service, or that it has a cluster IP", () => {
    expect(why(SHORT, { services: [] })).toEqual([
      "Nobody",
      ["NoService", "OtherUnit"],
      "Service web-svc doesn't exist in default"
    ])
    expect(why(SHORT, { services: [service({ clusterIP: "10.96.0.1" })] })).toEqual([
      "Nobody",
      ["NotHeadless", "OtherUnit"],
      "Service web-svc isn't headless, it has the clusterIP 10.96.0.1; pods have short names in a Service with clusterIP None"
    ])
  })

  it("R148 says which endpoint isn't ready", () => {
    expect(why(SHORT, { slices: [slice([endpoint("web-beijing-0", "10.1.0.5", false)])] })).toEqual([
      "Nobody",
      ["NotReady", "OtherUnit"],
      "web-beijing-0 isn't ready in slice web-svc-x, so the Service doesn't publish it"
    ])
  })

  it("says which ordinals there are instead", () => {
    expect(why("web-7.web-svc")).toEqual([
      "Nobody",
      ["NoPod", "OtherUnit"],
      "Service web-svc has no endpoint of that pod, only of web-beijing-0"
    ])
    expect(why("web-7.web-svc", { slices: [] })[2]).toBe(
      "Service web-svc has no endpoint of that pod, nor of another of its pods"
    )
  })

  it("says which pod or set bears the short name", () => {
    const both = slice([...two.endpoints, endpoint("web-0", "10.9.9.9")])
    expect(why(SHORT, { slices: [both] })).toEqual([
      "Cluster",
      ["OtherPod", "Taken", "OtherUnit"],
      "it bears this very name in slice web-svc-x; CoreDNS answers it by itself, as on every node"
    ])
    const named = { ...set("x"), metadata: { name: "web", namespace: "default" } }
    expect(why(SHORT, { sets: [set("beijing"), named] })).toEqual([
      "Nobody",
      ["NoOwner", "Taken"],
      "it has no owner, so it is of no unit; Service web-svc has no endpoint of that name"
    ])
    expect(ask(SHORT, { sets: [set("beijing"), named] }).rows[1]?.reason).toBe(
      "left out: StatefulSet default/web bears web-0 already; rename one of them"
    )
  })

  it("says that the node is in no unit, or in one without a set", () => {
    expect(why(SHORT, { node: nowhere })).toEqual([
      "Nobody",
      ["NoUnit"],
      "sh-1 has no label zone, so it is in no unit of it"
    ])
    expect(why(SHORT, { sets: [set("guangzhou")] })).toEqual([
      "Nobody",
      ["NoSet", "OtherUnit"],
      "bj-1 is in unit beijing (zone=beijing), and the grid has no StatefulSet there"
    ])
  })

  it("says that there is no such grid, and which there are", () => {
    expect(why("api-0.web-svc")).toEqual([
      "Nobody",
      ["NoGrid"],
      "there is no StatefulSetGrid api in default (there is web), and no pod api-0 in Service web-svc"
    ])
    expect(why("api.web-svc.default.svc.cluster.local")[2]).toBe(
      "no pod of a StatefulSet is called api: such names end in -0, -1 and so on, without leading zeros"
    )
  })

  it("says that a set publishes in another Service", () => {
    const services = [service(), service({ clusterIP: "None" }, "db")]
    expect(why("web-0.db", { services })).toEqual([
      "Nobody",
      ["OtherService", "OtherUnit"],
      "its pods have names in Service web-svc (serviceName)"
    ])
  })

  it("says that a set is of a grid that is gone, or of another key", () => {
    const gone = set("beijing", { ownerReferences: [{ uid: "before", controller: true }] })
    expect(why("web-beijing-0.web-svc", { sets: [gone] })).toEqual([
      "Cluster",
      ["NoOwner"],
      "its owner (uid before) is no StatefulSetGrid that is there; CoreDNS answers it by itself, as on every node"
    ])
    expect(
      why(SHORT, { grids: [webSet("rack", {}, { uid: "grid-uid" })], node: node("n", { rack: "r1" }) })
    ).toEqual([
      "Nobody",
      ["NoSet", "OtherKey", "OtherKey"],
      "n is in unit r1 (rack=r1), and the grid has no StatefulSet there"
    ])
  })

  it("says that another unit's pod is known through the wrapper only where its Service isn't kept to the unit", () => {
    const scoped = service({ clusterIP: "None" }, "web-svc", { "superedge.io/headless-scope": "unit" })
    const other = "web-guangzhou-0.web-svc"
    expect(ask(other).rows[0]?.reason).toContain("as on every node")
    expect(ask(other, { services: [scoped] }).rows[0]?.reason).toContain("of the node's unit alone")
  })

  it("finds Services and namespaces that are called svc", () => {
    const here = service({ clusterIP: "None" }, "svc")
    expect(ask("web-0.svc", { services: [here] }).name).toBe("web-0.svc.default.svc.cluster.local")
    const there = { ...here, metadata: { ...here.metadata, name: "web-svc", namespace: "svc" } }
    expect(ask("web-svc.svc", { services: [there] }).name).toBe("web-svc.svc.svc.cluster.local")
    expect(ask("web-svc.default.svc").name).toBe("web-svc.default.svc.cluster.local")
  })

  it.each(["web-00", "web-99999999999"])("says of %s that no pod is called so", (host) => {
    expect(ask(`${host}.web-svc`).rows.map(({ rule, reason }) => [rule, reason])).toEqual([
      [
        "NoGrid",
        `no pod of a StatefulSet is called ${host}: such names end in -0, -1 and so on, without leading zeros`
      ]
    ])
  })

  it("says of a Service's own name that it is of all units", () => {
    const { from, addresses, rows } = ask("web-svc")
    expect([from, addresses]).toEqual(["Cluster", ["10.1.0.5", "10.2.0.5"]])
    expect(rows[0]?.reason).toBe(
      "2 of 2 endpoints are ready, of all units; CoreDNS answers it by itself, as on every node"
    )
    const scoped = service({ clusterIP: "None" }, "web-svc", { "superedge.io/headless-scope": "unit" })
    expect(ask("web-svc", { services: [scoped] }).rows[0]?.reason).toContain(
      "with what is of the node's unit alone"
    )
    const plain = service({ clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1", "fd00::1"] })
    expect(ask("web-svc", { services: [plain] }).addresses).toEqual(["10.96.0.1", "fd00::1"])
    expect(why("web-svc", { services: [] })).toEqual([
      "Nobody",
      ["NoService"],
      "Service web-svc doesn't exist in default"
    ])
  })
})

describe("render", () => {
  it("prints the answer first, and then why", () => {
    expect(render(ask(SHORT)).split("\n")).toEqual([
      `Name ${SHORT}, asked on node bj-1`,
      "  10.1.0.5: a pod of this node's own unit",
      "",
      "  WHAT                       UNIT       ADDRESS   GIVEN  REASON",
      "  StatefulSet web-beijing    beijing    10.1.0.5  yes    bj-1 is in unit beijing (zone=beijing); web-beijing-0 is ready in slice web-svc-x",
      "  StatefulSet web-guangzhou  guangzhou  -         no     it is of unit guangzhou, while bj-1 is in unit beijing (zone=beijing)"
    ])
  })

  it("prints of a thousand units the node's own, and how many more there are", () => {
    const sets = Array.from({ length: 1000 }, (_, i) => set(`u${i}`))
    const lines = render(ask(SHORT, { sets: [...sets, set("beijing")] })).split("\n")
    expect(lines).toHaveLength(17)
    expect(lines[4]).toContain("web-beijing-0 is ready")
    expect(lines.at(-1)).toBe("  and 989 more; -o json prints all")
  })
})
