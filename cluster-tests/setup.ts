/**
 * One control plane for all files of cluster tests, with nodes, kubelet and controller: started when the first test asks for it, stopped at the end
 * of the run. SERVICEGROUP_CLUSTER_VERSION, such as 1.34, lets it stand for an older Kubernetes.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { binaries, CONTROL_PLANE } from "./binaries.ts"
import type { Access } from "./client.ts"
import { type ControlPlane, controlPlane } from "./control-plane.ts"
import { ACCOUNT, controller, deployed } from "./controller.ts"
import { type Kubelet, kubelet } from "./kubelet.ts"
import { done } from "./kubectl.ts"
import { readied } from "./nodes.ts"

/** What a test in another process needs to use the plane. */
export interface Shared {
  readonly folder: string
  readonly access: Access
  readonly kubeconfig: string
  readonly kubectl: string
  readonly audit: string
}

declare module "vitest" {
  export interface ProvidedContext {
    /** where to ask for the shared control plane */
    readonly clusterDoor: string
  }
}

export const NODES = ["bj-1", "bj-2", "bj-3", "gz-1", "gz-2", "gz-3"]

export default async (project: TestProject): Promise<() => Promise<void>> => {
  let plane: Promise<Furnished> | undefined
  const door = createServer((_, response) => {
    plane ??= furnished()
    plane.then(
      (up) => response.end(JSON.stringify(shared(up))),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error))
    )
  })
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve))
  door.unref()
  project.provide("clusterDoor", `http://127.0.0.1:${(door.address() as AddressInfo).port}`)
  return async () => {
    door.close()
    door.closeAllConnections()
    await plane?.then(
      (up) => {
        up.kubelet.stop()
        if (project.vitest.state.getCountOfFailedTests() > 0) {
          up.keepLogs()
          process.stdout.write(`\nthe logs of the control plane are in ${up.folder}\n`)
        }
        return up.stop()
      },
      () => undefined
    )
  }
}

interface Furnished extends ControlPlane {
  readonly kubelet: Kubelet
}

const furnished = async (): Promise<Furnished> => {
  const version = process.env["SERVICEGROUP_CLUSTER_VERSION"] ?? ""
  const plane = await controlPlane({
    controllers: "built-in",
    ...(version === "" ? {} : { emulatedVersion: version })
  })
  const running = kubelet(plane.client)
  try {
    await done(plane.kubectl(["apply", "-f", join(import.meta.dirname, "../manifests/examples/nodes.yaml")]))
    for (const name of NODES) await readied(plane.client, name)
    await deployed(plane)
    await (await controller(plane, ACCOUNT, [])).ready()
    return { ...plane, kubelet: running }
  } catch (error) {
    running.stop()
    await plane.stop()
    throw error
  }
}

/** What a stage needs of a plane. */
export const shared = (plane: ControlPlane): Shared => {
  const found = binaries(CONTROL_PLANE)
  if (found._tag === "Missing") throw new Error(found.reason)
  return {
    folder: plane.folder,
    access: plane.access,
    kubeconfig: plane.kubeconfig,
    kubectl: found.path("kubectl"),
    audit: plane.audit
  }
}
