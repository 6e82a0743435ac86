/**
 * `servicegroup wrapper`: shows this node's kube-proxy and CoreDNS the endpoints of its own surroundings, until it is stopped.
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Readiness, serveHealth } from "../shell/health.ts"
import { logs } from "../shell/settings.ts"
import { wrap } from "../shell/wrap.ts"
import { wrapperOptions, type WrapperSettings } from "../shell/wrapper-settings.ts"
import { version } from "./version.ts"

const start = (settings: WrapperSettings) =>
  Effect.logInfo("servicegroup wrapper").pipe(
    Effect.annotateLogs({ version, node: settings.node }),
    Effect.zipRight(Effect.scoped(wrap(settings))),
    Effect.provide(serveHealth(settings.healthAddress).pipe(Layer.provideMerge(Readiness.layer))),
    Effect.provide(logs(settings.logFormat))
  )

export const wrapperCommand = Command.make("wrapper", { settings: wrapperOptions }, ({ settings }) =>
  start(settings)
).pipe(
  Command.withDescription(
    [
      "Show this node's kube-proxy and CoreDNS the endpoints of its own unit; pass on everything else.",
      "",
      "kube-proxy needs one change: `server: http://127.0.0.1:51006` in its kubeconfig.",
      "",
      "Examples:",
      "  servicegroup wrapper --node-name bj-1                     in a pod, with its own account",
      "  servicegroup wrapper --kubeconfig /etc/kubernetes/kubelet.conf --log-format text",
      "  servicegroup wrapper --snapshot /var/lib/servicegroup --snapshot-interval 1m",
      "  servicegroup wrapper --dns-listen 127.0.0.1:51009         for a CoreDNS, too: `endpoint http://127.0.0.1:51009` in its Corefile",
      "  servicegroup wrapper --log-requests on                    who asks for what",
      "  curl -s 'http://127.0.0.1:51006/apis/discovery.k8s.io/v1/endpointslices?limit=500'"
    ].join("\n")
  )
)
