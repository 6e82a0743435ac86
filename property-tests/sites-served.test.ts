/** Sites on the embedded API server: it keeps who owns what as the tests' own world says. */
import fc from "fast-check"
import { describe, it } from "vitest"
import type { Node } from "../src/core/kube.ts"
import { mergePatch, type NodePatch } from "../src/core/node-patch.ts"
import { sites } from "../src/core/sites.ts"
import { Stage } from "./embedded/stage.ts"
import { same } from "./given.ts"
import { runs } from "./runs.ts"
import { anEdit, said, seats } from "./site-words.ts"
import { type Edit, edited, patched, type Seat, shown, stored } from "./sited.ts"

describe("sites", () => {
  it("P3 gives nodes on a server what it gives them in the world of these tests", () => {
    const story = fc.array(fc.tuple(said, fc.array(anEdit, { maxLength: 3 })), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(seats, story, (before, steps) => {
        const stage = new Stage([])
        let world = before
        for (const node of world) create(stage, node)
        for (const [{ units, groups }, edits] of steps) {
          for (const { at, edit } of edits)
            world = world.map((node, i) => (i === at ? acted(stage, node, edit) : node))
          const here = sites({ units, groups, nodes: world.map(stored) }).nodes
          const there = sites({ units, groups, nodes: nodesOn(stage) }).nodes
          const bare = (patch: NodePatch) => ({ ...patch, uid: "", resourceVersion: "" })
          same(there.map(bare), here.map(bare))
          for (const patch of there) send(stage, patch.name, mergePatch(patch), "servicegroup")
          const patches = new Map(here.map((patch) => [patch.name, mergePatch(patch)]))
          world = world.map((node) => {
            const patch = patches.get(node.name)
            return patch === undefined ? node : patched(node, patch)
          })
          same(nodesOn(stage).map(onServer), world.map(shown))
        }
      }),
      runs(300)
    )
  })
})

/** In the order of their names, as the server lists them. */
const nodesOn = (stage: Stage): readonly Node[] =>
  (stage.must("GET", "/api/v1/nodes") as unknown as { readonly items: readonly Node[] }).items

const create = (stage: Stage, { name, labels, annotations, taints, cordon }: Seat): void => {
  const values = (map: Seat["labels"]) => Object.fromEntries([...map].map(([key, { value }]) => [key, value]))
  const metadata = { name, labels: values(labels), annotations: values(annotations) }
  const spec = {
    taints: taints.length === 0 ? null : taints.map(({ taint }) => taint),
    unschedulable: cordon === undefined ? null : true
  }
  stage.must(
    "POST",
    "/api/v1/nodes",
    { apiVersion: "v1", kind: "Node", metadata, spec },
    { fieldManager: "kubelet" }
  )
  // The server adds a taint to a new node, which is taken off again.
  send(stage, name, { spec }, "kubelet")
}

const send = (stage: Stage, name: string, body: unknown, fieldManager: string): void => {
  stage.must("PATCH", `/api/v1/nodes/${name}`, JSON.parse(JSON.stringify(body)), { fieldManager })
}

/** The edit in the world, sent to the server as well. */
const acted = (stage: Stage, node: Seat, edit: Edit): Seat => {
  const after = edited(node, edit)
  const { labels, annotations, taint, untaint, unschedulable } = edit
  const spec = {
    ...((taint !== undefined || untaint !== undefined) && { taints: after.taints.map((each) => each.taint) }),
    ...(unschedulable !== undefined && { unschedulable: unschedulable ? true : null })
  }
  send(stage, node.name, { metadata: { labels, annotations }, spec }, "kubectl")
  return after
}

/** What stands on a node of the server, as `shown` says it. */
const onServer = ({ metadata: { name, labels, annotations }, spec }: Node) => {
  const { taints, unschedulable } = (spec ?? {}) as {
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[]
    readonly unschedulable?: boolean
  }
  return {
    name,
    labels: labels ?? {},
    annotations: annotations ?? {},
    taints: (taints ?? []).map((each) => `${each.key}=${each.value ?? ""}:${each.effect}`).sort(),
    unschedulable: unschedulable === true
  }
}
