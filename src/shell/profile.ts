/**
 * What a process does with its time and memory, written to a folder when somebody asks for it with SIGUSR2.
 *
 * *Guarantees*: nothing is measured before it is asked for; asking again while it measures does nothing.
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
    let measuring = false
    const asked = (): void => {
      if (measuring) return
      measuring = true
      run(
        Effect.ensuring(
          measured(folder),
          Effect.sync(() => (measuring = false))
        )
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
    const profile = yield* Effect.scoped(cpuProfile)
    const files = [
      [join(folder, `memory-${stamp}.json`), JSON.stringify(memory, undefined, 2)],
      [join(folder, `cpu-${stamp}.cpuprofile`), JSON.stringify(profile)]
    ] as const
    yield* Effect.try({
      try: () => {
        mkdirSync(folder, { recursive: true })
        for (const [path, text] of files) writeFileSync(path, text)
      },
      catch: why
    })
    yield* Effect.logInfo("measured").pipe(
      Effect.annotateLogs("files", files.map(([path]) => path).join(" "))
    )
  }).pipe(Effect.catchAll((message) => Effect.logWarning(`--profile ${folder}: ${message}`)))

const cpuProfile = Effect.gen(function* () {
  const session = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const open = new Session()
      open.connect()
      return open
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
