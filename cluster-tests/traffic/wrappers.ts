/** The built wrapper in a node's namespace, let in by the token of the manifest's own ServiceAccount. */
import { join } from "node:path"
import { GivenUp, until } from "../deadline.ts"
import { type Daemon, daemon, lastWords } from "../processes.ts"
import { WRAPPER_ENV, WRAPPER_FLAGS } from "../v8-flags.ts"
import type { Agent } from "./agents.ts"
import { PATH } from "./namespaces.ts"

/** Where a node's kube-proxy finds its wrapper. */
export const WRAPPER = "127.0.0.1:51006"
const HEALTH = "127.0.0.1:51007"

export interface Upstream {
  readonly folder: string
  /** the folder of the built programs */
  readonly programs: string
  readonly kubeconfig: string
  /** flags besides */
  readonly more?: readonly string[]
}

/** Starts one; what it keeps on disk is where the node's last one kept it. */
export const wrapper = ({ node }: Agent, { folder, programs, kubeconfig, more = [] }: Upstream): Daemon => {
  const name = `wrapper-${node.name}`
  const command = [
    process.execPath,
    ...WRAPPER_FLAGS,
    join(programs, "wrapper.mjs"),
    `--node-name=${node.name}`,
    `--kubeconfig=${kubeconfig}`,
    `--listen=${WRAPPER}`,
    `--snapshot=${join(folder, `snapshot-${node.name}`)}`,
    `--snapshot-interval=${KEPT_SECONDS}s`,
    `--health-address=${HEALTH}`,
    "--log-format=json",
    ...more
  ]
  return daemon(name, node.inside(command), {
    folder,
    log: join(folder, `${name}.log`),
    env: { ...WRAPPER_ENV, PATH, HOME: folder, TMPDIR: folder }
  })
}

/** How old its snapshot may be. */
export const KEPT_SECONDS = 2

/** Waits until it answers. */
export const wrapped = async (agent: Agent, running: Daemon): Promise<void> => {
  await until({ what: `the readiness of ${running.name} (log: ${running.log})`, seconds: 90 }, async () => {
    const ending = running.ending()
    if (ending !== undefined) throw new GivenUp(`${running.name} ${ending}: ${lastWords(running.log)}`)
    const { code, body } = await agent.get(`http://${HEALTH}/readyz`)
    if (code !== 200) throw new Error(`${code} ${body}`)
    return true
  })
}
