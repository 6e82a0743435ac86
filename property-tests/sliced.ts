/**
 * What tests of the wrapper's core are given: bytes of objects, written in many ways, and a naive answer to what a node may see.
 *
 * The naive answer decides everything from scratch over parsed objects, and imports nothing from the product but types.
 */
import { expect } from "vitest"
import type { Malformed } from "../src/core/scan.ts"
import { endpoints, slice, type Slice } from "../src/core/slice.ts"

/** Objects as tests make them: plain JSON. */
export type Obj = { readonly [field: string]: unknown }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const bytesOf = (value: unknown): Uint8Array =>
  encoder.encode(typeof value === "string" ? value : JSON.stringify(value))

export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)

export const objectOf = (bytes: Uint8Array): Obj => JSON.parse(textOf(bytes)) as Obj

export const asIs = (text: string): string => text

export const isMalformed = (value: object): value is Malformed =>
  "_tag" in value && (value as Malformed)._tag === "Malformed"

/** The index of a slice's bytes, which must be one. */
export const sliceOf = (value: unknown): Slice => sound(slice(bytesOf(value), asIs))

/** The index of the bytes of an Endpoints object, which must be one. */
export const endpointsOf = (value: unknown): Slice => sound(endpoints(bytesOf(value), asIs))

export const sound = <A extends object>(value: A | Malformed): A => {
  if (isMalformed(value)) expect.fail(value.message)
  return value
}

/** JSON text of a value, with white space and escapes as a list of numbers says. */
export const written = (value: unknown, whims: readonly number[]): string => {
  let at = 0
  const whim = (below: number): number => (whims.length === 0 ? 0 : (whims[at++ % whims.length] ?? 0) % below)
  const space = (): string => ["", "", "", " ", "\n\t", "\r\n  "][whim(6)] ?? ""
  const letter = (char: string): string => {
    const hex = `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
    const upper = hex.toUpperCase().replace("\\U", "\\u")
    if (char === "/" && whim(2) === 1) return "\\/"
    const lone = char >= "\ud800" && char <= "\udfff"
    if (char < " " || char === '"' || char === "\\" || lone) return JSON.stringify(char).slice(1, -1)
    return [char, char, char, hex, upper][whim(5)] ?? char
  }
  const text = (given: string): string => {
    // whole characters: halves of a pair may be escaped, but not written as they are
    const chars = Array.from(given, (char) => (char.length === 2 ? char : letter(char)))
    return `"${chars.join("")}"`
  }
  const write = (each: unknown): string => {
    if (typeof each === "string") return text(each)
    if (Array.isArray(each))
      return `[${space()}${each.map((item) => `${write(item)}${space()}`).join(`,${space()}`)}]`
    if (typeof each !== "object" || each === null) return JSON.stringify(each)
    const fields = Object.entries(each).filter(([, field]) => field !== undefined)
    // Node 26's JSON.parse may take an escaped key of one character for a backslash, so such keys are written plainly
    const name = (key: string): string => (key.length === 1 ? JSON.stringify(key) : text(key))
    const inner = fields.map(([key, field]) => `${name(key)}${space()}:${space()}${write(field)}${space()}`)
    return `{${space()}${inner.join(`,${space()}`)}}`
  }
  return `${space()}${write(value)}${space()}`
}

// ---- the naive answer

export interface World {
  readonly own: string
  readonly ownLabels: Obj | undefined
  readonly services: ReadonlyMap<string, Obj>
  readonly nodes: ReadonlyMap<string, Obj>
  /** annotations of Endpoints default/kubernetes */
  readonly apiServer: Obj | undefined
}

interface Seat {
  readonly on: string | undefined
  readonly family: string
  readonly rank: number
}

const at = (value: unknown, ...path: readonly string[]): unknown => {
  let found: unknown = value
  for (const step of path)
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, step)
        ? (found as Obj)[step]
        : undefined
  return found ?? undefined
}

const filled = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** The node that an endpoint is on. */
const seat = (world: World, endpoint: Obj): string | undefined => {
  const name = filled(at(endpoint, "nodeName"))
  if (name !== undefined) return name
  const host =
    filled(at(endpoint, "topology", "kubernetes.io/hostname")) ??
    filled(at(endpoint, "deprecatedTopology", "kubernetes.io/hostname"))
  if (host === undefined) return undefined
  if (at(world.ownLabels, "kubernetes.io/hostname") === host) return world.own
  const called = [...world.nodes].filter(([, labels]) => at(labels, "kubernetes.io/hostname") === host)
  return called.map(([node]) => node).sort()[0] ?? host
}

const addressLists = ["addresses", "notReadyAddresses"]

const seatsOf = (world: World, object: Obj): readonly Seat[] => {
  if (Object.hasOwn(object, "subsets"))
    return ((object["subsets"] ?? []) as Obj[]).flatMap((subset) =>
      addressLists.flatMap((field) =>
        ((subset[field] ?? []) as Obj[]).map((each) => ({
          on: filled(each["nodeName"]),
          family: String(each["ip"]).includes(":") ? "IPv6" : "IPv4",
          rank: field === "addresses" ? 0 : 2
        }))
      )
    )
  return ((object["endpoints"] ?? []) as Obj[]).map((endpoint) => ({
    on: seat(world, endpoint),
    family: String(object["addressType"]),
    rank:
      at(endpoint, "conditions", "ready") !== false
        ? 0
        : at(endpoint, "conditions", "serving") !== false
          ? 1
          : 2
  }))
}

/** The keys of a Service: undefined where it has no rule, none where it is closed. */
const keysOf = (service: Obj | undefined): readonly string[] | undefined => {
  if (service === undefined) return []
  const given = at(service, "metadata", "annotations", "topologyKeys")
  if (given === undefined) return undefined
  try {
    const keys = JSON.parse(String(given)) as unknown
    if (!Array.isArray(keys)) return []
    if (keys.length === 0) return undefined
    const legal = keys.every((key) => typeof key === "string" && /^(\*|[a-z./]*[a-z])$/.test(key))
    return legal ? (keys as string[]) : []
  } catch {
    return []
  }
}

const serviceKey = (object: Obj): string | undefined => {
  const name = Object.hasOwn(object, "subsets")
    ? filled(at(object, "metadata", "name"))
    : filled(at(object, "metadata", "labels", "kubernetes.io/service-name"))
  return name === undefined ? undefined : `${filled(at(object, "metadata", "namespace")) ?? ""}/${name}`
}

/** Which endpoints of an object this node may see, in their order; `all` is what there is of the same kind. */
export const naive = (world: World, object: Obj, all: readonly Obj[]): readonly boolean[] => {
  const key = serviceKey(object)
  const seats = seatsOf(world, object)
  if (key === undefined || key === "default/kubernetes") return seats.map(() => true)
  const service = world.services.get(key)
  const keys = keysOf(service)
  if (keys === undefined) return seats.map(() => true)
  const labelled = at(object, "metadata", "labels", "service.kubernetes.io/headless") === ""
  const headless = service !== undefined && (labelled || at(service, "spec", "clusterIP") === "None")
  const unit = at(service, "metadata", "annotations", "superedge.io/headless-scope") === "unit"
  if (headless && !unit) return seats.map(() => true)
  const sisters = all.filter((other) => serviceKey(other) === key).flatMap((other) => seatsOf(world, other))
  const value = (node: string, label: string) =>
    filled(at(node === world.own ? world.ownLabels : world.nodes.get(node), label))
  const near = (each: Seat, label: string): boolean =>
    each.on !== undefined &&
    (label === "*" ||
      (value(each.on, label) !== undefined && value(each.on, label) === value(world.own, label)))
  const chosen = (family: string): string | undefined => {
    for (const rank of [0, 1, 2])
      for (const label of keys)
        if (sisters.some((each) => each.family === family && each.rank <= rank && near(each, label)))
          return label
    return undefined
  }
  return seats.map((each) => {
    if (each.on === undefined || each.on === world.own) return true
    const label = chosen(each.family)
    return label !== undefined && near(each, label)
  })
}

/** An object without endpoints that aren't kept, as parsed JSON. */
export const without = (object: Obj, kept: readonly boolean[]): Obj => {
  if (kept.every(Boolean)) return object
  if (!Object.hasOwn(object, "subsets"))
    return { ...object, endpoints: (object["endpoints"] as Obj[]).filter((_, i) => kept[i]) }
  let n = 0
  const subsets = (object["subsets"] as Obj[]).flatMap((subset) => {
    const next: { [field: string]: unknown } = { ...subset }
    let before = 0
    let after = 0
    for (const field of addressLists) {
      const addresses = subset[field] as Obj[] | undefined | null
      if (addresses === undefined || addresses === null) continue
      const left = addresses.filter(() => kept[n++])
      before += addresses.length
      after += left.length
      next[field] = left
    }
    return before > 0 && after === 0 ? [] : [next]
  })
  return { ...object, subsets }
}
