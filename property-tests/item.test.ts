/** The index of any object's bytes, against what JSON.parse says of them. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { stamped } from "../src/core/cut.ts"
import { item, sharing } from "../src/core/item.ts"
import { same } from "./given.ts"
import type { Obj } from "./naive.ts"
import { runs } from "./runs.ts"
import { asIs, bytesOf, isMalformed, objectOf, sound, textOf, written } from "./sliced.ts"

const word = fc.constantFrom("a", "é", "constructor", "__proto__", "语", "x/y")
const texts = fc.dictionary(
  fc.oneof(word, fc.constantFrom("topologyKeys", "superedge.io/local-port", "note")),
  fc.option(fc.string({ maxLength: 4 }), { freq: 6, nil: null }),
  { maxKeys: 4 }
)
const optional = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { freq: 3, nil: undefined })
const metadata = fc.record({
  "x-new": optional(fc.constantFrom<unknown>(1, "}", { a: [null] })),
  name: word,
  namespace: optional(fc.constantFrom("default", "", null, "ns")),
  uid: fc.constantFrom("u1", "u2"),
  resourceVersion: optional(fc.constantFrom("7", "123456789012345678901234567890")),
  managedFields: optional(fc.constantFrom([], [{ manager: "m", fieldsV1: { "f:x": {} } }], null)),
  labels: optional(fc.option(texts, { nil: null })),
  annotations: optional(fc.option(texts, { nil: null }))
})
const object = fc.record({
  kind: optional(fc.constantFrom("Service", "Node")),
  apiVersion: optional(fc.constantFrom("v1", "x/v2")),
  metadata: fc.tuple(metadata, fc.nat(7)).map(([fields, turn]) => turned(fields, turn)),
  spec: optional(
    fc.oneof(
      fc.constantFrom(null, [], "x", 7),
      fc.record({
        clusterIP: optional(fc.constantFrom("None", "10.0.0.1", null)),
        more: fc.jsonValue({ maxDepth: 1 })
      })
    )
  ),
  status: optional(fc.constantFrom<unknown>({ phase: "x" }, [1e300, "},{"], null))
})
const turned = (given: Obj, turn: number): Obj => {
  const fields = Object.entries(given)
  const at = turn % Math.max(fields.length, 1)
  return Object.fromEntries([...fields.slice(at), ...fields.slice(0, at)])
}
const plain = (value: unknown): Obj => JSON.parse(JSON.stringify(value)) as Obj
const filled = (value: unknown): readonly (readonly [string, unknown])[] =>
  Object.entries((value ?? {}) as Obj).filter(([, each]) => each !== null)

describe("item", () => {
  it("P11 says of an object what JSON.parse says, however it is written", () => {
    fc.assert(
      fc.property(fc.tuple(object, fc.nat(5)), fc.array(fc.nat(59)), ([given, turn], whims) => {
        const whole = turned(plain(given), turn)
        const meta = whole["metadata"] as Obj
        const found = sound(item(bytesOf(written(whole, whims)), asIs))
        const namespace =
          meta["namespace"] === null || meta["namespace"] === "" ? undefined : meta["namespace"]
        const ours = filled(meta["annotations"]).filter(([key]) =>
          /^topologyKeys$|^superedge\.io\//.test(key)
        )
        const spec = whole["spec"] as { readonly clusterIP?: string | null } | undefined | null
        same(
          {
            key: found.key,
            name: found.name,
            namespace: found.namespace,
            uid: found.uid,
            revision: found.revision,
            apiVersion: found.apiVersion,
            labels: new Map(Object.entries(found.labels)),
            annotations: new Map(Object.entries(found.annotations)),
            clusterIP: found.clusterIP
          },
          {
            key: `${String(namespace ?? "")}/${String(meta["name"])}`,
            name: meta["name"],
            namespace,
            uid: meta["uid"],
            revision: meta["resourceVersion"] ?? "",
            apiVersion: whole["kind"] === undefined ? undefined : whole["apiVersion"],
            labels: new Map(filled(meta["labels"])),
            annotations: new Map(ours),
            clusterIP: (typeof spec === "object" ? spec?.clusterIP : undefined) ?? undefined
          }
        )
      }),
      runs(10_000)
    )
  })

  it("R89 R103 R129 is stamped with a revision and a type, and is otherwise what it was, without managedFields", () => {
    fc.assert(
      fc.property(fc.tuple(object, fc.nat(5)), fc.array(fc.nat(59)), ([given, turn], whims) => {
        const whole = turned(plain(given), turn)
        const stamp = { revision: "42", kind: "Service", apiVersion: "v1" }
        const shown = objectOf(stamped(sound(item(bytesOf(written(whole, whims)), asIs)), stamp))
        const { managedFields: a, ...meta } = whole["metadata"] as Obj
        const { managedFields: b, ...left } = shown["metadata"] as Obj
        // Where they stand first they stay: what is behind them would need its comma moved.
        if (b !== undefined) same(b, a)
        same(
          { ...shown, metadata: left },
          {
            ...whole,
            // JSON.parse takes the last of two fields of one name: an object with half a type keeps that half.
            kind: whole["kind"] ?? stamp.kind,
            apiVersion: whole["apiVersion"] ?? stamp.apiVersion,
            metadata: { ...meta, resourceVersion: "42" }
          }
        )
      }),
      runs(10_000)
    )
  })

  it("owns its bytes: a page that is written over changes nothing", () => {
    const page = bytesOf({ metadata: { name: "a", uid: "u" } })
    const found = sound(item(page, asIs))
    page.fill(0x20)
    expect(objectOf(found.bytes)).toEqual({ metadata: { name: "a", uid: "u" } })
  })

  it("owns its bytes where they come in a Buffer, whose own slice is a view, and keeps nothing of the rest alive", () => {
    const object = '{"metadata":{"name":"a","uid":"u"}}'
    const page = Buffer.from(`${object}${" ".repeat(1000)}`)
    const { bytes } = sound(item(page.subarray(0, object.length), asIs))
    page.fill(0x20)
    expect(objectOf(bytes)).toEqual({ metadata: { name: "a", uid: "u" } })
    expect(bytes.buffer.byteLength).toBe(object.length)
  })

  it.each([
    ["null", "null"],
    ["no name", "{}"],
    ["an empty name", '{"metadata":{"name":""}}'],
    ["a name that is a number", '{"metadata":{"name":7}}'],
    ["labels that are a list", '{"metadata":{"name":"a","labels":[]}}'],
    ["a label that is a number", '{"metadata":{"name":"a","labels":{"x":7}}}'],
    ["more behind it", '{"metadata":{"name":"a"}} x'],
    ["an end too early", '{"metadata":{"name":"a"}']
  ])("P11 keeps out %s, and says why", (_, given) => {
    expect(isMalformed(item(bytesOf(given), asIs))).toBe(true)
  })

  it("R104 takes every null for absent", () => {
    const given = {
      metadata: { name: "a", namespace: null, labels: null, annotations: { topologyKeys: null } }
    }
    const found = sound(item(bytesOf(given), asIs))
    expect([found.namespace, found.labels, found.annotations]).toEqual([undefined, {}, {}])
    expect(textOf(found.bytes)).toBe(JSON.stringify(given))
  })
})

describe("sharing", () => {
  it("gives one copy of equal texts, and never another text", () => {
    const share = sharing()
    const wrong = Array.from({ length: 120_000 }, (_, i) => `n${i % 60_000}`).filter((n) => share(n) !== n)
    expect(wrong).toEqual([])
  })
})
