/** The hosts file on a real folder: what is in it after every step that may be the last, and on disks that say no. */
import { execFileSync } from "node:child_process"
import * as machine from "node:fs/promises"
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { writeHosts } from "../src/shell/hosts-file.ts"
import { mountable } from "./mountable.ts"

const FOREIGN = "10.9.9.9 registry.local reg\n# mine\n"
const OLD = [{ name: "web-0.web-svc.default.svc.cluster.local", addresses: ["10.0.0.1"] }]
const NEW = [...OLD, { name: "web-1.web-svc.default.svc.cluster.local", addresses: ["10.0.0.2", "fd00::2"] }]

const BLOCK = /# BEGIN servicegroup:[^\n]*\n((?:[^#\n][^\n]*\n)*)# END servicegroup\n/

describe("writeHosts", () => {
  it("makes the file and its folder, for everyone to read", async () => {
    const file = join(folder, "servicegroup", "dns", "hosts")
    const mask = process.umask(0o077)
    try {
      expect(await writeHosts(file, OLD)).toBe("Renamed")
    } finally {
      process.umask(mask)
    }
    expect(linesOf(read(file))).toEqual(["10.0.0.1 web-0.web-svc.default.svc.cluster.local"])
    expect(statSync(file).mode & 0o777).toBe(0o644)
    expect(readdirSync(dirname(file))).toEqual(["hosts"])
  })

  it("says that a folder can't be made", async () => {
    writeFileSync(path, "")
    await expect(writeHosts(join(path, "dns", "hosts"), OLD)).rejects.toThrow("ENOTDIR")
    if (process.platform !== "linux") return
    await expect(writeHosts("/proc/nowhere/dns/hosts", OLD)).rejects.toThrow("ENOENT")
  })

  it("R145 keeps the lines of others through 100 changes, whatever bytes they are", async () => {
    const foreign = Buffer.concat([Buffer.from(FOREIGN), Buffer.from([0x23, 0xff, 0xc3, 0x28, 0x0a])])
    writeFileSync(path, foreign)
    for (let i = 0; i < 100; i++) {
      await writeHosts(path, many(i % 7, i))
      appendFileSync(path, `10.8.8.${i} late-${i}.local\n`)
    }
    const bytes = readFileSync(path)
    expect(bytes.subarray(0, foreign.length)).toEqual(foreign)
    const late = Array.from({ length: 100 }, (_, i) => `10.8.8.${i} late-${i}.local\n`).join("")
    expect(bytes.toString("latin1").replace(BLOCK, "")).toBe(foreign.toString("latin1") + late)
    expect(linesOf(bytes.toString("latin1"))).toEqual(textsOf(many(99 % 7, 99)))
  })

  it("R146 does not touch a file in which nothing changes", async () => {
    await writeHosts(path, NEW)
    const before = statSync(path, { bigint: true })
    expect(await writeHosts(path, NEW)).toBe("Same")
    const { mtimeNs, ctimeNs, ino } = statSync(path, { bigint: true })
    expect([mtimeNs, ctimeNs, ino]).toEqual([before.mtimeNs, before.ctimeNs, before.ino])
  })

  it("R146 never shows a part to a reader, through 1000 changes", async () => {
    writeFileSync(path, FOREIGN)
    await writeHosts(path, many(1, 0))
    const reader = reading(path)
    for (let i = 0; i < 1000; i++) await writeHosts(path, many(i % 50, i))
    const { reads, wrong } = await reader.stop()
    expect(wrong).toEqual([])
    expect(reads).toBeGreaterThan(100)
  })

  it("R156 leaves the file with an empty block when the last name goes", async () => {
    writeFileSync(path, FOREIGN)
    await writeHosts(path, NEW)
    await writeHosts(path, [])
    expect(linesOf(read(path))).toEqual([])
    expect(read(path).startsWith(FOREIGN)).toBe(true)
  })

  it("keeps 5 MB of lines of others", async () => {
    const line = "10.7.7.7 some-name-of-someone-else.local\n"
    const foreign = line.repeat(Math.ceil(5_000_000 / line.length))
    writeFileSync(path, foreign)
    await writeHosts(path, OLD)
    await writeHosts(path, NEW)
    expect(read(path).replace(BLOCK, "") === foreign).toBe(true)
    expect(linesOf(read(path))).toHaveLength(3)
  })

  it("keeps the mode and the owner that the file has", async () => {
    writeFileSync(path, FOREIGN)
    chmodSync(path, 0o640)
    await writeHosts(path, OLD)
    expect(statSync(path).mode & 0o777).toBe(0o640)
  })

  it.runIf(process.getuid?.() === 0)("keeps a foreign owner", async () => {
    writeFileSync(path, FOREIGN)
    await machine.chown(path, 4711, 4712)
    await writeHosts(path, OLD)
    expect([statSync(path).uid, statSync(path).gid]).toEqual([4711, 4712])
  })

  it("takes in what someone else writes meanwhile", async () => {
    writeFileSync(path, FOREIGN)
    // the last moment: what is written beside is complete
    let edits = 3
    const edited = stepping(({ name }) => {
      if (name === "sync" && edits-- > 0) appendFileSync(path, `10.6.6.${edits} meanwhile\n`)
    })
    expect(await writeHosts(path, NEW, edited)).toBe("Renamed")
    expect(read(path).replace(BLOCK, "")).toBe(
      `${FOREIGN}10.6.6.2 meanwhile\n10.6.6.1 meanwhile\n10.6.6.0 meanwhile\n`
    )
    expect(linesOf(read(path))).toHaveLength(3)
  })

  it("gives up where someone else never stops writing, and leaves nothing behind", async () => {
    let edit = 0
    const edited = stepping(({ name }) => {
      if (name === "sync") writeFileSync(path, `10.6.6.6 edit-${edit++}\n`)
    })
    await expect(writeHosts(path, NEW, edited)).rejects.toThrow(/others have changed it 10 times/)
    expect(read(path)).toBe("10.6.6.6 edit-9\n")
    expect(readdirSync(folder)).toEqual(["hosts"])
  })
})

describe("writeHosts, stopped or failing at every step", () => {
  it.each([
    ["a file", true],
    ["no file", false]
  ])("leaves the old file or the new one, never half, where there was %s", async (_, there) => {
    const begin = async (): Promise<string | undefined> => {
      rmSync(path, { force: true })
      if (!there) return undefined
      writeFileSync(path, FOREIGN)
      await writeHosts(path, OLD)
      return read(path)
    }
    await begin()
    const steps: string[] = []
    await writeHosts(
      path,
      NEW,
      stepping(({ name }) => void steps.push(name))
    )
    const after = read(path)
    expect(steps).toEqual(expect.arrayContaining(["open", "writeFile", "sync", "rename"]))

    for (let at = 0; at < steps.length; at++)
      for (const fate of ["fails", "ends before", "ends after"] as const) {
        const before = await begin()
        const { files, ended, left } = failing(at, fate)
        const outcome = writeHosts(path, NEW, files).catch(() => undefined)
        await (fate === "fails" ? outcome.then(left) : ended)
        const found = existsSync(path) ? read(path) : undefined
        expect([steps[at], fate, [before, after].includes(found)]).toEqual([steps[at], fate, true])
        // The next one finds what this one left, and brings it in order.
        expect(await writeHosts(path, NEW)).toBe(found === after ? "Same" : "Renamed")
        expect(read(path)).toBe(after)
        if (found !== after) expect(readdirSync(folder)).toEqual(["hosts"])
      }
  })

  it("keeps the old file whole where the disk takes a part of the new one", async () => {
    writeFileSync(path, FOREIGN)
    await writeHosts(path, OLD)
    const before = read(path)
    const full = stepping(({ name, handle, given }) => {
      if (name !== "writeFile" || handle === undefined) return undefined
      const half = String(given[0]).slice(0, 100)
      return handle.writeFile(half, "latin1").then(() => Promise.reject(fault("ENOSPC")))
    })
    await expect(writeHosts(path, NEW, full)).rejects.toThrow("ENOSPC")
    expect(read(path)).toBe(before)
    expect(readdirSync(folder)).toEqual(["hosts"])
  })
})

describe("writeHosts, where the file can't be replaced", () => {
  it.each(["EBUSY", "EXDEV"])("writes in place where a rename gives %s", async (code) => {
    writeFileSync(path, FOREIGN)
    const { ino } = statSync(path)
    const mount = stepping(({ name }) => (name === "rename" ? Promise.reject(fault(code)) : undefined))
    expect(await writeHosts(path, NEW, mount)).toBe("InPlace")
    expect(read(path).startsWith(FOREIGN)).toBe(true)
    expect(linesOf(read(path))).toHaveLength(3)
    expect(await writeHosts(path, [], mount)).toBe("InPlace")
    expect(read(path).replace(BLOCK, "")).toBe(FOREIGN)
    expect(statSync(path).ino).toBe(ino)
    expect(readdirSync(folder)).toEqual(["hosts"])
  })

  it.each(["EROFS", "EACCES", "EPERM"])("writes in place where the folder gives %s", async (code) => {
    writeFileSync(path, FOREIGN)
    const closed = stepping(({ name, given }) =>
      name === "open" && given[1] === "w" ? Promise.reject(fault(code)) : undefined
    )
    expect(await writeHosts(path, NEW, closed)).toBe("InPlace")
    expect(linesOf(read(path))).toHaveLength(3)
    rmSync(path)
    await expect(writeHosts(path, NEW, closed)).rejects.toThrow(code)
  })

  it("puts back what was there where a write in place does not fit", async () => {
    writeFileSync(path, FOREIGN)
    await writeHosts(path, OLD)
    appendFileSync(path, "10.5.5.5 last\n")
    const before = read(path)
    let full = true
    const mount = stepping(({ name, handle, given }) => {
      if (name === "rename") return Promise.reject(fault("EBUSY"))
      if (name !== "write" || handle === undefined || !full) return undefined
      full = false
      const [bytes] = given as readonly [Buffer]
      return handle.write(bytes, 0, bytes.length - 20, 0).then(() => Promise.reject(fault("ENOSPC")))
    })
    await expect(writeHosts(path, NEW, mount)).rejects.toThrow("ENOSPC")
    expect(read(path)).toBe(before)
  })

  it("says of a directory what it is and what to do", async () => {
    mkdirSync(path)
    await expect(writeHosts(path, NEW)).rejects.toThrow(/it is a directory.*remove it.*--hosts-file/)
    rmSync(path, { recursive: true })
    expect(await writeHosts(path, NEW)).toBe("Renamed")
  })

  it("does not wait for a pipe", async () => {
    execFileSync("mkfifo", [path])
    await expect(writeHosts(path, NEW)).rejects.toThrow(/no regular file.*--hosts-file/)
  })

  it("follows a link, and leaves it one", async () => {
    const target = join(folder, "elsewhere", "real")
    mkdirSync(join(folder, "elsewhere"))
    symlinkSync(join("elsewhere", "real"), path)
    // to nothing yet
    expect(await writeHosts(path, OLD)).toBe("Renamed")
    expect(await writeHosts(path, NEW)).toBe("Renamed")
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(realpathSync(path)).toBe(realpathSync(target))
    expect(linesOf(read(target))).toHaveLength(3)
    expect(readdirSync(join(folder, "elsewhere"))).toEqual(["real"])
  })

  it("says that a link leads to itself", async () => {
    symlinkSync("hosts", path)
    await expect(writeHosts(path, NEW)).rejects.toThrow("ELOOP")
  })
})

describe.runIf(mountable)("writeHosts, on a mount", () => {
  it("writes in place a file that is a mount of its own", async () => {
    const source = join(folder, "source")
    writeFileSync(source, FOREIGN)
    writeFileSync(path, "")
    await mounted(["--bind", source, path], async () => {
      expect(await writeHosts(path, NEW)).toBe("InPlace")
      expect(await writeHosts(path, NEW)).toBe("Same")
      expect(read(source)).toBe(read(path))
    })
    expect(linesOf(read(source))).toHaveLength(3)
  })

  it("R144 fails on a read-only folder, and writes once it is writable", async () => {
    await mounted(["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], async () => {
      writeFileSync(path, FOREIGN)
      execFileSync("mount", ["-o", "remount,ro", folder])
      await expect(writeHosts(path, NEW)).rejects.toThrow("EROFS")
      execFileSync("mount", ["-o", "remount,rw", folder])
      expect(await writeHosts(path, NEW)).toBe("Renamed")
    })
  })

  it("R144 keeps the old file on a full disk, and writes once there is room", async () => {
    await mounted(["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], async () => {
      await writeHosts(path, OLD)
      const before = read(path)
      const filler = join(folder, "filler")
      fill(filler)
      await expect(writeHosts(path, many(200, 0))).rejects.toThrow("ENOSPC")
      expect(read(path)).toBe(before)
      expect(readdirSync(folder).toSorted()).toEqual(["filler", "hosts"])
      rmSync(filler)
      expect(await writeHosts(path, many(200, 0))).toBe("Renamed")
      expect(linesOf(read(path))).toHaveLength(200)
    })
  })
})

let folder = ""
let path = ""

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hosts-file-"))
  path = join(folder, "hosts")
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const read = (file: string): string => readFileSync(file, "latin1")

/** The lines in the block; it is there once. */
const linesOf = (text: string): readonly string[] => {
  expect(text.match(/^# (?:BEGIN|END) servicegroup/gm)).toHaveLength(2)
  const [, inside = "none"] = BLOCK.exec(text) ?? []
  return inside.split("\n").slice(0, -1)
}

/** So many names with an address each, which no other turn has. */
const many = (count: number, turn: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `web-${i}.turn-${turn}.default.svc.cluster.local`,
    addresses: [`10.1.${turn % 250}.${i}`]
  }))

const textsOf = (all: ReturnType<typeof many>): readonly string[] =>
  all.map(({ name, addresses }) => `${addresses[0] ?? ""} ${name}`).toSorted()

/** Reads the file all the time, as someone who opens it by its name. */
const reading = (file: string) => {
  const wrong: string[] = []
  let reads = 0
  let stopped = false
  const ended = (async () => {
    while (!stopped) {
      const text = await machine.readFile(file, "latin1")
      reads++
      const inside = BLOCK.exec(text)?.[1]?.split("\n").slice(0, -1)
      const turns = new Set(inside?.map((line) => /\.(turn-\d+)\./.exec(line)?.[1]))
      const whole = inside?.every((line) =>
        /^10\.1\.\d+\.\d+ web-\d+\.turn-\d+\.default\.svc\.cluster\.local$/.test(line)
      )
      if (!text.startsWith(FOREIGN) || whole !== true || turns.size > 1) wrong.push(text)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })()
  return {
    stop: async () => {
      stopped = true
      await ended
      return { reads, wrong }
    }
  }
}

type Files = NonNullable<Parameters<typeof writeHosts>[2]>

/** One call of the file system: of its own, or of a file that it opened. */
interface Step {
  readonly name: string
  readonly given: readonly unknown[]
  readonly handle: machine.FileHandle | undefined
  /** does it */
  readonly act: () => unknown
}

/** The machine's files; each step is told before, and what that gives takes its place. */
const stepping = (meet: (step: Step) => unknown): Files => {
  const wrapped = <A extends object>(of: A, handle: machine.FileHandle | undefined): A =>
    new Proxy(of, {
      get: (target, key) => {
        const found: unknown = Reflect.get(target, key)
        if (typeof found !== "function") return found
        return async (...given: readonly unknown[]) => {
          const act = (): unknown => Reflect.apply(found, target, given)
          const instead = meet({ name: String(key), given, handle, act })
          const result: unknown = await (instead ?? act())
          return key === "open" && instead === undefined
            ? wrapped(result as machine.FileHandle, result as machine.FileHandle)
            : result
        }
      }
    })
  return wrapped({ ...machine }, undefined)
}

/** The step of this number fails; or the process ends before it, or after it: what comes later never happens. `ended`: it has. */
const failing = (at: number, fate: "fails" | "ends before" | "ends after") => {
  const never = new Promise<never>(() => undefined)
  const ended = Promise.withResolvers<void>()
  const opened = new Set<machine.FileHandle>()
  // as the system does with what a process leaves open
  const left = async (): Promise<void> => {
    for (const each of opened) await each.close()
  }
  let count = -1
  const files = stepping(({ act, name, handle }) => {
    if (handle !== undefined) opened.add(handle)
    count++
    if (count < at || (fate === "fails" && count > at)) return undefined
    if (fate === "fails") return Promise.reject(fault("EIO"))
    if (count > at) return never
    const over = async (): Promise<never> => {
      await left()
      ended.resolve()
      return never
    }
    if (fate === "ends before") return over()
    const done = Promise.resolve(act()).then((made) => {
      if (name === "open") opened.add(made as machine.FileHandle)
    })
    return done.then(over, over)
  })
  return { files, ended: ended.promise, left }
}

const fault = (code: string): Error => Object.assign(new Error(`${code}: planted`), { code })

/** Takes all the room there is. */
const fill = (file: string): void => {
  for (const size of [4096, 1])
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size))
    } catch (error) {
      expect(String(error)).toContain("ENOSPC")
    }
}

const mounted = async (how: readonly string[], then: () => Promise<void>): Promise<void> => {
  execFileSync("mount", how)
  try {
    await then()
  } finally {
    execFileSync("umount", [how.at(-1) ?? ""])
  }
}
