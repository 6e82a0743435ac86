/** The package as a user gets it: packed, unpacked into an empty folder, imported by plain JavaScript and by TypeScript. */
import { build } from "esbuild"
import { execFileSync } from "node:child_process"
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const project = fileURLToPath(new URL("..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "servicegroup-package-"))
const user = join(folder, "user")
const installed = join(user, "node_modules", "servicegroup")

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

beforeAll(() => {
  const source = join(folder, "source")
  mkdirSync(source)
  mkdirSync(installed, { recursive: true })
  run(process.execPath, ["build.mjs", "--quiet", "--core-only", "--out", join(source, "dist")], project)
  copyFileSync(join(project, "package.json"), join(source, "package.json"))
  cpSync(join(project, "manifests"), join(source, "manifests"), { recursive: true })
  run("npm", ["pack", "--ignore-scripts", "--offline", "--silent", "--pack-destination", folder], source)
  const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"))
  run("tar", ["-xzf", join(folder, tarball), "--strip-components=1", "-C", installed], folder)
  writeFileSync(join(user, "package.json"), "{}")
}, 60_000)

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe("servicegroup/core", () => {
  it("R210 works in an empty project, without any other package", () => {
    writeFileSync(join(user, "main.mjs"), program)
    expect(JSON.parse(run(process.execPath, ["main.mjs"], user))).toEqual({
      units: ["a", "b"],
      workloads: ["web-a", "web-b"],
      services: ["web-svc"],
      steps: ["web-a Create", "web-b Create"],
      ready: "False",
      refused: "InvalidGridKey"
    })
  })

  it("R210 has declarations that a strict project takes, and that know what is wrong", () => {
    writeFileSync(join(user, "check.mts"), check)
    const tsc = join(project, "node_modules/@typescript/native/bin/tsc")
    const flags =
      "--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --module nodenext --target es2022 --lib es2022"
    expect(run(process.execPath, [tsc, ...flags.split(" "), "check.mts"], user)).toBe("")
  })

  it("R210 is bundled for a browser without anything of Node", async () => {
    const bundle = await build({
      stdin: { contents: 'export * from "servicegroup/core"', resolveDir: user },
      platform: "browser",
      format: "esm",
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      logLevel: "silent"
    })
    const foreign = Object.keys(bundle.metafile.inputs).filter(
      (path) => !/servicegroup\/dist\/core\/|<stdin>/.test(path)
    )
    expect(foreign).toEqual([])
    expect(bundle.outputFiles[0]?.contents.length).toBeLessThan(120_000)
  })

  it("imports nothing but its own modules", () => {
    const modules = readdirSync(join(installed, "dist/core")).filter((name) => /\.(js|d\.ts)$/.test(name))
    const outside = modules.flatMap((name) =>
      [...readFileSync(join(installed, "dist/core", name), "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g)]
        .map(([, to = ""]) => to)
        .filter((to) => !/^\.\/[\w-]+\.(js|ts)$/.test(to))
        .map((to) => `${name}: ${to}`)
    )
    expect(outside).toEqual([])
    expect(modules).toContain("index.d.ts")
  })
})

describe("the package", () => {
  it("holds what users need, and no source or test", () => {
    const files = readdirSync(installed, { recursive: true, encoding: "utf8", withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1))
    const unexpected = files.filter(
      (file) =>
        !/^(package\.json|dist\/core\/[\w-]+\.(js|d\.ts)|manifests\/.+(\.(yaml|md)|\/Corefile))$/.test(file)
    )
    expect(unexpected).toEqual([])
    expect(files).toContain("dist/core/index.js")
  })
})

const program = `
import { plan, service, status, unitsOf, workloads } from "servicegroup/core"

const frozen = (value) => {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}
const nodes = frozen(["b", "a", "b"].map((zone, i) => ({ metadata: { name: "n" + i, labels: { zone } } })))
const template = {
  selector: { matchLabels: { app: "web" } },
  template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "nginx:1" }] } }
}
const metadata = { name: "web", namespace: "default", uid: "u" }
const grid = frozen({ kind: "DeploymentGrid", metadata, spec: { gridUniqKey: "zone", template } })
const services = frozen({ kind: "ServiceGrid", metadata, spec: { gridUniqKey: "zone", template: { ports: [{ port: 80 }] } } })
const units = unitsOf("zone", nodes)
const { wanted } = workloads(grid, nodes)
const desired = {
  wanted: wanted.map((each, i) => ({ unit: units[i], name: each.metadata.name, digest: "", replicas: 1, rolls: true, fixed: {} })),
  refused: [],
  notices: []
}
const planned = plan({
  grid, desired, children: new Map(), held: new Map(), vanished: new Map(), unitGrace: 60, now: 0
})
const shown = status({ grid, plan: planned, units, children: new Map(), notices: [], now: 0, offset: 0 })
console.log(JSON.stringify({
  units,
  workloads: wanted.map((each) => each.metadata.name),
  services: service(services).wanted.map((each) => each.metadata.name),
  steps: planned.steps.map((step) => step.name + " " + step._tag),
  ready: shown.conditions.find((each) => each.type === "Ready").status,
  refused: workloads({ ...grid, spec: {} }, nodes).refused[0].reason
}))
`

const check = `
import { type Deployment, type DeploymentGrid, type Node, plan, type Refusal, service, status, unitsOf, workloads } from "servicegroup/core"

const nodes: readonly Node[] = [{ metadata: { name: "n1", labels: { zone: "a" } }, status: null }]
const units: readonly string[] = unitsOf("zone", nodes)
const grid: DeploymentGrid = {
  kind: "DeploymentGrid",
  metadata: { name: "web", labels: null },
  spec: { gridUniqKey: "zone", template: { selector: { matchLabels: { app: "web" } }, template: null }, templatePool: null }
}
const { wanted, refused } = workloads(grid, nodes)
const first: Deployment | undefined = wanted[0]
const why: readonly Refusal[] = refused
export const names: readonly (string | undefined)[] = [first?.metadata.name, why[0]?.path, ...units]
export const functions = [plan, status, service]

// @ts-expect-error: arguments are never written to
grid.spec.gridUniqKey = "park"
// @ts-expect-error: a key is a text
unitsOf(5, nodes)
// @ts-expect-error: a ServiceGrid is asked of service
workloads({ ...grid, kind: "ServiceGrid" }, nodes)
`
