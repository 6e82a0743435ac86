/**
 * Services and the pods that they select: which Services a pod concerns, where it listens for one, and since when it is
 * as it is. What both controllers of endpoints need to know, of slices and of core Endpoints.
 */
import type { StringMap } from "../core/kube.ts"
import type { Change } from "./cluster.ts"
import type { Concern } from "./controller.ts"
import { same } from "./hash.ts"
import { conditionOf, isReady, valueOf, type Container, type Pod, type Service } from "./kinds.ts"
import { keyOfObject, type Lookup } from "./lookup.ts"
import { list } from "./model.ts"

/** What a Service selects by; those without a selector, or that only name another host, have no pods of their own. */
export const selectorOf = (service: Service): StringMap | undefined => {
  const selector = service.spec?.["selector"] as StringMap | null | undefined
  if (!selector || Object.keys(selector).length === 0 || service.spec?.type === "ExternalName")
    return undefined
  return selector
}

/** The Services that a change of a pod concerns; none where nothing changed that endpoints show. */
export const concernedBy = (look: Lookup, { type, object, before }: Change): readonly Concern[] => {
  const old = before as Pod | undefined
  const now = type === "DELETED" ? undefined : (object as Pod)
  return old && now && same(trace(old), trace(now)) ? [] : servicesOf(look, [old, now])
}

/** All of a pod that an endpoint shows or depends on. */
const trace = (pod: Pod): unknown => [
  pod.metadata.labels,
  pod.metadata.deletionTimestamp,
  pod.spec.nodeName,
  pod.status?.podIPs,
  pod.status?.phase,
  isReady(pod)
]

export const servicesOf = (look: Lookup, pods: readonly (Pod | undefined)[]): readonly Concern[] => {
  const keys = new Set<string>()
  for (const pod of pods) {
    if (pod === undefined) continue
    for (const service of list(
      look.cluster,
      "/services",
      pod.metadata.namespace ?? ""
    ) as readonly Service[]) {
      const selector = selectorOf(service)
      if (selector !== undefined && isLabelled(pod, selector)) keys.add(keyOfObject(service))
    }
  }
  return [...keys].map((key) => ({ key }))
}

const isLabelled = (pod: Pod, selector: StringMap): boolean =>
  Object.entries(selector).every(([key, value]) => valueOf(pod.metadata.labels, key) === value)

export const isOver = (pod: Pod): boolean =>
  pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed"

/** The addresses of one family that a pod has. */
export const addressesOf = (pod: Pod, family: string): readonly string[] =>
  (pod.status?.podIPs ?? []).map(({ ip }) => ip).filter((ip) => ip.includes(":") === (family === "IPv6"))

/** The name that a pod has within the Service that governs it. */
export const hostnameOf = (pod: Pod, service: Service): string | undefined =>
  pod.spec.hostname && pod.spec.subdomain === service.metadata.name ? pod.spec.hostname : undefined

interface ServicePort {
  readonly name?: string
  readonly port: number
  readonly targetPort?: number | string
  readonly protocol?: string
  readonly appProtocol?: string
}

export interface Listened {
  readonly name: string
  readonly port: number
  readonly protocol: string
  readonly appProtocol?: string
}

/** Where a pod listens for the ports of a Service: without those of a name that none of its containers has. */
export const portsOf = (service: Service, pod: Pod): readonly Listened[] =>
  (service.spec?.ports ?? []).flatMap((each) => {
    const { name, port, targetPort, protocol = "TCP", appProtocol } = each as unknown as ServicePort
    const number = numberOf(pod, targetPort ?? port, protocol)
    return number === undefined
      ? []
      : [{ name: name ?? "", port: number, protocol, ...(appProtocol ? { appProtocol } : {}) }]
  })

/** A port's number: as it stands, or that of the container port of this name. */
const numberOf = (pod: Pod, target: number | string, protocol: string): number | undefined => {
  if (typeof target === "number") return target
  for (const container of [...(pod.spec.containers ?? []), ...sidecars(pod)]) {
    const port = container.ports?.find(
      (each) => each.name === target && (each.protocol ?? "TCP") === protocol
    )
    if (port !== undefined) return port.containerPort
  }
  return undefined
}

/** Containers that begin with the others and stay. */
const sidecars = (pod: Pod): readonly Container[] =>
  (pod.spec.initContainers ?? []).filter((each) => each["restartPolicy"] === "Always")

/** A pod that is shown, and whether as ready. */
export type Shown = readonly [pod: Pod, ready: boolean]

/**
 * When what endpoints show of a Service changed: when the first of the pods became what it wasn't before. Undefined where
 * only pods went, or none says since when.
 *
 * `known`: by uid, which pods were shown and whether as ready; undefined where nothing was, which is due to the Service
 * itself. The real controllers remember what they saw of pods that weren't shown, too, and know that no pod changed where
 * the Service publishes other ones from now on: here its pods' own times are told then.
 */
export const triggerOf = (
  service: Service,
  shown: readonly Shown[],
  known: ReadonlyMap<string, boolean> | undefined
): string | undefined => {
  if (known === undefined) return service.metadata.creationTimestamp ?? undefined
  return shown
    .filter(([pod, ready]) => known.get(pod.metadata.uid ?? "") !== ready)
    .flatMap(([pod]) => conditionOf(pod, "Ready")?.lastTransitionTime ?? [])
    .toSorted()[0]
}

const TRIGGERED = "endpoints.kubernetes.io/last-change-trigger-time"

/** Annotations that say when the change was that led to what they stand at. */
export const withTrigger = (
  annotations: StringMap | null | undefined,
  trigger: string | undefined
): StringMap | undefined => {
  const { [TRIGGERED]: _, ...others } = annotations ?? {}
  if (trigger !== undefined) return { ...others, [TRIGGERED]: trigger }
  return annotations ? others : undefined
}
