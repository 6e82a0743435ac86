/** Composes the commands; nothing else. */
import * as Command from "@effect/cli/Command"
import { controllerCommand } from "./commands/controller.ts"
import { demoCommand } from "./commands/demo.ts"
import { dnsCommand } from "./commands/dns.ts"
import { explainCommand } from "./commands/explain.ts"
import { planCommand } from "./commands/plan.ts"
import { run } from "./commands/run.ts"
import { sitesCommand } from "./commands/sites.ts"
import { versionCommand } from "./commands/version.ts"
import { wrapperCommand } from "./commands/wrapper.ts"

run(
  Command.make("servicegroup").pipe(
    Command.withDescription(
      "One cluster, many sites: a workload in every unit, traffic that stays in its unit."
    ),
    Command.withSubcommands([
      controllerCommand,
      demoCommand,
      dnsCommand,
      explainCommand,
      planCommand,
      sitesCommand,
      versionCommand,
      wrapperCommand
    ])
  )
)
