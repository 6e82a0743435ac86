import { describe, expect, it } from "vitest"
import type { Response } from "../../src/embedded/cluster.ts"
import { start, step } from "../../src/embedded/model.ts"

// What generated sequences showed the model to answer otherwise than a real API server (1.37), one case each.

describe("step", () => {
  it("ends a page before any further object, whether it is selected or not", () => {
    const [, , page] = told(
      post("configmaps", { metadata: { name: "a", labels: { x: "1" } } }),
      post("configmaps", { metadata: { name: "b" } }),
      get("configmaps", { labelSelector: "x=1", limit: "1" })
    )
    expect(page).toMatchObject({ items: [{ metadata: { name: "a" } }] })
    expect(page).toHaveProperty("metadata.continue")
  })

  it("has no next page where one name is looked for", () => {
    const [, , page] = told(
      post("configmaps", { metadata: { name: "a" } }),
      post("configmaps", { metadata: { name: "b" } }),
      get("configmaps", { fieldSelector: "metadata.name=a", limit: "1" })
    )
    expect(page).toMatchObject({ items: [{ metadata: { name: "a" } }] })
    expect(page).not.toHaveProperty("metadata.continue")
  })

  it.each([
    ["what can't be read before other options", "what", "invalid selector: 'what'; can't understand 'what'"],
    ["other options before a field that the kind has not", "spec.x=1", /Unsupported value: "Sideways"/]
  ])("refuses %s", (_, fieldSelector, message) => {
    const [answer] = told(
      get("configmaps", { fieldSelector, resourceVersion: "1", resourceVersionMatch: "Sideways" })
    )
    expect(messageOf(answer)).toMatch(message)
  })

  it("compares a label with a number", () => {
    const [, , list] = told(
      post("configmaps", { metadata: { name: "a", labels: { n: "9" } } }),
      post("configmaps", { metadata: { name: "b", labels: { n: "10" } } }),
      get("configmaps", { labelSelector: "n>9" })
    )
    expect(list).toMatchObject({ items: [{ metadata: { name: "b" } }] })
  })

  it("makes up another uid after a dry run", () => {
    const [tried, made] = told(
      { ...post("configmaps", { metadata: { name: "a" } }), query: { dryRun: "All" } },
      post("configmaps", { metadata: { name: "a" } })
    )
    expect(uidOf(made)).not.toBe(uidOf(tried))
  })

  it("hands out nothing in a dry run", () => {
    const [tried] = told({ ...post("services", balanced), query: { dryRun: "All" } })
    expect(tried).toMatchObject({ spec: { clusterIP: "10.96.0.0", ports: [{ nodePort: 32769 }] } })
  })

  it("refuses a uid that an absent Service can't have as a conflict, and an absent ConfigMap as not found", () => {
    const metadata = { name: "a", uid: "00000000-0000-4000-8000-00000000ffff" }
    const [service, map] = told(
      put("services/a", { metadata, spec: { ports: [{ port: 80 }] } }),
      put("configmaps/a", { metadata })
    )
    expect(service).toMatchObject({ code: 409 })
    expect(messageOf(service)).toMatch(/UID in object meta: $/)
    expect(map).toMatchObject({ code: 404 })
  })

  it("refuses to make an immutable ConfigMap mutable, besides other changes", () => {
    const [, answer] = told(
      post("configmaps", { metadata: { name: "a" }, immutable: true, data: { k: "1" } }),
      put("configmaps/a", { metadata: { name: "a" } })
    )
    expect(answer).toMatchObject({ details: { causes: [{ field: "data" }, { field: "immutable" }] } })
  })

  it("keeps a Service with a selector to the families of the cluster", () => {
    const spec = { clusterIP: "None", ports: [{ port: 80 }] }
    const [bare, selecting] = told(
      post("services", { metadata: { name: "a" }, spec }),
      put("services/a", { metadata: { name: "a" }, spec: { ...spec, selector: { app: "x" } } })
    )
    expect(bare).toMatchObject({ spec: { ipFamilyPolicy: "RequireDualStack" } })
    expect(selecting).toMatchObject({ code: 422, details: { causes: [{ field: "spec.ipFamilyPolicy" }] } })
  })

  it("asks for the mode of an address whose write doesn't say that the Service is balanced", () => {
    const [, answer] = told(
      post("services", balanced),
      put("services/a/status", {
        metadata: { name: "a" },
        spec: { ports: [{ port: 80 }] },
        status: { loadBalancer: { ingress: [{ ip: "5.6.7.8" }] } }
      })
    )
    expect(answer).toMatchObject({
      details: { causes: [{ field: "status.loadBalancer.ingress[0].ipMode" }] }
    })
  })

  it("refuses two taints of one key and effect", () => {
    const taint = { key: "k", effect: "NoSchedule" }
    const [answer] = told({
      method: "POST",
      path: "/api/v1/nodes",
      body: { metadata: { name: "n" }, spec: { taints: [taint, taint] } }
    })
    expect(answer).toMatchObject({ details: { causes: [{ field: "metadata.taints[1]" }] } })
  })

  it("refuses a finalizer without a domain", () => {
    const [answer] = told(post("configmaps", { metadata: { name: "a", finalizers: ["abc"] } }))
    expect(answer).toMatchObject({ details: { causes: [{ field: "metadata.finalizers[0]" }] } })
  })

  it("names no index in the path of a value of a wrong type", () => {
    const [answer] = told(post("services", { metadata: { name: "a" }, spec: { ports: [{ port: "x" }] } }))
    expect(messageOf(answer)).toMatch(/field ServicePort\.spec\.ports\.port of type int32$/)
  })
})

interface Ask {
  readonly method: "GET" | "POST" | "PUT"
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

const NOW = Date.UTC(2026, 0, 1)

const balanced = { metadata: { name: "a" }, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } }

const at = (path: string): string => `/api/v1/namespaces/default/${path}`
const post = (path: string, body: object): Ask => ({ method: "POST", path: at(path), body })
const put = (path: string, body: object): Ask => ({ method: "PUT", path: at(path), body })
const get = (path: string, query: Readonly<Record<string, string>>): Ask => ({
  method: "GET",
  path: at(path),
  query
})

/** The answers to requests that follow each other. */
const told = (...asks: readonly Ask[]): readonly Response["body"][] => {
  let cluster = start(NOW)
  return asks.map((ask) => {
    const { cluster: after, response } = step(cluster, { query: {}, userAgent: "test", ...ask, at: NOW })
    cluster = after
    return response.body
  })
}

const uidOf = (object: unknown): unknown =>
  (object as { readonly metadata?: { readonly uid?: string } }).metadata?.uid

const messageOf = (body: unknown): string => String((body as { readonly message?: unknown }).message)
