/** A kubelet for every node at once, without containers: what the scheduler binds runs and is ready, what is deleted goes. */
import { at, type Client } from "./client.ts"

export interface Kubelet {
  readonly stop: () => void
}

/** What gives pods their addresses. */
export interface Addresses {
  /** the pod's own and its node's; called once for each pod, before it runs */
  readonly give: (pod: unknown) => Promise<{ readonly podIP: string; readonly hostIP: string }>
  /** called when the pod is there no more */
  readonly take: (pod: unknown) => Promise<void>
}

export const kubelet = (client: Client, addresses: Addresses = numbered()): Kubelet => {
  const abort = new AbortController()
  void run(client, addresses, abort.signal)
  return { stop: () => abort.abort() }
}

/** Addresses where nobody answers. */
const numbered = (): Addresses => {
  let given = 0
  return {
    give: () =>
      Promise.resolve({ podIP: `10.244.${(given >> 8) & 255}.${given++ & 255}`, hostIP: "192.0.2.1" }),
    take: () => Promise.resolve()
  }
}

const run = async (client: Client, addresses: Addresses, signal: AbortSignal): Promise<void> => {
  const known = new Map<string, string>()
  while (!signal.aborted) {
    try {
      // without a revision every pod comes as ADDED first
      for await (const { type, object } of client.watch(
        "/api/v1/pods?watch=1&fieldSelector=spec.nodeName!%3D",
        signal
      )) {
        if (type === "ERROR") break
        const uid = String(at(object, "metadata", "uid"))
        if (type === "DELETED") {
          known.delete(uid)
          await addresses.take(object)
        } else void care(client, addresses, known, uid, object).catch(() => known.delete(uid))
      }
    } catch {
      // the server is on its way up or down
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Does what is due for one pod; what fails is tried again at the pod's next event. */
const care = async (
  client: Client,
  addresses: Addresses,
  known: Map<string, string>,
  uid: string,
  pod: unknown
): Promise<void> => {
  const path = `/api/v1/namespaces/${String(at(pod, "metadata", "namespace"))}/pods/${String(at(pod, "metadata", "name"))}`
  if (at(pod, "metadata", "deletionTimestamp") !== undefined) {
    if (known.get(uid) === "ending") return
    known.set(uid, "ending")
    await client.ask("DELETE", path, { gracePeriodSeconds: 0, preconditions: { uid } })
    return
  }
  if (known.has(uid)) return
  known.set(uid, "running")
  const { podIP, hostIP } = await addresses.give(pod)
  const status = running(pod, podIP, hostIP)
  await client.ask("PATCH", `${path}/status`, status, "application/strategic-merge-patch+json")
}

const running = (pod: unknown, podIP: string, hostIP: string): unknown => {
  const now = new Date().toISOString().replace(/\.\d+/, "")
  const containers = (at(pod, "spec", "containers") ?? []) as readonly unknown[]
  return {
    metadata: { uid: at(pod, "metadata", "uid") },
    status: {
      phase: "Running",
      hostIP,
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: now,
      conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
        type,
        status: "True",
        lastTransitionTime: now
      })),
      containerStatuses: containers.map((container) => ({
        name: at(container, "name"),
        image: at(container, "image"),
        imageID: "none",
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: now } }
      }))
    }
  }
}
