import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { stated } from "../src/core/stated.ts"
import { anyApplied } from "./applied.ts"
import type { Fields, Value } from "./openapi.ts"

describe("stated", () => {
  it("gives a spec itself where nothing in it is left to the server", () => {
    fc.assert(
      fc.property(anyApplied, ({ kind, sent }) => {
        const once = stated(kind, sent["spec"])
        expect(stated(kind, once)).toBe(once)
        expect(JSON.stringify(once)).toBe(JSON.stringify(withoutNulls(sent["spec"] ?? null)))
      }),
      { numRuns: 10_000 }
    )
  })

  it("leaves out nulls, wherever they stand", () => {
    fc.assert(
      fc.property(anyApplied, fc.nat(), ({ kind, sent }, at) => {
        const spec = sent["spec"] ?? null
        expect(stated(kind, withNulls(spec, { left: at % 40 }))).toEqual(stated(kind, spec))
      }),
      { numRuns: 10_000 }
    )
  })

  it.each<[string, Fields]>([
    ["clusterIP", { clusterIP: "" }],
    ["clusterIPs", { clusterIPs: [] }],
    ["ipFamilies", { ipFamilies: [] }],
    ["type", { type: "" }],
    ["sessionAffinity", { sessionAffinity: "" }],
    ["healthCheckNodePort", { healthCheckNodePort: 0 }]
  ])("leaves out an empty %s of a Service", (_, spec) => {
    expect(stated("Service", spec)).toEqual({})
  })

  it("leaves out what the server chooses of a port", () => {
    const ports = [{ port: 80, nodePort: 0, targetPort: "", protocol: "" }]
    expect(stated("Service", { ports })).toEqual({ ports: [{ port: 80 }] })
  })

  it("leaves out what the server chooses of a container and its probe", () => {
    const container = {
      name: "a",
      imagePullPolicy: "",
      livenessProbe: { periodSeconds: 0, httpGet: { path: "", port: 80 } }
    }
    const spec = { template: { spec: { containers: [container], dnsPolicy: "" } } }
    expect(stated("Deployment", spec)).toEqual({
      template: { spec: { containers: [{ name: "a", livenessProbe: { httpGet: { port: 80 } } }] } }
    })
  })

  it("keeps zeros and empty texts that say something", () => {
    const spec = {
      replicas: 0,
      template: {
        metadata: { labels: { type: "", path: "" }, annotations: { protocol: "" } },
        spec: {
          nodeSelector: { type: "" },
          containers: [{ env: [{ name: "A", value: "" }], securityContext: { runAsUser: 0 }, args: ["", ""] }]
        }
      }
    }
    expect(stated("Deployment", spec)).toBe(spec)
  })

  it("keeps a label called __proto__", () => {
    const labels: unknown = JSON.parse('{"__proto__": "a", "b": null}')
    const made = JSON.stringify(stated("Deployment", { template: { metadata: { labels } } }))
    expect(made).toBe('{"template":{"metadata":{"labels":{"__proto__":"a"}}}}')
  })
})

const withoutNulls = (value: Value): Value => {
  if (Array.isArray(value)) return (value as readonly Value[]).map(withoutNulls)
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(
    Object.entries(value as Fields).flatMap(([name, field]) =>
      field === null ? [] : [[name, withoutNulls(field)]]
    )
  )
}

/** A null beside the fields of the nth object. */
const withNulls = (value: Value, count: { left: number }): Value => {
  if (Array.isArray(value)) return (value as readonly Value[]).map((item) => withNulls(item, count))
  if (value === null || typeof value !== "object") return value
  const fields = Object.entries(value as Fields).map(
    ([name, field]) => [name, withNulls(field, count)] as const
  )
  return Object.fromEntries(count.left-- === 0 ? [["nothing", null], ...fields] : fields)
}
