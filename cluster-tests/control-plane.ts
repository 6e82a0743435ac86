/**
 * A real control plane on free loopback ports: etcd and an API server, on request with controller manager and scheduler.
 *
 * Guarantees: none of its processes outlives the one that started it; its folder goes with it, except after a failed start, whose logs stay and
 * are named. Assumes: the programs of `binaries()`. Does not: run nodes or pods (see kubelet.ts).
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { authority } from "../property-tests/certificates.ts"
import { binaries, CONTROL_PLANE, type Program } from "./binaries.ts"
import { type Access, Client } from "./client.ts"
import { GivenUp, until } from "./deadline.ts"
import { kubectl, type Kubectl } from "./kubectl.ts"
import { type Daemon, daemon, freePorts, isAlive, lastWords } from "./processes.ts"

export interface Options {
  /** "built-in": with controller manager and scheduler; "collector": with the garbage collector alone */
  readonly controllers: "built-in" | "collector" | "none"
  /** admission plugins besides the default ones */
  readonly admission?: readonly string[]
  /** such as "1.34": the version whose APIs the newer program offers */
  readonly emulatedVersion?: string
  /** further flags of the API server */
  readonly flags?: readonly string[]
  /** "writes": the audit log leaves out what is read */
  readonly audit?: "writes"
  /** IPv4, one of this machine's: where the API server listens and is found through the Service `kubernetes`, rather than on loopback */
  readonly address?: string
}

export interface ControlPlane {
  readonly folder: string
  readonly access: Access
  readonly client: Client
  readonly kubectl: Kubectl
  /** a file for the administrator */
  readonly kubeconfig: string
  /** every request of a service account, as the API server heard it: see audit.ts */
  readonly audit: string
  /** etcd's address */
  readonly etcd: string
  /** Ends one of its programs, waits until it has ended, and starts it anew. */
  readonly restart: (program: "kube-apiserver" | "etcd", signal: "SIGTERM" | "SIGKILL") => Promise<void>
  /** Starts one more API server, which reaches etcd at an address of its own. */
  readonly beside: (etcd: string) => Promise<{ readonly server: string; readonly stop: () => Promise<void> }>
  /** by name; what is added ends with the others */
  readonly daemons: Map<string, Daemon>
  /** Marks the run as failed: its logs stay when it stops. */
  readonly keepLogs: () => void
  readonly stop: () => Promise<void>
}

const PREFIX = "servicegroup-cluster-"
const FAILED = "failed"
/** The first address of the range for Services, which is that of the Service `kubernetes`. */
const SERVICE = "10.96.0.1"
const WEEK = 7 * 24 * 3600 * 1000
const READY_SECONDS = 60

/** Starts one; fails with one line that says what didn't come up and where its log is. */
export const controlPlane = async (options: Options): Promise<ControlPlane> => {
  const found = binaries(CONTROL_PLANE)
  if (found._tag === "Missing") throw new Error(`no control plane: ${found.reason}`)
  sweep()
  const folder = mkdtempSync(join(tmpdir(), PREFIX))
  writeFileSync(join(folder, "owner"), String(process.pid))
  const daemons = new Map<string, Daemon>()
  const kill = async (): Promise<void> => {
    await Promise.all([...daemons.values()].map((each) => each.kill()))
    daemons.clear()
  }
  const begun = new Map<string, readonly string[]>()
  const begin: Begin = (program, args, name = program) => {
    begun.set(name, args)
    const started = daemon(name, [found.path(program), ...args], {
      folder,
      log: join(folder, `${name}.log`),
      env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder }
    })
    daemons.set(name, started)
    return started
  }
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const plane = await come(options, folder, begin, found.path("kubectl"))
        const reachable = async (): Promise<boolean> =>
          (await plane.client.ask("GET", "/readyz")).code === 200
        return {
          ...plane,
          folder,
          daemons,
          restart: async (program, signal) => {
            const old = daemons.get(program)
            old?.signal(signal)
            // a server that waits for open connections does so for a minute: no kubelet would
            await until(
              { what: `the end of ${program}`, seconds: 10 },
              () => old?.ending() !== undefined
            ).catch(() => old?.kill())
            await ready(program, [begin(program, begun.get(program) ?? [])], reachable)
          },
          beside: async (etcd) => {
            const [port] = (await freePorts(1)) as [number]
            const name = `kube-apiserver-${port}`
            const access = { ...plane.access, server: `https://${addressOf(options)}:${port}` }
            const client = new Client(access)
            const started = begin("kube-apiserver", apiServerFlags(options, folder, etcd, port), name)
            await ready(name, [started], async () => (await client.ask("GET", "/readyz")).code === 200)
            client.close()
            return { server: access.server, stop: () => started.kill() }
          },
          keepLogs: () => writeFileSync(join(folder, FAILED), ""),
          stop: async () => {
            plane.client.close()
            await kill()
            const kept = existsSync(join(folder, FAILED)) ? ["etcd", "dist"] : ["."]
            for (const name of kept) rmSync(join(folder, name), { recursive: true, force: true })
          }
        }
      } catch (error) {
        await kill()
        // another process took a port between the look for free ones and the start
        const taken = error instanceof GivenUp && /address already in use|bind: /.test(error.message)
        if (attempt === 3 || !taken) throw error
        rmSync(join(folder, "etcd"), { recursive: true, force: true })
      }
    }
  } catch (error) {
    writeFileSync(join(folder, FAILED), "")
    throw error
  }
}

/** `name`: where there are several of one program. */
type Begin = (program: Program, args: readonly string[], name?: string) => Daemon

const come = async (
  options: Options,
  folder: string,
  begin: Begin,
  kubectlPath: string
): Promise<Omit<ControlPlane, "folder" | "daemons" | "keepLogs" | "stop" | "restart" | "beside">> => {
  const [etcdPort, peerPort, apiPort, managerPort, schedulerPort] = (await freePorts(5)) as [
    number,
    number,
    number,
    number,
    number
  ]
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const { ca, tokens } = secrets(folder, options)
  const etcd = begin("etcd", etcdFlags(folder, etcdUrl, `http://127.0.0.1:${peerPort}`))
  const server = `https://${addressOf(options)}:${apiPort}`
  const api = begin("kube-apiserver", apiServerFlags(options, folder, etcdUrl, apiPort))
  const access = { server, ca, token: tokens.admin }
  const client = new Client(access)
  const kubeconfig = join(folder, "admin.kubeconfig")
  writeFileSync(kubeconfig, kubeconfigOf(access))
  await ready("kube-apiserver", [etcd, api], async () => (await client.ask("GET", "/readyz")).code === 200)
  if (options.controllers !== "none") {
    const configured = (name: string, token: string): string => {
      const path = join(folder, `${name}.kubeconfig`)
      writeFileSync(path, kubeconfigOf({ ...access, token }))
      return path
    }
    const manager = begin(
      "kube-controller-manager",
      managerFlags(options, folder, configured("manager", tokens.manager), managerPort)
    )
    const needed = [etcd, api, manager]
    if (options.controllers === "built-in")
      needed.push(
        begin("kube-scheduler", [
          `--kubeconfig=${configured("scheduler", tokens.scheduler)}`,
          "--leader-elect=false",
          "--bind-address=127.0.0.1",
          `--secure-port=${schedulerPort}`,
          ...UNTHROTTLED,
          ...emulated(options)
        ])
      )
    await ready(
      "kube-controller-manager",
      needed,
      async () => (await client.find("/api/v1/namespaces/default/serviceaccounts/default")) !== undefined
    )
  }
  return {
    access,
    client,
    kubeconfig,
    etcd: etcdUrl,
    kubectl: kubectl(kubectlPath, kubeconfig, folder),
    audit: join(folder, "audit.log")
  }
}

/** Waits for one program; gives up at once when one that it needs has ended. */
const ready = async (
  name: string,
  needed: readonly Daemon[],
  probe: () => Promise<boolean>
): Promise<void> => {
  const log = needed.find((each) => each.name === name)?.log ?? ""
  await until({ what: `${name} ready (log: ${log})`, seconds: READY_SECONDS }, async () => {
    for (const each of needed) {
      const ending = each.ending()
      if (ending === undefined) continue
      throw new GivenUp(
        `${each.name} did not come up: it ${ending}: ${lastWords(each.log)} (log: ${each.log})`
      )
    }
    return probe()
  })
}

const etcdFlags = (folder: string, client: string, peer: string): readonly string[] => [
  `--data-dir=${join(folder, "etcd")}`,
  `--listen-client-urls=${client}`,
  `--advertise-client-urls=${client}`,
  `--listen-peer-urls=${peer}`,
  `--initial-advertise-peer-urls=${peer}`,
  `--initial-cluster=default=${peer}`,
  // nothing here has to survive the machine
  "--unsafe-no-fsync",
  "--quota-backend-bytes=8589934592"
]

/** Their own limits of requests a second would make the tests wait, not the product. */
const UNTHROTTLED = ["--kube-api-qps=500", "--kube-api-burst=1000"]

const emulated = (options: Options): readonly string[] =>
  options.emulatedVersion === undefined ? [] : [`--emulated-version=kube=${options.emulatedVersion}`]

const addressOf = ({ address }: Options): string => address ?? "127.0.0.1"

const apiServerFlags = (options: Options, folder: string, etcd: string, port: number): readonly string[] => [
  `--etcd-servers=${etcd}`,
  `--bind-address=${addressOf(options)}`,
  `--secure-port=${port}`,
  `--advertise-address=${addressOf(options)}`,
  // no Service may lead to loopback
  `--endpoint-reconciler-type=${options.address === undefined ? "none" : "lease"}`,
  `--tls-cert-file=${join(folder, "api.crt")}`,
  `--tls-private-key-file=${join(folder, "api.key")}`,
  `--token-auth-file=${join(folder, "tokens.csv")}`,
  "--service-account-issuer=https://kubernetes.default.svc",
  `--service-account-key-file=${join(folder, "accounts.pub")}`,
  `--service-account-signing-key-file=${join(folder, "accounts.key")}`,
  "--service-cluster-ip-range=10.96.0.0/16",
  "--authorization-mode=RBAC",
  "--allow-privileged=true",
  `--audit-policy-file=${join(folder, "audit.json")}`,
  `--audit-log-path=${join(folder, "audit.log")}`,
  ...emulated(options),
  ...(options.admission === undefined ? [] : [`--enable-admission-plugins=${options.admission.join(",")}`]),
  ...(options.flags ?? [])
]

const managerFlags = (
  options: Options,
  folder: string,
  kubeconfig: string,
  port: number
): readonly string[] => [
  `--kubeconfig=${kubeconfig}`,
  `--service-account-private-key-file=${join(folder, "accounts.key")}`,
  `--root-ca-file=${join(folder, "ca.crt")}`,
  // else RBAC refuses most of its controllers
  "--use-service-account-credentials=true",
  // the accounts tell that it is up; no kubelet renews leases here: the lifecycle controller would taint every node
  options.controllers === "collector"
    ? "--controllers=garbage-collector-controller,serviceaccount-controller"
    : "--controllers=*,-node-lifecycle-controller",
  "--leader-elect=false",
  // a test of autoscalers waits for two rounds
  "--horizontal-pod-autoscaler-sync-period=3s",
  "--bind-address=127.0.0.1",
  `--secure-port=${port}`,
  ...UNTHROTTLED,
  ...emulated(options)
]

interface Secrets {
  readonly ca: string
  readonly tokens: { readonly admin: string; readonly manager: string; readonly scheduler: string }
}

/** Writes certificates, tokens and the audit policy of one control plane. */
const secrets = (folder: string, options: Options): Secrets => {
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text, { mode: 0o600 })
  const authorities = authority("servicegroup-cluster")
  const addresses = options.address === undefined ? [] : [options.address, SERVICE]
  const certified = authorities.certify("kube-apiserver", addresses)
  write("ca.crt", authorities.cert)
  write("api.crt", certified.cert)
  write("api.key", certified.key)
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const account = privateKey.export({ type: "sec1", format: "pem" })
  write("accounts.key", account as string)
  write(
    "accounts.pub",
    createPublicKey(createPrivateKey(account)).export({ type: "spki", format: "pem" }) as string
  )
  const token = (): string => randomBytes(24).toString("hex")
  const tokens = { admin: token(), manager: token(), scheduler: token() }
  write(
    "tokens.csv",
    `${tokens.admin},admin,admin,system:masters
${tokens.manager},system:kube-controller-manager,manager
${tokens.scheduler},system:kube-scheduler,scheduler
`
  )
  write("audit.json", JSON.stringify(options.audit === "writes" ? { ...AUDIT, rules: WRITES_ALONE } : AUDIT))
  return { ca: authorities.cert, tokens }
}

const NONE = { level: "None" }

/** Writes of service accounts outside the built-in controllers, with their bodies. */
const WRITES_ALONE = [
  { ...NONE, userGroups: ["system:serviceaccounts:kube-system"] },
  {
    level: "Request",
    userGroups: ["system:serviceaccounts"],
    verbs: ["create", "update", "patch", "delete", "deletecollection"]
  },
  NONE
]

/** Those, and everything that the same accounts read. */
const AUDIT = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [...WRITES_ALONE.slice(0, -1), { level: "Metadata", userGroups: ["system:serviceaccounts"] }, NONE]
}

export const kubeconfigOf = (access: Access): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "servicegroup",
        cluster: {
          server: access.server,
          "certificate-authority-data": Buffer.from(access.ca).toString("base64")
        }
      }
    ],
    users: [{ name: "user", user: { token: access.token } }],
    contexts: [{ name: "servicegroup", context: { cluster: "servicegroup", user: "user" } }],
    "current-context": "servicegroup"
  })

/** Removes the folders of runs that are gone; logs of failed starts stay for a week. */
const sweep = (): void => {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name)
    try {
      const names = readdirSync(folder)
      const old = Date.now() - statSync(folder).mtimeMs > WEEK
      // a folder without an owner has just been made
      if (!names.includes("owner") || isAlive(Number(readFileSync(join(folder, "owner"), "utf8")))) continue
      if (!names.includes(FAILED) || old) rmSync(folder, { recursive: true, force: true })
    } catch {
      // another run removes it at the same time, or it is someone else's
    }
  }
}
