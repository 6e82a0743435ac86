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

const DEEPEST = 500

export class Reader {
  readonly bytes: Uint8Array
  at = 0
  #depth = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** Ends the reading: the bytes are not what was expected. */
  fail(message: string): never {
    throw new Broken(message)
  }

  /** The first byte of the next value, `NaN` at the end. */
  peek(): number {
    for (;;) {
      const byte = this.bytes[this.at]
      if (byte === undefined) return NaN
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte
      this.at += 1
    }
  }

  /** Nothing but white space may be left. */
  end(): void {
    if (!Number.isNaN(this.peek())) this.#unexpected()
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
      const key = this.string()
      if (this.peek() !== COLON) this.#unexpected()
      this.at += 1
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

  /** Where the next value stands; steps over it. */
  range(): Range {
    this.peek()
    const from = this.at
    this.skip()
    return { from, to: this.at }
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
    let at = this.at + 1
    let escaped = false
    for (;;) {
      const byte = bytes[at]
      if (byte === QUOTE) break
      if (byte === BACKSLASH) {
        escaped = true
        at = this.#escape(at + 1)
      } else if (byte === undefined || byte < 0x20) {
        this.at = at
        this.#unexpected()
      } else at += 1
    }
    this.at = at + 1
    return escaped
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
    return Number.isNaN(first) ? this.#unexpected() : this.fail(message)
  }

  #unexpected(): never {
    const end = this.at >= this.bytes.length
    return this.fail(end ? "ends too early" : `is no JSON at byte ${this.at}`)
  }
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 57
const isHex = (byte: number): boolean =>
  isDigit(byte) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102)

const QUOTE = 34
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
const LOWER_N = 110
const LOWER_T = 116
const LOWER_U = 117
/** The byte that an object begins with. */
export const OPEN_BRACE = 123
const CLOSE_BRACE = 125
