/**
 * The wrapper beside a client that watches upstream directly, in one run: memory, latency, lists, CPU.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePorts } from "../cluster-tests/processes.ts"
import { WRAPPER_ENV, WRAPPER_FLAGS } from "../cluster-tests/v8-flags.ts"
import { cpu, type Figures, rss } from "./cluster.ts"
import { folder, kubeconfig } from "./processes.ts"
import type { Order, Size } from "./upstream.ts"

const WHOLE: Size = { nodes: 5000, units: 50, services: 1000, slices: 10_000, endpoints: 10 }
const SLICES = "/apis/discovery.k8s.io/v1/endpointslices"
const RATE = 200

export interface Upstream {
  readonly port: number
  readonly tell: (order: Order) => Promise<unknown>
  readonly stop: () => void
}

export const upstream = async (): Promise<Upstream> => {
  const child = fork(new URL("upstream.ts", import.meta.url))
  const answer = async (): Promise<unknown> => ((await once(child, "message")) as readonly unknown[])[0]
  const port = (await answer()) as number
  return {
    port,
    tell: (order) => {
      const told = answer()
      child.send(order)
      return told
    },
    stop: () => void child.kill("SIGKILL")
  }
}

/** A wrapper that begins with nothing: no snapshot of another measurement. */
export const wrapper = (from: Upstream, port: number, ...more: readonly string[]): ChildProcess => {
  const snapshot = mkdtempSync(join(folder, "snapshot-"))
  return spawn(
    process.execPath,
    [
      ...WRAPPER_FLAGS,
      join(folder, "dist", "wrapper.mjs"),
      "--kubeconfig",
      kubeconfig(`http://127.0.0.1:${from.port}`),
      "--node-name=n0",
      `--listen=127.0.0.1:${port}`,
      "--health-address=off",
      "--log-format=text",
      `--snapshot=${snapshot}`,
      ...more
    ],
    {
      stdio: ["pipe", "ignore", "inherit"],
      env: { ...process.env, ...WRAPPER_ENV, SERVICEGROUP_LOG_LEVEL: "warning" }
    }
  )
}

/** The body of an answer, once it is 200; its bytes, and how long it took once it was asked for. */
export const got = async (
  port: number,
  path: string
): Promise<{ readonly body: Buffer; readonly ms: number }> => {
  for (;;) {
    const began = performance.now()
    const answer = await new Promise<{ readonly code: number; readonly body: Buffer } | undefined>((done) => {
      const asking = request({ port, path, host: "127.0.0.1" }, (response) => {
        const parts: Buffer[] = []
        response.on("data", (part: Buffer) => parts.push(part))
        response.once("end", () => done({ code: response.statusCode ?? 0, body: Buffer.concat(parts) }))
      })
      asking.once("error", () => done(undefined))
      asking.end()
    })
    if (answer?.code === 200) return { body: answer.body, ms: performance.now() - began }
    await sleep(20)
  }
}

/** A watch that notes when each revision of an object came: by the time at which upstream made it. */
const watching = async (port: number, heard: (sent: string, at: bigint) => void): Promise<() => void> => {
  const { body } = await got(port, `${SLICES}?limit=1`)
  const revision = /"resourceVersion":"(\d+)"/.exec(body.toString("latin1"))?.[1] ?? ""
  const asking = request({
    port,
    host: "127.0.0.1",
    path: `${SLICES}?watch=true&resourceVersion=${revision}`
  })
  asking.end()
  const [response] = (await once(asking, "response")) as [NodeJS.ReadableStream]
  let rest = ""
  response.on("data", (part: Buffer) => {
    const at = process.hrtime.bigint()
    const lines = (rest + part.toString("latin1")).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) heard(/"sent":"(\d+)"/.exec(line)?.[1] ?? "", at)
  })
  response.on("error", () => undefined)
  asking.on("error", () => undefined)
  return () => asking.destroy()
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN

const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`
const mb = (megabytes: number): string => `${megabytes.toFixed(1)} MB`

/** A wrapper with nothing to show but its own node, ten seconds after it answered. */
export const resting = async (): Promise<Figures> => {
  const from = await upstream()
  await from.tell({ _tag: "Fill", size: { nodes: 1, units: 1, services: 0, slices: 0, endpoints: 0 } })
  const [port = 0] = await freePorts(1)
  const running = wrapper(from, port)
  await got(port, SLICES)
  await sleep(10_000)
  const rested = rss(running, "VmRSS")
  running.kill("SIGKILL")
  from.stop()
  return [["RSS", mb(rested)]]
}

/** `clients`: so many watch the wrapper; `updates`: so many updates of random slices. */
export const wrapping = async (clients: number, updates: number, size: Size = WHOLE): Promise<Figures> => {
  const from = await upstream()
  const bytes = Number(await from.tell({ _tag: "Fill", size }))
  const direct = await Promise.all(
    ["/api/v1/nodes", "/api/v1/services", SLICES].map((path) => got(from.port, path))
  )
  const bare = Math.max(...direct.map((each) => each.ms))

  const [port = 0] = await freePorts(1)
  const began = performance.now()
  const running = wrapper(from, port)
  const first = await got(port, `${SLICES}?limit=500&resourceVersion=0`)
  const start = performance.now() - began
  const started = rss(running, "VmRSS")

  const lists: number[] = []
  for (let i = 0; i < 5; i++) lists.push((await got(port, `${SLICES}?resourceVersion=0`)).ms)

  const directly = new Map<string, bigint>()
  const through = new Map<string, bigint>()
  let heard = 0
  const stops = [await watching(from.port, (sent, at) => directly.set(sent, at))]
  for (let i = 0; i < clients; i++) {
    const measures = i === 0
    stops.push(
      await watching(port, (sent, at) => {
        heard += 1
        if (measures && !through.has(sent)) through.set(sent, at)
      })
    )
  }
  const used = cpu(running)
  const from0 = performance.now()
  await from.tell({ _tag: "Update", rate: RATE, count: updates })
  const seconds = (performance.now() - from0) / 1000
  const share = (cpu(running) - used) / seconds
  await sleep(2000)
  const lost = updates * clients - heard
  await sleep(updates < 10_000 ? 5000 : 58_000)
  const later = rss(running, "VmRSS")
  const added = [...through]
    .flatMap(([sent, at]) => {
      const before = directly.get(sent)
      return before === undefined ? [] : [Number(at - before) / 1e6]
    })
    .sort((a, b) => a - b)

  const before = heard
  const at = BigInt(String(await from.tell({ _tag: "Relabel", nodes: 20 })))
  let last = process.hrtime.bigint()
  for (let seen = heard, quiet = 0; quiet < 20; quiet++) {
    await sleep(10)
    if (heard > seen) {
      last = process.hrtime.bigint()
      quiet = 0
      seen = heard
    }
  }
  const told = Number(last - at) / 1e6
  const relabelled = (heard - before) / clients
  for (const stop of stops) stop()
  running.kill("SIGKILL")
  from.stop()
  return [
    ["slices upstream; as this node is shown them", `${mb(bytes / 1e6)}; ${mb(first.body.length / 1e6)}`],
    [
      "first answer after start; the bare lists",
      `${ms(start)}; ${ms(bare)} (${(start / bare).toFixed(1)} x)`
    ],
    [
      "list of all slices, median of 5; upstream's own",
      `${ms(
        percentile(
          lists.sort((a, b) => a - b),
          0.5
        )
      )}; ${ms(direct[2]?.ms ?? NaN)}`
    ],
    [
      `added latency at ${RATE} updates a second, p50; p99`,
      `${ms(percentile(added, 0.5))}; ${ms(percentile(added, 0.99))}`
    ],
    ["events that did not come", String(lost)],
    ["CPU", `${(share * 100).toFixed(1)} % of a core`],
    [`RSS at start; ${updates < 10_000 ? 7 : 60} s after ${updates} updates`, `${mb(started)}; ${mb(later)}`],
    ["20 nodes relabelled: told after; events", `${ms(told)}; ${relabelled}`]
  ]
}
