/** The harness itself: what it says when something is wrong, and that nothing of it stays behind. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { binaries, CONTROL_PLANE, type Program } from "./binaries.ts"
import { controlPlane } from "./control-plane.ts"
import { until } from "./deadline.ts"
import { isAlive } from "./processes.ts"
import { clusterTest } from "./skip.ts"

const UP = join(import.meta.dirname, "up.ts")
const VITEST = join(import.meta.dirname, "../node_modules/vitest/vitest.mjs")

describe("binaries", () => {
  test("names the programs that are missing in KUBEBUILDER_ASSETS", () => {
    const folder = assets(
      CONTROL_PLANE.filter((name) => name !== "etcd" && name !== "kubectl"),
      ""
    )
    const { code, stderr } = run(UP, [], { KUBEBUILDER_ASSETS: folder })
    expect(stderr).toBe(`KUBEBUILDER_ASSETS is ${folder}, where these are missing: etcd, kubectl\n`)
    expect(code).toBe(1)
  })

  test("says which programs may not be run", () => {
    const folder = assets(CONTROL_PLANE, "#!/bin/sh\n")
    chmodSync(join(folder, "etcd"), 0o600)
    const { code, stderr } = run(UP, [], { KUBEBUILDER_ASSETS: folder })
    expect(stderr).toBe(`no permission to run etcd in ${folder}\n`)
    expect(code).toBe(1)
  })

  test("says how to build them where there are none", () => {
    const { code, stderr } = run(UP, [], { KUBEBUILDER_ASSETS: "", XDG_CACHE_HOME: temporary() })
    expect(stderr).toMatch(/^not built yet: etcd, .*npm run cluster:tools builds them.*\n$/)
    expect(code).toBe(1)
  })

  test("are not built without Go, which is said in one line", () => {
    const environment = { KUBEBUILDER_ASSETS: "", XDG_CACHE_HOME: temporary(), PATH: temporary() }
    const { code, stderr } = run(join(import.meta.dirname, "tools.ts"), [], environment)
    expect(stderr).toMatch(/^Go is missing.*apt-get install golang.*go\.dev.*\n$/)
    expect(code).toBe(1)
  })
})

describe("cluster:up", () => {
  test("has a help with examples", () => {
    const { code, stdout } = run(UP, ["--help"], {})
    expect(stdout).toContain("npm run cluster:up -- --emulated-version 1.34")
    expect(code).toBe(0)
  })

  test.each([
    [
      ["--emulated-version", "newest"],
      /^--emulated-version is newest; it must be a version such as 1\.34\n$/
    ],
    [["--nodes", "A B"], /^--nodes has "A B"; it must be NAME or NAME:KEY=VALUE\n$/],
    [["--node", "a"], /^Unknown option '--node'.*\n$/]
  ])("says in one line what is wrong with %j", (args, said) => {
    const { code, stderr } = run(UP, args, {})
    expect(stderr).toMatch(said)
    expect(code).toBe(1)
  })
})

describe("a control plane", () => {
  clusterTest(
    "that doesn't come up is told in one line, with the place of its log, which stays",
    async () => {
      const message = await saidBy(controlPlane({ controllers: "none", flags: ["--no-such-flag"] }))
      expect(message).toMatch(/^Error: kube-apiserver did not come up: .*no-such-flag.*$/)
      const log = logIn(message)
      expect(readFileSync(log, "utf8")).toContain("no-such-flag")
      rmSync(dirname(log), { recursive: true })
    }
  )

  clusterTest("whose port is in use tries three times, then says so with the place of its log", async () => {
    const taken = createServer().listen(0, "127.0.0.1")
    onTestFinished(() => void taken.close())
    await once(taken, "listening")
    const { port } = taken.address() as AddressInfo
    const message = await saidBy(controlPlane({ controllers: "none", flags: [`--secure-port=${port}`] }))
    expect(message).toMatch(/^Error: kube-apiserver did not come up: .*address already in use.*\(log: .*\)$/)
    const log = logIn(message)
    expect(readFileSync(log, "utf8").match(/address already in use/g)?.length).toBeGreaterThanOrEqual(3)
    rmSync(dirname(log), { recursive: true })
  })

  clusterTest("without a place for its data is told in one line", async () => {
    const { code, stderr } = run(UP, ["--api-only"], { TMPDIR: "/no/such/folder" })
    expect(stderr).toMatch(/^ENOENT: no such file or directory, .*'\/no\/such\/folder'\n$/)
    expect(code).toBe(1)
  })

  clusterTest("made of a wrong program is told in one line", async () => {
    const folder = temporary()
    const found = binaries(CONTROL_PLANE)
    for (const name of CONTROL_PLANE)
      if (name !== "etcd" && found._tag === "Found") symlinkSync(found.path(name), join(folder, name))
    writeFileSync(join(folder, "etcd"), "not a program", { mode: 0o755 })
    const { code, stderr } = run(UP, ["--api-only"], { KUBEBUILDER_ASSETS: folder })
    expect(stderr).toMatch(/^etcd did not come up: .*\(log: .*etcd\.log\)\n$/)
    expect(code).toBe(1)
    rmSync(dirname(logIn(stderr)), { recursive: true })
  })

  clusterTest(
    "leaves no process when the one that started it is killed, and no folder after the next start",
    async () => {
      const up = await started()
      const pids = groupsOf(up.child)
      expect(pids.length).toBeGreaterThan(1)
      up.child.kill("SIGKILL")
      await until({ what: "the end of the plane's processes", seconds: 10 }, () =>
        pids.every((pid) => !isAlive(pid))
      )
      expect(existsSync(up.folder)).toBe(true)
      const next = await started()
      expect(existsSync(up.folder)).toBe(false)
      next.child.kill("SIGTERM")
      await once(next.child, "exit")
      expect(existsSync(next.folder)).toBe(false)
    }
  )
})

describe("without the programs", () => {
  const environment = (): Readonly<Record<string, string>> => ({
    KUBEBUILDER_ASSETS: temporary(),
    NO_COLOR: "1",
    SERVICEGROUP_CLUSTER: ""
  })
  const told = ["run", join(import.meta.dirname, "ownership.test.ts")]

  test("a run passes, and says aloud how many cluster tests were skipped, and how to get them", () => {
    const { code, stdout } = run(VITEST, told, environment())
    expect(stdout).toMatch(/^\d+ cluster tests were skipped: KUBEBUILDER_ASSETS is .* missing: etcd, .*$/m)
    expect(stdout).toMatch(/^0 passed, 0 failed, [1-9]\d* skipped$/m)
    expect(code).toBe(0)
  })

  test("a run fails where SERVICEGROUP_CLUSTER is required", () => {
    const { code, stdout, stderr } = run(VITEST, told, { ...environment(), SERVICEGROUP_CLUSTER: "required" })
    expect(stdout + stderr).toContain("SERVICEGROUP_CLUSTER=required, but KUBEBUILDER_ASSETS is")
    expect(stdout).toMatch(/^0 passed, [1-9]\d* failed, 0 skipped$/m)
    expect(code).toBe(1)
  })
})

interface Up {
  readonly child: ChildProcess
  readonly folder: string
}

const saidBy = (starting: Promise<unknown>): Promise<string> =>
  starting.then(
    () => "it came up",
    (error: unknown) => String(error)
  )

const logIn = (message: string): string => /\(log: (.*)\)/.exec(message)?.[1] ?? ""

/** `cluster:up` in a process of its own, ready. */
const started = async (): Promise<Up> => {
  const child = spawn(process.execPath, [UP, "--api-only"], { stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  child.stdout.on("data", (data: Buffer) => (said += data.toString()))
  child.stderr.on("data", (data: Buffer) => (said += data.toString()))
  return until({ what: "the control plane of cluster:up", seconds: 60 }, () => {
    const folder = /logs in (\S+)/.exec(said)?.[1]
    if (child.exitCode !== null) throw new Error(said)
    return folder === undefined ? undefined : { child, folder }
  })
}

/** The processes that a process has started. */
const groupsOf = (child: ChildProcess): readonly number[] =>
  execFileSync("ps", ["-o", "pid=", "--ppid", String(child.pid)], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(Number)

const run = (
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>
): { readonly code: number; readonly stdout: string; readonly stderr: string } => {
  try {
    const stdout = execFileSync(process.execPath, [script, ...args], {
      env: { ...process.env, ...env },
      encoding: "utf8",
      stdio: "pipe"
    })
    return { code: 0, stdout, stderr: "" }
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string }
    return { code: status, stdout, stderr }
  }
}

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "servicegroup-harness-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const assets = (programs: readonly Program[], content: string): string => {
  const folder = temporary()
  for (const program of programs) writeFileSync(join(folder, program), content, { mode: 0o755 })
  return folder
}
