/**
 * The part of the file system that a snapshot needs.
 */
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises"
import { isObject } from "../core/json.ts"

/** A file that is being written. */
export interface Opened {
  /** Writes all of them behind what was written before. */
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** Gives when what was written survives a loss of power. */
  readonly sync: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface Disk {
  /** Makes an empty file; its folder too, where that is missing. */
  readonly create: (folder: string, name: string) => Promise<Opened>
  /** Gives one file the name of another, whose content is gone. */
  readonly rename: (folder: string, from: string, to: string) => Promise<void>
  /** Gives when the names of a folder survive a loss of power. */
  readonly sync: (folder: string) => Promise<void>
  /** A whole file; undefined: there is none. */
  readonly read: (folder: string, name: string) => Promise<Uint8Array | undefined>
  /** The names in a folder; none where the folder is missing. */
  readonly names: (folder: string) => Promise<readonly string[]>
  /** Removes a file, where it is there. */
  readonly remove: (folder: string, name: string) => Promise<void>
}

/** That of the machine. */
export const disk: Disk = {
  create: async (folder, name) => {
    await mkdir(folder, { recursive: true })
    const file = await open(`${folder}/${name}`, "w", 0o600)
    return {
      write: async (bytes) => {
        for (let from = 0; from < bytes.length;) {
          const { bytesWritten } = await file.write(bytes, from, bytes.length - from)
          from += bytesWritten
        }
      },
      sync: () => file.sync(),
      close: () => file.close()
    }
  },
  rename: (folder, from, to) => rename(`${folder}/${from}`, `${folder}/${to}`),
  sync: async (folder) => {
    const handle = await open(folder, "r")
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  read: (folder, name) => whereThere(readFile(`${folder}/${name}`), undefined),
  names: (folder) => whereThere(readdir(folder), []),
  remove: (folder, name) => rm(`${folder}/${name}`, { force: true })
}

const whereThere = async <A, B>(found: Promise<A>, otherwise: B): Promise<A | B> => {
  try {
    return await found
  } catch (error) {
    if (isObject(error) && error["code"] === "ENOENT") return otherwise
    throw error
  }
}
