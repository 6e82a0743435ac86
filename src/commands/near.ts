/**
 * Names that somebody may have meant who wrote another one.
 */

/** What is said of a name that isn't there: the nearest of those that are, at most five. */
export const near = (asked: string, names: readonly string[]): string => {
  if (names.length === 0) return "there is none at all"
  const sorted = names
    .map((name) => ({ name, far: distance(asked, name) }))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
  const some = sorted.slice(0, MOST).map(({ name }) => name)
  const more = names.length - some.length
  return `there ${names.length === 1 ? "is" : "are"} ${some.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

const MOST = 5

/** How many letters have to be changed, put in or taken out; less where one is a part of the other. */
const distance = (a: string, b: string): number => {
  if (a !== "" && (a.includes(b) || b.includes(a))) return 1
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min((row[j] ?? 0) + (a[i] === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    row = next
  }
  return row.at(-1) ?? 0
}
