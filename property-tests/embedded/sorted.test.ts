import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Sorted from "../../src/embedded/sorted.ts"

const RUNS = { numRuns: 10_000 }

const keys = fc.integer({ min: 0, max: 400 })
const edits = fc.array(fc.tuple(fc.boolean(), keys), { maxLength: 30 })

/** Many keys first, in one go, so that leaves are full and split. */
const filled = fc.oneof(
  { weight: 9, arbitrary: fc.constant(3) },
  { weight: 1, arbitrary: fc.constantFrom(0, 128, 129, 300) }
)

describe("sorted", () => {
  it("holds what a map holds, in the order of its keys", () => {
    fc.assert(
      fc.property(filled, edits, (size, all) => {
        const { sorted, plain } = edited(size, all)
        expect([...Sorted.from(sorted, 0)]).toEqual(entries(plain))
        expect(sorted.size).toBe(plain.size)
      }),
      RUNS
    )
  })

  it("begins at any key", () => {
    fc.assert(
      fc.property(filled, edits, keys, (size, all, key) => {
        const { sorted, plain } = edited(size, all)
        const after = entries(plain).filter(([each]) => each >= key)
        expect([...Sorted.from(sorted, key)]).toEqual(after)
        expect(Sorted.count(sorted, key, 1000)).toBe(after.length)
        expect(Sorted.at(sorted, key)).toBe(plain.get(key))
        expect([...Sorted.from(Sorted.dropBelow(sorted, key), 0)]).toEqual(after)
      }),
      RUNS
    )
  })

  it("leaves earlier versions as they were", () => {
    fc.assert(
      fc.property(edits, edits, (first, second) => {
        const { sorted, plain } = edited(200, first)
        const before = entries(plain)
        second.reduce(edit, sorted)
        expect([...Sorted.from(sorted, 0)]).toEqual(before)
      }),
      { numRuns: 10_000 }
    )
  })
})

type Numbers = Sorted.Sorted<number, string>

const edit = (map: Numbers, [adds, key]: readonly [boolean, number]): Numbers =>
  adds ? Sorted.put(map, key, `value ${key}`) : Sorted.without(map, key)

const entries = (plain: ReadonlyMap<number, string>): readonly (readonly [number, string])[] =>
  [...plain].sort(([a], [b]) => a - b)

const edited = (
  size: number,
  all: readonly (readonly [boolean, number])[]
): { readonly sorted: Numbers; readonly plain: ReadonlyMap<number, string> } => {
  let sorted: Numbers = Sorted.none
  const plain = new Map<number, string>()
  const fill = Array.from({ length: size }, (_, key) => [true, key] as const)
  for (const [adds, key] of [...fill, ...all]) {
    sorted = edit(sorted, [adds, key])
    if (adds) plain.set(key, `value ${key}`)
    else plain.delete(key)
  }
  return { sorted, plain }
}
