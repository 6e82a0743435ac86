/** Rows of text as lines, columns side by side; the last column is as long as its words. */
export const columns = (head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => {
  const all = [head, ...rows]
  const widths = head.slice(0, -1).map((_, i) => Math.max(...all.map((row) => (row[i] ?? "").length)))
  return all.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")}`)
}
