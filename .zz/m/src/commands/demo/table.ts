/** Columns of text side by side, no wider than the terminal. */

export interface Cell {
  readonly text: string
  readonly paint?: ((text: string) => string) | undefined
  /** where it is too long, its end is worth more than its middle */
  readonly tail?: boolean
}

/**
 * Rows as lines; a row may have fewer cells than the others, its last one then takes what room there is. Where the
 * columns are too wide, the widest one gives way.
 */
export const table = (rows: readonly (readonly Cell[])[], width: number): readonly string[] => {
  const count = Math.max(...rows.map((row) => row.length))
  const columns = Array.from({ length: count }, (_, column) =>
    Math.max(
      ...rows.map((row) => (column === row.length - 1 && row.length < count ? 0 : lengthOf(row[column])))
    )
  )
  narrow(columns, width)
  return rows.map((row) => line(row, columns, width))
}

/** A text with an ellipsis where it is too long. */
export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(width - 1, 0))}${width > 0 ? "…" : ""}`

const cutInside = (text: string, width: number): string => {
  const end = Math.floor((width - 1) / 2)
  return text.length <= width || end < 1
    ? cut(text, width)
    : cut(text.slice(0, -end), width - end) + text.slice(-end)
}

const lengthOf = (cell: Cell | undefined): number => cell?.text.length ?? 0

const narrow = (columns: number[], width: number): void => {
  const whole = (): number => columns.reduce((sum, each) => sum + each + GAP, -GAP)
  while (whole() > width) {
    const widest = columns.indexOf(Math.max(...columns))
    const size = columns[widest] ?? 0
    if (size <= NARROWEST) return
    columns[widest] = size - 1
  }
}

const line = (row: readonly Cell[], columns: readonly number[], width: number): string => {
  let room = width
  return row
    .map(({ text, paint, tail = false }, column) => {
      const last = column === row.length - 1
      const size = columns[column] ?? 0
      const shown = (tail ? cutInside : cut)(text, Math.min(last ? room : size, room))
      const padding = last ? "" : " ".repeat(Math.max(Math.min(size + GAP, room) - shown.length, 0))
      room -= shown.length + padding.length
      return (paint?.(shown) ?? shown) + padding
    })
    .join("")
    .trimEnd()
}

const GAP = 2
const NARROWEST = 5
