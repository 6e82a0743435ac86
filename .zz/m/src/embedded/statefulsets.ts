/**
 * StatefulSet -> Pods with ordinals, their claims, and a ControllerRevision for each pod template.
 *
 * In order (or all at once, with podManagementPolicy Parallel); updates go from the highest ordinal down to the
 * partition, one pod at a time. Simplified: a pod that is lost in the middle of an update comes back with the new
 * template unless its ordinal is below the partition; claims are never deleted.
 */
import type { JsonObject } from "../core/kube.ts"
import type { Change, KubeObject, Request } from "./cluster.ts"
import { nothing, type Act, type Concern, type Controller } from "./controller.ts"
import { hash, same } from "./hash.ts"
import {
  availableFrom,
  controlledBy,
  controllerOf,
  isReady,
  valueOf,
  type Pod,
  type PodTemplate,
  type StatefulSet
} from "./kinds.ts"
import { at as objectAt, controlled, keyOfObject, type Lookup } from "./lookup.ts"
import { nextAvailable, podOf } from "./replicasets.ts"
import { create, remove, replace } from "./requests.ts"

export const statefulsets: Controller = {
  name: "statefulsets",
  concerns: (_, change) => concerns(change),
  act: (look, key, at) => {
    const set = objectAt(look, "apps/statefulsets", key) as StatefulSet | undefined
    return set === undefined || set.metadata.deletionTimestamp ? nothing : act(look, set, at)
  }
}

const concerns = ({ resource, object }: Change): readonly Concern[] => {
  if (resource === "apps/statefulsets") return [{ key: keyOfObject(object) }]
  if (resource !== "/pods" && resource !== "apps/controllerrevisions") return []
  const owner = controllerOf(object)
  return owner?.kind === "StatefulSet" ? [{ key: `${object.metadata.namespace}/${owner.name}` }] : []
}

/** A StatefulSet as one step sees it. */
interface Sight {
  readonly set: StatefulSet
  readonly pods: ReadonlyMap<number, Pod>
  readonly revisions: readonly Revision[]
  /** the revision of the template as it is */
  readonly update: string
  /** the revision that every pod had when the last rollout was complete */
  readonly current: string
  readonly at: number
}

interface Revision extends KubeObject {
  readonly revision: number
  readonly data?: { readonly spec?: { readonly template?: PodTemplate } }
}

const act = (look: Lookup, set: StatefulSet, at: number): Act => {
  const sight = sightOf(look, set, at)
  const known = sight.revisions.find((each) => each.metadata.name === sight.update)
  const newest = Math.max(0, ...sight.revisions.map((each) => each.revision))
  if (known === undefined) {
    const revision = revisionOf(sight, newest + 1)
    return { requests: [create(AGENT, "apps/controllerrevisions", set.metadata.namespace, revision, at)] }
  }
  const { moves, waits } = scaling(look, sight)
  const requests = [
    ...reporting(sight),
    ...(known.revision < newest ? [renumbered(known, newest + 1, at)] : []),
    ...moves,
    ...(moves.length === 0 && !waits ? rolling(sight) : []),
    ...forgetting(sight)
  ]
  return { requests, again: nextAvailable([...sight.pods.values()], minReadySecondsOf(set), at) }
}

const sightOf = (look: Lookup, set: StatefulSet, at: number): Sight => {
  const update = `${set.metadata.name}-${hash(set.spec.template)}`
  const pods = new Map<number, Pod>()
  for (const pod of controlled<Pod>(look, set.metadata.uid, "/pods")) {
    const ordinal = ordinalOf(set.metadata.name, pod.metadata.name)
    if (ordinal !== undefined) pods.set(ordinal, pod)
  }
  const revisions = controlled<Revision>(look, set.metadata.uid, "apps/controllerrevisions")
  return { set, pods, revisions, update, current: set.status?.currentRevision ?? update, at }
}

/** The ordinal of a pod's name: what follows the set's name and a dash. */
const ordinalOf = (set: string, pod: string): number | undefined => {
  const rest = pod.startsWith(`${set}-`) ? pod.slice(set.length + 1) : ""
  return /^\d+$/.test(rest) ? Number(rest) : undefined
}

/** Pods that are missing are made, upwards; pods beyond the range go, downwards. */
const scaling = (
  look: Lookup,
  sight: Sight
): { readonly moves: readonly Request[]; readonly waits: boolean } => {
  const { set, pods, at } = sight
  const ordered = set.spec["podManagementPolicy"] !== "Parallel"
  const { first, end } = rangeOf(set)
  const moves: Request[] = []
  for (let ordinal = first; ordinal < end; ordinal++) {
    const pod = pods.get(ordinal)
    if (pod === undefined) moves.push(...birth(look, sight, ordinal))
    else if (isFinished(pod) && !pod.metadata.deletionTimestamp) moves.push(remove(AGENT, "/pods", pod, at))
    if (ordered && (pod === undefined || !isHealthy(sight, pod))) return { moves, waits: true }
  }
  const surplus = [...pods].filter(([ordinal]) => ordinal < first || ordinal >= end)
  const going = surplus.toSorted(([one], [other]) => other - one)
  for (const [, pod] of ordered ? going.slice(0, 1) : going) {
    if (!pod.metadata.deletionTimestamp) moves.push(remove(AGENT, "/pods", pod, at))
  }
  return { moves, waits: ordered && surplus.length > 0 }
}

/** The update itself: the highest pod of an older revision goes, once all above it are healthy. */
const rolling = (sight: Sight): readonly Request[] => {
  const { set, pods, update, at } = sight
  const strategy = strategyOf(set)
  if (strategy.type === "OnDelete") return []
  const { first, end } = rangeOf(set)
  for (let ordinal = end - 1; ordinal >= first + strategy.partition; ordinal--) {
    const pod = pods.get(ordinal)
    if (pod === undefined) return []
    if (revisionNameOf(pod) !== update) {
      return pod.metadata.deletionTimestamp ? [] : [remove(AGENT, "/pods", pod, at)]
    }
    if (!isHealthy(sight, pod)) return []
  }
  return []
}

/** A pod and the claims that it needs and that aren't there. */
const birth = (look: Lookup, sight: Sight, ordinal: number): readonly Request[] => {
  const { set, at } = sight
  const { namespace } = set.metadata
  const name = `${set.metadata.name}-${ordinal}`
  const claims = claimsOf(set, name)
  const { revision, template } = templateOf(sight, ordinal)
  const metadata = {
    name,
    namespace,
    labels: {
      ...template?.metadata?.labels,
      "apps.kubernetes.io/pod-index": String(ordinal),
      "controller-revision-hash": revision,
      "statefulset.kubernetes.io/pod-name": name
    }
  }
  const volumes = claims.map(({ volume, claim }) => ({
    name: volume,
    persistentVolumeClaim: { claimName: claim.metadata.name }
  }))
  const given = ((template?.spec?.["volumes"] ?? []) as readonly JsonObject[]).filter(
    (each) => !volumes.some((volume) => volume.name === each["name"])
  )
  const spec = {
    hostname: name,
    ...(set.spec.serviceName ? { subdomain: set.spec.serviceName } : {}),
    ...(volumes.length > 0 ? { volumes: [...volumes, ...given] } : {})
  }
  const pod = podOf(template, metadata, controlledBy(set, "apps/v1", "StatefulSet"), spec)
  return [
    ...claims
      .filter(({ claim }) => !objectAt(look, CLAIMS, keyOfObject(claim)))
      .map(({ claim }) => create(AGENT, CLAIMS, namespace, claim, at)),
    create(AGENT, "/pods", namespace, pod, at)
  ]
}

/** Pods below the partition keep the revision that the set had before. */
const templateOf = (
  sight: Sight,
  ordinal: number
): { readonly revision: string; readonly template: PodTemplate | null | undefined } => {
  const { set, update, current, revisions } = sight
  const below = ordinal < rangeOf(set).first + strategyOf(set).partition
  const before = below ? revisions.find((each) => each.metadata.name === current) : undefined
  return before === undefined
    ? { revision: update, template: set.spec.template }
    : { revision: current, template: before.data?.spec?.template }
}

const claimsOf = (
  set: StatefulSet,
  pod: string
): readonly { readonly volume: string; readonly claim: KubeObject }[] => {
  const templates = (set.spec["volumeClaimTemplates"] ?? []) as readonly KubeObject[]
  return templates.map((template) => ({
    volume: template.metadata.name,
    claim: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        ...(template.metadata.annotations ? { annotations: template.metadata.annotations } : {}),
        labels: { ...template.metadata.labels, ...set.spec.selector?.matchLabels },
        name: `${template.metadata.name}-${pod}`,
        namespace: set.metadata.namespace ?? ""
      },
      spec: (template as { readonly spec?: JsonObject }).spec
    } as KubeObject
  }))
}

const revisionOf = ({ set, update }: Sight, revision: number): object => ({
  apiVersion: "apps/v1",
  kind: "ControllerRevision",
  metadata: {
    name: update,
    namespace: set.metadata.namespace,
    labels: {
      ...set.spec.selector?.matchLabels,
      "controller.kubernetes.io/hash": update.slice(set.metadata.name.length + 1)
    },
    ownerReferences: [controlledBy(set, "apps/v1", "StatefulSet")]
  },
  data: { spec: { template: { ...set.spec.template, $patch: "replace" } } },
  revision
})

/** A template that was used before becomes the newest again. */
const renumbered = (known: Revision, revision: number, at: number): Request =>
  replace(AGENT, "apps/controllerrevisions", { ...known, revision } as KubeObject, at)

/** Revisions that no pod has, beyond `revisionHistoryLimit`, the oldest first. */
const forgetting = ({ set, pods, revisions, update, current, at }: Sight): readonly Request[] => {
  const used = new Set([update, current, ...[...pods.values()].map(revisionNameOf)])
  const unused = revisions.filter((each) => !used.has(each.metadata.name))
  const limit = (set.spec["revisionHistoryLimit"] as number | null | undefined) ?? 10
  return unused
    .toSorted((one, other) => one.revision - other.revision)
    .slice(0, Math.max(0, unused.length - limit))
    .map((each) => remove(AGENT, "apps/controllerrevisions", each, at))
}

const reporting = (sight: Sight): readonly Request[] => {
  const { set, at } = sight
  const status = statusOf(sight)
  return same(status, set.status ?? {})
    ? []
    : [replace(AGENT, "apps/statefulsets", { ...set, status } as KubeObject, at, "status")]
}

const statusOf = (sight: Sight): JsonObject => {
  const { set, update, current, at } = sight
  const pods = [...sight.pods.values()].filter((pod) => !pod.metadata.deletionTimestamp || isReady(pod))
  const wanted = rangeOf(set)
  const count = (test: (pod: Pod) => boolean): number => pods.filter(test).length
  const updated = count((pod) => revisionNameOf(pod) === update)
  const ready = count((pod) => isReady(pod))
  const done = updated === pods.length && ready === pods.length && pods.length === wanted.end - wanted.first
  const counts = {
    readyReplicas: ready,
    currentReplicas: done ? updated : count((pod) => revisionNameOf(pod) === current),
    updatedReplicas: updated
  }
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    availableReplicas: count((pod) => (availableFrom(pod, minReadySecondsOf(set)) ?? Infinity) <= at),
    ...Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0)),
    currentRevision: done ? update : current,
    updateRevision: update,
    collisionCount: 0
  }
}

/** Running, ready and, with minReadySeconds, long enough so; not on its way out. */
const isHealthy = ({ set, at }: Sight, pod: Pod): boolean =>
  !pod.metadata.deletionTimestamp && (availableFrom(pod, minReadySecondsOf(set)) ?? Infinity) <= at

const isFinished = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed"

const revisionNameOf = (pod: Pod): string => valueOf(pod.metadata.labels, "controller-revision-hash") ?? ""

const rangeOf = (set: StatefulSet): { readonly first: number; readonly end: number } => {
  const ordinals = set.spec["ordinals"] as { readonly start?: number } | null | undefined
  const first = ordinals?.start ?? 0
  return { first, end: first + (set.spec.replicas ?? 1) }
}

const strategyOf = (set: StatefulSet): { readonly type: string; readonly partition: number } => {
  const strategy = set.spec["updateStrategy"] as
    | { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } | null }
    | null
    | undefined
  return { type: strategy?.type ?? "RollingUpdate", partition: strategy?.rollingUpdate?.partition ?? 0 }
}

const minReadySecondsOf = (set: StatefulSet): number =>
  (set.spec["minReadySeconds"] as number | null | undefined) ?? 0

const AGENT = "kube-controller-manager"
const CLAIMS = "/persistentvolumeclaims"
