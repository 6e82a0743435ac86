/**
 * One open watch: the lines that it still has to be told, written as fast as its client reads.
 *
 * *Guarantees*: lines arrive in order and without gaps, or the watch ends with 410 and the client lists anew; what is
 * kept for a client that doesn't read is bounded by the number of lines, and they share their objects with the
 * cluster. Other clients don't wait.
 */
import type { ServerResponse } from "node:http"
import type { Change, Watch, WatchLine } from "./cluster.ts"

export interface Pace {
  /** lines that may wait for a client beyond those that it began with */
  readonly backlog: number
  /** between two bookmarks, in milliseconds */
  readonly bookmarkEvery: number
}

/** A line as it was asked for; undefined where it can't be told so, which ends the watch. */
type Shape = (line: WatchLine) => WatchLine | undefined

export class WatchStream {
  readonly #response: ServerResponse
  readonly #watch: Watch
  readonly #shape: Shape
  readonly #pace: Pace
  /** what is to be written, from #next on */
  #lines: WatchLine[]
  #next = 0
  #allowance: number
  #writing = false
  #over = false

  constructor(response: ServerResponse, watch: Watch, shape: Shape, pace: Pace) {
    this.#response = response
    this.#watch = watch
    this.#shape = shape
    this.#pace = pace
    this.#lines = [...watch.initial]
    this.#allowance = watch.initial.length + pace.backlog
  }

  /** Begins to write; what was said before the first line is an answer already. */
  open(warning: string | undefined): void {
    this.#response.writeHead(200, {
      "content-type": "application/json",
      "cache-control": "no-cache, private",
      ...(warning === undefined ? {} : { warning })
    })
    this.#response.flushHeaders()
    this.#response.on("drain", () => {
      this.#pump()
    })
    if (this.#watch.initial.some((line) => line.type === "ERROR")) this.end()
    else this.#soon()
  }

  tell(change: Change): void {
    const line = this.#watch.accepts(change)
    if (line !== undefined) this.#push(line)
  }

  /** Says how far the client is, if it asked for that. */
  bookmark(revision: number): void {
    if (this.#watch.bookmarks) this.#push(this.#watch.bookmark(revision))
  }

  /** Writes what is left and closes. */
  end(): void {
    this.#over = true
    this.#pump()
  }

  #push(line: WatchLine): void {
    if (this.#over) return
    this.#lines.push(line)
    if (line.type === "ERROR") this.end()
    else if (this.#lines.length - this.#next > this.#allowance) this.#cut()
    else this.#soon()
  }

  /** A client that doesn't keep up is told to list anew; what it hasn't read is dropped. */
  #cut(): void {
    this.#lines = [{ type: "ERROR", object: EXPIRED }]
    this.#next = 0
    this.end()
    setTimeout(() => {
      this.#response.destroy()
    }, PATIENCE).unref()
  }

  /** Lines of one turn of the event loop are written together. */
  #soon(): void {
    if (this.#writing) return
    this.#writing = true
    setImmediate(() => {
      this.#writing = false
      this.#pump()
    })
  }

  #pump(): void {
    const response = this.#response
    while (this.#next < this.#lines.length && response.writableLength < FULL && !response.destroyed) {
      let text = ""
      while (this.#next < this.#lines.length && text.length < CHUNK) {
        const line = this.#lines[this.#next++]
        const told = line && this.#shape(line)
        if (told === undefined) {
          this.#lines = []
          this.#next = 0
          this.#over = true
        } else text += lineText(told)
      }
      response.write(text)
    }
    if (this.#next === this.#lines.length) {
      this.#lines = []
      this.#next = 0
      this.#allowance = this.#pace.backlog
      if (this.#over) response.end()
    }
  }
}

/** An object is written once for all the watches that are told of it. */
const lineText = ({ type, object }: WatchLine): string => {
  if (typeof object !== "object" || object === null) return ""
  let text = texts.get(object)
  if (text === undefined) {
    text = JSON.stringify(object)
    texts.set(object, text)
  }
  return `{"type":"${type}","object":${text}}\n`
}

const texts = new WeakMap<object, string>()

const EXPIRED = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "too old resource version: the client did not keep up",
  reason: "Expired",
  code: 410
}

/** Bytes that one write takes together. */
const CHUNK = 65_536

/** Bytes that may wait in a socket. */
const FULL = 262_144

/** How long a client that was cut may take to read that it was, in milliseconds. */
const PATIENCE = 30_000
