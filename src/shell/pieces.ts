/**
 * Bytes and texts put together, up to what one write should take.
 */
import type { Sink } from "../core/bytes.ts"

export interface Pieces extends Sink {
  /** whether it is time to write */
  readonly full: boolean
  readonly done: () => Buffer
}

/** Bytes of one write. */
const ENOUGH = 64 * 1024

/** Bytes up to which a loop is faster than a call. */
const FEW = 64

export const pieces = (): Pieces => {
  let buffer = Buffer.allocUnsafe(4096)
  let at = 0
  const room = (size: number): void => {
    if (at + size <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(at + size, 4 * buffer.length))
    buffer.copy(larger, 0, 0, at)
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
    get full() {
      return at >= ENOUGH
    },
    done: () => buffer.subarray(0, at)
  }
}
