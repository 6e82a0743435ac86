/**
 * Service -> core Endpoints: the same pods as in its slices, in one object, as old clients read them.
 *
 * An object of more than 1,000 addresses, which the real controller cuts, is written whole.
 */
import type { StringMap } from "../core/kube.ts"
import type { Change } from "./cluster.ts"
import { nothing, type Act, type Concern, type Controller } from "./controller.ts"
import { same } from "./hash.ts"
import { isReady, type KubeObject, type Pod, type Service } from "./kinds.ts"
import { at as objectAt, keyOfObject, podsLabelled, type Lookup } from "./lookup.ts"
import { create, remove, replace } from "./requests.ts"
import {
  addressesOf,
  concernedBy,
  hostnameOf,
  isOver,
  portsOf,
  selectorOf,
  triggerOf,
  withTrigger,
  type Shown
} from "./selected.ts"
import { subsets, type Offer, type Subset } from "./subsets.ts"

interface Endpoints extends KubeObject {
  readonly subsets?: readonly Subset[] | null
}

export const endpoints: Controller = {
  name: "endpoints",
  concerns: (look, change) => concerns(look, change),
  act: (look, key, at) => {
    const service = objectAt(look, "/services", key) as Service | undefined
    const existing = objectAt(look, ENDPOINTS, key) as Endpoints | undefined
    if (service !== undefined) return act(look, service, existing, at)
    // they go with their Service, whoever made them
    return existing === undefined ? nothing : { requests: [remove(AGENT, ENDPOINTS, existing, at)] }
  }
}

const concerns = (look: Lookup, change: Change): readonly Concern[] => {
  if (change.resource === "/services") return [{ key: keyOfObject(change.object) }]
  if (change.resource === "/pods") return concernedBy(look, change)
  return change.resource === ENDPOINTS && change.type === "DELETED" && isSelecting(look, change.object)
    ? [{ key: keyOfObject(change.object) }]
    : []
}

const isSelecting = (look: Lookup, of: KubeObject): boolean =>
  objectAt(look, "/services", keyOfObject(of)) !== undefined

const act = (look: Lookup, service: Service, existing: Endpoints | undefined, at: number): Act => {
  const selector = selectorOf(service)
  if (selector === undefined) return nothing
  const pods = podsLabelled(look, service.metadata.namespace ?? "", selector)
  const offers = pods.map((pod) => [pod, offersOf(service, pod)] as const)
  const wanted = subsets(offers.flatMap(([, each]) => each))
  const now = offers.flatMap(([pod, [offer]]): readonly Shown[] => (offer ? [[pod, offer.ready]] : []))
  const trigger = triggerOf(service, now, existing && shown(existing.subsets ?? []))
  if (existing === undefined)
    return {
      requests: [create(AGENT, ENDPOINTS, service.metadata.namespace, made(service, wanted, trigger), at)]
    }
  const isCurrent =
    same(existing.subsets ?? [], wanted) &&
    isLabelled(existing.metadata.labels ?? {}, service.metadata.labels ?? {})
  if (isCurrent) return nothing
  const annotations = withTrigger(existing.metadata.annotations, trigger)
  const metadata = { ...existing.metadata, labels: labelsOf(service), ...(annotations && { annotations }) }
  return {
    requests: [replace(AGENT, ENDPOINTS, { ...existing, metadata, subsets: wanted } as KubeObject, at)]
  }
}

/** Where a pod is reached; one that ends is shown only by who asked for pods that aren't ready. */
const offersOf = (service: Service, pod: Pod): readonly Offer[] => {
  const published = service.spec?.["publishNotReadyAddresses"] === true
  const [family = "IPv4"] = (service.spec?.["ipFamilies"] as readonly string[] | null | undefined) ?? []
  const [ip] = addressesOf(pod, family)
  if (ip === undefined || isOver(pod) || (pod.metadata.deletionTimestamp && !published)) return []
  const { namespace, name, uid } = pod.metadata
  const hostname = hostnameOf(pod, service)
  const address = {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    nodeName: pod.spec.nodeName ?? "",
    targetRef: { kind: "Pod", namespace: namespace ?? "", name, uid: uid ?? "" }
  }
  const ready = published || isReady(pod)
  // a headless Service may do without ports
  if ((service.spec?.ports ?? []).length === 0)
    return service.spec?.clusterIP === "None" ? [{ address, port: undefined, ready }] : []
  return portsOf(service, pod).map(({ name: called, ...port }) => ({
    address,
    port: called === "" ? port : { name: called, ...port },
    ready
  }))
}

/** Which pods are shown, and whether as ready. */
const shown = (all: readonly Subset[]): ReadonlyMap<string, boolean> =>
  new Map(
    all.flatMap(({ addresses, notReadyAddresses }) => [
      ...(addresses ?? []).map((each) => [String(each.targetRef?.["uid"]), true] as const),
      ...(notReadyAddresses ?? []).map((each) => [String(each.targetRef?.["uid"]), false] as const)
    ])
  )

const made = (service: Service, wanted: readonly Subset[], trigger: string | undefined): object => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: {
    name: service.metadata.name,
    labels: labelsOf(service),
    annotations: withTrigger({}, trigger)
  },
  subsets: wanted
})

const labelsOf = (service: Service): StringMap => {
  const { [HEADLESS]: _, ...labels } = service.metadata.labels ?? {}
  const address = service.spec?.clusterIP ?? ""
  return {
    ...labels,
    ...(address === "" || address === "None" ? { [HEADLESS]: "" } : {}),
    [MANAGED_BY]: "endpoint-controller"
  }
}

/** Whether the labels are those of the Service; that it became headless is told with the next change. */
const isLabelled = (labels: StringMap, wanted: StringMap): boolean => {
  const others = Object.entries(labels).filter(([key]) => key !== HEADLESS && key !== MANAGED_BY)
  return (
    labels[MANAGED_BY] === "endpoint-controller" &&
    others.length === Object.keys(wanted).length &&
    others.every(([key, value]) => Object.hasOwn(wanted, key) && wanted[key] === value)
  )
}

const AGENT = "kube-controller-manager"
const ENDPOINTS = "/endpoints"
const HEADLESS = "service.kubernetes.io/headless"
const MANAGED_BY = "endpoints.kubernetes.io/managed-by"
