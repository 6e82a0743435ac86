/** The reader of bytes against what JSON.parse takes. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { reading } from "../src/core/scan.ts"
import { RUNS } from "./given.ts"
import { bytesOf, isMalformed, written } from "./sliced.ts"

const skipped = (bytes: Uint8Array) => reading(bytes, (reader) => reader.range())

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe("reading", () => {
  it("steps over every JSON text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.nat(59)), (value, whims) => {
        const range = skipped(bytesOf(written(value, whims)))
        expect(range).not.toHaveProperty("_tag")
      }),
      RUNS
    )
  })

  it("P11 takes exactly the texts that JSON.parse takes, of JSON that was damaged", () => {
    const damage = fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\u0-1e.+ntf \u0001é'.split("")), fc.nat(2))
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.array(fc.nat(59)),
        fc.array(damage, { maxLength: 3 }),
        (value, whims, hits) => {
          let text = written(value, whims)
          for (const [where, put, cut] of hits) {
            const at = where % (text.length + 1)
            text = text.slice(0, at) + put + text.slice(at + cut)
          }
          // half a pair, cut in two by the damage, becomes U+FFFD in bytes: still JSON
          const read = skipped(bytesOf(text))
          expect("_tag" in read).toBe(!parses(text))
        }
      ),
      RUNS
    )
  })

  it("gives the strings that JSON.parse gives, keys included", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: "binary" }), fc.string({ unit: "binary", maxLength: 20 })),
        fc.array(fc.nat(59)),
        (map, whims) => {
          const read = reading(bytesOf(written(map, whims)), (reader) => {
            const found = new Map<string, string | undefined>()
            reader.object("it", (key) => found.set(key, reader.text(key)))
            return found
          })
          expect(read).toEqual(new Map(Object.entries(map)))
        }
      ),
      RUNS
    )
  })

  it("reads long strings of wide characters", () => {
    for (const text of ["é".repeat(5000), "a" + "語".repeat(5000), "ab" + "😀".repeat(3000)])
      expect(reading(bytesOf(text === "" ? "" : JSON.stringify(text)), (reader) => reader.text("it"))).toBe(
        text
      )
  })

  it("gives each short text as it is, whatever was read before", () => {
    const letters = Array.from("abcdefghijklmnopqrstuvwxyz")
    for (const a of letters)
      for (const b of letters)
        for (const c of letters)
          for (const each of [a + b + c, a + b])
            expect(reading(bytesOf(`"${each}" `), (reader) => reader.text("it"))).toBe(each)
  })

  it("P11 never throws, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        skipped(bytes)
      }),
      RUNS
    )
  })

  it("P11 ends at nesting that no stack holds", () => {
    const deep = skipped(bytesOf("[".repeat(100_000)))
    expect(deep).toEqual({ _tag: "Malformed", message: "nested deeper than 500 levels" })
    expect(isMalformed(skipped(bytesOf(`${"[".repeat(500)}${"]".repeat(500)}`)))).toBe(false)
  })
})
