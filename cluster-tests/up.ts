/** `npm run cluster:up`: a real control plane for a person, until Ctrl-C. */
import { join } from "node:path"
import { parseArgs } from "node:util"
import { binaries, CONTROL_PLANE } from "./binaries.ts"
import { at } from "./client.ts"
import { controlPlane, type ControlPlane, type Options } from "./control-plane.ts"
import { until } from "./deadline.ts"
import { kubelet } from "./kubelet.ts"
import { done } from "./kubectl.ts"
import { node, readied } from "./nodes.ts"
import { lastWords } from "./processes.ts"

const HELP = `npm run cluster:up [-- options]

Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler on free loopback ports, with this project's CRDs, nodes, and a
kubelet that makes pods ready without running anything. It stays until Ctrl-C; then nothing of it is left.

  --nodes LIST               the nodes, each with at most one label: NAME or NAME:KEY=VALUE, with commas between them
                             (default: the walkthrough's bj-1 to bj-3 and gz-1 to gz-3, without a unit)
  --emulated-version X.Y     offer the APIs of Kubernetes X.Y, such as 1.34 (default: the newest)
  --api-only                 without controller manager and scheduler
  --help                     this text

  npm run cluster:up
  npm run cluster:up -- --nodes a-1:zone=a,a-2:zone=a,b-1:zone=b
  npm run cluster:up -- --emulated-version 1.34`

interface Wish {
  readonly nodes: readonly (readonly [name: string, labels: Readonly<Record<string, string>>])[] | undefined
  readonly options: Options
}

const fail = (text: string): never => {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

const wish = (): Wish => {
  const { values } = parseArgs({
    options: {
      nodes: { type: "string" },
      "emulated-version": { type: "string" },
      "api-only": { type: "boolean" },
      help: { type: "boolean", short: "h" }
    }
  })
  if (values.help === true) {
    process.stdout.write(`${HELP}\n`)
    process.exit(0)
  }
  const emulatedVersion = values["emulated-version"]
  if (emulatedVersion !== undefined && !/^1\.\d+$/.test(emulatedVersion))
    throw new Error(`--emulated-version is ${emulatedVersion}; it must be a version such as 1.34`)
  return {
    nodes: values.nodes?.split(",").map(named),
    options: {
      controllers: values["api-only"] === true ? "none" : "built-in",
      ...(emulatedVersion === undefined ? {} : { emulatedVersion })
    }
  }
}

const named = (text: string): readonly [string, Readonly<Record<string, string>>] => {
  const parts = /^([a-z0-9][a-z0-9.-]*)(?::([^=]+)=(.+))?$/.exec(text)
  if (parts === null) throw new Error(`--nodes has "${text}"; it must be NAME or NAME:KEY=VALUE`)
  const [, name = "", key, value = ""] = parts
  return [name, key === undefined ? {} : { [key]: value }]
}

const main = async (): Promise<void> => {
  const { nodes, options } = wish()
  const found = binaries(CONTROL_PLANE)
  if (found._tag === "Missing") return fail(found.reason)
  const start = performance.now()
  const plane = await controlPlane(options)
  const running = kubelet(plane.client)
  let stopping = false
  const stop = async (code: number): Promise<void> => {
    stopping = true
    running.stop()
    await plane.stop()
    process.exit(code)
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void stop(0))
  try {
    await furnish(plane, nodes)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return stop(1)
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  process.stdout.write(await welcome(plane, found.folder, { seconds, nodes, options }))
  if (await ended(plane, () => stopping)) await stop(1)
}

const furnish = async (plane: ControlPlane, nodes: Wish["nodes"]): Promise<void> => {
  const manifests = join(import.meta.dirname, "../manifests")
  await done(plane.kubectl(["apply", "-k", join(manifests, "crds")]))
  if (nodes !== undefined) {
    for (const [name, labels] of nodes) await node(plane.client, name, labels)
    return
  }
  await done(plane.kubectl(["apply", "-f", join(manifests, "examples/nodes.yaml")]))
  for (const each of await plane.client.items("/api/v1/nodes"))
    await readied(plane.client, String(at(each, "metadata", "name")))
}

const welcome = async (
  plane: ControlPlane,
  tools: string,
  { seconds, nodes, options }: Wish & { readonly seconds: string }
): Promise<string> => {
  const version = String(at(await plane.client.get("/version"), "gitVersion"))
  const as = options.emulatedVersion === undefined ? "" : ` as ${options.emulatedVersion}`
  const walk = `
  kubectl label node bj-1 bj-2 bj-3 location=beijing && kubectl label node gz-1 gz-2 gz-3 location=guangzhou
  kubectl apply -f manifests/examples/echo-deployment.yaml`
  return `Kubernetes ${version}${as} is ready after ${seconds} s: ${plane.access.server}, logs in ${plane.folder}

In other terminals, in this folder:
  export KUBECONFIG=${plane.kubeconfig} PATH=${tools}:$PATH
  npm run build && npm run --silent servicegroup -- controller --kubeconfig ${plane.kubeconfig}${nodes === undefined ? walk : ""}
  kubectl get nodes,dg,ssg,sg,deploy,pods --show-labels

Ctrl-C ends all of it.
`
}

/** Waits for the end of any of the plane's processes and says which it was; false when all are being stopped. */
const ended = async (plane: ControlPlane, isStopping: () => boolean): Promise<boolean> => {
  const processes = [...plane.daemons.values()]
  const year = 365 * 24 * 3600
  await until({ what: "the end of a process", seconds: year }, () =>
    processes.some((each) => each.ending() !== undefined)
  )
  if (isStopping()) return false
  for (const each of processes.filter((one) => one.ending() !== undefined))
    process.stderr.write(`${each.name} ${each.ending()}; its last words: ${lastWords(each.log)}\n`)
  return true
}

await main().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)))
