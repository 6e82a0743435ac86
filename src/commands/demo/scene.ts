/**
 * What the cluster holds at one moment and what its nodes are shown, as far as the demo shows or judges it.
 */
import * as Effect from "effect/Effect"
import type { DeploymentGrid, ServiceGrid, StatefulSetGrid, WorkloadGrid } from "../../core/grid.ts"
import type { NodeGroup, NodeUnit } from "../../core/site.ts"
import type { Condition, Deployment, KubeObject, Node, Service, StatefulSet } from "../../core/kube.ts"
import type { Failed, Kubectl } from "./kubectl.ts"

export type Workload = Deployment | StatefulSet

export interface Container {
  readonly name: string
  readonly image?: string
}

export interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly containers?: readonly Container[] }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

export interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly {
    readonly addresses: readonly string[]
    readonly hostname?: string
    readonly nodeName?: string
    readonly targetRef?: { readonly name: string }
    readonly conditions?: { readonly ready?: boolean }
  }[]
}

/** One endpoint of a Service; what it doesn't say is empty. */
export interface Endpoint {
  readonly nodeName: string
  readonly address: string
  readonly pod: string
  readonly ready: boolean
}

/** What the kube-proxy of a node gets: endpoints, or the reason why there is no answer. */
export interface View {
  readonly node: string
  readonly got: readonly Endpoint[] | string
}

/** What the host names of a Service lead to on a node, or the reason why there is no answer. */
export interface Resolved {
  readonly node: string
  readonly got: Answers | string
}

/** Host names to addresses. */
export type Answers = ReadonlyMap<string, readonly string[]>

export interface Scene {
  readonly nodes: readonly Node[]
  readonly nodeUnits: readonly NodeUnit[]
  readonly nodeGroups: readonly NodeGroup[]
  readonly grids: readonly WorkloadGrid[]
  readonly serviceGrids: readonly ServiceGrid[]
  readonly workloads: readonly Workload[]
  readonly services: readonly Service[]
  readonly pods: readonly Pod[]
  readonly slices: readonly EndpointSlice[]
  readonly views: readonly View[]
  readonly names: readonly Resolved[]
  /** whether the nodes reach the cluster */
  readonly upstream: "There" | "Cut"
}

/** Those who can be asked what the nodes are shown. */
interface Nodes {
  readonly look: () => Effect.Effect<readonly View[]>
  readonly resolve: () => Effect.Effect<readonly Resolved[]>
  readonly relay: { readonly whole: boolean }
}

type Held = Omit<Scene, "views" | "names" | "upstream">

/** Looks at the cluster, of which nothing is asked again while nothing was written, and at the nodes. */
export class Sight {
  readonly #kubectl: Kubectl
  readonly #nodes: Nodes
  #last: { readonly revision: string; readonly held: Held } | undefined

  constructor(kubectl: Kubectl, nodes: Nodes) {
    this.#kubectl = kubectl
    this.#nodes = nodes
  }

  look(): Effect.Effect<Scene, Failed> {
    return Effect.zipWith(
      this.#held(),
      Effect.zip(this.#nodes.look(), this.#nodes.resolve()),
      (held, [views, names]) => ({
        ...held,
        views,
        names,
        upstream: this.#nodes.relay.whole ? "There" : "Cut"
      })
    )
  }

  #held(): Effect.Effect<Held, Failed> {
    return Effect.flatMap(this.#kubectl.revision(), (revision) =>
      this.#last?.revision === revision
        ? Effect.succeed(this.#last.held)
        : Effect.tap(everything(this.#kubectl), (held) =>
            Effect.sync(() => {
              this.#last = { revision, held }
            })
          )
    )
  }
}

const everything = (kubectl: Kubectl): Effect.Effect<Held, Failed> => {
  const of = <A extends KubeObject>(kind: string): Effect.Effect<readonly A[], Failed> =>
    Effect.map(kubectl.list<A>(kind), (items) => items.map((item) => ({ ...item, kind })))
  return Effect.all(
    {
      nodes: of<Node>("Node"),
      nodeUnits: of<NodeUnit>("NodeUnit"),
      nodeGroups: of<NodeGroup>("NodeGroup"),
      deploymentGrids: of<DeploymentGrid>("DeploymentGrid"),
      statefulSetGrids: of<StatefulSetGrid>("StatefulSetGrid"),
      serviceGrids: of<ServiceGrid>("ServiceGrid"),
      deployments: of<Deployment>("Deployment"),
      statefulSets: of<StatefulSet>("StatefulSet"),
      services: of<Service>("Service"),
      pods: of<Pod>("Pod"),
      slices: of<EndpointSlice>("EndpointSlice")
    },
    { concurrency: "unbounded" }
  ).pipe(
    Effect.map(({ deploymentGrids, statefulSetGrids, deployments, statefulSets, ...others }) => ({
      ...others,
      grids: [...deploymentGrids, ...statefulSetGrids],
      workloads: [...deployments, ...statefulSets]
    }))
  )
}

/** The endpoints of a Service, in an order that doesn't depend on that of its slices. */
export const endpointsOf = (slices: readonly EndpointSlice[], service: string): readonly Endpoint[] =>
  slices
    .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service)
    .flatMap(({ endpoints }) => endpoints ?? [])
    .flatMap(({ addresses, nodeName = "", targetRef, conditions }) =>
      addresses.map((address) => ({
        nodeName,
        address,
        pod: targetRef?.name ?? "",
        ready: conditions?.ready ?? true
      }))
    )
    .sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1))

const textOf = ({ nodeName, address, pod, ready }: Endpoint): string =>
  [nodeName, address, pod, ready].join(" ")

/** Whether two lists name the same endpoints in the same state. */
export const sameEndpoints = (some: readonly Endpoint[], others: readonly Endpoint[]): boolean =>
  some.map(textOf).join() === others.map(textOf).join()

/** Whether an object is another one's child, by its controller owner. */
export const isChildOf = (child: KubeObject, parent: KubeObject): boolean =>
  (child.metadata.ownerReferences ?? []).some(
    ({ uid, controller }) => controller === true && uid === parent.metadata.uid
  )

/** The image of a workload's first container. */
export const imageOf = ({ spec }: Workload): string => {
  const containers = spec.template?.spec?.["containers"] as readonly Container[] | null | undefined
  return containers?.[0]?.image ?? ""
}

/** How many of a workload's pods are of its current template and ready, as far as its status tells. */
export const readyOf = ({ metadata, spec, status }: Workload): number => {
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return 0
  const old = Math.max((status?.replicas ?? 0) - (status?.updatedReplicas ?? 0), 0)
  return Math.min(Math.max((status?.readyReplicas ?? 0) - old, 0), wantedOf({ spec, metadata }))
}

export const wantedOf = ({ spec }: Workload): number => spec.replicas ?? 1

export const conditionOf = (
  object: {
    readonly status?: { readonly conditions?: readonly Condition[] | null | undefined } | null | undefined
  },
  type: string
): Condition | undefined => object.status?.conditions?.find((each) => each.type === type)
