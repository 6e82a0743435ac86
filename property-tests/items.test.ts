import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { duplicates } from "../src/core/items.ts"
import { anyApplied } from "./applied.ts"
import type { Fields, Value } from "./openapi.ts"

const pod = (spec: Fields) => ({ spec: { template: { spec } } })
const nginx = (more: Fields): Fields => ({ containers: [{ name: "nginx", ...more }] })
const inNginx = "spec.template.spec.containers[name=nginx]"

describe("duplicates", () => {
  it.each<[string, Fields, string, string]>([
    [
      "an env name",
      nginx({ env: [{ name: "A", value: "1" }, { name: "B" }, { name: "A" }] }),
      `${inNginx}.env`,
      "name=A"
    ],
    [
      "a port and protocol",
      nginx({ ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "TCP" }] }),
      `${inNginx}.ports`,
      "containerPort=80,protocol=TCP"
    ],
    [
      "a container",
      { containers: [{ name: "a" }, { name: "a" }] },
      "spec.template.spec.containers",
      "name=a"
    ],
    [
      "a mount path",
      nginx({ volumeMounts: [{ mountPath: "/a b" }, { mountPath: "/a b" }] }),
      `${inNginx}.volumeMounts`,
      'mountPath="/a b"'
    ],
    [
      "an env name of an init container",
      { initContainers: [{ name: "i", env: [{ name: "A" }, { name: "A" }] }] },
      "spec.template.spec.initContainers[name=i].env",
      "name=A"
    ]
  ])("name %s that stands twice", (_, spec, path, key) => {
    expect(duplicates("Deployment", pod(spec))).toEqual([{ path, key }])
    expect(duplicates("StatefulSet", pod(spec))).toEqual([{ path, key }])
  })

  it("name a Service's port and protocol, and a finalizer", () => {
    const ports = [
      { port: 53, name: "a" },
      { port: 53, protocol: "TCP", name: "b" },
      { port: 53, protocol: "UDP", name: "c" }
    ]
    expect(duplicates("Service", { metadata: { finalizers: ["x", "x"] }, spec: { ports } })).toEqual([
      { path: "metadata.finalizers", key: '"x"' },
      { path: "spec.ports", key: "port=53,protocol=TCP" }
    ])
  })

  it("are none in lists that are one value", () => {
    expect(
      duplicates(
        "Deployment",
        pod({ ...nginx({ args: ["-v", "-v"] }), tolerations: [{ key: "a" }, { key: "a" }] })
      )
    ).toEqual([])
  })

  it("are none in what the API server takes, and one for each item that is repeated", () => {
    fc.assert(
      fc.property(anyApplied, fc.nat(), ({ kind, sent }, at) => {
        expect(duplicates(kind, sent)).toEqual([])
        const spec = sent["spec"] as Fields
        const list = kind === "Service" ? spec : (((spec["template"] as Fields)["spec"] ?? {}) as Fields)
        const field = kind === "Service" ? "ports" : "volumes"
        const items = list[field] as readonly Value[]
        const twice = { ...list, [field]: [...items, items[at % items.length] ?? null] }
        const found = duplicates(kind, kind === "Service" ? { spec: twice } : pod(twice))
        expect(found.map(({ path }) => path)).toEqual([
          kind === "Service" ? "spec.ports" : "spec.template.spec.volumes"
        ])
      }),
      { numRuns: 10_000 }
    )
  })

  it("never throw", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (metadata, spec) => {
        expect(Array.isArray(duplicates("Deployment", { metadata, spec }))).toBe(true)
        expect(Array.isArray(duplicates("Deployment", pod({ containers: spec as Value })))).toBe(true)
      }),
      { numRuns: 10_000 }
    )
  })
})
