/** `servicegroup explain name` as a process, against the embedded cluster and a wrapper's snapshot. */
import * as Effect from "effect/Effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"
import { controllers } from "../src/embedded/controllers.ts"
import { embedded } from "../src/embedded/server.ts"
import { disk } from "../src/shell/disk.ts"
import { write } from "../src/shell/keep.ts"
import { built, Run } from "./bundles.ts"
import { live } from "./effect.ts"
import { bj, grid, gz, service, set, SHORT, two } from "./two-units.ts"
import { kubeconfig } from "./wrapped.ts"

let bundles = ""
let folder = ""

beforeAll(() => {
  bundles = built()
  folder = mkdtempSync(join(tmpdir(), "explain-name-"))
})
afterAll(() => {
  for (const each of [bundles, folder]) rmSync(each, { recursive: true, force: true })
})

const run = async (...args: readonly string[]) => {
  const process = new Run(join(bundles, "servicegroup.mjs"), ["explain", "name", ...args])
  const { code } = await process.ended
  return { code, out: process.out, err: process.err }
}

describe("explain name", () => {
  live("asks the cluster, and tells what a node's pods get", () =>
    against(async (kubeconfig) => {
      const on = (...args: readonly string[]) => run(...args, "--kubeconfig", kubeconfig)
      const short = await on(SHORT, "--node", "bj-1")
      expect([short.err, short.code]).toEqual(["", 0])
      expect(short.out.split("\n").slice(0, 2)).toEqual([
        `Name ${SHORT}, asked on node bj-1`,
        "  10.1.0.5: a pod of this node's own unit"
      ])
      const json = await on("WEB-0.web-svc", "--node", "gz-1", "-o", "json")
      expect(JSON.parse(json.out)).toMatchObject({ name: SHORT, from: "Unit", addresses: ["10.2.0.5"] })
      const domain = await on("web-0.web-svc", "--node", "gz-1", "--cluster-domain", "edge.local")
      expect(domain.out).toContain("Name web-0.web-svc.default.svc.edge.local, asked on node gz-1")
      const none = await on("web-0.nope", "--node", "bj-1")
      expect([none.code, none.out]).toEqual([
        0,
        expect.stringContaining("Service nope doesn't exist in default")
      ])
      for (const [args, told] of [
        [[SHORT, "--node", "bj-9"], "--node bj-9: no such node in the cluster: there are bj-1, gz-1"],
        [[SHORT], "say from which node: --node NAME; there are bj-1, gz-1"]
      ] as const) {
        const { code, err } = await on(...args)
        expect([code, err]).toEqual([1, expect.stringContaining(told)])
      }
    })
  )

  it("answers from a wrapper's snapshot", async () => {
    const kept = await snapshot("kept", { StatefulSetGrid: [grid], StatefulSet: [set("beijing")] })
    const { code, out, err } = await run("web-0.web-svc", "--snapshot", kept)
    expect([code, err]).toEqual([0, ""])
    expect(out).toContain("  10.1.0.5: a pod of this node's own unit")
    const foreign = await run("web-0.web-svc", "--snapshot", kept, "--node", "gz-1")
    expect([foreign.code, foreign.err]).toEqual([1, expect.stringContaining("is of bj-1")])
  })

  it("R200 exits with 1 where the snapshot's wrapper serves no names, and on what is no name", async () => {
    const kept = await snapshot("without", {})
    const none = await run("web-0.web-svc", "--snapshot", kept)
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("knows of no grids")])
    const odd = await run("web 0", "--snapshot", kept)
    expect([odd.code, odd.err]).toEqual([1, expect.stringContaining('"web 0" is no name in DNS')])
  })
})

/** A folder with the snapshot of bj-1's wrapper. */
const snapshot = async (
  name: string,
  named: { readonly [feed: string]: readonly unknown[] }
): Promise<string> => {
  const path = join(folder, name)
  const feeds = {
    OwnNode: [bj],
    Node: [bj, gz],
    Service: [service()],
    ApiServer: [],
    EndpointSlice: [two],
    ...named
  }
  const parts = Object.entries(feeds).map(([kind, objects]) => ({
    kind,
    revision: "7",
    objects: objects.map((each) => Buffer.from(JSON.stringify(each)))
  }))
  await Effect.runPromise(write(disk, path, { node: "bj-1", at: "2026-01-01T00:00:00.000Z", parts }))
  return path
}

/** Hands over the kubeconfig of an embedded cluster with two units of the grid. */
const against = (judge: (kubeconfig: string) => Promise<void>): Effect.Effect<void, unknown> =>
  Effect.scoped(
    Effect.flatMap(embedded({ port: 0, controllers: controllers([]) }), (cluster) =>
      Effect.promise(async () => {
        await filled(cluster.url)
        await judge(kubeconfig({ url: cluster.url, folder }))
      })
    )
  )

const filled = async (url: string): Promise<void> => {
  const post = async (
    path: string,
    body: unknown
  ): Promise<{ readonly metadata: { readonly uid: string } }> => {
    const headers = { "content-type": "application/json" }
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { readonly metadata: { readonly uid: string } }
  }
  const crd = new URL("../manifests/crds/statefulsetgrids.yaml", import.meta.url)
  await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", parse(readFileSync(crd, "utf8")))
  for (const each of [bj, gz]) await post("/api/v1/nodes", each)
  const { uid: _, generation: __, ...metadata } = grid.metadata
  const made = await post("/apis/superedge.io/v1/namespaces/default/statefulsetgrids", { ...grid, metadata })
  for (const each of [set("beijing"), set("guangzhou")]) {
    const ownerReferences = each.metadata.ownerReferences.map((owner) => ({
      ...owner,
      uid: made.metadata.uid
    }))
    const body = { ...each, metadata: { ...each.metadata, ownerReferences } }
    await post("/apis/apps/v1/namespaces/default/statefulsets", body)
  }
  await post("/api/v1/namespaces/default/services", service())
  await post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", two)
}
