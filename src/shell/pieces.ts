/**
 * Bytes and texts put together, up to what one write should take.
 */
import type { Sink } from "../core/bytes.ts"

export interface Pieces extends Sink {
  readonly empty: boolean
  /** whether it is time to write */
  readonly full: boolean
  readonly done: () => Buffer
  /** the same as a chunk of an HTTP/1.1 body, its size before it */
  readonly chunk: () => Buffer
  /** to be called once what was handed over is written, and no sooner: its memory is used again */
  readonly release: () => void
}

/** Bytes of one write. */
const ENOUGH = 64 * 1024

/** Room for one write, and for what its last object may have more. */
export const WHOLE = ENOUGH + 16 * 1024

/** Bytes that are of one event, most of the time. */
const EVENT = 2048

/** Bytes up to which a loop is faster than a call. */
const FEW = 64

/** The size of a chunk: eight hexadecimal digits, and the end of their line. */
const HEAD = 10

/** Buffers of whole writes that nobody uses now. A list is a hundred of them one after the other: to allocate each took longer than to fill it. */
const spare: Buffer[] = []
const MOST_SPARE = 4

const leave = (buffer: Buffer): void => {
  if (buffer.length === WHOLE && spare.length < MOST_SPARE) spare.push(buffer)
}

/** `size`: bytes for which there is room at the beginning, `WHOLE` for many objects. */
export const pieces = (size: number = EVENT): Pieces => {
  let buffer = (size === WHOLE ? spare.pop() : undefined) ?? Buffer.allocUnsafe(size)
  let at = HEAD
  const room = (more: number): void => {
    if (at + more <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(at + more, 4 * buffer.length))
    buffer.copy(larger, 0, 0, at)
    leave(buffer)
    buffer = larger
  }
  return {
    bytes: (from, start, end) => {
      room(end - start)
      if (end - start > FEW) {
        buffer.set(from.subarray(start, end), at)
        at += end - start
      } else for (let i = start; i < end; i++) buffer[at++] = from[i] ?? 0
    },
    text: (put) => {
      room(put.length)
      for (let i = 0; i < put.length; i++) buffer[at++] = put.charCodeAt(i)
    },
    get empty() {
      return at === HEAD
    },
    get full() {
      return at >= ENOUGH
    },
    done: () => buffer.subarray(HEAD, at),
    chunk: () => {
      room(2)
      buffer.write(`${(at - HEAD).toString(16).padStart(8, "0")}\r\n`, 0, "latin1")
      buffer.write("\r\n", at, "latin1")
      return buffer.subarray(0, at + 2)
    },
    release: () => leave(buffer)
  }
}
