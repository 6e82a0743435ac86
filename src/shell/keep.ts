/**
 * What the wrapper knows, in one file: written while upstream is there, read when it isn't.
 *
 * The file `snapshot` holds a line of JSON with format, version, node and time; for each kind a line with its name, revision and count, and behind it
 * each object as its length in bytes, a line break, the bytes, a line break; and as its last line the SHA-256 of all before that.
 *
 * *Guarantees*: whatever fails, at any moment, a later read gives the snapshot that was there before or the new one, whole, or none; what isn't whole, of
 * another node, of another version or no snapshot at all is set aside under a name that says why (the latest one is kept), with a warning.
 * *Assumes*: one process writes to a folder. *Does not*: look into the objects, or decide when to write (core/keeping.ts does).
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import { createHash, randomBytes } from "node:crypto"
import { isObject } from "../core/json.ts"
import type { Disk, Opened } from "./disk.ts"
import { why } from "./why.ts"

/** All objects of a kind. */
export interface Part {
  readonly kind: string
  /** of the list that they make */
  readonly revision: string
  /**
   * Read once, together with those of all other parts and before anything is written, so that one moment is kept. The bytes of an object must not be
   * changed afterwards: they are written later, while other things happen.
   */
  readonly objects: Iterable<Uint8Array>
}

export interface Snapshot {
  /** when it was written, in ISO 8601 */
  readonly at: string
  readonly parts: readonly KeptPart[]
}

export interface KeptPart {
  readonly kind: string
  readonly revision: string
  /** Views of one piece of memory: an object of which something is to stay has to be copied. */
  readonly objects: readonly Uint8Array[]
}

/** The snapshot could not be written. The one before it still stands, but where the very last step failed. */
export class Unkept extends Data.TaggedError("Unkept")<{ readonly message: string }> {}

/** There is no snapshot that could be looked at. */
export class Unread extends Data.TaggedError("Unread")<{ readonly message: string }> {}

const FORMAT = "servicegroup-snapshot"
const VERSION = 1
const NAME = "snapshot"
const TEMPORARY = "snapshot.new-"
const BROKEN = "snapshot.broken-"

/** Bytes that are written at a time. */
const PIECE = 256 * 1024

const failures = Metric.counter("servicegroup_snapshot_failures_total", {
  description: "snapshots that could not be written",
  incremental: true
})
const size = Metric.gauge("servicegroup_snapshot_bytes", {
  description: "size of the snapshot on disk, in bytes"
})
const moment = Metric.gauge("servicegroup_snapshot_timestamp_seconds", {
  description: "when the snapshot on disk was written, in seconds since 1970"
})

/** Replaces the snapshot in the folder. `at`: in ISO 8601. In between, everybody else has a turn; an interruption leaves things as they were. */
export const write = (
  disk: Disk,
  folder: string,
  { node, at, parts }: { readonly node: string; readonly at: string; readonly parts: readonly Part[] }
): Effect.Effect<void, Unkept> =>
  Effect.suspend(() => {
    const whole = parts.map((part) => ({ ...part, objects: [...part.objects] }))
    const name = TEMPORARY + randomBytes(6).toString("hex")
    const written = Effect.acquireUseRelease(
      step(() => disk.create(folder, name)),
      (file) =>
        Effect.gen(function* () {
          const bytes = yield* streamed(file, { node, at, parts: whole })
          yield* step(() => file.sync())
          return bytes
        }),
      (file) => Effect.ignore(step(() => file.close()))
    )
    return written.pipe(
      Effect.tap(Effect.uninterruptible(step(() => disk.rename(folder, name, NAME)))),
      Effect.onExit((exit) =>
        Exit.isSuccess(exit) ? Effect.void : Effect.ignore(step(() => disk.remove(folder, name)))
      ),
      Effect.tap(step(() => disk.sync(folder))),
      Effect.tapError(() => Metric.increment(failures)),
      Effect.flatMap((bytes) => kept(bytes, at))
    )
  })

const step = <A>(does: () => Promise<A>): Effect.Effect<A, Unkept> =>
  Effect.tryPromise({ try: does, catch: (error) => new Unkept({ message: why(error) }) })

const kept = (bytes: number, at: string): Effect.Effect<void> =>
  Effect.zipRight(Metric.set(size, bytes), Metric.set(moment, Date.parse(at) / 1000))

interface Whole {
  readonly node: string
  readonly at: string
  readonly parts: readonly KeptPart[]
}

/** Writes a snapshot piece by piece; gives its size. */
const streamed = (file: Opened, snapshot: Whole): Effect.Effect<number, Unkept> =>
  Effect.gen(function* () {
    const digest = createHash("sha256")
    const piece = Buffer.allocUnsafeSlow(PIECE)
    let [filled, total] = [0, 0]
    const flush = Effect.suspend(() => {
      const full = piece.subarray(0, filled)
      digest.update(full)
      total += filled
      filled = 0
      return step(() => file.write(full))
    })
    for (const text of texts(snapshot)) {
      const bytes = typeof text === "string" ? Buffer.from(text) : text
      for (let from = 0; from < bytes.length;) {
        const some = bytes.subarray(from, from + PIECE - filled)
        piece.set(some, filled)
        filled += some.length
        from += some.length
        if (filled === PIECE) yield* flush
      }
    }
    yield* flush
    const last = Buffer.from(tail(digest.digest("hex")))
    yield* step(() => file.write(last))
    return total + last.length
  })

/** What a snapshot consists of, but for its last line. */
function* texts({ node, at, parts }: Whole): Generator<string | Uint8Array> {
  yield `${JSON.stringify({ format: FORMAT, version: VERSION, node, at })}\n`
  for (const { kind, revision, objects } of parts) {
    yield `${JSON.stringify({ kind, revision, count: objects.length })}\n`
    for (const object of objects) {
      yield `${object.length}\n`
      yield object
      yield "\n"
    }
  }
}

const tail = (sum: string): string => `${JSON.stringify({ sha256: sum })}\n`

const TAIL = tail("0".repeat(64)).length

/** The node's snapshot in the folder, if there is a good one. Removes what a crash left behind. */
export const read = (disk: Disk, folder: string, node: string): Effect.Effect<Option.Option<Snapshot>> =>
  Effect.gen(function* () {
    yield* tidied(disk, folder)
    const bytes = yield* step(() => disk.read(folder, NAME))
    if (bytes === undefined) return Option.none()
    const snapshot = parsed(bytes, node)
    if ("broken" in snapshot) {
      yield* aside(disk, folder, snapshot)
      return Option.none()
    }
    yield* kept(bytes.length, snapshot.at)
    return Option.some(snapshot)
  }).pipe(
    Effect.catchAll(({ message }) =>
      Effect.as(
        Effect.logWarning(`the snapshot in ${folder} can't be read: ${message}; starting without one`),
        Option.none()
      )
    )
  )

/** A snapshot that another process keeps, and the node that it is of. */
export interface Looked extends Snapshot {
  readonly node: string
}

/** The snapshot in a folder, whichever node it is of; nothing in the folder is touched. Fails with what is wrong, in words. */
export const look = (disk: Disk, folder: string): Effect.Effect<Looked, Unread> =>
  Effect.gen(function* () {
    const bytes = yield* Effect.mapError(
      step(() => disk.read(folder, NAME)),
      ({ message }) => new Unread({ message: `the snapshot in ${folder} can't be read: ${message}` })
    )
    if (bytes === undefined) return yield* new Unread({ message: `there is no snapshot in ${folder}` })
    const snapshot = parsed(bytes, undefined)
    return "broken" in snapshot
      ? yield* new Unread({ message: `the snapshot in ${folder} is of no use: ${snapshot.why}` })
      : snapshot
  })

const names = (disk: Disk, folder: string, prefix: string): Effect.Effect<readonly string[]> =>
  step(() => disk.names(folder)).pipe(
    Effect.map((all) => all.filter((name) => name.startsWith(prefix))),
    Effect.orElseSucceed(() => [])
  )

const tidied = (disk: Disk, folder: string): Effect.Effect<void> =>
  Effect.flatMap(names(disk, folder, TEMPORARY), (left) =>
    Effect.forEach(left, (name) => Effect.ignore(step(() => disk.remove(folder, name))), { discard: true })
  )

/** A file that is no good. */
interface Broken {
  /** in one word */
  readonly broken: "torn" | "foreign" | "format" | "node"
  readonly why: string
}

/** Puts a file out of the way, instead of one that was put there before. */
const aside = (disk: Disk, folder: string, { broken, why: reason }: Broken): Effect.Effect<void> =>
  Effect.gen(function* () {
    const to = BROKEN + broken
    const moved = yield* Effect.either(step(() => disk.rename(folder, NAME, to)))
    const where = moved._tag === "Right" ? `set aside as ${to}` : `left where it is (${moved.left.message})`
    yield* Effect.logWarning(
      `the snapshot in ${folder} is of no use: ${reason}; ${where}; starting without one`
    )
    if (moved._tag === "Left") return
    for (const name of yield* names(disk, folder, BROKEN)) {
      if (name !== to) yield* Effect.ignore(step(() => disk.remove(folder, name)))
    }
  })

/**
 * What a file says. Nothing of it is given before all of it is known to be as it was written. `node`: which it has to be of; undefined: any.
 */
const parsed = (bytes: Uint8Array, node: string | undefined): Looked | Broken => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const cursor = new Cursor(file)
  const head = cursor.line()
  if (head?.["format"] !== FORMAT) {
    return file.length === 0
      ? { broken: "torn", why: "it is empty" }
      : { broken: "foreign", why: "it doesn't begin as one" }
  }
  if (head["version"] !== VERSION) {
    return { broken: "format", why: `its version is ${JSON.stringify(head["version"])}, not ${VERSION}` }
  }
  const body = file.length - TAIL
  if (
    body < 0 ||
    file.toString("latin1", body) !== tail(createHash("sha256").update(file.subarray(0, body)).digest("hex"))
  ) {
    return { broken: "torn", why: "it isn't as it was written: its checksum doesn't fit" }
  }
  const of = head["node"]
  if (typeof of !== "string" || (node !== undefined && of !== node)) {
    return { broken: "node", why: `it is of the node ${JSON.stringify(of)}, not of ${node ?? "any"}` }
  }
  const parts = partsOf(cursor, body)
  const at = head["at"]
  return parts === undefined || typeof at !== "string" || Number.isNaN(Date.parse(at))
    ? { broken: "torn", why: "its parts aren't where they belong" }
    : { node: of, at, parts }
}

const partsOf = (cursor: Cursor, end: number): readonly KeptPart[] | undefined => {
  const parts: KeptPart[] = []
  while (cursor.at < end) {
    const { kind, revision, count } = cursor.line() ?? {}
    if (typeof kind !== "string" || typeof revision !== "string" || typeof count !== "number")
      return undefined
    const objects: Uint8Array[] = []
    while (objects.length < count) {
      const object = cursor.object(end)
      if (object === undefined) return undefined
      objects.push(object)
    }
    parts.push({ kind, revision, objects })
  }
  return parts
}

const LINE_BREAK = 10

/** Reads a file from its beginning. */
class Cursor {
  at = 0
  readonly #file: Buffer

  constructor(file: Buffer) {
    this.#file = file
  }

  /** A line of JSON, without its end; undefined: it is none. */
  line(): { readonly [key: string]: unknown } | undefined {
    const end = this.#file.indexOf(LINE_BREAK, this.at)
    if (end < 0) return undefined
    try {
      const value: unknown = JSON.parse(this.#file.toString("utf8", this.at, end))
      this.at = end + 1
      return isObject(value) ? value : undefined
    } catch {
      return undefined
    }
  }

  /** An object that ends before the end. */
  object(end: number): Uint8Array | undefined {
    const from = this.#file.indexOf(LINE_BREAK, this.at) + 1
    const length = this.#file.toString("latin1", this.at, Math.max(this.at, from - 1))
    const to = from + Number(length)
    if (from === 0 || !/^\d{1,10}$/.test(length) || to >= end || this.#file[to] !== LINE_BREAK)
      return undefined
    this.at = to + 1
    return this.#file.subarray(from, to)
  }
}
