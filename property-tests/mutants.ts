/**
 * Planted bugs: each is one small change of the product, made in a copy of it, that a test must notice.
 *
 * `npm run mutants` prints what caught which, and fails where one survives, or where the text that it changes is no longer
 * there. Tests run a share of their usual runs, with up to three seeds.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { controller } from "./planted/controller.ts"
import { explainNames } from "./planted/explain-names.ts"
import type { Mutant } from "./planted/mutant.ts"
import { siteLoop } from "./planted/site-loop.ts"
import { names } from "./planted/names.ts"
import { shortSlices } from "./planted/short-slices.ts"
import { sites } from "./planted/sites.ts"
import { wrapper } from "./planted/wrapper.ts"

const MUTANTS = [...wrapper, ...controller, ...sites, ...siteLoop, ...shortSlices, ...names, ...explainNames]

const SEEDS = [1, 2, 3]
const SHARE = "0.01"

const home = join(dirname(fileURLToPath(import.meta.url)), "..")
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

/** A copy of all that tests need, where nobody minds a bug. */
const copy = (): string => {
  const place = mkdtempSync(join(tmpdir(), "servicegroup-mutants-"))
  for (const each of [
    "src",
    "property-tests",
    "cluster-tests",
    "manifests",
    "package.json",
    "tsconfig.json",
    "vitest.config.ts"
  ])
    cpSync(join(home, each), join(place, each), { recursive: true })
  symlinkSync(join(home, "node_modules"), join(place, "node_modules"))
  return place
}

type Verdict = "passes" | "fails" | "breaks"

/** Runs one test file in the copy; `breaks` where it could not even be run. */
const run = (place: string, file: string, seed: number): Verdict => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [vitest, "run", "--bail=1", `property-tests/${file}.test.ts`],
    {
      cwd: place,
      encoding: "utf8",
      timeout: 240_000,
      env: { ...process.env, SERVICEGROUP_RUNS: SHARE, SERVICEGROUP_SEED: String(seed) }
    }
  )
  if (status === 0) return "passes"
  const [, failed] = /\n(\d+) passed, (\d+) failed/.exec(stdout) ?? []
  return failed === undefined || /Transform failed|SyntaxError|Cannot find/.test(stdout) ? "breaks" : "fails"
}

interface Result {
  readonly name: string
  readonly caught: string
  readonly seconds: number
  readonly good: boolean
}

const plant = (place: string, { name, file, from, to, caughtBy }: Mutant): Result => {
  const began = performance.now()
  const told = (caught: string, good: boolean): Result => ({
    name,
    caught,
    good,
    seconds: (performance.now() - began) / 1000
  })
  const path = join(place, file)
  const source = readFileSync(path, "utf8")
  if (source.split(from).length !== 2) return told("NOT PLANTED: its text is not there, or not once", false)
  writeFileSync(
    path,
    source.replace(from, () => to)
  )
  try {
    for (const seed of SEEDS)
      for (const test of caughtBy) {
        const verdict = run(place, test, seed)
        if (verdict === "breaks") return told(`BREAKS ${test}`, false)
        if (verdict === "fails") return told(test, true)
      }
    return told("SURVIVES", false)
  } finally {
    writeFileSync(path, source)
  }
}

/** All of them, or those whose names contain one of the words. */
const main = (words: readonly string[]): number => {
  const mutants = MUTANTS.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word))
  )
  const place = copy()
  try {
    for (const test of new Set(mutants.flatMap(({ caughtBy }) => caughtBy)))
      if (run(place, test, 1) !== "passes") {
        console.log(`${test} does not pass without a planted bug`)
        return 1
      }
    let good = 0
    for (const mutant of mutants) {
      const result = plant(place, mutant)
      if (result.good) good++
      console.log(
        `${result.name.padEnd(62)} ${result.caught.padEnd(10)} ${result.seconds.toFixed(0).padStart(4)} s`
      )
    }
    console.log(`\n${good} of ${mutants.length} planted bugs caught`)
    return good === mutants.length ? 0 : 1
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

process.exitCode = main(process.argv.slice(2))
