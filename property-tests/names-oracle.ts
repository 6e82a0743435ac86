/**
 * Worlds of pods whose names are known, and the objects that Kubernetes has of them.
 *
 * Pods are made first, each with its set, its unit and its ordinal; what they are called and who is given that is told from these facts. Objects are
 * written afterwards, and nothing is ever read back out of a name. Imports nothing of the product, so that it can judge it.
 */
import type { Choice, Some } from "./choice.ts"

type Obj = { readonly [field: string]: unknown }

/** What `names` is given. */
export interface Objects {
  readonly grids: readonly Obj[]
  readonly sets: readonly Obj[]
  readonly services: readonly Obj[]
  readonly slices: readonly Obj[]
  readonly node: Obj
  readonly clusterDomain: string
}

/** A name and who is given what for it on the node. */
export interface Known {
  readonly name: string
  readonly from: "Unit" | "Cluster" | "Nobody"
  readonly addresses: readonly string[]
}

export interface NamedWorld {
  readonly objects: Objects
  /** every name that a pod has or might have, each once */
  readonly known: readonly Known[]
}

interface Grid {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly key: string
}

interface Pod {
  readonly ordinal: number
  readonly ready: boolean
  readonly conditions: unknown
  readonly v4: string | undefined
  readonly v6: string | undefined
}

interface Set {
  readonly namespace: string
  readonly name: string
  /** the name of the Service, in the same namespace */
  readonly service: string
  /** undefined: no grid gives its pods names */
  readonly grid: Grid | undefined
  readonly unit: string
  readonly object: Obj
  /** whether the object is among those that are read: sets of nobody are not */
  readonly seen: boolean
  readonly pods: readonly Pod[]
}

const NAMESPACES: Some<string> = ["default", "other"]
const KEYS: Some<string> = ["zone", "topology.kubernetes.io/zone", "__proto__", "constructor", "rack"]
const UNITS: Some<string> = ["a", "b", "a-b", "web", "Zone_A", "a.b", "constructor", "0", "zone-a"]
const GRIDS: Some<string> = [
  "web",
  "web-a",
  "a",
  "a-web",
  "zone-a-db",
  "web.a",
  "constructor",
  "g".repeat(62)
]
const SERVICES: Some<string> = ["svc", "db"]
const DOMAINS: Some<string> = ["cluster.local", "edge.local"]

/** A world; `shuffled` says in which order everything stands in it, and nothing else. */
export const namedWorld = (choice: Choice, shuffled: Choice): NamedWorld => {
  const units = choice.some(UNITS, 2).slice(0, 3) as unknown as Some<string>
  const labels = Object.fromEntries(
    choice.some(KEYS, 1).map((key) => [key, choice.of<unknown>([...units, ...units, "b", "", null])])
  )
  const grids = NAMESPACES.flatMap((namespace) =>
    choice.some(GRIDS, 0).map((name, i): Grid => {
      const uid = `${namespace}-${i}`
      return {
        namespace,
        name,
        uid,
        key: choice.of([...Object.keys(labels), ...KEYS] as unknown as Some<string>)
      }
    })
  )
  const sets = setsOf(choice, grids, units)
  const services = NAMESPACES.flatMap((namespace) =>
    SERVICES.map((name) => ({ namespace, name, ...choice.of(STATES) }))
  )
  const clusterDomain = choice.of(DOMAINS)
  const mixed = <A>(all: readonly A[]): readonly A[] => shuffled.some(all, all.length)
  const objects = {
    grids: mixed(grids.map(gridObject)),
    sets: mixed(sets.filter(({ seen }) => seen).map(({ object }) => object)),
    services: mixed(
      services
        .filter(({ exists }) => exists)
        .map(({ namespace, name, spec }) => ({ metadata: { ...meta(namespace), name }, spec }))
    ),
    slices: mixed(
      NAMESPACES.flatMap((namespace) =>
        [...SERVICES, "nope"].flatMap((service) =>
          slicesOf(
            mixed,
            namespace,
            service,
            sets.filter((set) => set.namespace === namespace && set.service === service)
          )
        )
      )
    ),
    node: { metadata: { name: "n1", labels: choice.below(20) === 0 ? null : labels } },
    clusterDomain
  }
  const told = objects.node.metadata.labels ?? {}
  const known = services.flatMap((service) => knownOf(service, sets, told, clusterDomain))
  return { objects, known }
}

interface State {
  readonly exists: boolean
  readonly headless: boolean
  readonly spec: unknown
}
const headless: State = { exists: true, headless: true, spec: { clusterIP: "None" } }
const STATES: Some<State> = [
  headless,
  headless,
  headless,
  { exists: true, headless: false, spec: { clusterIP: "10.96.0.1" } },
  { exists: true, headless: false, spec: { clusterIP: null } },
  { exists: true, headless: false, spec: null },
  { exists: false, headless: false, spec: null }
]

/** Sets of units as their grids made them, leftovers of former ones, and sets of nobody that are called as a grid is. */
const setsOf = (choice: Choice, grids: readonly Grid[], units: Some<string>): readonly Set[] => {
  const found = new Map<string, Set>()
  const add = (set: Set): void => {
    const key = `${set.namespace}/${set.name}`
    if (!found.has(key)) found.set(key, set)
  }
  for (const grid of grids) {
    const service = choice.of(SERVICES)
    for (const unit of choice.some(units, 0))
      add(
        unitSet(
          choice,
          grid,
          unit,
          choice.below(6) === 0 ? choice.of<string>([...SERVICES, "nope"]) : service
        )
      )
    if (choice.below(3) === 0 && isSetName(grid.name)) add(foreignSet(choice, grid.namespace, grid.name))
  }
  if (choice.below(3) === 0) add(foreignSet(choice, choice.of(NAMESPACES), choice.of(["web", "web-a", "a"])))
  return [...found.values()]
}

/** A StatefulSet's name is a label, with room for what its pods are called. */
const isSetName = (name: string): boolean => /^[-a-z0-9]{1,52}$/.test(name)

const unitSet = (choice: Choice, grid: Grid, unit: string, service: string): Set => {
  const plain = `${grid.name}-${unit}`
  const name = isSetName(plain)
    ? plain
    : `${plain
        .toLowerCase()
        .replace(/[^a-z0-9]/g, "-")
        .slice(0, 45)}-x7f3`
  const kind = choice.of(KINDS)
  const owner = {
    kind: "StatefulSetGrid",
    name: grid.name,
    uid:
      kind === "old grid"
        ? `${grid.uid}-before`
        : kind === "elsewhere"
          ? ELSEWHERE[grid.namespace]
          : grid.uid,
    controller: kind === "not controlled" ? null : true
  }
  const others = [{ kind: "Other", name: "x", uid: "x" }, null]
  return {
    namespace: grid.namespace,
    name,
    service,
    grid: kind === "own" ? grid : undefined,
    unit,
    object: {
      metadata: {
        ...meta(grid.namespace),
        name,
        annotations: Object.fromEntries([
          ["superedge.io/grid-key", kind === "old key" ? choice.of(otherKeys(grid)) : grid.key],
          ["superedge.io/unit", unit]
        ]),
        ownerReferences: kind === "no owner" ? null : [...choice.some(others, 0), owner]
      },
      spec: { serviceName: service }
    },
    seen: true,
    pods: podsOf(choice)
  }
}

/** How sets are a grid's: of each other kind, none of its pods has names in a unit. */
const KINDS: Some<string> = [
  "own",
  "own",
  "own",
  "own",
  "old key",
  "old grid",
  "elsewhere",
  "no owner",
  "not controlled"
]

/** By namespace, the uid of a grid in the other one. */
const ELSEWHERE: Readonly<Record<string, string>> = { default: "other-0", other: "default-0" }

const otherKeys = ({ key }: Grid): Some<string> =>
  KEYS.filter((each) => each !== key) as unknown as Some<string>

const foreignSet = (choice: Choice, namespace: string, name: string): Set => {
  const service = choice.of(SERVICES)
  return {
    namespace,
    name,
    service,
    grid: undefined,
    unit: "",
    object: { metadata: { ...meta(namespace), name, annotations: null }, spec: { serviceName: service } },
    seen: choice.below(2) === 0,
    pods: podsOf(choice)
  }
}

const podsOf = (choice: Choice): readonly Pod[] => {
  const start = choice.of([0, 0, 0, 7, 99])
  const families = choice.of(["4", "4", "6", "46"])
  return Array.from({ length: choice.of([0, 1, 2, 3, 12]) }, (_, i): Pod => {
    const number = choice.below(2 ** 24)
    const none = choice.below(12) === 0
    const { ready, conditions } = choice.of(CONDITIONS)
    return {
      ordinal: start + i,
      ready,
      conditions,
      v4:
        none || !families.includes("4")
          ? undefined
          : `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
      v6: none || !families.includes("6") ? undefined : `fd00::${(number & 0xffff).toString(16)}`
    }
  })
}

const CONDITIONS: Some<{ readonly ready: boolean; readonly conditions: unknown }> = [
  { ready: true, conditions: { ready: true, serving: true, terminating: false } },
  { ready: true, conditions: { ready: true } },
  { ready: true, conditions: { ready: null } },
  { ready: true, conditions: null },
  { ready: false, conditions: { ready: false } },
  { ready: false, conditions: { ready: false, serving: true, terminating: true } }
]

/** Objects of a file may leave out `default`. */
const meta = (namespace: string): Obj => (namespace === "default" ? {} : { namespace })

const gridObject = ({ namespace, name, uid, key }: Grid): Obj => ({
  kind: "StatefulSetGrid",
  metadata: { ...meta(namespace), name, uid },
  spec: { gridUniqKey: key }
})

/** The slices of a Service: by family, several of them, with endpoints of nobody among them. */
const slicesOf = (
  mixed: <A>(all: readonly A[]) => readonly A[],
  namespace: string,
  service: string,
  sets: readonly Set[]
): readonly Obj[] => {
  const pods = sets.flatMap((set) =>
    set.pods.map((pod) => ({ ...pod, hostname: `${set.name}-${pod.ordinal}` }))
  )
  const of = (family: string, endpoints: readonly unknown[] | null): Obj => ({
    metadata: { ...meta(namespace), name: "s", labels: { "kubernetes.io/service-name": service } },
    addressType: family,
    endpoints
  })
  const endpoint = (hostname: unknown, address: string | undefined, conditions: unknown): Obj => ({
    hostname,
    addresses: address === undefined ? null : [address],
    conditions
  })
  const families = (["IPv4", "IPv6"] as const).flatMap((family) => {
    const mine = mixed(
      pods.filter(({ v4, v6 }) =>
        family === "IPv4" ? v6 === undefined || v4 !== undefined : v6 !== undefined
      )
    )
    const all = mine.map((pod) => endpoint(pod.hostname, family === "IPv4" ? pod.v4 : pod.v6, pod.conditions))
    const half = all.length >> 1
    return [of(family, all.slice(0, half)), of(family, all.slice(half))]
  })
  return [
    ...families,
    of("IPv4", null),
    of("IPv4", [endpoint(null, "10.99.0.1", null), endpoint(undefined, "10.99.0.2", { ready: true })]),
    of(
      "FQDN",
      pods.map(({ hostname }) => endpoint(hostname, "host.example", null))
    ),
    {
      metadata: { ...meta(namespace), name: "nobody's", labels: null },
      addressType: "IPv4",
      endpoints: [endpoint("web-0", "10.99.0.3", null)]
    }
  ]
}

/** All names in one Service: those that pods bear, and those that they would have in every unit. */
const knownOf = (
  service: State & { readonly namespace: string; readonly name: string },
  sets: readonly Set[],
  labels: Obj,
  domain: string
): readonly Known[] => {
  const mine = sets.filter((set) => set.namespace === service.namespace && set.service === service.name)
  const found = new Map<string, { from: Known["from"]; addresses: string[] }>()
  const at = (host: string) => {
    const known = found.get(host) ?? { from: "Nobody", addresses: [] }
    found.set(host, known)
    return known
  }
  const give = (host: string, from: Known["from"], { ready, v4, v6 }: Pod, is = true): void => {
    const known = at(host)
    if (!ready || !is) return
    const addresses = [v4, v6].filter((each) => each !== undefined)
    known.addresses.push(...addresses)
    if (addresses.length > 0) known.from = from
  }
  const isHere = ({ grid, unit }: Set): boolean =>
    grid !== undefined && Object.hasOwn(labels, grid.key) && labels[grid.key] === unit
  for (const set of mine)
    for (const pod of set.pods)
      give(
        `${set.name}-${pod.ordinal}`,
        isHere(set) && service.headless ? "Unit" : "Cluster",
        pod,
        service.exists
      )
  const borne = new globalThis.Set(
    mine.flatMap((set) => set.pods.map(({ ordinal }) => `${set.name}-${ordinal}`))
  )
  for (const set of mine) {
    const { grid } = set
    if (grid === undefined) continue
    const rivals = mine.some((other) => other.seen && other.name === grid.name)
    for (const pod of set.pods) {
      const host = `${grid.name}-${pod.ordinal}`
      if (borne.has(host)) continue
      const legal = !host.includes(".") && host.length <= 63
      give(host, "Unit", pod, legal && !rivals && isHere(set) && service.headless)
    }
  }
  return [...found].map(([host, { from, addresses }]) => ({
    name: `${host}.${service.name}.${service.namespace}.svc.${domain}`,
    from,
    addresses: addresses.sort()
  }))
}
