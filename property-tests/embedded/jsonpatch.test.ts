import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { jsonPatched, patchProblem } from "../../src/embedded/jsonpatch.ts"

const DOCUMENT = {
  metadata: { labels: { a: "1", "x/y": "2", "t~": "3" } },
  list: [{ n: 1 }, { n: 2 }],
  nil: null
}

const patched = (...operations: readonly object[]): unknown => jsonPatched(DOCUMENT, operations)

interface Case {
  readonly shows: string
  readonly operation: object
  /** undefined where the server refuses */
  readonly gives: object | undefined
}

const labels = (given: object): object => ({ ...DOCUMENT, metadata: { labels: given } })
const list = (...items: readonly unknown[]): object => ({ ...DOCUMENT, list: items })
const [ONE, TWO, NEW] = [{ n: 1 }, { n: 2 }, { n: 3 }]

// Each answered so by a real API server (1.37).
const CASES: readonly Case[] = [
  {
    shows: "add sets a key",
    operation: { op: "add", path: "/nil", value: 1 },
    gives: { ...DOCUMENT, nil: 1 }
  },
  { shows: "add appends", operation: { op: "add", path: "/list/-", value: NEW }, gives: list(ONE, TWO, NEW) },
  { shows: "add inserts", operation: { op: "add", path: "/list/1", value: NEW }, gives: list(ONE, NEW, TWO) },
  {
    shows: "add counts from behind",
    operation: { op: "add", path: "/list/-1", value: NEW },
    gives: list(ONE, TWO, NEW)
  },
  { shows: "add beyond the end", operation: { op: "add", path: "/list/3", value: NEW }, gives: undefined },
  { shows: "add at no index", operation: { op: "add", path: "/list/x", value: NEW }, gives: undefined },
  { shows: "add below what isn't there", operation: { op: "add", path: "/a/b", value: 1 }, gives: undefined },
  {
    shows: "add below a text",
    operation: { op: "add", path: "/metadata/labels/a/b", value: 1 },
    gives: undefined
  },
  { shows: "a path without a slash", operation: { op: "add", path: "nil", value: 1 }, gives: undefined },
  {
    shows: "replace of an item",
    operation: { op: "replace", path: "/list/0", value: NEW },
    gives: list(NEW, TWO)
  },
  {
    shows: "replace of a key that isn't there",
    operation: { op: "replace", path: "/more", value: 1 },
    gives: { ...DOCUMENT, more: 1 }
  },
  {
    shows: "replace of no item",
    operation: { op: "replace", path: "/list/2", value: NEW },
    gives: undefined
  },
  {
    shows: "replace of everything",
    operation: { op: "replace", path: "", value: { b: 1 } },
    gives: { b: 1 }
  },
  {
    shows: "remove of an escaped key",
    operation: { op: "remove", path: "/metadata/labels/x~1y" },
    gives: labels({ a: "1", "t~": "3" })
  },
  {
    shows: "remove of a key with a tilde",
    operation: { op: "remove", path: "/metadata/labels/t~0" },
    gives: labels({ a: "1", "x/y": "2" })
  },
  { shows: "remove of an item", operation: { op: "remove", path: "/list/0" }, gives: list(TWO) },
  { shows: "remove of what isn't there", operation: { op: "remove", path: "/x" }, gives: undefined },
  { shows: "remove of everything", operation: { op: "remove", path: "" }, gives: undefined },
  { shows: "test of the same", operation: { op: "test", path: "/list/0", value: ONE }, gives: DOCUMENT },
  { shows: "test of another", operation: { op: "test", path: "/list/0", value: TWO }, gives: undefined },
  { shows: "test for null of no key", operation: { op: "test", path: "/x", value: null }, gives: DOCUMENT },
  {
    shows: "test for null below no key",
    operation: { op: "test", path: "/x/y", value: null },
    gives: undefined
  },
  { shows: "move", operation: { op: "move", from: "/list/0", path: "/list/1" }, gives: list(TWO, ONE) },
  { shows: "move from nowhere", operation: { op: "move", path: "/x" }, gives: undefined },
  {
    shows: "copy",
    operation: { op: "copy", from: "/list/0", path: "/nil" },
    gives: { ...DOCUMENT, nil: ONE }
  },
  {
    shows: "copy of a key that isn't there",
    operation: { op: "copy", from: "/x", path: "/y" },
    gives: { ...DOCUMENT, y: null }
  },
  { shows: "an unknown operation", operation: { op: "mend", path: "/list" }, gives: undefined },
  { shows: "no operation", operation: {}, gives: undefined }
]

describe("jsonPatched", () => {
  it.each(CASES)("answers $shows as the API server does", ({ operation, gives }) => {
    expect(patched(operation)).toEqual(gives)
  })

  it("does nothing where one operation of several can't be done", () => {
    expect(patched({ op: "remove", path: "/list" }, { op: "remove", path: "/list" })).toBeUndefined()
  })

  it("gives back what was added and removed again", () => {
    const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "a/b", "a~b", "~1"))
    const path = (name: string): string => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), key, fc.jsonValue(), (object, name, value) => {
        fc.pre(!Object.hasOwn(object, name))
        const added = jsonPatched(object, [{ op: "add", path: path(name), value }])
        const tested = jsonPatched(added, [{ op: "test", path: path(name), value }])
        expect(jsonPatched(tested, [{ op: "remove", path: path(name) }])).toEqual(object)
      }),
      { numRuns: 10_000 }
    )
  })

  it("P14: never writes to its arguments", () => {
    const frozen = fc.constantFrom(...CASES).map(({ operation }) => Object.freeze(operation))
    const before = JSON.stringify(DOCUMENT)
    fc.assert(
      fc.property(fc.array(frozen), (operations) => {
        jsonPatched(DOCUMENT, operations)
        expect(JSON.stringify(DOCUMENT)).toBe(before)
      })
    )
  })
})

describe("patchProblem", () => {
  it.each([
    [{}, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"],
    ["x", "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp"],
    [[1], "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"],
    [null, undefined],
    [[], undefined]
  ])("of %j is what the API server says", (body, problem) => {
    expect(patchProblem(body, true)).toBe(problem)
  })
})
