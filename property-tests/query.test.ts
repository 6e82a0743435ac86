/** What selectors of requests select, and what a change means to a watcher who has them. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { query, type Selectable, sent } from "../src/core/query.ts"
import { asMap, RUNS } from "./given.ts"

const object = (labels: { readonly [key: string]: string }, more: Partial<Selectable> = {}): Selectable => ({
  namespace: "default",
  name: "web",
  labels,
  clusterIP: undefined,
  ...more
})

const asked = (labelSelector?: string, fieldSelector?: string, kind = "Service", namespace?: string) =>
  query({ kind, namespace, labelSelector, fieldSelector })

const selects = (found: ReturnType<typeof query>, thing: Selectable): boolean => {
  if (found._tag === "Unreadable") return expect.fail(found.message)
  return found.selects(thing)
}

const keys = ["a", "b", "x.io/a-b", "constructor"]
const values = ["", "v", "w-1"]
const key = fc.constantFrom(...keys)
const value = fc.constantFrom(...values)
const gap = fc.constantFrom("", " ", "  ")

type Part = readonly [text: string, holds: (found: string | undefined) => boolean, key: string]
const part: fc.Arbitrary<Part> = fc.oneof(
  key.map((k): Part => [k, (found) => found !== undefined, k]),
  fc.tuple(key, gap).map(([k, g]): Part => [`!${g}${k}`, (found) => found === undefined, k]),
  fc
    .tuple(key, fc.constantFrom("=", "=="), value, gap)
    .map(([k, op, v, g]): Part => [`${k}${g}${op}${g}${v}`, (found) => found === v, k]),
  fc.tuple(key, value, gap).map(([k, v, g]): Part => [`${k}${g}!=${g}${v}`, (found) => found !== v, k]),
  fc
    .tuple(key, fc.array(value, { minLength: 1, maxLength: 3 }), gap)
    .map(([k, list, g]): Part => [
      `${k} in ${g}(${list.join(`,${g}`)})`,
      (found) => found !== undefined && list.includes(found),
      k
    ]),
  fc
    .tuple(key, fc.array(value, { minLength: 1, maxLength: 3 }), gap)
    .map(([k, list, g]): Part => [
      `${k} notin ${g}(${list.join(`${g},`)})`,
      (found) => found === undefined || !list.includes(found),
      k
    ])
)
const labelled = fc.array(fc.tuple(key, value), { maxLength: 4 })

describe("query", () => {
  it("R117 selects where every requirement of a label selector holds", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 3 }), gap, labelled, (parts, g, pairs) => {
        const labels = new Map(pairs)
        const text = parts.map(([each]) => `${g}${each}${g}`).join(",")
        const wanted = parts.every(([, holds, k]) => holds(labels.get(k)))
        expect(selects(asked(text), object(asMap([...labels])))).toBe(wanted)
      }),
      RUNS
    )
  })

  it("R108 takes kube-proxy's own selectors", () => {
    const found = asked(
      "!service.kubernetes.io/headless,!service.kubernetes.io/service-proxy-name",
      "spec.clusterIP!=None"
    )
    expect(selects(found, object({ a: "b" }, { clusterIP: "10.0.0.1" }))).toBe(true)
    expect(selects(found, object({ a: "b" }, { clusterIP: "None" }))).toBe(false)
    expect(selects(found, object({ "service.kubernetes.io/headless": "" }))).toBe(false)
    expect(selects(found, object({ "service.kubernetes.io/service-proxy-name": "x" }))).toBe(false)
  })

  it("R118 selects by name and namespace", () => {
    expect(selects(asked(undefined, "metadata.name=web,metadata.namespace==default"), object({}))).toBe(true)
    expect(selects(asked(undefined, "metadata.name!=web"), object({}))).toBe(false)
    expect(selects(asked(undefined, undefined, "Node", "other"), object({}))).toBe(false)
    expect(selects(asked("", ""), object({}))).toBe(true)
  })

  it("refuses what it can't judge, rather than selecting more", () => {
    for (const wrong of [
      "a>1",
      "a<1",
      "a in",
      "a in (b",
      "a=b=c",
      ",",
      "a,",
      "a b",
      "!",
      "!a=b",
      "a in (b c)",
      "-a",
      "a=b c",
      "x/y/z",
      "(a)",
      "a notin"
    ])
      expect([wrong, asked(wrong)._tag]).toEqual([wrong, "Unreadable"])
    for (const wrong of [
      "spec.nodeName=x",
      "metadata.name",
      "metadata.name=a\\,b",
      "metadata.name>a",
      "=a",
      "metadata.uid=x"
    ])
      expect([wrong, asked(undefined, wrong)._tag]).toEqual([wrong, "Unreadable"])
    expect(asked(undefined, "spec.clusterIP=None", "EndpointSlice")._tag).toBe("Unreadable")
  })
})

describe("sent", () => {
  const event = (before: string | undefined, after: string | undefined) => ({
    revision: "7",
    key: "k",
    before,
    after
  })
  const mine = (text: string) => text.startsWith("m")

  it("R117 is DELETED with the object as it was for one that leaves, ADDED for one that enters", () => {
    expect(sent(event("m1", "x"), mine)).toEqual({ type: "DELETED", value: "m1", revision: "7" })
    expect(sent(event("m1", undefined), mine)).toEqual({ type: "DELETED", value: "m1", revision: "7" })
    expect(sent(event("x", "m2"), mine)).toEqual({ type: "ADDED", value: "m2", revision: "7" })
    expect(sent(event(undefined, "m2"), mine)).toEqual({ type: "ADDED", value: "m2", revision: "7" })
    expect(sent(event("m1", "m2"), mine)).toEqual({ type: "MODIFIED", value: "m2", revision: "7" })
  })

  it("is nothing for an object outside before and after", () => {
    for (const each of [event("x", "y"), event("x", undefined), event(undefined, "y")])
      expect(sent(each, mine)).toBe(undefined)
  })
})
