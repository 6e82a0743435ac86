/**
 * The hosts file on disk, which CoreDNS' `hosts` plugin reads.
 *
 * *Guarantees*: the file is old or new, never half: it is written beside and renamed. Where it is a mount of its own, which can't be
 * renamed over, it is written in place, and that is said once. Lines of others stay; an edit of theirs meanwhile is seen before the
 * rename and taken in. Nothing is written where nothing changes. *Assumes*: one process writes our block.
 */
import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { hosts } from "../core/hosts.ts"
import { isObject } from "../core/json.ts"
import type { Name } from "../core/names.ts"

export type Outcome = "Same" | "Renamed" | "InPlace"

/** What tells one state of a file from another. */
interface Stamp {
  readonly mtimeNs: bigint
  readonly size: bigint
  readonly ino: bigint
}

const isCode = (error: unknown, ...codes: readonly string[]): boolean =>
  isObject(error) && codes.includes(String(error["code"]))

const stamp = async (path: string): Promise<Stamp | undefined> => {
  try {
    return await stat(path, { bigint: true })
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined
    throw error
  }
}

const isSame = (a: Stamp | undefined, b: Stamp | undefined): boolean =>
  a?.mtimeNs === b?.mtimeNs && a?.size === b?.size && a?.ino === b?.ino

const textOf = async (path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    if (isCode(error, "ENOENT")) return ""
    throw error
  }
}

/** So often an edit of someone else is taken in before one write gives up. */
const EDITS = 10

/** Brings the names into the file. Fails as the file system does. */
export const writeHosts = async (path: string, names: readonly Name[]): Promise<Outcome> => {
  for (let left = EDITS; left > 0; left--) {
    const before = await stamp(path)
    const text = await textOf(path)
    const next = hosts(text, names)
    if (next === text && before !== undefined) return "Same"
    const beside = await written(`${path}.servicegroup`, next)
    if (beside && !isSame(before, await stamp(path))) continue
    if (beside && (await renamed(`${path}.servicegroup`, path))) return "Renamed"
    await writeFile(path, next)
    return "InPlace"
  }
  throw new Error("others edit it all the time")
}

/** Writes a file that survives a loss of power; false where its folder takes none. */
const written = async (path: string, text: string): Promise<boolean> => {
  try {
    const file = await open(path, "w", 0o644)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined)
    if (isCode(error, "EROFS", "EACCES", "EPERM")) return false
    throw error
  }
}

/** Gives a file its name; false where that is a mount. */
const renamed = async (from: string, to: string): Promise<boolean> => {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    await rm(from, { force: true }).catch(() => undefined)
    if (isCode(error, "EBUSY", "EXDEV")) return false
    throw error
  }
}
