/**
 * Nodes on one bridge: a network namespace each, with a range of pod addresses that the others know the way to, and one wire to this machine,
 * on whose end the API server listens. The wire can be cut while the nodes still reach each other.
 *
 * Guarantees: nothing of it outlives its maker; two of them at once get wires of their own. Does not: let anything out to other networks.
 */
import { existsSync } from "node:fs"
import { until } from "../deadline.ts"
import { links, type Namespace, namespace } from "./namespaces.ts"

export interface NodeNetwork extends Namespace {
  readonly name: string
  readonly address: string
  /** the nth pod's address, n from 1 to 253 */
  readonly pod: (n: number) => string
}

export interface Network {
  /** this machine's address on the wire */
  readonly address: string
  readonly nodes: ReadonlyMap<string, NodeNetwork>
  /** Nothing gets through between nodes and this machine any more, and nobody is told. */
  readonly cut: () => Promise<void>
  readonly heal: () => Promise<void>
  readonly end: () => Promise<void>
}

export const network = async (names: readonly string[]): Promise<Network> => {
  const held: Namespace[] = []
  const hold = async (name: string): Promise<Namespace> => {
    const made = await namespace(name)
    held.push(made)
    return made
  }
  const end = async (): Promise<void> => {
    await Promise.all(held.map((each) => each.end()))
  }
  try {
    const hub = await hold("hub")
    const number = await wire(hub)
    // a range for measurements of networks (RFC 2544): nobody's own
    const subnet = `198.18.${number}`
    await links(undefined, [`addr add ${subnet}.1/24 dev sg${number}`, `link set sg${number} up`])
    await links(hub, [
      "link set lo up",
      "link add bridge type bridge",
      `addr add ${subnet}.2/24 dev bridge`,
      "link set bridge up",
      "link set host master bridge up",
      // what nobody has an address for is refused at once rather than waited for
      "route add unreachable default"
    ])
    await set(hub)
    const nodes = new Map<string, NodeNetwork>()
    for (const [i, name] of names.entries()) {
      const own = await hold(name)
      nodes.set(name, {
        ...own,
        name,
        address: `${subnet}.${11 + i}`,
        pod: (n) => `10.244.${i + 1}.${n}`
      })
      await links(hub, [
        `link add node-${i + 1} type veth peer name eth0 netns ${own.pid}`,
        `link set node-${i + 1} master bridge up`
      ])
    }
    for (const node of nodes.values()) await furnished(node, [...nodes.values()], `${subnet}.2`)
    return {
      address: `${subnet}.1`,
      nodes,
      cut: async () => void (await links(hub, ["link set host nomaster"])),
      heal: async () => void (await links(hub, ["link set host master bridge"])),
      end: async () => {
        await end()
        const device = `/sys/class/net/sg${number}`
        await until({ what: `the end of the link sg${number}`, seconds: 30 }, () => !existsSync(device))
      }
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** Settings of the kernel, in each namespace. */
const SETTINGS = [
  ["net/ipv4/ip_forward", 1],
  // else only one refusal a second is told, and the other requests wait in vain
  ["net/ipv4/icmp_ratelimit", 0],
  // a request to a pod that has gone would stay in conntrack's memory, and one of two minutes later from the same port be led there too
  ["net/netfilter/nf_conntrack_tcp_timeout_syn_sent", 1],
  // our programs listen where the kernel takes the ports of outgoing connections from: who asks one that isn't up yet may be given its very port
  ["net/ipv4/ip_local_reserved_ports", "51006-51011"]
] as const

const set = async (where: Namespace): Promise<void> => {
  await where.run([
    "sh",
    "-c",
    SETTINGS.map(([name, value]) => `echo ${value} > /proc/sys/${name}`).join(" && ")
  ])
}

/** Makes the first wire that no other run has; its number is that of its subnet. It goes with the hub. */
const wire = async (hub: Namespace): Promise<number> => {
  for (let number = 1; number < 255; number++)
    try {
      await links(undefined, [`link add sg${number} type veth peer name host netns ${hub.pid}`])
      return number
    } catch (error) {
      if (!String(error).includes("File exists")) throw error
    }
  throw new Error("no link name is free: sg1 to sg254 are all there (ip link show type veth)")
}

const furnished = async (node: NodeNetwork, all: readonly NodeNetwork[], gateway: string): Promise<void> => {
  const others = all.filter((each) => each !== node)
  await links(node, [
    "link set lo up",
    `addr add ${node.address}/24 dev eth0`,
    "link set eth0 up",
    // a cluster IP must be routable before it is translated
    `route add default via ${gateway}`,
    ...others.map((each) => `route add ${each.pod(0)}/24 via ${each.address}`)
  ])
  // a pod that has gone is refused at once; a route that says so would tell only some of those who ask in one second, and the packet's
  // way out is no sign, since it is chosen before the cluster IP is translated
  const gone = `ip daddr ${node.pod(0)}/24 fib daddr type != local reject with icmp host-unreachable`
  const chains = ["forward", "output"].flatMap((hook) => [
    `add chain ip gone ${hook} { type filter hook ${hook} priority 0; }`,
    `add rule ip gone ${hook} ${gone}`
  ])
  await node.run(["nft", "-f", "-"], ["add table ip gone", ...chains, ""].join("\n"))
  await set(node)
}
