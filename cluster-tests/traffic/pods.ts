/** Pods that answer: each has an address of its node's range, where the node's agent says the pod's name and the node's. */
import type { Agent } from "./agents.ts"
import { at } from "../client.ts"
import type { Addresses } from "../kubelet.ts"

interface Given {
  readonly agent: Agent
  readonly address: string
  /** answers there from then on */
  readonly served: Promise<void>
}

export const pods = (agents: ReadonlyMap<string, Agent>): Addresses => {
  const given = new Map<string, Given>()
  const last = new Map<string, number>()
  const give = (uid: string, pod: unknown): Given => {
    const node = String(at(pod, "spec", "nodeName"))
    const agent = agents.get(node)
    if (agent === undefined) throw new Error(`no agent on node ${node}`)
    // no address is given twice soon: what a rule that is late leads to is nobody
    const number = ((last.get(node) ?? 9) % 253) + 1
    last.set(node, number)
    const address = agent.node.pod(number)
    const served = agent.serve(address, `${String(at(pod, "metadata", "name"))} ${node}`)
    const made = { agent, address, served }
    given.set(uid, made)
    return made
  }
  return {
    give: async (pod) => {
      const uid = String(at(pod, "metadata", "uid"))
      const { agent, address, served } = given.get(uid) ?? give(uid, pod)
      await served
      return { podIP: address, hostIP: agent.node.address }
    },
    take: async (pod) => {
      const uid = String(at(pod, "metadata", "uid"))
      const gone = given.get(uid)
      given.delete(uid)
      await gone?.served
      await gone?.agent.leave(gone.address)
    }
  }
}
