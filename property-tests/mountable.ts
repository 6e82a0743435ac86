/** Whether this process may mount: as root, on Linux, and outside of a container that forbids it. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const tried = (): boolean => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false
  const at = mkdtempSync(join(tmpdir(), "mountable-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", at], { stdio: "ignore" })
    execFileSync("umount", [at], { stdio: "ignore" })
    return true
  } catch {
    return false
  } finally {
    rmdirSync(at)
  }
}

export const mountable: boolean = tried()
