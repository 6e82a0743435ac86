/** Pages of a list and lines of a watch taken apart, against what JSON.parse says of them. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { line, page, who } from "../src/core/arrival.ts"
import { same } from "./given.ts"
import type { Obj } from "./naive.ts"
import { runs } from "./runs.ts"
import { bytesOf, isMalformed, sound, textOf, written } from "./sliced.ts"

const optional = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { freq: 3, nil: undefined })
const whims = fc.array(fc.nat(59))
const anything = fc.jsonValue({ maxDepth: 1 })
const revision = fc.constantFrom("7", "0", "123456789012345678901234567890")
const name = fc.constantFrom("a", "é", "}", '"', "constructor")
const object = fc.record({
  kind: optional(name),
  apiVersion: optional(fc.constant("v1")),
  metadata: fc
    .tuple(
      fc.record({
        name: optional(name),
        labels: optional(fc.constant({ name: "no", uid: "no" })),
        namespace: optional(name),
        uid: optional(name),
        resourceVersion: optional(revision)
      }),
      fc.nat(4)
    )
    .map(([fields, turn]) => turned(fields, turn)),
  spec: optional(anything)
})
const turned = (given: Obj, turn: number): Obj => {
  const fields = Object.entries(given).filter(([, value]) => value !== undefined)
  const at = turn % Math.max(fields.length, 1)
  return Object.fromEntries([...fields.slice(at), ...fields.slice(0, at)])
}
const plain = (value: unknown): Obj => JSON.parse(JSON.stringify(value)) as Obj
const parts = (bytes: Uint8Array, ranges: readonly { readonly from: number; readonly to: number }[]) =>
  ranges.map(({ from, to }) => JSON.parse(textOf(bytes.subarray(from, to))) as unknown)

describe("page", () => {
  it("P11 R110 finds each item of a list, its revision and what continues it, however it is written", () => {
    const list = fc.record({
      kind: optional(fc.constant("ServiceList")),
      metadata: fc.record({
        resourceVersion: revision,
        continue: optional(fc.constantFrom("", "more")),
        remainingItemCount: optional(fc.constant(4))
      }),
      items: fc.array(fc.oneof(object, anything), { maxLength: 4 })
    })
    fc.assert(
      fc.property(fc.tuple(list, fc.nat(2)), whims, ([given, turn], how) => {
        const whole = turned(plain(given), turn)
        const bytes = bytesOf(written(whole, how))
        const found = sound(page(bytes))
        const token = (whole["metadata"] as Obj)["continue"]
        same(
          [found.revision, found.continue, parts(bytes, found.items)],
          [(whole["metadata"] as Obj)["resourceVersion"], token === "" ? undefined : token, whole["items"]]
        )
      }),
      runs(10_000)
    )
  })

  it("takes a Go server's null for an empty list, and nothing else for one", () => {
    const of = (given: string) => {
      const found = page(bytesOf(given))
      return isMalformed(found) ? "malformed" : found.items.length
    }
    const meta = '"metadata":{"resourceVersion":"7"}'
    expect(of(`{"kind":"ServiceList",${meta},"items":null}`)).toBe(0)
    expect(of(`{${meta},"items":[]}`)).toBe(0)
    for (const wrong of [
      `{"kind":"ServiceList",${meta}}`,
      `{"kind":"Service",${meta},"items":null}`,
      `{"kind":"Status",${meta}}`,
      '{"kind":"ServiceList","items":[]}',
      '{"kind":"ServiceList","metadata":{"resourceVersion":""},"items":[]}',
      '{"kind":"ServiceList","metadata":{"resourceVersion":"07"},"items":[]}',
      '{"kind":"ServiceList","metadata":{"resourceVersion":7},"items":[]}',
      `{${meta},"items":{}}`,
      `{${meta},"items":[1,]}`,
      `{${meta},"items":[]} {}`,
      `{${meta},"items":[]`,
      "<html>",
      "null",
      ""
    ])
      expect([wrong, of(wrong)]).toEqual([wrong, "malformed"])
  })

  it("P11 leaves items that are no objects of the kind to whoever reads them, one by one", () => {
    const bytes = bytesOf('{"metadata":{"resourceVersion":"7"},"items":[{"a":1},7,null,{"metadata":[]}]}')
    expect(parts(bytes, sound(page(bytes)).items)).toEqual([{ a: 1 }, 7, null, { metadata: [] }])
  })
})

describe("line", () => {
  it("P11 finds type and object of a line, however it is written", () => {
    const type = fc.constantFrom("ADDED", "BOOKMARK", "ERROR", "")
    fc.assert(
      fc.property(type, fc.oneof(object, anything), fc.boolean(), whims, (is, given, first, how) => {
        const value = plain(given)
        const whole = first ? { type: is, object: value, more: 1 } : { object: value, type: is }
        const bytes = bytesOf(written(whole, how))
        const found = sound(line(bytes))
        same([found.type, ...parts(bytes, [found.object])], [is, value])
      }),
      runs(10_000)
    )
  })

  it("P11 keeps out what is no line", () => {
    for (const wrong of [
      "",
      "{}",
      '{"type":"ADDED"}',
      '{"object":{}}',
      '{"type":7,"object":{}}',
      '{"type":"A","object":{}'
    ])
      expect(isMalformed(line(bytesOf(wrong)))).toBe(true)
  })
})

describe("who", () => {
  it("P11 says who an object is that Go wrote, and what can be read of it where its end is damaged", () => {
    // As Go writes: the type first, where there is one; name, namespace, uid, resourceVersion in this order.
    const asGo = fc.record({
      kind: fc.constant("Service"),
      apiVersion: fc.constant("v1"),
      metadata: fc.record({
        name,
        namespace: name,
        uid: name,
        resourceVersion: revision,
        labels: fc.constant({})
      }),
      spec: anything
    })
    fc.assert(
      fc.property(asGo, whims, fc.nat(), (given, how, cut) => {
        const { name: is, namespace, uid, resourceVersion } = given.metadata
        const all = { kind: "Service", name: is, namespace, uid, revision: resourceVersion }
        const bytes = bytesOf(written(given, how))
        same({ ...who(bytes) }, all)
        const some = who(bytes.subarray(0, cut % bytes.length))
        const wrong = Object.entries(some).filter(
          ([field, value]) => value !== undefined && value !== all[field as keyof typeof all]
        )
        same(wrong, [])
      }),
      runs(10_000)
    )
  })

  it("P11 says who any object is, in any order of its fields", () => {
    fc.assert(
      fc.property(fc.tuple(object, fc.nat(3)), whims, ([given, turn], how) => {
        const whole = turned(plain(given), turn)
        const { name: is, namespace, uid, resourceVersion } = whole["metadata"] as Obj
        const found = who(bytesOf(written(whole, how)))
        same([found.name, found.uid, found.revision], [is, uid, resourceVersion])
        if (found.namespace !== undefined) same(found.namespace, namespace)
      }),
      runs(10_000)
    )
  })
})
