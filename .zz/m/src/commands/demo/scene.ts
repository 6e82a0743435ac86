/**
 * What the cluster holds at one moment, as far as the demo shows or judges it.
 */
import * as Effect from "effect/Effect"
import type { DeploymentGrid, ServiceGrid, StatefulSetGrid, WorkloadGrid } from "../../core/grid.ts"
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
    readonly nodeName?: string
    readonly conditions?: { readonly ready?: boolean }
  }[]
}

export interface Scene {
  readonly nodes: readonly Node[]
  readonly grids: readonly WorkloadGrid[]
  readonly serviceGrids: readonly ServiceGrid[]
  readonly workloads: readonly Workload[]
  readonly services: readonly Service[]
  readonly pods: readonly Pod[]
  readonly slices: readonly EndpointSlice[]
}

/** Looks at the cluster; nothing is asked again while nothing was written. */
export class Sight {
  readonly #kubectl: Kubectl
  #last: { readonly revision: string; readonly scene: Scene } | undefined

  constructor(kubectl: Kubectl) {
    this.#kubectl = kubectl
  }

  look(): Effect.Effect<Scene, Failed> {
    return Effect.flatMap(this.#kubectl.revision(), (revision) =>
      this.#last?.revision === revision
        ? Effect.succeed(this.#last.scene)
        : Effect.tap(everything(this.#kubectl), (scene) =>
            Effect.sync(() => {
              this.#last = { revision, scene }
            })
          )
    )
  }
}

const everything = (kubectl: Kubectl): Effect.Effect<Scene, Failed> => {
  const of = <A extends KubeObject>(kind: string): Effect.Effect<readonly A[], Failed> =>
    Effect.map(kubectl.list<A>(kind), (items) => items.map((item) => ({ ...item, kind })))
  return Effect.all(
    {
      nodes: of<Node>("Node"),
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
