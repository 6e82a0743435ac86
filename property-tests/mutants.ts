/**
 * Planted bugs: each is one small change of the product, made in a copy of it, that a test must notice.
 *
 * `npm run mutants` prints what caught which, and fails where one survives, or where the text that it changes is no longer
 * there. Tests run a share of their usual runs, with up to three seeds.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

interface Mutant {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
  /** names of test files without their ending, the likeliest first */
  readonly caughtBy: readonly string[]
}

const SETTLE = ["settle"]
const REQUESTS = ["requests"]

const MUTANTS: readonly Mutant[] = [
  {
    name: "an endpoint on this very node is dropped like any other",
    file: "src/core/topology.ts",
    from: "if (node === around.own) return",
    to: "if (node === around.own && false) return",
    caughtBy: ["explain", "view"]
  },
  {
    name: "an endpoint without node is dropped",
    file: "src/core/topology.ts",
    from: "if (node === undefined) return unplaced",
    to: 'if (node === undefined) return { kept: false, rule: "UnknownService", node: "" }',
    caughtBy: ["explain", "view"]
  },
  {
    name: "a slice of a Service that isn't known is shown whole",
    file: "src/core/topology.ts",
    from: "if (service === undefined) return undefined\n",
    to: "if (service === undefined) return noRule\n",
    caughtBy: ["explain", "view"]
  },
  {
    name: "address families are mixed up",
    file: "src/core/topology.ts",
    from: "if (endpoint.family !== family) continue",
    to: "",
    caughtBy: ["explain"]
  },
  {
    name: "readiness does not pick the key",
    file: "src/core/topology.ts",
    from: 'if (endpoint.readiness === "Ready") return key',
    to: "return key",
    caughtBy: ["explain"]
  },
  {
    name: "a slice is found by its name",
    file: "src/core/slice.ts",
    from: "isSlice ? own(item.labels, SERVICE_NAME) : item.name",
    to: 'isSlice ? item.name.split("-")[0] : item.name',
    caughtBy: ["slice", "view"]
  },
  {
    name: "a broken annotation leaves everything open",
    file: "src/core/topology.ts",
    from: 'if (!Array.isArray(keys)) return closed("is no JSON array")',
    to: "if (!Array.isArray(keys)) return everywhere",
    caughtBy: ["topology", "explain"]
  },
  {
    name: "a Service's other slices aren't decided again",
    file: "src/core/view.ts",
    from: "before.slice = slice\n      due.add(before.group)",
    to: "before.slice = slice\n      due.add({ service: before.group.service, entries: new Set([before]) })",
    caughtBy: ["view"]
  },
  {
    name: "a node that joins touches nothing",
    file: "src/core/view.ts",
    from: "if (group !== undefined) due.add(group)\n  }",
    to: "if (group !== undefined && before !== undefined) due.add(group)\n  }",
    caughtBy: ["view"]
  },
  {
    name: "a slice is shown before nodes were seen",
    file: "src/core/view.ts",
    from: 'const SYNCED_FIRST = ["Service", "Node", "ApiServer"] as const',
    to: 'const SYNCED_FIRST = ["Service", "ApiServer"] as const',
    caughtBy: ["view"]
  },
  {
    name: "labels of a deleted own node are forgotten",
    file: "src/core/view.ts",
    from: "if (labels === undefined) return\n      const last = this.#ownLabels",
    to: "const last = this.#ownLabels",
    caughtBy: ["view"]
  },
  {
    name: "what looks the same is told again",
    file: "src/core/view.ts",
    from: "if (before !== undefined && sameShown(before, after))",
    to: "if (before !== undefined && before.slice === after.slice && sameShown(before, after))",
    caughtBy: ["view"]
  },
  {
    name: "a Service of another namespace decides",
    file: "src/core/view.ts",
    from: "slice.service === undefined ? undefined : `${slice.namespace}/${slice.service}`",
    to: "slice.service === undefined ? undefined : `default/${slice.service}`",
    caughtBy: ["board"]
  },
  {
    name: "a slice that became empty is told as deleted",
    file: "src/core/board.ts",
    from: 'if (told._tag === "Removed") this',
    to: 'if (told._tag === "Removed" || told.after.dropped.length === told.after.slice.endpoints.length) this',
    caughtBy: ["board", "serve"]
  },
  {
    name: "what was kept and is gone stays",
    file: "src/core/source.ts",
    from: 'if (after?.uid !== before.uid) yield { _tag: "Removed", key, before }',
    to: 'if (after !== undefined && after.uid !== before.uid) yield { _tag: "Removed", key, before }',
    caughtBy: ["board"]
  },
  {
    name: "the last slice holds the local endpoint",
    file: "src/core/local.ts",
    from: "a.key < b.key ? -1 : 1",
    to: "a.key < b.key ? 1 : -1",
    caughtBy: ["view"]
  },
  {
    name: "a path with a doubled slash goes upstream",
    file: "src/core/route.ts",
    from: 'else if (part !== "" && part !== ".") steps.push(part)',
    to: 'else if (part !== ".") steps.push(part)',
    caughtBy: ["route"]
  },
  {
    name: "managedFields are cut with the comma behind them",
    file: "src/core/item.ts",
    from: "if (before !== undefined) reader.cut(before)",
    to: "if (before !== undefined) reader.cut(before + 1)",
    caughtBy: ["board", "slice"]
  },
  {
    name: "the comma of a dropped endpoint is left",
    file: "src/core/cut.ts",
    from: "from: kept?.to ?? entry.from",
    to: "from: entry.from",
    caughtBy: ["cut"]
  },
  {
    name: "a resume is off by one",
    file: "src/core/journal.ts",
    from: "const from = this.#events.length - Number(behind)",
    to: "const from = this.#events.length - Number(behind) + (behind > 1n ? 1 : 0)",
    caughtBy: ["journal"]
  },
  {
    name: "a bookmark is ahead of an event",
    file: "src/core/journal.ts",
    from: "cursor: String(asked + BigInt(events.length))",
    to: "cursor: this.head",
    caughtBy: ["journal"]
  },
  {
    name: "a reader who fell behind is given what is left",
    file: "src/core/journal.ts",
    from: "asked < this.#start || behind > held",
    to: "asked < this.#start",
    caughtBy: ["journal"]
  },
  {
    name: "an object that leaves a selector is forgotten silently",
    file: "src/core/query.ts",
    from: 'return was ? { type: "DELETED", value: before, revision } : undefined',
    to: 'return was && after === undefined ? { type: "DELETED", value: before, revision } : undefined',
    caughtBy: ["query", "journal"]
  },
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
    file: "src/shell/tell.ts",
    from: "if (digest !== seen.statusDigest && !altered)",
    to: "if (!altered || digest === seen.statusDigest)",
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

const SEEDS = [1, 2, 3]
const SHARE = "0.01"

const home = join(dirname(fileURLToPath(import.meta.url)), "..")
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

/** A copy of all that tests need, where nobody minds a bug. */
const copy = (): string => {
  const place = mkdtempSync(join(tmpdir(), "servicegroup-mutants-"))
  for (const each of [
    "src",
    "property-tests",
    "cluster-tests",
    "manifests",
    "package.json",
    "tsconfig.json",
    "vitest.config.ts"
  ])
    cpSync(join(home, each), join(place, each), { recursive: true })
  symlinkSync(join(home, "node_modules"), join(place, "node_modules"))
  return place
}

type Verdict = "passes" | "fails" | "breaks"

/** Runs one test file in the copy; `breaks` where it could not even be run. */
const run = (place: string, file: string, seed: number): Verdict => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [vitest, "run", "--bail=1", `property-tests/${file}.test.ts`],
    {
      cwd: place,
      encoding: "utf8",
      timeout: 240_000,
      env: { ...process.env, SERVICEGROUP_RUNS: SHARE, SERVICEGROUP_SEED: String(seed) }
    }
  )
  if (status === 0) return "passes"
  const [, failed] = /\n(\d+) passed, (\d+) failed/.exec(stdout) ?? []
  return failed === undefined || /Transform failed|SyntaxError|Cannot find/.test(stdout) ? "breaks" : "fails"
}

interface Result {
  readonly name: string
  readonly caught: string
  readonly seconds: number
  readonly good: boolean
}

const plant = (place: string, { name, file, from, to, caughtBy }: Mutant): Result => {
  const began = performance.now()
  const told = (caught: string, good: boolean): Result => ({
    name,
    caught,
    good,
    seconds: (performance.now() - began) / 1000
  })
  const path = join(place, file)
  const source = readFileSync(path, "utf8")
  if (source.split(from).length !== 2) return told("NOT PLANTED: its text is not there, or not once", false)
  writeFileSync(
    path,
    source.replace(from, () => to)
  )
  try {
    for (const seed of SEEDS)
      for (const test of caughtBy) {
        const verdict = run(place, test, seed)
        if (verdict === "breaks") return told(`BREAKS ${test}`, false)
        if (verdict === "fails") return told(test, true)
      }
    return told("SURVIVES", false)
  } finally {
    writeFileSync(path, source)
  }
}

/** All of them, or those whose names contain one of the words. */
const main = (words: readonly string[]): number => {
  const mutants = MUTANTS.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word))
  )
  const place = copy()
  try {
    for (const test of new Set(mutants.flatMap(({ caughtBy }) => caughtBy)))
      if (run(place, test, 1) !== "passes") {
        console.log(`${test} does not pass without a planted bug`)
        return 1
      }
    let good = 0
    for (const mutant of mutants) {
      const result = plant(place, mutant)
      if (result.good) good++
      console.log(
        `${result.name.padEnd(62)} ${result.caught.padEnd(10)} ${result.seconds.toFixed(0).padStart(4)} s`
      )
    }
    console.log(`\n${good} of ${mutants.length} planted bugs caught`)
    return good === mutants.length ? 0 : 1
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

process.exitCode = main(process.argv.slice(2))
