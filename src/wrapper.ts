/** The wrapper alone: what the image runs on every node. */
import * as Command from "@effect/cli/Command"
import { wrapperCommand } from "./commands/wrapper.ts"
import { run } from "./commands/run.ts"

run(
  wrapperCommand.pipe(
    Command.withDescription(
      "Show this node's kube-proxy and CoreDNS the endpoints of its own unit; pass on everything else."
    )
  )
)
