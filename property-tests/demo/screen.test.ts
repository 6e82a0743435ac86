/** The screen on a terminal that is played by a few lines: rows of text, a cursor, and the two sequences that are sent. */
import fc from "fast-check"
import { afterEach, describe, expect, it, vi } from "vitest"
import type { WriteStream } from "node:tty"
import { Screen } from "../../src/commands/demo/screen.ts"

afterEach(() => {
  vi.unstubAllEnvs()
})

describe("Screen", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", " "), maxLength: 30 })
  const table = fc.array(line, { maxLength: 6 })
  const deed = fc.oneof(
    fc.record({ say: fc.array(line, { minLength: 1, maxLength: 4 }) }),
    fc.record({ show: table })
  )

  it("shows what was said in its order, and beneath it the last table alone", () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 20 }), (deeds) => {
        const terminal = new Terminal({ columns: 40, rows: 24 })
        const screen = new Screen(terminal.stream, false)
        const said: string[] = []
        let last: readonly string[] = []
        for (const each of deeds) {
          if ("say" in each) {
            screen.say(...each.say)
            said.push(...each.say)
          } else {
            screen.show(each.show)
            last = each.show
          }
        }
        expect(terminal.lines()).toEqual([...said, ...last, ""])
      }),
      { numRuns: 10_000 }
    )
  })

  it("leaves no trace of a table that wraps because the terminal became narrower", () => {
    const terminal = new Terminal({ columns: 40, rows: 24 })
    const screen = new Screen(terminal.stream, false)
    screen.show(["a".repeat(35), "b".repeat(5)])
    terminal.resize(20)
    screen.show(["c"])
    expect(terminal.lines()).toEqual(["c", ""])
  })

  it("sends nothing where nothing changed", () => {
    const terminal = new Terminal({ columns: 40, rows: 24 })
    const screen = new Screen(terminal.stream, true)
    screen.show(["a"])
    const before = terminal.written.length
    screen.show(["a"])
    expect(terminal.written.length).toBe(before)
  })

  it("never draws more rows than the terminal has", () => {
    const terminal = new Terminal({ columns: 40, rows: 5 })
    const screen = new Screen(terminal.stream, false)
    screen.show(["1", "2", "3", "4", "5", "6"])
    expect(terminal.lines()).toEqual(["1", "2", "3", ""])
  })

  it("has colours on a terminal", () => {
    vi.stubEnv("NO_COLOR", undefined)
    const { paint } = new Screen(new Terminal({ columns: 40, rows: 5 }).stream, true)
    expect(paint.green("a")).toBe("\u001B[32ma\u001B[39m")
  })

  it("has none with NO_COLOR", () => {
    vi.stubEnv("NO_COLOR", "1")
    expect(new Screen(new Terminal({ columns: 40, rows: 5 }).stream, true).paint.green("a")).toBe("a")
  })

  it("has none with --no-color", () => {
    vi.stubEnv("NO_COLOR", undefined)
    expect(new Screen(new Terminal({ columns: 40, rows: 5 }).stream, false).paint.green("a")).toBe("a")
  })

  it("draws no table on a terminal that can't be drawn on", () => {
    vi.stubEnv("TERM", "dumb")
    const terminal = new Terminal({ columns: 40, rows: 5 })
    new Screen(terminal.stream, true).show(["a"])
    expect(terminal.written).toBe("")
  })

  it("draws no table and no colour into a pipe, whatever FORCE_COLOR says", () => {
    vi.stubEnv("FORCE_COLOR", "1")
    const terminal = new Terminal({ columns: 40, rows: 5 })
    const screen = new Screen(Object.assign(terminal.stream, { isTTY: false }), true)
    screen.show(["a"])
    screen.say(screen.paint.bold("b"))
    expect(terminal.written).toBe("b\n")
  })

  it("breaks a paragraph between words", () => {
    const screen = new Screen(new Terminal({ columns: 21, rows: 5 }).stream, false)
    expect(screen.wrapped("one two three four five six", "  ")).toEqual([
      "  one two three four",
      "  five six"
    ])
  })
})

class Terminal {
  written = ""
  readonly stream: WriteStream
  #columns: number

  constructor({ columns, rows }: { readonly columns: number; readonly rows: number }) {
    this.#columns = columns
    const write = (text: string): boolean => {
      this.written += text
      return true
    }
    this.stream = { isTTY: true, columns, rows, write } as unknown as WriteStream
  }

  /** As most terminals do, it breaks the lines that are there anew. */
  resize(columns: number): void {
    this.#columns = columns
    Object.assign(this.stream, { columns })
    const redrawn = this.#rows()
    this.written = redrawn.join("\n")
  }

  /** What is on the screen and above it. */
  lines(): readonly string[] {
    return this.#rows()
  }

  #rows(): readonly string[] {
    const rows = [""]
    let y = 0
    for (const [, up, erase, control, text = ""] of this.written.matchAll(PARTS)) {
      if (up !== undefined) y -= Number(up)
      else if (erase !== undefined) rows.splice(y, rows.length, "")
      else if (control === "\n") rows[++y] ??= ""
      else if (control === undefined)
        for (let i = 0; i < text.length; i += this.#columns) {
          if (i > 0) y += 1
          rows[y] = text.slice(i, i + this.#columns)
        }
    }
    return rows
  }
}

/** Cursor up, erase to the end, the end of a line, text. */
// oxlint-disable-next-line no-control-regex
const PARTS = /\u001B\[(\d+)A|(\u001B\[J)|([\r\n])|([^\u001B\r\n]+)/g
