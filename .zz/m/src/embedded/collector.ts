/**
 * Garbage collection by owner references (Kubernetes: "Garbage collection", "Use cascading deletion").
 *
 * An object whose owners are all gone is deleted. An owner that is deleted in the foreground waits for those of its
 * dependents that block it; one whose dependents are to be orphaned lets go of them first. A namespaced owner in
 * another namespace counts as gone; an owner of a kind that isn't served is left to whoever serves it.
 */
import type { Change, KubeObject, Request, Resource } from "./cluster.ts"
import { nothing, type Act, type Concern, type Controller } from "./controller.ts"
import { same } from "./hash.ts"
import type { OwnerReference } from "./kinds.ts"
import { at as objectAt, keyOfObject, owned, withUid, type Found, type Lookup } from "./lookup.ts"
import { resources } from "./model.ts"
import { patch, remove } from "./requests.ts"

export const collector: Controller = {
  name: "collector",
  concerns: (look, change) => concerns(look, change),
  act: (look, key, at) => {
    const [resource = "", name = ""] = key.split(" ")
    const object = objectAt(look, resource, name)
    return object === undefined ? nothing : act(look, { resource, object }, at)
  }
}

const concerns = (look: Lookup, { resource, type, object, before }: Change): readonly Concern[] => {
  const concerned: Found[] = []
  if (type === "DELETED") {
    concerned.push(...owned(look, object.metadata.uid), ...ownersOf(look, object))
  } else {
    const { metadata } = object
    const isDeleted = Boolean(metadata.deletionTimestamp)
    const owners = metadata.ownerReferences ?? []
    if (isDeleted || (owners.length > 0 && !same(owners, before?.metadata.ownerReferences ?? []))) {
      concerned.push({ resource, object })
    }
    if (before && !same(owners, before.metadata.ownerReferences ?? []))
      concerned.push(...ownersOf(look, before))
  }
  return concerned.map((each) => ({ key: `${each.resource} ${keyOfObject(each.object)}` }))
}

/** Owners that are being deleted: they may be waiting for this dependent. */
const ownersOf = (look: Lookup, object: KubeObject): readonly Found[] =>
  (object.metadata.ownerReferences ?? []).flatMap(({ uid }) => {
    const owner = withUid(look, uid)
    return owner?.object.metadata.deletionTimestamp ? [owner] : []
  })

const act = (look: Lookup, { resource, object }: Found, at: number): Act => {
  const served = servedAs(look, resource)
  if (served === undefined) return nothing
  const finalizers = object.metadata.finalizers ?? []
  if (object.metadata.deletionTimestamp && finalizers.includes("orphan")) {
    return { requests: orphaning(look, served, object, at) }
  }
  if (object.metadata.deletionTimestamp && finalizers.includes("foregroundDeletion")) {
    return { requests: foreground(look, served, object, at) }
  }
  if (object.metadata.deletionTimestamp) return nothing
  return { requests: collecting(look, served, object, at) }
}

/** Dependents without the owner that goes, then the owner without its finalizer. */
const orphaning = (look: Lookup, served: Resource, owner: KubeObject, at: number): readonly Request[] => [
  ...owned(look, owner.metadata.uid).flatMap(({ resource, object }) => {
    const kind = servedAs(look, resource)
    return kind === undefined ? [] : [without(kind, object, (each) => each.uid === owner.metadata.uid, at)]
  }),
  released(served, owner, "orphan", at)
]

/** Dependents go first; those that block hold the owner until they are gone. */
const foreground = (look: Lookup, served: Resource, owner: KubeObject, at: number): readonly Request[] => {
  const uid = owner.metadata.uid
  const dependents = owned(look, uid)
  const blocking = dependents.filter(({ object }) =>
    object.metadata.ownerReferences?.some((each) => each.uid === uid && each.blockOwnerDeletion === true)
  )
  const going = dependents.flatMap(({ resource, object }) => {
    const kind = servedAs(look, resource)
    if (kind === undefined || object.metadata.deletionTimestamp) return []
    const solid = (object.metadata.ownerReferences ?? []).some(
      (each) => each.uid !== uid && isThere(look, object, each)
    )
    return solid
      ? [without(kind, object, (each) => each.uid === uid, at)]
      : [deletion(kind, object, hasDependents(look, object) ? "Foreground" : "Background", at)]
  })
  return blocking.length > 0 ? going : [...going, released(served, owner, "foregroundDeletion", at)]
}

/** An object all of whose owners are gone is deleted; one that has another owner only loses those that are gone. */
const collecting = (look: Lookup, served: Resource, object: KubeObject, at: number): readonly Request[] => {
  const owners = object.metadata.ownerReferences ?? []
  if (owners.length === 0 || !owners.every((owner) => isKnown(look, owner))) return []
  const gone = owners.filter((owner) => !isThere(look, object, owner))
  const waiting = owners.filter((owner) => isWaiting(look, object, owner))
  if (gone.length === owners.length) return [deletion(served, object, policyOf(object), at)]
  if (gone.length + waiting.length === owners.length && waiting.length > 0) {
    return [deletion(served, object, hasDependents(look, object) ? "Foreground" : "Background", at)]
  }
  if (gone.length === 0) return []
  const uids = gone.map((owner) => owner.uid)
  return [without(served, object, (each) => uids.includes(each.uid), at)]
}

const isThere = (look: Lookup, object: KubeObject, owner: OwnerReference): boolean => {
  const found = withUid(look, owner.uid)?.object
  if (found === undefined || found.metadata.name !== owner.name) return false
  return !found.metadata.namespace || found.metadata.namespace === object.metadata.namespace
}

/** The owner is there, but waits in the foreground for this object. */
const isWaiting = (look: Lookup, object: KubeObject, owner: OwnerReference): boolean => {
  const found = withUid(look, owner.uid)?.object
  return (
    isThere(look, object, owner) &&
    Boolean(found?.metadata.deletionTimestamp) &&
    (found?.metadata.finalizers ?? []).includes("foregroundDeletion")
  )
}

const hasDependents = (look: Lookup, object: KubeObject): boolean =>
  owned(look, object.metadata.uid).length > 0

const isKnown = (look: Lookup, { apiVersion, kind }: OwnerReference): boolean => {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion]
  return resources(look.cluster).some(
    (each) => each.group === group && each.version === version && each.kind === kind
  )
}

const servedAs = (look: Lookup, resource: string): Resource | undefined =>
  resources(look.cluster).find((each) => `${each.group}/${each.plural}` === resource)

/** Whoever asked for the object's own dependents to be treated in some way is obeyed. */
const policyOf = (object: KubeObject): string => {
  const finalizers = object.metadata.finalizers ?? []
  if (finalizers.includes("orphan")) return "Orphan"
  return finalizers.includes("foregroundDeletion") ? "Foreground" : "Background"
}

const deletion = (served: Resource, object: KubeObject, propagationPolicy: string, at: number): Request =>
  remove(AGENT, nameOf(served), object, at, { propagationPolicy }, served.version)

const without = (
  served: Resource,
  object: KubeObject,
  goes: (owner: OwnerReference) => boolean,
  at: number
): Request => {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter((owner) => !goes(owner))
  const body = { metadata: { uid: object.metadata.uid, ownerReferences } }
  return patch(AGENT, nameOf(served), object, body, at, served.version)
}

const released = (served: Resource, object: KubeObject, finalizer: string, at: number): Request => {
  const finalizers = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer)
  const body = { metadata: { uid: object.metadata.uid, finalizers } }
  return patch(AGENT, nameOf(served), object, body, at, served.version)
}

const nameOf = ({ group, plural }: Resource): string => `${group}/${plural}`

const AGENT = "kube-controller-manager"
