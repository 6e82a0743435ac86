/**
 * `servicegroup version`: which build this is.
 */
import * as Command from "@effect/cli/Command"
import * as Console from "effect/Console"
import packageJson from "../../package.json" with { type: "json" }

export const version: string = packageJson.version

export const versionCommand = Command.make("version", {}, () =>
  Console.log(`servicegroup ${version} (node ${process.version}, ${process.platform}/${process.arch})`)
).pipe(Command.withDescription("Print the version."))
