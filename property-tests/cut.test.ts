/** Bytes cut and stamped, against parsed objects filtered and changed. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cut, render, sameShown, stamped } from "../src/core/cut.ts"
import { item } from "../src/core/item.ts"
import { same } from "./given.ts"
import { type Obj, without } from "./naive.ts"
import { runs } from "./runs.ts"
import { asIs, bytesOf, endpointsOf, objectOf, sliceOf, sound, textOf, written } from "./sliced.ts"

const extra = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1, stringUnit: "binary" }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '"endpoints":[',
      '},{"nodeName":"n1"}',
      "\\",
      '\\"',
      [],
      [{}, [[]], {}],
      { endpoints: [{ nodeName: "n1" }], metadata: { name: "other" }, "]}": null },
      "\u2028 \u0000 é 語 😀",
      -0.5e-7,
      false
    )
  }
)
const optional = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { freq: 2, nil: undefined })

const endpoint = fc.record({
  "x-before": optional(extra),
  addresses: fc.array(fc.ipV4(), { maxLength: 2 }),
  conditions: optional(fc.constantFrom(null, {}, { ready: true, serving: null }, { ready: false })),
  nodeName: optional(fc.constantFrom(null, "n1", "n2", 'é"n')),
  topology: optional(fc.constantFrom({ "kubernetes.io/hostname": "h" }, null)),
  "x-after": optional(extra)
})

const shuffled = (object: Obj, seed: number): Obj => {
  const entries = Object.entries(object)
  const turn = seed % Math.max(entries.length, 1)
  return Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)])
}

const metadata = fc.record({
  name: fc.constantFrom("web-x", "é"),
  namespace: fc.constantFrom("default", "ns"),
  resourceVersion: optional(fc.constantFrom("1", "99999999999999999999", null)),
  labels: optional(fc.constantFrom(null, {}, { "kubernetes.io/service-name": "web" })),
  "x-more": optional(extra)
})

const anySlice = fc
  .tuple(
    fc.record({
      kind: optional(fc.constant("EndpointSlice")),
      apiVersion: optional(fc.constant("discovery.k8s.io/v1")),
      metadata,
      addressType: fc.constant("IPv4"),
      endpoints: fc.oneof(
        { weight: 9, arbitrary: fc.array(endpoint, { maxLength: 5 }) },
        { weight: 1, arbitrary: fc.constant(null) }
      ),
      ports: optional(fc.constant(null)),
      "x-new": optional(extra)
    }),
    fc.nat(6)
  )
  .map(([object, turn]) => shuffled(object, turn))

const address = fc.record({
  ip: fc.oneof(fc.ipV4(), fc.ipV6()),
  nodeName: optional(fc.constantFrom(null, "n1", "n2")),
  "x-more": optional(extra)
})
const addresses = optional(fc.oneof(fc.array(address, { maxLength: 4 }), fc.constant(null)))
const anyEndpoints = fc.record({
  metadata,
  subsets: fc.array(
    fc.record({ addresses, ports: fc.constant([{ port: 1 }]), notReadyAddresses: addresses }),
    { maxLength: 4 }
  )
})

const kept = fc.infiniteStream(fc.boolean())
const picked = (stream: Stream, count: number) =>
  Array.from({ length: count }, () => stream.next().value as boolean)
type Stream = { next(): { value: unknown } }

const dropped = (flags: readonly boolean[]) => flags.flatMap((flag, i) => (flag ? [] : [i]))
const whims = fc.array(fc.nat(59), { maxLength: 12 })
const plain = (value: unknown): Obj => JSON.parse(JSON.stringify(value)) as Obj

describe("cut", () => {
  it("R103 gives what the parsed slice without those endpoints is, however it is written", () => {
    fc.assert(
      fc.property(anySlice, whims, kept, (object, style, stream) => {
        const found = sliceOf(written(object, style))
        const flags = picked(stream, found.endpoints.length)
        same(found.endpoints.length, (object["endpoints"] as Obj[] | null)?.length ?? 0)
        same(objectOf(cut(found, dropped(flags))), without(plain(object), flags))
      }),
      runs(10_000)
    )
  })

  it("gives what the parsed Endpoints object without those addresses is, without subsets that lost all", () => {
    fc.assert(
      fc.property(anyEndpoints, whims, kept, (object, style, stream) => {
        const found = endpointsOf(written(object, style))
        const flags = picked(stream, found.endpoints.length)
        same(objectOf(cut(found, dropped(flags))), without(plain(object), flags))
      }),
      runs(10_000)
    )
  })

  it("R89 gives the very same bytes where nothing is dropped", () => {
    fc.assert(
      fc.property(anySlice, whims, (object, style) => {
        const found = sliceOf(written(object, style))
        expect(cut(found, [])).toBe(found.bytes)
      }),
      runs(10_000)
    )
  })

  it("cuts any half of 60 endpoints", () => {
    const object = {
      metadata: { name: "a" },
      endpoints: Array.from({ length: 60 }, (_, i) => ({ nodeName: `n${i}` }))
    }
    for (const keep of [
      (i: number) => i % 2 === 0,
      (i: number) => i % 3 === 0,
      (i: number) => i > 30,
      (i: number) => i < 30
    ]) {
      const flags = object.endpoints.map((_, i) => keep(i))
      expect(objectOf(cut(sliceOf(object), dropped(flags)))).toEqual(without(object, flags))
    }
  })

  it("P14 leaves the bytes that it was given as they were", () => {
    const found = sliceOf({ metadata: { name: "a" }, endpoints: [{ nodeName: "n1" }, {}] })
    const before = [...found.bytes]
    cut(found, [0])
    expect([...found.bytes]).toEqual(before)
  })

  it("R103 leaves numbers that no float holds, and escapes, as they are written", () => {
    const text = `{"metadata":{"name":"a","generation":12345678901234567890},"endpoints":[{"x":1.10,"nodeName":"n1"}, {"y":1e400} ],"z":"\\u00e9\\/"}`
    expect(textOf(cut(sliceOf(text), [0]))).toBe(
      `{"metadata":{"name":"a","generation":12345678901234567890},"endpoints":[{"y":1e400} ],"z":"\\u00e9\\/"}`
    )
  })

  it("R105 leaves an empty list of a slice that is trimmed to nothing, and the rest as it is", () => {
    const object = {
      metadata: { name: "a", uid: "u", labels: { a: "b" } },
      addressType: "IPv4",
      endpoints: [{ nodeName: "n1" }, { nodeName: "n2" }],
      ports: [{ port: 80, protocol: "TCP" }]
    }
    expect(objectOf(cut(sliceOf(object), [0, 1]))).toEqual({ ...object, endpoints: [] })
  })

  it("takes the last of fields that are written twice, as clients do", () => {
    const text = `{"metadata":{"name":"x"},"metadata":{"name":"a"},"endpoints":[{"nodeName":"n1"}],"endpoints":[{"nodeName":"n2","nodeName":"n3"},{}]}`
    const found = sliceOf(text)
    expect([found.name, found.endpoints.map(({ node }) => node)]).toEqual(["a", ["n3", undefined]])
    expect(objectOf(cut(found, [0]))).toEqual({ metadata: { name: "a" }, endpoints: [{}] })
  })
})

describe("render", () => {
  const stamp = { revision: "7", kind: "EndpointSlice", apiVersion: "discovery.k8s.io/v1" }

  it("R131 differs from the cut slice in revision alone, and has kind and apiVersion", () => {
    fc.assert(
      fc.property(anySlice, whims, kept, (object, style, stream) => {
        const found = sliceOf(written(object, style))
        const flags = picked(stream, found.endpoints.length)
        const shown = { slice: found, dropped: dropped(flags), local: undefined }
        const wanted = without(plain(object), flags)
        same(objectOf(render(shown, stamp)), {
          ...wanted,
          kind: "EndpointSlice",
          apiVersion: "discovery.k8s.io/v1",
          metadata: { ...(wanted["metadata"] as Obj), resourceVersion: "7" }
        })
      }),
      runs(10_000)
    )
  })

  it("R129 stamps an object of any kind", () => {
    const found = sound(item(bytesOf(`{ "metadata" : { "name":"a" } , "spec":{"clusterIP":"None"}}`), asIs))
    expect(found.clusterIP).toBe("None")
    expect(objectOf(stamped(found, { revision: "9", kind: "Service", apiVersion: "v1" }))).toEqual({
      kind: "Service",
      apiVersion: "v1",
      metadata: { name: "a", resourceVersion: "9" },
      spec: { clusterIP: "None" }
    })
  })
})

describe("sameShown", () => {
  const shown = (object: unknown, gone: readonly number[]) => ({
    slice: sliceOf(object),
    dropped: gone,
    local: undefined
  })
  const with2 = (revision: string, node: string) => ({
    metadata: { name: "a", resourceVersion: revision },
    endpoints: [{ nodeName: "n1" }, { nodeName: node }]
  })

  it("sees no difference in a revision of upstream's, nor in endpoints that are dropped", () => {
    expect(sameShown(shown(with2("1", "n2"), [1]), shown(with2("222", "n3"), [1]))).toBe(true)
  })

  it("sees a difference in endpoints that are shown", () => {
    expect(sameShown(shown(with2("1", "n2"), []), shown(with2("1", "n3"), []))).toBe(false)
    expect(sameShown(shown(with2("1", "n2"), [1]), shown(with2("1", "n2"), [0]))).toBe(false)
  })
})
