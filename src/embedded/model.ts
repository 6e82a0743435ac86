/**
 * The API server as a pure function: `(cluster, request) -> (cluster, response, changes)`.
 */
import type { KubeObject } from "../core/kube.ts"
import type { Change, Cluster, Request, Resource, Response, Watch } from "./cluster.ts"

export interface Step {
  readonly cluster: Cluster
  readonly response: Response
  readonly changes: readonly Change[]
}

/** A cluster as it is right after its start: the system namespaces and the service of the API server. */
export declare const start: (at: number) => Cluster

/** The answer to one request, everything but watches, and the cluster after it. */
export declare const step: (cluster: Cluster, request: Request) => Step

/** A watch, or the answer that refuses it. */
export declare const watch: (
  cluster: Cluster,
  request: Request
) =>
  | { readonly _tag: "Watch"; readonly watch: Watch }
  | { readonly _tag: "Refused"; readonly response: Response }

/** Every kind that is served, built-in ones first. */
export declare const resources: (cluster: Cluster) => readonly Resource[]

/** The served kind of a group, version and plural. */
export declare const find: (
  cluster: Cluster,
  group: string,
  version: string,
  plural: string
) => Resource | undefined

/** One object; `resource` is group and plural, `apps/deployments` or `/pods`. */
export declare const get: (
  cluster: Cluster,
  resource: string,
  namespace: string | undefined,
  name: string
) => KubeObject | undefined

/** The objects of a resource, in order, of one namespace or of all. */
export declare const list: (cluster: Cluster, resource: string, namespace?: string) => readonly KubeObject[]

/** The cluster after its history up to a revision is forgotten. */
export declare const compact: (cluster: Cluster, upTo: number) => Cluster
