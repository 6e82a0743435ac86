/**
 * Tells the story on the screen: what is done, what comes of it, what there is at the end.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { board } from "./board.ts"
import { Failed, type Kubectl } from "./kubectl.ts"
import { lastWords, type Program } from "./program.ts"
import { conditionOf, look, type Scene } from "./scene.ts"
import type { Screen } from "./screen.ts"
import { end, type Step, STORY } from "./story.ts"

export interface Telling {
  readonly screen: Screen
  readonly kubectl: Kubectl
  readonly controller: Program
  /** the file by which others reach the cluster */
  readonly kubeconfig: string
  /** end with the story */
  readonly once: boolean
}

/** Looks, and shows what is there. */
const glance = ({ kubectl, screen }: Telling): Effect.Effect<Scene, Failed> =>
  Effect.tap(look(kubectl), (scene) =>
    Effect.sync(() => {
      screen.show(["", ...board(scene, screen.width, screen.paint)])
    })
  )

/** Looks again and again until nothing is missing; fails after the deadline, and says what is missing still. */
const until = (
  telling: Telling,
  what: string,
  missing: (scene: Scene) => readonly string[]
): Effect.Effect<Scene, Failed> =>
  Effect.gen(function* () {
    const patience = telling.once ? PATIENCE_ONCE : PATIENCE
    const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(patience)
    for (;;) {
      const scene = yield* glance(telling)
      const lacking = missing(scene)
      if (lacking.length === 0) return scene
      if ((yield* Clock.currentTimeMillis) > deadline) {
        const message = `${what}: not there after ${Duration.format(patience)}:\n${lacking.map((each) => `  ${each}`).join("\n")}`
        return yield* new Failed({ message: lastWords(message, telling.controller.words()) })
      }
      yield* Effect.sleep(GLANCE)
    }
  })

const tell = (telling: Telling, step: Step, number: number): Effect.Effect<void, Failed> =>
  Effect.gen(function* () {
    const { screen, kubectl } = telling
    const { bold, dim, green, cyan } = screen.paint
    const title = `${number}. ${step.title}`
    screen.say(
      "",
      bold(title),
      ...screen.wrapped(step.says, "   "),
      ...step.commands.map((command) => `   ${dim("$")} ${cyan(command)}`)
    )
    const before = yield* look(kubectl)
    yield* step.act(kubectl)
    const scene = yield* until(telling, `step ${title}`, (now) => step.missing(now, before))
    screen.say(...screen.wrapped(step.outcome, "   ").map(green))
    if (!screen.live) screen.say(...board(scene, screen.width, screen.paint).map((line) => `   ${line}`))
    else if (!telling.once) yield* Effect.sleep(READING)
  })

const conditionsOf = (scene: Scene): readonly string[] =>
  [...scene.grids, ...scene.serviceGrids].flatMap((grid) =>
    ["Ready", "Progressing", "Degraded"].map((type) => {
      const { status = "-", reason = "-", message = "-" } = conditionOf(grid, type) ?? {}
      return `${grid.kind} ${grid.metadata.name}  ${type}=${status}  ${reason}: ${message}`
    })
  )

/** The end state, and whether it is as it should be. */
const ending = (telling: Telling): Effect.Effect<void, Failed> =>
  Effect.gen(function* () {
    const { screen, kubectl } = telling
    const { bold, green } = screen.paint
    const scene = yield* look(kubectl)
    screen.show([])
    screen.say("", bold("The end state"))
    screen.say(
      ...[...board(scene, screen.width, screen.paint), ...conditionsOf(scene)].map((line) => `   ${line}`)
    )
    const lacking = end(scene)
    if (lacking.length > 0)
      return yield* new Failed({
        message: ["the end state is not as it should be:", ...lacking].join("\n  ")
      })
    screen.say(green("   All of it is as it should be."))
  })

const around = ({ screen, kubectl: { url }, kubeconfig }: Telling): void => {
  const { bold, cyan, dim } = screen.paint
  const command = (text: string): string => `   ${dim("$")} ${cyan(text)}`
  screen.say(
    "",
    bold("Look around"),
    ...screen.wrapped(
      "The cluster and the controller stay up; change what you like, and see what they make of it.",
      "   "
    ),
    command(`kubectl --server=${url} get dg,deploy,pods -A -o wide`),
    command(`kubectl --server=${url} get dg ${"deploymentgrid-demo"} -o yaml`),
    command(`kubectl --server=${url} label node gz-3 location=shenzhen --overwrite`),
    command(`servicegroup plan --kubeconfig ${kubeconfig}`),
    "   Ctrl-C ends it all."
  )
}

/** The whole story, its end state and, unless it ends there, how to look around; then what is there is shown for ever. */
export const told = (telling: Telling): Effect.Effect<void, Failed> =>
  Effect.gen(function* () {
    const { screen, kubectl, controller } = telling
    screen.say(
      screen.paint.bold("ServiceGroup: one cluster, many sites"),
      ...screen.wrapped(
        `A Kubernetes API with six nodes is served at ${kubectl.url}, and the controller runs beside it as process ${controller.pid}. They share nothing but HTTP.`
      )
    )
    for (const [i, step] of STORY.entries()) yield* tell(telling, step, i + 1)
    yield* ending(telling)
    if (telling.once) return
    around(telling)
    yield* screen.live ? Effect.forever(Effect.delay(glance(telling), GLANCE)) : Effect.never
  })

/** How often the table is looked at. */
const GLANCE = Duration.millis(60)

/** How long a person reads. */
const READING = Duration.seconds(1.5)

/** How long a step may take. */
const PATIENCE = Duration.seconds(30)
const PATIENCE_ONCE = Duration.seconds(8)
