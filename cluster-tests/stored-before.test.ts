/**
 * Grids that were stored before the CRDs had rules, and that the rules would refuse today. The API server lets pass what an update leaves as it
 * was, but not where `x-kubernetes-preserve-unknown-fields` stands below (as at every template): rules there look at the old object themselves.
 *
 * On a control plane of its own, whose CRDs were loose before they became those of the manifests.
 */
import { afterAll, describe, expect } from "vitest"
import { at } from "./client.ts"
import { ACCOUNT, controller, deployed } from "./controller.ts"
import { until } from "./deadline.ts"
import { applyLoose } from "./loose.ts"
import { node } from "./nodes.ts"
import { ownPlane } from "./own-plane.ts"
import { shared } from "./setup.ts"
import { clusterTest } from "./skip.ts"
import { deployment, statefulSet } from "./specs.ts"
import { condition, type GridKind, Stage } from "./stage.ts"

interface Stored {
  readonly what: string
  readonly kind: GridKind
  readonly name: string
  /** absent: the grid has none */
  readonly spec?: object
  /** of the condition Degraded; absent: the grid is served all the same */
  readonly reason?: string
  readonly field?: string
}

const KEY = "site"
const template = { ports: [{ port: 80 }], selector: { app: "echo" } }
const long = "l".repeat(60)

const noKey = { reason: "InvalidGridKey", field: "spec.gridUniqKey" }
const noName = { reason: "InvalidName", field: "metadata.name" }
const noKeys = { reason: "InvalidTopologyKeys", field: "spec.topologyKeys" }

const STORED: readonly Stored[] = [
  { what: "no spec", kind: "DeploymentGrid", name: "no-spec", ...noKey },
  { what: "no key", kind: "DeploymentGrid", name: "no-key", spec: { template: deployment() }, ...noKey },
  { what: "no key", kind: "StatefulSetGrid", name: "no-key", spec: { template: statefulSet() }, ...noKey },
  { what: "no key", kind: "ServiceGrid", name: "no-key", spec: { template }, ...noKey },
  {
    what: "an empty key",
    kind: "DeploymentGrid",
    name: "empty-key",
    spec: { gridUniqKey: "", template: deployment() },
    ...noKey
  },
  {
    what: "an illegal key",
    kind: "StatefulSetGrid",
    name: "illegal-key",
    spec: { gridUniqKey: "a b", template: statefulSet() },
    ...noKey
  },
  {
    what: "a key that is too long",
    kind: "ServiceGrid",
    name: "long-key",
    spec: { gridUniqKey: "k".repeat(400), template },
    ...noKey
  },
  {
    what: "a pool entry named default",
    kind: "DeploymentGrid",
    name: "default-entry",
    spec: { gridUniqKey: KEY, template: deployment(), templatePool: { default: deployment() } }
  },
  {
    what: "a name that begins with a digit",
    kind: "ServiceGrid",
    name: "1st",
    spec: { gridUniqKey: KEY, template },
    ...noName
  },
  {
    what: "a name that is too long",
    kind: "ServiceGrid",
    name: long,
    spec: { gridUniqKey: KEY, template },
    ...noName
  },
  {
    what: "topologyKeys without the key",
    kind: "ServiceGrid",
    name: "other-keys",
    spec: { gridUniqKey: KEY, topologyKeys: ["zone"], template },
    ...noKeys
  },
  {
    what: 'topologyKeys in which "*" is not the last one',
    kind: "ServiceGrid",
    name: "star-first",
    spec: { gridUniqKey: KEY, topologyKeys: ["*", KEY], template },
    ...noKeys
  },
  {
    what: "an illegal key in topologyKeys",
    kind: "ServiceGrid",
    name: "illegal-keys",
    spec: { gridUniqKey: KEY, topologyKeys: [KEY, "a b"], template },
    ...noKeys
  }
]

const MENDED: Stored = {
  what: "no key",
  kind: "DeploymentGrid",
  name: "mended",
  spec: { template: deployment() }
}

let stage: Stage

ownPlane({ controllers: "none" }, async (plane) => {
  await applyLoose(plane)
  stage = await Stage.on(shared(plane), "stored before")
  for (const { kind, name, spec } of [...STORED, MENDED])
    await stage.create(kind, name, spec, { finalizers: ["example.org/hold"] })
  await deployed(plane)
  for (const stored of STORED) await isRefusedToday(stored)
  await node(plane.client, "a-1", { [KEY]: "a" })
  await stage.create("DeploymentGrid", "good", { gridUniqKey: KEY, template: deployment() })
  await (await controller(plane, ACCOUNT, [])).ready()
})
afterAll(() => (stage as Stage | undefined)?.client.close())

describe.concurrent("a grid stored before the CRD's rules", () => {
  for (const stored of STORED)
    clusterTest(
      `is told so, can be labelled and edited elsewhere, loses its finalizer and goes: a ${stored.kind} with ${stored.what}`,
      async () => {
        const { kind, name, spec, reason, field } = stored
        const path = stage.path(kind, name)
        const told = await stage.comes(kind, name, `a status (${reason ?? "served"})`, (grid) =>
          reason === undefined
            ? at(grid, "status", "units") === 1
            : condition(grid, "Degraded", "reason") === reason
        )
        if (field !== undefined) expect(condition(told, "Degraded", "message")).toContain(field)
        await stage.client.patch(path, "merge", { metadata: { labels: { seen: "yes" } } })
        if (spec !== undefined)
          await stage.client.patch(path, "merge", { spec: { template: { x: "elsewhere" } } })
        await stage.client.remove(path)
        await stage.client.patch(path, "merge", { metadata: { finalizers: null } })
        await stage.goes(kind, name)
      }
    )

  clusterTest("may be mended, but not into another bad one, and is served from then on", async () => {
    const { kind, name } = MENDED
    const rekeyed = (gridUniqKey: string): object => ({ spec: { gridUniqKey } })
    await stage.comes(kind, name, "refused", (grid) => condition(grid, "Degraded", "status") === "True")
    await expect(stage.client.patch(stage.path(kind, name), "merge", rekeyed("a b"))).rejects.toThrow(
      /422 .*spec.gridUniqKey.* must be a label key/
    )
    await stage.client.patch(stage.path(kind, name), "merge", rekeyed(KEY))
    await stage.comes(kind, name, "served", (grid) => condition(grid, "Degraded", "status") === "False")
    await stage.comes("Deployment", "mended-a", "made", () => true)
  })
})

describe("beside such grids", () => {
  clusterTest("others go on", async () => {
    const image = ["spec", "template", "spec", "containers", 0, "image"] as const
    await stage.comes("Deployment", "good-a", "made", (child) => at(child, ...image) === "echo:1")
    await stage.client.patch(stage.path("DeploymentGrid", "good"), "json", [
      { op: "replace", path: "/spec/template/template/spec/containers/0/image", value: "echo:2" }
    ])
    await stage.comes("Deployment", "good-a", "image echo:2", (child) => at(child, ...image) === "echo:2")
  })
})

/** A grid like it could not be made today; waits until the server has taken up the new rules. */
const isRefusedToday = ({ kind, name, spec }: Stored): Promise<unknown> => {
  const object = { apiVersion: "superedge.io/v1", kind, metadata: { name }, spec }
  return until({ what: `a refusal of ${kind} ${name}`, seconds: 30 }, async () => {
    // before it looks whether there is one of that name
    const { code } = await stage.client.ask("POST", `${stage.path(kind)}?dryRun=All`, object)
    return code === 422
  })
}
