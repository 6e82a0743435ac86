/**
 * The requests that built-in controllers send: the paths, agents and bodies of kube-controller-manager,
 * kube-scheduler and kubelet.
 */
import type { KubeObject, Request } from "./cluster.ts"

/** Who sends: the name that `managedFields` will show. */
export type Agent = "kube-controller-manager" | "kube-scheduler" | "kubelet"

/** The path of a collection, of an object, or of a subresource; `resource` is group and plural. */
export const pathOf = (
  resource: string,
  namespace: string | null | undefined,
  name?: string,
  subresource?: string,
  version = "v1"
): string => {
  const slash = resource.indexOf("/")
  const group = resource.slice(0, slash)
  const parts = [
    group === "" ? `/api/${version}` : `/apis/${group}/${version}`,
    namespace ? `namespaces/${namespace}` : undefined,
    resource.slice(slash + 1),
    name,
    subresource
  ]
  return parts.filter((part) => part !== undefined).join("/")
}

/** Create an object; with `metadata.generateName` the server completes the name. */
export const create = (
  agent: Agent,
  resource: string,
  namespace: string | null | undefined,
  object: object,
  at: number
): Request => ({
  method: "POST",
  path: pathOf(resource, namespace),
  query: {},
  contentType: "application/json",
  userAgent: agent,
  body: object,
  at
})

/** Replace an object, or its status, as it was read: refused if it changed since. */
export const replace = (
  agent: Agent,
  resource: string,
  object: KubeObject,
  at: number,
  subresource?: string
): Request => ({
  method: "PUT",
  path: pathOf(resource, object.metadata.namespace, object.metadata.name, subresource),
  query: {},
  contentType: "application/json",
  userAgent: agent,
  body: object,
  at
})

/** Merge-patch an object; version is that of its kind. */
export const patch = (
  agent: Agent,
  resource: string,
  object: KubeObject,
  body: object,
  at: number,
  version?: string
): Request => ({
  method: "PATCH",
  path: pathOf(resource, object.metadata.namespace, object.metadata.name, undefined, version),
  query: {},
  contentType: "application/merge-patch+json",
  userAgent: agent,
  body,
  at
})

/** Delete exactly this object, never a successor of the same name. */
export const remove = (
  agent: Agent,
  resource: string,
  object: KubeObject,
  at: number,
  options: { readonly propagationPolicy?: string; readonly gracePeriodSeconds?: number } = {},
  version?: string
): Request => ({
  method: "DELETE",
  path: pathOf(resource, object.metadata.namespace, object.metadata.name, undefined, version),
  query: {},
  contentType: "application/json",
  userAgent: agent,
  body: {
    kind: "DeleteOptions",
    apiVersion: "v1",
    preconditions: { uid: object.metadata.uid },
    ...options
  },
  at
})
