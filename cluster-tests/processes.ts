/**
 * Processes that never outlive the one that started them.
 *
 * Guarantees: each is the head of a process group of its own, which is killed as a whole by `kill`, and also when the starter is gone in whatever
 * way: a small shell in the group reads a pipe of the starter's, and the pipe's end is the group's end.
 * Assumes: a POSIX shell.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import { createServer } from "node:net"

export interface Daemon {
  readonly name: string
  /** the file that has everything it wrote */
  readonly log: string
  readonly pid: number
  /** in words, or undefined while it runs */
  readonly ending: () => string | undefined
  readonly signal: (signal: NodeJS.Signals) => void
  /** Kills its group; is there when the process is gone. */
  readonly kill: () => Promise<void>
}

/** Reads file descriptor 3 to its end, then ends the group that it is in. */
const GUARD = `(cat <&3 >/dev/null; kill -KILL 0) & exec "$@" 3<&-`

/** Starts a program in a group that ends with this process, or with the program. */
export const guarded = (
  command: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly out: number }
): ChildProcess => {
  const child = spawn("/bin/sh", ["-c", GUARD, "sh", ...command], {
    cwd: options.cwd,
    env: options.env,
    stdio: ["ignore", options.out, options.out, "pipe"],
    detached: true
  })
  // else the guard waits for this process, and this process for the guard's pipe
  child.once("exit", () => child.stdio[3]?.destroy())
  return child
}

export const daemon = (
  name: string,
  command: readonly string[],
  place: { readonly folder: string; readonly log: string; readonly env: NodeJS.ProcessEnv }
): Daemon => {
  const out = openSync(place.log, "a")
  const child = guarded(command, { cwd: place.folder, env: place.env, out })
  closeSync(out)
  let ended: string | undefined
  const end = new Promise<void>((resolve) => {
    const told = (how: string): void => {
      ended ??= how
      resolve()
    }
    child.once("error", (error) => told(`could not be started: ${error.message}`))
    child.once("exit", (code, signal) => told(`ended with ${signal ?? `code ${code}`}`))
  })
  const pid = child.pid ?? 0
  return {
    name,
    log: place.log,
    pid,
    ending: () => ended,
    signal: (signal) => {
      if (ended === undefined) process.kill(pid, signal)
    },
    kill: async () => {
      killGroup(pid)
      await end
    }
  }
}

/** As many loopback ports as asked for that nobody listens on at the moment. */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once("error", reject)
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resolve(typeof address === "object" && address !== null ? address.port : 0)
          })
        })
    )
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** The line of a log that says best why a program ended. */
export const lastWords = (log: string): string => {
  const lines = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
  const telling = lines.findLast((line) =>
    /^E\d{4} |^F\d{4} |"level":"(fatal|error|panic)"|^Error|^error|panic:/.test(line)
  )
  return (telling ?? lines.at(-1) ?? "it wrote nothing").slice(0, 400)
}

const killGroup = (pid: number): void => {
  if (pid === 0) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // all of it has ended
  }
}
