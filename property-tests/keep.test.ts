/** The snapshot on a disk that fails at every step, and with every byte that may be wrong. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import fc from "fast-check"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type Disk, disk } from "../src/shell/disk.ts"
import { type Part, read, type Snapshot, write } from "../src/shell/keep.ts"
import { prometheus } from "../src/shell/prometheus.ts"
import { live } from "./effect.ts"
import { FakeDisk, losses } from "./fake-disk.ts"

describe("read", () => {
  it("gives what was written: kinds, revisions and every byte (1,000 snapshots)", async () => {
    await fc.assert(
      fc.asyncProperty(someParts, async (parts) => {
        const on = new FakeDisk()
        await written(on, parts)
        expect(await found(on)).toEqual(told(parts))
      }),
      // Each of them goes through a dozen promises.
      { numRuns: 1000 }
    )
  })

  it("gives none where there is none, and says nothing", async () => {
    const lines: string[] = []
    expect(await found(new FakeDisk(), lines)).toBeUndefined()
    expect(lines).toEqual([])
  })

  it("R138 P10 gives none for a file with a bit flipped, wherever that is", async () => {
    const good = await fileOf(before)
    for (let at = 0; at < good.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const bad = Buffer.from(good)
        bad[at] = (bad[at] ?? 0) ^ (1 << bit)
        await isBroken(bad)
      }
    }
  })

  it("R138 P10 gives none for a file that was cut, wherever that is", async () => {
    const good = await fileOf(before)
    for (let at = 0; at < good.length; at += 1) {
      await isBroken(good.subarray(0, at))
      if (at > 0) await isBroken(good.subarray(at))
    }
  })

  it("R138 P10 gives none for a file in which anything was put, doubled or left out (2,000 files)", async () => {
    const good = await fileOf(before)
    const place = fc.nat(good.length)
    await fc.assert(
      fc.asyncProperty(
        place,
        place,
        fc.oneof(fc.uint8Array({ maxLength: 9 }), parts(good)),
        async (a, b, put) => {
          const [from, to] = [Math.min(a, b), Math.max(a, b)]
          const bad = Buffer.concat([good.subarray(0, from), put, good.subarray(to)])
          if (!bad.equals(good)) await isBroken(bad)
        }
      ),
      { numRuns: 2000 }
    )
  })

  it("sets aside what is of no use under a name that says why, with a warning, and keeps one of those", async () => {
    const good = await fileOf(before)
    const other = `${good.subarray(0, good.indexOf("\n")).toString().replace('"version":1', '"version":2')}\n`
    const table = [
      ["torn", good.subarray(0, good.length - 1), /checksum/],
      ["foreign", Buffer.from("127.0.0.1 localhost\n"), /doesn't begin as one/],
      ["foreign", Buffer.from("null\n"), /doesn't begin as one/],
      ["torn", Buffer.alloc(0), /empty/],
      ["format", Buffer.from(other), /version is 2, not 1/],
      ["node", await fileOf(before, "n2"), /of the node "n2", not of n1/]
    ] as const
    const on = new FakeDisk()
    for (const [reason, bytes, message] of table) {
      on.put("snapshot", bytes)
      const lines: string[] = []
      expect(await found(on, lines)).toBeUndefined()
      expect([...on.files.keys()]).toEqual([`snapshot.broken-${reason}`])
      expect(on.content(`snapshot.broken-${reason}`)?.equals(bytes)).toBe(true)
      expect(lines).toEqual([expect.stringMatching(message)])
      expect(lines[0]).toContain(`snapshot.broken-${reason}`)
    }
  })

  it("goes on without one where the disk can't be read, or a bad file can't be moved", async () => {
    const bad = Buffer.from("bad")
    for (const failing of [1, 2, 3, 4]) {
      const on = new FakeDisk()
      on.put("snapshot", bad)
      on.failing = failing
      const lines: string[] = []
      expect(await found(on, lines)).toBeUndefined()
      expect(lines.length).toBe(1)
    }
  })

  it("removes what a crash left behind, and nothing else", async () => {
    const on = new FakeDisk()
    await written(on, before)
    for (const name of ["snapshot.new-1", "snapshot.new-abc", "other", "snapshot.old"])
      on.put(name, Buffer.alloc(1))
    expect(await found(on)).toEqual(told(before))
    expect([...on.files.keys()].sort()).toEqual(["other", "snapshot", "snapshot.old"])
  })
})

describe("write", () => {
  it("R138 P10 leaves the old or the new snapshot, whole, whichever call fails", async () => {
    const calls = await callsOfAWrite()
    for (let failing = 1; failing <= calls; failing += 1) {
      const on = await with_(before)
      on.failing = on.calls + failing
      on.log.length = 0
      const ended = await attempt(on, later)
      // What is synced is there, whatever closing the file says.
      const call = on.log[failing - 1]
      expect([failing, call, Either.isLeft(ended)]).toEqual([failing, call, call !== "close"])
      expect([...on.files.keys()]).toEqual(["snapshot"])
      await isOneOf(on, "after the failure")
      await writesAgain(on)
    }
  })

  it("R138 P10 leaves the old or the new snapshot, whole, whenever the process or the power goes", async () => {
    const calls = await callsOfAWrite()
    const ends = { Old: 0, New: 0 }
    for (let dying = 1; dying <= calls + 1; dying += 1) {
      for (const loss of [undefined, ...losses]) {
        const on = await with_(before)
        on.dying = on.calls + dying
        await attempt(on, later)
        const next = on.after(loss)
        ends[await isOneOf(next, `${dying} ${JSON.stringify(loss)}`)] += 1
        expect([...next.files.keys()]).toEqual(["snapshot"])
        await writesAgain(next)
      }
    }
    // The new one is there after a whole write, whatever goes then, and before that where its name survived.
    expect(ends.New).toBeGreaterThan(losses.length + 1)
    expect(ends.Old).toBeGreaterThan(calls)
  })

  it("R138 P10 leaves the old snapshot on a disk that fills up, wherever that is", async () => {
    const size = (await fileOf(later)).length
    const places = Array.from({ length: 60 }, (_, i) => Math.floor((i * size) / 60))
    for (const room of [...places, size - 1]) {
      const on = await with_(before)
      on.room = room
      const ended = await attempt(on, later)
      expect(Either.isLeft(ended) && ended.left.message).toMatch(/ENOSPC/)
      expect([...on.files.keys()]).toEqual(["snapshot"])
      expect(await found(on)).toEqual(told(before))
      on.room = size
      await written(on, later)
      expect(await found(on)).toEqual(told(later))
    }
  })

  it("syncs the file before it takes the old one's name, and the folder behind that", async () => {
    const on = await with_(before)
    on.log.length = 0
    await written(on, later)
    const steps = on.log.map((each) => each.replace(/\.new-\w+/, ".new")).filter((each) => each !== "write")
    expect(steps).toEqual([
      "create snapshot.new",
      "sync",
      "close",
      "rename snapshot.new snapshot",
      "sync names"
    ])
  })

  it("writes what was there when it began, whatever happens meanwhile", async () => {
    const on = new FakeDisk()
    const objects = new Set(later[0]?.objects)
    const writing = written(on, [{ kind: "Service", revision: "1", objects }])
    objects.clear()
    await writing
    expect(await found(on)).toEqual(
      told([{ kind: "Service", revision: "1", objects: later[0]?.objects ?? [] }])
    )
  })

  it("holds no more than 256 KB at a time, of one object too", async () => {
    const on = new FakeDisk()
    const sizes: number[] = []
    const watched: Disk = {
      create: async (folder, name) => {
        const file = await on.create(folder, name)
        return {
          ...file,
          write: (bytes) => {
            sizes.push(bytes.length)
            return file.write(bytes)
          }
        }
      },
      rename: (...of) => on.rename(...of),
      sync: () => on.sync(),
      read: (...of) => on.read(...of),
      names: () => on.names(),
      remove: (...of) => on.remove(...of)
    }
    const parts = [
      { kind: "Service", revision: "1", objects: [Buffer.alloc(1_500_000, "x"), Buffer.alloc(3)] }
    ]
    await written(watched, parts)
    expect(Math.max(...sizes)).toBe(256 * 1024)
    expect(await found(on)).toEqual(told(parts))
  })

  it("removes its unfinished file when it is interrupted", async () => {
    const on = await with_(before)
    const stuck: Disk = {
      create: async (folder, name) => ({
        ...(await on.create(folder, name)),
        sync: () => new Promise(() => undefined)
      }),
      rename: (...of) => on.rename(...of),
      sync: () => on.sync(),
      read: (...of) => on.read(...of),
      names: () => on.names(),
      remove: (...of) => on.remove(...of)
    }
    const program = Effect.timeout(write(stuck, folder, { node: "n1", at, parts: later }), "50 millis")
    expect(Either.isLeft(await Effect.runPromise(Effect.either(program)))).toBe(true)
    expect([...on.files.keys()]).toEqual(["snapshot"])
    expect(await found(on)).toEqual(told(before))
  })

  it("counts what fails, and tells size and time of what is there", async () => {
    const on = new FakeDisk()
    const start = await metric("failures_total")
    on.failing = 2
    await attempt(on, before)
    await attempt(on, before)
    expect((await metric("failures_total")) - start).toBe(1)
    expect(await metric("bytes")).toBe(on.content("snapshot")?.length)
    expect(await metric("timestamp_seconds")).toBe(Date.parse(at) / 1000)
  })
})

describe("disk", () => {
  const temporary = Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "keep-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )

  live("keeps a snapshot in a folder that it makes, while others have their turn", () =>
    Effect.gen(function* () {
      const path = join(yield* temporary, "a", "b")
      const objects = Array.from({ length: 64 }, (_, i) => Buffer.alloc(128 * 1024, i))
      const parts = [{ kind: "EndpointSlice", revision: "7", objects }]
      let [turns, over] = [0, false]
      const turn = (): void => {
        turns += 1
        if (!over) setImmediate(turn)
      }
      turn()
      yield* write(disk, path, { node: "n1", at, parts })
      over = true
      expect(turns).toBeGreaterThan(32)
      expect(readdirSync(path)).toEqual(["snapshot"])
      const kept = yield* read(disk, path, "n1")
      expect(plain(Option.getOrUndefined(kept))).toEqual(told(parts))
      yield* write(disk, path, { node: "n1", at, parts: before })
      expect(plain(Option.getOrUndefined(yield* read(disk, path, "n1")))).toEqual(told(before))
      writeFileSync(join(path, "snapshot"), "{}")
      expect(Option.isNone(yield* quietly(read(disk, path, "n1")))).toBe(true)
      expect(readdirSync(path)).toEqual(["snapshot.broken-foreign"])
    })
  )

  live("says what is wrong with a folder that is none", () =>
    Effect.gen(function* () {
      const path = join(yield* temporary, "file")
      writeFileSync(path, "")
      const ended = yield* Effect.either(write(disk, path, { node: "n1", at, parts: before }))
      expect(Either.isLeft(ended) && ended.left.message).toMatch(/EEXIST|ENOTDIR/)
      expect(Option.isNone(yield* quietly(read(disk, path, "n1")))).toBe(true)
    })
  )
})

const at = "2026-01-02T03:04:05.678Z"

const folder = "/kept"

const quietly = Effect.provide(Logger.remove(Logger.defaultLogger))

const texts = (...all: readonly string[]): Uint8Array[] => all.map((text) => Buffer.from(text))

const before: readonly Part[] = [
  { kind: "Service", revision: "12", objects: texts('{"a":1}', "", "\n", "7\n{}\n") },
  { kind: "Node", revision: "", objects: [] },
  { kind: "EndpointSlice", revision: "9007199254740993", objects: [Buffer.from([0, 255, 10, 13])] }
]

/** So large that it is written in several pieces. */
const later: readonly Part[] = [
  { kind: "Service", revision: "13", objects: Array.from({ length: 7 }, (_, i) => Buffer.alloc(100_000, i)) },
  { kind: "EndpointSlice", revision: "14", objects: texts("{}") }
]

const someParts: fc.Arbitrary<readonly Part[]> = fc.array(
  fc.record({
    kind: fc.string({ unit: "binary", maxLength: 8 }),
    revision: fc.string({ maxLength: 8 }),
    objects: fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 60 }),
        fc.constantFrom(...texts('{"kind":"x","revision":"1","count":1}\n', '{"sha256":"0"}\n', "3\nabc\n"))
      ),
      { maxLength: 6 }
    )
  }),
  { maxLength: 5 }
)

/** Parts of a file. */
const parts = (file: Buffer): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(fc.nat(file.length), fc.nat(file.length))
    .map(([a, b]) => file.subarray(Math.min(a, b), Math.max(a, b)))

/** What a read should give of it. */
const told = (all: readonly Part[]) => ({
  at,
  parts: all.map(({ kind, revision, objects }) => ({
    kind,
    revision,
    objects: [...objects].map((object) => Buffer.from(object).toString("hex"))
  }))
})

const plain = (snapshot: Snapshot | undefined) =>
  snapshot && {
    at: snapshot.at,
    parts: snapshot.parts.map(({ kind, revision, objects }) => ({
      kind,
      revision,
      objects: objects.map((object) => Buffer.from(object).toString("hex"))
    }))
  }

const attempt = (on: Disk, all: readonly Part[], node = "n1") =>
  Effect.runPromise(Effect.either(write(on, folder, { node, at, parts: all })))

const written = async (on: Disk, all: readonly Part[], node = "n1"): Promise<void> => {
  const ended = await attempt(on, all, node)
  if (Either.isLeft(ended)) throw new Error(ended.left.message)
}

/** What a read gives; log lines go to the array. */
const found = async (on: Disk, lines: string[] = []) => {
  const log = Logger.make(({ message }) => void lines.push(String(message)))
  const kept = await Effect.runPromise(
    read(on, folder, "n1").pipe(Effect.provide(Logger.replace(Logger.defaultLogger, log)))
  )
  return plain(Option.getOrUndefined(kept))
}

const fileOf = async (all: readonly Part[], node = "n1"): Promise<Buffer> => {
  const on = new FakeDisk()
  await written(on, all, node)
  return on.content("snapshot") ?? Buffer.alloc(0)
}

const with_ = async (all: readonly Part[]): Promise<FakeDisk> => {
  const on = new FakeDisk()
  await written(on, all)
  return on
}

const callsOfAWrite = async (): Promise<number> => {
  const on = await with_(before)
  const start = on.calls
  await written(on, later)
  return on.calls - start
}

const isBroken = async (bytes: Uint8Array): Promise<void> => {
  const on = new FakeDisk()
  on.put("snapshot", bytes)
  if ((await found(on)) !== undefined)
    throw new Error(`taken for a snapshot: ${Buffer.from(bytes).toString("latin1")}`)
  expect([...on.files.keys()]).toEqual([
    expect.stringMatching(/^snapshot\.broken-(torn|foreign|format|node)$/)
  ])
}

/** Which of the two is there, after a start. */
const isOneOf = async (on: FakeDisk, when: string): Promise<"Old" | "New"> => {
  const lines: string[] = []
  const there = JSON.stringify(await found(on, lines))
  expect([when, lines]).toEqual([when, []])
  if (there === JSON.stringify(told(before))) return "Old"
  if (there === JSON.stringify(told(later))) return "New"
  throw new Error(`${when}: neither is there`)
}

const writesAgain = async (on: FakeDisk): Promise<void> => {
  on.failing = undefined
  await written(on, later)
  expect(await found(on)).toEqual(told(later))
}

const metric = async (name: string): Promise<number> => {
  const page = prometheus(await Effect.runPromise(Metric.snapshot), process)
  return Number(new RegExp(`^servicegroup_snapshot_${name} (\\S+)$`, "m").exec(page)?.[1] ?? 0)
}
