/**
 * What every built-in controller is: a pure step on one object at a time.
 *
 * It is level-triggered. A change only says which objects to look at; what to do is decided from the cluster as it
 * is then, so several changes may be answered by one step, and a step too many does nothing.
 */
import type { Change, Request, Response } from "./cluster.ts"
import type { Lookup } from "./lookup.ts"

export interface Controller {
  readonly name: ControllerName
  /** the objects to look at after a change */
  readonly concerns: (look: Lookup, change: Change) => readonly Concern[]
  /** what to do about one of them now */
  readonly act: (look: Lookup, key: string, at: number) => Act
  /** what to do where the server refuses a request of `act` (nothing, if absent) */
  readonly refused?: (look: Lookup, key: string, response: Response, at: number) => readonly Request[]
}

export interface Concern {
  readonly key: string
  /** milliseconds from the change on; absent means at once */
  readonly after?: number
}

export interface Act {
  readonly requests: readonly Request[]
  /** look again at this time, in milliseconds since the epoch */
  readonly again?: number | undefined
}

export type ControllerName =
  | "collector"
  | "deployments"
  | "replicasets"
  | "statefulsets"
  | "scheduler"
  | "kubelet"
  | "slices"
  | "endpoints"
  | "namespaces"
  | "instant"

export const nothing: Act = { requests: [] }
