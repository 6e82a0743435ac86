/** Bytes as texts against the platform's decoder, and bytes with edits against edits of a list. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { asciiBytes, asciiJson, type Edit, edited, put, sameEdited, text } from "../src/core/bytes.ts"
import { same } from "./given.ts"
import { runs } from "./runs.ts"
import { bytesOf, textOf } from "./sliced.ts"

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** A text's bytes, some of them overwritten. */
const damaged = fc
  .tuple(
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0x70, max: 0xff })), { maxLength: 4 }),
    fc.constantFrom(1, 1, 1, 200)
  )
  .map(([given, hits, times]) => {
    const bytes = bytesOf(`"${given.repeat(times)}"`)
    for (const [where, byte] of hits) bytes[where % bytes.length] = byte
    return bytes
  })

/** Bytes, and edits of them that are sorted and apart from each other. */
const anyEdits = fc
  .tuple(
    fc.uint8Array({ maxLength: 20 }),
    fc.array(fc.tuple(fc.nat(5), fc.nat(3), fc.constantFrom("", "a", "xyz")), { maxLength: 4 })
  )
  .map(([bytes, cuts]) => {
    const edits: Edit[] = []
    let at = 0
    for (const [gap, length, instead] of cuts) {
      const from = at + gap
      if (from + length > bytes.length) break
      edits.push({ from, to: from + length, text: instead })
      at = from + length
    }
    return { bytes, edits }
  })

/** One byte after the other, from the last edit to the first. */
const naively = ({ bytes, edits }: { readonly bytes: Uint8Array; readonly edits: readonly Edit[] }) => {
  const list = [...bytes]
  for (const { from, to, text: instead } of edits.toReversed())
    list.splice(from, to - from, ...Array.from(instead, (letter) => letter.charCodeAt(0)))
  return list
}

describe("text", () => {
  it("P11 reads damaged UTF-8 as TextDecoder does, but for how many U+FFFD stand for a broken run", () => {
    const short = (given: string): string => given.replace(/\ufffd+/g, "\ufffd")
    fc.assert(
      fc.property(damaged, (bytes) => {
        expect(short(text(bytes, 0, bytes.length))).toBe(short(decoder.decode(bytes)))
      }),
      runs(10_000)
    )
  })

  it("P11 reads sound UTF-8 exactly, from anywhere to anywhere", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 20 }),
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.constantFrom(1, 1, 100),
        (before, given, times) => {
          const sound = given.repeat(times).replace(/[\ud800-\udfff]/gu, "?")
          const [head, body] = [bytesOf(before), new TextEncoder().encode(sound)]
          const bytes = Uint8Array.from([...head, ...body, ...head])
          expect(text(bytes, head.length, head.length + body.length)).toBe(sound)
        }
      ),
      runs(10_000)
    )
  })
})

describe("edited", () => {
  it("makes the edits, and puts them into a sink as the same bytes", () => {
    fc.assert(
      fc.property(anyEdits, (given) => {
        const wanted = naively(given)
        same([...edited(given.bytes, given.edits)], wanted)
        const sunk: number[] = []
        put(given.bytes, given.edits, {
          bytes: (from, start, end) => void sunk.push(...from.subarray(start, end)),
          text: (instead) => void sunk.push(...asciiBytes(instead))
        })
        same(sunk, wanted)
      }),
      runs(10_000)
    )
  })

  it("gives the very same bytes where there is no edit", () => {
    const bytes = bytesOf("abc")
    expect(edited(bytes, [])).toBe(bytes)
  })

  it("R127 finds edited bytes the same exactly where what they become is", () => {
    // The second is the first with its edits made, at times with one byte changed, or any other.
    const pair = fc.tuple(anyEdits, anyEdits, fc.nat(), fc.constantFrom("made", "changed", "longer", "other"))
    fc.assert(
      fc.property(pair, ([a, other, where, how]) => {
        const made = naively(a)
        if (how === "changed" && made.length > 0)
          made[where % made.length] = (made[where % made.length] ?? 0) ^ 1
        if (how === "longer") made.push(0)
        const b = how === "other" ? other : { bytes: Uint8Array.from(made), edits: [] }
        const equal = JSON.stringify(naively(a)) === JSON.stringify(naively(b))
        expect(sameEdited(a.bytes, a.edits, b.bytes, b.edits)).toBe(equal)
        expect(sameEdited(b.bytes, b.edits, a.bytes, a.edits)).toBe(equal)
      }),
      runs(10_000)
    )
  })
})

describe("asciiJson", () => {
  it("writes ASCII alone, which reads as what was given", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = asciiJson(value)
        expect(/^[\0-\x7f]*$/.test(json)).toBe(true)
        same(JSON.parse(json), JSON.parse(JSON.stringify(value)))
        expect(textOf(asciiBytes(json))).toBe(json)
      }),
      runs(10_000)
    )
  })
})
