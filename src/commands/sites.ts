/**
 * `servicegroup sites`: which nodes are in which units and groups, what each carries because of them, and what is in conflict.
 *
 * It is the pass that the controller makes, over the same objects; it only ever reads.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Node } from "../core/kube.ts"
import { type Roster, roster } from "../core/roster.ts"
import type { NodeGroup, NodeUnit } from "../core/site.ts"
import * as Api from "../shell/api.ts"
import { NODE, SITES } from "../shell/kinds.ts"
import { listed } from "../shell/listed.ts"
import { type Access, access, maxNodesChanged, Misconfigured } from "../shell/settings.ts"
import { coloured } from "./demo/paint.ts"
import { near } from "./near.ts"
import { namesIn, part } from "./site-part.ts"
import { siteTree } from "./site-tree.ts"

interface Asked {
  readonly access: Access
  readonly name: Option.Option<string>
  readonly maxNodesChanged: number
  readonly all: boolean
  readonly output: "text" | "json"
}

const fromCluster = (share: number): Effect.Effect<Roster, Api.ApiError | Misconfigured, Api.Api> =>
  Effect.gen(function* () {
    const units = (yield* listed(SITES.NodeUnit).pipe(
      Effect.catchIf(
        (error) => error.reason === "NotFound",
        () =>
          new Misconfigured({
            message: "the cluster knows no NodeUnit and NodeGroup: kubectl apply -k manifests/crds"
          })
      )
    )) as readonly NodeUnit[]
    const groups = (yield* listed(SITES.NodeGroup)) as readonly NodeGroup[]
    const nodes = (yield* listed(NODE)) as readonly Node[]
    return roster({ units, groups, nodes, maxNodesChanged: share })
  })

const answer = (asked: Asked) =>
  Effect.gen(function* () {
    const whole = yield* fromCluster(asked.maxNodesChanged).pipe(
      Effect.catchTag(
        "ApiError",
        (error) => new Misconfigured({ message: `${error.request}: ${error.message}` })
      ),
      Effect.provide(Api.layer(asked.access)),
      Effect.scoped
    )
    const name = Option.getOrUndefined(asked.name)
    const shown = name === undefined ? whole : part(whole, name)
    if (shown === undefined)
      return yield* new Misconfigured({
        message: `no NodeGroup, NodeUnit or node is called ${JSON.stringify(name)}: ${near(name ?? "", namesIn(whole))}`
      })
    // Where nobody sees colours, they are taken off again: see run.ts.
    const text = (): string => siteTree(shown, name, asked.all ? Infinity : MANY, coloured).join("\n")
    yield* Console.log(asked.output === "json" ? JSON.stringify(shown, undefined, 2) : text())
  })

/** From more nodes on, those that look the same share a line. */
const MANY = 100

const name = Args.text({ name: "NAME" }).pipe(
  Args.withDescription("a group, a unit or a node; without it all of them"),
  Args.optional
)
const all = Options.boolean("all").pipe(
  Options.withDescription(`a line for each node, also where there are more than ${MANY}`)
)
const output = Options.choice("output", ["text", "json"]).pipe(
  Options.withAlias("o"),
  Options.withDefault("text")
)

export const sitesCommand = Command.make(
  "sites",
  { access, maxNodesChanged, all, output, name },
  answer
).pipe(
  Command.withDescription(
    [
      "Print which nodes are in which NodeUnits and NodeGroups, what each node carries and from whom, and what is in conflict; nothing is written.",
      "Exit code: 0 the cluster answered, whatever is in conflict, 1 it did not, or nothing bears the name.",
      "",
      "Examples:",
      "  servicegroup sites                the tree: groups, their units, their nodes; then who is in none",
      "  servicegroup sites beijing        one group, unit or node",
      "  servicegroup sites bj-1           a node: each label, annotation and taint, who gives it, and where it says so",
      "  servicegroup sites -o json        {groups, units, nodes, ...}: each by name",
      "  servicegroup sites -o json | jq -r '.nodes[] | select(.units == []) | .name'"
    ].join("\n")
  )
)
