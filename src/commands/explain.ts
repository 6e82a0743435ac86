/**
 * `servicegroup explain`: which of a Service's endpoints a node uses, and what its pods get for a name; and by which rule.
 *
 * It is the decision that the wrapper carries out, made of the same objects; it only ever reads.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Endpoints, EndpointSlice } from "../core/endpoints.ts"
import type { KubeObject, Node, Service } from "../core/kube.ts"
import { API_SERVER, SERVICE_NAME } from "../core/topology.ts"
import { own } from "../core/value.ts"
import * as Api from "../shell/api.ts"
import { CHILDREN, ENDPOINTS, NODE } from "../shell/kinds.ts"
import { listed } from "../shell/listed.ts"
import { type Access, access, Misconfigured } from "../shell/settings.ts"
import { nameCommand, nameExamples } from "./explain-name.ts"
import { explanation, render, type Scenery } from "./explanation.ts"
import { foreign, kept, output, slicesOf, snapshot } from "./gathered.ts"
import { near } from "./near.ts"

/** What was asked about. */
interface Name {
  readonly namespace: string
  readonly name: string
}

const textOf = ({ namespace, name }: Name): string => `${namespace}/${name}`

const nameOf = (given: string): Effect.Effect<Name, Misconfigured> => {
  const [, namespace, name] =
    /^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\/([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)$/.exec(given) ?? []
  return namespace === undefined || name === undefined
    ? new Misconfigured({
        message: `${JSON.stringify(given)} names no Service; write NAMESPACE/NAME, such as default/web-svc`
      })
    : Effect.succeed({ namespace, name })
}

const missing = (asked: Name, all: readonly string[], where: string): Misconfigured =>
  new Misconfigured({ message: `no Service ${textOf(asked)} in ${where}: ${near(textOf(asked), all)}` })

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`

const fromCluster = (asked: Name): Effect.Effect<Scenery, Api.ApiError | Misconfigured, Api.Api> =>
  Effect.gen(function* () {
    const api = yield* Api.Api
    const { namespace, name } = asked
    const service = yield* api.get(CHILDREN.Service, namespace, name).pipe(
      Effect.catchIf(
        (error) => error.reason === "NotFound",
        () =>
          Effect.flatMap(listed(CHILDREN.Service), (all) =>
            Effect.fail(missing(asked, (all as readonly Service[]).map(keyOf), "the cluster"))
          )
      )
    )
    const slices = yield* slicesOf(asked)
    const nodes = (yield* listed(NODE)) as readonly Node[]
    const [apiServer] =
      textOf(asked) === API_SERVER
        ? ((yield* listed(ENDPOINTS, {
            namespace,
            fieldSelector: `metadata.name=${name}`
          })) as readonly Endpoints[])
        : []
    return { service: service as Service, slices, nodes: byName(nodes), apiServer }
  })

const byName = (nodes: readonly Node[]): ReadonlyMap<string, Node> =>
  new Map(nodes.map((node) => [node.metadata.name, node] as const))

const fromSnapshot = (
  folder: string,
  asked: Name
): Effect.Effect<Scenery & { readonly node: string }, Misconfigured> =>
  Effect.gen(function* () {
    const { node, of } = yield* kept(folder)
    const services = of<Service>("Service")
    const service = services.find((each) => keyOf(each) === textOf(asked))
    if (service === undefined) return yield* missing(asked, services.map(keyOf), `the snapshot in ${folder}`)
    const slices = of<EndpointSlice>("EndpointSlice").filter(
      ({ metadata }) =>
        metadata.namespace === asked.namespace && own(metadata.labels, SERVICE_NAME) === asked.name
    )
    const [apiServer] = textOf(asked) === API_SERVER ? of<Endpoints>("ApiServer") : []
    // What stands last counts: this node is known best by its own object.
    const nodes = byName([...of<Node>("Node"), ...of<Node>("OwnNode")])
    return { service, slices, nodes, apiServer, node }
  })

interface Asked {
  readonly access: Access
  readonly service: string
  readonly node: Option.Option<string>
  readonly snapshot: Option.Option<string>
  readonly output: "text" | "json"
}

/** What is known, and of which nodes it is to be told. */
const gathered = (asked: Asked): Effect.Effect<readonly [Scenery, readonly string[]], Misconfigured> =>
  Effect.gen(function* () {
    const name = yield* nameOf(asked.service)
    const node = Option.getOrUndefined(asked.node)
    if (Option.isSome(asked.snapshot)) {
      const folder = asked.snapshot.value
      const scenery = yield* fromSnapshot(folder, name)
      if (node !== undefined && node !== scenery.node) return yield* foreign(node, folder, scenery.node)
      return [scenery, [scenery.node]]
    }
    const scenery = yield* fromCluster(name).pipe(
      Effect.catchTag(
        "ApiError",
        (error) => new Misconfigured({ message: `${error.request}: ${error.message}` })
      ),
      Effect.provide(Api.layer(asked.access)),
      Effect.scoped
    )
    const names = [...scenery.nodes.keys()].sort()
    if (node !== undefined && !scenery.nodes.has(node))
      return yield* new Misconfigured({
        message: `--node ${node}: no such node in the cluster: ${near(node, names)}`
      })
    return [scenery, node === undefined ? names : [node]]
  })

const answer = (asked: Asked) =>
  Effect.gen(function* () {
    const [scenery, nodes] = yield* gathered(asked)
    const explained = explanation(scenery, nodes)
    yield* Console.log(asked.output === "json" ? JSON.stringify(explained, undefined, 2) : render(explained))
  })

const service = Args.text({ name: "NAMESPACE/NAME" }).pipe(Args.withDescription("the Service"))
const node = Options.text("node").pipe(
  Options.withDescription(
    "the node to look from; without it all of them, those that are shown the same together"
  ),
  Options.optional
)
const examples = [
  "Examples:",
  "  servicegroup explain service default/web-svc                for every node",
  "  servicegroup explain service default/web-svc --node bj-1    for one of them",
  "  servicegroup explain service default/web-svc -o json",
  "  servicegroup explain service default/web-svc --snapshot /var/lib/servicegroup",
  "                                                              on a node, also when the cluster is away"
]

const serviceCommand = Command.make("service", { access, node, snapshot, output, service }, answer).pipe(
  Command.withDescription(
    [
      "Print each endpoint of a Service, whether a node uses it, and by which rule; nothing is written.",
      "",
      ...examples
    ].join("\n")
  )
)

export const explainCommand = Command.make("explain").pipe(
  Command.withDescription(
    ["Print what nodes are shown, and why.", "", ...examples, ...nameExamples].join("\n")
  ),
  Command.withSubcommands([serviceCommand, nameCommand])
)
