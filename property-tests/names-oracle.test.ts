/** Names, judged by worlds whose pods are known from the start. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { explainName } from "../src/core/explain-name.ts"
import { names, type NamesInput } from "../src/core/names.ts"
import { Choice } from "./choice.ts"
import { frozen } from "./given.ts"
import { type Known, namedWorld, type NamedWorld } from "./names-oracle.ts"
import { runs } from "./runs.ts"

const world = (seed: number, order: number): NamedWorld => namedWorld(new Choice(seed), new Choice(order))
const given = ({ objects }: NamedWorld): NamesInput => frozen(objects) as unknown as NamesInput
const namesOf = (known: readonly Known[]) =>
  known
    .filter(({ from }) => from === "Unit")
    .map(({ name, addresses }) => ({ name, addresses }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))

const seeds = [fc.integer(), fc.integer()] as const

describe("names", () => {
  it("R141 R142 R143 R148 R149 R150 R151 R152 are those that the node's units give", () => {
    fc.assert(
      fc.property(...seeds, (seed, order) => {
        const made = world(seed, order)
        expect(names(given(made))).toEqual(namesOf(made.known))
      }),
      runs(10_000)
    )
  })

  it("do not depend on the order of anything", () => {
    fc.assert(
      fc.property(...seeds, fc.integer(), (seed, order, other) => {
        expect(names(given(world(seed, other)))).toEqual(names(given(world(seed, order))))
      }),
      runs(1000)
    )
  })
})

describe("explainName", () => {
  it("gives for every name what names gives, and else what pods bear it", () => {
    fc.assert(
      fc.property(...seeds, (seed, order) => {
        const made = world(seed, order)
        const o = given(made)
        const asked = new Choice(order).some(made.known, 0).slice(0, 3)
        for (const { name, from, addresses } of asked) {
          const answer = explainName({ ...o, name, namespace: "default" })
          expect({ name: answer.name, from: answer.from, addresses: answer.addresses }).toEqual({
            name,
            from,
            addresses
          })
        }
      }),
      runs(10_000)
    )
  })
})
