/**
 * The events that built-in controllers tell: what `kubectl describe` ends with.
 */
import type { KubeObject, Request } from "./cluster.ts"
import { timestamp } from "./kinds.ts"
import { create, type Agent } from "./requests.ts"

export interface Told {
  readonly reason: string
  readonly message: string
}

/** A usual event about an object, told by a part of the agent such as `deployment-controller`. */
export const told = (
  agent: Agent,
  component: string,
  about: KubeObject,
  { reason, message }: Told,
  at: number
): Request => {
  const { namespace, name, uid, resourceVersion } = about.metadata
  const now = timestamp(at)
  return create(
    agent,
    "/events",
    namespace,
    {
      apiVersion: "v1",
      kind: "Event",
      // in the order of time
      metadata: { generateName: `${name}.${at.toString(16)}`, namespace },
      involvedObject: {
        kind: about.kind,
        namespace,
        name,
        uid,
        apiVersion: about.apiVersion,
        resourceVersion
      },
      reason,
      message,
      type: "Normal",
      source: { component },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      reportingComponent: component
    },
    at
  )
}
