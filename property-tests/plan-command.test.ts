/** `servicegroup plan` and `servicegroup version` as processes: what they print, and how they end. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stringify } from "yaml"
import { built, Run } from "./bundles.ts"
import { node, web } from "./given.ts"

let bundles = ""
let folder = ""

beforeAll(() => {
  bundles = built()
  folder = mkdtempSync(join(tmpdir(), "plan-"))
})
afterAll(() => {
  for (const each of [bundles, folder]) rmSync(each, { recursive: true, force: true })
})

const file = (name: string, content: string): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const yaml = (name: string, ...objects: readonly unknown[]): string =>
  file(name, objects.map((each) => stringify(each)).join("---\n"))

const run = async (...args: readonly string[]) => {
  const process = new Run(join(bundles, "servicegroup.mjs"), args)
  const { code } = await process.ended
  return { code, out: process.out, err: process.err }
}

describe("plan", () => {
  it("R207 plans files without a cluster and exits with 2 where there is something to do", async () => {
    const path = yaml("grid.yaml", node("n1", { zone: "a" }), web("zone"))
    const { code, out } = await run("plan", "--offline", "-f", path)
    expect(out).toContain("a  create     Deployment web-a")
    expect(code).toBe(2)
  })

  it("prints JSON where it is asked for", async () => {
    const path = yaml("json.yaml", node("n1", { zone: "a" }), web("zone"))
    const { out } = await run("plan", "--offline", "-f", path, "-o", "json")
    expect(JSON.parse(out)).toEqual([
      {
        grid: "DeploymentGrid default/web",
        key: "zone",
        units: 1,
        lines: [{ unit: "a", verdict: "create", child: "Deployment web-a" }]
      }
    ])
  })

  it.each([
    ["a file that isn't there", () => "/no/such/file.yaml", "/no/such/file.yaml"],
    ["YAML that is none", () => file("bad.yaml", "a: [b"), "bad.yaml (document 1)"],
    ["a document that is no object", () => file("list.yaml", "- 1"), "is no Kubernetes object"],
    ["no grid", () => yaml("nodes.yaml", node("n1")), "no DeploymentGrid, StatefulSetGrid or ServiceGrid"]
  ])("R200 exits with 1 on %s, and names it", async (_, path, told) => {
    const { code, err } = await run("plan", "--offline", "-f", path())
    expect(err).toContain(told)
    expect(code).toBe(1)
  })

  it("R200 exits with 1 where the kubeconfig can't be read", async () => {
    const { code, err } = await run("plan", "--kubeconfig", "/no/such/config")
    expect(err).toContain("/no/such/config")
    expect(code).toBe(1)
  })
})

describe("version", () => {
  it("prints the version", async () => {
    const { code, out } = await run("version")
    expect(out).toMatch(/^servicegroup \d+\.\d+\.\d+ \(node v26\./)
    expect(code).toBe(0)
  })
})

describe("any command", () => {
  it.each([
    [["controller", "--no-such-flag"], "--no-such-flag"],
    [["controller", "--unit-grace", "abc"], "unit-grace"]
  ])("R200 exits with 1 on %j", async (args, told) => {
    const { code, out, err } = await run(...args)
    expect(out + err).toContain(told)
    expect(code).toBe(1)
  })
})
