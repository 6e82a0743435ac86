/** What is read of a slice's bytes: the parts that decide, and what keeps a malformed one out. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { item, sharing } from "../src/core/item.ts"
import { local } from "../src/core/local.ts"
import { endpoints, slice } from "../src/core/slice.ts"
import { RUNS } from "./given.ts"
import type { Obj } from "./naive.ts"
import { asIs, bytesOf, endpointsOf, isMalformed, objectOf, sliceOf, sound } from "./sliced.ts"

const whole: Obj = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: {
    name: "web-abc",
    namespace: "default",
    uid: "u-1",
    resourceVersion: "42",
    labels: { "kubernetes.io/service-name": "web", "service.kubernetes.io/headless": "", ["__proto__"]: "x" },
    annotations: { "endpoints.kubernetes.io/last-change-trigger-time": "t", "superedge.io/x": "y" },
    managedFields: [{ fieldsV1: { "f:endpoints": {} } }]
  },
  addressType: "IPv4",
  endpoints: [
    {
      addresses: ["10.0.0.1"],
      conditions: { ready: true },
      nodeName: "n1",
      hints: { forZones: [{ name: "z" }] }
    },
    { addresses: ["10.0.0.2"], conditions: { ready: false, serving: true, terminating: true }, nodeName: "" },
    {
      addresses: ["10.0.0.3"],
      conditions: { ready: false, serving: false },
      topology: { "kubernetes.io/hostname": "h3" }
    },
    { addresses: ["10.0.0.4"], conditions: { ready: null, serving: false }, nodeName: null, conditionsX: 1 },
    {}
  ],
  ports: [{ name: "", port: 80, protocol: "TCP" }]
}

describe("slice", () => {
  it("R88 R104 reads what a decision needs", () => {
    const found = sliceOf(whole)
    expect(found).toMatchObject({
      key: "default/web-abc",
      uid: "u-1",
      revision: "42",
      service: "web",
      headless: true,
      family: "IPv4",
      apiVersion: "discovery.k8s.io/v1",
      annotations: { "superedge.io/x": "y" }
    })
    expect(Object.keys(found.annotations)).toEqual(["superedge.io/x"])
    expect(Object.hasOwn(found.labels, "__proto__")).toBe(true)
    expect(found.endpoints.map(({ node, hostname, readiness }) => [node, hostname, readiness])).toEqual([
      ["n1", undefined, "Ready"],
      [undefined, undefined, "Serving"],
      [undefined, "h3", "Other"],
      [undefined, undefined, "Ready"],
      [undefined, undefined, "Ready"]
    ])
  })

  it("R104 takes null for absent", () => {
    const found = sliceOf({
      metadata: { name: "a", namespace: null, labels: null, annotations: null, uid: null },
      endpoints: null,
      ports: null
    })
    expect([found.key, found.service, found.headless, found.endpoints, found.revision]).toEqual([
      "/a",
      undefined,
      false,
      [],
      ""
    ])
  })

  it("P11 keeps a malformed slice out, and says what is wrong with it", () => {
    const meta = { metadata: { name: "a" } }
    for (const [value, why] of [
      ["", "ends too early"],
      ["null", "the object is null"],
      ["[]", "the object is no object"],
      ["{}", "metadata.name is missing"],
      ['{"metadata":{"name":"a"}}x', "is no JSON at byte 25"],
      [{ metadata: { name: 1 } }, "metadata.name is no string"],
      [{ metadata: { name: "a", labels: { x: 1 } } }, "metadata.labels[x] is no string"],
      [{ ...meta, endpoints: {} }, "endpoints is no list"],
      [{ ...meta, endpoints: [{}, null] }, "endpoints[1] is null"],
      [{ ...meta, endpoints: [{ nodeName: 7 }] }, "endpoints[0].nodeName is no string"],
      [
        { ...meta, endpoints: [{ conditions: { ready: "yes" } }] },
        "endpoints[0].conditions.ready is no boolean"
      ]
    ] as const)
      expect([value, slice(bytesOf(value), asIs)]).toEqual([value, { _tag: "Malformed", message: why }])
  })

  it("P11 never throws where any part of it is replaced by anything", () => {
    const paths: readonly (readonly string[])[] = [
      ["metadata"],
      ["metadata", "labels"],
      ["endpoints"],
      ["ports"],
      ["endpoints", "0"],
      ["endpoints", "1", "conditions"],
      ["endpoints", "2", "topology"]
    ]
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, poison) => {
        const bytes = bytesOf(replaced(whole, path, poison))
        for (const read of [slice, endpoints, item]) {
          const found = read(bytes, asIs)
          if (isMalformed(found)) expect(found.message).not.toBe("")
          else expect(objectOf(found.bytes)).toEqual(unmanaged(objectOf(bytes)))
          if (read === slice && "endpoints" in found)
            expect(found.endpoints).toHaveLength(((objectOf(bytes)["endpoints"] ?? []) as Obj[]).length)
        }
      }),
      RUNS
    )
  })

  it("reads 10,000 endpoints of one slice", () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({
      addresses: [`10.0.${i % 250}.1`],
      nodeName: `n${i % 7}`
    }))
    expect(sliceOf({ metadata: { name: "a" }, endpoints: many }).endpoints).toHaveLength(10_000)
  })
})

describe("endpoints", () => {
  it("R86 reads addresses that are ready and that aren't, each of its own family", () => {
    const found = endpointsOf({
      metadata: { name: "web", namespace: "ns" },
      subsets: [
        {
          notReadyAddresses: [{ ip: "10.0.0.1", nodeName: "n1" }],
          addresses: [{ ip: "fd00::1" }],
          ports: []
        },
        { addresses: null }
      ]
    })
    expect([found.service, found.key]).toEqual(["web", "ns/web"])
    expect(found.endpoints.map(({ node, family, readiness }) => [node, family, readiness])).toEqual([
      ["n1", "IPv4", "Other"],
      [undefined, "IPv6", "Ready"]
    ])
  })
})

describe("sharing", () => {
  it("gives one copy of equal texts", () => {
    const share = sharing()
    expect(["a", "b", "a"].map(share)).toEqual(["a", "b", "a"])
    const found = sound(slice(bytesOf(whole), share))
    expect(found.endpoints[0]?.node).toBe("n1")
  })
})

describe("local", () => {
  const of = (address: unknown, port: unknown) =>
    local({ "superedge.io/local-endpoint": address, "superedge.io/local-port": port })

  it("takes an IP, loopback included, and a port", () => {
    for (const ip of [
      "127.0.0.1",
      "10.0.0.255",
      "::1",
      "fd00::1:2",
      "1:2:3:4:5:6:7:8",
      "::ffff:10.0.0.1",
      "1:2:3:4:5:6:10.0.0.1",
      "::"
    ])
      expect(of(ip, "51003")).toEqual({ address: ip, port: 51003 })
  })

  it("is none where the IP or the port isn't legal", () => {
    for (const ip of [
      "",
      "localhost",
      "256.0.0.1",
      "1.2.3",
      "01.2.3.4",
      "1:2:3",
      ":::",
      "1::2::3",
      "g::1",
      "1:2:3:4:5:6:7:8:9",
      "::12345",
      "10.0.0.1:80",
      "[::1]",
      "1.2.3.4::",
      null,
      7
    ])
      expect([ip, of(ip, "1")]).toEqual([ip, undefined])
    for (const port of ["", "0", "65536", "080", "-1", "8.0", "x", null, 80])
      expect([port, of("::1", port)]).toEqual([port, undefined])
    expect(local(undefined)).toBe(undefined)
  })
})

/** An object as it is kept. */
const unmanaged = (object: Obj): Obj => {
  const { managedFields: _, ...rest } = object["metadata"] as Obj
  return { ...object, metadata: rest }
}

const replaced = (value: unknown, [step, ...rest]: readonly string[], put: unknown): unknown => {
  if (step === undefined) return put
  if (Array.isArray(value))
    return value.map((each: unknown, i) => (String(i) === step ? replaced(each, rest, put) : each))
  return { ...(value as Obj), [step]: replaced((value as Obj)[step], rest, put) }
}
