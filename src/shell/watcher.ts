/**
 * One open watch: what its client still has to be told, written as fast as it reads.
 *
 * *Guarantees*: lines come in order, each once, none left out; a client for whom that can't be done any more is told 410, and its connection ends.
 * The head of the answer is sent before the first line. What waits in the socket is bounded; a slow client holds up nobody else.
 * *Assumes*: `wake` is called after the journal was told something.
 * *Does not*: wait for anything; keep events of its own.
 */
import type { ServerResponse } from "node:http"
import type { Showing } from "../core/board.ts"
import { subject, type Thing } from "../core/cut.ts"
import type { Event, Journal, Told } from "../core/journal.ts"
import type { Opening } from "../core/opening.ts"
import { sent } from "../core/query.ts"
import { bookmark, expired, LINE_TAIL, lineHead, type LineType, type Status } from "../core/reply.ts"
import type { Served } from "../core/route.ts"
import { type Pieces, pieces, WHOLE } from "./pieces.ts"

export interface Watched {
  readonly board: Showing
  readonly asked: Served
  readonly opening: Exclude<Opening<Thing>, { readonly _tag: "Expired" }>
  readonly response: ServerResponse
}

export class Watcher {
  readonly #asked: Served
  readonly #journal: Journal<Thing>
  readonly #board: Showing
  readonly #response: ServerResponse
  #beginning: Iterator<Told<Thing>> | undefined
  readonly #marked: boolean
  /** up to where the client knows all, once its beginning was sent */
  #cursor: string
  #blocked = false
  #over = false

  constructor({ board, asked, opening, response }: Watched) {
    this.#asked = asked
    this.#board = board
    this.#journal = board.journal(asked.kind)
    this.#response = response
    const all = opening._tag === "All" ? opening : undefined
    this.#beginning = all?.listing.objects[Symbol.iterator]()
    this.#marked = all?.marked === true
    this.#cursor = opening._tag === "All" ? opening.listing.revision : opening.revision
  }

  open(): void {
    const { timeoutSeconds } = this.#asked.options
    this.#response.writeHead(200, {
      "content-type": "application/json",
      "cache-control": "no-cache, private"
    })
    this.#response.flushHeaders()
    const timer = setTimeout(() => this.end(), Math.min(timeoutSeconds ?? LONGEST_S, LONGEST_S) * 1000)
    this.#response.once("close", () => {
      this.#over = true
      clearTimeout(timer)
    })
    this.wake()
  }

  /** Writes what there is to be told, as far as the client takes it. */
  wake(): void {
    while (!this.#over && !this.#blocked) {
      const piece = this.#beginning === undefined ? this.#events() : this.#objects(this.#beginning)
      if (piece === undefined) return
      this.#send(piece)
    }
    if (this.#blocked && !this.#over && this.#journal.since(this.#cursor, 0)._tag === "Expired") this.#cut()
  }

  /** Says how far the client has got, if it asked for that and knows all that there is. */
  bookmark(): void {
    this.wake()
    if (
      this.#over ||
      this.#blocked ||
      this.#beginning !== undefined ||
      !this.#asked.options.allowWatchBookmarks
    )
      return
    const { kind, apiVersion } = this.#asked
    const out = pieces()
    out.text(bookmark(kind, apiVersion, this.#cursor, { initialEnd: false }))
    this.#send(out)
  }

  /**
   * Chunks go to the socket as they are, each in one write: node:http would hand over its size, its bytes and its end one by one, which takes
   * twice as long.
   */
  #send(out: Pieces): void {
    if (out.empty) return
    const { socket, chunkedEncoding } = this.#response
    const direct = chunkedEncoding ? socket : null
    const [to, bytes] = direct === null ? [this.#response, out.done()] : [direct, out.chunk()]
    if (to.write(bytes, out.release)) return
    this.#blocked = true
    to.once("drain", () => {
      this.#blocked = false
      this.wake()
    })
  }

  /** Ends the watch as the API server does at its timeout: the client goes on where it was. */
  end(): void {
    if (this.#over) return
    this.#over = true
    this.#response.end()
  }

  /** The client didn't keep up: it is told so behind what it was sent already, and lists anew. */
  #cut(): void {
    const error: Status = expired(this.#cursor)
    this.#response.write(`${lineHead("ERROR")}${JSON.stringify(error)}${LINE_TAIL}`)
    this.end()
    setTimeout(() => this.#response.destroy(), PATIENCE_MS).unref()
  }

  /** The next piece of what was there at the beginning. */
  #objects(beginning: Iterator<Told<Thing>>): Pieces {
    const out = pieces(WHOLE)
    while (!out.full) {
      const next = beginning.next()
      if (next.done === true) {
        this.#beginning = undefined
        const { kind, apiVersion } = this.#asked
        if (this.#marked) out.text(bookmark(kind, apiVersion, this.#cursor, { initialEnd: true }))
        break
      }
      const { revision, value } = next.value
      if (this.#asked.selects(subject(value))) this.#line(out, "ADDED", value, revision)
    }
    return out
  }

  /** The next piece of what was told since; undefined where there is nothing. */
  #events(): Pieces | undefined {
    const read = this.#journal.since(this.#cursor, MOST_EVENTS)
    if (read._tag === "Expired") {
      this.#cut()
      return undefined
    }
    if (read.events.length === 0) return undefined
    const out = pieces()
    for (const event of read.events) {
      this.#event(out, event)
      this.#cursor = event.revision
      if (out.full) break
    }
    return out
  }

  #event(out: Pieces, event: Event<Thing>): void {
    const told = sent(event, (thing) => this.#asked.selects(subject(thing)))
    if (told !== undefined) this.#line(out, told.type, told.value, told.revision)
  }

  #line(out: Pieces, type: LineType, thing: Thing, revision: string): void {
    const { kind, apiVersion } = this.#asked
    out.text(lineHead(type))
    this.#board.render(kind, thing, revision, apiVersion, out)
    out.text(LINE_TAIL)
  }
}

const MOST_EVENTS = 256

/** Seconds that a watch may be open whose client named no time. */
const LONGEST_S = 3600

/** How long a client that was cut may take to read that it was, in milliseconds. */
const PATIENCE_MS = 30_000
