/**
 * (a hosts file, names) -> the hosts file with one marked block for them.
 *
 * Lines outside the block belong to others and stay as they are, to the byte. The format is that of hosts(5), as CoreDNS' `hosts` plugin reads
 * it: an address, then names. It stops reading at a line of more than 64 KiB, so that an address with many names gets several lines.
 */
import type { Name } from "./names.ts"

export const BEGIN = "# BEGIN servicegroup: written by `servicegroup dns`, edits between these lines are lost"
export const END = "# END servicegroup"

/** Characters of a line; the plugin's scanner gives up at 65,536 bytes, and names are ASCII. */
const LONGEST = 4000

/** The file's text with a block of these names in place of the one that is there, else at the end. The same text where nothing changes. */
export const hosts = (before: string, names: readonly Name[]): string => {
  const block = [BEGIN, ...lines(names), END].join("\n")
  const { head, tail } = outside(before)
  const lead = head === "" || head.endsWith("\n") ? head : `${head}\n`
  return `${lead}${block}\n${tail}`
}

/** A line for each address, sorted; several where it has too many names. */
const lines = (names: readonly Name[]): readonly string[] => {
  const byAddress = new Map<string, string[]>()
  for (const { name, addresses } of names)
    for (const address of addresses) {
      const known = byAddress.get(address)
      if (known === undefined) byAddress.set(address, [name])
      else known.push(name)
    }
  return [...byAddress]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([address, all]) => linesOf(address, all))
}

const linesOf = (address: string, names: readonly string[]): readonly string[] => {
  const found: string[] = []
  let line = address
  for (const name of [...names].sort()) {
    if (line.length + name.length >= LONGEST && line !== address) {
      found.push(line)
      line = address
    }
    line += ` ${name}`
  }
  return [...found, line]
}

/** What stands before and after our blocks. A block whose end was lost goes as far as its lines are of our kind. */
const outside = (text: string): { readonly head: string; readonly tail: string } => {
  const all = text.split("\n")
  const last = all.pop() ?? ""
  const head: string[] = []
  const tail: string[] = []
  let state: "before" | "inside" | "after" = "before"
  let ended = true
  for (const [i, line] of all.entries()) {
    const bare = line.trimEnd()
    if (isBegin(bare)) {
      state = "inside"
      ended = all.indexOf(END, i) !== -1 && !reopened(all, i)
    } else if (state === "inside") {
      if (bare === END) state = "after"
      else if (!ended && !isOurs(bare)) {
        state = "after"
        tail.push(line)
      }
    } else (state === "before" ? head : tail).push(line)
  }
  const rest = (state === "before" ? head : tail).length > 0 || last !== "" ? last : ""
  return state === "before"
    ? { head: joined(head, rest), tail: "" }
    : { head: joined(head, ""), tail: joined(tail, rest) }
}

/** Also where another version wrote it. */
const isBegin = (line: string): boolean => line.startsWith("# BEGIN servicegroup:")

/** Whether another block begins before this one ends. */
const reopened = (all: readonly string[], from: number): boolean => {
  const next = all.findIndex((line, i) => i > from && isBegin(line))
  return next !== -1 && next < all.indexOf(END, from)
}

const joined = (whole: readonly string[], rest: string): string =>
  whole.map((line) => `${line}\n`).join("") + rest

/** A line such as we write: an address, and names of Services. */
const isOurs = (line: string): boolean =>
  /^[0-9a-f.:]+(?: [-a-z0-9]+(?:\.[-a-z0-9]+)*\.svc(?:\.[-a-z0-9]+)*)+$/.test(line)
