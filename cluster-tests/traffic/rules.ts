/** Where a node's rules lead, read from the kernel's own listing of them. */
import { at } from "../client.ts"
import type { NodeNetwork } from "./network.ts"
import type { Mode } from "./proxies.ts"

/** From a Service's address, such as "10.96.0.1:443/tcp", to the addresses that its rule leads to, sorted; none: it is refused. */
export type Rules = ReadonlyMap<string, readonly string[]>

/** What a node's kube-proxy has programmed. */
export const programmed = async (node: NodeNetwork, mode: Mode): Promise<Rules> =>
  mode === "nftables"
    ? fromNft(await node.run(["nft", "-j", "list", "ruleset"]))
    : fromIptables(await node.run(["iptables-save"]))

/** Of `nft -j list ruleset`. */
export const fromNft = (text: string): Rules => {
  const listed = (at(JSON.parse(text), "nftables") ?? []) as readonly unknown[]
  const table = listed.flatMap((entry) =>
    ["rule", "map"].map((kind) => at(entry, kind)).filter((each) => at(each, "table") === "kube-proxy")
  )
  const chain = (name: unknown): readonly unknown[] => table.filter((each) => at(each, "chain") === name)
  const elements = (name: string): readonly (readonly [string, unknown])[] => {
    const map = table.find((each) => at(each, "map") !== undefined && at(each, "name") === name)
    return ((at(map, "elem") ?? []) as readonly unknown[]).map((each) => {
      // an element with a comment is one deeper
      const key = at(each, 0, "elem", "val") ?? at(each, 0)
      const [ip, protocol, port] = at(key, "concat") as readonly unknown[]
      return [`${String(ip)}:${String(port)}/${String(protocol)}`, at(each, 1, "goto", "target")] as const
    })
  }
  const leads = (name: unknown): readonly string[] =>
    chain(name).flatMap((rule) => [
      ...all(rule, "dnat").flatMap(destinations),
      ...all(rule, "goto").flatMap((each) => leads(at(each, "target")))
    ])
  const refused = elements("no-endpoint-services").map(([service]) => [service, []] as const)
  return new Map([
    ...refused,
    ...elements("service-ips").map(([service, target]) => [service, unique(leads(target))] as const)
  ])
}

/** Of nft's `dnat`: one address, or a map from numbers to addresses. */
const destinations = (dnat: unknown): readonly string[] => {
  const { addr, port } = dnat as { readonly addr: unknown; readonly port?: number }
  if (typeof addr === "string") return [`${addr}:${port}`]
  return all(addr, "concat")
    .filter((each) => at(each, 0) !== undefined && typeof at(each, 1) === "number")
    .map((each) => `${String(at(each, 0))}:${String(at(each, 1))}`)
}

/** Every value that stands under a name, at any depth. */
const all = (value: unknown, name: string): readonly unknown[] => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([key, each]) => [
    ...(key === name ? [each] : []),
    ...all(each, name)
  ])
}

/** Of `iptables-save`. */
export const fromIptables = (text: string): Rules => {
  const chains = new Map<string, string[]>()
  for (const line of text.split("\n")) {
    const [, name = "", rule = ""] = /^-A (\S+) (.*)$/.exec(line) ?? []
    chains.set(name, [...(chains.get(name) ?? []), rule])
  }
  const leads = (name: string): readonly string[] =>
    (chains.get(name) ?? []).flatMap((rule) => {
      const to = option(rule, "--to-destination")
      const next = option(rule, "-j") ?? ""
      return to === undefined ? (/^KUBE-(SVC|SVL|SEP)-/.test(next) ? leads(next) : []) : [to]
    })
  const rules = new Map<string, readonly string[]>()
  for (const rule of chains.get("KUBE-SERVICES") ?? []) {
    const [ip, port, protocol] = ["-d", "--dport", "-p"].map((name) => option(rule, name))
    if (ip === undefined || port === undefined) continue
    const service = `${ip.replace("/32", "")}:${port}/${protocol ?? ""}`
    const target = option(rule, "-j") ?? ""
    rules.set(service, target === "REJECT" ? [] : unique(leads(target)))
  }
  return rules
}

const option = (rule: string, name: string): string | undefined =>
  new RegExp(`(?:^| )${name} (\\S+)`).exec(rule)?.[1]

const unique = (addresses: readonly string[]): readonly string[] => [...new Set(addresses)].sort()
