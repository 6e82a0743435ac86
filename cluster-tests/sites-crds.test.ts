/**
 * The definitions of NodeUnits and NodeGroups on a real API server: what kubectl may apply and what it is told, two versions of one object, and
 * objects that were stored before there were rules, which can still be told their status, be let go and be deleted.
 *
 * On a control plane of its own, whose CRDs were loose before they became those of the manifests.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import {
  BAD,
  GOOD,
  pathOf,
  site,
  type SiteObject,
  sitePath,
  type Version,
  VERSIONS,
  wholeOf
} from "../property-tests/site-objects.ts"
import { at, type WatchEvent } from "./client.ts"
import { deployed } from "./controller.ts"
import { until } from "./deadline.ts"
import { done, type Said } from "./kubectl.ts"
import { applyLoose } from "./loose.ts"
import { ownPlane } from "./own-plane.ts"
import { clusterTest } from "./skip.ts"

const HOLD = ["example.org/hold"]
const long = "l".repeat(64)

/** None of them could be made today. */
const STORED: readonly SiteObject[] = [
  site("NodeUnit", long, { type: "edge" }),
  site("NodeGroup", long, { nodeUnits: ["beijing"] }),
  site("NodeUnit", "odd-type", { type: "Edge" }),
  site("NodeUnit", "odd-selector", {
    selector: { matchLabels: { "a b": "c d" }, matchExpressions: [{ key: "a b", operator: "Equals" }] }
  }),
  site("NodeUnit", "odd-gifts", {
    setNode: { labels: { "a/b/c": "-" }, taints: [{ key: "a b", value: "c d", effect: "Evict" }, {}] }
  }),
  site("NodeUnit", "odd-older", { setnode: { labels: { a: "-" } }, taints: [{ key: "" }] }, "v1alpha1"),
  site("NodeGroup", "odd-keys", {
    autoFindNodeKeys: ["a b", ...Array.from({ length: 20 }, (_, i) => `k${i}`)]
  })
]

const MENDED = site("NodeUnit", "mended", {
  setNode: { labels: { a: "-" }, taints: [{ key: "a b", effect: "Evict" }] }
})

const plane = ownPlane({ controllers: "none" }, async (begun) => {
  await applyLoose(begun)
  for (const object of [...STORED, MENDED])
    await begun.client.create(pathOf(object, false), {
      ...object,
      metadata: { ...object.metadata, finalizers: HOLD }
    })
  await deployed(begun)
  for (const object of STORED)
    await until({ what: `a refusal of ${object.metadata.name}`, seconds: 30 }, async () => {
      const made = { ...object, metadata: { name: object.metadata.name } }
      return (await begun.client.ask("POST", `${pathOf(object, false)}?dryRun=All`, made)).code === 422
    })
})

describe("the definitions of sites", () => {
  clusterTest("are those of the files where kustomize has unfolded them, and are applied once", async () => {
    const { kubectl } = plane()
    const unfolded = parseAllDocuments(await done(kubectl(["kustomize", CRDS]))).map(
      (each) => each.toJS() as object
    )
    for (const name of ["nodeunits", "nodegroups"]) {
      const file = join(CRDS, `${name}.yaml`)
      expect(unfolded).toContainEqual(parse(readFileSync(file, "utf8")))
      expect(await done(kubectl(["apply", "-f", file]))).toMatch(/ unchanged\n$/)
    }
    const again = await done(kubectl(["apply", "-k", join(CRDS, "../controller")]))
    expect(
      again
        .trim()
        .split("\n")
        .filter((line) => !line.endsWith(" unchanged"))
    ).toEqual([])
  })

  clusterTest("are explained, field by field", async () => {
    const { kubectl } = plane()
    for (const kind of ["nodeunit", "nodegroup"]) {
      const told = await done(kubectl(["explain", `${kind}.spec`]))
      const [, fields = ""] = told.split("\nFIELDS:\n")
      expect(fields.match(/^ {2}\w+/gm)?.length).toBeGreaterThan(5)
      expect(fields).not.toContain("<no description>")
    }
  })
})

describe.concurrent("kubectl apply", () => {
  for (const { what, object } of GOOD)
    clusterTest(`takes it whole, with strict validation: ${what}`, async () => {
      const { client } = plane()
      expect(await applied(object)).toMatchObject({ code: 0, stderr: "" })
      const { kind, metadata } = object
      for (const version of VERSIONS) {
        const found = await client.get(sitePath(kind, version, metadata.name))
        expect(at(found, "apiVersion")).toBe(`site.superedge.io/${version}`)
        expect(withoutNulls(at(found, "spec"))).toEqual(withoutNulls(wholeOf(object)))
      }
    })

  for (const { what, object, says } of BAD)
    clusterTest(`is refused, and told which field is wrong: ${what}`, async () => {
      const { code, stderr } = await applied(object)
      expect(code).toBe(1)
      expect(stderr).toContain(says)
    })

  for (const { what, object } of GOOD)
    clusterTest(`takes it whole on the server's side, too: ${what}`, async () => {
      const query = "?fieldManager=m&fieldValidation=Strict&dryRun=All&force=true"
      const made = await plane().client.patch(`${pathOf(object)}${query}`, "apply", object)
      expect(at(made, "spec")).toEqual(wholeOf(object))
    })

  clusterTest("takes the example", async () => {
    const { kubectl } = plane()
    await done(kubectl(["apply", "-f", join(CRDS, "../examples/sites.yaml")]))
    await tells(site("NodeUnit", "beijing"), { nodes: 3, readyRate: "2/3" })
    await tells(site("NodeGroup", "location"), { unitNumber: 2, nodes: 6 })
    expect(await shown("nu", "beijing")).toEqual(["NAME TYPE READY NODES AGE", "beijing edge 2/3 3"])
    expect(await shown("ng", "location")).toEqual(["NAME UNITS NODES AGE", "location 2 6"])
    expect(await shown("nu.v1alpha1.site.superedge.io", "beijing", "-o", "wide")).toEqual([
      "NAME TYPE READY NODES REASON MESSAGE AGE",
      "beijing edge 2/3 3 NodesNotReady waiting"
    ])
  })
})

describe.concurrent("a unit", () => {
  clusterTest("has a status of its own, of either spelling, with one condition of a type", async () => {
    const { client } = plane()
    const unit = site("NodeUnit", "told", { nodes: ["n1"] })
    await client.create(pathOf(unit, false), { ...unit, status: { nodes: 7 } })
    expect(at(await client.get(pathOf(unit)), "status")).toBeUndefined()
    const older = { readyrate: "1/1", readynodes: ["n1"], unitCluster: { phase: "Running" } }
    const patched = await tells(unit, { readyRate: "1/1", readyNodes: ["n1"], ...older })
    expect(at(patched, "spec", "nodes")).toEqual(["n1"])
    expect(at(patched, "status")).toMatchObject(older)
    const twice = { status: { conditions: [READY, READY] } }
    await expect(client.patch(`${pathOf(unit)}/status`, "merge", twice)).rejects.toThrow(
      /422 .*status.conditions\[1\]: Duplicate value: .*Ready/
    )
    await client.patch(pathOf(unit), "merge", { status: { nodes: 7 }, spec: { nodes: [] } })
    expect(at(await client.get(pathOf(unit)), "status", "nodes")).toBeUndefined()
  })

  clusterTest("is written in either version and shown in the one that is asked for", async () => {
    const { client } = plane()
    const unit = site("NodeUnit", "either", { setnode: { labels: { a: "b" } } }, "v1alpha1")
    const [older, newer] = [
      sitePath("NodeUnit", "v1alpha1", "either"),
      sitePath("NodeUnit", "v1alpha2", "either")
    ]
    await client.create(sitePath("NodeUnit", "v1alpha1"), unit)
    await client.patch(newer, "merge", { spec: { nodes: ["n1"] } })
    await client.patch(`${older}?fieldManager=m`, "apply", { ...unit, spec: { unschedulable: true } })
    const read = await client.get(newer)
    const spec = { type: "edge", nodes: ["n1"], setnode: { labels: { a: "b" } }, unschedulable: true }
    expect(read).toMatchObject({ apiVersion: "site.superedge.io/v1alpha2", spec })
    const put = await client.ask("PUT", older, { ...Object(read), apiVersion: unit.apiVersion })
    expect([put.code, at(put.body, "metadata", "resourceVersion")]).toEqual([
      200,
      at(read, "metadata", "resourceVersion")
    ])
    for (const version of VERSIONS)
      expect(at((await first("NodeUnit", version, "either")).object, "apiVersion")).toBe(
        `site.superedge.io/${version}`
      )
  })
})

describe.concurrent("what was stored before the rules", () => {
  for (const object of STORED) {
    const { kind, metadata } = object
    clusterTest(
      `can be told its status, be labelled, let go and deleted: ${kind} ${metadata.name}`,
      async () => {
        const { client } = plane()
        await tells(object, { nodes: 0 })
        await client.patch(pathOf(object), "merge", { metadata: { labels: { seen: "yes" } } })
        await client.patch(pathOf(object), "merge", {
          spec: { workload: null, unschedulable: null, nodes: null }
        })
        await client.remove(pathOf(object))
        await client.patch(pathOf(object), "merge", { metadata: { finalizers: null } })
        expect(await client.find(pathOf(object))).toBeUndefined()
      }
    )
  }
})

describe("a unit stored before the rules", () => {
  clusterTest("may be mended field by field, but not into another bad one", async () => {
    const { client } = plane()
    const mend = (setNode: object): Promise<unknown> =>
      client.patch(pathOf(MENDED), "merge", { spec: { setNode } })
    await expect(mend({ labels: { a: "b c" } })).rejects.toThrow(/422 .*spec.setNode.labels.a/)
    await mend({ labels: { a: "b" } })
    await expect(mend({ taints: [{ key: "a b", effect: "NoSchedule" }] })).rejects.toThrow(
      /422 .*spec.setNode.taints\[0\].key.* must be a label key/
    )
    await mend({ taints: [{ key: "a", effect: "NoSchedule" }] })
    expect(at(await client.get(pathOf(MENDED)), "spec", "setNode")).toEqual({
      labels: { a: "b" },
      taints: [{ key: "a", effect: "NoSchedule" }]
    })
  })
})

const CRDS = join(import.meta.dirname, "../manifests/crds")
const READY = {
  type: "Ready",
  status: "False",
  reason: "NodesNotReady",
  message: "waiting",
  lastTransitionTime: "2026-11-29T12:00:00Z"
}

const applied = (object: SiteObject): Promise<Said> =>
  plane().kubectl(["apply", "-f", "-"], { input: JSON.stringify(object) })

/** On the client's side null is what is not to be there. */
const withoutNulls = (value: unknown): unknown =>
  value && JSON.parse(JSON.stringify(value, (_, each: unknown) => each ?? undefined))

/** Writes a status, as a controller would, with a condition. */
const tells = (object: SiteObject, status: object): Promise<unknown> =>
  plane().client.patch(`${pathOf(object)}/status`, "merge", { status: { ...status, conditions: [READY] } })

/** What kubectl shows of one object, without its age. */
const shown = async (kind: string, name: string, ...more: readonly string[]): Promise<readonly string[]> => {
  const told = await done(plane().kubectl(["get", kind, name, ...more]))
  const lines = told
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ +/g, " "))
  return lines.map((line) => line.replace(/ \d+m?\d*s$/, ""))
}

/** The first that a watch of an object tells. */
const first = async (kind: SiteObject["kind"], version: Version, name: string): Promise<WatchEvent> => {
  const ends = new AbortController()
  const path = `${sitePath(kind, version)}?watch=true&fieldSelector=metadata.name=${name}`
  for await (const event of plane().client.watch(path, ends.signal)) {
    ends.abort()
    return event
  }
  throw new Error(`a watch of ${path} told nothing`)
}
