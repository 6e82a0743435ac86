/** `servicegroup explain service` as a process, against the embedded cluster and a wrapper's snapshot; and its words on objects as they were recorded. */
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { explanation, render, type Scenery } from "../src/commands/explanation.ts"
import { near } from "../src/commands/near.ts"
import type { Endpoints, EndpointSlice } from "../src/core/endpoints.ts"
import type { Service } from "../src/core/kube.ts"
import { controllers } from "../src/embedded/controllers.ts"
import { embedded, type Embedded } from "../src/embedded/server.ts"
import { disk } from "../src/shell/disk.ts"
import { write } from "../src/shell/keep.ts"
import { built, Run } from "./bundles.ts"
import { live } from "./effect.ts"
import { node } from "./given.ts"
import { kubeconfig } from "./wrapped.ts"

let bundles = ""
let folder = ""

beforeAll(() => {
  bundles = built()
  folder = mkdtempSync(join(tmpdir(), "explain-"))
})
afterAll(() => {
  for (const each of [bundles, folder]) rmSync(each, { recursive: true, force: true })
})

const nodes = [
  node("bj-1", { zone: "beijing" }),
  node("bj-2", { zone: "beijing" }),
  node("gz-1", { zone: "guangzhou" }),
  node("gz-2", { zone: "guangzhou" }),
  node("sh-1", {})
]

const service = (annotations: { readonly [key: string]: string }, name = "web-svc", spec: object = {}) =>
  ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default", annotations },
    spec: { selector: { app: "web" }, ports: [{ port: 80, protocol: "TCP" }], ...spec }
  }) as unknown as Service

const zoned = service({ topologyKeys: '["zone"]' })

/** A slice with endpoints such as `10.0.0.1@bj-1`. */
const slice = (of: string, places: readonly string[], name = `${of}-x`) =>
  ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace: "default", labels: { "kubernetes.io/service-name": of } },
    addressType: "IPv4",
    endpoints: places.map((place) => {
      const [address = "", nodeName] = place.split("@")
      return {
        addresses: [address],
        ...(nodeName !== undefined && { nodeName }),
        conditions: { ready: true }
      }
    }),
    ports: [{ name: "", port: 8080, protocol: "TCP" }]
  }) as unknown as EndpointSlice

const two = slice("web-svc", ["10.0.0.1@bj-1", "10.0.1.1@gz-1"])

const scenery = (of: Service, slices: readonly EndpointSlice[], apiServer?: Endpoints): Scenery => ({
  service: of,
  slices,
  nodes: new Map(nodes.map((each) => [each.metadata.name, each] as const)),
  apiServer
})

const names = nodes.map(({ metadata }) => metadata.name)

const run = async (...args: readonly string[]) => {
  const process = new Run(join(bundles, "servicegroup.mjs"), ["explain", "service", ...args])
  const { code } = await process.ended
  return { code, out: process.out, err: process.err }
}

describe("explanation", () => {
  it("puts nodes that are shown the same together, and says what they have in common", () => {
    const { groups } = explanation(scenery(zoned, [two]), names)
    expect(groups.map((group) => [group.nodes, group.values, group.used])).toEqual([
      [["bj-1", "bj-2"], { zone: ["beijing"] }, 1],
      [["gz-1", "gz-2"], { zone: ["guangzhou"] }, 1],
      [["sh-1"], { zone: [undefined] }, 0]
    ])
  })

  it("tells a group's reasons as those see them that don't hold the endpoint", () => {
    const [first] = explanation(scenery(zoned, [two]), names).groups
    expect(first?.endpoints.map(({ reason }) => reason)).toEqual([
      "kept: bj-1 has zone=beijing, as this node has",
      "dropped: gz-1 has zone=guangzhou, this node has zone=beijing"
    ])
  })

  it("is one group of a thousand nodes where the Service has no rule", () => {
    const many = Array.from({ length: 1000 }, (_, i) => `n${i}`)
    const { groups } = explanation(scenery(service({}), [two]), many)
    expect(groups.map((group) => [group.nodes.length, group.used])).toEqual([[1000, 2]])
    expect(render(explanation(scenery(service({}), [two]), many)).split("\n").length).toBeLessThan(10)
  })

  it("names an endpoint's node whatever the rule is, and none where it has none", () => {
    const { groups } = explanation(scenery(service({}), [slice("web-svc", ["10.0.0.1@bj-1", "10.0.0.2"])]), [
      "sh-1"
    ])
    expect(groups[0]?.endpoints.map((row) => row.node)).toEqual(["bj-1", undefined])
  })

  it("R139 shows the local endpoint of default/kubernetes as one row more", () => {
    const annotations = { "superedge.io/local-endpoint": "127.0.0.1", "superedge.io/local-port": "51003" }
    const api = service({}, "kubernetes")
    const kubernetes = {
      kind: "Endpoints",
      metadata: { name: "kubernetes", namespace: "default", annotations }
    }
    const found = explanation(
      scenery(api, [slice("kubernetes", ["192.0.2.7"])], kubernetes as unknown as Endpoints),
      ["bj-1"]
    )
    expect(found.groups[0]?.endpoints.map((row) => [row.address, row.kept])).toEqual([
      ["192.0.2.7", false],
      ["127.0.0.1", true]
    ])
  })

  it.each([
    ["its keys", zoned, 'topologyKeys ["zone"]: the first key counts'],
    ["that there is none", service({}), "no annotation topologyKeys: every node uses every endpoint"],
    [
      "that it is headless",
      service({ topologyKeys: '["zone"]' }, "web-svc", { clusterIP: "None" }),
      "headless: its annotation topologyKeys doesn't count"
    ],
    [
      "that a headless one is kept to its unit",
      service({ topologyKeys: '["zone"]', "superedge.io/headless-scope": "unit" }, "web-svc", {
        clusterIP: "None"
      }),
      'headless, with superedge.io/headless-scope "unit": topologyKeys ["zone"]'
    ],
    ["what is broken", service({ topologyKeys: "zone" }), "broken, so closed"]
  ])("says of a Service's rule %s", (_, of, told) => {
    expect(render(explanation(scenery(of, [two]), ["bj-1"]))).toContain(told)
  })

  it("says so where there is no endpoint, and where there is no node", () => {
    expect(render(explanation(scenery(zoned, []), ["bj-1"]))).toContain("0 of 0 endpoints are used by bj-1")
    expect(render(explanation(scenery(zoned, [two]), []))).toContain("There is no node")
  })
})

describe("near", () => {
  it("names the nearest ones first, five at most", () => {
    expect(near("default/web", ["kube-system/dns", "default/webs", "default/wep"])).toBe(
      "there are default/webs, default/wep, kube-system/dns"
    )
    expect(near("a", ["b", "c", "d", "e", "f", "g"])).toBe("there are b, c, d, e, f and 1 more")
    expect(near("a", [])).toBe("there is none at all")
  })
})

describe("explain service", () => {
  live("asks the cluster, and tells what each node uses", () =>
    against(async (kubeconfig) => {
      const whole = await run("default/web-svc", "--kubeconfig", kubeconfig)
      expect(whole.err).toBe("")
      expect(whole.code).toBe(0)
      expect(whole.out).toContain("Node bj-1, bj-2 (2 nodes): zone=beijing")
      expect(whole.out).toContain("Node sh-1: no zone")
      expect(whole.out).toContain("1 of 2 endpoints are used by each of these 2 nodes")

      const one = await run("default/web-svc", "--node", "bj-1", "--kubeconfig", kubeconfig)
      expect(one.out.trimEnd().split("\n")).toEqual([
        "Service default/web-svc",
        `  topologyKeys ["zone"]: the first key counts at which a ready endpoint has this node's value`,
        "",
        "Node bj-1: zone=beijing",
        "  ADDRESS   SLICE      NODE  KEPT  REASON",
        "  10.0.0.1  web-svc-x  bj-1  yes   it is on this node, bj-1",
        "  10.0.1.1  web-svc-x  gz-1  no    gz-1 has zone=guangzhou, this node has zone=beijing",
        "1 of 2 endpoints are used by bj-1"
      ])

      const json = await run("default/web-svc", "--node", "bj-2", "-o", "json", "--kubeconfig", kubeconfig)
      const { groups } = JSON.parse(json.out) as {
        readonly groups: readonly [{ readonly endpoints: unknown }]
      }
      expect(groups[0].endpoints).toMatchObject([
        {
          address: "10.0.0.1",
          node: "bj-1",
          kept: true,
          verdict: { rule: "SameValue", key: "zone", here: "beijing" }
        },
        {
          address: "10.0.1.1",
          node: "gz-1",
          kept: false,
          verdict: { rule: "OtherValue", there: "guangzhou" }
        }
      ])

      for (const [args, told] of [
        [["default/web-scv"], "no Service default/web-scv in the cluster: there are default/web-svc"],
        [
          ["default/web-svc", "--node", "bj-9"],
          "--node bj-9: no such node in the cluster: there are bj-1, bj-2"
        ]
      ] as const) {
        const { code, err } = await run(...args, "--kubeconfig", kubeconfig)
        expect([code, err]).toEqual([1, expect.stringContaining(told)])
      }
    })
  )

  it("R138 answers from a wrapper's snapshot, and leaves the folder as it is", async () => {
    const kept = await snapshot("kept", "bj-2")
    writeFileSync(join(kept, "snapshot.new-0123456789ab"), "being written")
    const { code, out, err } = await run("default/web-svc", "--snapshot", kept)
    expect([code, err]).toEqual([0, ""])
    expect(out).toContain("10.0.0.1  web-svc-x  bj-1  yes   bj-1 has zone=beijing, as this node has")
    expect(out).toContain("1 of 2 endpoints are used by bj-2")
    expect(readdirSync(kept).sort()).toEqual(["snapshot", "snapshot.new-0123456789ab"])
  })

  it("R200 exits with 1 where the snapshot doesn't know the Service, or is another node's", async () => {
    const kept = await snapshot("other", "bj-1")
    const none = await run("default/other", "--snapshot", kept)
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("there is default/web-svc")])
    const foreign = await run("default/web-svc", "--snapshot", kept, "--node", "gz-1")
    expect([foreign.code, foreign.err]).toEqual([1, expect.stringContaining("is of bj-1")])
  })

  it("R138 R200 exits with 1 on a torn snapshot, and doesn't touch it", async () => {
    const torn = mkdtempSync(join(folder, "torn-"))
    writeFileSync(join(torn, "snapshot"), '{"format":"servicegroup-snapshot","version":1,"node":"bj-1"}\n')
    const { code, err } = await run("default/web-svc", "--snapshot", torn)
    expect([code, err]).toEqual([1, expect.stringContaining("its checksum doesn't fit")])
    expect(readdirSync(torn)).toEqual(["snapshot"])
  })

  it.each([
    [["web-svc"], "write NAMESPACE/NAME"],
    [["default/web/svc"], "write NAMESPACE/NAME"],
    [["default/web-svc", "--snapshot", "/no/such/folder"], "there is no snapshot in /no/such/folder"],
    [["default/web-svc", "--kubeconfig", "/no/such/config"], "/no/such/config"],
    [[], "NAMESPACE/NAME"]
  ])("R200 exits with 1 on %j", async (args, told) => {
    const { code, out, err } = await run(...args)
    expect(out + err).toContain(told)
    expect(code).toBe(1)
  })
})

/** A folder with the snapshot of a node's wrapper, as it was told of all of the above. */
const snapshot = async (name: string, of: string): Promise<string> => {
  const path = join(folder, name)
  const part = (kind: string, objects: readonly unknown[]) => ({
    kind,
    revision: "7",
    objects: objects.map((each) => Buffer.from(JSON.stringify(each)))
  })
  const parts = [
    part(
      "OwnNode",
      nodes.filter(({ metadata }) => metadata.name === of)
    ),
    part(
      "Node",
      nodes.map(({ metadata }) => ({ metadata: { name: metadata.name, labels: metadata.labels } }))
    ),
    part("Service", [zoned]),
    part("ApiServer", []),
    part("EndpointSlice", [two, slice("other", ["10.9.9.9"])])
  ]
  await Effect.runPromise(write(disk, path, { node: of, at: "2026-01-01T00:00:00.000Z", parts }))
  return path
}

/** Hands over the kubeconfig of an embedded cluster in which all of the above is. */
const against = (judge: (kubeconfig: string) => Promise<void>): Effect.Effect<void, unknown> =>
  Effect.scoped(
    Effect.flatMap(embedded({ port: 0, controllers: controllers([]) }), (cluster) =>
      Effect.promise(async () => {
        await filled(cluster)
        await judge(kubeconfig({ url: cluster.url, folder }))
      })
    )
  )

const filled = async ({ url }: Embedded): Promise<void> => {
  const post = async (path: string, body: unknown): Promise<void> => {
    const headers = { "content-type": "application/json" }
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  }
  for (const each of nodes) await post("/api/v1/nodes", each)
  await post("/api/v1/namespaces/default/services", { ...zoned, spec: { ports: [{ port: 80 }] } })
  for (const each of [two, slice("other", ["10.9.9.9"])])
    await post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", each)
}
