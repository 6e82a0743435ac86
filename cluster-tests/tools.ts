/**
 * `npm run cluster:tools`: builds the programs of a real control plane, once.
 *
 * Guarantees: a program is there whole or not at all (it is built under another name and renamed), so that a run may be killed anywhere; of two
 * runs at once the second waits for the first.
 */
import { spawnSync } from "node:child_process"
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { once } from "node:events"
import { join } from "node:path"
import { binaries, buildFlags, cacheFolder, MODULES, type Module, source } from "./binaries.ts"
import { guarded, lastWords } from "./processes.ts"

const HELP = `npm run cluster:tools

Builds etcd, Kubernetes and CoreDNS for the cluster tests into a cache folder, where they aren't there yet: about 11 minutes on two
cores the first time, seconds afterwards. Needs Go and the Go module proxy. Where KUBEBUILDER_ASSETS names a folder with the
programs, those are used and nothing is built.

  npm run cluster:tools                                 build what is missing
  KUBEBUILDER_ASSETS=/opt/kube npm run cluster:tools    say whether all of them are there
  XDG_CACHE_HOME=/var/cache npm run cluster:tools       another place for the cache folder`

const ALL = MODULES.flatMap((module) => module.programs)
/** How long a run that builds may be silent, in milliseconds, before another takes over. */
const SILENCE = 30_000

const start = performance.now()
const say = (text: string): void => {
  const seconds = Math.round((performance.now() - start) / 1000)
  process.stdout.write(
    `${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, "0")} ${text}\n`
  )
}
const fail = (text: string): never => {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

const main = async (): Promise<void> => {
  if (process.argv.length > 2) {
    const asked = process.argv.slice(2).some((word) => word === "--help" || word === "-h")
    if (!asked) fail(`unknown: ${process.argv.slice(2).join(" ")} (see npm run cluster:tools -- --help)`)
    process.stdout.write(`${HELP}\n`)
    return
  }
  const now = binaries(ALL)
  if (now._tag === "Found") return say(`all programs are in ${now.folder}`)
  if ((process.env["KUBEBUILDER_ASSETS"] ?? "") !== "") fail(now.reason)
  needGo()
  const folder = cacheFolder()
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    fail(`the cache folder can't be made: ${(error as Error).message} (XDG_CACHE_HOME names another place)`)
  }
  const release = await turn(folder)
  try {
    sweep(folder)
    for (const [index, module] of MODULES.entries())
      await build(folder, module, `${index + 1}/${MODULES.length}`)
  } finally {
    release()
  }
  const after = binaries(ALL)
  if (after._tag === "Missing") fail(after.reason)
  say(`all programs are in ${folder}`)
}

/** Ends the run with one line where Go is missing, or too old to fetch the Go that the modules name. */
const needGo = (): void => {
  const how = "get it with `apt-get install golang`, or from go.dev/dl"
  const asked = spawnSync("go", ["version"], { encoding: "utf8" })
  if (asked.error !== undefined) fail(`Go is missing, which builds the programs of the cluster tests: ${how}`)
  const minor = Number(/go1\.(\d+)/.exec(asked.stdout)?.[1] ?? Number.NaN)
  if (minor < 21) fail(`Go 1.21 or newer is needed, this is ${asked.stdout.trim()}: ${how}`)
}

const build = async (folder: string, module: Module, place: string): Promise<void> => {
  if (module.programs.every((program) => existsSync(join(folder, program))))
    return say(`${place} ${module.name}: is there`)
  const temporary = join(folder, `building-${process.pid}-${module.name}`)
  const log = join(folder, `${module.name}.log`)
  const out = openSync(log, "w")
  say(`${place} ${module.name}: go build ...`)
  const beat = setInterval(() => say(`${place} ${module.name}: still building`), 30_000)
  const go = guarded(["go", "build", ...buildFlags(module), "-o", temporary, "."], {
    cwd: source(module),
    env: { ...process.env, CGO_ENABLED: "0" },
    out
  })
  const [code] = (await once(go, "exit")) as [number | null]
  clearInterval(beat)
  closeSync(out)
  if (code !== 0) {
    rmSync(temporary, { force: true })
    throw new Error(`${module.name} was not built: ${lastWords(log)} (all of it: ${log})`)
  }
  install(folder, module, temporary)
  say(
    `${place} ${module.name}: built, ${Math.round(statSync(join(folder, module.programs[0] ?? "")).size / 1e6)} MB`
  )
}

/** One program takes the file itself, several are links to it; each appears by a rename. */
const install = (folder: string, module: Module, temporary: string): void => {
  const [only, ...more] = module.programs
  if (only !== undefined && more.length === 0) return renameSync(temporary, join(folder, only))
  renameSync(temporary, join(folder, module.name))
  for (const program of module.programs) {
    const link = join(folder, `building-${process.pid}-${program}`)
    rmSync(link, { force: true })
    symlinkSync(module.name, link)
    renameSync(link, join(folder, program))
  }
}

/**
 * Waits until no other run builds; gives what ends this run's turn. Were two to build after all, they would only do the work twice: the
 * renames keep what is there whole.
 */
const turn = async (folder: string): Promise<() => void> => {
  const lock = join(folder, "building.lock")
  const mine = `${lock}-${process.pid}`
  writeFileSync(mine, String(process.pid))
  let told = false
  while (!taken(mine, lock)) {
    if (!told) say("another run is building: waiting for it")
    told = true
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  rmSync(mine)
  const beat = setInterval(() => utimesSync(lock, new Date(), new Date()), 5000)
  return () => {
    clearInterval(beat)
    rmSync(lock, { force: true })
  }
}

const taken = (mine: string, lock: string): boolean => {
  try {
    linkSync(mine, lock)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  if (age > SILENCE) rmSync(lock, { force: true })
  return false
}

/** Removes what runs left behind that were killed. */
const sweep = (folder: string): void => {
  for (const name of readdirSync(folder))
    if (name.startsWith("building-")) rmSync(join(folder, name), { force: true })
}

await main().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)))
