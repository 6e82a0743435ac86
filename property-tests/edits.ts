/**
 * What may happen to an applied object: edits at a path of its field set, and what other managers do beside.
 */
import { entry, MANAGER } from "./applied.ts"
import type { Fields, FieldSet, Value } from "./openapi.ts"

// ---- field sets as lists of paths

export type Path = readonly string[]

export const steps = (set: FieldSet, from: Path = []): readonly Path[] =>
  Object.entries(set).flatMap(([step, below]) =>
    step === "." ? [] : [[...from, step], ...steps(below, [...from, step])]
  )

export const leaves = (set: FieldSet, from: Path = []): readonly Path[] =>
  Object.entries(set).flatMap(([step, below]) => {
    if (step === ".") return []
    const path = [...from, step]
    return Object.keys(below).some((each) => each !== ".") ? leaves(below, path) : [path]
  })

export const withoutPath = (set: FieldSet, path: Path): FieldSet => {
  const [step = "", ...rest] = path
  const { [step]: below = {}, ...others } = set
  if (rest.length === 0) return others
  return { ...others, [step]: withoutPath(below, rest) }
}

export const pick = (set: FieldSet, step: string): FieldSet =>
  Object.hasOwn(set, step) ? { [step]: set[step] ?? {} } : {}

export const matches = (item: Value, step: string): boolean => {
  const wanted = JSON.parse(step.slice(2)) as Value
  if (step.startsWith("v:")) return item === wanted
  return Object.entries(wanted as Fields).every(([key, value]) => ((item as Fields)[key] ?? "TCP") === value)
}

// ---- objects: reading and editing at a path

export const valueAt = (value: Value | undefined, path: Path): Value | undefined => {
  const [step, ...rest] = path
  if (step === undefined || value === undefined || value === null || typeof value !== "object") return value
  if (Array.isArray(value))
    return valueAt(
      value.find((item: Value) => matches(item, step)),
      rest
    )
  const name = step.slice(2)
  return Object.hasOwn(value, name) ? valueAt((value as Fields)[name], rest) : undefined
}

/** A copy in which the value at a path is another one. */
export const edit = <A extends Value>(value: A, path: Path, change: (old: Value | undefined) => Value): A => {
  const [step, ...rest] = path
  if (step === undefined) return change(value) as A
  if (Array.isArray(value))
    return value.map((item: Value) => (matches(item, step) ? edit(item, rest, change) : item)) as Value as A
  const name = /^[fkv]:/.test(step) && !Object.hasOwn(value as Fields, step) ? step.slice(2) : step
  const old = Object.hasOwn(value as Fields, name) ? (value as Fields)[name] : undefined
  const made =
    old === undefined
      ? rest.length === 0
        ? change(undefined)
        : edit({}, rest, change)
      : edit(old, rest, change)
  return Object.fromEntries([
    ...Object.entries(value as Fields).filter(([each]) => each !== name),
    [name, made]
  ]) as Value as A
}

export const without = <A extends Value>(value: A, path: Path): A => {
  const last = path.at(-1)?.slice(2) ?? ""
  return edit(value, path.slice(0, -1), (parent) =>
    Object.fromEntries(Object.entries(parent as Fields).filter(([name]) => name !== last))
  )
}

/** Objects that were applied empty own a path, and no value. */
export const hasValue = (value: Value | undefined): boolean =>
  value !== null &&
  value !== undefined &&
  !(typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0)

export const changed = (value: Value | undefined): Value => {
  if (typeof value === "string") return `${value}x`
  if (typeof value === "number") return value + 1
  if (typeof value === "boolean") return !value
  if (Array.isArray(value)) return [...(value as readonly Value[]), "more"]
  return { ...(value as Fields), more: "x" }
}

/** What others do to a live object. */
export const meddlings: readonly ((object: Fields) => Fields)[] = [
  (object) => edit(object, ["f:metadata", "f:labels", "f:other"], () => "x"),
  (object) => edit(object, ["f:metadata", "f:annotations", "f:other"], () => "x"),
  (object) => edit(object, ["f:metadata", "f:resourceVersion"], () => "99"),
  (object) =>
    edit(object, ["f:metadata", "f:finalizers"], (list) => [
      "other.io/z",
      ...((list ?? []) as readonly Value[])
    ]),
  (object) => edit(object, ["f:status", "f:replicas"], () => 7),
  (object) => edit(object, ["f:spec", "f:progressDeadlineSeconds"], () => 7),
  (object) => inPod(object, "volumes", (list) => [{ name: "token", emptyDir: {} }, ...list]),
  (object) =>
    inPod(object, "containers", (list) => [
      { name: "injected", image: "proxy", env: [{ name: "A" }] },
      ...list
    ]),
  (object) => inPod(object, "containers", (list) => [...list, { name: "late", image: "proxy" }]),
  (object) =>
    inPod(object, "containers", (list) =>
      list.map((item) => ({
        ...(item as Fields),
        env: [
          { name: "INJECTED", value: "1" },
          ...(((item as Fields)["env"] ?? []) as readonly Value[]),
          { name: "LAST" }
        ],
        ports: [
          { containerPort: 9999, protocol: "TCP" },
          ...(((item as Fields)["ports"] ?? []) as readonly Value[])
        ],
        stdinOnce: true
      }))
    ),
  (object) => {
    const meta = object["metadata"] as Fields
    const others = [
      entry("other", "Apply", { "f:spec": { "f:paused": {} } }),
      entry(MANAGER, "Update", { "f:spec": { "f:x": {} } })
    ]
    return {
      ...object,
      metadata: { ...meta, managedFields: [...others, ...(meta["managedFields"] as readonly Value[])] }
    }
  }
]

const inPod = (object: Fields, field: string, change: (list: readonly Value[]) => Value): Fields => {
  if (object["kind"] === "Service") return object
  return edit(object, ["f:spec", "f:template", "f:spec", `f:${field}`], (list) =>
    change((list ?? []) as readonly Value[])
  )
}

export const managed = (live: Fields, managedFields: readonly Fields[]): Fields => ({
  ...live,
  metadata: { ...(live["metadata"] as Fields), managedFields }
})

const UNORDERED = ["ports", "volumes", "volumeMounts", "imagePullSecrets", "finalizers", "ownerReferences"]

export const reversed = (value: Value, field: string): Value => {
  if (Array.isArray(value)) {
    const items = (value as readonly Value[]).map((item) => reversed(item, ""))
    return UNORDERED.includes(field) ? items.reverse() : items
  }
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, each]) => [name, reversed(each as Value, name)])
  )
}
