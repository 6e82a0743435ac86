/**
 * `servicegroup controller`: keeps nodes as their sites say, a workload in every unit, and one Service for each grid, until it is stopped.
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import * as Api from "../shell/api.ts"
import { control } from "../shell/control.ts"
import { whileLeading } from "../shell/elect.ts"
import { Readiness, serveHealth } from "../shell/health.ts"
import { logs, options, type Settings } from "../shell/settings.ts"
import { version } from "./version.ts"

const start = (settings: Settings) =>
  Effect.zipRight(
    Effect.logInfo("servicegroup controller").pipe(
      Effect.annotateLogs({ version, namespace: settings.namespace })
    ),
    settings.lease === undefined
      ? Effect.scoped(control(settings, () => true))
      : whileLeading({ ...settings.lease, identity: `${hostname()}_${randomUUID()}` }, (still) =>
          Effect.scoped(control(settings, still))
        )
  ).pipe(
    Effect.provide(
      Layer.mergeAll(Api.layer(settings), serveHealth(settings.healthAddress)).pipe(
        Layer.provideMerge(Readiness.layer)
      )
    ),
    Effect.provide(logs(settings.logFormat))
  )

export const controllerCommand = Command.make("controller", { settings: options }, ({ settings }) =>
  start(settings)
).pipe(
  Command.withDescription(
    [
      "Keep nodes as NodeUnits and NodeGroups say, one workload in every unit, and one Service for each grid.",
      "",
      "Examples:",
      "  servicegroup controller                                  in a pod, with its own account",
      "  servicegroup controller --kubeconfig ~/.kube/config --log-format text",
      "  servicegroup controller --namespace shop --unit-grace 10m --sites off",
      "  servicegroup controller --max-nodes-changed 5%           an edit that takes more nodes out of their units waits",
      "  servicegroup controller --lease edge-system/servicegroup-controller   one of several replicas",
      "  SERVICEGROUP_UNIT_GRACE=0s servicegroup controller       each flag has a variable"
    ].join("\n")
  )
)
