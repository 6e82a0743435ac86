/** `npm run cluster:tools` with a Go that only copies, and that stops where the test wants. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { until } from "./deadline.ts"

const ALL = "coredns etcd kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubectl".split(" ")

describe("cluster:tools", { timeout: 30_000 }, () => {
  test("builds each module once, also when two runs begin at once", async () => {
    const place = workshop()
    place.open()
    const runs = [place.run(), place.run()]
    for (const run of runs) expect(await run.ends()).toBe(0)
    expect(place.builds()).toEqual(["etcd", "kubernetes", "coredns"])
    expect(place.programs()).toEqual(ALL)
    expect(runs.map((run) => run.said()).join("")).toMatch(/^ 0:\d\d 1\/3 etcd: built, \d+ MB$/m)
  })

  test("does nothing where all is there", async () => {
    const place = workshop()
    place.open()
    expect(await place.run().ends()).toBe(0)
    const second = place.run()
    expect(await second.ends()).toBe(0)
    expect(second.said()).toMatch(/^ 0:0\d all programs are in .*\n$/)
    expect(place.builds().length).toBe(3)
  })

  test("leaves nothing half made when it is killed, and the next run goes on", async () => {
    const place = workshop()
    const killed = place.run()
    await until({ what: "the first build", seconds: 20 }, () => place.builds().length === 1)
    killed.child.kill("SIGKILL")
    await killed.ends()
    expect(place.programs()).toEqual([])
    place.open()
    place.age()
    expect(await place.run().ends()).toBe(0)
    expect(place.programs()).toEqual(ALL)
    expect(readdirSync(place.folder()).filter((name) => name.startsWith("building"))).toEqual([])
  })

  test("says in one line which module was not built, and where the rest of the words are", async () => {
    const place = workshop()
    place.open()
    writeFileSync(join(place.root, "broken"), "")
    const run = place.run()
    expect(await run.ends()).toBe(1)
    expect(run.said().trimEnd().split("\n").at(-1)).toMatch(
      /^etcd was not built: no such module \(all of it: .*etcd\.log\)$/
    )
  })
})

interface Run {
  readonly child: ChildProcess
  readonly said: () => string
  readonly ends: () => Promise<number>
}

interface Workshop {
  readonly root: string
  /** lets builds come to their end */
  readonly open: () => void
  readonly run: () => Run
  /** the modules that were built, in order */
  readonly builds: () => readonly string[]
  readonly folder: () => string
  readonly programs: () => readonly string[]
  /** makes the lock of a killed run as old as one that is taken over */
  readonly age: () => void
}

/** A cache folder of its own and a Go in front of it that writes half of its output, waits for leave, and writes the rest. */
const workshop = (): Workshop => {
  const root = mkdtempSync(join(tmpdir(), "servicegroup-tools-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, "bin"))
  writeFileSync(
    join(root, "bin", "go"),
    `#!/bin/sh
if [ "$1" = version ]; then echo "go version go1.26.0 linux/amd64"; exit; fi
if [ -e ${root}/broken ]; then echo "no such module"; exit 1; fi
basename "$PWD" >>${root}/builds
while [ "$1" != -o ]; do shift; done
echo half >"$2"
while [ ! -e ${root}/open ]; do sleep 0.05; done
echo "#!/bin/sh" >"$2"
chmod +x "$2"
`,
    { mode: 0o755 }
  )
  writeFileSync(join(root, "builds"), "")
  const hashes = join(root, "servicegroup", "tools")
  const folder = (): string => join(hashes, readdirSync(hashes)[0] ?? "")
  return {
    root,
    open: () => writeFileSync(join(root, "open"), ""),
    run: () => begun(root),
    builds: () =>
      readFileSync(join(root, "builds"), "utf8")
        .split("\n")
        .filter((line) => line !== ""),
    folder,
    programs: () =>
      readdirSync(folder())
        .filter((name) => ALL.includes(name))
        .toSorted(),
    age: () => utimesSync(join(folder(), "building.lock"), 0, 0)
  }
}

const begun = (root: string): Run => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "tools.ts")], {
    env: { PATH: `${join(root, "bin")}:/usr/bin:/bin`, XDG_CACHE_HOME: root },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let said = ""
  child.stdout.on("data", (data: Buffer) => (said += data.toString()))
  child.stderr.on("data", (data: Buffer) => (said += data.toString()))
  const end = once(child, "close")
  return {
    child,
    said: () => said,
    ends: async () => Number((await end)[0])
  }
}
