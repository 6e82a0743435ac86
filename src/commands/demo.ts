/**
 * `servicegroup demo`: the whole system on one machine, without a cluster and without a flag.
 *
 * A cluster in this process, the built controller and a wrapper for each node as processes of their own that reach it
 * over HTTP, and a story that is told step by step. Everything ends with this process, and nothing stays behind.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import { controllers } from "../embedded/controllers.ts"
import { embedded } from "../embedded/server.ts"
import { Misconfigured } from "../shell/settings.ts"
import { edge } from "./demo/edge.ts"
import { ECHO_SERVICE, WEB, WRAPPED } from "./demo/expected.ts"
import { Kubectl } from "./demo/kubectl.ts"
import { program } from "./demo/program.ts"
import { Relay } from "./demo/relay.ts"
import { Sight } from "./demo/scene.ts"
import { Screen, unread } from "./demo/screen.ts"
import { prepare, UNIT_GRACE } from "./demo/story.ts"
import { told, type Telling } from "./demo/telling.ts"

interface Asked {
  readonly port: number
  readonly once: boolean
  readonly noColor: boolean
}

const port = Options.integer("port").pipe(
  Options.withDescription(
    "the port of the embedded API server on 127.0.0.1 (0 to 65535; default 0, any free one) [SERVICEGROUP_PORT]"
  ),
  Options.withFallbackConfig(Config.integer("SERVICEGROUP_PORT")),
  Options.withDefault(0)
)
const once = Options.boolean("once").pipe(
  Options.withDescription("print the end state and exit: 0 if all of it is as it should be, else 1")
)
const noColor = Options.boolean("no-color").pipe(
  Options.withDescription("no colour, as with the variable NO_COLOR; there is none in a pipe anyway")
)

/** A folder that goes with the scope. */
const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "servicegroup-demo-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const kubeconfig = (url: string): string =>
  stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "demo", cluster: { server: url } }],
    contexts: [{ name: "demo", context: { cluster: "demo", user: "" } }],
    "current-context": "demo"
  })

const cluster = (asked: Asked) =>
  embedded({ port: asked.port, controllers: controllers(undefined, POD_START_MS) }).pipe(
    Effect.mapError(({ port: wanted, cause }) => {
      const why =
        (cause as NodeJS.ErrnoException).code === "EADDRINUSE"
          ? "another program listens on it"
          : cause.message
      return new Misconfigured({
        message: `--port ${wanted}: ${why}; give another one, or 0 for any that is free`
      })
    })
  )

/** What a person types to call this program: in a clone it is called through npm. */
const called = (): string =>
  process.env["npm_lifecycle_event"] === undefined ? "servicegroup" : "npm run --silent servicegroup --"

/** A closed terminal ends the demo as SIGTERM does. */
const hangUp: Effect.Effect<void, never, Scope.Scope> = Effect.asVoid(
  Effect.acquireRelease(
    Effect.sync(() => {
      const end = (): boolean => process.kill(process.pid, "SIGTERM")
      process.on("SIGHUP", end)
      return end
    }),
    (end) => Effect.sync(() => process.off("SIGHUP", end))
  )
)

const play = (asked: Asked, screen: Screen) =>
  Effect.gen(function* () {
    yield* hangUp
    const { url } = yield* cluster(asked)
    const kubectl = new Kubectl(url)
    const at = yield* folder
    yield* prepare(kubectl)
    const { controller, nodes } = yield* Effect.parallelFinalizers(programs(url, at))
    const telling: Telling = {
      screen,
      kubectl,
      sight: new Sight(kubectl, nodes),
      controller,
      edge: nodes,
      kubeconfig: join(at, "kubeconfig"),
      called: called(),
      once: asked.once
    }
    yield* Effect.raceFirst(told(telling), Effect.raceFirst(controller.ended, nodes.ended))
  })

/** The controller, and the wrappers behind a relay. What of them is on disk is in a folder. */
const programs = (url: string, at: string) =>
  Effect.gen(function* () {
    const relay = yield* Relay.to(Number(new URL(url).port))
    const [direct, relayed] = [join(at, "kubeconfig"), join(at, "kubeconfig-nodes")]
    yield* Effect.promise(() => writeFile(direct, kubeconfig(url)))
    yield* Effect.promise(() => writeFile(relayed, kubeconfig(relay.url)))
    const controller = yield* program({
      name: "the controller",
      file: new URL("./controller.mjs", import.meta.url),
      args: [
        "--kubeconfig",
        direct,
        "--unit-grace",
        UNIT_GRACE,
        "--health-address",
        "off",
        "--log-format",
        "text"
      ]
    })
    const nodes = yield* edge({
      nodes: WRAPPED,
      service: ECHO_SERVICE,
      names: { service: WEB.service, nodes: WEB.nodes.map(({ node }) => node) },
      relay,
      kubeconfig: relayed,
      folder: at
    })
    return { controller, nodes }
  })

const demo = (asked: Asked) =>
  Effect.gen(function* () {
    if (asked.port < 0 || asked.port > 65_535)
      return yield* new Misconfigured({
        message: `--port (SERVICEGROUP_PORT): ${asked.port} can't be used; accepted: 0 to 65535`
      })
    const screen = new Screen(process.stdout, !asked.noColor)
    yield* Effect.raceFirst(Effect.scoped(play(asked, screen)), unread(process.stdout))
  }).pipe(
    Effect.catchTag("Failed", ({ message }) =>
      Effect.sync(() => {
        process.stderr.write(`servicegroup: ${message}\n`)
        process.exitCode = 1
      })
    )
  )

export const demoCommand = Command.make("demo", { port, once, noColor }, demo).pipe(
  Command.withDescription(
    [
      "Show it all on this machine: a cluster in this process, the real controller and wrappers beside it, and a story in twelve steps.",
      "It needs no cluster, no network and no flag. Afterwards it stays up to look around in, until Ctrl-C.",
      "",
      "Examples:",
      "  servicegroup demo",
      "  servicegroup demo --once                 print the end state, exit 0 if all of it is as it should be",
      "  servicegroup demo --port 8001            then: kubectl --server=http://127.0.0.1:8001 get dg,deploy,pods -A",
      "  SERVICEGROUP_PORT=8001 servicegroup demo --no-color | tee story.txt"
    ].join("\n")
  )
)

/** How long the pods of this cluster take to become ready. */
const POD_START_MS = 300
