/**
 * The rules of Endpoints and ServiceCIDRs, in the server's words.
 */
import { isIPv4, isIPv6 } from "node:net"
import { get, listAt, objAt, same, text, type Obj } from "./json.ts"
import { IMMUTABLE } from "./metadata.ts"
import { keyProblems, labelProblems, subdomainProblems } from "./names.ts"
import { isPort, PORT_RANGE, PROTOCOLS } from "./podrules.ts"
import { invalidValue, required, unsupported, type Problem } from "./status.ts"

export const endpoints = (object: Obj, before: Obj | undefined): readonly Problem[] => {
  // what was there before isn't judged again
  if (before && same(object["subsets"] ?? [], before["subsets"] ?? [])) return []
  return listAt(object, "subsets").flatMap((subset, index) => subsetProblems(subset, `subsets[${index}]`))
}

const subsetProblems = (subset: unknown, at: string): readonly Problem[] => {
  const problemsOf = (field: string): readonly Problem[] =>
    listAt(subset, field).flatMap((address, index) => addressProblems(address, `${at}.${field}[${index}]`))
  const ports = listAt(subset, "ports")
  const isEmpty = listAt(subset, "addresses").length + listAt(subset, "notReadyAddresses").length === 0
  return [
    ...(isEmpty ? [required(at, "must specify `addresses` or `notReadyAddresses`")] : []),
    ...problemsOf("addresses"),
    ...problemsOf("notReadyAddresses"),
    ...ports.flatMap((port, index) => portProblems(port, ports.length > 1, `${at}.ports[${index}]`))
  ]
}

const addressProblems = (address: unknown, at: string): readonly Problem[] => {
  const [ip, hostname, node] = [text(address, "ip"), text(address, "hostname"), get(address, "nodeName")]
  return [
    ...ipProblems(ip, `${at}.ip`),
    ...(hostname === ""
      ? []
      : labelProblems(hostname).map((each) => invalidValue(`${at}.hostname`, hostname, each))),
    ...(typeof node === "string"
      ? subdomainProblems(node).map((each) => invalidValue(`${at}.nodeName`, node, each))
      : []),
    ...unfitProblems(ip, `${at}.ip`)
  ]
}

/** An address as old parsers take it: with zeros before its numbers. */
const withoutZeros = (ip: string): string => ip.replaceAll(/(^|[.:])0+(?=\d+(\.|$))/g, "$1")

const isAddress = (ip: string): boolean => isIPv4(ip) || (isIPv6(ip) && !ip.includes("%"))

const ipProblems = (ip: string, at: string): readonly Problem[] => {
  if (!isAddress(withoutZeros(ip)))
    return [invalidValue(at, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")]
  if (!isAddress(ip)) return [invalidValue(at, ip, "must not have leading 0s")]
  return /^::ffff:/i.test(ip) ? [invalidValue(at, ip, "must not be an IPv4-mapped IPv6 address")] : []
}

/** Addresses that no client could reach an endpoint at. */
const unfitProblems = (ip: string, at: string): readonly Problem[] => {
  const plain = withoutZeros(ip).replace(/^::ffff:(?=\d+\.)/i, "")
  if (!isAddress(plain)) return [invalidValue(at, ip, "must be a valid IP address")]
  const found = UNFIT.find(([range]) => range.test(plain))
  return found === undefined ? [] : [invalidValue(at, ip, found[1].replace("%", ip))]
}

const UNFIT: readonly (readonly [RegExp, string])[] = [
  [/^(0\.0\.0\.0|::)$/, "may not be unspecified (%)"],
  [/^(127\.|::1$)/, "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  [/^(169\.254\.|fe[89ab][0-9a-f]:)/i, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  [/^(224\.0\.0\.|ff.2:)/i, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"]
]

const portProblems = (port: unknown, isNamed: boolean, at: string): readonly Problem[] => {
  const [name, number, protocol] = [text(port, "name"), get(port, "port") ?? 0, text(port, "protocol")]
  const application = get(port, "appProtocol")
  return [
    ...(name === ""
      ? isNamed
        ? [required(`${at}.name`, "")]
        : []
      : labelProblems(name).map((each) => invalidValue(`${at}.name`, name, each))),
    ...(isPort(number) ? [] : [invalidValue(`${at}.port`, number, PORT_RANGE)]),
    ...(PROTOCOLS.includes(protocol) ? [] : [unsupported(`${at}.protocol`, protocol, PROTOCOLS)]),
    ...(typeof application === "string"
      ? keyProblems(application).map((each) => invalidValue(`${at}.appProtocol`, application, each))
      : [])
  ]
}

const CIDRS = "spec.cidrs"

export const serviceCIDR = (object: Obj, before: Obj | undefined): readonly Problem[] => {
  const now = listAt(object, "spec", "cidrs")
  if (!before) return rangeProblems(objAt(object, "spec"))
  const then = listAt(before, "spec", "cidrs")
  const changed = then.flatMap((each, index) =>
    each === now[index] ? [] : [invalidValue(`${CIDRS}[${index}]`, now[index], IMMUTABLE)]
  )
  if (then.length === now.length) return changed
  // a second family may be added
  if (then.length === 1 && now.length === 2) return [...changed, ...rangeProblems(objAt(object, "spec"))]
  return [invalidValue(CIDRS, get(object, "spec", "cidrs") ?? null, IMMUTABLE)]
}

const rangeProblems = (spec: Obj): readonly Problem[] => {
  const ranges = listAt(spec, "cidrs").map(String)
  if (ranges.length === 0) return [required(CIDRS, "at least one CIDR required")]
  if (ranges.length > 2) return [invalidValue(CIDRS, { CIDRs: ranges }, "may only hold up to 2 values")]
  const wrong = ranges.flatMap((range, index) => {
    const [ip = "", length = "", ...more] = range.split("/")
    const bits = isIPv4(ip) ? 32 : 128
    const fits = isAddress(ip) && /^\d{1,3}$/.test(length) && Number(length) <= bits && more.length === 0
    const why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
    return fits ? [] : [invalidValue(`${CIDRS}[${index}]`, range, why)]
  })
  const [one = "", other] = ranges
  const isTwice = other !== undefined && wrong.length === 0 && one.includes(":") === other.includes(":")
  const why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
  return isTwice ? [...wrong, invalidValue(CIDRS, ranges, why)] : wrong
}
