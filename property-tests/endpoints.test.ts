/** One object in two forms, parsed and as bytes: what is judged of it is the same, and so is what is left of it. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cut } from "../src/core/cut.ts"
import {
  type Endpoints,
  type EndpointSlice,
  isEndpoints,
  sighted,
  trimmedEndpoints,
  trimmedSlice
} from "../src/core/endpoints.ts"
import { endpoints, slice } from "../src/core/slice.ts"
import { same } from "./given.ts"
import { type Obj, without } from "./naive.ts"
import { runs } from "./runs.ts"
import { asIs, bytesOf, objectOf, sound, written } from "./sliced.ts"

const optional = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { freq: 3, nil: undefined })
const nullable = <A>(arbitrary: fc.Arbitrary<A>) => optional(fc.option(arbitrary, { freq: 6, nil: null }))
const node = nullable(fc.constantFrom("n1", "n2", "", "é"))
const host = nullable(
  fc.record({ "kubernetes.io/hostname": nullable(fc.constantFrom("h1", "")), zone: fc.constant("a") })
)
const endpoint = fc.record({
  addresses: nullable(fc.constantFrom(["10.0.0.1"], ["10.0.0.2", "10.0.0.3"])),
  conditions: nullable(fc.record({ ready: nullable(fc.boolean()), serving: nullable(fc.boolean()) })),
  nodeName: node,
  topology: host,
  deprecatedTopology: host
})
const labels = nullable(
  fc.record({
    "kubernetes.io/service-name": nullable(fc.constantFrom("s1", "")),
    "service.kubernetes.io/headless": nullable(fc.constantFrom("", "x"))
  })
)
const metadata = fc.record({
  name: fc.constantFrom("a", "s1"),
  namespace: nullable(fc.constantFrom("default", "")),
  uid: fc.constant("u"),
  labels
})
const address = fc.record({ ip: fc.constantFrom("10.0.0.1", "fd00::1"), nodeName: node })
const subset = fc.record({
  notReadyAddresses: nullable(fc.array(address, { maxLength: 2 })),
  addresses: nullable(fc.array(address, { maxLength: 2 })),
  ports: optional(fc.constant([{ port: 80 }]))
})
const anySlice = fc.record({
  kind: fc.constant("EndpointSlice"),
  metadata,
  addressType: optional(fc.constantFrom("IPv4", "IPv6", "FQDN")),
  endpoints: nullable(fc.array(endpoint, { maxLength: 3 }))
})
const anyEndpoints = fc.record({
  kind: fc.constant("Endpoints"),
  metadata,
  subsets: nullable(fc.array(subset, { maxLength: 3 }))
})

const plain = <A>(value: unknown): A => JSON.parse(JSON.stringify(value)) as A
/** What decides of an endpoint. */
const judged = (each: object) => {
  const { node: on, hostname, family, readiness } = each as { readonly [field: string]: unknown }
  return { on, hostname: on === undefined ? hostname : undefined, family, readiness }
}

describe("sighted", () => {
  it("R88 R98 R99 R104 sees in parsed objects what the reader of bytes sees", () => {
    fc.assert(
      fc.property(fc.oneof(anySlice, anyEndpoints), fc.array(fc.nat(59)), (given, whims) => {
        const object = plain<EndpointSlice | Endpoints>(given)
        const isSlice = object.kind === "EndpointSlice"
        const bytes = bytesOf(written(object, whims))
        const index = sound(isSlice ? slice(bytes, asIs) : endpoints(bytes, asIs))
        const seen = sighted(object)
        const facts = ({ key, service, headless }: typeof seen | typeof index) => ({ key, service, headless })
        same(facts(seen), facts(index))
        same([seen.namespace, seen.family], [index.namespace ?? "", index.family])
        const inOrder = (all: readonly object[]) => all.map((each) => JSON.stringify(judged(each))).toSorted()
        same(inOrder(seen.endpoints), inOrder(index.endpoints))
        if (isSlice) same(seen.endpoints.map(judged), index.endpoints.map(judged))
      }),
      runs(10_000)
    )
  })

  it("R104 counts an entry that is no object as an endpoint without a node, and never throws", () => {
    const odd = plain<EndpointSlice>({
      metadata: { name: "a" },
      endpoints: [null, 7, "x", [], { conditions: "no", topology: [], nodeName: 7 }]
    })
    expect(sighted(odd).endpoints.map((each) => each.node)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      "7"
    ])
  })
})

describe("isEndpoints", () => {
  it("goes by the kind, and without one by what there is", () => {
    const of = (given: Obj) => isEndpoints(plain<EndpointSlice>({ metadata: { name: "a" }, ...given }))
    expect([
      of({ kind: "Endpoints" }),
      of({ subsets: [] }),
      of({ kind: "EndpointSlice", subsets: [] }),
      of({ endpoints: [] }),
      of({})
    ]).toEqual([true, true, false, false, false])
  })
})

describe("what is left", () => {
  it("R103 R105 is the same of a parsed slice as of its bytes", () => {
    fc.assert(
      fc.property(anySlice, fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), (given, picks) => {
        const object = plain<EndpointSlice>(given)
        const count = object.endpoints?.length ?? 0
        const kept = picks.slice(0, count)
        const left = trimmedSlice(object, kept)
        const gone = kept.flatMap((stays, i) => (stays ? [] : [i]))
        same(objectOf(cut(sound(slice(bytesOf(object), asIs)), gone)), left)
        expect(left === object).toBe(gone.length === 0)
      }),
      runs(10_000)
    )
  })

  it("R86 R103 is of Endpoints what the naive answer leaves: no subset that lost all of its addresses", () => {
    const ordered = subset.map(({ addresses, notReadyAddresses, ports }) => ({
      addresses,
      notReadyAddresses,
      ports
    }))
    fc.assert(
      fc.property(
        fc.array(ordered, { maxLength: 3 }),
        fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
        (subsets, picks) => {
          const object = plain<Endpoints>({ kind: "Endpoints", metadata: { name: "a" }, subsets })
          const kept = picks.slice(0, sighted(object).endpoints.length)
          same(trimmedEndpoints(object, kept), without(object as unknown as Obj, kept))
        }
      ),
      runs(10_000)
    )
  })
})
