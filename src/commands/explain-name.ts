/**
 * `servicegroup explain name`: what pods of a node get for a name in DNS, and by which rule.
 *
 * It is the decision of which the hosts file and the wrapper's slices for CoreDNS are made, of the same objects; it only ever reads.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { askedNames } from "../core/asked-name.ts"
import type { EndpointSlice } from "../core/endpoints.ts"
import { explainName, type NameQuestion } from "../core/explain-name.ts"
import { GRID_SELECTOR, type StatefulSetGrid } from "../core/grid.ts"
import type { KubeObject, Node, Service, StatefulSet } from "../core/kube.ts"
import type { NamesInput } from "../core/names.ts"
import * as Api from "../shell/api.ts"
import { CHILDREN, GRIDS, NODE } from "../shell/kinds.ts"
import { listed } from "../shell/listed.ts"
import { type Access, access, Misconfigured, clusterDomain } from "../shell/settings.ts"
import { foreign, kept, output, slicesOf, snapshot } from "./gathered.ts"
import { render } from "./name-explanation.ts"
import { near } from "./near.ts"

type Objects = Omit<NamesInput, "clusterDomain">
/** Nothing, where the cluster doesn't have it. */
const ifThere = (
  list: Effect.Effect<readonly unknown[], Api.ApiError, Api.Api>
): Effect.Effect<readonly unknown[], Api.ApiError, Api.Api> =>
  Effect.catchIf(
    list,
    (error) => error.reason === "NotFound",
    () => Effect.succeed([])
  )

const nodeOf = (name: string): Effect.Effect<Node, Api.ApiError | Misconfigured, Api.Api> =>
  Effect.gen(function* () {
    const nodes = (yield* listed(NODE)) as readonly Node[]
    const names = nodes.map(({ metadata }) => metadata.name).sort()
    const found = nodes.find(({ metadata }) => metadata.name === name)
    if (found !== undefined) return found
    return yield* new Misconfigured({
      message:
        name === ""
          ? `say from which node: --node NAME; ${near(name, names)}`
          : `--node ${name}: no such node in the cluster: ${near(name, names)}`
    })
  })

/** What concerns these Services, `namespace/name`. */
const fromCluster = (
  services: readonly string[],
  node: string
): Effect.Effect<Objects, Api.ApiError | Misconfigured, Api.Api> =>
  Effect.gen(function* () {
    const api = yield* Api.Api
    const found = {
      grids: [] as unknown[],
      sets: [] as unknown[],
      services: [] as unknown[],
      slices: [] as unknown[]
    }
    const own = yield* nodeOf(node)
    for (const namespace of new Set(services.map((key) => key.split("/")[0] ?? ""))) {
      found.grids.push(...(yield* ifThere(listed(GRIDS.StatefulSetGrid, { namespace }))))
      found.sets.push(...(yield* listed(CHILDREN.StatefulSet, { namespace, labelSelector: GRID_SELECTOR })))
    }
    for (const key of new Set(services)) {
      const [namespace = "", name = ""] = key.split("/")
      const get = Effect.map(api.get(CHILDREN.Service, namespace, name), (service) => [service])
      found.services.push(...(yield* ifThere(get)))
      found.slices.push(...(yield* slicesOf({ namespace, name })))
    }
    return { ...(found as unknown as Objects), node: own }
  })

const fromSnapshot = (folder: string, asked: string | undefined): Effect.Effect<Objects, Misconfigured> =>
  Effect.gen(function* () {
    const { node, has, of } = yield* kept(folder)
    if (asked !== undefined && asked !== node) return yield* foreign(asked, folder, node)
    if (!has("StatefulSetGrid") || !has("StatefulSet"))
      return yield* new Misconfigured({
        message: `the snapshot in ${folder} knows of no grids: its wrapper serves no CoreDNS; leave --snapshot out to ask the cluster`
      })
    return {
      node: of<Node>("OwnNode")[0] ?? { metadata: { name: node } },
      grids: of<StatefulSetGrid>("StatefulSetGrid"),
      sets: of<StatefulSet>("StatefulSet"),
      services: of<Service>("Service"),
      slices: of<EndpointSlice & KubeObject>("EndpointSlice")
    }
  })

interface Asked {
  readonly access: Access
  readonly name: string
  readonly namespace: string
  readonly clusterDomain: string
  readonly node: Option.Option<string>
  readonly snapshot: Option.Option<string>
  readonly output: "text" | "json"
}

const gathered = (asked: Asked): Effect.Effect<NameQuestion, Misconfigured> =>
  Effect.gen(function* () {
    const { namespace, clusterDomain: domain } = asked
    const name = asked.name.toLowerCase()
    if (!/^[-a-z0-9_.]{1,254}$/.test(name))
      return yield* new Misconfigured({
        message: `${JSON.stringify(asked.name)} is no name in DNS; write one such as web-0.web-svc.default.svc.${domain}`
      })
    const question = { name, namespace, clusterDomain: domain }
    const node = Option.getOrUndefined(asked.node)
    if (Option.isSome(asked.snapshot))
      return { ...question, ...(yield* fromSnapshot(asked.snapshot.value, node)) }
    const services = askedNames(name, question).map(({ service }) => service)
    const objects = yield* fromCluster(services, node ?? "").pipe(
      Effect.catchTag(
        "ApiError",
        (error) => new Misconfigured({ message: `${error.request}: ${error.message}` })
      ),
      Effect.provide(Api.layer(asked.access)),
      Effect.scoped
    )
    return { ...question, ...objects }
  })

const answer = (asked: Asked) =>
  Effect.gen(function* () {
    const explained = explainName(yield* gathered(asked))
    yield* Console.log(asked.output === "json" ? JSON.stringify(explained, undefined, 2) : render(explained))
  })

const name = Args.text({ name: "NAME" }).pipe(
  Args.withDescription("a name in DNS, whole or as a pod writes it, such as web-0.web-svc")
)
const node = Options.text("node").pipe(Options.withDescription("the node whose pods ask"), Options.optional)
const namespace = Options.text("namespace").pipe(
  Options.withAlias("n"),
  Options.withDescription("the namespace of the pod that asks, with which short names are completed"),
  Options.withDefault("default")
)

export const nameExamples = [
  "  servicegroup explain name web-0.web-svc.default.svc.cluster.local --node bj-1",
  "  servicegroup explain name web-0.web-svc -n shop --node bj-1  as a pod of namespace shop writes it",
  "  servicegroup explain name web-0.web-svc --node bj-1 -o json",
  "  servicegroup explain name web-0.web-svc --snapshot /var/lib/servicegroup",
  "                                                              on a node, also when the cluster is away"
]

export const nameCommand = Command.make(
  "name",
  { access, node, namespace, clusterDomain, snapshot, output, name },
  answer
).pipe(
  Command.withDescription(
    [
      "Print the addresses that a node's pods get for a name in DNS, and by which rule; nothing is written.",
      "",
      "Examples:",
      ...nameExamples
    ].join("\n")
  )
)
