/**
 * Runs a command line: its answer on standard output, what is wrong on standard error, and the exit code.
 */
import type * as Command from "@effect/cli/Command"
import * as CommandLine from "@effect/cli/Command"
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { stripVTControlCharacters } from "node:util"
import { leveled, type Misconfigured } from "../shell/settings.ts"
import { version } from "./version.ts"

const fail = (message: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(`servicegroup: ${message}\n`)
    process.exitCode = 1
  })

const plain = (args: readonly unknown[]): readonly unknown[] =>
  args.map((each) => (typeof each === "string" ? stripVTControlCharacters(each) : each))

/** Help and complaints of the command line without colours, where nobody sees them: in a pipe, or with NO_COLOR. */
const uncoloured = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === ""
    ? program
    : Effect.consoleWith((console) =>
        Effect.withConsole(program, {
          ...console,
          log: (...args) => console.log(...plain(args)),
          error: (...args) => console.error(...plain(args))
        })
      )

/**
 * Runs a command with the arguments of the process. Exit codes: 0 it went well, 1 it did not (the message says which flag, file or field),
 * others as the command says; SIGTERM and SIGINT end it in good order with 0. A defect prints its cause and gives 1.
 */
export const run = <Name extends string, A>(
  command: Command.Command<Name, NodeContext.NodeContext, Misconfigured, A>
): void => {
  const line = CommandLine.run(command, { name: "servicegroup", version })
  leveled(line(process.argv)).pipe(
    uncoloured,
    Effect.catchIf(ValidationError.isValidationError, () =>
      // The command line has printed it.
      Effect.sync(() => {
        process.exitCode = 1
      })
    ),
    Effect.catchTag("Misconfigured", ({ message }) => fail(message)),
    Effect.provide(NodeContext.layer),
    NodeRuntime.runMain({ disablePrettyLogger: true })
  )
}
