/** FNV-1a of 128 bits, by which Kubernetes orders what has no order of its own. */

/** 2^88 + 0x13b */
const PRIME = 0x13b
/** The limbs of 16 bits, the lowest first. */
const BASIS = [0xc58d, 0x6295, 0x2175, 0x62b8, 0x0142, 0x07bb, 0x272e, 0x6c62]

const text = new TextEncoder()

export class Fnv {
  readonly #limbs = Uint32Array.from(BASIS)
  readonly #before = new Uint32Array(BASIS.length)

  add(more: string): this {
    const [limbs, before] = [this.#limbs, this.#before]
    for (const byte of text.encode(more)) {
      limbs[0] = (limbs[0] ?? 0) ^ byte
      before.set(limbs)
      let carry = 0
      for (let place = 0; place < limbs.length; place++) {
        // 2^88 is 8 bits into the sixth limb
        const high =
          place < 5 ? 0 : (((before[place - 5] ?? 0) << 8) & 0xffff) | ((before[place - 6] ?? 0) >> 8)
        const sum = (before[place] ?? 0) * PRIME + high + carry
        limbs[place] = sum & 0xffff
        carry = Math.floor(sum / 0x1_0000)
      }
    }
    return this
  }

  /** 32 digits, which sort as the bytes do */
  hex(): string {
    return Array.from(this.#limbs, (limb) => limb.toString(16).padStart(4, "0"))
      .reverse()
      .join("")
  }
}

/** In the order of the hashes of what is said of each. */
export const byHash = <T>(all: readonly T[], said: (each: T) => string): readonly T[] => {
  if (all.length < 2) return all
  const hashed = all.map((each) => ({ each, hash: new Fnv().add(said(each)).hex() }))
  return hashed.toSorted((one, other) => (one.hash < other.hash ? -1 : 1)).map(({ each }) => each)
}
