/**
 * Addresses and ports of Services: what the server hands out, and what it keeps of them on a change.
 *
 * One address family (IPv4, 10.96.0.0/16) and the node ports 30000-32767, handed out by counters, so that the same
 * requests give the same numbers.
 */
import type { Cluster } from "./cluster.ts"
import { get, isObj, listAt, objAt, same, semantic, text, withAt, type Obj } from "./json.ts"
import * as Sorted from "./sorted.ts"
import { invalidValue, type Problem } from "./status.ts"

/** What of the cluster is handed out to Services. */
export type Pool = Pick<Cluster, "addresses" | "ports" | "counters">

export interface Allocated {
  readonly object: Obj
  readonly pool: Pool
  readonly problems: readonly Problem[]
}

const [FIRST_PORT, PORTS] = [30000, 2768]
const ADDRESSES = 65534

export const needsAddress = (spec: Obj): boolean => text(spec, "type") !== "ExternalName"
export const isOutside = (spec: Obj): boolean => ["NodePort", "LoadBalancer"].includes(text(spec, "type"))
export const isReachable = (spec: Obj): boolean =>
  isOutside(spec) || (text(spec, "type") === "ClusterIP" && listAt(spec, "externalIPs").length > 0)
const needsCheckPort = (spec: Obj): boolean =>
  text(spec, "type") === "LoadBalancer" && text(spec, "externalTrafficPolicy") === "Local"
export const isHeadless = (spec: Obj): boolean =>
  text(spec, "clusterIP") === "None" || listAt(spec, "clusterIPs")[0] === "None"

/** A new Service with its addresses and ports. */
export const allocated = (object: Obj, key: string, pool: Pool): Allocated => {
  const given = objAt(object, "spec")
  const address = text(given, "clusterIP")
  const plural = address !== "" && listAt(given, "clusterIPs").length === 0
  return completed(object, plural ? { ...given, clusterIPs: [address] } : given, undefined, key, pool)
}

/** A changed Service: what the client left out stays as it was. */
export const reallocated = (object: Obj, before: Obj, key: string, pool: Pool): Allocated => {
  const [given, old] = [objAt(object, "spec"), objAt(before, "spec")]
  const kept = withoutForeign(withClusterIPs(withKept(given, old), old), old)
  return completed(object, kept, old, key, releasedFor(kept, old, pool))
}

/** A Service as it is read: an ExternalName one that was given an address by a change shows it twice, which the rules didn't see. */
export const asRead = (object: Obj): Obj => {
  const spec = objAt(object, "spec")
  const address = text(spec, "clusterIP")
  if (needsAddress(spec) || address === "" || listAt(spec, "clusterIPs").length > 0) return object
  return { ...object, spec: { ...spec, clusterIPs: [address] } }
}

/** What a dry run hands out: an address and ports that nobody gets. */
export const pretended = (pool: Pool): Pool => ({
  ...pool,
  counters: { ...pool.counters, ip: -1, port: PORTS }
})

/** The pool after a Service is gone. */
export const released = (object: Obj, pool: Pool): Pool => {
  let { addresses, ports } = pool
  for (const address of listAt(object, "spec", "clusterIPs"))
    addresses = Sorted.without(addresses, String(address))
  for (const port of portsOf(objAt(object, "spec"))) ports = Sorted.without(ports, port)
  return { ...pool, addresses, ports }
}

const portsOf = (spec: Obj): readonly number[] => {
  const check = spec["healthCheckNodePort"]
  const ports = listAt(spec, "ports").map((port) => get(port, "nodePort"))
  return [...ports, check].filter((port): port is number => typeof port === "number" && port > 0)
}

const releasedFor = (spec: Obj, old: Obj, pool: Pool): Pool => {
  let { addresses, ports } = pool
  if (!needsAddress(spec)) {
    for (const address of listAt(old, "clusterIPs")) addresses = Sorted.without(addresses, String(address))
  }
  const now = portsOf(spec)
  for (const port of portsOf(old)) if (!now.includes(port)) ports = Sorted.without(ports, port)
  return { ...pool, addresses, ports }
}

/** Fields that only the old type had vanish, unless the client changed them. */
const withoutForeign = (spec: Obj, old: Obj): Obj => {
  let next = spec
  const drop = (field: string): void => {
    if (semantic(next[field], old[field])) next = withAt(next, [field], undefined)
  }
  if (needsAddress(old) && !needsAddress(spec)) {
    if (semantic(spec["clusterIPs"], old["clusterIPs"])) {
      for (const field of ["clusterIP", "clusterIPs"]) next = withAt(next, [field], undefined)
    }
    for (const field of ["ipFamilies", "ipFamilyPolicy"]) drop(field)
  }
  const usesPorts = isOutside(spec)
  if (
    isOutside(old) &&
    !usesPorts &&
    same(portsOf({ ports: spec["ports"] }), portsOf({ ports: old["ports"] }))
  ) {
    next = withAt(
      next,
      ["ports"],
      listAt(next, "ports").map((port) => withAt(port, ["nodePort"], undefined))
    )
  }
  if (needsCheckPort(old) && !needsCheckPort(spec)) drop("healthCheckNodePort")
  const balanced = (each: Obj): boolean => text(each, "type") === "LoadBalancer"
  if (balanced(old) && !balanced(spec)) {
    drop("allocateLoadBalancerNodePorts")
    drop("loadBalancerClass")
  }
  if (isReachable(old) && !isReachable(spec)) drop("externalTrafficPolicy")
  return next
}

/** Addresses and node ports that the client didn't name are those from before. */
const withKept = (spec: Obj, old: Obj): Obj => {
  let next = spec
  if (needsAddress(old) && needsAddress(spec)) {
    if (text(spec, "clusterIP") === "") next = withAt(next, ["clusterIP"], old["clusterIP"])
    if (listAt(spec, "clusterIPs").length === 0) next = withAt(next, ["clusterIPs"], old["clusterIPs"])
  }
  if (isOutside(old) && isOutside(spec)) {
    const known = new Map(listAt(old, "ports").map((port) => [text(port, "name"), get(port, "nodePort")]))
    const taken = portsOf({ ports: spec["ports"] })
    const ports = listAt(next, "ports").map((port) => {
      const before = known.get(text(port, "name"))
      const wants = get(port, "nodePort") === undefined && typeof before === "number"
      return wants && !taken.includes(before) ? withAt(port, ["nodePort"], before) : port
    })
    next = withAt(next, ["ports"], ports.length > 0 ? ports : undefined)
  }
  if (needsCheckPort(old) && needsCheckPort(spec) && next["healthCheckNodePort"] === undefined) {
    next = withAt(next, ["healthCheckNodePort"], old["healthCheckNodePort"])
  }
  return next
}

/** `clusterIPs` follows `clusterIP` where only the latter was changed. */
const withClusterIPs = (spec: Obj, old: Obj): Obj => {
  const [now, then] = [text(spec, "clusterIP"), text(old, "clusterIP")]
  if (now === then && listAt(spec, "clusterIPs").length === 0)
    return withAt(spec, ["clusterIPs"], old["clusterIPs"])
  if (now === then || !semantic(spec["clusterIPs"], old["clusterIPs"])) return spec
  return withAt(spec, ["clusterIPs"], now === "" ? undefined : [now])
}

const completed = (object: Obj, spec: Obj, old: Obj | undefined, key: string, pool: Pool): Allocated => {
  const withSpec = (next: Obj): Obj => withAt(object, ["spec"], next)
  if (!needsAddress(spec))
    return { object: withSpec(withAt(spec, ["internalTrafficPolicy"], undefined)), pool, problems: [] }
  const problems = [...addressProblems(spec)]
  if (problems.length > 0) return { object: withSpec(spec), pool, problems }
  const families = withFamilies(spec, old)
  const unserved = familyProblems(families)
  if (unserved.length > 0) return { object: withSpec(spec), pool, problems: unserved }
  const [addressed, afterAddress, refused] = withAddress(families, old, key, pool)
  if (refused.length > 0) return { object: withSpec(addressed), pool, problems: refused }
  const taken = takenPorts(addressed, key, pool)
  if (taken.length > 0) return { object: withSpec(addressed), pool, problems: taken }
  const [ported, afterPorts] = withNodePorts(addressed, key, afterAddress)
  return { object: withSpec(ported), pool: afterPorts, problems: [] }
}

/** A headless Service without a selector may have families that the cluster has not. */
const isBare = (spec: Obj): boolean => isHeadless(spec) && Object.keys(objAt(spec, "selector")).length === 0

const familyProblems = (spec: Obj): readonly Problem[] => {
  if (isBare(spec)) return []
  const policy = spec["ipFamilyPolicy"]
  const dual = "this cluster is not configured for dual-stack services"
  return [
    ...(policy === "RequireDualStack" ? [invalidValue("spec.ipFamilyPolicy", policy, dual)] : []),
    ...listAt(spec, "ipFamilies").flatMap((family, index) =>
      family === "IPv4"
        ? []
        : [invalidValue(`spec.ipFamilies[${index}]`, family, "not configured on this cluster")]
    )
  ]
}

const withFamilies = (spec: Obj, old: Obj | undefined): Obj => {
  const bare = isBare(spec)
  const before = old?.["ipFamilyPolicy"]
  const policy = spec["ipFamilyPolicy"] ?? before ?? (bare ? "RequireDualStack" : "SingleStack")
  const given = listAt(spec, "ipFamilies")
  const first = given.length > 0 ? given : ["IPv4"]
  const both = bare && policy !== "SingleStack" && first.length < 2
  const families = both ? [...first, first[0] === "IPv4" ? "IPv6" : "IPv4"] : first
  return { ...spec, ipFamilies: families, ipFamilyPolicy: policy }
}

const withAddress = (
  spec: Obj,
  old: Obj | undefined,
  key: string,
  pool: Pool
): readonly [Obj, Pool, readonly Problem[]] => {
  const address = text(spec, "clusterIP")
  if (address === "None" || (address !== "" && address === text(old, "clusterIP"))) return [spec, pool, []]
  if (address === "") {
    const [free, counters] = nextAddress(pool)
    const next = { ...spec, clusterIP: free, clusterIPs: [free] }
    return [next, { ...pool, counters, addresses: Sorted.put(pool.addresses, free, key) }, []]
  }
  const refuse = (why: string): readonly [Obj, Pool, readonly Problem[]] => [
    spec,
    pool,
    [invalidValue("spec.clusterIPs", listAt(spec, "clusterIPs"), `failed to allocate IP ${address}: ${why}`)]
  ]
  if (!address.startsWith("10.96.")) {
    return refuse("the provided network does not match the current range")
  }
  if (old && text(old, "clusterIP") !== "" && text(old, "clusterIP") !== "None") return [spec, pool, []]
  if (Sorted.at(pool.addresses, address) !== undefined) return refuse("provided IP is already allocated")
  return [spec, { ...pool, addresses: Sorted.put(pool.addresses, address, key) }, []]
}

const nextAddress = (pool: Pool): readonly [string, Pool["counters"]] => {
  let ip = pool.counters.ip
  let address: string
  do {
    ip = (ip % ADDRESSES) + 1
    address = `10.96.${ip >> 8}.${ip & 255}`
  } while (Sorted.at(pool.addresses, address) !== undefined)
  return [address, { ...pool.counters, ip }]
}

const takenPorts = (spec: Obj, key: string, pool: Pool): readonly Problem[] =>
  listAt(spec, "ports").flatMap((port, index) => {
    const nodePort = get(port, "nodePort")
    const holder = typeof nodePort === "number" ? Sorted.at(pool.ports, nodePort) : undefined
    if (holder === undefined || holder === key) return []
    return [invalidValue(`spec.ports[${index}].nodePort`, nodePort, "provided port is already allocated")]
  })

const withNodePorts = (spec: Obj, key: string, pool: Pool): readonly [Obj, Pool] => {
  let { ports, counters } = pool
  const wants = isOutside(spec) && spec["allocateLoadBalancerNodePorts"] !== false
  const free = (): number => {
    let { port } = counters
    do port = port < PORTS ? (port + 1) % PORTS : port + 1
    while (Sorted.at(ports, FIRST_PORT + port) !== undefined)
    counters = { ...counters, port }
    return FIRST_PORT + port
  }
  const take = (port: number): number => {
    ports = Sorted.put(ports, port, key)
    return port
  }
  for (const port of portsOf(spec)) take(port)
  let next = spec
  if (wants) {
    next = withAt(
      next,
      ["ports"],
      listAt(spec, "ports").map((port) =>
        isObj(port) && port["nodePort"] === undefined ? { ...port, nodePort: take(free()) } : port
      )
    )
  }
  if (needsCheckPort(spec) && spec["healthCheckNodePort"] === undefined) {
    next = { ...next, healthCheckNodePort: take(free()) }
  }
  return [next, { ...pool, ports, counters }]
}

export const isIPv4 = (address: unknown): boolean =>
  typeof address === "string" &&
  /^(\d{1,3}\.){3}\d{1,3}$/.test(address) &&
  address.split(".").every((part) => Number(part) < 256)

const addressProblems = (spec: Obj): readonly Problem[] => {
  const [address, addresses] = [text(spec, "clusterIP"), listAt(spec, "clusterIPs")]
  const at = "spec.clusterIPs"
  if (address === "" && addresses.length > 0) {
    return [invalidValue(at, addresses, "must be empty when `clusterIP` is not specified")]
  }
  if (address !== "" && addresses[0] !== address) {
    return [invalidValue(at, addresses, "first value must match `clusterIP`")]
  }
  const wrong = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
  return addresses.flatMap((each, index) =>
    each === "None" || isIPv4(each) ? [] : [invalidValue(`${at}[${index}]`, each, wrong)]
  )
}
