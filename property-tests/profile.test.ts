/** SIGUSR2 as somebody sends it to a wrapper that runs, and the files that come of it. Half a minute of the wrapper's clock is some tenths of a second. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { built, Run } from "./bundles.ts"
import { live, until } from "./effect.ts"
import { shown } from "./followed.ts"
import { begun } from "./tale.ts"
import { type Cloud, kubeconfig, type Wrapper, wrapper } from "./wrapped.ts"

/** How many times faster its clock runs: so that the end comes soon, or so that much fits into the time before it. */
const HURRY = { soon: 150, late: 30 }

/** What is shown at first; see tale.ts. */
const FIRST = { "all-1": "10.0.2.0 10.0.3.1", "web-1": "10.0.1.0 10.0.2.1" }

describe("profiling", () => {
  live("writes a CPU profile of half a minute, and names its files", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* profiled(over)
      expect(files(over)).toEqual([])
      yield* asked
      yield* until("the beginning", () => at.lines.includes("measuring for 30 s") && worked(20))
      yield* until("the end", () => at.lines.includes("measured"))

      const [cpu = "", memory = ""] = files(over)
      expect(named(at)).toEqual([[memory, cpu]])
      expect([cpu, memory].map(suffix)).toEqual(["cpu.cpuprofile", "memory.json"])
      const { nodes, samples, timeDeltas, startTime, endTime } = read<Profile>(over, cpu)
      const [known, tops] = [new Set(nodes.map(({ id }) => id)), new Set(samples)]
      expect([known.size, timeDeltas.length]).toEqual([nodes.length, samples.length])
      expect(samples.filter((id) => !known.has(id))).toEqual([])
      expect(((endTime - startTime) / 1e6) * HURRY.soon).toBeGreaterThan(29)
      // What was worked at meanwhile is in it.
      const here = nodes.filter(({ callFrame }) => callFrame.functionName === "worked")
      expect(here.some(({ id }) => tops.has(id))).toBe(true)
    })
  )

  live("writes what the memory was used for when it was asked", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* profiled(over)
      yield* asked
      yield* until("the end", () => at.lines.includes("measured"))
      const [, memory = ""] = files(over)
      const { process: of, heap, spaces } = read<Memory>(over, memory)
      expect(of.rss).toBeGreaterThan(heap.used_heap_size)
      expect(heap.used_heap_size).toBeGreaterThan(1_000_000)
      expect(spaces.map(({ space_name }) => space_name)).toContain("old_space")
    })
  )

  live("measures once, however often it is asked meanwhile", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* profiled(over, HURRY.late)
      for (let i = 0; i < 3; i++) yield* asked
      yield* until("the end", () => at.lines.includes("measured"))
      expect(at.lines.filter((line) => line === "measuring for 30 s")).toHaveLength(1)
      expect(files(over).map(suffix)).toEqual(["cpu.cpuprofile", "memory.json"])
    })
  )

  live("measures again when it is asked again later", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* profiled(over)
      for (const turn of [1, 2]) {
        yield* asked
        yield* until("an end", () => named(at).length === turn)
      }
      expect(named(at).flat().toSorted()).toEqual(files(over))
      const all = ["cpu.cpuprofile", "cpu.cpuprofile", "memory.json", "memory.json"]
      expect(files(over).map(suffix)).toEqual(all)
      for (const name of files(over).slice(0, 2))
        expect(read<Profile>(over, name).samples.length).toBeGreaterThan(0)
    })
  )

  live("warns of a folder that can't be written to, serves on, and measures once it can be", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const at = yield* profiled(over)
      writeFileSync(folder(over), "in the way")
      yield* asked
      yield* until("the warning", () => warnings(at).length === 1)
      expect(warnings(at)[0]).toMatch(/^EEXIST|^ENOTDIR/)
      expect(yield* shown(at)).toEqual(FIRST)
      rmSync(folder(over))
      yield* asked
      yield* until("the end", () => at.lines.includes("measured"))
      expect(files(over).map(suffix)).toEqual(["cpu.cpuprofile", "memory.json"])
    })
  )

  live("ends with its wrapper, and writes nothing more", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const first = yield* profiled(over, HURRY.late)
      yield* asked
      yield* until("the beginning", () => first.lines.includes("measuring for 30 s"))
      yield* first.stop
      expect(process.listenerCount("SIGUSR2")).toBe(0)
      // One that began later is done later.
      const second = yield* profiled(over, HURRY.late)
      yield* asked
      yield* until("the end", () => second.lines.includes("measured"))
      expect(first.lines).not.toContain("measured")
      expect(files(over).map(suffix)).toEqual(["cpu.cpuprofile", "memory.json", "memory.json"])
    })
  )

  live("doesn't listen where it is off", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      yield* wrapper({ url: over.relay.server, folder: over.folder })
      expect(process.listenerCount("SIGUSR2")).toBe(0)
    })
  )

  live("warns where Node isn't allowed to measure, serves on, and stops in good order", () =>
    Effect.gen(function* () {
      const over = yield* begun()
      const run = yield* program(over)
      const wrote = (text: string) => until(text, () => run.err.includes(text))
      yield* wrote('message":"serving"')
      run.process.kill("SIGUSR2")
      yield* wrote(`--profile ${folder(over)}: Access to this API has been restricted`)
      const port = Number(/"port":(\d+)/.exec(run.err)?.[1])
      expect(yield* shown({ port })).toEqual(FIRST)
      expect(files(over).map(suffix)).toEqual(["memory.json"])
      const { code, signal } = yield* Effect.promise(() => run.signal("SIGTERM"))
      expect([code, signal]).toEqual([0, null])
    })
  )
})

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string } }[]
  /** ids of nodes */
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
  /** microseconds */
  readonly startTime: number
  readonly endTime: number
}

interface Memory {
  readonly process: { readonly rss: number }
  readonly heap: { readonly used_heap_size: number }
  readonly spaces: readonly { readonly space_name: string }[]
}

const folder = (over: Cloud): string => join(over.folder, "profiles")

const profiled = (over: Cloud, hurry = HURRY.soon): Effect.Effect<Wrapper, never, Scope.Scope> =>
  wrapper({ url: over.relay.server, folder: over.folder, hurry, more: { profile: folder(over) } })

/** Sends the signal; is done once all have heard it. */
const asked: Effect.Effect<void> = Effect.suspend(() => {
  // Without a listener it would end this process.
  expect(process.listenerCount("SIGUSR2")).toBe(1)
  let heard = false
  process.once("SIGUSR2", () => (heard = true))
  process.kill(process.pid, "SIGUSR2")
  return until("the signal", () => heard)
})

/** The built wrapper as a process, which Node allows everything but to measure. */
const program = (over: Cloud): Effect.Effect<Run, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const bundles = built()
        const flags = ["--node-name=n1", "--listen=127.0.0.1:0", "--health-address=off", "--snapshot=off"]
        const config = kubeconfig({ url: over.relay.server, folder: over.folder })
        const told = [`--kubeconfig=${config}`, `--profile=${folder(over)}`]
        const allowed = "--permission --allow-fs-read=* --allow-fs-write=* --allow-net"
        const run = new Run(join(bundles, "wrapper.mjs"), [...flags, ...told], { NODE_OPTIONS: allowed })
        return { bundles, run }
      }),
      ({ bundles, run }) =>
        Effect.sync(() => {
          run.kill()
          rmSync(bundles, { recursive: true, force: true })
        })
    ),
    ({ run }) => run
  )

/** Keeps the processor busy for so many milliseconds. */
const worked = (milliseconds: number): boolean => {
  for (const end = performance.now() + milliseconds; ;) if (performance.now() > end) return true
}

const files = (over: Cloud): readonly string[] => {
  try {
    return readdirSync(folder(over)).toSorted()
  } catch {
    return []
  }
}

const read = <A>(over: Cloud, name: string): A =>
  JSON.parse(readFileSync(join(folder(over), name), "utf8")) as A

/** A file's name without the moment in it. */
const suffix = (name: string): string => name.replace(/-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z/, "")

/** The files that each measurement says that it has written. */
const named = (at: Wrapper): readonly (readonly string[])[] =>
  at.log
    .filter(({ text }) => text === "measured")
    .map(({ notes }) =>
      String(notes["files"])
        .split(" ")
        .map((path) => path.slice(path.lastIndexOf("/") + 1))
    )

/** What is said about the flag, as a warning. */
const warnings = (at: Wrapper): readonly string[] =>
  at.log
    .filter(({ level, text }) => level === "WARN" && text.startsWith("--profile "))
    .map(({ text }) => text.replace(/^--profile \S+: /, ""))
