/**
 * Carries out one step of a plan: one or two requests, and what came of them.
 *
 * Guarantees: a child is created by an apply that succeeds only where no object has its name (`resourceVersion: "1"`), and
 * changed, taken over or deleted under its uid, so that a stale view never writes into a foreign object. Nothing
 * is retried here: a failure is an outcome.
 */
import * as Effect from "effect/Effect"
import {
  type Child,
  type ChildObject,
  MANAGER,
  ownership,
  REPLICAS_MANAGER,
  strategySwitch,
  SWITCH_MANAGER,
  type Wanted
} from "../core/child.ts"
import { childKind, type Desired } from "../core/desired.ts"
import { type Grid, ownerReference } from "../core/grid.ts"
import { isObject } from "../core/json.ts"
import type { Step } from "../core/plan.ts"
import { Api, type ApiError, type ApiService, type Kind } from "./api.ts"
import { CHILDREN } from "./kinds.ts"

const WORK = ["Create", "Change", "Adopt", "TakeOver", "HandOver", "Switch", "Delete"] as const

/** A step that sends something. */
export type Work = Extract<Step, { readonly _tag: (typeof WORK)[number] }>

export const isWork = (step: Step): step is Work => WORK.some((tag) => tag === step._tag)

export type Outcome =
  /** the child as the server has it now */
  | { readonly _tag: "Written"; readonly object: unknown }
  /** the name is taken by an object that the controller had not seen */
  | { readonly _tag: "Taken"; readonly object: unknown }
  | { readonly _tag: "Deleted" }
  | { readonly _tag: "Failed"; readonly error: ApiError }

const withMeta = (
  object: ChildObject,
  meta: { readonly uid?: string; readonly resourceVersion?: string }
): ChildObject => ({
  ...object,
  metadata: { ...object.metadata, ...meta }
})

const apiVersionOf = ({ group, version }: Kind): string => (group === "" ? version : `${group}/${version}`)

const ours = { manager: MANAGER, force: true }

/** What a step writes to, and under which legacy managers SuperEdge's children stand. */
export interface Subject {
  readonly grid: Grid
  readonly legacy: readonly string[]
  readonly wanted: Wanted | undefined
  readonly objectOf: Desired["objectOf"]
  /** the child that the plan saw */
  readonly child: Child | undefined
}

/** What has no owner is adopted as it was seen: another grid may have been quicker. */
const unowned = (child: Child | undefined): { readonly resourceVersion?: string } =>
  child !== undefined && child.owner === undefined ? { resourceVersion: child.revision } : {}

const written = (object: unknown): Outcome => ({ _tag: "Written", object })

/** The request of a step; of a take-over, a look before it. */
const attempt = (api: ApiService, step: Work, subject: Subject): Effect.Effect<Outcome, ApiError> => {
  const { grid, wanted, objectOf, child } = subject
  const kind = CHILDREN[childKind(grid)]
  const namespace = grid.metadata.namespace ?? ""
  const refused = () => Effect.dieMessage(`${step.name} is planned and refused at once`)
  switch (step._tag) {
    case "Create":
    case "Change": {
      const object = objectOf(step.unit)
      if (object === undefined) return refused()
      const meta = step._tag === "Create" ? { resourceVersion: "1" } : { uid: step.uid, ...unowned(child) }
      return Effect.map(api.apply(kind, withMeta(object, meta), ours), written)
    }
    case "Adopt": {
      const metadata = {
        name: step.name,
        namespace,
        uid: step.uid,
        ownerReferences: [ownerReference(grid)]
      }
      const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata }
      return Effect.map(api.apply(kind, object, { manager: SWITCH_MANAGER, force: true }), written)
    }
    case "HandOver": {
      // The number that was seen, and no other: someone may have scaled since.
      const metadata = { name: step.name, namespace, uid: step.uid, resourceVersion: child?.revision }
      const object = {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        metadata,
        spec: { replicas: step.replicas }
      }
      return Effect.map(api.apply(kind, object, { manager: REPLICAS_MANAGER, force: true }), written)
    }
    case "Switch": {
      const object = objectOf(step.unit)
      if (object === undefined) return refused()
      const patch = strategySwitch(childKind(grid), object, step.uid)
      return Effect.map(api.merge(kind, namespace, step.name, patch, { manager: SWITCH_MANAGER }), written)
    }
    case "TakeOver":
      return Effect.flatMap(api.get(kind, namespace, step.name), (found) => {
        if (!isObject(found) || !isObject(found["metadata"])) return Effect.succeed(written(found))
        const object = found as unknown as ChildObject
        const managedFields = ownership(object, subject.legacy, wanted?.replicas !== undefined)
        if (object.metadata.uid !== step.uid || managedFields === undefined)
          return Effect.succeed(written(object))
        const { uid, resourceVersion } = object.metadata
        const patch = { metadata: { uid, resourceVersion, managedFields } }
        return Effect.map(api.merge(kind, namespace, step.name, patch, { manager: MANAGER }), written)
      })
    case "Delete":
      // As it was seen, and no other: someone may have taken it out of our hands since.
      return Effect.as(
        api.remove(kind, namespace, step.name, {
          uid: step.uid,
          ...(child !== undefined && { resourceVersion: child.revision })
        }),
        { _tag: "Deleted" }
      )
  }
}

/** Sends what a step asks for. Never fails: what the server said is the outcome. */
export const act = (step: Work, subject: Subject): Effect.Effect<Outcome, never, Api> =>
  Effect.flatMap(Api, (api) =>
    Effect.catchAll(attempt(api, step, subject), (error): Effect.Effect<Outcome> => {
      const failed: Outcome = { _tag: "Failed", error }
      const kind = CHILDREN[childKind(subject.grid)]
      const look = api.get(kind, subject.grid.metadata.namespace ?? "", step.name)
      if (step._tag === "Delete" && error.reason === "NotFound") return gone(look, failed)
      if (step._tag !== "Create" || (error.reason !== "Conflict" && error.reason !== "AlreadyExists"))
        return Effect.succeed(failed)
      return taken(look, failed)
    })
  )

/** Whether an object that was not found is really gone: it was its namespace, or something on the way, that said so. */
const gone = (look: Effect.Effect<unknown, ApiError>, failed: Outcome): Effect.Effect<Outcome> =>
  Effect.match(look, {
    onSuccess: () => failed,
    onFailure: ({ reason }): Outcome => (reason === "NotFound" ? { _tag: "Deleted" } : failed)
  })

/** Looks at the object that has the name already. */
const taken = (look: Effect.Effect<unknown, ApiError>, failed: Outcome): Effect.Effect<Outcome> =>
  Effect.match(look, { onSuccess: (object): Outcome => ({ _tag: "Taken", object }), onFailure: () => failed })
