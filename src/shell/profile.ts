/**
 * What a process does with its time and memory, written to a folder when somebody asks for it with SIGUSR2.
 *
 * *Guarantees*: nothing is measured before it is asked for; asking again while it measures does nothing; what goes wrong is a warning. With its
 * scope, measuring ends, and nothing more is written.
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { mkdirSync, writeFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { join } from "node:path"
import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8"
import { why } from "./why.ts"

const SECONDS = 30

/** Listens for SIGUSR2 until the scope ends. */
export const profiling = (folder: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = Runtime.runFork(yield* Effect.runtime())
    const scope = yield* Effect.scope
    let measuring = false
    const asked = (): void => {
      if (measuring) return
      measuring = true
      run(
        Effect.ensuring(
          measured(folder),
          Effect.sync(() => (measuring = false))
        ),
        { scope }
      )
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("SIGUSR2", asked)),
      () => Effect.sync(() => process.off("SIGUSR2", asked))
    )
  })

const measured = (folder: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* Effect.logInfo(`measuring for ${SECONDS} s`)
    const stamp = new Date().toISOString().replaceAll(":", "-")
    const memory = {
      process: process.memoryUsage(),
      heap: getHeapStatistics(),
      spaces: getHeapSpaceStatistics()
    }
    // Before half a minute goes by: a folder that nobody can write to is told at once.
    const first = yield* written(folder, `memory-${stamp}.json`, JSON.stringify(memory, undefined, 2))
    const profile = yield* Effect.scoped(cpuProfile)
    const second = yield* written(folder, `cpu-${stamp}.cpuprofile`, JSON.stringify(profile))
    yield* Effect.logInfo("measured").pipe(Effect.annotateLogs("files", `${first} ${second}`))
  }).pipe(Effect.catchAll((message) => Effect.logWarning(`--profile ${folder}: ${message}`)))

/** The path of the file, once it is there. */
const written = (folder: string, name: string, text: string): Effect.Effect<string, string> =>
  Effect.try({
    try: () => {
      mkdirSync(folder, { recursive: true })
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    },
    catch: why
  })

const cpuProfile = Effect.gen(function* () {
  const session = yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        const open = new Session()
        open.connect()
        return open
      },
      // Where Node's permissions don't allow it.
      catch: why
    }),
    (open) => Effect.sync(() => open.disconnect())
  )
  const post = (method: "Profiler.enable" | "Profiler.start") =>
    Effect.tryPromise({ try: () => session.post(method), catch: why })
  yield* post("Profiler.enable")
  yield* post("Profiler.start")
  yield* Effect.sleep(`${SECONDS} seconds`)
  return (yield* Effect.tryPromise({ try: () => session.post("Profiler.stop"), catch: why })).profile
})
