/** Whose a child is: owners, orphans, foreigners, and grids that go and come back. */
import { describe, expect } from "vitest"
import { at } from "./client.ts"
import { until } from "./deadline.ts"
import { done } from "./kubectl.ts"
import { deployment } from "./specs.ts"
import { condition, type Stage, story } from "./stage.ts"

describe.concurrent("adoption", () => {
  story("takes orphans of a grid of that name, which keep their uid and pods", async (stage) => {
    const first = await grid(stage)
    const child = await stage.get("Deployment", "echo-a")
    const pods = await podUids(stage)
    await done(stage.kubectl(["delete", "dg", "echo", "--cascade=orphan", "-n", stage.namespace]))
    await stage.comes("Deployment", "echo-a", "without owner", (orphan) => owner(orphan) === undefined)
    const second = await grid(stage)
    expect(uid(second)).not.toBe(uid(first))
    const adopted = await stage.get("Deployment", "echo-a")
    expect(uid(adopted)).toBe(uid(child))
    expect(owner(adopted)).toBe(uid(second))
    expect(await podUids(stage)).toEqual(pods)
  })

  story("leaves a foreign Deployment of a wanted name alone, and says whose it is", async (stage) => {
    const foreign = await stage.create("Deployment", "echo-a", deployment())
    await stage.units({ a: ["bj-1"], b: ["gz-1"] })
    await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
    const refused = await stage.comes(
      "DeploymentGrid",
      "echo",
      "Degraded for the foreign child",
      (found) => condition(found, "Degraded", "reason") === "ForeignChild"
    )
    expect(condition(refused, "Degraded", "message")).toContain("echo-a")
    await stage.comes("Deployment", "echo-b", "made", (child) => owner(child) === uid(refused))
    expect(at(await stage.get("Deployment", "echo-a"), "metadata", "generation")).toBe(
      at(foreign, "metadata", "generation")
    )
    // a create that the server refused, since the controller lists only children that carry its label
    expect(stage.writes().filter((write) => write.name === "echo-a" && write.code < 300)).toEqual([])
    await until({ what: "an event that names the foreign child", seconds: 20 }, async () => {
      const said = await done(stage.kubectl(["describe", "dg", "echo", "-n", stage.namespace]))
      return said.split("\n").some((line) => /Warning\s+ForeignChild.*echo-a/.test(line))
    })
    await stage.client.remove(stage.path("Deployment", "echo-a"))
    await stage.comes("Deployment", "echo-a", "ours now", (child) => owner(child) === uid(refused))
  })
})

describe.concurrent("deletion", () => {
  story(
    "of a grid takes its children by garbage collection, without a delete of the controller's",
    async (stage) => {
      await grid(stage)
      await stage.client.remove(stage.path("DeploymentGrid", "echo"))
      await stage.goes("Deployment", "echo-a")
      await stage.goes("Deployment", "echo-b")
      expect(stage.writes().filter((write) => write.verb === "delete")).toEqual([])
    }
  )

  story("and a new grid of the same name give new children, which stay", async (stage) => {
    const first = await grid(stage)
    const before = uid(await stage.get("Deployment", "echo-a"))
    await stage.client.remove(stage.path("DeploymentGrid", "echo"))
    const second = await grid(stage)
    expect(uid(second)).not.toBe(uid(first))
    const child = await stage.comes(
      "Deployment",
      "echo-a",
      "of the new grid",
      (found) => owner(found) === uid(second)
    )
    expect(uid(child)).not.toBe(before)
    expect(stage.writes().filter((write) => write.verb === "delete")).toEqual([])
  })

  story("in the foreground lets the children go first", async (stage) => {
    await grid(stage)
    await done(
      stage.kubectl(["delete", "dg", "echo", "--cascade=foreground", "-n", stage.namespace, "--timeout=90s"])
    )
    expect(await stage.client.find(stage.path("Deployment", "echo-a"))).toBe(undefined)
  })

  story("of a child by hand brings it back", async (stage) => {
    await grid(stage)
    const before = uid(await stage.get("Deployment", "echo-a"))
    await stage.client.remove(stage.path("Deployment", "echo-a"))
    await stage.comes("Deployment", "echo-a", "a new one", (child) => uid(child) !== before)
    await stage.ready("DeploymentGrid", "echo")
  })
})

describe.concurrent("a unit", () => {
  story("without nodes goes after its grace and not before, and comes with its first node", async (stage) => {
    const annotations = { "superedge.io/unit-grace": "3s" }
    await stage.units({ a: ["bj-1"], b: ["gz-1"] })
    await stage.create(
      "DeploymentGrid",
      "echo",
      { gridUniqKey: stage.key, template: deployment() },
      { annotations }
    )
    await stage.ready("DeploymentGrid", "echo")
    await stage.units({ a: ["bj-1"], c: ["bj-2"] })
    const lost = performance.now()
    await stage.comes("Deployment", "echo-c", "made", (child) => at(child, "spec", "replicas") === 1)
    await stage.goes("Deployment", "echo-b")
    expect(performance.now() - lost).toBeGreaterThan(2500)
    await stage.comes("DeploymentGrid", "echo", "ready with the units a and c", (grid) => {
      const states = Object.keys((at(grid, "status", "states") ?? {}) as object)
      return condition(grid, "Ready", "status") === "True" && states.join() === "a,c"
    })
    expect(
      stage
        .writes()
        .filter((write) => write.verb === "delete")
        .map((write) => write.name)
    ).toEqual(["echo-b"])
  })
})

/** A ready DeploymentGrid `echo` in the units a and b. */
const grid = async (stage: Stage): Promise<unknown> => {
  await stage.units({ a: ["bj-1"], b: ["gz-1"] })
  await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
  return stage.ready("DeploymentGrid", "echo")
}

const uid = (object: unknown): unknown => at(object, "metadata", "uid")
const owner = (object: unknown): unknown => at(object, "metadata", "ownerReferences", 0, "uid")

const podUids = async ({ client, namespace }: Stage): Promise<ReadonlySet<unknown>> =>
  new Set((await client.items(`/api/v1/namespaces/${namespace}/pods`)).map(uid))
