/**
 * `servicegroup plan`: what a grid, or a change of one, would do: unit by unit, before anything is written.
 *
 * It is the plan that the controller carries out, made of the same objects; it only ever reads.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { ChildObject } from "../core/child.ts"
import { childKind } from "../core/desired.ts"
import type { Grid } from "../core/grid.ts"
import { isObject } from "../core/json.ts"
import type { Node } from "../core/kube.ts"
import * as Api from "../shell/api.ts"
import { CHILDREN, GRIDS, NODE } from "../shell/kinds.ts"
import { listed } from "../shell/listed.ts"
import { type Manifest, manifests } from "../shell/manifest.ts"
import { access, legacyManager, Misconfigured, unitGrace } from "../shell/settings.ts"
import { exitCode, gridPlan, render } from "./outline.ts"

/** Everything a plan is made from. */
interface World {
  readonly grids: readonly Grid[]
  readonly nodes: readonly Node[]
  /** by kind */
  readonly children: { readonly [kind: string]: readonly ChildObject[] }
}

const isGrid = ({ object }: Manifest): boolean => Object.hasOwn(GRIDS, object.kind ?? "")

const inNamespace = (grid: Grid): Grid => ({
  ...grid,
  spec: isObject(grid.spec) ? grid.spec : {},
  metadata: { ...grid.metadata, namespace: grid.metadata.namespace ?? "default" }
})

const key = (object: {
  readonly kind?: unknown
  readonly metadata: { readonly name: string; readonly namespace?: unknown }
}): string => `${String(object.metadata.namespace ?? "default")}/${object.metadata.name}`

/** What the cluster holds, with the grids of the files in place of their stored namesakes. */
const fromCluster = (files: readonly Grid[]): Effect.Effect<World, Api.ApiError, Api.Api> =>
  Effect.gen(function* () {
    const stored = new Map<string, Grid>()
    for (const kind of Object.keys(GRIDS) as Grid["kind"][])
      for (const raw of (yield* listed(GRIDS[kind])) as readonly Grid[])
        stored.set(`${kind}/${key(raw)}`, { ...raw, kind } as Grid)
    const asked = files.map((grid): Grid => {
      const now = stored.get(`${grid.kind}/${key(grid)}`)
      return now === undefined
        ? grid
        : {
            ...grid,
            metadata: {
              ...grid.metadata,
              uid: now.metadata.uid,
              deletionTimestamp: now.metadata.deletionTimestamp
            }
          }
    })
    const nodes = (yield* listed(NODE)) as readonly Node[]
    const grids = files.length === 0 ? [...stored.values()] : asked
    const children: Record<string, readonly ChildObject[]> = {}
    for (const kind of new Set(grids.map(childKind)))
      children[kind] = (yield* listed(CHILDREN[kind])) as readonly ChildObject[]
    return { grids, nodes, children }
  })

/** The files are the cluster: nodes and children in them, and nothing else. */
const fromFiles = (found: readonly Manifest[], files: readonly Grid[]): World => {
  const of = <A>(kind: string): readonly A[] =>
    found.filter(({ object }) => object.kind === kind).map(({ object }) => object as unknown as A)
  const children = Object.fromEntries(Object.keys(CHILDREN).map((kind) => [kind, of<ChildObject>(kind)]))
  return { grids: files, nodes: of<Node>("Node"), children }
}

const files = Options.text("filename").pipe(
  Options.withAlias("f"),
  Options.withDescription(
    "YAML or JSON with grids, - for standard input; may be given several times. Without it: the grids that are stored"
  ),
  Options.repeated
)
const offline = Options.boolean("offline").pipe(
  Options.withDescription("ask no cluster: the nodes and children are those in the files")
)
const output = Options.choice("output", ["text", "json"]).pipe(
  Options.withAlias("o"),
  Options.withDefault("text")
)

interface Asked {
  readonly access: { readonly kubeconfig: string; readonly context: string }
  readonly files: readonly string[]
  readonly offline: boolean
  readonly output: "text" | "json"
  readonly unitGrace: number
  readonly legacyManager: string
}

const answer = (asked: Asked) =>
  Effect.gen(function* () {
    const found = yield* manifests(asked.files)
    const grids = found.filter(isGrid).map(({ object }) => inNamespace(object as Grid))
    if (asked.files.length > 0 && grids.length === 0)
      return yield* new Misconfigured({
        message: `${asked.files.join(", ")}: no DeploymentGrid, StatefulSetGrid or ServiceGrid in it`
      })
    if (asked.offline && grids.length === 0)
      return yield* new Misconfigured({ message: "--offline needs grids and nodes to read: add -f FILE" })
    const world = asked.offline
      ? fromFiles(found, grids)
      : yield* fromCluster(grids).pipe(
          Effect.catchTag(
            "ApiError",
            (error) => new Misconfigured({ message: `${error.request}: ${error.message}` })
          ),
          Effect.provide(Api.layer(asked.access)),
          Effect.scoped
        )
    const now = yield* Clock.currentTimeMillis
    const o = { unitGrace: asked.unitGrace, legacy: [asked.legacyManager], now }
    const plans = world.grids.map((grid) =>
      gridPlan(grid, world.nodes, world.children[childKind(grid)] ?? [], o)
    )
    yield* Console.log(asked.output === "json" ? JSON.stringify(plans, undefined, 2) : render(plans))
    process.exitCode = exitCode(plans)
  })

export const planCommand = Command.make(
  "plan",
  { access, files, offline, output, unitGrace, legacyManager },
  answer
).pipe(
  Command.withDescription(
    [
      "Print what grids would do, unit by unit; nothing is written.",
      "Exit code: 0 nothing to do, 2 something to do, 1 something is refused or went wrong.",
      "",
      "Examples:",
      "  servicegroup plan -f grid.yaml                  against the cluster of the kubeconfig",
      "  servicegroup plan                               the grids that are stored there",
      "  servicegroup plan --offline -f nodes.yaml -f grid.yaml -o json",
      "  kubectl get dg web -o yaml | sed s/nginx:1/nginx:2/ | servicegroup plan -f -"
    ].join("\n")
  )
)
