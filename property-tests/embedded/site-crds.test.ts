/** What the definitions of NodeUnits and NodeGroups let in, on the embedded cluster, and how a kind with two versions is shown in either. */
import fc from "fast-check"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import type { Cluster, Request, Response } from "../../src/embedded/cluster.ts"
import { document } from "../../src/embedded/discovery.ts"
import { start, step, watch } from "../../src/embedded/model.ts"
import { runs } from "../runs.ts"
import { BAD, GOOD, pathOf, site, type SiteObject, sitePath, VERSIONS, wholeOf } from "../site-objects.ts"

describe("NodeUnits and NodeGroups", () => {
  it.each(GOOD)("are taken whole, and shown in each version: $what", ({ object }) => {
    const { cluster, response } = created(object)
    expect([response.code, response.headers]).toEqual([201, undefined])
    const { kind, metadata } = object
    for (const version of VERSIONS) {
      const { body } = asked(cluster, {
        method: "GET",
        path: sitePath(kind, version, metadata.name)
      }).response
      expect(body).toMatchObject({ apiVersion: `site.superedge.io/${version}`, kind })
      expect((body as SiteObject).spec).toEqual(wholeOf(object))
    }
  })

  it.each(BAD)("are refused by the field that is wrong: $what", ({ object, says }) => {
    const { response } = created(object)
    expect([400, 422]).toContain(response.code)
    expect((response.body as { readonly message: string }).message).toContain(says)
  })

  it.each(GOOD)("are taken whole on the server's side, too: $what", ({ object }) => {
    const query = { fieldManager: "m", fieldValidation: "Strict" }
    const contentType = "application/apply-patch+yaml"
    const request = { method: "PATCH", path: pathOf(object), query, contentType, body: object } as const
    const { response } = asked(DEFINED, request)
    expect([response.code, response.headers]).toEqual([201, undefined])
    expect((response.body as SiteObject).spec).toEqual(wholeOf(object))
  })

  it("have no name that can't be a label's key and value", () => {
    const names = fc.stringMatching(/^[a-z0-9][-a-z0-9.]{0,70}$/)
    fc.assert(
      fc.property(names, fc.constantFrom("NodeUnit", "NodeGroup"), (name, kind) => {
        fc.pre(created(site(kind, name, {})).response.code === 201)
        const metadata = { name: "n", labels: { [name]: "unit", of: name } }
        const body = { apiVersion: "v1", kind: "Node", metadata }
        expect(asked(DEFINED, { method: "POST", path: "/api/v1/nodes", body }).response.code).toBe(201)
      }),
      runs(1000)
    )
  })
})

describe("an object of a kind with two versions", () => {
  const unit = site("NodeUnit", "older", { setnode: { labels: { a: "b" } } }, "v1alpha1")
  const [newer, older] = [
    sitePath("NodeUnit", "v1alpha2", "older"),
    sitePath("NodeUnit", "v1alpha1", "older")
  ]
  const versionOf = (body: unknown): unknown => (body as SiteObject).apiVersion

  it("is listed and watched in the version that is asked for", () => {
    const { cluster } = created(unit)
    for (const version of VERSIONS) {
      const path = sitePath("NodeUnit", version)
      const { items } = asked(cluster, { method: "GET", path }).response.body as {
        readonly items: readonly unknown[]
      }
      expect(items.map(versionOf)).toEqual([`site.superedge.io/${version}`])
      const request = { method: "GET", path, query: { watch: "true" }, at: NOON } as const
      const opened = watch(cluster, request)
      if (opened._tag === "Refused") throw new Error(JSON.stringify(opened.response))
      expect(opened.watch.initial.map(({ object }) => versionOf(object))).toEqual([
        `site.superedge.io/${version}`
      ])
      const { changes } = asked(cluster, { method: "DELETE", path: newer })
      const lines = changes.map((change) => opened.watch.accepts(change))
      expect(lines.map((line) => [line?.type, versionOf(line?.object)])).toEqual([
        ["DELETED", `site.superedge.io/${version}`]
      ])
    }
  })

  it("is patched and applied in either, and what was written in the other stays", () => {
    let { cluster } = created(unit)
    const wrote = (request: Partial<Request> & Pick<Request, "path">): unknown => {
      const done = asked(cluster, { method: "PATCH", ...request })
      expect(done.response.code).toBe(200)
      cluster = done.cluster
      return done.response.body
    }
    const merge = { contentType: "application/merge-patch+json" }
    const apply = { contentType: "application/apply-patch+yaml", query: { fieldManager: "m" } }
    const patched = wrote({ ...merge, path: newer, body: { spec: { nodes: ["n1"] } } })
    expect(versionOf(patched)).toBe("site.superedge.io/v1alpha2")
    const applied = wrote({
      ...apply,
      path: older,
      body: { ...unit, spec: { selector: { matchLabels: { a: "b" } } } }
    })
    expect(versionOf(applied)).toBe("site.superedge.io/v1alpha1")
    const told = wrote({
      ...merge,
      path: `${newer}/status`,
      body: { status: { readyRate: "0/1", readyrate: "x" } }
    })
    expect(told).toMatchObject({
      apiVersion: "site.superedge.io/v1alpha2",
      spec: { nodes: ["n1"], setnode: { labels: { a: "b" } }, selector: { matchLabels: { a: "b" } } },
      status: { readyRate: "0/1", readyrate: "x" }
    })
  })

  it("isn't written where nothing but the version is another one", () => {
    const { cluster } = created(unit)
    const { body } = asked(cluster, { method: "GET", path: newer }).response
    const again = asked(cluster, { method: "PUT", path: newer, body, userAgent: "another" })
    expect(again.response.code).toBe(200)
    expect(again.changes).toEqual([])
  })

  it("is shown in a third version, too, whatever was asked for before", () => {
    const crd = definition("nodeunits")
    const [, second] = crd.spec.versions
    const three = [...crd.spec.versions, { ...second, name: "v1beta1" }]
    const defined = define(start(NOON), { ...crd, spec: { ...crd.spec, versions: three } })
    const { cluster } = asked(defined, { method: "POST", path: sitePath("NodeUnit", "v1alpha1"), body: unit })
    for (const path of [newer, older.replace("v1alpha1", "v1beta1"), older, newer]) {
      const { body } = asked(cluster, { method: "GET", path }).response
      expect(path).toContain(String(versionOf(body)))
    }
  })

  it("is found by the newer version where none is named", () => {
    const group = document(DEFINED, "/apis/site.superedge.io", undefined)?.body
    expect(group).toMatchObject({ preferredVersion: { version: "v1alpha2" } })
  })
})

const NOON = Date.parse("2026-11-29T12:00:00Z")

const asked = (cluster: Cluster, request: Partial<Request> & Pick<Request, "method" | "path">) =>
  step(cluster, { query: {}, userAgent: "someone", at: NOON, ...request })

interface Definition {
  readonly spec: { readonly versions: readonly object[] }
}

const definition = (name: string): Definition =>
  parse(readFileSync(new URL(`../../manifests/crds/${name}.yaml`, import.meta.url), "utf8")) as Definition

const define = (cluster: Cluster, body: Definition): Cluster => {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  return asked(cluster, { method: "POST", path, body }).cluster
}

const DEFINED = ["nodeunits", "nodegroups"].map(definition).reduce(define, start(NOON))

/** With strict validation, as kubectl asks for it. */
const created = (object: SiteObject): { readonly cluster: Cluster; readonly response: Response } => {
  const [path, query] = [pathOf(object, false), { fieldValidation: "Strict" }]
  return asked(DEFINED, { method: "POST", path, query, body: object })
}
