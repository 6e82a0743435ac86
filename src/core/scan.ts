/**
 * A reader of JSON as bytes: walks over one text, hands out the strings that are asked for, and steps over the rest.
 *
 * Strict as RFC 8259 is, since what it passes is sent on as it came. Nothing is built for what is stepped over, so that
 * the fields that nobody asks for cost no memory.
 */
import { text } from "./bytes.ts"

/** Part of the bytes: from the first to before the last. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** Why bytes are not what they should be: kept out, said once, counted. */
export interface Malformed {
  readonly _tag: "Malformed"
  readonly message: string
}

/** What a reader throws; `reading` alone catches it. */
class Broken extends Error {}

/** What `read` gives, or why the bytes are malformed: never throws, unless there is a bug in `read`. */
export const reading = <A>(bytes: Uint8Array, read: (reader: Reader) => A): A | Malformed => {
  const reader = new Reader(bytes)
  try {
    const value = read(reader)
    reader.end()
    return value
  } catch (error) {
    if (error instanceof Broken) return { _tag: "Malformed", message: error.message }
    throw error
  }
}

/**
 * An error in an entry of a list, with a word for which one it is. What is said of the entry begins with a dot or a space (`.nodeName is no
 * string`, ` is null`); what isn't about a value of it stays as it is.
 */
export const inside = (entry: string, error: unknown): unknown =>
  error instanceof Broken && /^[. []/.test(error.message) ? new Broken(`${entry}${error.message}`) : error

/** Calls `read` until it says that it has enough, or the bytes break. What it found by then is all that there is. */
export const untilEnough = (bytes: Uint8Array, read: (reader: Reader, enough: () => never) => void): void => {
  const reader = new Reader(bytes)
  try {
    read(reader, () => {
      throw ENOUGH
    })
  } catch (error) {
    if (!(error instanceof Broken)) throw error
  }
}

/** One for all: to make an error costs as much as to read an object. */
const ENOUGH = new Broken("enough")

const DEEPEST = 500

export class Reader {
  readonly bytes: Uint8Array
  at = 0
  /** where the name of the field stands whose value was visited last */
  field = 0
  /** parts that the reader of the object wants to be without: see `cut` */
  readonly cuts: Range[] = []
  #cut = 0
  #depth = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** Where the reader stands, in the bytes without what was cut so far. */
  get place(): number {
    return this.at - this.#cut
  }

  /** Leaves out what stands between a position and here: places from here on are those without it. */
  cut(from: number): void {
    this.cuts.push({ from, to: this.at })
    this.#cut += this.at - from
  }

  /** Ends the reading: the bytes are not what was expected. */
  fail(message: string): never {
    throw new Broken(message)
  }

  /** The first byte of the next value, `END` at the end. */
  peek(): number {
    const bytes = this.bytes
    const end = bytes.length
    let at = this.at
    while (at < end) {
      const byte = bytes[at] as number
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) {
        this.at = at
        return byte
      }
      at += 1
    }
    this.at = at
    return END
  }

  /** Nothing but white space may be left. */
  end(): void {
    if (this.peek() !== END) this.#unexpected()
  }

  /** Calls `visit` at the value of each field, which `visit` has to step over. False where the value is null. */
  object(what: string, visit: (key: string) => void): boolean {
    const first = this.peek()
    if (first === LOWER_N) return this.skipNull()
    if (first !== OPEN_BRACE) this.#wrong(first, `${what} is no object`)
    this.#enter()
    if (this.peek() === CLOSE_BRACE) return this.#leave()
    for (;;) {
      if (this.peek() !== QUOTE) this.#unexpected()
      const at = this.at
      const key = this.string()
      if (this.peek() !== COLON) this.#unexpected()
      this.at += 1
      this.field = at
      visit(key)
      const byte = this.peek()
      if (byte === CLOSE_BRACE) return this.#leave()
      if (byte !== COMMA) this.#unexpected()
      this.at += 1
    }
  }

  /** Calls `visit` at each entry, which `visit` has to step over. False where the value is null. */
  array(what: string, visit: (index: number) => void): boolean {
    const first = this.peek()
    if (first === LOWER_N) return this.skipNull()
    if (first !== OPEN_BRACKET) this.#wrong(first, `${what} is no list`)
    this.#enter()
    if (this.peek() === CLOSE_BRACKET) return this.#leave()
    for (let index = 0; ; index++) {
      visit(index)
      const byte = this.peek()
      if (byte === CLOSE_BRACKET) return this.#leave()
      if (byte !== COMMA) this.#unexpected()
      this.at += 1
    }
  }

  /** A string, or undefined for null. */
  text(what: string): string | undefined {
    const first = this.peek()
    if (first === QUOTE) return this.string()
    if (first !== LOWER_N) this.#wrong(first, `${what} is no string`)
    this.skipNull()
    return undefined
  }

  /** A boolean, or undefined for null. */
  boolean(what: string): boolean | undefined {
    const first = this.peek()
    if (first === LOWER_T || first === LOWER_F) {
      this.skip()
      return first === LOWER_T
    }
    if (first !== LOWER_N) this.#wrong(first, `${what} is no boolean`)
    this.skipNull()
    return undefined
  }

  /** The place of the next value; steps over it. */
  range(): Range {
    this.peek()
    const from = this.place
    this.skip()
    return { from, to: this.place }
  }

  /** Steps over any value. */
  skip(): void {
    switch (this.peek()) {
      case QUOTE:
        this.#string()
        return
      case OPEN_BRACE:
        return this.#skipObject()
      case OPEN_BRACKET:
        return this.#skipArray()
      case LOWER_T:
        return this.#word("true")
      case LOWER_F:
        return this.#word("false")
      case LOWER_N:
        return this.#word("null")
      default:
        return this.#number()
    }
  }

  skipNull(): false {
    this.#word("null")
    return false
  }

  /** The string that stands here, escapes resolved. */
  string(): string {
    const from = this.at + 1
    const escaped = this.#string()
    const raw = text(this.bytes, from, this.at - 1)
    return escaped ? (JSON.parse(`"${raw}"`) as string) : raw
  }

  #skipObject(): void {
    this.#enter()
    if (this.peek() === CLOSE_BRACE) return void this.#leave()
    for (;;) {
      if (this.peek() !== QUOTE) this.#unexpected()
      this.#string()
      if (this.peek() !== COLON) this.#unexpected()
      this.at += 1
      this.skip()
      const byte = this.peek()
      if (byte === CLOSE_BRACE) return void this.#leave()
      if (byte !== COMMA) this.#unexpected()
      this.at += 1
    }
  }

  #skipArray(): void {
    this.#enter()
    if (this.peek() === CLOSE_BRACKET) return void this.#leave()
    for (;;) {
      this.skip()
      const byte = this.peek()
      if (byte === CLOSE_BRACKET) return void this.#leave()
      if (byte !== COMMA) this.#unexpected()
      this.at += 1
    }
  }

  #enter(): void {
    this.#depth += 1
    if (this.#depth > DEEPEST) this.fail(`nested deeper than ${DEEPEST} levels`)
    this.at += 1
  }

  #leave(): true {
    this.#depth -= 1
    this.at += 1
    return true
  }

  /** Steps over a string; whether it has escapes. */
  #string(): boolean {
    const bytes = this.bytes
    const end = bytes.length
    let at = this.at + 1
    let escaped = false
    // Most of what is read is read here: small letters come first, and nothing is read behind the end.
    while (at < end) {
      const byte = bytes[at] as number
      if (byte > BACKSLASH) at += 1
      else if (byte === QUOTE) {
        this.at = at + 1
        return escaped
      } else if (byte === BACKSLASH) {
        escaped = true
        at = this.#escape(at + 1)
      } else if (byte < 0x20) break
      else at += 1
    }
    this.at = Math.min(at, end)
    return this.#unexpected()
  }

  /** After an escape whose letter stands at `at`. */
  #escape(at: number): number {
    const letter = this.bytes[at] ?? 0
    if (letter === LOWER_U) {
      for (let i = 1; i <= 4; i++) if (!isHex(this.bytes[at + i] ?? 0)) this.#unexpected()
      return at + 5
    }
    if (!'"\\/bfnrt'.includes(String.fromCharCode(letter))) this.#unexpected()
    return at + 1
  }

  #word(word: string): void {
    for (let i = 0; i < word.length; i++)
      if (this.bytes[this.at + i] !== word.charCodeAt(i)) this.#unexpected()
    this.at += word.length
  }

  #number(): void {
    if (this.bytes[this.at] === MINUS) this.at += 1
    if (this.bytes[this.at] === ZERO) this.at += 1
    else this.#digits()
    if (this.bytes[this.at] === DOT) {
      this.at += 1
      this.#digits()
    }
    const byte = this.bytes[this.at]
    if (byte !== LOWER_E && byte !== UPPER_E) return
    this.at += 1
    const sign = this.bytes[this.at]
    if (sign === PLUS || sign === MINUS) this.at += 1
    this.#digits()
  }

  #digits(): void {
    if (!isDigit(this.bytes[this.at] ?? 0)) this.#unexpected()
    while (isDigit(this.bytes[this.at] ?? 0)) this.at += 1
  }

  #wrong(first: number, message: string): never {
    return first === END ? this.#unexpected() : this.fail(message)
  }

  #unexpected(): never {
    const end = this.at >= this.bytes.length
    return this.fail(end ? "ends too early" : `is no JSON at byte ${this.at}`)
  }
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 57
const isHex = (byte: number): boolean =>
  isDigit(byte) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102)

/** No byte: the end of the bytes. */
const END = -1
/** The byte that a string begins with. */
export const QUOTE = 34
const PLUS = 43
const COMMA = 44
const MINUS = 45
const DOT = 46
const ZERO = 48
const COLON = 58
const UPPER_E = 69
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const LOWER_E = 101
const LOWER_F = 102
/** The byte that null begins with. */
export const LOWER_N = 110
const LOWER_T = 116
const LOWER_U = 117
/** The byte that an object begins with. */
export const OPEN_BRACE = 123
const CLOSE_BRACE = 125
