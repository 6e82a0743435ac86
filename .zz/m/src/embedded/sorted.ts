/**
 * A persistent map in the order of its keys: what a cluster keeps its objects and its history in.
 *
 * Two levels of arrays: a write copies one leaf and the list of leaves, so older versions stay whole and a page
 * of a list, or the history after a revision, is read without touching the rest.
 */
export interface Sorted<K extends string | number, V> {
  readonly size: number
  readonly leaves: readonly Leaf<K, V>[]
}

interface Leaf<K, V> {
  readonly keys: readonly K[]
  readonly values: readonly V[]
}

const FULL = 128

export const none: Sorted<never, never> = { size: 0, leaves: [] }

/** The value of a key. */
export const at = <K extends string | number, V>(map: Sorted<K, V>, key: K): V | undefined => {
  const leaf = map.leaves[leafOf(map.leaves, key)]
  if (leaf === undefined) return undefined
  const place = lowerBound(leaf.keys, key)
  return leaf.keys[place] === key ? leaf.values[place] : undefined
}

/** The map with the key at this value, added or replaced. */
export const put = <K extends string | number, V>(map: Sorted<K, V>, key: K, value: V): Sorted<K, V> => {
  if (map.leaves.length === 0) return { size: 1, leaves: [{ keys: [key], values: [value] }] }
  const index = Math.min(leafOf(map.leaves, key), map.leaves.length - 1)
  const leaf = map.leaves[index] as Leaf<K, V>
  const place = lowerBound(leaf.keys, key)
  if (leaf.keys[place] === key) {
    return {
      size: map.size,
      leaves: map.leaves.with(index, { keys: leaf.keys, values: leaf.values.with(place, value) })
    }
  }
  const grown = {
    keys: leaf.keys.toSpliced(place, 0, key),
    values: leaf.values.toSpliced(place, 0, value)
  }
  const parts = grown.keys.length <= FULL ? [grown] : halves(grown, place)
  return { size: map.size + 1, leaves: map.leaves.toSpliced(index, 1, ...parts) }
}

/** The map without the key. */
export const without = <K extends string | number, V>(map: Sorted<K, V>, key: K): Sorted<K, V> => {
  const index = leafOf(map.leaves, key)
  const leaf = map.leaves[index]
  if (leaf === undefined) return map
  const place = lowerBound(leaf.keys, key)
  if (leaf.keys[place] !== key) return map
  const rest = { keys: leaf.keys.toSpliced(place, 1), values: leaf.values.toSpliced(place, 1) }
  const leaves = rest.keys.length === 0 ? map.leaves.toSpliced(index, 1) : map.leaves.with(index, rest)
  return { size: map.size - 1, leaves }
}

/** The entries from a key on (this key included), in order; read lazily. */
export function* from<K extends string | number, V>(
  map: Sorted<K, V>,
  key: K
): Generator<readonly [K, V], void, undefined> {
  const first = leafOf(map.leaves, key)
  for (let index = first; index < map.leaves.length; index++) {
    const leaf = map.leaves[index] as Leaf<K, V>
    for (let place = index === first ? lowerBound(leaf.keys, key) : 0; place < leaf.keys.length; place++) {
      yield [leaf.keys[place] as K, leaf.values[place] as V]
    }
  }
}

/** How many keys stand from one key on and before another. */
export const count = <K extends string | number, V>(map: Sorted<K, V>, key: K, until: K): number =>
  placeOf(map, until) - placeOf(map, key)

/** How many keys stand before a key. */
const placeOf = <K extends string | number, V>(map: Sorted<K, V>, key: K): number => {
  const index = leafOf(map.leaves, key)
  const leaf = map.leaves[index]
  const before = map.leaves.slice(0, index).reduce((sum, each) => sum + each.keys.length, 0)
  return before + (leaf ? lowerBound(leaf.keys, key) : 0)
}

/** All values in the order of their keys. */
export const values = <K extends string | number, V>(map: Sorted<K, V>): readonly V[] =>
  map.leaves.flatMap((leaf) => leaf.values)

/** The map without the entries below a key. */
export const dropBelow = <K extends string | number, V>(map: Sorted<K, V>, key: K): Sorted<K, V> => {
  const index = leafOf(map.leaves, key)
  const leaf = map.leaves[index]
  if (leaf === undefined) return { size: 0, leaves: [] }
  const place = lowerBound(leaf.keys, key)
  const kept = [
    { keys: leaf.keys.slice(place), values: leaf.values.slice(place) },
    ...map.leaves.slice(index + 1)
  ]
  return { size: kept.reduce((sum, each) => sum + each.keys.length, 0), leaves: kept }
}

/** Appending in order fills leaves to the brim; anything else splits in the middle. */
const halves = <K, V>(leaf: Leaf<K, V>, place: number): readonly Leaf<K, V>[] => {
  const cut = place === leaf.keys.length - 1 ? place : leaf.keys.length >> 1
  return [
    { keys: leaf.keys.slice(0, cut), values: leaf.values.slice(0, cut) },
    { keys: leaf.keys.slice(cut), values: leaf.values.slice(cut) }
  ]
}

/** The first leaf whose last key isn't below this key (the number of leaves, if there is none). */
const leafOf = <K, V>(leaves: readonly Leaf<K, V>[], key: K): number => {
  let low = 0
  let high = leaves.length
  while (low < high) {
    const middle = (low + high) >> 1
    const keys = (leaves[middle] as Leaf<K, V>).keys
    if ((keys[keys.length - 1] as K) < key) low = middle + 1
    else high = middle
  }
  return low
}

const lowerBound = <K>(keys: readonly K[], key: K): number => {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((keys[middle] as K) < key) low = middle + 1
    else high = middle
  }
  return low
}
