/** Generators of sequences: each is about one or two kinds and two objects of a kind, so that requests meet. */
import fc from "fast-check"
import { fields, sometimes } from "./fields.ts"
import type { Kind } from "./kind.ts"
import { KINDS } from "./kinds.ts"
import { jsonPatch, mergePatch, NO_PATCH } from "./patches.ts"
import { inForm, lists, refusedWatch, watching } from "./reads.ts"
import { type Ask, NAMESPACE, type Sequence, type Turn } from "./turns.ts"

const manager = fc.constantFrom("us", "them")
const APPLY = "application/apply-patch+yaml"

/** From one to fifty turns, most of them on objects that are there. */
export const sequences: fc.Arbitrary<Sequence> = fc
  .uniqueArray(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 2 })
  .chain((kinds) => {
    const begun = fc.tuple(...kinds.map((kind) => fc.option(created(kind, kind.names[0] ?? ""), { freq: 4 })))
    const rest = fc.array(fc.oneof(...kinds.map(turnOf)), { minLength: 1, maxLength: 48, size: "max" })
    return fc.tuple(begun, rest)
  })
  .map(([begun, rest]) => ({ turns: [...begun.filter((turn) => turn !== null), ...rest].map(numbered) }))

/** No two objects are generated from the same name, so that their order in lists is known. */
const numbered = (turn: Turn, index: number): Turn =>
  JSON.parse(JSON.stringify(turn).replaceAll('g-"', `g${index}-"`)) as Turn

function turnOf(kind: Kind): fc.Arbitrary<Turn> {
  const first = kind.names[0] ?? ""
  const name = fc.constantFrom(first, first, ...kind.names)
  const about = (make: (name: string, path: string) => fc.Arbitrary<Turn>): fc.Arbitrary<Turn> =>
    name.chain((each) => make(each, `${kind.collection}/${each}`))
  const choices: readonly (readonly [number, fc.Arbitrary<Turn>])[] = [
    [4, about((called, path) => applied(kind, called, path))],
    [3, about((called) => created(kind, called))],
    [1, generated(kind)],
    [3, about((called, path) => replaced(kind, called, path))],
    [3, about((called, path) => mergePatch(kind, called, path))],
    [3, about((called, path) => jsonPatch(kind, called, path))],
    [kind.custom ? 0 : 3, about((called, path) => strategic(kind, called, path))],
    [kind.status ? 3 : 0, about((called, path) => statusWritten(kind, called, path))],
    [2, about((called, path) => deleted(kind, called, path))],
    [2, about((_, path) => freed(path))],
    [1, about((_, path) => fc.constant<Turn>({ method: "GET", path }))],
    [1, about((_, path) => inForm(path))],
    [1, about((_, path) => below(path))],
    [kind.scales ? 2 : 0, about((called, path) => scaled(kind, called, path))],
    [1, emptied(kind)],
    [3, lists(kind)],
    [1, refusedWatch(kind)],
    [1, watching(kind)]
  ]
  return fc.oneof(
    ...choices.filter(([weight]) => weight > 0).map(([weight, arbitrary]) => ({ weight, arbitrary }))
  )
}

/** The object as a client sends it: sometimes with the uid or the revision that it read. */
const sent = (kind: Kind, name: string): fc.Arbitrary<object> => {
  const key = `${kind.kind}/${name.replace("<ns>-", "")}`
  const read = fields({
    resourceVersion: sometimes(fc.constantFrom(`<rv ${key}>`, `<rv ${key}>`, `<first ${key}>`, "0"), 2),
    uid: sometimes(fc.constantFrom(`<uid ${key}>`, `<uid ${key}>`, "00000000-0000-4000-8000-000000000000"), 4)
  })
  return fc.tuple(kind.object(name), read).map(([object, more]) => ({
    ...object,
    metadata: { ...(object as { readonly metadata: object }).metadata, ...more }
  }))
}

const options = fields({
  fieldManager: manager,
  fieldValidation: sometimes(fc.constantFrom("Strict", "Ignore"), 8),
  dryRun: sometimes(fc.constant("All"), 16)
}) as fc.Arbitrary<Readonly<Record<string, string>>>

const created = ({ collection: path, object }: Kind, name: string): fc.Arbitrary<Turn> =>
  fc.tuple(object(name), options).map(([body, query]) => ({ method: "POST", path, query, body }))

const generated = ({ collection: path, names, object }: Kind): fc.Arbitrary<Turn> => {
  const prefix = names[0]?.startsWith(NAMESPACE) ? `${NAMESPACE}-` : ""
  return fc.tuple(object(""), options).map(([body, query]) => {
    const { name: _, ...rest } = (body as { readonly metadata: Readonly<Record<string, unknown>> }).metadata
    return {
      method: "POST",
      path,
      query,
      body: { ...body, metadata: { generateName: `${prefix}g-`, ...rest } }
    }
  })
}

const replaced = (kind: Kind, name: string, path: string): fc.Arbitrary<Turn> =>
  fc.tuple(sent(kind, name), options).map(([body, query]) => ({ method: "PUT", path, query, body }))

const applied = (kind: Kind, name: string, path: string): fc.Arbitrary<Turn> =>
  fc
    .tuple(
      fc.oneof({ weight: 5, arbitrary: kind.object(name) }, { weight: 1, arbitrary: sent(kind, name) }),
      options,
      fc.boolean()
    )
    .map(([body, query, force]) => ({
      method: "PATCH",
      path,
      query: { ...query, ...(force && { force: "true" }) },
      contentType: APPLY,
      body
    }))

const strategic = (kind: Kind, name: string, path: string): fc.Arbitrary<Turn> =>
  fc
    .tuple(
      fc.oneof(
        { weight: 20, arbitrary: kind.object(name) as fc.Arbitrary<unknown> },
        { weight: 1, arbitrary: NO_PATCH }
      ),
      options
    )
    .map(([body, query]) => ({
      method: "PATCH",
      path,
      query,
      contentType: "application/strategic-merge-patch+json",
      body
    }))

/** The status by merge patch, by apply, or as a whole. */
const statusWritten = (kind: Kind, name: string, path: string): fc.Arbitrary<Turn> => {
  const { apiVersion, kind: named } = kind
  const key = `${named}/${name.replace("<ns>-", "")}`
  const how = fc.constantFrom<Pick<Ask, "method" | "contentType">>(
    { method: "PATCH", contentType: "application/merge-patch+json" },
    { method: "PATCH", contentType: APPLY },
    ...(kind.custom
      ? []
      : [{ method: "PATCH" as const, contentType: "application/strategic-merge-patch+json" }]),
    { method: "PUT" }
  )
  const given = fc.record({
    how,
    status: kind.status ?? fc.constant({}),
    query: options,
    force: fc.boolean()
  })
  return fc.tuple(given, kind.object(name)).map(([{ how, status, query, force }, object]) => {
    const applies = how.contentType === APPLY
    // else it makes an absent Service, without an address: 7 in src/embedded/model.ts
    const known = named === "Service" ? { name, uid: `<uid ${key}>` } : { name }
    const whole = { ...object, metadata: { ...known, resourceVersion: `<rv ${key}>` }, status }
    return {
      ...how,
      path: `${path}/status`,
      query: { ...query, ...(applies && force && { force: "true" }) },
      body:
        how.method === "PUT"
          ? whole
          : applies
            ? { apiVersion, kind: named, metadata: known, status }
            : { status }
    }
  })
}

const deleted = ({ kind }: Kind, name: string, path: string): fc.Arbitrary<Turn> => {
  const key = `${kind}/${name.replace("<ns>-", "")}`
  const revision = { resourceVersion: `<rv ${key}>` }
  const uids = fc.constantFrom<object>(
    { uid: `<uid ${key}>` },
    { uid: "00000000-0000-4000-8000-000000000000" }
  )
  const preconditions = fc.oneof(
    uids,
    fc.constantFrom<object>(
      revision,
      { resourceVersion: `<first ${key}>` },
      { uid: `<uid ${key}>`, ...revision }
    )
  )
  const choices = fc.oneof(
    {
      weight: 10,
      arbitrary: fields({
        propagationPolicy: sometimes(fc.constantFrom("Foreground", "Orphan", "Sideways")),
        preconditions: sometimes(preconditions)
      })
    },
    // no revision, which fails where the policy itself makes a new one: 7 in src/embedded/model.ts
    {
      weight: 5,
      arbitrary: fields({ propagationPolicy: fc.constant("Background"), preconditions: sometimes(uids) })
    },
    {
      weight: 1,
      arbitrary: fields({ dryRun: fc.constant(["All"]), preconditions: sometimes(preconditions) })
    }
  )
  return choices.map((body) => ({ method: "DELETE", path, body }))
}

/** Reads of what stands below an object, if anything does. */
const below = (path: string): fc.Arbitrary<Turn> =>
  fc.constantFrom("status", "scale", "nothing").map((part) => ({ method: "GET", path: `${path}/${part}` }))

/** The replicas alone, by their own subresource: as a whole, by every type of patch, and applied. */
const scaled = ({ kind }: Kind, name: string, path: string): fc.Arbitrary<Turn> => {
  const key = `${kind}/${name}`
  const head = { apiVersion: "autoscaling/v1", kind: "Scale" }
  const metadata = fields({
    name: fc.constant(name),
    resourceVersion: sometimes(fc.constantFrom(`<rv ${key}>`, `<first ${key}>`), 3)
  })
  const spec = fields({ replicas: sometimes(fc.constantFrom(0, 2, 5), 8) })
  const patched = (...replicas: readonly unknown[]): fc.Arbitrary<object> =>
    fc.record({ spec: fc.record({ replicas: fc.constantFrom(...replicas, 0, 2, 5, -1, null) }) })
  const edits = fc.constantFrom<object>(
    { op: "replace", path: "/spec/replicas", value: 4 },
    { op: "add", path: "/spec/replicas", value: 2 },
    { op: "remove", path: "/spec/replicas" },
    { op: "test", path: "/metadata/name", value: name }
  )
  const patch = (type: string, body: fc.Arbitrary<unknown>): fc.Arbitrary<Part> =>
    body.map((made) => ({ method: "PATCH", contentType: `application/${type}`, body: made }))
  const how = fc.oneof(
    fc.tuple(metadata, spec).map(([meta, given]): Part => ({
      method: "PUT",
      body: { ...head, metadata: meta, spec: given }
    })),
    patch("merge-patch+json", patched("x")),
    patch("strategic-merge-patch+json", patched()),
    patch("json-patch+json", fc.array(edits, { minLength: 1, maxLength: 2 })),
    patch(
      "apply-patch+yaml",
      spec.map((given) => ({ ...head, metadata: { name }, spec: given }))
    )
  )
  return fc.tuple(how, options, fc.boolean()).map(([part, query, force]) => {
    const forced = force && part.contentType === APPLY ? { force: "true" } : {}
    return { ...part, path: `${path}/scale`, query: { ...query, ...forced } }
  })
}

type Part = Pick<Ask, "method" | "contentType" | "body">

/** All that is selected, deleted. */
const emptied = ({ collection: path, names }: Kind): fc.Arbitrary<Turn> => {
  // of a kind without namespaces the server has an object of its own
  const rest = names[0]?.startsWith(NAMESPACE) ? "a,b" : "!a"
  const selector = fc.constantFrom<Readonly<Record<string, string>>>(
    { labelSelector: "a=1" },
    { labelSelector: "b" },
    { labelSelector: rest },
    { fieldSelector: `metadata.name=${names[0] ?? ""}` }
  )
  const body = sometimes(
    fields({
      propagationPolicy: sometimes(fc.constantFrom("Foreground", "Orphan")),
      dryRun: sometimes(fc.constant(["All"]), 4)
    })
  )
  return fc.tuple(selector, body).map(([query, given]) => ({ method: "DELETE", path, query, body: given }))
}

/** Finalizers set or taken away, as those who hold an object do it. */
const freed = (path: string): fc.Arbitrary<Turn> =>
  fc
    .tuple(manager, fc.constantFrom(null, null, [], ["x.io/a"], ["x.io/b"]))
    .map(([fieldManager, finalizers]) => ({
      method: "PATCH",
      path,
      query: { fieldManager },
      contentType: "application/merge-patch+json",
      body: { metadata: { finalizers } }
    }))
