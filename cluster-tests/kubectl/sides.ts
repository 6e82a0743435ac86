/**
 * The two clusters that kubectl is tried on, side by side: the shared control plane, and the embedded cluster with the built controller beside it,
 * as `npm start` has them. On both the tour has a namespace, a grid key and two nodes of its own, under the same names.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { embedded } from "../../src/embedded/server.ts"
import { binaries } from "../binaries.ts"
import { GivenUp, until } from "../deadline.ts"
import { done, kubectl, type Kubectl } from "../kubectl.ts"
import { daemon, freePorts, lastWords } from "../processes.ts"
import { Stage } from "../stage.ts"
import { V8_FLAGS } from "../v8-flags.ts"

export interface Sides {
  readonly namespace: string
  /** the node label whose values are the units of the tour */
  readonly key: string
  readonly real: Kubectl
  readonly model: Kubectl
  /** a folder for files, which goes when the tour ends */
  readonly folder: string
  readonly close: () => Promise<void>
}

export const sides = async (): Promise<Sides> => {
  const stage = await Stage.open("kubectl")
  const folder = mkdtempSync(join(tmpdir(), "servicegroup-kubectl-"))
  const { model, end } = await served(folder)
  const { namespace, key } = stage
  const real = stage.kubectl
  const own = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
  await done(model(["create", "-f", "-"], { input: own }))
  const nodes = ["north", "south"].map((unit) => node(`${namespace}-${unit}`, key, unit))
  for (const side of [real, model])
    for (const each of nodes) {
      const input = JSON.stringify(each)
      await done(side(["create", "-f", "-"], { input }))
      // made by anyone but a kubelet it is tainted until it is ready
      await done(side(["apply", "--server-side", "--force-conflicts", "-f", "-"], { input }))
      await done(side(["replace", "--subresource=status", "-f", "-"], { input }))
    }
  return {
    namespace,
    key,
    real: inNamespace(real, namespace),
    model: inNamespace(model, namespace),
    folder,
    close: async () => {
      for (const { metadata } of nodes) await real(["delete", "node", metadata.name, "--wait=false"])
      await stage.close()
      await end()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

const inNamespace =
  (side: Kubectl, namespace: string): Kubectl =>
  (args, more) =>
    side(["--namespace", namespace, ...args], more)

/** The embedded cluster on a port, with the grids' definitions and the controller. */
const served = async (
  folder: string
): Promise<{ readonly model: Kubectl; readonly end: () => Promise<void> }> => {
  const scope = Effect.runSync(Scope.make())
  const { url } = await Effect.runPromise(Scope.extend(embedded({ port: 0 }), scope))
  const config = join(folder, "kubeconfig")
  writeFileSync(config, kubeconfig(url))
  const found = binaries(["kubectl"])
  if (found._tag === "Missing") throw new Error(found.reason)
  const model = kubectl(found.path("kubectl"), config, folder)
  await done(model(["apply", "-k", join(ROOT, "manifests/crds")]))
  const controller = await started(folder, config)
  return {
    model,
    end: async () => {
      await controller.kill()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

const ROOT = join(import.meta.dirname, "../..")

const started = async (folder: string, config: string): Promise<ReturnType<typeof daemon>> => {
  const [port] = await freePorts(1)
  const address = `127.0.0.1:${port}`
  const program = join(ROOT, "dist/controller.mjs")
  const flags = ["--kubeconfig", config, "--health-address", address, "--log-format", "json"]
  const running = daemon("controller", [process.execPath, ...V8_FLAGS, program, ...flags], {
    folder,
    log: join(folder, "controller.log"),
    env: { PATH: process.env["PATH"], HOME: folder }
  })
  await until({ what: "the controller's /readyz on the embedded cluster", seconds: 30 }, async () => {
    const ending = running.ending()
    if (ending !== undefined) throw new GivenUp(`the controller ${ending}: ${lastWords(running.log)}`)
    return (await fetch(`http://${address}/readyz`)).status === 200
  })
  return running
}

const kubeconfig = (server: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "embedded", cluster: { server } }],
    contexts: [{ name: "embedded", context: { cluster: "embedded", user: "" } }],
    "current-context": "embedded"
  })

interface Node {
  readonly metadata: { readonly name: string; readonly labels: object }
  readonly [field: string]: unknown
}

/** A node that only the tour's pods tolerate, with all that a kubelet would say of it. */
const node = (name: string, key: string, unit: string): Node => {
  const amount = { cpu: "8", memory: "16Gi", pods: "110" }
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { [key]: unit, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" }
    },
    spec: { taints: [{ key, effect: "NoSchedule" }], podCIDR: "10.244.0.0/24", podCIDRs: ["10.244.0.0/24"] },
    status: {
      capacity: amount,
      allocatable: amount,
      addresses: [{ type: "InternalIP", address: "192.0.2.7" }],
      nodeInfo: NODE_INFO,
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "KubeletReady",
          message: "kubelet is posting ready status",
          lastHeartbeatTime: "2026-01-01T00:00:00Z",
          lastTransitionTime: "2026-01-01T00:00:00Z"
        }
      ]
    }
  }
}

const NODE_INFO = {
  architecture: "amd64",
  operatingSystem: "linux",
  osImage: "An Edge OS",
  kernelVersion: "6.1",
  containerRuntimeVersion: "none://1",
  kubeletVersion: "v1.37.2",
  kubeProxyVersion: "",
  bootID: "b",
  machineID: "m",
  systemUUID: "s"
}
