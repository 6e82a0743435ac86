/** Which file may import which: read from the import lines of the source, file by file. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../src/", import.meta.url))

interface Import {
  /** the importing file, such as `core/plan.ts` */
  readonly from: string
  /** a file of the source, or what a package or Node gives, as it is written */
  readonly to: string
  readonly typeOnly: boolean
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts"))
  .sort()
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]))

describe("imports", () => {
  it("are all found", () => {
    for (const [file, source] of sources) {
      const lines = source.match(/^(?:import|export)\b[^=;]*?\bfrom\s+"[^"]+"|^import\s+"[^"]+"/gm) ?? []
      const ends = source.split("\n").filter((line) => /^[^*/`']*\bfrom "[^"]+"( with \{.*\})?$/.test(line))
      expect([file, lines.length]).toEqual([file, Math.max(ends.length, lines.length)])
    }
    expect(imports.length).toBeGreaterThan(200)
  })

  it("are written with the file's ending, and lead to a file", () => {
    const inside = imports.filter(({ to }) => !isOutside(to))
    const lost = inside.filter(({ to }) => !sources.has(to) && !/\.(json|yaml)$/.test(to))
    expect(lost).toEqual([])
  })

  it("lead from the core to the core alone, types included", () => {
    expect(those(/^core\//).filter(({ to }) => !to.startsWith("core/"))).toEqual([])
  })

  it("lead from the embedded cluster to types of core/kube.ts, to itself, to Node and to packages", () => {
    const allowed = ({ to, typeOnly }: Import) =>
      to.startsWith("embedded/") || isOutside(to) || (to === "core/kube.ts" && typeOnly)
    expect(those(/^embedded\//).filter((each) => !allowed(each))).toEqual([])
  })

  it("lead from the shell to itself, to the core, to Node and to packages", () => {
    expect(those(/^shell\//).filter(({ to }) => !isOutside(to) && !/^(shell|core)\//.test(to))).toEqual([])
  })

  it("lead from a command to commands, to the shell, to the core and to the embedded cluster", () => {
    const wrong = those(/^commands\//).filter(
      ({ to }) => !isOutside(to) && !/^((commands|shell|core|embedded)\/|\.\.\/)/.test(to)
    )
    expect(wrong).toEqual([])
  })

  it("lead from a program to commands and packages", () => {
    expect(those(/^[^/]+$/).filter(({ to }) => !isOutside(to) && !to.startsWith("commands/"))).toEqual([])
  })

  it("never lead back to the file that they come from", () => {
    expect(cycle()).toEqual([])
  })

  it("take Effect module by module", () => {
    expect(imports.filter(({ to }) => /^(effect|@effect\/[\w-]+)$/.test(to))).toEqual([])
  })
})

describe("files", () => {
  it("stand in the four folders, programs aside", () => {
    const folders = new Set(files.flatMap((file) => /^(.+?)\//.exec(file)?.[1] ?? []))
    expect([...folders].sort()).toEqual(["commands", "core", "embedded", "shell"])
  })

  it("have names that say something", () => {
    expect(
      files.filter((file) => /(^|\/)(utils?|common|helpers?|types|constants|lib|misc)(\.ts|\/)/.test(file))
    ).toEqual([])
  })

  it("P13 of the core know no clock, no randomness, no input or output", () => {
    const impure =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b|\bprocess\.|\b(setTimeout|setInterval|queueMicrotask|fetch|require|eval)\(|\bconsole\.|\bglobalThis\b|\bBuffer\b|\bcrypto\b|\bimport\.meta\b/
    const found = [...sources]
      .filter(([file]) => file.startsWith("core/"))
      .flatMap(([file, source]) => {
        const match = impure.exec(withoutComments(source))
        return match === null ? [] : [`${file}: ${match[0]}`]
      })
    expect(found).toEqual([])
  })
})

const withoutComments = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "")

const isOutside = (to: string): boolean => !/\.(ts|json|yaml)$/.test(to)

const resolved = (from: string, to: string): string => (to.startsWith(".") ? join(dirname(from), to) : to)

/** Every import and every export from another module of a file. */
const importsOf = (from: string, source: string): readonly Import[] => {
  const text = withoutComments(source)
  const still = [...text.matchAll(/^(?:import|export)\s+([\s\w{},*$]*?)\s*from\s+"([^"]+)"/gm)].map(
    ([, clause = "", to = ""]) => ({ from, to: resolved(from, to), typeOnly: isTypeOnly(clause) })
  )
  const bare = [...text.matchAll(/^import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm)].map(
    ([, plain, dynamic]) => ({
      from,
      to: resolved(from, plain ?? dynamic ?? ""),
      typeOnly: false
    })
  )
  return [...still, ...bare]
}

/** `type { A }`, or braces in which every name has `type` before it. */
const isTypeOnly = (clause: string): boolean =>
  /^type\b/.test(clause) ||
  (/^\{[^}]*\}$/.test(clause) &&
    clause
      .slice(1, -1)
      .split(",")
      .every((name) => /^\s*(type\s.*)?$/s.test(name)))

const imports = [...sources].flatMap(([file, source]) => importsOf(file, source))

const those = (from: RegExp): readonly Import[] => imports.filter((each) => from.test(each.from))

/** The files of one circle, or none. */
function cycle(): readonly string[] {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): readonly string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const { to } of imports.filter(({ from }) => from === file)) {
      const found = visit(to, [...path, file])
      if (found.length > 0) return found
    }
    done.add(file)
    return []
  }
  for (const file of files) {
    const found = visit(file, [])
    if (found.length > 0) return found
  }
  return []
}
