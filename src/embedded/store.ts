/**
 * Reading and committing objects of the cluster's state: every write is one revision and one change.
 */
import { keyOf, type Change, type Cluster, type KubeObject, type Objects, type Resource } from "./cluster.ts"
import { get, text, withAt, type Obj } from "./json.ts"
import { homeOf } from "./served.ts"
import * as Sorted from "./sorted.ts"

/** Group and plural: what objects of all versions of a kind are kept under. */
export const keyOfResource = ({ group, plural }: Pick<Resource, "group" | "plural">): string =>
  `${homeOf(group)}/${plural}`

export const objectsOf = (cluster: Cluster, resource: string): Objects =>
  cluster.objects.get(resource) ?? Sorted.none

/** One object; undefined where it isn't there. */
export const find = (
  cluster: Cluster,
  resource: string,
  namespace: string | undefined,
  name: string
): KubeObject | undefined => Sorted.at(objectsOf(cluster, resource), keyOf(namespace, name))

/** A time as objects carry it, in whole seconds. */
export const timestamp = (at: number): string => {
  const second = Math.floor(at / 1000)
  if (last.second !== second)
    last = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` }
  return last.text
}
let last = { second: 0, text: "1970-01-01T00:00:00Z" }

/** The next uid, the same in every run. */
export const nextUid = (cluster: Cluster): readonly [string, Cluster] => {
  const uid = cluster.counters.uid + 1
  const text = `00000000-0000-4000-8000-${uid.toString(16).padStart(12, "0")}`
  return [text, { ...cluster, counters: { ...cluster.counters, uid } }]
}

const LETTERS = "bcdfghjklmnpqrstvwxz2456789"

/** A name for an object that only says how its name begins. */
export const generatedName = (base: string, cluster: Cluster): readonly [string, Cluster] => {
  const name = cluster.counters.name + 1
  let [rest, suffix] = [(name * 7_654_321) % LETTERS.length ** 5, ""]
  for (let place = 0; place < 5; place++) {
    suffix += LETTERS[rest % LETTERS.length]
    rest = Math.floor(rest / LETTERS.length)
  }
  return [base.slice(0, 58) + suffix, { ...cluster, counters: { ...cluster.counters, name } }]
}

export interface Committed {
  readonly cluster: Cluster
  readonly change: Change
}

/** Writes an object, new or changed, as the next revision. */
export const written = (cluster: Cluster, resource: string, object: Obj): Committed => {
  const revision = cluster.revision + 1
  const stored = withAt(object, ["metadata", "resourceVersion"], String(revision)) as unknown as KubeObject
  const key = keyOf(stored.metadata.namespace, stored.metadata.name)
  const objects = objectsOf(cluster, resource)
  const before = Sorted.at(objects, key)
  const type = before ? "MODIFIED" : "ADDED"
  return recorded(
    cluster,
    { revision, resource, type, object: stored, before },
    Sorted.put(objects, key, stored)
  )
}

/** Takes an object away as the next revision; the change shows it as it was last. */
export const removed = (cluster: Cluster, resource: string, object: Obj): Committed => {
  const revision = cluster.revision + 1
  const key = keyOf(text(object, "metadata", "namespace"), text(object, "metadata", "name"))
  const objects = objectsOf(cluster, resource)
  const before = Sorted.at(objects, key)
  const last = withAt(object, ["metadata", "resourceVersion"], String(revision)) as unknown as KubeObject
  return recorded(
    cluster,
    { revision, resource, type: "DELETED", object: last, before },
    Sorted.without(objects, key)
  )
}

const recorded = (cluster: Cluster, change: Change, objects: Objects): Committed => ({
  cluster: {
    ...cluster,
    revision: change.revision,
    objects: new Map(cluster.objects).set(change.resource, objects),
    history: Sorted.put(cluster.history, change.revision, change)
  },
  change
})

export const isDeleted = (object: unknown): boolean =>
  get(object, "metadata", "deletionTimestamp") !== undefined
