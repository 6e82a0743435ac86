/**
 * A small hash for names and digests.
 *
 * 64 bits, not cryptographic: it tells texts apart that nobody chose in order to collide. Two lanes of 32 bits are
 * mixed with the multipliers of MurmurHash3, as in the public-domain function cyrb53 (bryc), kept whole.
 */

/** Two lanes of 32 bits. */
export interface Lanes {
  readonly low: number
  readonly high: number
}

/** Mixes a text into two lanes. */
export const mix = (text: string, low: number, high: number): Lanes => {
  let a = low ^ 0xdeadbeef
  let b = high ^ 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return { low: a, high: b }
}

const hex = (lane: number): string => (lane >>> 0).toString(16).padStart(8, "0")

/** The 64-bit hash of a text, as 16 hexadecimal digits. The same text gives the same hash in every release. */
export const hash = (text: string): string => {
  const { low, high } = mix(text, 0, 0)
  return hex(high) + hex(low)
}
