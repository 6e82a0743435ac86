/**
 * A disk in memory that fails, fills up or dies where it is told to, and knows what a loss of power would leave of it.
 */
import type { Disk } from "../src/shell/disk.ts"

interface Content {
  bytes: Buffer
  /** how many of them survive a loss of power for sure */
  synced: number
}

/** What a loss of power may do: to names that nobody synced, and to content that nobody synced. */
export interface Loss {
  readonly names: "Old" | "New"
  readonly content: "Synced" | "Half" | "All"
}

export const losses: readonly Loss[] = (["Old", "New"] as const).flatMap((names) =>
  (["Synced", "Half", "All"] as const).map((content): Loss => ({ names, content }))
)

export class FakeDisk implements Disk {
  /** the names as processes see them */
  readonly files = new Map<string, Content>()
  /** the names as they are after a loss of power */
  #durable = new Map<string, Content>()
  /** calls so far */
  calls = 0
  /** the call that fails, counted from 1 */
  failing: number | undefined
  /** the call from which on nothing happens any more, counted from 1 */
  dying: number | undefined
  /** bytes that still fit */
  room = Number.POSITIVE_INFINITY
  /** what was asked of it, in order */
  readonly log: string[] = []

  /** What stands in a file. */
  content(name: string): Buffer | undefined {
    return this.files.get(name)?.bytes
  }

  put(name: string, bytes: Uint8Array): void {
    const content = { bytes: Buffer.from(bytes), synced: bytes.length }
    this.files.set(name, content)
    this.#durable.set(name, content)
  }

  /** The disk as the next process finds it after this one was killed, or after a loss of power. */
  after(loss: Loss | undefined): FakeDisk {
    const next = new FakeDisk()
    const found = loss?.names === "Old" ? this.#durable : this.files
    for (const [name, { bytes, synced }] of found) {
      const left =
        loss === undefined || loss.content === "All"
          ? bytes.length
          : loss.content === "Synced"
            ? synced
            : Math.ceil((synced + bytes.length) / 2)
      next.put(name, bytes.subarray(0, left))
    }
    return next
  }

  async create(_folder: string, name: string) {
    this.#call(`create ${name}`)
    const content: Content = { bytes: Buffer.alloc(0), synced: 0 }
    this.files.set(name, content)
    return {
      write: async (bytes: Uint8Array) => {
        const add = (part: Uint8Array): void => {
          content.bytes = Buffer.concat([content.bytes, part])
        }
        try {
          this.#call("write")
        } catch (error) {
          // A write that fails may have done a part.
          if (this.dying === undefined || this.calls <= this.dying) add(bytes.subarray(0, bytes.length / 2))
          throw error
        }
        const fits = bytes.subarray(0, Math.min(bytes.length, this.room))
        this.room -= fits.length
        add(fits)
        if (fits.length < bytes.length) throw new Error("ENOSPC: no space left on device")
      },
      sync: async () => {
        this.#call("sync")
        content.synced = content.bytes.length
      },
      close: async () => this.#call("close")
    }
  }

  async rename(_folder: string, from: string, to: string): Promise<void> {
    this.#call(`rename ${from} ${to}`)
    const content = this.files.get(from)
    if (content === undefined) throw new Error(`ENOENT: ${from}`)
    this.files.delete(from)
    this.files.set(to, content)
  }

  async sync(): Promise<void> {
    this.#call("sync names")
    this.#durable = new Map(this.files)
  }

  async read(_folder: string, name: string): Promise<Uint8Array | undefined> {
    this.#call(`read ${name}`)
    return this.content(name)
  }

  async names(): Promise<readonly string[]> {
    this.#call("names")
    return [...this.files.keys()]
  }

  async remove(_folder: string, name: string): Promise<void> {
    this.#call(`remove ${name}`)
    this.files.delete(name)
  }

  #call(what: string): void {
    this.calls += 1
    if (this.dying !== undefined && this.calls >= this.dying) throw new Error("nobody is there any more")
    this.log.push(what)
    if (this.calls === this.failing) throw new Error(`EIO: ${what}`)
  }
}
