/**
 * The state of the embedded cluster and the words in which it is asked and answers.
 *
 * The model is pure: `(cluster, request) -> (cluster, response, changes)`. Time comes in with the request, names
 * and uids come from counters in the state, so the same requests always give the same cluster.
 */
import type { JsonObject, KubeObject } from "../core/kube.ts"
import type * as Sorted from "./sorted.ts"

/** One request as the API server reads it: body already parsed (JSON or YAML), path without the query. */
export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly contentType?: string | undefined
  readonly accept?: string | undefined
  readonly userAgent?: string | undefined
  readonly body?: unknown
  /** milliseconds since the epoch */
  readonly at: number
}

export interface Response {
  readonly code: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** One committed write, in the order of revisions: what watches are told. */
export interface Change {
  readonly revision: number
  /** group and plural, `apps/deployments`; the core group is empty: `/pods` */
  readonly resource: string
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  readonly object: KubeObject
  readonly before: KubeObject | undefined
}

/** A column of `kubectl get`, as a CRD writes it. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

export interface ScalePaths {
  readonly spec: readonly string[]
  readonly status: readonly string[]
  /** a path to a selector that is text */
  readonly selector?: readonly string[]
}

/** A kind that is served: one of the built-in ones, or one version of a CustomResourceDefinition. */
export interface Resource {
  /** empty for the core group */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** has a status subresource */
  readonly status: boolean
  /** has a scale subresource */
  readonly scale: boolean
  /** where replicas and their selector stand, if not where workloads have them */
  readonly scalePaths?: ScalePaths
  /** from a CustomResourceDefinition */
  readonly custom: boolean
  /** the columns that a CRD asks for (besides the name); undefined where the kind has its own */
  readonly columns?: readonly Column[]
  /** the OpenAPI v3 schema of a CRD's version */
  readonly schema?: JsonObject
}

/** Objects of one resource by `namespace/name` (by name alone where the kind has no namespaces). */
export type Objects = Sorted.Sorted<string, KubeObject>

export interface Cluster {
  /** the revision of the last write; the first one is 1 */
  readonly revision: number
  /** what was written up to this revision is forgotten: watches and continues from before it get 410 */
  readonly compacted: number
  /** by group and plural */
  readonly objects: ReadonlyMap<string, Objects>
  /** by revision */
  readonly history: Sorted.Sorted<number, Change>
  /** what CustomResourceDefinitions make servable, by group/version/plural */
  readonly custom: ReadonlyMap<string, Resource>
  /** uids and generated names handed out so far */
  readonly counters: {
    readonly uid: number
    readonly name: number
    readonly ip: number
    readonly port: number
  }
  /** cluster IPs and node ports in use, with the service that holds them */
  readonly addresses: Sorted.Sorted<string, string>
  readonly ports: Sorted.Sorted<number, string>
}

/** One line of a watch. */
export interface WatchLine {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR"
  readonly object: unknown
}

/** An accepted watch: what to write at once, and what to make of each later change. */
export interface Watch {
  readonly resource: Resource
  /** the lines up to the cluster's revision; an ERROR ends the watch */
  readonly initial: readonly WatchLine[]
  /** the client asked for bookmarks */
  readonly bookmarks: boolean
  readonly timeoutSeconds: number | undefined
  /** the line for a change, or undefined if this watch isn't told of it */
  readonly accepts: (change: Change) => WatchLine | undefined
  readonly bookmark: (revision: number) => WatchLine
}

/** `namespace/name`, or the name alone: the key of an object among those of its resource. */
export const keyOf = (namespace: string | null | undefined, name: string): string =>
  namespace ? `${namespace}/${name}` : name

export type { JsonObject, KubeObject }
