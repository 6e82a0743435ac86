/**
 * Bytes and texts: UTF-8 read, and bytes with some of their parts replaced.
 *
 * The core knows neither the platform's decoders nor its buffers; both are the same in a browser.
 */

/** A part of some bytes, and the text (of ASCII characters) that stands there instead. */
export interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** The bytes with edits made, which are sorted and don't overlap; the very same bytes where there is none. */
export const edited = (bytes: Uint8Array, edits: readonly Edit[]): Uint8Array => {
  if (edits.length === 0) return bytes
  let length = bytes.length
  for (const { from, to, text: put } of edits) length += put.length - (to - from)
  const result = new Uint8Array(length)
  let read = 0
  let written = 0
  for (const { from, to, text: put } of edits) {
    result.set(bytes.subarray(read, from), written)
    written += from - read
    for (let i = 0; i < put.length; i++) result[written + i] = put.charCodeAt(i)
    written += put.length
    read = to
  }
  result.set(bytes.subarray(read), written)
  return result
}

/** Where bytes and texts are put one behind the other. */
export interface Sink {
  /** the bytes from one position to before another */
  readonly bytes: (from: Uint8Array, start: number, end: number) => void
  /** of ASCII characters alone */
  readonly text: (put: string) => void
}

/** Puts the bytes with edits made: as `edited`, without a copy between. */
export const put = (bytes: Uint8Array, edits: readonly Edit[], sink: Sink): void => {
  let read = 0
  for (const { from, to, text: instead } of edits) {
    sink.bytes(bytes, read, from)
    if (instead !== "") sink.text(instead)
    read = to
  }
  sink.bytes(bytes, read, bytes.length)
}

/** JSON of ASCII characters alone. */
export const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** The bytes of a text of ASCII characters alone. */
export const asciiBytes = (given: string): Uint8Array => {
  const bytes = new Uint8Array(given.length)
  for (let i = 0; i < given.length; i++) bytes[i] = given.charCodeAt(i)
  return bytes
}

/** Whether bytes with edits made are the same as others with theirs; nothing is built for it. */
export const sameEdited = (
  a: Uint8Array,
  aEdits: readonly Edit[],
  b: Uint8Array,
  bEdits: readonly Edit[]
): boolean => {
  const left = new Walk(a, aEdits)
  const right = new Walk(b, bEdits)
  for (;;) {
    const byte = left.next()
    if (byte !== right.next()) return false
    if (byte === undefined) return true
  }
}

/** Goes through bytes with edits made, one by one. */
class Walk {
  readonly #bytes: Uint8Array
  readonly #edits: readonly Edit[]
  #edit: Edit | undefined
  #index = 0
  #at = 0
  #put = 0

  constructor(bytes: Uint8Array, edits: readonly Edit[]) {
    this.#bytes = bytes
    this.#edits = edits
    this.#edit = edits[0]
  }

  /** The next byte, or undefined at the end. */
  next(): number | undefined {
    for (;;) {
      const edit = this.#edit
      if (edit === undefined || this.#at < edit.from) return this.#bytes[this.#at++]
      if (this.#put < edit.text.length) return edit.text.charCodeAt(this.#put++)
      this.#at = edit.to
      this.#put = 0
      this.#index += 1
      this.#edit = this.#edits[this.#index]
    }
  }
}

const CHUNK = 4096

/** Bytes read as UTF-8; what is none becomes U+FFFD. */
export const text = (bytes: Uint8Array, from: number, to: number): string => {
  if (to - from > CHUNK) return longText(bytes, from, to)
  let code = to - from
  for (let i = from; i < to; i++) {
    const byte = bytes[i] ?? 0
    if (byte > 0x7f) return wideText(bytes, from, to)
    code = (Math.imul(code, 31) + byte) | 0
  }
  if (to - from > SHORT) return plainText(bytes, from, to)
  const slot = (code ^ (code >>> 11)) & (SLOTS - 1)
  const before = recent[slot]
  if (before !== undefined && isText(before, bytes, from, to)) return before
  const found = plainText(bytes, from, to)
  recent[slot] = found
  return found
}

/** Short texts read lately: names of fields and labels are the same in every object, and needn't be made again. */
const SLOTS = 4096
const SHORT = 48
const recent: (string | undefined)[] = Array.from({ length: SLOTS }, () => undefined)

const isText = (known: string, bytes: Uint8Array, from: number, to: number): boolean => {
  if (known.length !== to - from) return false
  for (let i = 0; i < known.length; i++) if (known.charCodeAt(i) !== bytes[from + i]) return false
  return true
}

const plainText = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode.apply(null, bytes.subarray(from, to) as unknown as number[])

/** In pieces that end before a character's first byte. */
const longText = (bytes: Uint8Array, from: number, to: number): string => {
  const pieces: string[] = []
  for (let at = from; at < to;) {
    let end = Math.min(at + CHUNK, to)
    for (let back = 0; back < 3 && end < to && isTail(bytes[end]); back++) end -= 1
    pieces.push(text(bytes, at, end))
    at = end
  }
  return pieces.join("")
}

const isTail = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

const wideText = (bytes: Uint8Array, from: number, to: number): string => {
  const codes: number[] = []
  for (let at = from; at < to;) {
    const first = bytes[at] ?? 0
    const length =
      first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
    const code = length === 0 || at + length > to ? undefined : point(bytes, at, length)
    codes.push(code ?? 0xfffd)
    at += code === undefined ? 1 : length
  }
  return String.fromCodePoint(...codes)
}

/** The character of `length` bytes, where they are one in its shortest form and no half of a pair. */
const point = (bytes: Uint8Array, at: number, length: number): number | undefined => {
  const first = bytes[at] ?? 0
  let code = length === 1 ? first : first & (0xff >> (length + 1))
  for (let i = 1; i < length; i++) {
    const byte = bytes[at + i]
    if (!isTail(byte)) return undefined
    code = (code << 6) | ((byte ?? 0) & 0x3f)
  }
  const least = [0, 0, 0x80, 0x800, 0x10000][length] ?? 0
  return code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? undefined : code
}
