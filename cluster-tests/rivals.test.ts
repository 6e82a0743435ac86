/** A StatefulSet that is called as a grid is, on the real API server: the grid's status says so as long as it is there. */
import { describe, expect } from "vitest"
import { at } from "./client.ts"
import { statefulSet } from "./specs.ts"
import { condition, story } from "./stage.ts"

const reason = (grid: unknown): unknown => condition(grid, "ShortNames", "reason")

describe("a grid's short names", () => {
  story("are said to be taken by a set of its name and Service, and to be its own again", async (stage) => {
    await stage.units({ a: ["bj-1"] })
    const template = statefulSet()
    await stage.create("StatefulSetGrid", "echo", { gridUniqKey: stage.key, template })
    expect(reason(await stage.ready("StatefulSetGrid", "echo"))).toBeUndefined()
    const before = stage.writes().length
    await stage.create("StatefulSet", "echo", { ...template, replicas: 0 })
    const taken = await stage.comes(
      "StatefulSetGrid",
      "echo",
      "ShortNameTaken",
      (grid) => reason(grid) === "ShortNameTaken"
    )
    expect(condition(taken, "ShortNames", "message")).toContain(
      `StatefulSet ${stage.namespace}/echo has pods in Service web-svc`
    )
    await stage.client.ask("DELETE", stage.path("StatefulSet", "echo"))
    const free = await stage.comes(
      "StatefulSetGrid",
      "echo",
      "its own names",
      (grid) => reason(grid) === undefined
    )
    expect(at(free, "status", "readyUnits")).toBe(1)
    expect(
      stage
        .writes()
        .slice(before)
        .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)
    ).toEqual(["patch statefulsetgrids/status echo", "patch statefulsetgrids/status echo"])
  })
})
