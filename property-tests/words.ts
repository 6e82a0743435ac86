/**
 * What users write, well and badly: labels, names, and anything that JSON can say.
 */
import fc from "fast-check"
import type { Json } from "../src/core/kube.ts"
import { frozen } from "./given.ts"

/** Legal label values in the order of their code units. */
export const unitsInOrder = [
  "0",
  "1.0",
  "A",
  "Zone_A",
  "a",
  "a-b",
  "a.b",
  "a_b",
  "b",
  "constructor",
  "hasOwnProperty",
  "toString",
  "z".repeat(63)
] as const

/** Some units, in the order of their code units. */
export const someUnits = (minLength = 0): fc.Arbitrary<readonly string[]> =>
  fc.subarray([...unitsInOrder], { minLength, maxLength: 6 })

const alnum = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".split("")
const inner = [...alnum, "-", "_", "."]

/** Any legal label value (or name of a label key). */
export const labelText: fc.Arbitrary<string> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...unitsInOrder) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...alnum),
        fc.string({ unit: fc.constantFrom(...inner), maxLength: 61 }),
        fc.constantFrom(...alnum)
      )
      .map(([first, middle, last]) => first + middle + last)
  }
)

/** Any legal label key. */
export const labelKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "zone",
    "constructor",
    "topology.kubernetes.io/zone",
    `${"k".repeat(200)}.io/${"n".repeat(63)}`
  ),
  labelText,
  labelText.map((name) => `site.example.io/${name}`)
)

/** Any legal name of a DeploymentGrid or StatefulSetGrid. */
export const gridName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("web", "a", "0", "a.b", "app-edge", "constructor", "g".repeat(70), "g".repeat(253)),
  fc
    .string({ unit: fc.constantFrom(..."abcxyz019".split("")), minLength: 1, maxLength: 70 })
    .map((text) => text.replace(/(?<=^.{5})./, "-").replace(/-$/, "x"))
)

/** Names that pool entries may have, the empty one aside. */
export const poolName = fc.constantFrom(
  "t1",
  "t2",
  "__proto__",
  "constructor",
  "toString",
  "a.b",
  "T_3",
  "名"
)

const strange = JSON.parse(
  '{"__proto__": {"app": "web"}, "constructor": 1, "toString": 1, "valueOf": 1}'
) as Json

/** Anything that JSON can say. */
export const anyJson: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, "", 0, false, [], {}, "x", -1, [null], [[]], strange, true, 1e300),
  fc.jsonValue({ maxDepth: 2 }).map((value) => value as Json)
)

/** A value in which one subtree is replaced by anything. */
export const poisoned = <A>(value: A): fc.Arbitrary<A> => {
  const paths = pathsOf(value)
  return fc
    .tuple(fc.nat(paths.length - 1), anyJson)
    .map(([i, poison]) => frozen(replaced(value, paths[i] ?? [], poison) as A))
}

const pathsOf = (value: unknown): readonly (readonly string[])[] =>
  typeof value !== "object" || value === null
    ? [[]]
    : [[], ...Object.entries(value).flatMap(([name, part]) => pathsOf(part).map((path) => [name, ...path]))]

const replaced = (value: unknown, [name, ...path]: readonly string[], poison: Json): unknown => {
  if (name === undefined) return poison
  if (Array.isArray(value))
    return value.map((part: unknown, i) => (String(i) === name ? replaced(part, path, poison) : part))
  return Object.fromEntries(
    Object.entries(value as object).map(([field, part]: [string, unknown]) => [
      field,
      field === name ? replaced(part, path, poison) : part
    ])
  )
}
