/**
 * What a person reads: lines that stay, and beneath them on a terminal a table that is redrawn in place.
 *
 * *Guarantees*: no control characters where the output is no terminal; no colour there, nor with NO_COLOR; a table
 * never takes more rows than the terminal has. *Assumes* that nobody else writes to the terminal.
 */
import * as Effect from "effect/Effect"
import type { WriteStream } from "node:tty"
import { stripVTControlCharacters } from "node:util"
import { coloured, type Paint, plain } from "./paint.ts"

export class Screen {
  readonly paint: Paint
  /** a terminal that can be drawn on */
  readonly live: boolean
  readonly #out: WriteStream
  #drawn: readonly string[] = []

  constructor(out: WriteStream, colour: boolean) {
    this.#out = out
    this.live = out.isTTY && process.env["TERM"] !== "dumb"
    this.paint = this.live && colour && !process.env["NO_COLOR"] ? coloured : plain
  }

  get width(): number {
    return this.live ? Math.max(this.#columns - 1, NARROW) : WIDE
  }

  /** A terminal that doesn't know its size says 0. */
  get #columns(): number {
    return this.#out.columns || 80
  }

  /** Adds lines that stay, above the table. */
  say(...lines: readonly string[]): void {
    this.#draw([...lines, ""].join("\n"), this.#drawn)
  }

  /** Shows the table as it is now; nothing where there is no terminal. */
  show(lines: readonly string[]): void {
    if (!this.live) return
    const fitting = lines.slice(0, Math.max((this.#out.rows || 24) - 2, 1))
    const same = fitting.length === this.#drawn.length && fitting.every((line, i) => line === this.#drawn[i])
    if (!same) this.#draw("", fitting)
  }

  /** A paragraph, broken between words. */
  wrapped(text: string, indent = ""): readonly string[] {
    const room = Math.min(this.width, WIDE)
    const lines: string[] = []
    let line = indent
    for (const word of text.split(" ")) {
      const longer = line === indent ? line + word : `${line} ${word}`
      if (longer.length <= room || line === indent) line = longer
      else {
        lines.push(line)
        line = indent + word
      }
    }
    return [...lines, line]
  }

  #draw(text: string, table: readonly string[]): void {
    const rows = this.#drawn.reduce((sum, line) => sum + this.#height(line), 0)
    const back = rows > 0 ? `\u001B[${rows}A\r\u001B[J` : ""
    this.#drawn = table
    this.#out.write(back + text + table.map((line) => `${line}\n`).join(""))
  }

  /** Rows that a line takes now: more than one where the terminal became narrower since. */
  #height(line: string): number {
    const { length } = stripVTControlCharacters(line)
    return Math.max(Math.ceil(length / this.#columns), 1)
  }
}

/** Ends when nobody reads the output any more, as with `| head`. */
export const unread = (out: WriteStream): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    // Stays for good: every later write fails too.
    out.on("error", () => {
      resume(Effect.void)
    })
  })

const WIDE = 100
const NARROW = 20
