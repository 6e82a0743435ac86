/**
 * The rules of Services: what is refused on creation and on change, in the server's words.
 */
import { isHeadless, isIPv4, isOutside, isReachable, needsAddress } from "./addresses.ts"
import { get, listAt, objAt, same, text, type Obj } from "./json.ts"
import { labelsProblems } from "./metadata.ts"
import { labelProblems, portNameProblems, subdomainProblems } from "./names.ts"
import { isPort, PORT_RANGE, PROTOCOLS } from "./podrules.ts"
import { duplicate, forbiddenField, invalidValue, required, unsupported, type Problem } from "./status.ts"

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
