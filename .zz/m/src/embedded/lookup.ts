/**
 * What a built-in controller sees: the cluster, and where to find objects by owner, label, node or address.
 *
 * The index is folded from changes, one entry for each thing an object can be found by, so that no step of a
 * controller reads more than the objects that concern it. Older lookups stay whole.
 */
import type { StringMap } from "../core/kube.ts"
import { keyOf, type Change, type Cluster, type KubeObject } from "./cluster.ts"
import { controllerOf, isActive, valueOf, type ClusterNode, type EndpointSlice, type Pod } from "./kinds.ts"
import { get, list, resources } from "./model.ts"
import * as Sorted from "./sorted.ts"

export interface Lookup {
  readonly cluster: Cluster
  /** `term NUL resource NUL key` -> where the object is */
  readonly index: Sorted.Sorted<string, Place>
}

export interface Place {
  readonly resource: string
  readonly key: string
}

export interface Found<T extends KubeObject = KubeObject> {
  readonly resource: string
  readonly object: T
}

/** A lookup of everything that the cluster holds. */
export const lookup = (cluster: Cluster): Lookup => {
  let index: Sorted.Sorted<string, Place> = Sorted.none
  const seen = new Set<string>()
  for (const { group, plural } of resources(cluster)) {
    const resource = `${group}/${plural}`
    if (seen.has(resource)) continue
    seen.add(resource)
    for (const object of list(cluster, resource)) {
      for (const term of termsOf(resource, object)) index = put(index, term, resource, object)
    }
  }
  return { cluster, index }
}

/** The lookup after changes, over the cluster that they led to. */
export const afterChanges = (look: Lookup, cluster: Cluster, changes: readonly Change[]): Lookup => {
  let index = look.index
  for (const { resource, type, object, before } of changes) {
    const old = before ? termsOf(resource, before) : []
    const now = type === "DELETED" ? [] : termsOf(resource, object)
    for (const term of type === "DELETED" && !before ? termsOf(resource, object) : old) {
      if (!now.includes(term)) index = Sorted.without(index, entry(term, resource, keyOfObject(object)))
    }
    for (const term of now) if (!old.includes(term)) index = put(index, term, resource, object)
  }
  return { cluster, index }
}

/** The object of a key (`namespace/name` or `name`). */
export const at = (look: Lookup, resource: string, key: string): KubeObject | undefined => {
  const { namespace, name } = parsed(key)
  return get(look.cluster, resource, namespace, name)
}

/** Objects that name this uid as an owner. */
export const owned = (look: Lookup, uid: string | null | undefined): readonly Found[] =>
  found(look, `owner ${uid}`)

/** Objects of one resource that this uid controls. */
export const controlled = <T extends KubeObject>(
  look: Lookup,
  uid: string | null | undefined,
  resource: string
): readonly T[] =>
  owned(look, uid)
    .filter((each) => each.resource === resource && controllerOf(each.object)?.uid === uid)
    .map((each) => each.object as T)

/** Pods or replica sets of a namespace that nobody controls. */
export const orphans = <T extends KubeObject>(
  look: Lookup,
  resource: string,
  namespace: string
): readonly T[] => found<T>(look, `orphan ${resource} ${namespace}`).map((each) => each.object)

/** Whatever has this uid. */
export const withUid = (look: Lookup, uid: string): Found | undefined => found(look, `uid ${uid}`)[0]

/** Pods of a namespace that carry all of these labels (at least one). */
export const podsLabelled = (look: Lookup, namespace: string, labels: StringMap): readonly Pod[] =>
  labelled<Pod>(look, `pod ${namespace}`, labels)

/** Nodes that carry all of these labels; all nodes, if there are none. */
export const nodesLabelled = (look: Lookup, labels: StringMap): readonly ClusterNode[] =>
  Object.keys(labels).length === 0
    ? (list(look.cluster, "/nodes") as readonly ClusterNode[])
    : labelled<ClusterNode>(look, "node", labels)

/** Pods that are bound to a node. */
export const podsOn = (look: Lookup, node: string): readonly Pod[] =>
  found<Pod>(look, `on ${node}`).map((each) => each.object)

/** How many pods are bound to a node. */
export const loadOf = (look: Lookup, node: string): number => places(look, `on ${node}`).length

/** Keys of pods that wait for a node. */
export const waitingPods = (look: Lookup): readonly string[] =>
  places(look, "waiting").map((each) => each.key)

/** Whether a pod address or a pod range is taken. */
export const taken = (look: Lookup, address: string): boolean => places(look, `ip ${address}`).length > 0

/** Endpoint slices of a service. */
export const slicesOf = (look: Lookup, namespace: string, service: string): readonly EndpointSlice[] =>
  found<EndpointSlice>(look, `slice ${namespace}/${service}`).map((each) => each.object)

export const keyOfObject = (object: KubeObject): string =>
  keyOf(object.metadata.namespace, object.metadata.name)

/** Namespace and name of a key. */
export const parsed = (key: string): { readonly namespace: string | undefined; readonly name: string } => {
  const slash = key.indexOf("/")
  return slash < 0
    ? { namespace: undefined, name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** The label under which a slice names its service. */
export const SERVICE_NAME = "kubernetes.io/service-name"

const labelled = <T extends KubeObject>(look: Lookup, kind: string, labels: StringMap): readonly T[] => {
  const wanted = Object.entries(labels)
  const first = wanted[0]
  if (first === undefined) return []
  return found<T>(look, `${kind} ${first[0]}=${first[1]}`)
    .map((each) => each.object)
    .filter((object) => wanted.every(([key, value]) => valueOf(object.metadata.labels, key) === value))
}

const found = <T extends KubeObject>(look: Lookup, term: string): readonly Found<T>[] =>
  places(look, term).flatMap(({ resource, key }) => {
    const object = at(look, resource, key)
    return object === undefined ? [] : [{ resource, object: object as T }]
  })

const places = (look: Lookup, term: string): readonly Place[] => {
  const prefix = `${term}\0`
  const all: Place[] = []
  for (const [key, place] of Sorted.from(look.index, prefix)) {
    if (!key.startsWith(prefix)) break
    all.push(place)
  }
  return all
}

const termsOf = (resource: string, object: KubeObject): readonly string[] => {
  const { metadata } = object
  const terms = [`uid ${metadata.uid}`]
  for (const owner of metadata.ownerReferences ?? []) terms.push(`owner ${owner.uid}`)
  if (resource === "/pods") terms.push(...termsOfPod(object as Pod))
  if (resource === "/nodes") terms.push(...termsOfNode(object as ClusterNode))
  if (resource === "apps/replicasets" && !controllerOf(object))
    terms.push(`orphan ${resource} ${metadata.namespace}`)
  if (resource === "discovery.k8s.io/endpointslices") {
    terms.push(`slice ${metadata.namespace}/${valueOf(metadata.labels, SERVICE_NAME)}`)
  }
  return terms
}

const termsOfPod = (pod: Pod): readonly string[] => {
  const { namespace, labels } = pod.metadata
  const terms = Object.entries(labels ?? {}).map(([key, value]) => `pod ${namespace} ${key}=${value}`)
  if (!controllerOf(pod)) terms.push(`orphan /pods ${namespace}`)
  if (pod.spec.nodeName) terms.push(`on ${pod.spec.nodeName}`)
  else if (isActive(pod)) terms.push("waiting")
  if (pod.status?.podIP) terms.push(`ip ${pod.status.podIP}`)
  return terms
}

const termsOfNode = (node: ClusterNode): readonly string[] => {
  const terms = Object.entries(node.metadata.labels ?? {}).map(([key, value]) => `node ${key}=${value}`)
  if (node.spec?.podCIDR) terms.push(`ip ${node.spec.podCIDR}`)
  return terms
}

const entry = (term: string, resource: string, key: string): string => `${term}\0${resource}\0${key}`

const put = (
  index: Sorted.Sorted<string, Place>,
  term: string,
  resource: string,
  object: KubeObject
): Sorted.Sorted<string, Place> => {
  const key = keyOfObject(object)
  return Sorted.put(index, entry(term, resource, key), { resource, key })
}
