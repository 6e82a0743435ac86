/**
 * The hosts file on disk, which CoreDNS' `hosts` plugin reads.
 *
 * *Guarantees*: the file is old or new, never half: it is written beside and renamed. Where it is a mount of its own, which can't be
 * renamed over, or its folder takes no files, it is written in place. Lines of others stay to the byte, and so do mode and owner; an edit of
 * theirs meanwhile is seen before the rename and taken in. A link is followed, and stays. Nothing is written where nothing changes.
 * *Assumes*: one process writes our block. *Does not*: try again.
 */
import type { BigIntStats } from "node:fs"
import * as machine from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { hosts } from "../core/hosts.ts"
import { isObject } from "../core/json.ts"
import type { Name } from "../core/names.ts"

export type Outcome = "Same" | "Renamed" | "InPlace"

/** The part of `node:fs/promises` that is used; what is opened has the rest. */
export type Files = Pick<
  typeof machine,
  "mkdir" | "open" | "readFile" | "readlink" | "realpath" | "rename" | "rm" | "stat"
>

/** So often an edit of someone else is taken in before one write gives up. */
const EDITS = 10

/** Brings the names into the file, which is made where it is missing, and its folder. Fails as the file system does. */
export const writeHosts = async (
  path: string,
  names: readonly Name[],
  files: Files = machine
): Promise<Outcome> => {
  const target = await followed(files, path)
  for (let left = EDITS; left > 0; left--) {
    const before = await seen(files, target)
    const text = before === undefined ? "" : await textOf(files, target)
    const next = hosts(text, names)
    if (next === text && before !== undefined) return "Same"
    const refused = await writtenBeside(files, target, next, before)
    if (!isSame(before, await seen(files, target))) {
      await removed(files, target)
      continue
    }
    if (refused === undefined && (await renamed(files, target))) return "Renamed"
    if (before === undefined) throw refused ?? new Error("it can neither be made nor replaced")
    await writtenInPlace(files, target, text, next)
    return "InPlace"
  }
  throw new Error(`others have changed it ${EDITS} times while it was being written`)
}

const beside = (path: string): string => `${path}.servicegroup`

/** Where links lead, the last of which may lead to nothing yet. */
const followed = async (files: Files, path: string): Promise<string> => {
  const real = await unless(files.realpath(path), "ENOENT")
  if (real !== undefined) return real
  const link = await unless(files.readlink(path), "ENOENT", "EINVAL")
  return link === undefined ? path : followed(files, resolve(dirname(path), link))
}

/** The file as it is; undefined: there is none. */
const seen = async (files: Files, path: string): Promise<BigIntStats | undefined> => {
  const found = await unless(files.stat(path, { bigint: true }), "ENOENT")
  if (found?.isDirectory() === true)
    throw new Error(
      "it is a directory, such as a container runtime makes for the mount of a file that isn't there: remove it and mount its folder, or name a file in it with --hosts-file"
    )
  if (found?.isFile() === false)
    throw new Error("it is no regular file: remove it, or name another one with --hosts-file")
  return found
}

const isSame = (a: BigIntStats | undefined, b: BigIntStats | undefined): boolean =>
  a?.mtimeNs === b?.mtimeNs && a?.size === b?.size && a?.ino === b?.ino

/** A character a byte, since lines of others may be in any encoding. */
const ENCODING = "latin1"

const textOf = async (files: Files, path: string): Promise<string> =>
  (await unless(files.readFile(path, ENCODING), "ENOENT")) ?? ""

/** Writes a file beside that survives a loss of power; gives why the folder takes none, where it doesn't. */
const writtenBeside = async (
  files: Files,
  path: string,
  text: string,
  before: BigIntStats | undefined
): Promise<unknown> => {
  try {
    if (before === undefined) await made(files, dirname(path))
    const file = await files.open(beside(path), "w")
    try {
      // Whatever this process's umask is: CoreDNS runs as someone else.
      await file.chmod(before === undefined ? 0o644 : Number(before.mode) & 0o777)
      if (before !== undefined) await unless(file.chown(Number(before.uid), Number(before.gid)), "EPERM")
      await file.writeFile(text, ENCODING)
      await file.sync()
    } finally {
      await file.close()
    }
    return undefined
  } catch (error) {
    await removed(files, path)
    if (isCode(error, "EROFS", "EACCES", "EPERM")) return error
    throw error
  }
}

/** Makes a folder where it is missing. (`recursive` never ends where a folder is there and nothing can be made in it, such as /proc.) */
const made = async (files: Files, folder: string): Promise<void> => {
  try {
    await files.mkdir(folder)
  } catch (error) {
    if (isCode(error, "EEXIST")) return
    if (!isCode(error, "ENOENT") || dirname(folder) === folder) throw error
    await made(files, dirname(folder))
    await files.mkdir(folder)
  }
}

/** Gives what was written beside the file's name; false where that is a mount. */
const renamed = async (files: Files, path: string): Promise<boolean> => {
  try {
    await files.rename(beside(path), path)
    return true
  } catch (error) {
    await removed(files, path)
    if (isCode(error, "EBUSY", "EXDEV")) return false
    throw error
  }
}

/** Room on a full disk; the next write begins anew anyway. */
const removed = (files: Files, path: string): Promise<void> =>
  files.rm(beside(path), { force: true }).catch(() => undefined)

/** Writes over what is there: at no time the file is empty. What was there is put back where the new text doesn't fit. */
const writtenInPlace = async (files: Files, path: string, before: string, next: string): Promise<void> => {
  const file = await files.open(path, "r+")
  const put = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text, ENCODING)
    for (let at = 0; at < bytes.length;)
      at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten
    await file.truncate(bytes.length)
    await file.sync()
  }
  try {
    await put(next)
  } catch (error) {
    await put(before).catch(() => undefined)
    throw error
  } finally {
    await file.close()
  }
}

const isCode = (error: unknown, ...codes: readonly string[]): boolean =>
  isObject(error) && codes.includes(String(error["code"]))

/** What comes of it; undefined where it fails with one of the codes. */
const unless = async <A>(result: Promise<A>, ...codes: readonly string[]): Promise<A | undefined> => {
  try {
    return await result
  } catch (error) {
    if (isCode(error, ...codes)) return undefined
    throw error
  }
}
