/** The built controller as a process, let in by the token of the manifest's own ServiceAccount. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Access, at } from "./client.ts"
import { kubeconfigOf, type ControlPlane } from "./control-plane.ts"
import { GivenUp, until } from "./deadline.ts"
import { done } from "./kubectl.ts"
import { type Daemon, daemon, freePorts, lastWords } from "./processes.ts"
import { V8_FLAGS } from "./v8-flags.ts"

const ROOT = join(import.meta.dirname, "..")
/** The manifest's account, as namespace:name. */
export const ACCOUNT = "edge-system:servicegroup-controller"

/** Applies the CRDs, and waits until their kinds are offered. */
export const defined = async (plane: ControlPlane): Promise<void> => {
  await done(plane.kubectl(["apply", "-k", join(ROOT, "manifests/crds")]))
  await done(plane.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]))
}

/** Applies CRDs, account, roles and the controller's Deployment, as a person would. */
export const deployed = async (plane: ControlPlane): Promise<void> => {
  // one call may ask for a kind before the server offers it, hence the CRDs first
  await defined(plane)
  await done(plane.kubectl(["apply", "-k", join(ROOT, "manifests/controller")]))
}

export interface Controller extends Daemon {
  /** is there when it has listed all that it needs; fails when it ends before, and where `flags` put its health elsewhere */
  readonly ready: () => Promise<void>
  /** Starts the same anew, as a kubelet does when it has ended. */
  readonly again: () => Controller
}

let started = 0

/** A controller of its own under an account, as namespace:name; `flags` come after those of the manifest, `node` are for Node itself. */
export const controller = async (
  plane: ControlPlane,
  account: string,
  flags: readonly string[],
  node: readonly string[] = []
): Promise<Controller> => {
  const name = `controller-${++started}`
  const kubeconfig = join(plane.folder, `${name}.kubeconfig`)
  writeFileSync(kubeconfig, kubeconfigOf(await accessOf(plane, account)))
  const [port] = await freePorts(1)
  const address = `127.0.0.1:${port}`
  const program = join(bundle(plane.folder), "controller.mjs")
  const health = flags.includes("--health-address") ? [] : ["--health-address", address]
  const own = ["--kubeconfig", kubeconfig, ...health, "--log-format", "json"]
  const command = [process.execPath, ...V8_FLAGS, ...node, program, ...own, ...flags]
  return running(plane, { name, command, address })
}

/** How an account, as namespace:name, is let in for a day. */
export const accessOf = async (plane: ControlPlane, account: string): Promise<Access> => {
  const [namespace = "", user = ""] = account.split(":")
  const granted = await plane.client.create(`/api/v1/namespaces/${namespace}/serviceaccounts/${user}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: 24 * 3600 }
  })
  return { ...plane.access, token: String(at(granted, "status", "token")) }
}

interface Program {
  readonly name: string
  readonly command: readonly string[]
  /** where it says how it is */
  readonly address: string
}

const running = (plane: ControlPlane, program: Program): Controller => {
  const { name, command, address } = program
  const process_ = daemon(name, command, {
    folder: plane.folder,
    log: join(plane.folder, `${name}.log`),
    env: { PATH: process.env["PATH"], HOME: plane.folder, TMPDIR: plane.folder }
  })
  plane.daemons.set(name, process_)
  const ready = async (): Promise<void> => {
    await until({ what: `the controller's /readyz (log: ${process_.log})`, seconds: 30 }, async () => {
      const ending = process_.ending()
      if (ending !== undefined) throw new GivenUp(`the controller ${ending}: ${lastWords(process_.log)}`)
      return (await fetch(`http://${address}/readyz`)).status === 200
    })
  }
  return { ...process_, ready, again: () => running(plane, program) }
}

/** A copy of the built programs: dist may be built anew meanwhile. */
export const bundle = (folder: string): string => {
  const dist = join(ROOT, "dist")
  const copy = join(folder, "dist")
  if (existsSync(copy)) return copy
  if (!existsSync(join(dist, "controller.mjs"))) throw new Error("the controller is not built: npm run build")
  mkdirSync(copy)
  for (const name of readdirSync(dist).filter((each) => each.endsWith(".mjs")))
    copyFileSync(join(dist, name), join(copy, name))
  return copy
}
