/**
 * An embedded cluster in a process of its own, without built-in controllers: what is measured is the client. Answers the parent's
 * messages: `grids` stores that many grids, `counts` tells what was asked for so far.
 */
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { list } from "../src/embedded/model.ts"
import { embedded } from "../src/embedded/server.ts"
import { gridApplied, joining, moved, nodes, sitesApplied } from "./grids.ts"

export type Order =
  | { readonly _tag: "Nodes"; readonly units: number; readonly each: number }
  /** one more node, in the first of so many units */
  | { readonly _tag: "Join"; readonly units: number }
  | { readonly _tag: "Grids"; readonly number: number; readonly image: string }
  /** a unit for each of so many values of the key, and so many groups that share them */
  | { readonly _tag: "Sites"; readonly units: number; readonly groups: number }
  /** the first node goes from its unit to the next */
  | { readonly _tag: "Move" }
  | { readonly _tag: "Counts" }

export interface Counts {
  readonly children: number
  /** verb -> requests */
  readonly requests: Readonly<Record<string, number>>
}

const APPLY = "application/apply-patch+yaml"

const crds = ["deploymentgrids", "statefulsetgrids", "servicegrids", "nodeunits", "nodegroups"].map(
  (name) => parse(readFileSync(new URL(`../manifests/crds/${name}.yaml`, import.meta.url), "utf8")) as object
)

const program = Effect.gen(function* () {
  const counts = new Map<string, number>()
  const cluster = yield* embedded({
    port: 0,
    controllers: [],
    onRequest: ({ verb, target }) => {
      const asked = `${verb} ${target?.plural ?? "?"}${target?.subresource === undefined ? "" : `/${target.subresource}`}`
      counts.set(asked, (counts.get(asked) ?? 0) + 1)
    }
  })
  const send = (method: "POST" | "PATCH", path: string, body: unknown): void => {
    const query = method === "PATCH" ? { fieldManager: "bench", force: "true" } : {}
    const contentType = method === "PATCH" ? APPLY : "application/json"
    const { code, body: answer } = cluster.request({ method, path, query, contentType, body })
    if (code >= 300) throw new Error(JSON.stringify(answer))
  }
  for (const crd of crds) send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
  const obey = (order: Order): unknown => {
    switch (order._tag) {
      case "Nodes":
        for (const node of nodes(order.units, order.each)) send("POST", "/api/v1/nodes", node)
        return "done"
      case "Join":
        send("POST", "/api/v1/nodes", joining(order.units))
        return "done"
      case "Grids":
        for (let i = 0; i < order.number; i++) {
          const { path, body } = gridApplied(i, order.image)
          send("PATCH", path, body)
        }
        return "done"
      case "Sites":
        for (const { path, body } of sitesApplied(order.units, order.groups)) send("PATCH", path, body)
        return "done"
      case "Move":
        send("PATCH", "/api/v1/nodes/node-0", moved)
        return "done"
      case "Counts":
        return {
          children: list(cluster.cluster(), "apps/deployments").length,
          requests: Object.fromEntries(counts)
        } satisfies Counts
    }
  }
  process.on("message", (order: Order) => process.send?.(obey(order)))
  process.send?.({ url: cluster.url })
  return yield* Effect.never
})

Effect.runFork(Effect.scoped(program))
process.on("disconnect", () => process.exit())
