/**
 * A cluster in which nothing goes wrong but what a test asks for: for counts and single cases, where a whole story would say too much.
 */
import type { KubeObject } from "../../src/core/kube.ts"
import * as Model from "../../src/embedded/model.ts"
import type { Wrote } from "./server.ts"
import { Stage } from "./stage.ts"
import { type GridWords, simple, SLOTS } from "./words.ts"
import { CHILD, type Thing } from "./world.ts"

/** A stage with these nodes (name -> value of `zone`) and, in the first place, a grid; the loop runs and is at rest. */
export const settled = (
  zones: Readonly<Record<string, string>>,
  words: GridWords | "no grid" = simple,
  o: { readonly place?: number; readonly concurrency?: number } = {}
): Stage => {
  const stage = new Stage({ seed: 0, pageSize: 100, concurrency: o.concurrency ?? 16 })
  for (const [name, zone] of Object.entries(zones)) stage.world.node(name, { zone })
  if (words !== "no grid") stage.world.make(o.place ?? 0, words)
  stage.start()
  stage.advance(3000)
  stage.world.serve(undefined, "ready")
  stage.advance(3000)
  return stage
}

/** What was written while something was done, and time passed, in milliseconds. */
export const during = (stage: Stage, what: () => void, ms = 5000): readonly Wrote[] => {
  const before = stage.server.wrote.length
  what()
  stage.advance(ms)
  return stage.server.wrote.slice(before)
}

const isChild = ({ resource }: Wrote): boolean => Object.values(CHILD).includes(resource)

/** `apply web-a` and the like, of children, in the order of names. */
export const ofChildren = (writes: readonly Wrote[]): readonly string[] =>
  writes
    .filter(isChild)
    .map(({ verb, name }) => `${verb} ${name}`)
    .sort()

export const ofStatus = (writes: readonly Wrote[]): number =>
  writes.filter(({ subresource }) => subresource === "status").length

/** A child of the grid in a place, by the unit. */
export const child = (stage: Stage, unit: string, place = 0): Thing | undefined => {
  const slot = SLOTS[place]
  if (slot === undefined) return undefined
  const name = slot.kind === "ServiceGrid" ? `${slot.name}-svc` : `${slot.name}-${unit}`
  return Model.get(stage.server.cluster, CHILD[slot.kind], slot.namespace, name)
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** A condition of the grid in a place. */
export const condition = (stage: Stage, type: string, place = 0): Condition | undefined => {
  const slot = SLOTS[place]
  const grid = (slot && stage.world.stored(slot)) as Thing | undefined
  const { conditions = [] } = (grid?.status ?? {}) as { readonly conditions?: readonly Condition[] }
  return conditions.find((each) => each.type === type)
}

/** The events that were written about anything. */
export const events = (stage: Stage): readonly KubeObject[] => Model.list(stage.server.cluster, "/events")
