/** Whether this machine lets us make nodes with a network of their own, and if not, what is missing. */
import { spawnSync } from "node:child_process"
import { binaries, CONTROL_PLANE, type Program } from "../binaries.ts"
import { PATH } from "./namespaces.ts"

/** The Debian package of each program that kube-proxy or the tests run. */
const PACKAGES = new Map([
  ["ip", "iproute2"],
  ["nft", "nftables"],
  ["iptables-save", "iptables"],
  ["conntrack", "conntrack"],
  ["ipset", "ipset"],
  ["unshare", "util-linux"],
  ["nsenter", "util-linux"]
])

export const PROGRAMS: readonly Program[] = [...CONTROL_PLANE, "kube-proxy"]

/** In one line what is missing for nodes with kube-proxies; undefined: nothing. */
export const obstacle = (): string | undefined => {
  const found = binaries(PROGRAMS)
  return found._tag === "Missing" ? found.reason : obstacleToNetworks()
}

/** The same for networks alone. */
export const obstacleToNetworks = (): string | undefined => {
  if (process.platform !== "linux") return `network namespaces need Linux; this is ${process.platform}`
  const missing = [...PACKAGES].filter(([program]) => !isThere(program))
  if (missing.length > 0) {
    const packages = [...new Set(missing.map(([, name]) => name))]
    return `${missing.map(([program]) => program).join(", ")} not found: apt-get install ${packages.join(" ")}`
  }
  // what is set up in this one is gone with the command
  const trial = spawnSync("unshare", ["--net", "ip", "link", "set", "lo", "up"], { env: { PATH } })
  const refusal = trial.error?.message ?? trial.stderr.toString().trim()
  if (trial.status !== 0) return `no right to make network namespaces (root has it): ${refusal}`
  return undefined
}

const isThere = (program: string): boolean =>
  spawnSync("sh", ["-c", `command -v ${program}`], { env: { PATH } }).status === 0
