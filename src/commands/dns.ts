/**
 * `servicegroup dns`: keeps the names of this node's unit in a hosts file for the node's CoreDNS, until it is stopped.
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Api from "../shell/api.ts"
import { dns } from "../shell/dns.ts"
import { type DnsOptions, dnsOptions } from "../shell/dns-settings.ts"
import { Readiness, serveHealth } from "../shell/health.ts"
import { logs } from "../shell/settings.ts"
import { version } from "./version.ts"

const start = (settings: DnsOptions) =>
  Effect.zipRight(
    Effect.logInfo("servicegroup dns").pipe(
      Effect.annotateLogs({ version, node: settings.node, file: settings.hostsFile })
    ),
    Effect.scoped(dns(settings))
  ).pipe(
    Effect.provide(
      Layer.mergeAll(Api.layer(settings.access), serveHealth(settings.healthAddress)).pipe(
        Layer.provideMerge(Readiness.layer)
      )
    ),
    Effect.provide(logs(settings.logFormat))
  )

export const dnsCommand = Command.make("dns", { settings: dnsOptions }, ({ settings }) =>
  start(settings)
).pipe(
  Command.withDescription(
    [
      "Keep the names of StatefulSetGrids that stay in this node's unit in a hosts file, which CoreDNS reads with its plugin hosts.",
      "Lines of others in the file stay. web-0.web-svc.default.svc.cluster.local is then the unit's own pod 0.",
      "",
      "Examples:",
      "  servicegroup dns --hosts-file /etc/servicegroup/dns/hosts --node-name bj-1",
      "  servicegroup dns --kubeconfig /etc/kubernetes/kubelet.conf --cluster-domain edge.local --log-format text",
      "",
      "In the Corefile, before kubernetes:",
      "  hosts /etc/servicegroup/dns/hosts cluster.local {",
      "    ttl 5",
      "    reload 2s",
      "    no_reverse",
      "    fallthrough",
      "  }"
    ].join("\n")
  )
)
