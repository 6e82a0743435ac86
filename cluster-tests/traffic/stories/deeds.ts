/** What several stories do, and what they look for. */
import { expect } from "vitest"
import { mates, PLACES, type Units } from "../places.ts"
import { type Pod, type Scene, SERVICE } from "../scene.ts"

/** Where the stories' objects of the core group are. */
export const DEFAULT = "/api/v1/namespaces/default"
export const GRIDS = "/apis/superedge.io/v1/namespaces/default"

/** The labels of the pods behind it. */
export const ECHO = { appGrid: "echo" }

export const nothing = (): Promise<void> => Promise.resolve()

export const inUnit = (node: string, pods: readonly Pod[], units: Units = PLACES): readonly Pod[] =>
  pods.filter((pod) => mates(units, node).includes(pod.node))

export const names = (pods: readonly Pod[]): ReadonlySet<string> => new Set(pods.map(({ name }) => name))

export const orNobody = (pods: readonly Pod[]): ReadonlySet<string> =>
  pods.length === 0 ? new Set(["ECONNREFUSED"]) : names(pods)

/** Asks the walkthrough's Service from every node: all ready pods of its unit answer, and nobody else. */
export const answersFromUnits = async (scene: Scene, times: number, units: Units = PLACES): Promise<void> => {
  const pods = await scene.pods()
  for (const [node, answered] of await scene.asked(SERVICE, times))
    expect(answered, node).toEqual(orNobody(inUnit(node, pods, units)))
}

export const podIn = async (scene: Scene, unit: string): Promise<Pod> => {
  const found = (await scene.pods()).find(({ node }) => PLACES[node] === unit)
  if (found === undefined) throw new Error(`no pod in ${unit}`)
  return found
}

/** Those of the nodes that have no pod: with two pods on three nodes there is one at least. */
export const withoutPods = async (scene: Scene, nodes: readonly string[]): Promise<readonly string[]> => {
  const taken = (await scene.pods()).map(({ node }) => node)
  return nodes.filter((node) => !taken.includes(node))
}

/** Changes a grid by a merge patch. */
export const patched = (scene: Scene, path: string, patch: unknown): Promise<unknown> =>
  scene.plane.client.patch(`${GRIDS}/${path}`, "merge", patch)
