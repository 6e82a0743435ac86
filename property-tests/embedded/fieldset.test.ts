import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Fields from "../../src/embedded/fieldset.ts"
import type { FieldSet, Path } from "../../src/embedded/fieldset.ts"

const RUNS = { numRuns: 10_000 }

const element = fc.constantFrom(
  "f:a",
  "f:b",
  'k:{"name":"x"}',
  'k:{"name":"y","port":80}',
  'v:"a"',
  "v:3",
  "i:0"
)
const path = fc.array(element, { minLength: 1, maxLength: 3 })
const paths = fc.array(path, { maxLength: 8 })

describe("fieldset", () => {
  it("adds, shares and takes away as sets of paths do", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [Fields.ofPaths(...left), Fields.ofPaths(...right)]
        const [x, y] = [texts(left), texts(right)]
        expect(members(Fields.union(a, b))).toEqual(new Set([...x, ...y]))
        expect(members(Fields.intersection(a, b))).toEqual(new Set([...x].filter((each) => y.has(each))))
        expect(members(Fields.difference(a, b))).toEqual(new Set([...x].filter((each) => !y.has(each))))
      }),
      RUNS
    )
  })

  it("takes away what lies below, too, when asked to", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const kept = left.filter((each) => !right.some((other) => begins(each, other)))
        expect(members(Fields.without(Fields.ofPaths(...left), Fields.ofPaths(...right)))).toEqual(
          texts(kept)
        )
      }),
      RUNS
    )
  })

  it("is read again as it was written", () => {
    fc.assert(
      fc.property(paths, (all) => {
        const set = Fields.ofPaths(...all)
        const written = JSON.parse(JSON.stringify(Fields.encode(set))) as Parameters<typeof Fields.decode>[0]
        const read = Fields.decode(written) ?? Fields.nothing
        expect(members(read)).toEqual(texts(all))
        expect(Fields.equal(read, set)).toBe(true)
      }),
      RUNS
    )
  })

  it("writes fields before keys before values before places", () => {
    const set = Fields.ofPaths(
      ["i:0"],
      ["v:3"],
      ['k:{"name":"y"}'],
      ['k:{"name":"x"}'],
      ["f:b"],
      ["f:a"],
      ["f:a", "f:c"]
    )
    expect(JSON.stringify(Fields.encode(set))).toBe(
      JSON.stringify({
        "f:a": { ".": {}, "f:c": {} },
        "f:b": {},
        'k:{"name":"x"}': {},
        'k:{"name":"y"}': {},
        "v:3": {},
        "i:0": {}
      })
    )
  })

  it("reads keys in any order, and refuses what is no path element", () => {
    const set = Fields.decode({ 'k:{"port":80,"name":"y"}': {} }) ?? Fields.nothing
    expect(members(set)).toEqual(new Set(['["k:{\\"name\\":\\"y\\",\\"port\\":80}"]']))
    expect(Fields.decode({ "x:y": {} })).toBeUndefined()
    expect(Fields.decode({ "k:not json": {} })).toBeUndefined()
  })

  it("shows a path as messages do", () => {
    expect(Fields.shown(["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name"])).toBe(
      '.spec.ports[port=80,protocol="TCP"].name'
    )
    expect(Fields.shown(["f:finalizers", 'v:"x.io/y"'])).toBe('.finalizers[="x.io/y"]')
  })
})

const texts = (all: readonly Path[]): Set<string> => new Set(all.map((each) => JSON.stringify(each)))
const members = (set: FieldSet): Set<string> => texts([...Fields.paths(set)])
const begins = (whole: Path, start: Path): boolean => start.every((each, index) => each === whole[index])
