/** `servicegroup plan`, as text: the plan in the words of a person, and its exit code. */
import { describe, expect, it } from "vitest"
import { exitCode, type GridPlan, gridPlan, render } from "../src/commands/outline.ts"
import type { ChildObject } from "../src/core/child.ts"
import type { Grid } from "../src/core/grid.ts"
import { workloads } from "../src/core/workloads.ts"
import { applied, node, NOW, template, web, webService } from "./given.ts"

const nodes = [node("n1", { zone: "a" }), node("n2", { zone: "b" })]

const outline = (grid: Grid, children: readonly ChildObject[] = [], live = nodes): GridPlan =>
  gridPlan(grid, live, children, { unitGrace: 60, legacy: ["application-grid-controller"], now: NOW })

/** The children of `web` as they are once it has settled. */
const settled = (): readonly ChildObject[] =>
  workloads(web("zone"), nodes).wanted.map((each) => applied(each))

const verdicts = (plan: GridPlan): readonly string[] =>
  plan.lines.map(({ unit, verdict }) => `${unit ?? "-"} ${verdict}`)

describe("gridPlan", () => {
  it("creates what is not there", () => {
    expect(verdicts(outline(web("zone")))).toEqual(["a create", "b create"])
  })

  it("R207 has nothing to do where all is as wanted", () => {
    const plan = outline(web("zone"), settled())
    expect(verdicts(plan)).toEqual(["a keep", "b keep"])
    expect(exitCode([plan])).toBe(0)
  })

  it("names each field that changes, with both values", () => {
    const plan = outline(web("zone", { template: template("nginx:2") }), settled())
    expect(verdicts(plan)).toEqual(["a change", "b change"])
    expect(plan.lines[0]?.fields).toEqual([
      { path: "spec.template.spec.containers[name=c].image", wanted: "nginx:2", owned: "nginx:1" }
    ])
  })

  it("says when the child of a unit without nodes goes", () => {
    const plan = outline(web("zone"), settled(), nodes.slice(0, 1))
    expect(verdicts(plan)).toEqual(["a keep", "b delete"])
    expect(plan.lines[1]?.message).toBe("after 60 s, unless a node of the unit returns")
  })

  it("R11 refuses one unit by name and keeps the others", () => {
    const plan = outline(web("zone", { templates: { b: "nope" } }), settled())
    expect(verdicts(plan)).toEqual(["a keep", "b refuse"])
    expect(plan.lines[1]?.message).toContain('wants the template "nope"')
  })

  it("R21 leaves all children alone where the key is none", () => {
    expect(verdicts(outline(web("a b"), settled()))).toEqual(["- refuse"])
  })

  it("R69 makes the Service without any node", () => {
    expect(verdicts(outline(webService("zone"), [], []))).toEqual(["- create"])
  })
})

describe("exitCode", () => {
  it("R207 is 2 where there is something to do", () => {
    expect(exitCode([outline(web("zone"))])).toBe(2)
  })

  it("R207 is 1 where something is refused, whatever else there is", () => {
    expect(exitCode([outline(web("zone", { templates: { b: "nope" } }))])).toBe(1)
  })
})

describe("render", () => {
  it("lists grids, units, verdicts and fields, and counts", () => {
    const text = render([outline(web("zone", { template: template("nginx:2") }), settled().slice(0, 1))])
    expect(text.split("\n")).toEqual([
      "DeploymentGrid default/web  (key zone, 2 units)",
      "  a  change     Deployment web-a",
      "                spec.template.spec.containers[name=c].image: nginx:1 -> nginx:2",
      "  b  create     Deployment web-b",
      "",
      "1 to create, 1 to change"
    ])
  })

  it("says so where no node has the key", () => {
    expect(render([outline(web("zone"), [], [])])).toContain('no node has the label "zone"')
  })
})
