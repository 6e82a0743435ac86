/** The built programs in a folder of their own, and runs of them as processes. */
import { type ChildProcess, spawn } from "node:child_process"
import { copyFileSync, existsSync, mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A copy of the built programs in a folder of its own. `npm test` builds them first. */
export const built = (): string => {
  if (!existsSync("dist/servicegroup.mjs")) throw new Error("the programs are not built: npm run build")
  const out = mkdtempSync(join(tmpdir(), "servicegroup-bundles-"))
  for (const name of readdirSync("dist"))
    if (name.endsWith(".mjs")) copyFileSync(join("dist", name), join(out, name))
  return out
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** milliseconds since the start, and since something was last sent to it */
  readonly took: number
  readonly tookSince: number
}

/** A run of a program, and what it has written so far. */
export class Run {
  readonly process: ChildProcess
  /** its own folder for temporary files */
  readonly temporary: string
  readonly ended: Promise<Ended>
  out = ""
  err = ""
  #sent = performance.now()

  constructor(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.temporary = mkdtempSync(join(tmpdir(), "servicegroup-run-"))
    const start = performance.now()
    this.process = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, TMPDIR: this.temporary, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // a group of its own, as a terminal gives to what runs in it
      detached: true
    })
    this.process.stdout?.on("data", (data: Buffer) => (this.out += data.toString()))
    this.process.stderr?.on("data", (data: Buffer) => (this.err += data.toString()))
    this.ended = new Promise((resolve) =>
      this.process.once("close", (code, signal) => {
        const now = performance.now()
        resolve({ code, signal, took: now - start, tookSince: now - this.#sent })
      })
    )
  }

  get pid(): number {
    return this.process.pid ?? 0
  }

  signal(signal: NodeJS.Signals): Promise<Ended> {
    this.#sent = performance.now()
    process.kill(this.pid, signal)
    return this.ended
  }

  /** As Ctrl-C does: the signal goes to the program and to its children. */
  interruptGroup(): Promise<Ended> {
    this.#sent = performance.now()
    process.kill(-this.pid, "SIGINT")
    return this.ended
  }

  /** Waits until the program has written a text; fails when it ends before, or after a minute. */
  async writes(text: string | RegExp): Promise<void> {
    let ended = false
    void this.ended.then(() => (ended = true))
    const there = (): boolean => (typeof text === "string" ? this.out.includes(text) : text.test(this.out))
    await until(`${String(text)} on standard output`, () => {
      if (ended && !there()) throw new Error(`ended without ${String(text)}:\n${this.out}\n${this.err}`)
      return there()
    })
  }

  leftovers(): readonly string[] {
    return readdirSync(this.temporary)
  }

  /** For the end of a test that failed half way. */
  kill(): void {
    try {
      process.kill(-this.pid, "SIGKILL")
    } catch {
      // it has ended
    }
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Waits for a condition; after a minute it fails and says what didn't come. */
export const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
  const end = performance.now() + 60_000
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`did not come: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
