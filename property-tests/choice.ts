/**
 * Values in two forms: as they are sent to the API server, and as it then stores them.
 *
 * Each maker chooses a value and says both forms, so that nothing has to be parsed or compared to know the answer.
 */
import type { Fields, Value } from "./openapi.ts"

/** What is sent and what the server stores; absent where `undefined`. */
export interface Pair {
  readonly sent: Value | undefined
  readonly stored: Value | undefined
}

/** Chooses, always the same for one seed: quick, since a run makes hundreds of choices. */
export class Choice {
  #state: number
  constructor(seed: number) {
    this.#state = seed ^ 0x9e3779b9
  }
  /** below `n` (mulberry32, public domain) */
  below(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % n
  }
  of<A>(items: readonly [A, ...A[]]): A {
    return items[this.below(items.length)] ?? items[0]
  }
  /** some of them, in any order */
  some<A>(items: readonly A[], min: number): readonly A[] {
    const left = [...items]
    const taken: A[] = []
    for (let n = min + this.below(items.length - min + 1); n > 0; n--)
      taken.push(...left.splice(this.below(left.length), 1))
    return taken
  }
}

export type Make = (choice: Choice) => Pair
type Makes = { readonly [name: string]: Make }
export type Some<A> = readonly [A, ...A[]]

export const one =
  (...pairs: Some<Pair>): Make =>
  (choice) =>
    choice.of(pairs)
export const any =
  (...makes: Some<Make>): Make =>
  (choice) =>
    choice.of(makes)(choice)
export const either =
  (...values: Some<Value>): Make =>
  (choice) => {
    const value = choice.of(values)
    return { sent: value, stored: value }
  }
/** a zero that the server doesn't keep, or another value that it does */
export const zero = (none: Value, some: Value): Make =>
  one({ sent: none, stored: undefined }, { sent: some, stored: some })

/** An object with all of `needed` and some of `fields`; `filled` is what the server puts where a field isn't sent. */
export const object =
  (fields: Makes, filled: Fields = {}, needed: Makes = {}): Make =>
  (choice) => {
    const sent: [string, Value][] = []
    const stored: [string, Value][] = Object.entries(filled)
    const add = (name: string, { sent: a, stored: b }: Pair): void => {
      if (a !== undefined) sent.push([name, a])
      if (b !== undefined) stored.push([name, b])
    }
    for (const [name, make] of Object.entries(needed)) add(name, make(choice))
    for (const [name, make] of Object.entries(fields)) if (choice.below(5) === 0) add(name, make(choice))
    return { sent: Object.fromEntries(sent), stored: Object.fromEntries(stored) }
  }
export const need = (needed: Makes): Make => object({}, {}, needed)

export const listOf =
  (make: Make, max = 2): Make =>
  (choice) =>
    listed(Array.from({ length: choice.below(max + 1) }, () => make(choice)))

export const listed = (pairs: readonly Pair[]): Pair => ({
  sent: pairs.map((each) => each.sent ?? null),
  stored: pairs.length === 0 ? undefined : pairs.map((each) => each.stored ?? null)
})

/** A list in which each key stands once. */
export const keyedBy =
  (key: string, keys: readonly Value[], item: Make, min = 0): Make =>
  (choice) =>
    listed(choice.some(keys, min).map((each) => withField(item(choice), key, each)))

export const withField = ({ sent, stored }: Pair, name: string, value: Value): Pair => ({
  sent: { [name]: value, ...(sent as Fields) },
  stored: { [name]: value, ...(stored as Fields) }
})

export const some =
  (pairs: readonly Pair[], min: number): Make =>
  (choice) =>
    listed(choice.some(pairs, min))
