/** Generators of JSON merge patches and of JSON Patches (RFC 6902), good and bad. */
import fc from "fast-check"
import { fields, sometimes } from "./fields.ts"
import type { Kind } from "./kind.ts"
import type { Turn } from "./turns.ts"

type Fields = Readonly<Record<string, unknown>>

const query = fields({
  fieldManager: fc.constantFrom("us", "them"),
  fieldValidation: sometimes(fc.constantFrom("Strict", "Ignore"), 8)
}) as fc.Arbitrary<Readonly<Record<string, string>>>

/** What is JSON, but no patch that could be merged. */
export const NO_PATCH = fc.constantFrom<unknown>([], null, "x", 1, {})

/** Some fields of a generated object, with the revision or uid that was read now and then. */
export const mergePatch = (kind: Kind, name: string, path: string): fc.Arbitrary<Turn> => {
  const key = `${kind.kind}/${name.replace("<ns>-", "")}`
  const identity = fc.constantFrom<object>(
    ...Array.from({ length: 8 }, () => ({})),
    { resourceVersion: `<rv ${key}>` },
    { resourceVersion: `<first ${key}>` },
    { uid: `<uid ${key}>` },
    { uid: "00000000-0000-4000-8000-000000000000" },
    { name: "other" }
  )
  const body = fc
    .tuple(kind.object(name), fc.integer({ min: 0, max: 5 }), identity)
    .map(([object, at, more]): unknown => {
      const { metadata, spec, apiVersion: _, kind: __, ...rest } = object as Fields
      const { name: ___, ...kept } = metadata as Fields
      const part = Object.fromEntries(Object.entries((spec ?? {}) as Fields).slice(at, at + 2))
      return { metadata: { ...kept, ...more }, ...rest, ...(spec === undefined ? {} : { spec: part }) }
    })
  return fc
    .tuple(fc.oneof({ weight: 20, arbitrary: body }, { weight: 1, arbitrary: NO_PATCH }), query)
    .map(([made, asked]) => ({
      method: "PATCH",
      path,
      query: asked,
      contentType: "application/merge-patch+json",
      body: made
    }))
}

const EVERYWHERE = [
  "/metadata/labels",
  "/metadata/labels/a",
  "/metadata/labels/b",
  "/metadata/annotations",
  "/metadata/annotations/x~1y",
  "/metadata/finalizers",
  "/metadata/finalizers/0",
  "/metadata/finalizers/-",
  "/metadata/name",
  "/metadata/resourceVersion",
  "/metadata/none/deeper",
  "/spec",
  "/status",
  "",
  "metadata"
]

const value = fc.constantFrom<unknown>(
  "1",
  "2",
  "",
  null,
  1,
  0,
  true,
  [],
  {},
  { a: "1" },
  ["x.io/a"],
  "x.io/b",
  {
    name: "e",
    image: "i"
  }
)

/** The whole is replaced by a list alone, not by an object: 7 in src/embedded/model.ts. */
const notWhole = (made: object): object => {
  const { path, value } = made as Fields
  return path === "" && typeof value === "object" && value !== null ? { ...made, value: [] } : made
}

const operation = (pointers: readonly string[]): fc.Arbitrary<object> => {
  const pointer = fc.constantFrom(...EVERYWHERE, ...pointers, ...pointers)
  const source = pointer.filter((each) => each !== "/metadata/resourceVersion")
  const made = (op: string, parts: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> =>
    fields({ op: fc.constant(op), path: pointer, ...parts }).map(notWhole)
  return fc.oneof(
    { weight: 6, arbitrary: made("add", { value }) },
    { weight: 4, arbitrary: made("replace", { value }) },
    { weight: 4, arbitrary: made("remove", {}) },
    { weight: 2, arbitrary: made("test", { value }) },
    { weight: 2, arbitrary: made("move", { from: source }) },
    { weight: 2, arbitrary: made("copy", { from: source }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<object>({ op: "mend", path: "/data" }, { op: "add" }, { path: "/data" }, {})
    }
  )
}

/** Those that can be done to most objects. */
const USUAL: readonly object[] = [
  { op: "add", path: "/metadata/labels", value: { a: "1" } },
  { op: "add", path: "/metadata/labels", value: { a: "2", b: "1" } },
  { op: "replace", path: "/metadata/labels/a", value: "2" },
  { op: "remove", path: "/metadata/labels" },
  { op: "add", path: "/metadata/annotations", value: { "x/y": "1" } },
  { op: "add", path: "/metadata/annotations/x~1y", value: "2" },
  { op: "add", path: "/metadata/finalizers", value: ["x.io/a"] },
  { op: "remove", path: "/metadata/finalizers" }
]

/** One or two edits that mean something, perhaps on the condition that the name is right; or anything. */
export const jsonPatch = ({ pointers, edits }: Kind, name: string, path: string): fc.Arbitrary<Turn> => {
  const edit = fc.constantFrom(...USUAL, ...edits, ...edits)
  const condition = { op: "test", path: "/metadata/name", value: name }
  const meant = fc
    .tuple(
      fc.constantFrom<readonly object[]>([], [], [condition]),
      fc.array(edit, { minLength: 1, maxLength: 2 })
    )
    .map((parts) => parts.flat())
  const body = fc.oneof(
    { weight: 15, arbitrary: meant as fc.Arbitrary<unknown> },
    { weight: 15, arbitrary: fc.array(operation(pointers), { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>([], {}, null, "x", [1]) }
  )
  return fc.tuple(body, query).map(([body, query]) => ({
    method: "PATCH",
    path,
    query,
    contentType: "application/json-patch+json",
    body
  }))
}
