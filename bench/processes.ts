/**
 * The processes of a measurement: a cluster, and a client with the flags of the manifest.
 */
import { build } from "esbuild"
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { V8_FLAGS } from "../cluster-tests/v8-flags.ts"
import type { Counts, Order } from "./served.ts"

export const folder = mkdtempSync(join(tmpdir(), "servicegroup-bench-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))

export interface Cluster {
  readonly kubeconfig: string
  readonly tell: (order: Order) => Promise<unknown>
  /** how many there are */
  readonly children: () => Promise<number>
  /** verb and resource -> requests so far */
  readonly requests: () => Promise<Readonly<Record<string, number>>>
  readonly stop: () => Promise<void>
}

/** A kubeconfig for a server without authentication. */
export const kubeconfig = (server: string): string => {
  const path = join(folder, `kubeconfig-${new URL(server).port}`)
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "embedded", cluster: { server } }],
    users: [{ name: "bench", user: {} }],
    contexts: [{ name: "bench", context: { cluster: "embedded", user: "bench" } }],
    "current-context": "bench"
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

/** A fresh embedded cluster with its units. */
export const cluster = async (units: number, each = 1): Promise<Cluster> => {
  const child = fork(new URL("served.ts", import.meta.url))
  const answer = async (): Promise<unknown> => ((await once(child, "message")) as readonly unknown[])[0]
  const { url } = (await answer()) as { readonly url: string }
  const tell = (order: Order): Promise<unknown> => {
    const told = answer()
    child.send(order)
    return told
  }
  await tell({ _tag: "Nodes", units, each })
  const counts = async (): Promise<Counts> => (await tell({ _tag: "Counts" })) as Counts
  return {
    kubeconfig: kubeconfig(url),
    tell,
    children: async () => (await counts()).children,
    requests: async () => (await counts()).requests,
    stop: () => {
      child.kill("SIGKILL")
      return Promise.resolve()
    }
  }
}

/** The controller's bundle, as it is shipped. */
export const controller = (config: string, flags: readonly string[] = []): ChildProcess =>
  spawn(
    process.execPath,
    [
      ...V8_FLAGS,
      join(folder, "dist", "controller.mjs"),
      "--kubeconfig",
      config,
      "--health-address",
      "off",
      "--log-format",
      "text",
      ...flags
    ],
    { stdio: ["pipe", "ignore", "ignore"], env: { ...process.env, SERVICEGROUP_LOG_LEVEL: "warning" } }
  )

/** The bare loop, bundled and started like the controller. */
export const bare = (config: string, grids: number, units: number): ChildProcess =>
  spawn(process.execPath, [...V8_FLAGS, join(folder, "bare.mjs"), config, String(grids), String(units)], {
    stdio: ["pipe", "pipe", "inherit"]
  })

/** Bundles what is measured. */
export const prepare = async (): Promise<void> => {
  execFileSync(process.execPath, ["build.mjs", "--quiet", "--out", join(folder, "dist")])
  await build({
    entryPoints: { bare: "bench/bare.ts" },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "error",
    external: ["bufferutil", "utf-8-validate", "supports-color"],
    banner: {
      js: 'import { createRequire as __cr } from "node:module"; const require = __cr(import.meta.url);'
    }
  })
}
