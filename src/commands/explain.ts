/**
 * `servicegroup explain service`: which of a Service's endpoints a node uses, and by which rule.
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
import { isObject } from "../core/json.ts"
import type { KubeObject, Node, Service } from "../core/kube.ts"
import { API_SERVER, SERVICE_NAME } from "../core/topology.ts"
import { own } from "../core/value.ts"
import * as Api from "../shell/api.ts"
import { disk } from "../shell/disk.ts"
import { look } from "../shell/keep.ts"
import { CHILDREN, ENDPOINTS, NODE, slicesIn } from "../shell/kinds.ts"
import { listed } from "../shell/listed.ts"
import { type Access, access, Misconfigured } from "../shell/settings.ts"
import { explanation, render, type Scenery } from "./explanation.ts"
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
    const where = { namespace, labelSelector: `${SERVICE_NAME}=${name}` }
    const slices = (yield* listed(slicesIn("v1"), where).pipe(
      // clusters before 1.21
      Effect.catchIf(
        (error) => error.reason === "NotFound",
        () => listed(slicesIn("v1beta1"), where)
      )
    )) as readonly EndpointSlice[]
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

/** What a wrapper kept, and of which node it is. */
const fromSnapshot = (
  folder: string,
  asked: Name
): Effect.Effect<Scenery & { readonly node: string }, Misconfigured> =>
  Effect.gen(function* () {
    const { node, parts } = yield* Effect.mapError(
      look(disk, folder),
      ({ message }) =>
        new Misconfigured({
          message: `${message}; --snapshot takes the folder that the wrapper of this node was given, /var/lib/servicegroup unless told otherwise`
        })
    )
    const of = <A extends KubeObject>(feed: string): readonly A[] =>
      parts
        .filter((part) => part.kind.split("/")[0] === feed)
        .flatMap(({ objects }) => objects.flatMap((bytes) => object(bytes)))
        .map((each) => each as A)
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

/** An object of a snapshot; none where it can't be read: the wrapper leaves it out, too. */
const object = (bytes: Uint8Array): readonly KubeObject[] => {
  try {
    const read: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"))
    return isObject(read) && isObject(read["metadata"]) ? [read as unknown as KubeObject] : []
  } catch {
    return []
  }
}

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
      if (node !== undefined && node !== scenery.node)
        return yield* new Misconfigured({
          message: `--node ${node}: the snapshot in ${folder} is of ${scenery.node}; leave --node out, or ask the cluster`
        })
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
const snapshot = Options.text("snapshot").pipe(
  Options.withDescription("ask no cluster: the folder in which this node's wrapper keeps what it saw last"),
  Options.optional
)
const output = Options.choice("output", ["text", "json"]).pipe(
  Options.withAlias("o"),
  Options.withDefault("text")
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
  Command.withDescription(["Print what nodes are shown, and why.", "", ...examples].join("\n")),
  Command.withSubcommands([serviceCommand])
)
