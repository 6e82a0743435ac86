/**
 * Services: addresses and ports that the server hands out, what it keeps of them on a change, and its rules.
 *
 * One address family (IPv4, 10.96.0.0/16) and the node ports 30000-32767, handed out by counters, so that the same
 * requests give the same numbers.
 */
import type { Cluster } from "./cluster.ts"
import { get, isObj, listAt, objAt, same, semantic, text, withAt, type Obj } from "./json.ts"
import { labelsProblems } from "./metadata.ts"
import { labelProblems, portNameProblems, subdomainProblems } from "./names.ts"
import { isPort, PORT_RANGE, PROTOCOLS } from "./podrules.ts"
import * as Sorted from "./sorted.ts"
import { duplicate, forbiddenField, invalidValue, required, unsupported, type Problem } from "./status.ts"

/** What of the cluster is handed out to Services. */
export type Pool = Pick<Cluster, "addresses" | "ports" | "counters">

export interface Allocated {
  readonly object: Obj
  readonly pool: Pool
  readonly problems: readonly Problem[]
}

const [FIRST_PORT, PORTS] = [30000, 2768]
const ADDRESSES = 65534

const needsAddress = (spec: Obj): boolean => text(spec, "type") !== "ExternalName"
const isOutside = (spec: Obj): boolean => ["NodePort", "LoadBalancer"].includes(text(spec, "type"))
const isReachable = (spec: Obj): boolean =>
  isOutside(spec) || (text(spec, "type") === "ClusterIP" && listAt(spec, "externalIPs").length > 0)
const needsCheckPort = (spec: Obj): boolean =>
  text(spec, "type") === "LoadBalancer" && text(spec, "externalTrafficPolicy") === "Local"
const isHeadless = (spec: Obj): boolean =>
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
  const kept = withClusterIPs(withKept(withoutForeign(given, old), old), old)
  const status =
    text(given, "type") === "LoadBalancer"
      ? objAt(before, "status")
      : withoutBalancer(objAt(before, "status"))
  return completed(withAt(object, ["status"], status), kept, old, key, releasedFor(kept, old, pool))
}

/** The pool after a Service is gone. */
export const released = (object: Obj, pool: Pool): Pool => {
  let { addresses, ports } = pool
  for (const address of listAt(object, "spec", "clusterIPs"))
    addresses = Sorted.without(addresses, String(address))
  for (const port of portsOf(objAt(object, "spec"))) ports = Sorted.without(ports, port)
  return { ...pool, addresses, ports }
}

const withoutBalancer = (status: Obj): Obj => ({ ...status, loadBalancer: {} })

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
    for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) drop(field)
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
  if (now === then || !semantic(spec["clusterIPs"], old["clusterIPs"])) return spec
  return withAt(spec, ["clusterIPs"], now === "" ? undefined : [now])
}

const completed = (object: Obj, spec: Obj, old: Obj | undefined, key: string, pool: Pool): Allocated => {
  const withSpec = (next: Obj): Obj => withAt(object, ["spec"], next)
  if (!needsAddress(spec)) {
    return { object: withSpec(withAt(spec, ["internalTrafficPolicy"], undefined)), pool, problems: [] }
  }
  const problems = [...addressProblems(spec)]
  if (problems.length > 0) return { object: withSpec(spec), pool, problems }
  const [addressed, afterAddress, refused] = withAddress(withFamilies(spec, old), old, key, pool)
  if (refused.length > 0) return { object: withSpec(addressed), pool, problems: refused }
  const [ported, afterPorts] = withNodePorts(addressed, key, afterAddress)
  return { object: withSpec(ported), pool: afterPorts, problems: [] }
}

const withFamilies = (spec: Obj, old: Obj | undefined): Obj => {
  const bare = isHeadless(spec) && Object.keys(objAt(spec, "selector")).length === 0
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
    return refuse(
      `the provided IP (${address}) is not in the valid range. The range of valid IPs is 10.96.0.0/16`
    )
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

const withNodePorts = (spec: Obj, key: string, pool: Pool): readonly [Obj, Pool] => {
  let { ports, counters } = pool
  const wants = isOutside(spec) && spec["allocateLoadBalancerNodePorts"] !== false
  const free = (): number => {
    let { port } = counters
    do port = (port + 1) % PORTS
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

const isIPv4 = (address: unknown): boolean =>
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

/** What may not change in a Service. */
export const serviceChangeProblems = (object: Obj, before: Obj): readonly Problem[] => {
  const [spec, old] = [objAt(object, "spec"), objAt(before, "spec")]
  const problems: Problem[] = []
  const both = needsAddress(spec) && needsAddress(old)
  const [now, then] = [listAt(spec, "clusterIPs"), listAt(old, "clusterIPs")]
  if (both && !(isHeadless(spec) && isHeadless(old)) && then.length > 0 && now[0] !== then[0]) {
    const why = now.length === 0 ? "primary clusterIP can not be unset" : "may not change once set"
    problems.push(invalidValue("spec.clusterIPs[0]", now.length === 0 ? null : now, why))
  }
  const balanced = [spec, old].every((each) => text(each, "type") === "LoadBalancer")
  if (balanced && !same(spec["loadBalancerClass"], old["loadBalancerClass"])) {
    problems.push(
      invalidValue("spec.loadBalancerClass", spec["loadBalancerClass"] ?? null, "may not change once set")
    )
  }
  return problems
}

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]

/** What is wrong with a Service. */
export const serviceProblems = (object: Obj): readonly Problem[] => {
  const spec = objAt(object, "spec")
  const type = text(spec, "type")
  const ports = listAt(spec, "ports")
  const problems: Problem[] = []
  if (ports.length === 0 && !isHeadless(spec) && type !== "ExternalName")
    problems.push(required("spec.ports", ""))
  if (isOutside(spec) && isHeadless(spec)) {
    problems.push(invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`))
  }
  if (type === "ExternalName") problems.push(...externalNameProblems(spec))
  problems.push(...servicePortsProblems(ports))
  problems.push(...labelsProblems(objAt(spec, "selector"), "spec.selector"))
  const affinity = text(spec, "sessionAffinity")
  if (!["ClientIP", "None"].includes(affinity)) {
    problems.push(unsupported("spec.sessionAffinity", affinity, ["ClientIP", "None"]))
  }
  const seconds = get(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds")
  if (affinity === "ClientIP" && typeof seconds === "number" && (seconds <= 0 || seconds > 86400)) {
    const why = "must be greater than 0 and less than 86400"
    problems.push(invalidValue("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, why))
  }
  problems.push(...externalIPProblems(listAt(spec, "externalIPs")))
  if (!TYPES.includes(type)) problems.push(unsupported("spec.type", type, TYPES))
  return [...problems, ...portUseProblems(type, ports), ...typeProblems(spec, type)]
}

const externalNameProblems = (spec: Obj): readonly Problem[] => {
  const name = text(spec, "externalName").replace(/\.$/, "")
  const unfit = ["clusterIPs", "ipFamilies", "ipFamilyPolicy"].filter((field) => spec[field] !== undefined)
  return [
    ...unfit.map((field) => forbiddenField(`spec.${field}`, "may not be set for ExternalName services")),
    ...(name === ""
      ? [required("spec.externalName", "")]
      : subdomainProblems(name).map((each) => invalidValue("spec.externalName", name, each)))
  ]
}

const externalIPProblems = (addresses: readonly unknown[]): readonly Problem[] =>
  addresses.flatMap((address, index) => {
    const why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    return isIPv4(address) || String(address).includes(":")
      ? []
      : [invalidValue(`spec.externalIPs[${index}]`, address, why)]
  })

const servicePortsProblems = (ports: readonly unknown[]): readonly Problem[] => {
  const names = new Set<string>()
  return ports.flatMap((port, index) => {
    const at = `spec.ports[${index}]`
    const [name, number, target] = [text(port, "name"), get(port, "port"), get(port, "targetPort")]
    const problems: Problem[] = []
    if (name === "" && ports.length > 1) problems.push(required(`${at}.name`, ""))
    else if (name !== "") {
      for (const each of labelProblems(name)) problems.push(invalidValue(`${at}.name`, name, each))
      if (names.has(name)) problems.push(duplicate(`${at}.name`, name))
      names.add(name)
    }
    if (!isPort(number)) problems.push(invalidValue(`${at}.port`, number, PORT_RANGE))
    const protocol = text(port, "protocol")
    if (!PROTOCOLS.includes(protocol)) problems.push(unsupported(`${at}.protocol`, protocol, PROTOCOLS))
    if (typeof target === "string") {
      for (const each of portNameProblems(target))
        problems.push(invalidValue(`${at}.targetPort`, target, each))
    } else if (!isPort(target)) problems.push(invalidValue(`${at}.targetPort`, target, PORT_RANGE))
    return problems
  })
}

const portUseProblems = (type: string, ports: readonly unknown[]): readonly Problem[] => {
  const [nodePorts, numbers] = [new Set<string>(), new Set<string>()]
  const problems: Problem[] = []
  for (const [index, port] of ports.entries()) {
    const nodePort = get(port, "nodePort")
    if (nodePort === undefined) continue
    const at = `spec.ports[${index}].nodePort`
    if (type === "ClusterIP") problems.push(forbiddenField(at, "may not be used when `type` is 'ClusterIP'"))
    const key = `${text(port, "protocol")} ${String(nodePort)}`
    if (nodePorts.has(key)) problems.push(duplicate(at, nodePort))
    nodePorts.add(key)
  }
  for (const [index, port] of ports.entries()) {
    const [protocol, number] = [text(port, "protocol"), get(port, "port")]
    const key = `${protocol} ${String(number)}`
    if (numbers.has(key)) {
      const shown = {
        Name: "",
        Protocol: protocol,
        AppProtocol: null,
        Port: number,
        TargetPort: 0,
        NodePort: 0
      }
      problems.push(duplicate(`spec.ports[${index}]`, shown))
    }
    numbers.add(key)
  }
  return problems
}

const typeProblems = (spec: Obj, type: string): readonly Problem[] => {
  const problems: Problem[] = []
  const only = "may only be used when `type` is 'LoadBalancer'"
  if (type !== "LoadBalancer") {
    for (const field of ["allocateLoadBalancerNodePorts", "loadBalancerClass"]) {
      if (spec[field] !== undefined) problems.push(forbiddenField(`spec.${field}`, only))
    }
  }
  const external = text(spec, "externalTrafficPolicy")
  const policies = ["Cluster", "Local"]
  if (!isReachable(spec)) {
    if (external !== "") {
      const why = "may only be set for externally-accessible services"
      problems.push(invalidValue("spec.externalTrafficPolicy", external, why))
    }
  } else if (!policies.includes(external)) {
    problems.push(unsupported("spec.externalTrafficPolicy", external, policies))
  }
  const internal = spec["internalTrafficPolicy"]
  if (typeof internal === "string" && !policies.includes(internal)) {
    problems.push(unsupported("spec.internalTrafficPolicy", internal, policies))
  }
  const spread = spec["trafficDistribution"]
  const spreads = ["PreferClose", "PreferSameNode", "PreferSameZone"]
  if (spread !== undefined && !spreads.includes(String(spread))) {
    problems.push(unsupported("spec.trafficDistribution", spread, spreads))
  }
  return problems
}
