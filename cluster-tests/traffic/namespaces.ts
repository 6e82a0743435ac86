/**
 * Network namespaces that end with the one who made them: each is held by a process of its own, and has no name that could be left behind.
 *
 * Guarantees: when the maker is gone, in whatever way, so are the namespaces and every link in them. Assumes: `obstacle()` found none.
 */
import { execFile } from "node:child_process"
import { readlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { until } from "../deadline.ts"
import { daemon } from "../processes.ts"

export interface Namespace {
  /** of the process that holds it */
  readonly pid: number
  /** the same command, inside */
  readonly inside: (command: readonly string[]) => readonly string[]
  /** Runs a command inside to its end, and gives what it wrote. */
  readonly run: (command: readonly string[], input?: string) => Promise<string>
  /** Lets go of it. It is gone when the last process inside has ended. */
  readonly end: () => Promise<void>
}

export const namespace = async (name: string): Promise<Namespace> => {
  const holder = daemon(name, ["unshare", "--net", "sleep", "infinity"], {
    folder: tmpdir(),
    log: "/dev/null",
    env: { PATH: PATH }
  })
  const link = `/proc/${holder.pid}/ns/net`
  await until({ what: `the network namespace ${name}`, seconds: 10 }, () => {
    if (holder.ending() !== undefined) throw new Error(`what holds it ${holder.ending()}`)
    return readlinkSync(link) !== readlinkSync("/proc/self/ns/net")
  })
  const inside = (command: readonly string[]): readonly string[] => ["nsenter", `--net=${link}`, ...command]
  return {
    pid: holder.pid,
    inside,
    run: (command, input) => outcome(inside(command), input),
    end: holder.kill
  }
}

/** The usual one, and where administrators' programs are. */
export const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`

/** What a command wrote; fails with its own words. */
export const outcome = (command: readonly string[], input = ""): Promise<string> =>
  new Promise((resolve, reject) => {
    const [program = "", ...args] = command
    const options = { env: { PATH }, maxBuffer: 64 * 1024 * 1024 }
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${command.join(" ")}: ${stderr.trim() === "" ? error.message : stderr.trim()}`))
    })
    // it may end before it has read all of its input
    child.stdin?.on("error", () => undefined)
    child.stdin?.end(input)
  })

/** Carries out commands of `ip`, one a line. */
export const links = (where: Namespace | undefined, lines: readonly string[]): Promise<string> => {
  const command = ["ip", "-batch", "-"]
  return outcome(where === undefined ? command : where.inside(command), `${lines.join("\n")}\n`)
}
