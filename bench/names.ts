/**
 * What names that stay in the unit cost a node, in a cluster of many units: the wrapper with and without them, and the daemon.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePorts } from "../cluster-tests/processes.ts"
import { DNS_FLAGS, WRAPPER_ENV } from "../cluster-tests/v8-flags.ts"
import { type Figures, rss } from "./cluster.ts"
import { folder, kubeconfig } from "./processes.ts"
import { got, upstream, type Upstream, wrapper } from "./wrapper.ts"

const SIZE = { grids: 5, units: 1000, pods: 2 }
const SLICES = "/apis/discovery.k8s.io/v1/endpointslices"
const REST_MS = 10_000

const mb = (megabytes: number): string => `${megabytes.toFixed(1)} MB`

/** With and without, each from nothing and at rest. */
export const naming = async (): Promise<Figures> => {
  const from = await upstream()
  await from.tell({ _tag: "Name", ...SIZE })
  const without = await serving(from, false)
  const with_ = await serving(from, true)
  const daemon = await keeping(from)
  from.stop()
  return [
    ["RSS of a wrapper without names; with", `${mb(without.rss)}; ${mb(with_.rss)}`],
    ["slices with short names", String(with_.short)],
    [
      "first answer after start, without; with",
      `${without.start.toFixed(0)} ms; ${with_.start.toFixed(0)} ms`
    ],
    ["RSS of the daemon; its lines", `${mb(daemon.rss)}; ${daemon.lines}`],
    ["the file after start", `${daemon.start.toFixed(0)} ms`]
  ]
}

const serving = async (from: Upstream, names: boolean) => {
  const [port = 0, dns = 0] = await freePorts(2)
  const began = performance.now()
  const running = wrapper(from, port, ...(names ? [`--dns-listen=127.0.0.1:${dns}`] : []))
  const { body } = await got(names ? dns : port, SLICES)
  const start = performance.now() - began
  await sleep(REST_MS)
  const rested = rss(running, "VmRSS")
  running.kill("SIGKILL")
  return { rss: rested, start, short: body.toString("latin1").match(/"name":"[^"]*~short"/g)?.length ?? 0 }
}

const keeping = async (from: Upstream) => {
  const file = join(mkdtempSync(join(folder, "hosts-")), "hosts")
  const began = performance.now()
  const running = spawn(
    process.execPath,
    [
      ...DNS_FLAGS,
      join(folder, "dist", "dns.mjs"),
      "--kubeconfig",
      kubeconfig(`http://127.0.0.1:${from.port}`),
      "--node-name=n0",
      `--hosts-file=${file}`,
      "--health-address=off",
      "--log-format=text"
    ],
    {
      stdio: ["pipe", "ignore", "inherit"],
      env: { ...process.env, ...WRAPPER_ENV, SERVICEGROUP_LOG_LEVEL: "warning" }
    }
  )
  while (!existsSync(file)) await sleep(20)
  const start = performance.now() - began
  await sleep(REST_MS)
  const rested = rss(running, "VmRSS")
  running.kill("SIGKILL")
  return { rss: rested, start, lines: readFileSync(file, "utf8").trim().split("\n").length - 2 }
}
