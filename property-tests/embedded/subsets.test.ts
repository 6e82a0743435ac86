import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Fnv } from "../../src/embedded/fnv.ts"
import { subsets, type Address, type Offer, type Port, type Subset } from "../../src/embedded/subsets.ts"
// Subsets of one address each, and what Kubernetes 1.37's own RepackSubsets made of them.
import recorded from "./repacked.json" with { type: "json" }

describe("subsets", () => {
  it.each((recorded as readonly Repacked[]).map((each, index) => [index, each] as const))(
    "are those that Kubernetes makes of the same addresses (%i)",
    (_, { given, repacked }) => {
      expect(subsets(given.flatMap(offersOf))).toEqual(repacked)
    }
  )

  it("do not depend on the order of the offers", () => {
    fc.assert(
      fc.property(offers, fc.integer(), (all, seed) => {
        expect(subsets(shuffled(all, seed))).toEqual(subsets(all))
      }),
      { numRuns: 10_000 }
    )
  })

  it("say of each address and port what was offered", () => {
    fc.assert(
      fc.property(offers, (all) => {
        expect(told(subsets(all))).toEqual(told(all.map(alone)))
      }),
      { numRuns: 10_000 }
    )
  })

  it("are as few as can be: no two of them have the same addresses", () => {
    fc.assert(
      fc.property(offers, (all) => {
        const addresses = subsets(all).map(({ addresses: ready, notReadyAddresses: unready }) =>
          JSON.stringify([ready, unready])
        )
        expect(new Set(addresses).size).toBe(addresses.length)
      }),
      { numRuns: 10_000 }
    )
  })
})

describe("Fnv", () => {
  // from the tests of Go's hash/fnv
  it.each([
    ["", "6c62272e07bb014262b821756295c58d"],
    ["a", "d228cb696f1a8caf78912b704e4a8964"],
    ["ab", "08809544bbab1be95aa0733055b69a62"],
    ["abc", "a68d622cec8b5822836dbc7977af7f3b"]
  ])("of %j is the 128 bits that Go has", (text, hash) => {
    expect(new Fnv().add(text).hex()).toBe(hash)
  })
})

interface Repacked {
  readonly given: readonly Subset[]
  readonly repacked: readonly Subset[]
}

/** Each of the recorded subsets has one address, and a port or none. */
const offersOf = ({ addresses, notReadyAddresses, ports }: Subset): readonly Offer[] =>
  [...(addresses ?? []), ...(notReadyAddresses ?? [])].map((address) => ({
    address,
    port: ports?.[0],
    ready: addresses !== undefined
  }))

const address = (host: number, pod: number): Address => ({
  ip: `10.0.0.${host}`,
  nodeName: `n${host % 2}`,
  targetRef: { kind: "Pod", namespace: "ns", name: `p${pod}`, uid: `u${pod}` }
})

const port = fc.constantFrom<Port>(
  { name: "a", port: 80, protocol: "TCP" },
  { name: "b", port: 80, protocol: "UDP" },
  { name: "c", port: 81, protocol: "TCP", appProtocol: "x" }
)

/** A pod is ready or not, at whatever port; a Service without ports has none anywhere. */
const offers: fc.Arbitrary<readonly Offer[]> = fc
  .oneof({ weight: 9, arbitrary: port }, { weight: 1, arbitrary: fc.constant(undefined) })
  .chain((first) =>
    fc.array(fc.record({ pod: fc.nat(5), port: first === undefined ? fc.constant(first) : port }), {
      minLength: 1,
      maxLength: 8
    })
  )
  .chain((all) =>
    fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }).map((ready) =>
      all.map(({ pod, port: at }): Offer => ({
        // two pods may have one address, as pods of the host's network do
        address: address(Math.floor(pod / 2), pod),
        port: at,
        ready: ready[pod] === true
      }))
    )
  )

const alone = ({ address: of, port: at, ready }: Offer): Subset => ({
  ...(ready ? { addresses: [of] } : { notReadyAddresses: [of] }),
  ...(at === undefined ? {} : { ports: [at] })
})

/** `address port ready`, each once. */
const told = (all: readonly Subset[]): readonly string[] =>
  [
    ...new Set(
      all.flatMap(({ addresses, notReadyAddresses, ports }) =>
        [
          ...(addresses ?? []).map((each) => [each, true] as const),
          ...(notReadyAddresses ?? []).map((each) => [each, false] as const)
        ].flatMap(([each, ready]) => {
          const at: readonly (Port | null)[] = ports ?? [null]
          return at.map((one) => JSON.stringify([each, one, ready]))
        })
      )
    )
  ].toSorted()

const shuffled = <T>(all: readonly T[], seed: number): readonly T[] =>
  all
    .map((each, index) => ({ each, rank: Math.imul(index + 1, seed | 1) >>> 0 }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ each }) => each)
