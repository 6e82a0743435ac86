/** Templates by name: entries of a pool that are used, and entries that nobody names any more. */
import { describe, expect } from "vitest"
import { at } from "./client.ts"
import { deployment, imageOf, withImage } from "./specs.ts"
import { condition, type Stage, story } from "./stage.ts"

describe.concurrent("a template pool", () => {
  story("gives each unit what it names, and the rest the default one", async (stage) => {
    await pooled(stage)
    expect(await images(stage)).toEqual({ a: "echo:named", b: "echo:default" })
    await stage.client.patch(stage.path("DeploymentGrid", "echo"), "merge", {
      spec: { templates: { a: "default" }, defaultTemplateName: null }
    })
    await ready(stage)
    expect(await images(stage)).toEqual({ a: "echo:1", b: "echo:1" })
  })

  story(
    "without the entry that a unit names refuses that unit alone, and leaves it running",
    async (stage) => {
      await pooled(stage)
      await stage.client.patch(stage.path("DeploymentGrid", "echo"), "merge", {
        spec: { templates: { a: "nope" }, templatePool: { shared: withImage("echo:2") } }
      })
      const told = await stage.comes(
        "DeploymentGrid",
        "echo",
        "TemplateMissing",
        (grid) => condition(grid, "Degraded", "reason") === "TemplateMissing"
      )
      expect(condition(told, "Degraded", "message")).toMatch(/\ba\b.*nope/)
      await stage.comes("Deployment", "echo-b", "echo:2", (child) => imageOf(child) === "echo:2")
      expect(imageOf(await stage.get("Deployment", "echo-a"))).toBe("echo:named")
    }
  )
})

describe.concurrent("an entry that nobody names", () => {
  story("stays where autoDeleteUnusedTemplate is absent: nothing writes the spec", async (stage) => {
    const spec = await pooled(stage)
    const grid = await stage.get("DeploymentGrid", "echo")
    expect(at(grid, "spec")).toEqual(spec)
    expect(at(grid, "metadata", "generation")).toBe(1)
    expect(sentToGrids(stage)).toEqual([])
  })

  story(
    "goes by one write where autoDeleteUnusedTemplate is true; all else stays, children too",
    async (stage) => {
      const { templatePool, ...rest } = await pooled(stage)
      const { stale: _, ...used } = templatePool
      const before = await generations(stage)
      const path = stage.path("DeploymentGrid", "echo")
      const read = await stage.client.patch(path, "merge", { spec: { autoDeleteUnusedTemplate: true } })
      const pruned = await without(stage, "stale")
      const wanted = { ...rest, autoDeleteUnusedTemplate: true }
      expect(at(pruned, "spec")).toEqual({ ...wanted, templatePool: used })
      await ready(stage)
      const revision = at(read, "metadata", "resourceVersion")
      expect(sentToGrids(stage)).toEqual([
        { metadata: { resourceVersion: revision }, spec: { templatePool: { stale: null } } }
      ])
      expect(await generations(stage)).toEqual(before)

      await stage.client.patch(path, "merge", { spec: { templates: { a: null } } })
      const { named: __, ...left } = used
      expect(at(await without(stage, "named"), "spec")).toEqual({
        ...wanted,
        templates: {},
        templatePool: left
      })
      await ready(stage)
      expect(await images(stage)).toEqual({ a: "echo:default", b: "echo:default" })
      expect(sentToGrids(stage).length).toBe(2)
    }
  )
})

/** A ready grid `echo` in units a and b: a uses the entry `named`, b `shared`, and nobody `stale`; gives its spec as it was sent. */
const pooled = async (stage: Stage) => {
  await stage.units({ a: ["bj-1"], b: ["gz-1"] })
  const spec = {
    gridUniqKey: stage.key,
    template: deployment(),
    templatePool: {
      named: withImage("echo:named"),
      shared: withImage("echo:default"),
      stale: withImage("echo:stale")
    },
    templates: { a: "named" },
    defaultTemplateName: "shared"
  }
  await stage.create("DeploymentGrid", "echo", spec)
  await ready(stage)
  return spec
}

const ready = (stage: Stage): Promise<unknown> => stage.ready("DeploymentGrid", "echo")

const without = (stage: Stage, entry: string): Promise<unknown> =>
  stage.comes(
    "DeploymentGrid",
    "echo",
    `without ${entry}`,
    (grid) => at(grid, "spec", "templatePool", entry) === undefined
  )

const units = ["a", "b"] as const

const images = async (stage: Stage): Promise<unknown> =>
  Object.fromEntries(
    await Promise.all(
      units.map(async (unit) => [unit, imageOf(await stage.get("Deployment", `echo-${unit}`))] as const)
    )
  )

const generations = (stage: Stage): Promise<readonly unknown[]> =>
  Promise.all(
    units.map(async (unit) => at(await stage.get("Deployment", `echo-${unit}`), "metadata", "generation"))
  )

/** The bodies of what the controller sent to grids but statuses. */
const sentToGrids = (stage: Stage): readonly unknown[] =>
  stage
    .writes()
    .filter((write) => write.resource === "deploymentgrids")
    .map((write) => write.body)
