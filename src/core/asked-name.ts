/**
 * A name as a program writes it -> the names of Services and of their pods that a pod's resolver makes of it, in its order.
 *
 * Rule of Kubernetes: a pod's resolver searches `<namespace>.svc.<domain>`, `svc.<domain>` and `<domain>`.
 */
import { isDnsLabel } from "./own-sets.ts"

/** A name in DNS of a Service, or of a host that a Service publishes. */
export interface AskedName {
  readonly host: string | undefined
  /** `namespace/name` */
  readonly service: string
}

/**
 * What is asked with a name, the likeliest first; none where it is no name of a Service or of a pod. `name` in lower case; a dot at its end
 * ends the search. `namespace`: of the pod that asks.
 */
export const askedNames = (
  name: string,
  o: { readonly namespace: string; readonly clusterDomain: string }
): readonly AskedName[] => {
  const absolute = name.endsWith(".")
  const text = absolute ? name.slice(0, -1) : name
  const end = `.svc.${o.clusterDomain}`
  if (text.endsWith(end)) return inside(text.slice(0, -end.length))
  if (absolute) return []
  const whole = text.endsWith(".svc") ? inside(text.slice(0, -".svc".length)) : []
  return [...inside(`${text}.${o.namespace}`), ...inside(text), ...whole]
}

/** What stands before `.svc.<domain>`: a Service and its namespace, with a host before it or not. */
const inside = (text: string): readonly AskedName[] => {
  const labels = text.split(".")
  if (!labels.every(isDnsLabel) || labels.length < 2 || labels.length > 3) return []
  const [namespace = "", service = "", host] = labels.reverse()
  return [{ host, service: `${namespace}/${service}` }]
}
