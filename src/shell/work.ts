/**
 * Act: carries out the steps of a plan, and learns from what came of them.
 *
 * Guarantees: the answer of a write is in the store before the next pass looks; a step of a plan whose grid was edited
 * meanwhile is left out; a failure delays its own child alone.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { type Child, type ChildObject, MANAGER, type Wanted } from "../core/child.ts"
import { childKind } from "../core/desired.ts"
import { ownedTree, wantedTree } from "../core/fields.ts"
import { created, failed, written } from "../core/hold.ts"
import type { Failure } from "../core/retry.ts"
import type { ChildKind } from "../core/schema.ts"
import type { Input } from "../core/store.ts"
import { differences } from "../core/tree.ts"
import { decoded } from "./decode.ts"
import type { Desk } from "./desk.ts"
import { act, isWork, type Outcome, type Work } from "./act.ts"
import type { Api } from "./api.ts"
import { each } from "./each.ts"
import type { Memory } from "./memory.ts"
import { edited, gridRef } from "./observed.ts"
import { announce } from "./report.ts"
import { seenChild } from "./seen.ts"
import { series } from "./series.ts"
import { steady } from "./steady.ts"
import type { Thought } from "./think.ts"
import { identity, isMalformed, type Malformed } from "./wire.ts"

/** A look and a write later the name is ours, where it became free: within half a minute. */
const STRANGER_MS = 20_000

const count = series("servicegroup_child_writes_total", "Steps carried out on children, by step and result", [
  "step",
  "result"
])

/** The paths that the server's answer has otherwise than they were sent. */
const altered = ({ seen, desired }: Thought, step: Work, answer: unknown): readonly string[] => {
  const kind = childKind(seen.grid)
  const sent = desired.objectOf(step.unit)
  if (sent === undefined) return []
  const owned = ownedTree(kind, answer as ChildObject, MANAGER)
  return differences(wantedTree(kind, sent), owned).map(({ path }) => path)
}

/** What a step was to bring about and did not, though the server said yes: the paths where that shows. */
const undone = (thought: Thought, step: Work, child: Child, answer: unknown): readonly string[] => {
  const where = (path: string, is: boolean): readonly string[] => (is ? [path] : [])
  switch (step._tag) {
    case "Create":
    case "Change":
      return altered(thought, step, answer)
    case "Adopt":
      return where("metadata.ownerReferences", child.owner === undefined)
    case "TakeOver":
      return where("metadata.managedFields", child.legacy)
    case "HandOver":
      return where("spec.replicas", child.aloneOnReplicas)
    case "Switch":
      return where("spec.strategy", child.defaultRolling)
    case "Delete":
      return []
  }
}

interface Task {
  readonly step: Work
  readonly thought: Thought
  readonly memory: Memory
  readonly wanted: Wanted | undefined
}

const learnFailure = ({ step, thought, memory, wanted }: Task, failure: Failure, now: number) =>
  Effect.flatMap(Random.next, (jitter) => {
    const { name } = step
    const about = {
      failure,
      wanted: wanted?.digest ?? "",
      revision: thought.children.get(name)?.revision,
      now,
      jitter
    }
    memory.held.set(name, failed(memory.held.get(name), about))
    return Effect.logWarning("a write failed").pipe(
      Effect.annotateLogs({ child: name, step: step._tag, reason: failure.reason, error: failure.message })
    )
  })

/** Takes in what became of a child. This grid looks again anyway; others may wait for its name to become free. */
const takeIn = (desk: Desk, { seen }: Thought, kind: ChildKind, input: Input<Child>): Effect.Effect<void> => {
  const { now, soon } = desk.observed.readChildren(kind, [input])
  const own = gridRef(seen.grid.kind, seen.key)
  const others = (refs: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...refs].filter((ref) => ref !== own))
  return desk.wake({ now: others(now), soon: others(soon) })
}

/** What a child that was written, or found in its place, changes in the memory. */
const learnChild = (
  task: Task,
  child: Child,
  outcome: Extract<Outcome, { _tag: "Written" | "Taken" }>,
  now: number
) => {
  const { step, thought, memory, wanted } = task
  const { name } = step
  if (outcome._tag === "Taken") {
    memory.strangers.set(name, { child, until: now + STRANGER_MS })
    return
  }
  memory.strangers.delete(name)
  const digest = wanted?.digest ?? ""
  const changed = child.owned === digest ? [] : undone(thought, step, child, outcome.object)
  if (step._tag !== "Create" && step._tag !== "Change" && changed.length === 0) return
  const before = memory.held.get(name)
  const about = { wanted: digest, revision: child.revision, now }
  const made = step._tag === "Create" && changed.length === 0
  memory.held.set(name, made ? created(before, about) : written(before, { ...about, undone: changed }))
}

/** What the server answered; its event may have been quicker. */
const read = (desk: Desk, kind: ChildKind, object: unknown): Child | Malformed => {
  const who = identity(object)
  if (isMalformed(who)) return who
  const known = (key: string): Child | undefined => desk.observed.child(kind, key)
  return decoded({ known, reduce: seenChild(kind, desk.legacy) }, object, who)
}

const learn = (desk: Desk, task: Task, outcome: Outcome, now: number): Effect.Effect<void> => {
  const { step, thought, memory } = task
  switch (outcome._tag) {
    case "Failed":
      return learnFailure(task, outcome.error, now)
    case "Written":
    case "Taken": {
      const kind = childKind(thought.seen.grid)
      const child = read(desk, kind, outcome.object)
      if (isMalformed(child))
        return learnFailure(task, { reason: "Malformed", code: 200, message: child.message }, now)
      learnChild(task, child, outcome, now)
      return outcome._tag === "Taken"
        ? Effect.void
        : takeIn(desk, thought, kind, { _tag: "Written", item: child })
    }
    case "Deleted": {
      const child = thought.children.get(step.name)
      memory.held.delete(step.name)
      memory.strangers.delete(step.name)
      if (child === undefined) return Effect.void
      const { kind, key, revision } = child
      return takeIn(desk, thought, kind, { _tag: "Dropped", key, revision })
    }
  }
}

/** Whether the grid of a plan is gone, or says something else by now; for a deletion, whether the units are others. */
const isStale = (desk: Desk, step: Work, { seen, units }: Thought): boolean => {
  const latest = desk.observed.grid(seen.grid.kind, seen.key)
  return (
    latest === undefined ||
    edited(seen, latest) ||
    (step._tag === "Delete" && desk.observed.units(latest.grid) !== units)
  )
}

/** Carries out one step; gives what came of it. */
const carryOut = (desk: Desk, task: Task): Effect.Effect<Outcome["_tag"] | "Stale", never, Api> =>
  Effect.suspend(() => {
    const { step, thought, wanted } = task
    if (isStale(desk, step, thought)) return Effect.succeed("Stale")
    const acted = act(step, {
      grid: thought.seen.grid,
      legacy: desk.legacy,
      wanted,
      objectOf: thought.desired.objectOf,
      child: thought.children.get(step.name)
    })
    return Effect.flatMap(acted, (outcome) => {
      count(step._tag, outcome._tag)
      return Effect.as(
        Effect.flatMap(steady, (now) => learn(desk, task, outcome, now)),
        outcome._tag
      )
    })
  })

/** Carries out what a plan asks for: many children at once, each on its own. */
export const work = (desk: Desk, thought: Thought, memory: Memory): Effect.Effect<void, never, Api> => {
  const todo = thought.plan.steps.filter(isWork)
  if (todo.length === 0) return Effect.void
  const wanted = new Map(thought.desired.wanted.map((each) => [each.name, each]))
  const { grid, key } = thought.seen
  return Effect.gen(function* () {
    const counts = new Map<string, number>()
    const gone: string[] = []
    yield* each(todo, desk.concurrency, (step) => {
      const task = { step, thought, memory, wanted: wanted.get(step.name) }
      return Effect.map(desk.writing(carryOut(desk, task)), (tag) => {
        counts.set(tag.toLowerCase(), (counts.get(tag.toLowerCase()) ?? 0) + 1)
        if (tag === "Deleted") gone.push(step.name)
      })
    })
    yield* Effect.logInfo("children").pipe(
      Effect.annotateLogs({ grid: gridRef(grid.kind, key), ...Object.fromEntries(counts) })
    )
    if (gone.length === 0) return
    const names =
      gone.sort().slice(0, 10).join(", ") + (gone.length > 10 ? ` and ${gone.length - 10} more` : "")
    yield* announce(grid, memory.told, "ChildrenDeleted", `deleted ${names}: no unit wants it any more`)
  })
}
