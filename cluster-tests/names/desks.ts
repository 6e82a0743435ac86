/**
 * Where names are asked: on a node a CoreDNS that answers in one of the two forms, and the program that it needs there, the daemon or the wrapper.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { binaries, CONTROL_PLANE } from "../binaries.ts"
import { GivenUp, until } from "../deadline.ts"
import { type Daemon, daemon, lastWords } from "../processes.ts"
import type { Agent } from "../traffic/agents.ts"
import type { RecordType } from "../traffic/messages.ts"
import { PATH } from "../traffic/namespaces.ts"
import { type Upstream, wrapped, wrapper } from "../traffic/wrappers.ts"
import { DNS_FLAGS } from "../v8-flags.ts"
import { corefile, DNS_PORTS, type Form, READY } from "./corefile.ts"

export type Part = "coredns" | "helper"

export interface Means {
  readonly folder: string
  /** how the daemon is let in */
  readonly daemon: string
  /** how a CoreDNS without a wrapper is let in */
  readonly coredns: string
  readonly upstream: Upstream
}

/** A line of someone else, which is in each hosts file from the beginning. */
export const FOREIGN = { host: "mine.default.svc", address: "192.0.2.99" }

/** Where a wrapper serves CoreDNS. */
export const DNS_LISTEN = "127.0.0.1:51009"
const DNS_HEALTH = "127.0.0.1:51008"

interface Started {
  readonly start: () => Daemon
  readonly ready: (running: Daemon) => Promise<void>
}

export class Desk {
  readonly form: Form
  readonly agent: Agent
  readonly domain: string
  /** of the daemon form */
  readonly hostsFile: string
  readonly #parts: Readonly<Record<Part, Started>>
  readonly #running = new Map<Part, Daemon>()

  constructor(form: Form, agent: Agent, domain: string, means: Means) {
    this.form = form
    this.agent = agent
    this.domain = domain
    this.hostsFile = join(means.folder, `hosts-${agent.node.name}`, "hosts")
    this.#parts = {
      helper:
        form === "daemon"
          ? dnsDaemon(this, means)
          : { start: () => wrapper(agent, means.upstream), ready: (each) => wrapped(agent, each) },
      coredns: coredns(this, means)
    }
  }

  get name(): string {
    return `${this.form} form on ${this.agent.node.name}`
  }

  /** What CoreDNS answers: its records, or NXDOMAIN, NODATA or how it failed. A name that doesn't end in a dot is one in the cluster's domain. */
  async ask(type: RecordType, name: string): Promise<string> {
    return (await this.timed(type, name)).answer
  }

  /** The same, and when it was there. */
  async timed(type: RecordType, name: string): Promise<{ readonly answer: string; readonly at: number }> {
    const full = name.endsWith(".") ? name.slice(0, -1) : `${name}.${this.domain}`
    const server = `${this.agent.node.address}:${DNS_PORTS[this.form]}`
    const { records, failure, at } = await this.agent.resolve(server, type, full)
    return { answer: failure === undefined ? records.join(", ") : (FAILURES.get(failure) ?? failure), at }
  }

  /** Starts what doesn't run. */
  start(...parts: readonly Part[]): void {
    for (const part of parts)
      if (this.#running.get(part)?.ending() !== undefined || !this.#running.has(part))
        this.#running.set(part, this.#parts[part].start())
  }

  /** Ends them as a crash does. */
  async crash(...parts: readonly Part[]): Promise<void> {
    await Promise.all(parts.map(async (part) => this.#running.get(part)?.kill()))
  }

  /** Waits until what was started does its work. */
  async ready(...parts: readonly Part[]): Promise<void> {
    for (const part of parts) {
      const running = this.#running.get(part)
      if (running === undefined) throw new Error(`the ${part} of the ${this.name} was not started`)
      await this.#parts[part].ready(running)
    }
  }
}

const FAILURES = new Map([
  ["ENOTFOUND", "NXDOMAIN"],
  ["ENODATA", "NODATA"],
  ["ESERVFAIL", "SERVFAIL"]
])

const dnsDaemon = (
  { agent, domain, hostsFile }: Desk,
  { folder, daemon: kubeconfig, upstream }: Means
): Started => {
  const { node } = agent
  const name = `dns-${node.name}`
  mkdirSync(join(hostsFile, ".."))
  writeFileSync(hostsFile, `${FOREIGN.address} ${FOREIGN.host}.${domain}\n`)
  const command = [
    process.execPath,
    ...DNS_FLAGS,
    join(upstream.programs, "dns.mjs"),
    `--node-name=${node.name}`,
    `--kubeconfig=${kubeconfig}`,
    `--hosts-file=${hostsFile}`,
    `--cluster-domain=${domain}`,
    `--health-address=${DNS_HEALTH}`,
    "--log-format=json"
  ]
  return {
    start: () => started(agent, name, command, folder),
    ready: (running) => answering(agent, running, `http://${DNS_HEALTH}/readyz`)
  }
}

const coredns = (desk: Desk, { folder, coredns: kubeconfig }: Means): Started => {
  const { form, agent, domain, hostsFile } = desk
  const found = binaries(PROGRAMS)
  if (found._tag === "Missing") throw new Error(found.reason)
  const name = `coredns-${form}-${agent.node.name}`
  const path = join(folder, `${name}.Corefile`)
  writeFileSync(path, corefile({ form, domain, hostsFile, kubeconfig }))
  return {
    start: () => started(agent, name, [found.path("coredns"), "-conf", path], folder),
    ready: (running) => answering(agent, running, `http://${READY[form]}/ready`)
  }
}

/** What can't be missing. */
export const PROGRAMS = [...CONTROL_PLANE, "coredns"] as const

const started = ({ node }: Agent, name: string, command: readonly string[], folder: string): Daemon =>
  daemon(name, node.inside(command), {
    folder,
    log: join(folder, `${name}.log`),
    env: { PATH, HOME: folder, TMPDIR: folder, NODE_ADDRESS: node.address }
  })

const answering = async (agent: Agent, running: Daemon, url: string): Promise<void> => {
  await until({ what: `the readiness of ${running.name} (log: ${running.log})`, seconds: 90 }, async () => {
    const ending = running.ending()
    if (ending !== undefined) throw new GivenUp(`${running.name} ${ending}: ${lastWords(running.log)}`)
    const { code, body } = await agent.get(url)
    if (code !== 200) throw new Error(`${code} ${body}`)
    return true
  })
}
