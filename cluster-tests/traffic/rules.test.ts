/** Listings of the kernel's rules, as kube-proxy 1.37 makes them, and what is read from them. */
import { describe, expect, test } from "vitest"
import { fromIptables, fromNft } from "./rules.ts"

const SERVICE = "10.96.0.20:80/tcp"

describe("fromNft", () => {
  test("follows a random choice among endpoints", () => {
    const choice = [
      [0, { concat: ["10.244.1.11", 8080] }],
      [1, { concat: ["10.244.2.11", 8080] }]
    ]
    const numgen = { numgen: { mode: "random", mod: 2, offset: 0 } }
    const dnat = { family: "ip", addr: { map: { key: numgen, data: { set: choice } } } }
    const rules = fromNft(nft([leads("service-a"), rule("service-a", [{ dnat }])]))
    expect(rules.get(SERVICE)).toEqual(["10.244.1.11:8080", "10.244.2.11:8080"])
  })

  test("follows chains of their own for endpoints, as session affinity has them", () => {
    const rules = fromNft(
      nft([
        leads("service-a"),
        rule("service-a", [{ vmap: { data: { set: [[0, { goto: { target: "endpoint-b" } }]] } } }]),
        rule("service-a", [{ match: {} }, { goto: { target: "endpoint-c" } }]),
        rule("endpoint-b", [{ dnat: { family: "ip", addr: "10.244.2.11", port: 8080 } }]),
        rule("endpoint-c", [{ dnat: { family: "ip", addr: "10.244.1.11", port: 8080 } }])
      ])
    )
    expect(rules.get(SERVICE)).toEqual(["10.244.1.11:8080", "10.244.2.11:8080"])
  })

  test("knows a Service that is refused from one that has no rule", () => {
    const key = { elem: { val: { concat: ["10.96.0.20", "tcp", 80] }, comment: "default/a" } }
    const elem = [[key, { goto: { target: "reject-chain" } }]]
    const refused = fromNft(
      nft([{ map: { table: "kube-proxy", name: "no-endpoint-services", map: "verdict", elem } }])
    )
    expect(refused.get(SERVICE)).toEqual([])
    expect(fromNft(nft([])).get(SERVICE)).toBeUndefined()
  })

  test("takes no notice of other tables", () => {
    expect(fromNft(nft([leads("service-a")]).replaceAll("kube-proxy", "mine")).size).toBe(0)
  })
})

describe("fromIptables", () => {
  test("follows a Service to its endpoints, past the marks for masquerading", () => {
    const rules = fromIptables(`*nat
-A KUBE-SERVICES -d 10.96.0.20/32 -p tcp -m comment --comment "default/a cluster IP" -m tcp --dport 80 -j KUBE-SVC-A
-A KUBE-SERVICES -m comment --comment "must be the last rule" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
-A KUBE-SVC-A ! -s 10.244.0.0/16 -d 10.96.0.20/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ
-A KUBE-SVC-A -m comment --comment "default/a -> 10.244.2.11:8080" -m statistic --mode random --probability 0.5 -j KUBE-SEP-B
-A KUBE-SVC-A -m comment --comment "default/a -> 10.244.1.11:8080" -j KUBE-SEP-C
-A KUBE-SEP-B -s 10.244.2.11/32 -j KUBE-MARK-MASQ
-A KUBE-SEP-B -p tcp -m tcp -j DNAT --to-destination 10.244.2.11:8080
-A KUBE-SEP-C -p tcp -m tcp -j DNAT --to-destination 10.244.1.11:8080
COMMIT
`)
    expect([...rules]).toEqual([[SERVICE, ["10.244.1.11:8080", "10.244.2.11:8080"]]])
  })

  test("knows a Service that is refused", () => {
    const rules = fromIptables(`*filter
-A KUBE-SERVICES -d 10.96.0.20/32 -p tcp -m comment --comment "default/a has no endpoints" -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable
COMMIT
`)
    expect([...rules]).toEqual([[SERVICE, []]])
  })
})

const nft = (entries: readonly unknown[]): string =>
  JSON.stringify({ nftables: [{ metainfo: {} }, ...entries] })

const rule = (chain: string, expr: readonly unknown[]): unknown => ({
  rule: { table: "kube-proxy", chain, expr }
})

const leads = (target: string): unknown => ({
  map: {
    table: "kube-proxy",
    name: "service-ips",
    map: "verdict",
    elem: [[{ concat: ["10.96.0.20", "tcp", 80] }, { goto: { target } }]]
  }
})
