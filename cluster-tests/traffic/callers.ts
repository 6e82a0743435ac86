/**
 * Callers: one a node that asks the same Service all along, and the judgement of all that it heard.
 *
 * Who may answer changes while a story goes on. A request that was under way while it did is judged by both rules, every other by its own.
 */
import type { Agent } from "./agents.ts"
import { now, type Reply } from "./messages.ts"

/** What holds from a moment on. */
export interface Rule {
  /** what goes on, for whoever reads of a failure */
  readonly what: string
  /** the nodes whose pods may answer a node */
  readonly may: (node: string) => ReadonlySet<string>
  /** the nodes to which it may happen that nobody answers */
  readonly unanswered: ReadonlySet<string>
}

export interface Epoch extends Rule {
  readonly from: number
}

export interface Count {
  readonly answered: number
  readonly unanswered: number
}

/** How often a node was answered; fails at the first reply that no rule of its time allows. */
export const judged = (node: string, replies: readonly Reply[], epochs: readonly Epoch[]): Count => {
  for (const reply of replies) {
    const rules = epochs.filter(({ from }, i) => {
      const until = epochs[i + 1]?.from ?? Infinity
      return from <= reply.to && until >= reply.from
    })
    const by = reply.answer?.split(" ")[1]
    const allowed = rules.some((rule) =>
      by === undefined ? rule.unanswered.has(node) : rule.may(node).has(by)
    )
    if (allowed) continue
    const how =
      reply.answer === undefined ? `failed with ${reply.failure}` : `was answered by ${reply.answer}`
    const when = rules.map(({ what }) => what).join(", then ")
    throw new Error(`a request from ${node} ${how} (during: ${when})`)
  }
  const answered = replies.filter(({ answer }) => answer !== undefined).length
  return { answered, unanswered: replies.length - answered }
}

export class Callers {
  readonly #agents: readonly Agent[]
  readonly #epochs: Epoch[] = []

  constructor(agents: readonly Agent[]) {
    this.#agents = agents
  }

  /** From now on another rule holds. */
  under(rule: Rule): void {
    this.#epochs.push({ ...rule, from: now() })
  }

  async begin(url: string, rule: Rule): Promise<void> {
    this.under(rule)
    for (const agent of this.#agents) await agent.begin(url)
  }

  /** Judges what was heard since the last time; gives the counts of each node. */
  async judge(): Promise<ReadonlyMap<string, Count>> {
    const counts = new Map<string, Count>()
    for (const agent of this.#agents)
      counts.set(agent.node.name, judged(agent.node.name, await agent.told(), this.#epochs))
    return counts
  }

  /** Leaves out of the next judgement what was heard until now. */
  async forget(): Promise<void> {
    for (const agent of this.#agents) await agent.told()
  }
}
