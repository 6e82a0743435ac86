/** Bugs planted in what is made of grids. */
import type { Mutant } from "./mutant.ts"

const SETTLE = ["settle"]
const REQUESTS = ["requests"]

export const controller: readonly Mutant[] = [
  {
    name: "a node list that did not come yet counts as empty",
    file: "src/shell/observed.ts",
    from: '(kind === "ServiceGrid" || this.nodes.synced)',
    to: "true",
    caughtBy: REQUESTS
  },
  {
    name: "what belongs to someone else is deleted as well",
    file: "src/core/plan.ts",
    from: "if (spared.has(child.name) || !owns(grid, child)) continue",
    to: "if (spared.has(child.name)) continue",
    caughtBy: ["plan", "settle"]
  },
  {
    name: "an owner is known by its name, not by its uid",
    file: "src/core/plan.ts",
    from: "child.owner?.uid === grid.metadata.uid",
    to: "child.owner?.name === grid.metadata.name",
    caughtBy: ["plan", "settle"]
  },
  {
    name: "a unit without nodes has no grace",
    file: "src/core/plan.ts",
    from: 'child.kind === "Service" ? since : since + graceSeconds(input.grid, input.unitGrace) * 1000',
    to: "since",
    caughtBy: REQUESTS
  },
  {
    name: "children go where their grid is refused as a whole",
    file: "src/core/plan.ts",
    from: 'if (typeof grid.metadata.deletionTimestamp === "string" || whole.length > 0)',
    to: 'if (typeof grid.metadata.deletionTimestamp === "string")',
    caughtBy: SETTLE
  },
  {
    name: "a refused unit stops the others",
    file: "src/core/plan.ts",
    from: "desired.refused.filter((refusal) => refusal.unit === undefined)",
    to: "desired.refused",
    caughtBy: SETTLE
  },
  {
    name: "a foreign child of a wanted name is overwritten",
    file: "src/core/plan.ts",
    from: "if (!mine && !orphan) return refused(foreign(child, wanted.unit))",
    to: "",
    caughtBy: REQUESTS
  },
  {
    name: "replicas are let go in one write",
    file: "src/core/plan.ts",
    from: "if (child.aloneOnReplicas && wanted.replicas === undefined && child.replicas !== undefined)",
    to: "if (false as boolean && child.replicas !== undefined)",
    caughtBy: REQUESTS
  },
  {
    name: "an older event is taken in",
    file: "src/core/store.ts",
    from: "if (newest !== undefined && !olderRevision(newest, item.revision)) return",
    to: "",
    caughtBy: SETTLE
  },
  {
    name: "an older list is taken in",
    file: "src/core/store.ts",
    from: 'if (input._tag === "Listed" && before(input.revision, draft.revision)) stale = true\n    else take(draft, input)',
    to: "take(draft, input)",
    caughtBy: ["store"]
  },
  {
    name: "a hold never ends",
    file: "src/core/hold.ts",
    from: "if (hold.until <= now) return false\n",
    to: "",
    caughtBy: REQUESTS
  },
  {
    name: "what failed is never tried again",
    file: "src/core/hold.ts",
    from: "const until = o.now + delay(o.failure, attempt - 1, o.jitter)",
    to: "const until = o.now + 1e9 * delay(o.failure, attempt - 1, o.jitter)",
    caughtBy: REQUESTS
  },
  {
    name: "a transition time is the time of the last look",
    file: "src/core/status.ts",
    from: "lastTransitionTime: same ? before.lastTransitionTime : iso(input.now)",
    to: "lastTransitionTime: iso(input.now)",
    caughtBy: REQUESTS
  },
  {
    name: "a takeover restarts pods",
    file: "src/core/child.ts",
    from: "templateHasReplicas ? [TEMPLATE_HASH_PATH] : [TEMPLATE_HASH_PATH, REPLICAS_PATH]",
    to: "templateHasReplicas ? [] : [REPLICAS_PATH]",
    caughtBy: REQUESTS
  },
  {
    name: "a child is created over what is there",
    file: "src/shell/act.ts",
    from: '{ resourceVersion: "1" }',
    to: "{}",
    caughtBy: REQUESTS
  },
  {
    name: "a child is changed whoever it is",
    file: "src/shell/act.ts",
    from: ": { uid: step.uid, ...unowned(child) }",
    to: ": {}",
    caughtBy: SETTLE
  },
  {
    name: "a removed field is left behind",
    file: "src/shell/act.ts",
    from: "return Effect.map(api.apply(kind, withMeta(object, meta), ours), written)",
    to: 'return Effect.map(step._tag === "Create" ? api.apply(kind, withMeta(object, meta), ours) : api.merge(kind, namespace, step.name, withMeta(object, meta), ours), written)',
    caughtBy: REQUESTS
  },
  {
    name: "a child is deleted as it was known, not as it is",
    file: "src/shell/act.ts",
    from: "...(child !== undefined && { resourceVersion: child.revision })",
    to: "",
    caughtBy: SETTLE
  },
  {
    name: "a child that was not found is taken for gone",
    file: "src/shell/act.ts",
    from: "return gone(look, failed)",
    to: 'return Effect.succeed<Outcome>({ _tag: "Deleted" })',
    caughtBy: SETTLE
  },
  {
    name: "a unit that was back goes on with its former grace",
    file: "src/shell/control.ts",
    from: "\n    think(desk.observed, seen, memory, { unitGrace, now: yield* steady })",
    to: "",
    caughtBy: REQUESTS
  },
  {
    name: "who is interrupted at the gate takes a place along",
    file: "src/shell/gate.ts",
    from: "waiting.delete(guest)\n    if",
    to: "if",
    caughtBy: ["gate"]
  },
  {
    name: "a leader that can't renew its lease goes on",
    file: "src/core/lease.ts",
    from: "export const DEADLINE_MS = 10_000",
    to: "export const DEADLINE_MS = 30_000",
    caughtBy: ["elect"]
  },
  {
    name: "an adoption that a webhook undoes is tried without end",
    file: "src/shell/work.ts",
    from: 'return where("metadata.ownerReferences", child.owner === undefined)',
    to: "return []",
    caughtBy: REQUESTS
  },
  {
    name: "errors are swallowed",
    file: "src/shell/work.ts",
    from: "memory.held.set(name, failed(memory.held.get(name), about))",
    to: "",
    caughtBy: REQUESTS
  },
  {
    name: "a stranger that was deleted is remembered",
    file: "src/shell/work.ts",
    from: "    memory.strangers.delete(step.name)\n",
    to: "",
    caughtBy: SETTLE
  },
  {
    name: "a hold on the pool outlives its cause",
    file: "src/shell/prune.ts",
    from: "return Effect.sync(() => void (memory.pruning = undefined))",
    to: "return Effect.void",
    caughtBy: SETTLE
  },
  {
    name: "other grids don't hear of a name that became free",
    file: "src/shell/work.ts",
    from: "return desk.wake({ now: others(now), soon: others(soon) })",
    to: "others(now)\n    others(soon)\n    return Effect.void",
    caughtBy: SETTLE
  },
  {
    name: "a child that is deleted again and again is made as often",
    file: "src/shell/work.ts",
    from: "made ? created(before, about) :",
    to: "made ? { ...created(before, about), until: 0 } :",
    caughtBy: SETTLE
  },
  {
    name: "a status is written at every look",
    file: "src/shell/pace.ts",
    from: "return differs && !altered",
    to: "return !altered || !differs",
    caughtBy: REQUESTS
  },
  {
    name: "what we deleted comes back by an event from before",
    file: "src/core/store.ts",
    from: "draft.drop(input.key, input.revision)",
    to: "",
    caughtBy: ["store"]
  },
  {
    name: "a line of a watch counts as known whatever its revision",
    file: "src/shell/decode.ts",
    from: "return before?.uid === uid && before.revision === revision ? before : undefined",
    to: "return before?.uid === uid ? before : undefined",
    caughtBy: ["reflect", "settle"]
  },
  {
    name: "a list is asked for before the server wants to hear of it",
    file: "src/shell/reflect.ts",
    from: "Math.max(soon, patience(failure))",
    to: "soon",
    caughtBy: ["reflect"]
  },
  {
    name: "who lost the Lease may still write",
    file: "src/shell/elect.ts",
    from: "work((now) => candidate.left(now) > 0)",
    to: "work(() => true)",
    caughtBy: ["elect"]
  },
  {
    name: "grace times follow the wall clock",
    file: "src/shell/steady.ts",
    from: "Number(clock.unsafeCurrentTimeNanos() / 1_000_000n)",
    to: "clock.unsafeCurrentTimeMillis()",
    caughtBy: SETTLE
  },
  {
    name: "a heartbeat of a node has every grid looked at",
    file: "src/shell/observed.ts",
    from: "if (keys.size > 0 || first)",
    to: 'keys.add(String(first))\n    for (const kind of ["DeploymentGrid", "StatefulSetGrid"] as const) this.addWhere(now, kind, () => true)\n    if (keys.size > 0 || first)',
    caughtBy: REQUESTS
  },
  {
    name: "grids of one name share their children",
    file: "src/shell/observed.ts",
    from: 'const namespace = `${grid.metadata.namespace ?? ""}/`',
    to: "const namespace = `default/`",
    caughtBy: SETTLE
  },
  {
    name: "what the server forgot is not listed again",
    file: "src/shell/reflect.ts",
    from: "      this.#lost = true\n      this.#listAt = Number.NEGATIVE_INFINITY\n",
    to: "",
    caughtBy: SETTLE
  },
  {
    name: "a wake-up in the middle of a pass is lost",
    file: "src/shell/queue.ts",
    from: "due.has(key) || (running.delete(key), false)",
    to: "(running.delete(key), false)",
    caughtBy: REQUESTS
  }
]
