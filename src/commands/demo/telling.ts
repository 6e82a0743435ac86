/**
 * Tells the story on the screen: what is done, what comes of it, what there is at the end.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { board, conditions } from "./board.ts"
import { Failed, type Kubectl } from "./kubectl.ts"
import type { Edge } from "./edge.ts"
import { lastWords, type Program } from "./program.ts"
import type { Paint } from "./paint.ts"
import { sites } from "./places.ts"
import { reach } from "./reach.ts"
import { resolving } from "./resolve.ts"
import type { Scene, Sight } from "./scene.ts"
import type { Screen } from "./screen.ts"
import { ECHO_SERVICE, end, KEY, WEB, WRAPPED } from "./expected.ts"
import { type Step, STORY, type Table } from "./story.ts"

export interface Telling {
  readonly screen: Screen
  readonly kubectl: Kubectl
  readonly sight: Sight
  readonly controller: Program
  readonly edge: Edge
  /** the file by which others reach the cluster */
  readonly kubeconfig: string
  /** how this program is called here */
  readonly called: string
  /** end with the story */
  readonly once: boolean
}

/** Looks, and shows what is there. */
const glance = ({ sight, screen }: Telling): Effect.Effect<Scene, Failed> =>
  Effect.tap(sight.look(), (scene) =>
    Effect.sync(() => {
      const { width, paint } = screen
      screen.show(TABLES.flatMap((each) => ["", ...lines(scene, each, width, paint)]))
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
        const said = [`${what}: not there after ${Duration.format(patience)}:`, ...lacking].join("\n  ")
        return yield* new Failed({ message: lastWords(said, wordsOn(telling, scene)) })
      }
      yield* Effect.sleep(GLANCE)
    }
  })

/** The last words of the first wrapper that doesn't answer, else those of the controller. */
const wordsOn = ({ edge, controller }: Telling, { views }: Scene): readonly string[] => {
  const silent = views.find(({ got }) => typeof got === "string")
  const words = silent === undefined ? [] : edge.words(silent.node)
  return words.length > 0 ? words : controller.words()
}

const tell = (telling: Telling, step: Step, number: number): Effect.Effect<void, Failed> =>
  Effect.gen(function* () {
    const { screen, sight, kubectl, edge } = telling
    const { bold, green } = screen.paint
    const title = `${number}. ${step.title}`
    const before = yield* sight.look()
    const commands = step.commands(before, { kubectl, edge })
    screen.say("", bold(title), ...screen.wrapped(step.says, MARGIN), ...typed(screen, commands))
    yield* step.act({ kubectl, edge }, before)
    const scene = yield* until(telling, `step ${title}`, (now) => step.missing(now, before))
    screen.say(...screen.wrapped(step.outcome, MARGIN).map(green))
    if (!screen.live) screen.say(...shown(screen, scene, step.shows))
    else if (!telling.once) yield* Effect.sleep(READING)
  })

const typed = ({ paint: { dim, cyan } }: Screen, commands: readonly string[]): readonly string[] =>
  commands.map((command) => `${MARGIN}${dim("$")} ${cyan(command)}`)

const inset = (lines: readonly string[]): readonly string[] => lines.map((line) => `${MARGIN}${line}`)

const shown = ({ width, paint }: Screen, scene: Scene, what: readonly Table[]): readonly string[] => {
  const room = width - MARGIN.length
  return what.flatMap((each, i) => [...(i > 0 ? [""] : []), ...inset(lines(scene, each, room, paint))])
}

const TABLES: readonly Table[] = ["Sites", "Grids", "Nodes", "Names"]

const lines = (scene: Scene, what: Table, width: number, paint: Paint): readonly string[] => {
  switch (what) {
    case "Sites":
      return sites(scene, width, paint)
    case "Grids":
      return board(scene, width, paint)
    case "Nodes":
      return reach(scene, ECHO, width, paint)
    case "Names":
      return hasNames(scene) ? resolving(scene, WEB, width, paint) : []
  }
}

/** Whether there is anything to resolve. */
const hasNames = ({ services }: Scene): boolean =>
  services.some(({ metadata }) => metadata.name === WEB.service)

/** The end state, and whether it is as it should be. */
const ending = (telling: Telling): Effect.Effect<void, Failed> =>
  Effect.gen(function* () {
    const { screen, sight, once } = telling
    const { bold, green } = screen.paint
    const scene = yield* sight.look()
    if (once) screen.show([])
    screen.say("", bold("The end state"))
    if (once || !screen.live) screen.say(...shown(screen, scene, TABLES), "")
    screen.say(...inset(conditions(scene, screen.width - MARGIN.length, screen.paint)), "")
    const lacking = end(scene)
    if (lacking.length > 0)
      return yield* new Failed({
        message: ["the end state is not as it should be:", ...lacking].join("\n  ")
      })
    screen.say(green(`${MARGIN}All of it is as it should be.`))
  })

const around = ({ screen, kubectl: { url }, edge, kubeconfig, called }: Telling): void => {
  screen.say(
    "",
    screen.paint.bold("Look around"),
    ...screen.wrapped(
      "The cluster, the controller and the wrappers stay up. Change what you like, and see what they make of it.",
      MARGIN
    ),
    ...typed(screen, [
      `kubectl --server=${url} get dg,deploy,pods -A -o wide`,
      `kubectl --server=${url} get nu,ng`,
      `kubectl --server=${url} edit nodeunit guangzhou`,
      `curl -s ${edge.url(WRAPPED[0] ?? "")}/apis/discovery.k8s.io/v1/endpointslices`,
      `${called} sites --kubeconfig ${kubeconfig}`,
      `${called} explain service default/${ECHO_SERVICE} --node ${WRAPPED[0]} --kubeconfig ${kubeconfig}`,
      `${called} explain name ${WEB.grid}-0.${WEB.service} --node ${WRAPPED[0]} --kubeconfig ${kubeconfig}`,
      `${called} plan --kubeconfig ${kubeconfig}`
    ]),
    `${MARGIN}Ctrl-C ends it all.`
  )
}

/** The whole story, its end state and, unless it ends there, how to look around; then what is there is shown for ever. */
export const told = (telling: Telling): Effect.Effect<void, Failed> =>
  Effect.gen(function* () {
    const { screen, kubectl, controller, edge } = telling
    screen.say(
      screen.paint.bold("ServiceGroup: one cluster, many sites"),
      ...screen.wrapped(
        `A Kubernetes API with six nodes is served at ${kubectl.url}, and the controller runs beside it as process ${controller.pid}. On each node a wrapper stands before kube-proxy: processes ${WRAPPED.map((node) => edge.pid(node)).join(", ")}. They share nothing but HTTP. Each step says what a person would type; the demo sends the same requests.`
      )
    )
    for (const [i, step] of STORY.entries()) yield* tell(telling, step, i + 1)
    yield* ending(telling)
    if (telling.once) return
    around(telling)
    // Whatever somebody does to the cluster now, be it to delete the kinds: the demo stays.
    const watching = Effect.delay(Effect.ignore(glance(telling)), WATCHING)
    yield* screen.live ? Effect.forever(watching) : Effect.never
  })

const ECHO = { service: ECHO_SERVICE, key: KEY }

const MARGIN = "   "

/** How often the cluster is looked at. */
const GLANCE = Duration.millis(60)

/** The same once the story is over. */
const WATCHING = Duration.millis(250)

/** How long a person reads. */
const READING = Duration.seconds(1.5)

/** How long a step may take. */
const PATIENCE = Duration.seconds(30)
const PATIENCE_ONCE = Duration.seconds(15)
