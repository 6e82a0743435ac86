/** The controller alone: what the image runs. */
import * as Command from "@effect/cli/Command"
import { controllerCommand } from "./commands/controller.ts"
import { run } from "./commands/run.ts"

run(
  controllerCommand.pipe(
    Command.withDescription(
      "Keep nodes as NodeUnits and NodeGroups say, one workload in every unit, and one Service for each grid."
    )
  )
)
