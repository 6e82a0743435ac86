/**
 * The built-in controllers at work: changes go in, the requests that they lead to are made, until none is left.
 *
 * Everything is a value: a world can be kept, compared, and continued from twice. One `turn` is one step of one
 * controller, so that a test may put anything between two of them; `settled` takes turns until nothing is due.
 */
import type { Change, Cluster, Request } from "./cluster.ts"
import { collector } from "./collector.ts"
import type { Concern, Controller, ControllerName } from "./controller.ts"
import { deployments } from "./deployments.ts"
import { endpoints } from "./endpoints.ts"
import { instant } from "./instant.ts"
import { kubelet } from "./kubelet.ts"
import { afterChanges, lookup, type Lookup } from "./lookup.ts"
import { list, resources, step } from "./model.ts"
import { namespaces } from "./namespaces.ts"
import { replicasets } from "./replicasets.ts"
import { scheduler } from "./scheduler.ts"
import { slices } from "./slices.ts"
import { statefulsets } from "./statefulsets.ts"

/** A cluster, and what its controllers still have to look at. */
export interface World {
  readonly look: Lookup
  readonly controllers: readonly Controller[]
  /** due now, first come first served */
  readonly queue: readonly Work[]
  /** due later, in no order */
  readonly timers: ReadonlyMap<string, Timer>
}

interface Work {
  readonly controller: Controller
  readonly key: string
}

interface Timer extends Work {
  readonly at: number
}

export interface Settled {
  readonly world: World
  readonly changes: readonly Change[]
  /** when the next timer is due, in milliseconds since the epoch */
  readonly due: number | undefined
}

/** The usual controllers, or those named; pods become ready after this time, in milliseconds. */
export const controllers = (
  names: readonly ControllerName[] = ALL,
  podStartDelay = 0
): readonly Controller[] =>
  [
    collector,
    namespaces,
    deployments,
    replicasets,
    statefulsets,
    scheduler,
    kubelet(podStartDelay),
    slices,
    endpoints,
    instant
  ].filter(({ name }) => names.includes(name))

/** A world in which every object that there is has yet to be looked at. */
export const world = (cluster: Cluster, active: readonly Controller[], at: number): World => {
  const empty: World = { look: lookup(cluster), controllers: active, queue: [], timers: new Map() }
  if (active.length === 0) return empty
  const seen = new Set<string>()
  const all: Change[] = []
  for (const { group, plural } of resources(cluster)) {
    const resource = `${group}/${plural}`
    if (seen.has(resource)) continue
    seen.add(resource)
    for (const object of list(cluster, resource)) {
      all.push({ revision: cluster.revision, resource, type: "ADDED", object, before: undefined })
    }
  }
  return concerned(empty, all, at)
}

/** The world after requests of others: the cluster that they led to, and the changes that tell of it. */
export const told = (before: World, cluster: Cluster, changes: readonly Change[], at: number): World => {
  if (before.controllers.length === 0) return { ...before, look: { ...before.look, cluster } }
  return concerned({ ...before, look: afterChanges(before.look, cluster, changes) }, changes, at)
}

/** One step of one controller; nothing changes if none is due. */
export const turn = (
  before: World,
  at: number
): { readonly world: World; readonly changes: readonly Change[] } => {
  const desk = open(before)
  const changes = next(desk, at)
  return { world: close(desk), changes: changes ?? [] }
}

/** The world after every step that is due, or after so many steps if that comes first. */
export const settled = (before: World, at: number, limit = LIMIT): Settled => {
  const desk = open(before)
  const changes: Change[] = []
  for (let count = 0; count < limit; count++) {
    const made = next(desk, at)
    if (made === undefined) break
    changes.push(...made)
  }
  const after = close(desk)
  return { world: after, changes, due: after.queue.length > 0 ? at : dueOf(after) }
}

/** Whether a step is due now. */
export const isIdle = (state: World, at: number): boolean =>
  state.queue.length === 0 && ![...state.timers.values()].some((timer) => timer.at <= at)

/** When the next timer is due. */
export const dueOf = (state: World): number | undefined => {
  let first: number | undefined
  for (const { at } of state.timers.values()) if (first === undefined || at < first) first = at
  return first
}

/** A world that is being worked on: the same, with a queue that can be taken from. */
interface Desk {
  look: Lookup
  readonly controllers: readonly Controller[]
  readonly queue: Map<string, Work>
  readonly timers: Map<string, Timer>
}

const open = (state: World): Desk => ({
  look: state.look,
  controllers: state.controllers,
  queue: new Map(state.queue.map((work) => [idOf(work), work])),
  timers: new Map(state.timers)
})

const close = (desk: Desk): World => ({
  look: desk.look,
  controllers: desk.controllers,
  queue: [...desk.queue.values()],
  timers: desk.timers
})

/** The changes of the next step that is due; undefined where there is none. */
const next = (desk: Desk, at: number): readonly Change[] | undefined => {
  if (desk.queue.size === 0) wake(desk, at)
  const [first] = desk.queue
  if (first === undefined) return undefined
  const [id, { controller, key }] = first
  desk.queue.delete(id)
  const { requests, again } = controller.act(desk.look, key, at)
  if (again === undefined) desk.timers.delete(id)
  else desk.timers.set(id, { controller, key, at: again })
  const changes = requests.flatMap((request) => sent(desk, controller, key, request, at))
  return changes
}

const sent = (
  desk: Desk,
  controller: Controller,
  key: string,
  request: Request,
  at: number
): readonly Change[] => {
  const { cluster, response, changes } = step(desk.look.cluster, request)
  heard(desk, cluster, changes, at)
  if (response.code < 400 || controller.refused === undefined) return changes
  const more = controller.refused(desk.look, key, response, at).flatMap((each) => {
    const answer = step(desk.look.cluster, each)
    heard(desk, answer.cluster, answer.changes, at)
    return answer.changes
  })
  return [...changes, ...more]
}

const heard = (desk: Desk, cluster: Cluster, changes: readonly Change[], at: number): void => {
  desk.look = afterChanges(desk.look, cluster, changes)
  for (const change of changes) {
    for (const controller of desk.controllers) {
      for (const concern of controller.concerns(desk.look, change)) note(desk, controller, concern, at)
    }
  }
}

const note = (desk: Desk, controller: Controller, { key, after }: Concern, at: number): void => {
  const work = { controller, key }
  const id = idOf(work)
  if (after === undefined || after <= 0) desk.queue.set(id, work)
  else desk.timers.set(id, { ...work, at: at + after })
}

const wake = (desk: Desk, at: number): void => {
  for (const [id, timer] of desk.timers) {
    if (timer.at > at) continue
    desk.timers.delete(id)
    desk.queue.set(id, timer)
  }
}

const concerned = (state: World, changes: readonly Change[], at: number): World => {
  const desk = open(state)
  for (const change of changes) {
    for (const controller of desk.controllers) {
      for (const concern of controller.concerns(desk.look, change)) note(desk, controller, concern, at)
    }
  }
  return close(desk)
}

const idOf = ({ controller, key }: Work): string => `${controller.name} ${key}`

const ALL: readonly ControllerName[] = [
  "collector",
  "namespaces",
  "deployments",
  "replicasets",
  "statefulsets",
  "scheduler",
  "kubelet",
  "slices",
  "endpoints"
]

/** More steps than any settled world needs: a bound against controllers that would undo each other for ever. */
const LIMIT = 1_000_000
