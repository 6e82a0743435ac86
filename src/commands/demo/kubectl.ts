/**
 * The embedded cluster as a person with kubectl meets it: over HTTP, with kubectl's kinds of request.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Deployment, KubeObject } from "../../core/kube.ts"

/** The demo did not go as it should: the message says what is missing, or which request was refused. */
export class Failed extends Data.TaggedError("Failed")<{ readonly message: string }> {}

const paths: { readonly [kind: string]: string } = {
  CustomResourceDefinition: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  Node: "/api/v1/nodes",
  NodeUnit: "/apis/site.superedge.io/v1alpha2/nodeunits",
  NodeGroup: "/apis/site.superedge.io/v1alpha2/nodegroups",
  Pod: "/api/v1/pods",
  Service: "/api/v1/services",
  EndpointSlice: "/apis/discovery.k8s.io/v1/endpointslices",
  Deployment: "/apis/apps/v1/deployments",
  StatefulSet: "/apis/apps/v1/statefulsets",
  DeploymentGrid: "/apis/superedge.io/v1/deploymentgrids",
  StatefulSetGrid: "/apis/superedge.io/v1/statefulsetgrids",
  ServiceGrid: "/apis/superedge.io/v1/servicegrids"
}

/** What an object is found by. */
export interface Reference {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

const collection = (kind: string): string => paths[kind] ?? `/unknown/${kind}`

const pathOf = ({ kind, namespace, name }: Reference): string => {
  const all = collection(kind)
  const slash = all.lastIndexOf("/")
  return namespace === undefined
    ? `${all}/${name}`
    : `${all.slice(0, slash)}/namespaces/${namespace}${all.slice(slash)}/${name}`
}

const referenceOf = ({ kind, metadata }: KubeObject): Reference => ({
  kind: kind ?? "",
  name: metadata.name,
  ...(typeof metadata.namespace === "string" ? { namespace: metadata.namespace } : {})
})

interface Request {
  readonly method: "GET" | "PATCH" | "DELETE"
  readonly path: string
  readonly contentType?: string
  readonly body?: unknown
}

/** Requests to one cluster. */
export class Kubectl {
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  /** Every object of a kind, in all namespaces. */
  list<A extends KubeObject>(kind: string): Effect.Effect<readonly A[], Failed> {
    return Effect.map(
      this.#send({ method: "GET", path: collection(kind) }),
      (body) => (body as { readonly items: readonly A[] }).items
    )
  }

  /** The revision of the last write to the cluster, whatever it was. */
  revision(): Effect.Effect<string, Failed> {
    return Effect.map(
      this.#send({ method: "GET", path: `${collection("Node")}?limit=1` }),
      (body) => (body as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion
    )
  }

  /** `kubectl apply --server-side` of some objects, one after the other. */
  apply(objects: readonly KubeObject[]): Effect.Effect<void, Failed> {
    return Effect.forEach(
      objects,
      (object) =>
        this.#send({
          method: "PATCH",
          path: `${pathOf(referenceOf(object))}?fieldManager=kubectl`,
          contentType: "application/apply-patch+yaml",
          body: object
        }),
      { discard: true }
    )
  }

  /** `kubectl label` of one object. */
  label(of: Reference, labels: { readonly [key: string]: string }): Effect.Effect<unknown, Failed> {
    return this.#send({
      method: "PATCH",
      path: `${pathOf(of)}?fieldManager=kubectl-label`,
      contentType: "application/merge-patch+json",
      body: { metadata: { labels } }
    })
  }

  /** `kubectl patch --type merge` of one object. */
  patch(of: Reference, body: unknown): Effect.Effect<unknown, Failed> {
    return this.#send({
      method: "PATCH",
      path: `${pathOf(of)}?fieldManager=kubectl-patch`,
      contentType: "application/merge-patch+json",
      body
    })
  }

  /** `kubectl set image`: gives the object as it is then. */
  setImage(of: Reference, container: string, image: string): Effect.Effect<Deployment, Failed> {
    const answer = this.#send({
      method: "PATCH",
      path: `${pathOf(of)}?fieldManager=kubectl-set`,
      contentType: "application/strategic-merge-patch+json",
      body: { spec: { template: { spec: { containers: [{ name: container, image }] } } } }
    })
    return Effect.map(answer, (object) => object as Deployment)
  }

  /** `kubectl delete`, without waiting. */
  remove(of: Reference): Effect.Effect<unknown, Failed> {
    return this.#send({ method: "DELETE", path: pathOf(of) })
  }

  #send({ method, path, contentType, body }: Request): Effect.Effect<unknown, Failed> {
    const asked = `${method} ${path.split("?")[0]}`
    return Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(this.url + path, {
          method,
          signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]),
          headers: {
            "user-agent": "kubectl",
            ...(contentType === undefined ? {} : { "content-type": contentType })
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        return { code: response.status, answer: (await response.json()) as unknown }
      },
      catch: (cause) => new Failed({ message: `${asked}: ${reasonOf(cause)}` })
    }).pipe(
      Effect.flatMap(({ code, answer }) =>
        code < 400
          ? Effect.succeed(answer)
          : new Failed({ message: `${asked}: ${code} ${(answer as { readonly message?: string }).message}` })
      )
    )
  }
}

/** Why a request had no answer. */
export const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? cause.cause.message : cause.message
}

/** Milliseconds that an answer may take. */
const PATIENCE = 15_000
