/**
 * The controller against a cluster in other processes, embedded or real: time beside the bare loop, requests, memory.
 */
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { bare, type Cluster, controller } from "./processes.ts"

export type Figures = readonly (readonly [string, string])[]

/** MB of resident memory, at the moment or at most so far. */
export const rss = (process: ChildProcess, field: "VmRSS" | "VmHWM"): number => {
  const status = readFileSync(`/proc/${process.pid}/status`, "utf8")
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
}

/** Seconds of CPU that a process has used (fields 14 and 15 of proc(5) stat, in hundredths). */
export const cpu = (process: ChildProcess): number => {
  const fields = readFileSync(`/proc/${process.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Waits until that many children are there; gives the seconds since `from`. */
const until = async (served: Cluster, children: number, from: number): Promise<number> => {
  for (;;) {
    if ((await served.children()) >= children) return (performance.now() - from) / 1000
    if (performance.now() - from > 600_000) throw new Error(`no ${children} children after 10 minutes`)
    await sleep(100)
  }
}

interface Run {
  readonly seconds: number
  readonly cpu: number
}

/** Makes a fresh cluster with so many units. */
export type Open = (units: number) => Promise<Cluster>

const bareRun = async (open: Open, grids: number, units: number): Promise<Run> => {
  const served = await open(units)
  const loop = bare(served.kubeconfig, grids, units)
  const { stdout, stdin } = loop
  if (stdout === null || stdin === null) throw new Error("no pipe to the bare loop")
  await once(stdout, "data")
  const before = cpu(loop)
  const from = performance.now()
  stdin.write("go\n")
  const seconds = await until(served, grids * units, from)
  const used = cpu(loop) - before
  loop.kill("SIGKILL")
  await served.stop()
  return { seconds, cpu: used }
}

interface ControllerRun extends Run {
  readonly idleMb: number
  readonly fullMb: number
  readonly peakMb: number
  readonly requests: Readonly<Record<string, number>>
}

const controllerRun = async (open: Open, grids: number, units: number): Promise<ControllerRun> => {
  const served = await open(units)
  const process = controller(served.kubeconfig, GRIDS_ALONE)
  await sleep(10_000)
  const idleMb = rss(process, "VmRSS")
  const before = cpu(process)
  const from = performance.now()
  await served.tell({ _tag: "Grids", number: grids, image: "registry.example/echo:1" })
  const seconds = await until(served, grids * units, from)
  await sleep(5000)
  const used = cpu(process) - before
  await sleep(25_000)
  const fullMb = rss(process, "VmRSS")
  const peakMb = rss(process, "VmHWM")
  const requests = await served.requests()
  process.kill("SIGTERM")
  await once(process, "exit")
  await served.stop()
  return { seconds, cpu: used, idleMb, fullMb, peakMb, requests }
}

/** What sites cost is measured on its own. */
const GRIDS_ALONE = ["--sites", "off"]

const ratio = (a: number, b: number): string => (a / b).toFixed(2)

/** Figures at a number of grids and units: time and CPU beside the bare loop, requests, memory. */
export const against = async (open: Open, grids: number, units: number): Promise<Figures> => {
  const plain = await bareRun(open, grids, units)
  const ours = await controllerRun(open, grids, units)
  const again = await bareRun(open, grids, units)
  const bareSeconds = (plain.seconds + again.seconds) / 2
  const bareCpu = (plain.cpu + again.cpu) / 2
  const children = grids * units
  const size = `${grids} grids x ${units} units`
  const asked = Object.entries(ours.requests).filter(([what]) =>
    /^(apply|patch|create|delete|update|get) (deploy|event)/.test(what)
  )
  return [
    [`${size}: until all children exist`, `${ours.seconds.toFixed(1)} s`],
    [
      "  beside the bare loop",
      `${ratio(ours.seconds, bareSeconds)} x (${plain.seconds.toFixed(1)} s and ${again.seconds.toFixed(1)} s)`
    ],
    [
      "  CPU beside the bare loop",
      `${ratio(ours.cpu, bareCpu)} x (${ours.cpu.toFixed(1)} s and ${bareCpu.toFixed(1)} s)`
    ],
    ["  requests but lists and watches", asked.map(([what, n]) => `${n} ${what}`).join(", ")],
    ["  memory (RSS) idle", `${ours.idleMb.toFixed(0)} MB`],
    [
      `  memory (RSS) with ${children} children`,
      `${ours.fullMb.toFixed(0)} MB, ${ours.peakMb.toFixed(0)} MB at most`
    ],
    ["  a child costs", `${(((ours.fullMb - ours.idleMb) * 1024) / children).toFixed(2)} KB`]
  ]
}
