/**
 * What single changes cost a controller that is at rest: one grid with many units on a real API server, requests as that counts them.
 */
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { cpu, type Figures, rss } from "./cluster.ts"
import { type Cluster, controller } from "./processes.ts"

/** What a controller asks for of itself: neither watches nor leases, nor what the measurement sends, nor the API server's own care for its Service. */
const ITS = /^\w+ (?:(?:deployment|statefulset|service)(?:grid)?s|nodes|events)(?:\/\w+)?$/
const ASIDE = /^watch |^list services$|^apply deploymentgrids$|^post nodes$/

type Requests = Readonly<Record<string, number>>

/** What was asked for between two counts, in words. */
const between = (before: Requests, after: Requests): string => {
  const more = Object.entries(after).flatMap(([what, n]) => {
    const extra = n - (before[what] ?? 0)
    return extra === 0 || !ITS.test(what) || ASIDE.test(what) ? [] : [`${extra} ${what}`]
  })
  return more.length === 0 ? "none" : more.sort().join(", ")
}

/** Waits until so many writes of children were counted; gives the seconds since `from`. */
const written = async (cluster: Cluster, writes: number, from: number): Promise<number> => {
  for (;;) {
    if (((await cluster.requests())["apply deployments"] ?? 0) >= writes)
      return (performance.now() - from) / 1000
    if (performance.now() - from > 300_000) throw new Error(`no ${writes} writes after 5 minutes`)
    await sleep(100)
  }
}

/** Figures of an image change, a node that joins a unit, and `minutes` of rest. */
export const changes = async (cluster: Cluster, units: number, minutes: number): Promise<Figures> => {
  const process = controller(cluster.kubeconfig, ["--lease", "default/bench"])
  await cluster.tell({ _tag: "Grids", number: 1, image: "registry.example/echo:1" })
  await written(cluster, units, performance.now())
  await sleep(10_000)

  const old = await cluster.requests()
  const from = performance.now()
  await cluster.tell({ _tag: "Grids", number: 1, image: "registry.example/echo:2" })
  const seconds = await written(cluster, 2 * units, from)
  await sleep(5000)
  const edited = await cluster.requests()

  await cluster.tell({ _tag: "Join", units })
  await sleep(10_000)
  const joined = await cluster.requests()

  const used = cpu(process)
  await sleep(minutes * 60_000)
  const rested = await cluster.requests()
  const idle = cpu(process) - used
  const memory = rss(process, "VmRSS")
  process.kill("SIGTERM")
  await once(process, "exit")
  await cluster.stop()
  return [
    [`an image change of one grid with ${units} units`, `${seconds.toFixed(1)} s: ${between(old, edited)}`],
    ["a node that joins a unit which has one", between(edited, joined)],
    [`${minutes} minutes of rest`, between(joined, rested)],
    ["  CPU", `${idle.toFixed(2)} s`],
    ["  memory (RSS) after them", `${memory.toFixed(0)} MB`]
  ]
}
