/**
 * Short names for contents: what Kubernetes calls pod-template-hash and controller revision hash.
 *
 * Equal contents give equal names, whatever the order of keys, and absent, null and undefined are one.
 */

/** FNV-1a over the canonical text, in the letters that Kubernetes uses for generated names (no vowels). */
export const hash = (content: unknown): string => {
  const text = canonical(content)
  let sum = 0x811c9dc5
  for (let place = 0; place < text.length; place++) {
    sum = Math.imul(sum ^ text.charCodeAt(place), 0x01000193) >>> 0
  }
  return Array.from(String(sum), (digit) => LETTERS[digit.charCodeAt(0) % LETTERS.length]).join("")
}

/** Whether two JSON values say the same, null and undefined taken as absent. */
export const same = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (one === null || one === undefined) return other === null || other === undefined
  if (typeof one !== "object" || typeof other !== "object" || other === null) return false
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false
    return one.every((each, place) => same(each, other[place]))
  }
  return covers(one, other) && covers(other, one)
}

const covers = (one: object, other: object): boolean => {
  for (const key of Object.keys(one)) {
    const value: unknown = one[key as keyof typeof one]
    if (value === null || value === undefined) continue
    if (!Object.hasOwn(other, key) || !same(value, other[key as keyof typeof other])) return false
  }
  return true
}

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined)
  entries.filter(([one], [other]) => (one < other ? -1 : 1))
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(",")}}`
}

const LETTERS = "bcdfghjklmnpqrstvwxz2456789"
