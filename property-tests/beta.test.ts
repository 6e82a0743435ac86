/** Slices in the other version of their API, on bytes, against a conversion of parsed objects. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { inVersion, V1, V1BETA1 } from "../src/core/beta.ts"
import { same } from "./given.ts"
import type { Obj } from "./naive.ts"
import { runs } from "./runs.ts"
import { bytesOf, objectOf, textOf, written } from "./sliced.ts"

const HOST = "kubernetes.io/hostname"
const ZONE = "topology.kubernetes.io/zone"

const others = fc.dictionary(fc.constantFrom("rack", "é", "__x"), fc.constantFrom("r1", "", "é"), {
  maxKeys: 2
})
const common = {
  "x-before": fc.option(fc.jsonValue({ maxDepth: 1 }), { nil: undefined }),
  addresses: fc.constant(["10.0.0.1"]),
  nodeName: fc.option(fc.constantFrom("n1", "é"), { nil: undefined }),
  "x-after": fc.option(fc.constantFrom("},{", 1e300, null), { nil: undefined })
}
const v1Endpoint = fc.record({
  ...common,
  zone: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
  deprecatedTopology: fc.option(others, { nil: undefined })
})
const betaEndpoint = fc
  .tuple(
    fc.record(common),
    others,
    fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
    fc.option(fc.constant("h1"), { nil: undefined })
  )
  .map(([endpoint, rest, zone, host]) => ({
    ...endpoint,
    topology: {
      ...rest,
      ...(zone !== undefined && { [ZONE]: zone }),
      ...(host !== undefined && { [HOST]: host })
    }
  }))
const turned = (object: Obj, turn: number): Obj => {
  const fields = Object.entries(object)
  return Object.fromEntries([...fields.slice(turn % fields.length), ...fields.slice(0, turn % fields.length)])
}
const sliceOf = (apiVersion: string, endpoint: fc.Arbitrary<Obj>) =>
  fc
    .tuple(fc.array(fc.tuple(endpoint, fc.nat(5)), { maxLength: 3 }), fc.array(fc.nat(59), { maxLength: 9 }))
    .map(([endpoints, whims]) => {
      const object = plain({
        apiVersion,
        kind: "EndpointSlice",
        metadata: { name: "a" },
        endpoints: endpoints.map(([each, turn]) => turned(plain(each), turn))
      })
      return { object, bytes: bytesOf(written(object, whims)) }
    })
const plain = (value: Obj): Obj => JSON.parse(JSON.stringify(value)) as Obj
const endpointsOf = (object: Obj): readonly Obj[] => object["endpoints"] as readonly Obj[]

describe("inVersion", () => {
  it("R88 gives v1beta1 the topology that v1 tells in fields of its own", () => {
    fc.assert(
      fc.property(sliceOf(V1, v1Endpoint), ({ object, bytes }) => {
        const wanted = endpointsOf(object).map(({ zone, deprecatedTopology, ...rest }) => {
          const topology = {
            ...((deprecatedTopology ?? {}) as Obj),
            ...(rest["nodeName"] !== undefined && { [HOST]: rest["nodeName"] }),
            ...(zone !== undefined && { [ZONE]: zone })
          }
          return Object.keys(topology).length === 0 ? rest : { ...rest, topology }
        })
        same(objectOf(inVersion(bytes, V1BETA1)), {
          ...object,
          apiVersion: V1BETA1,
          endpoints: wanted
        })
      }),
      runs(10_000)
    )
  })

  it("R88 gives v1 the zone that v1beta1 has in its topology, and keeps the host name of an endpoint without a node", () => {
    fc.assert(
      fc.property(sliceOf(V1BETA1, betaEndpoint), ({ object, bytes }) => {
        const wanted = endpointsOf(object).map(({ topology, ...rest }) => {
          const { [ZONE]: zone, [HOST]: host, ...left } = topology as Obj
          const stays =
            rest["nodeName"] === undefined && host !== undefined ? { ...left, [HOST]: host } : left
          return {
            ...rest,
            ...(zone !== undefined && { zone }),
            ...(Object.keys(stays).length > 0 && { deprecatedTopology: stays })
          }
        })
        same(objectOf(inVersion(bytes, V1)), { ...object, apiVersion: V1, endpoints: wanted })
      }),
      runs(10_000)
    )
  })

  it("gives the very same bytes in the version that they are in, and where they can't be read", () => {
    const bytes = bytesOf({ apiVersion: V1, endpoints: [{ zone: "a" }] })
    expect(inVersion(bytes, V1)).toBe(bytes)
    for (const broken of ["", "{", '{"endpoints":7}', '{"kind":"EndpointSlice"}']) {
      const given = bytesOf(broken)
      expect(inVersion(given, V1BETA1)).toBe(given)
    }
  })

  it("R103 leaves numbers that no float holds as they are written", () => {
    const text = `{"apiVersion":"${V1}","endpoints":[{"x":1.10,"zone":"a","y":1e400}]}`
    expect(textOf(inVersion(bytesOf(text), V1BETA1))).toBe(
      `{"apiVersion":"${V1BETA1}","endpoints":[{"topology":{"${ZONE}":"a"},"x":1.10,"y":1e400}]}`
    )
  })
})
