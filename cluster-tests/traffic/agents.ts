/** The test's side of the agents: one in each node's namespace, ordered about over a channel. */
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { join } from "node:path"
import { lastWords } from "../processes.ts"
import type { Done, Lookup, Numbered, Order, Page, RecordType, Reply } from "./messages.ts"
import { PATH } from "./namespaces.ts"
import type { NodeNetwork } from "./network.ts"

export class Agent {
  readonly node: NodeNetwork
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { readonly done: (done: Done) => void; readonly order: Order }>()
  #next = 0
  #ended: string | undefined

  constructor(node: NodeNetwork, folder: string) {
    this.node = node
    const log = join(folder, `agent-${node.name}.log`)
    const out = openSync(log, "a")
    const [program = "", ...args] = node.inside([process.execPath, join(import.meta.dirname, "agent.ts")])
    this.#child = spawn(program, args, {
      env: { PATH },
      stdio: ["ignore", out, out, "ipc"]
    })
    closeSync(out)
    this.#child.on("message", (done: Done) => {
      this.#waiting.get(done.id)?.done(done)
      this.#waiting.delete(done.id)
    })
    this.#child.once("exit", (code, signal) => {
      this.#ended = `the agent of ${node.name} ended with ${signal ?? `code ${code}`}: ${lastWords(log)}`
      for (const [id, { done }] of this.#waiting) done({ id, error: this.#ended })
    })
  }

  /** Begins to answer for a pod at an address. */
  async serve(address: string, answer: string): Promise<void> {
    await this.#order({ _tag: "Serve", address, answer })
  }

  async leave(address: string): Promise<void> {
    await this.#order({ _tag: "Leave", address })
  }

  /** So many requests to a URL, each over a connection of its own. */
  async ask(url: string, times: number): Promise<readonly Reply[]> {
    return (await this.#order({ _tag: "Ask", url, times })) as readonly Reply[]
  }

  async get(url: string): Promise<Page> {
    return (await this.#order({ _tag: "Get", url })) as Page
  }

  /** Asks a DNS server, such as `127.0.0.1:53`. */
  async resolve(server: string, type: RecordType, name: string): Promise<Lookup> {
    return (await this.#order({ _tag: "Resolve", server, type, name })) as Lookup
  }

  /** Asks one URL all along, from now on. */
  async begin(url: string): Promise<void> {
    await this.#order({ _tag: "Begin", url })
  }

  /** What came of it since the last time that this was asked. */
  async told(): Promise<readonly Reply[]> {
    return (await this.#order({ _tag: "Tell" })) as readonly Reply[]
  }

  async end(): Promise<void> {
    if (this.#ended !== undefined) return
    const gone = new Promise((resolve) => this.#child.once("exit", resolve))
    this.#child.kill("SIGKILL")
    await gone
  }

  #order(order: Order): Promise<unknown> {
    const id = ++this.#next
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(new Error(this.#ended))
      const done = ({ given, error }: Done): void => {
        if (error === undefined) resolve(given)
        else reject(new Error(`${this.node.name}: ${order._tag}: ${error}`))
      }
      this.#waiting.set(id, { done, order })
      this.#child.send({ id, order } satisfies Numbered)
    })
  }
}
