/** A kubelet for every node at once, without containers: what the scheduler binds runs and is ready, what is deleted goes. */
import { at, type Client } from "./client.ts"

export interface Kubelet {
  readonly stop: () => void
}

export const kubelet = (client: Client): Kubelet => {
  const abort = new AbortController()
  void run(client, abort.signal)
  return { stop: () => abort.abort() }
}

const run = async (client: Client, signal: AbortSignal): Promise<void> => {
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
        if (type === "DELETED") known.delete(uid)
        else void care(client, known, uid, object).catch(() => known.delete(uid))
      }
    } catch {
      // the server is on its way up or down
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Does what is due for one pod; what fails is tried again at the pod's next event. */
const care = async (client: Client, known: Map<string, string>, uid: string, pod: unknown): Promise<void> => {
  const path = `/api/v1/namespaces/${String(at(pod, "metadata", "namespace"))}/pods/${String(at(pod, "metadata", "name"))}`
  if (at(pod, "metadata", "deletionTimestamp") !== undefined) {
    if (known.get(uid) === "ending") return
    known.set(uid, "ending")
    await client.ask("DELETE", path, { gracePeriodSeconds: 0, preconditions: { uid } })
    return
  }
  if (known.has(uid)) return
  known.set(uid, "running")
  await client.ask("PATCH", `${path}/status`, running(pod), "application/strategic-merge-patch+json")
}

let given = 0

const running = (pod: unknown): unknown => {
  const now = new Date().toISOString().replace(/\.\d+/, "")
  const podIP = `10.244.${(given >> 8) & 255}.${given++ & 255}`
  const containers = (at(pod, "spec", "containers") ?? []) as readonly unknown[]
  return {
    metadata: { uid: at(pod, "metadata", "uid") },
    status: {
      phase: "Running",
      hostIP: "192.0.2.1",
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
