/**
 * A namespace that is deleted is emptied, and then let go.
 */
import { nothing, type Controller } from "./controller.ts"
import type { KubeObject, Request } from "./cluster.ts"
import { at as objectAt, type Lookup } from "./lookup.ts"
import { list, resources } from "./model.ts"
import { remove, replace } from "./requests.ts"

export const namespaces: Controller = {
  name: "namespaces",
  concerns: (look, { resource, type, object }) => {
    if (resource === "/namespaces")
      return object.metadata.deletionTimestamp ? [{ key: object.metadata.name }] : []
    const name = object.metadata.namespace
    if (type !== "DELETED" || !name) return []
    return objectAt(look, "/namespaces", name)?.metadata.deletionTimestamp ? [{ key: name }] : []
  },
  act: (look, key, at) => {
    const namespace = objectAt(look, "/namespaces", key)
    return namespace?.metadata.deletionTimestamp ? { requests: emptying(look, namespace, at) } : nothing
  }
}

const emptying = (look: Lookup, namespace: KubeObject, at: number): readonly Request[] => {
  const seen = new Set<string>()
  const left: Request[] = []
  let isEmpty = true
  for (const served of resources(look.cluster)) {
    const resource = `${served.group}/${served.plural}`
    if (!served.namespaced || seen.has(resource)) continue
    seen.add(resource)
    for (const object of list(look.cluster, resource, namespace.metadata.name)) {
      isEmpty = false
      if (!object.metadata.deletionTimestamp)
        left.push(remove(AGENT, resource, object, at, {}, served.version))
    }
  }
  if (!isEmpty) return left
  const spec = { ...(namespace as { readonly spec?: object }).spec, finalizers: [] }
  return [replace(AGENT, "/namespaces", { ...namespace, spec } as KubeObject, at, "finalize")]
}

const AGENT = "kube-controller-manager"
