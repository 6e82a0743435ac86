import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { differences, ownedTree, wantedTree } from "../src/core/fields.ts"
import { anyApplied, MANAGER } from "./applied.ts"

const RUNS = { numRuns: 10_000 }

describe("ownedTree", () => {
  it("equals the wanted tree right after the apply, whatever the server respelled, dropped or filled in", () => {
    fc.assert(
      fc.property(anyApplied, ({ kind, sent, live }) => {
        expect(differences(wantedTree(kind, sent), ownedTree(kind, live, MANAGER))).toEqual([])
      }),
      RUNS
    )
  })
})
