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
import { Api, type ApiError, type Kind } from "./api.ts"
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

const attempt = (
  step: Work,
  { grid, legacy, wanted, objectOf, child }: Subject
): Effect.Effect<Outcome, ApiError, Api> =>
  Effect.gen(function* () {
    const api = yield* Api
    const kind = CHILDREN[childKind(grid)]
    const namespace = grid.metadata.namespace ?? ""
    const written = (object: unknown): Outcome => ({ _tag: "Written", object })
    switch (step._tag) {
      case "Create":
      case "Change": {
        const object = objectOf(step.unit)
        if (object === undefined)
          return yield* Effect.dieMessage(`${step.name} is planned and refused at once`)
        const meta = step._tag === "Create" ? { resourceVersion: "1" } : { uid: step.uid, ...unowned(child) }
        return written(yield* api.apply(kind, withMeta(object, meta), ours))
      }
      case "Adopt": {
        const metadata = {
          name: step.name,
          namespace,
          uid: step.uid,
          ownerReferences: [ownerReference(grid)]
        }
        const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata }
        return written(yield* api.apply(kind, object, { manager: SWITCH_MANAGER, force: true }))
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
        return written(yield* api.apply(kind, object, { manager: REPLICAS_MANAGER, force: true }))
      }
      case "Switch": {
        const object = objectOf(step.unit)
        if (object === undefined)
          return yield* Effect.dieMessage(`${step.name} is planned and refused at once`)
        const patch = strategySwitch(childKind(grid), object, step.uid)
        return written(yield* api.merge(kind, namespace, step.name, patch, { manager: SWITCH_MANAGER }))
      }
      case "TakeOver": {
        const found = yield* api.get(kind, namespace, step.name)
        if (!isObject(found) || !isObject(found["metadata"])) return written(found)
        const object = found as unknown as ChildObject
        const managedFields = ownership(object, legacy, wanted?.replicas !== undefined)
        if (object.metadata.uid !== step.uid || managedFields === undefined) return written(object)
        const patch = {
          metadata: { uid: step.uid, resourceVersion: object.metadata.resourceVersion, managedFields }
        }
        return written(yield* api.merge(kind, namespace, step.name, patch, { manager: MANAGER }))
      }
      case "Delete":
        // As it was seen, and no other: someone may have taken it out of our hands since.
        yield* api.remove(kind, namespace, step.name, {
          uid: step.uid,
          ...(child !== undefined && { resourceVersion: child.revision })
        })
        return { _tag: "Deleted" }
    }
  })

/** Sends what a step asks for. Never fails: what the server said is the outcome. */
export const act = (step: Work, subject: Subject): Effect.Effect<Outcome, never, Api> =>
  attempt(step, subject).pipe(
    Effect.catchAll((error): Effect.Effect<Outcome, never, Api> => {
      if (step._tag === "Delete" && error.reason === "NotFound") return gone(step, subject.grid, error)
      if (step._tag !== "Create" || (error.reason !== "Conflict" && error.reason !== "AlreadyExists"))
        return Effect.succeed({ _tag: "Failed", error })
      return taken(step, subject.grid, error)
    })
  )

/** Whether an object that was not found is really gone: it was its namespace, or something on the way, that said so. */
const gone = (step: Work, grid: Grid, error: ApiError) =>
  Api.pipe(
    Effect.flatMap((api) => api.get(CHILDREN[childKind(grid)], grid.metadata.namespace ?? "", step.name)),
    Effect.as<Outcome>({ _tag: "Failed", error }),
    Effect.catchAll((answer) =>
      Effect.succeed<Outcome>(answer.reason === "NotFound" ? { _tag: "Deleted" } : { _tag: "Failed", error })
    )
  )

/** Looks at the object that has the name already. */
const taken = (step: Work, grid: Grid, error: ApiError) =>
  Api.pipe(
    Effect.flatMap((api) => api.get(CHILDREN[childKind(grid)], grid.metadata.namespace ?? "", step.name)),
    Effect.map((object): Outcome => ({ _tag: "Taken", object })),
    Effect.catchAll(() => Effect.succeed<Outcome>({ _tag: "Failed", error }))
  )
