/** kube-proxy in a node's namespace, in front of whatever serves the Kubernetes API there. */
import { join } from "node:path"
import { binaries } from "../binaries.ts"
import { GivenUp, until } from "../deadline.ts"
import { type Daemon, daemon, lastWords } from "../processes.ts"
import type { Agent } from "./agents.ts"
import { PATH } from "./namespaces.ts"
import { PROGRAMS } from "./obstacle.ts"

export type Mode = "nftables" | "iptables"

export interface Behind {
  readonly folder: string
  readonly kubeconfig: string
  readonly mode: Mode
}

const HEALTH = "127.0.0.1:10256"

const program = (): string => {
  const found = binaries(PROGRAMS)
  if (found._tag === "Missing") throw new Error(found.reason)
  return found.path("kube-proxy")
}

/** Starts one. Its rules stay when it ends. */
export const proxy = ({ node }: Agent, { folder, kubeconfig, mode }: Behind): Daemon => {
  const name = `kube-proxy-${node.name}`
  const command = [
    program(),
    `--kubeconfig=${kubeconfig}`,
    `--proxy-mode=${mode}`,
    `--hostname-override=${node.name}`,
    `--healthz-bind-address=${HEALTH}`,
    "--metrics-bind-address=127.0.0.1:10249",
    // limits of the whole machine, which are not a namespace's to set
    "--conntrack-max-per-core=0",
    "--conntrack-tcp-timeout-established=0",
    "--conntrack-tcp-timeout-close-wait=0",
    "--v=2"
  ]
  return daemon(name, node.inside(command), {
    folder,
    log: join(folder, `${name}.log`),
    env: { PATH, HOME: folder, TMPDIR: folder }
  })
}

/** Waits until it has programmed rules. */
export const proxied = async (agent: Agent, running: Daemon): Promise<void> => {
  await until({ what: `health of ${running.name} (log: ${running.log})`, seconds: 90 }, async () => {
    const ending = running.ending()
    if (ending !== undefined) throw new GivenUp(`${running.name} ${ending}: ${lastWords(running.log)}`)
    const { code, body } = await agent.get(`http://${HEALTH}/healthz`)
    if (code !== 200) throw new Error(`${code} ${body}`)
    return true
  })
}

/** Takes away all rules that kube-proxies left behind on a node. */
export const wiped = async ({ node }: Agent): Promise<void> => {
  await node.run([program(), "--cleanup"])
}
