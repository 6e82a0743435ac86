/**
 * A small hash for names and digests.
 *
 * 64 bits, not cryptographic: it tells texts apart that nobody chose in order to collide. Two lanes of 32 bits are
 * mixed with the multipliers of MurmurHash3, as in the public-domain function cyrb53 (bryc), kept whole.
 */

const lanes = (text: string): readonly [number, number] => {
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    low = Math.imul(low ^ code, 2654435761)
    high = Math.imul(high ^ code, 1597334677)
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  return [low >>> 0, high >>> 0]
}

/** The 64-bit hash of a text, as 16 hexadecimal digits. The same text gives the same hash in every release. */
export const hash = (text: string): string => {
  const [low, high] = lanes(text)
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0")
}
