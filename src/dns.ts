/** The DNS daemon alone: what the image runs on every node whose CoreDNS reads a hosts file. */
import * as Command from "@effect/cli/Command"
import { dnsCommand } from "./commands/dns.ts"
import { run } from "./commands/run.ts"

run(
  dnsCommand.pipe(
    Command.withDescription(
      "Keep the names of StatefulSetGrids that stay in this node's unit in a hosts file for the node's CoreDNS."
    )
  )
)
