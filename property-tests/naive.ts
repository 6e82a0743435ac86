/**
 * A naive answer to what a node may see of slices and Endpoints objects: everything is decided from scratch over parsed objects.
 *
 * It imports nothing of the product, so that it can judge all of it.
 */

/** Objects as tests make them: plain JSON. */
export type Obj = { readonly [field: string]: unknown }

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

// ---- the local endpoint of default/kubernetes

interface Here {
  readonly ip: string
  readonly port: number
}

/** What two annotations say; well-formed ones are all that tests write here. */
const hereOf = (annotations: unknown): Here | undefined => {
  const ip = at(annotations, "superedge.io/local-endpoint")
  const port = at(annotations, "superedge.io/local-port")
  return typeof ip === "string" && typeof port === "string" ? { ip, port: Number(port) } : undefined
}

/** An object of `default/kubernetes` where this node has an address of its own for it, told by the Endpoints' annotations, else by the Service's. */
const localised = (world: World, object: Obj, all: readonly Obj[]): Obj | undefined => {
  if (serviceKey(object) !== "default/kubernetes") return undefined
  const service = world.services.get("default/kubernetes")
  const here = hereOf(world.apiServer) ?? hereOf(at(service, "metadata", "annotations"))
  if (here === undefined) return undefined
  const { ip, port } = here
  const https = { name: "https", port, protocol: "TCP" }
  if (Object.hasOwn(object, "subsets"))
    return { ...object, subsets: [{ addresses: [{ ip }], ports: [https] }] }
  const family = ip.includes(":") ? "IPv6" : "IPv4"
  const nameOf = (each: Obj) => String(at(each, "metadata", "name"))
  const fit = all.filter(
    (each) => serviceKey(each) === "default/kubernetes" && each["addressType"] === family
  )
  const [holder] = fit.map(nameOf).sort()
  // No slice of its family: the address can't be shown, and the API server's own stay.
  if (holder === undefined) return undefined
  if (nameOf(object) !== holder) return { ...object, endpoints: [] }
  const conditions = { ready: true, serving: true, terminating: false }
  const [first] = (object["ports"] ?? []) as readonly Obj[]
  return { ...object, endpoints: [{ addresses: [ip], conditions }], ports: [{ ...https, ...first, port }] }
}

/** What this node sees of an object; `all` is what there is of the same kind. */
export const visible = (world: World, object: Obj, all: readonly Obj[]): Obj =>
  localised(world, object, all) ?? without(object, naive(world, object, all))

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
