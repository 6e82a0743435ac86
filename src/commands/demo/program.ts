/**
 * Another program of this package, as a child process that lives as long as its scope.
 *
 * Guarantees: it has ended when the scope has closed, soon after it was asked to; whatever it wrote last is known.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Failed } from "./kubectl.ts"

export interface Program {
  readonly pid: number
  /** the last lines that it wrote */
  readonly words: () => readonly string[]
  /** ends it with SIGKILL */
  readonly kill: Effect.Effect<void>
  /** fails when it has ended */
  readonly ended: Effect.Effect<never, Failed>
}

export interface Start {
  /** as people call it */
  readonly name: string
  readonly file: URL
  readonly args: readonly string[]
}

/** Starts it with the Node of this process; fails where its file isn't there. */
export const program = ({ name, file, args }: Start): Effect.Effect<Program, Failed, Scope.Scope> =>
  Effect.gen(function* () {
    const path = fileURLToPath(file)
    if (!existsSync(path))
      return yield* new Failed({ message: `${path} isn't there: run npm run build first` })
    const words: string[] = []
    const ending = yield* Deferred.make<string>()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const started = spawn(process.execPath, [path, ...args], {
          stdio: ["ignore", "pipe", "pipe"],
          env: withoutOurs(process.env)
        })
        const end = (how: string): void => {
          Deferred.unsafeDone(ending, Effect.succeed(how))
        }
        started.once("error", ({ message }) => {
          end(`could not be started: ${message}`)
        })
        started.once("close", (code, signal) => {
          end(code === null ? `was ended by ${signal}` : `ended with exit code ${code}`)
        })
        for (const input of [started.stdout, started.stderr])
          createInterface({ input }).on("line", (line) => {
            words.push(line)
            if (words.length > KEPT) words.shift()
          })
        return started
      }),
      (started) => stop(started, Deferred.await(ending))
    )
    const ended = Deferred.await(ending).pipe(
      Effect.delay(TERMINAL),
      Effect.flatMap((how) => new Failed({ message: lastWords(`${name} ${how}`, words) }))
    )
    return { pid: child.pid ?? 0, words: () => words, kill: killed(child, Deferred.await(ending)), ended }
  })

/** The environment without the variables that stand for flags: they were meant for another cluster. */
const withoutOurs = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("SERVICEGROUP_")))

const stop = (child: ChildProcess, ended: Effect.Effect<unknown>): Effect.Effect<void> =>
  Effect.sync(() => child.kill("SIGTERM")).pipe(
    Effect.zipRight(Effect.timeout(ended, POLITE)),
    Effect.catchTag("TimeoutException", () => killed(child, ended)),
    Effect.asVoid
  )

const killed = (child: ChildProcess, ended: Effect.Effect<unknown>): Effect.Effect<void> =>
  Effect.sync(() => child.kill("SIGKILL")).pipe(Effect.zipRight(ended), Effect.asVoid)

/** A message, and beneath it what a program wrote last. */
export const lastWords = (message: string, words: readonly string[]): string =>
  [
    message,
    ...(words.length > 0 ? ["its last words:", ...words.slice(-SHOWN).map((line) => `  ${line}`)] : [])
  ].join("\n")

const KEPT = 100
const SHOWN = 10

/** How long it has to end by itself. */
const POLITE = Duration.millis(250)

/** Ctrl-C goes to all processes of a terminal: the child's end is no news if this process is about to hear it too. */
const TERMINAL = Duration.millis(200)
