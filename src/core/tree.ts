/**
 * What a field manager says about an object: the paths that it owns, and the values there, in one spelling.
 *
 * A tree knows its digest. Parts are told apart as people write them: a field's name, `[name=nginx]` for an item of
 * a keyed list, `["x"]` for an item of a set. The digest is a Merkle hash of 64 bits, not cryptographic: each
 * node mixes its own text with the sum of its parts' hashes, so the order of parts never matters.
 */
import { type Lanes, mix } from "./hash.ts"

export interface Tree extends Lanes {
  /** the path itself is owned, not only something below it */
  readonly owned: boolean
  /** the value in its one spelling; empty for what says nothing (null, `[]`, `{}`, `""`, 0, false) */
  readonly value: string
  readonly parts: ReadonlyMap<string, Tree>
}

const NO_PARTS: ReadonlyMap<string, Tree> = new Map()

/** A tree of its parts. */
export const tree = (owned: boolean, value: string, parts: ReadonlyMap<string, Tree>): Tree => {
  let low = owned ? 1 : 2
  let high = parts.size
  for (const [name, part] of parts) {
    const hashed = mix(name, part.low, part.high)
    low = (low + hashed.low) | 0
    high = (high + hashed.high) | 0
  }
  const hashed = mix(value, low, high)
  return { owned, value, parts, low: hashed.low, high: hashed.high }
}

/** An owned path with nothing below it. */
export const leaf = (value: string): Tree => tree(true, value, NO_PARTS)

/** 64 bits as a short text: equal trees have equal digests, and different ones don't unless by chance. */
export const digest = (tree: Tree): string => text(tree.high) + text(tree.low)

const text = (lane: number): string => (lane >>> 0).toString(36).padStart(7, "0")

/** A path at which two trees differ; a side is absent where it doesn't own the path. */
export interface Difference {
  /** such as `spec.template.spec.containers[name=nginx].image` */
  readonly path: string
  readonly wanted: string | undefined
  readonly owned: string | undefined
}

/**
 * Where two trees differ, sorted by path. Values are shortened to what fits in a line. An item of a keyed list that only one
 * side has is one difference. Empty exactly where the digests are equal.
 */
export const differences = (wanted: Tree, owned: Tree): readonly Difference[] => {
  const found: Difference[] = []
  collect(wanted, owned, "", found)
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

const collect = (
  wanted: Tree | undefined,
  owned: Tree | undefined,
  path: string,
  found: Difference[]
): void => {
  if (wanted?.high === owned?.high && wanted?.low === owned?.low) return
  const onlyHere = wanted === undefined ? owned : owned === undefined ? wanted : undefined
  if (onlyHere?.owned === true) {
    found.push({ path, wanted: wanted && shown(wanted), owned: owned && shown(owned) })
    return
  }
  const names = new Set([...(wanted?.parts.keys() ?? []), ...(owned?.parts.keys() ?? [])])
  for (const name of names) collect(wanted?.parts.get(name), owned?.parts.get(name), step(path, name), found)
  if (wanted === undefined || owned === undefined) return
  if (wanted.owned !== owned.owned || (wanted.value !== owned.value && sameNames(wanted, owned)))
    found.push({ path, ...apart(wanted, owned) })
}

/** Lists with other items have another order, which says nothing new. */
const sameNames = (wanted: Tree, owned: Tree): boolean =>
  wanted.parts.size === owned.parts.size && [...wanted.parts.keys()].every((name) => owned.parts.has(name))

const step = (path: string, name: string): string => {
  if (name.startsWith("[")) return path + name
  if (/^[A-Za-z_$][\w$-]*$/.test(name)) return path === "" ? name : `${path}.${name}`
  return `${path}[${name}]`
}

const WIDTH = 80

const cut = (text: string, start: number): string => {
  const from = start > WIDTH / 2 ? start - WIDTH / 4 : 0
  return (from > 0 ? "…" : "") + text.slice(from, from + WIDTH) + (from + WIDTH < text.length ? "…" : "")
}

/** Both values, each cut so that the place shows where they part. */
const apart = (wanted: Tree, owned: Tree): Omit<Difference, "path"> => {
  const [left, right] = [value(wanted), value(owned)]
  let same = 0
  while (same < (left?.length ?? 0) && left?.[same] === right?.[same]) same++
  return { wanted: left && cut(left, same), owned: right && cut(right, same) }
}

/** What a side says of the path alone, whatever it says below. */
const value = ({ owned, value, parts }: Tree): string | undefined => {
  if (value !== "") return value
  if (!owned) return undefined
  return parts.size > 0 ? "itself" : "empty"
}

const shown = (tree: Tree): string => cut(said(tree), 0)

const said = (tree: Tree): string => {
  if (tree.parts.size === 0) return tree.value === "" ? "empty" : tree.value
  if (tree.value !== "") return tree.value
  return `{${[...tree.parts].map(([name, part]) => `${name}: ${said(part)}`).join(", ")}}`
}
