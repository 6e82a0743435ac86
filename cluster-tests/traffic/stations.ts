/** What runs on the nodes: on each a wrapper, and a kube-proxy that knows no other way to the API server. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseAllDocuments } from "yaml"
import { type Access, at } from "../client.ts"
import { type ControlPlane, kubeconfigOf } from "../control-plane.ts"
import { accessOf, bundle } from "../controller.ts"
import { done } from "../kubectl.ts"
import type { Daemon } from "../processes.ts"
import type { Agent } from "./agents.ts"
import { type Behind, type Mode, proxied, proxy, wiped } from "./proxies.ts"
import { type Upstream, WRAPPER, wrapped, wrapper } from "./wrappers.ts"

export class Station {
  readonly agent: Agent
  readonly #upstream: Upstream
  readonly #behind: Behind
  #wrapper: Daemon
  #proxy: Daemon

  constructor(agent: Agent, upstream: Upstream, behind: Behind) {
    this.agent = agent
    this.#upstream = upstream
    this.#behind = behind
    this.#wrapper = wrapper(agent, upstream)
    this.#proxy = proxy(agent, behind)
  }

  /** Waits until both do their work. */
  async ready(): Promise<void> {
    await wrapped(this.agent, this.#wrapper)
    await proxied(this.agent, this.#proxy)
  }

  /** Ends programs as a crash does. */
  async crash(...programs: readonly ("wrapper" | "proxy")[]): Promise<void> {
    if (programs.includes("wrapper")) await this.#wrapper.kill()
    if (programs.includes("proxy")) await this.#proxy.kill()
  }

  /** Starts what has ended, and waits until it does its work. */
  async restart(): Promise<void> {
    if (this.#wrapper.ending() !== undefined) this.#wrapper = wrapper(this.agent, this.#upstream)
    if (this.#proxy.ending() !== undefined) this.#proxy = proxy(this.agent, this.#behind)
    await this.ready()
  }

  /** Takes away all rules of its kube-proxy, which must not run. */
  async wipe(): Promise<void> {
    await wiped(this.agent)
  }

  /** What its wrapper answers. */
  async shown(path: string): Promise<unknown> {
    const { code, body } = await this.agent.get(`http://${WRAPPER}${path}`)
    if (code !== 200) throw new Error(`${this.agent.node.name}: GET ${path} of its wrapper: ${code} ${body}`)
    return JSON.parse(body)
  }

  async end(): Promise<void> {
    await this.crash("wrapper", "proxy")
  }
}

/** Starts one for each agent. */
export const staffed = async (
  plane: ControlPlane,
  agents: readonly Agent[],
  mode: Mode
): Promise<readonly Station[]> => {
  const { folder } = plane
  const upstream = await upstreamOf(plane)
  const behind = { folder, mode, kubeconfig: join(folder, "behind.kubeconfig") }
  writeFileSync(behind.kubeconfig, JSON.stringify(BEHIND))
  return agents.map((agent) => new Station(agent, upstream, behind))
}

/** What the wrappers of a plane need, let in by the manifest's own account. */
export const upstreamOf = async (plane: ControlPlane): Promise<Upstream> => {
  const { folder } = plane
  const kubeconfig = join(folder, "upstream.kubeconfig")
  writeFileSync(kubeconfig, kubeconfigOf(await admitted(plane, WRAPPER_ACCOUNT)))
  return { folder, programs: bundle(folder), kubeconfig }
}

/** How the account of a manifest is let in, with no more rights than that gives. Nothing that runs is made. */
export const admitted = async (plane: ControlPlane, manifest: string): Promise<Access> => {
  const items = parseAllDocuments(readFileSync(manifest, "utf8"))
    .map((document) => document.toJSON() as unknown)
    .filter((object) => at(object, "kind") !== "DaemonSet")
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items })
  await done(plane.kubectl(["apply", "-f", "-"], { input }))
  const account = items.find((object) => at(object, "kind") === "ServiceAccount")
  return accessOf(
    plane,
    `${String(at(account, "metadata", "namespace"))}:${String(at(account, "metadata", "name"))}`
  )
}

const WRAPPER_ACCOUNT = join(import.meta.dirname, "../../manifests/wrapper/access.yaml")

/** All that kube-proxy has to know: nobody, over plain HTTP. */
const BEHIND = {
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "wrapper", cluster: { server: `http://${WRAPPER}` } }],
  contexts: [{ name: "wrapper", context: { cluster: "wrapper", user: "" } }],
  "current-context": "wrapper"
}
