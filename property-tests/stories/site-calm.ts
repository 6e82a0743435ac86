/**
 * Sites in which nothing goes wrong but what a test asks for: for counts and single cases, where a whole story would say too much.
 */
import { shown } from "../sited.ts"
import type { Wrote } from "./server.ts"
import { GROUPS, NODES, type SiteKind, UNITS } from "./site-places.ts"
import { Stage } from "./stage.ts"

/** The value of the label that members of a unit carry. */
export const MARK = "nodeunits.superedge.io"

/** What a unit gives its nodes. */
export const front = {
  labels: { x: "1" },
  annotations: { who: "us" },
  taints: [{ key: "t", value: "1", effect: "NoSchedule" }]
}

export const inZone = (zone: string): object => ({ selector: { matchLabels: { zone } } })

type Labels = Readonly<Record<string, string>>

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** A stage with these nodes whose controller looks after sites; it is at rest. */
export const sited = (
  nodes: Readonly<Record<string, Labels>>,
  o: { readonly seed?: number; readonly concurrency?: number; readonly maxNodesChanged?: number } = {}
): Stage => {
  const settings = { seed: 0, pageSize: 100, concurrency: 16, maxNodesChanged: 1, ...o, sites: true }
  const stage = new Stage(settings)
  for (const [name, labels] of Object.entries(nodes)) stage.places.addNode(name, labels)
  stage.start()
  stage.advance(30_000)
  return stage
}

/** So many nodes with the same labels: `n1`, `n2` ... */
export const many = (count: number, labels: Labels): Readonly<Record<string, Labels>> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i + 1}`, labels]))

export const sayUnit = (stage: Stage, name: string, spec: object): void =>
  stage.places.put(UNITS, name, { spec: { type: "edge", ...spec } })

export const sayGroup = (stage: Stage, name: string, spec: object): void =>
  stage.places.put(GROUPS, name, { spec })

/** What stands on a node: labels, annotations, taints, cordon. */
export const nodeAt = (stage: Stage, name: string): ReturnType<typeof shown> => {
  const node = stage.places.node(name)
  if (node === undefined) throw new Error(`no node ${name}`)
  return shown(stage.places.seat(node))
}

/** The status of a unit or group. */
export const statusOf = (stage: Stage, kind: SiteKind, name: string): unknown =>
  stage.places.site(kind, name)?.status

export const conditionOf = (
  stage: Stage,
  kind: SiteKind,
  name: string,
  type = "Degraded"
): Condition | undefined => {
  const { conditions = [] } = (statusOf(stage, kind, name) ?? {}) as {
    readonly conditions?: readonly Condition[]
  }
  return conditions.find((each) => each.type === type)
}

/** The controller dies, and another one begins. */
export const restart = (stage: Stage, meanwhile: () => void = () => {}): void => {
  stage.kill()
  meanwhile()
  stage.start()
}

const SHORT: Readonly<Record<string, string>> = { [NODES]: "node", [UNITS]: "unit", [GROUPS]: "group" }

/** `merge node n1`, `status unit east` and the like, in the order in which they came; events aside. */
export const told = (writes: readonly Wrote[]): readonly string[] =>
  writes
    .filter(({ resource }) => resource !== "/events")
    .map(
      ({ verb, resource, name, subresource }) =>
        `${subresource ?? verb} ${SHORT[resource] ?? resource} ${name}`
    )

export const ofNodes = (writes: readonly Wrote[]): readonly Wrote[] =>
  writes.filter(({ resource }) => resource === NODES)
