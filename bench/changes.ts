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

const NOTHING = "none"

/** What was asked for between two counts, in words. */
const between = (before: Requests, after: Requests): string => {
  const more = Object.entries(after).flatMap(([what, n]) => {
    const extra = n - (before[what] ?? 0)
    return extra === 0 || !ITS.test(what) || ASIDE.test(what) ? [] : [`${extra} ${what}`]
  })
  return more.length === 0 ? NOTHING : more.sort().join(", ")
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

/** Waits until nothing was asked for during five seconds. */
const quiet = async (cluster: Cluster): Promise<Requests> => {
  let before = await cluster.requests()
  for (;;) {
    await sleep(5000)
    const now = await cluster.requests()
    if (between(before, now) === NOTHING) return now
    before = now
  }
}

/** Figures of an image change, a node that joins a unit, and `minutes` of rest. */
export const changes = async (cluster: Cluster, units: number, minutes: number): Promise<Figures> => {
  const running = controller(cluster.kubeconfig, ["--lease", "default/bench"])
  await cluster.tell({ _tag: "Grids", number: 1, image: "registry.example/echo:1" })
  await written(cluster, units, performance.now())
  const old = await quiet(cluster)

  const from = performance.now()
  await cluster.tell({ _tag: "Grids", number: 1, image: "registry.example/echo:2" })
  const seconds = await written(cluster, 2 * units, from)
  const edited = await quiet(cluster)

  await cluster.tell({ _tag: "Join", units })
  await sleep(10_000)
  const joined = await cluster.requests()

  const used = cpu(running)
  await sleep(minutes * 60_000)
  const rested = await cluster.requests()
  const idle = cpu(running) - used
  const memory = rss(running, "VmRSS")
  running.kill("SIGTERM")
  await once(running, "exit")
  await cluster.stop()
  return [
    [`an image change of one grid with ${units} units`, `${seconds.toFixed(1)} s: ${between(old, edited)}`],
    ["a node that joins a unit which has one", between(edited, joined)],
    [`${minutes} minutes of rest`, between(joined, rested)],
    ["  CPU", `${idle.toFixed(2)} s`],
    ["  memory (RSS) after them", `${memory.toFixed(0)} MB`]
  ]
}
