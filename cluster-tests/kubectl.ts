/** kubectl as a function. */
import { spawn } from "node:child_process"

export interface Said {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

export type Kubectl = (
  args: readonly string[],
  more?: {
    readonly input?: string
    readonly env?: Readonly<Record<string, string>>
    /** given all that it has written so far; true ends it */
    readonly ends?: (stdout: string) => boolean
  }
) => Promise<Said>

/** A kubectl that talks to one cluster and knows nothing of this machine's user. */
export const kubectl =
  (program: string, kubeconfig: string, home: string): Kubectl =>
  (args, more = {}) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, [...args], {
        env: { PATH: process.env["PATH"], KUBECONFIG: kubeconfig, HOME: home, ...more.env },
        stdio: ["pipe", "pipe", "pipe"]
      })
      let stdout = ""
      let stderr = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text
        if (more.ends?.(stdout) === true) child.kill()
      })
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
      child.once("error", reject)
      child.once("close", (code) => resolve({ stdout, stderr, code: code ?? -1 }))
      // it may end before it has read all of its input
      child.stdin.on("error", () => undefined)
      child.stdin.end(more.input ?? "")
    })

/** What kubectl wrote, where it must succeed. */
export const done = async (said: Promise<Said>): Promise<string> => {
  const { stdout, stderr, code } = await said
  if (code !== 0) throw new Error(`kubectl ended with ${code}: ${stderr.trim()}`)
  return stdout
}
