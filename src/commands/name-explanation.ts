/**
 * What a node's pods get for a name, in the words of a person: the answer, then a table of what had a say.
 */
import type { ExplainedName } from "../core/explain-name.ts"

type Row = ExplainedName["rows"][number]

const HEAD = ["WHAT", "UNIT", "ADDRESS", "GIVEN", "REASON"] as const

/** Rows that are printed, and addresses of a row. */
const ROWS = 12
const ADDRESSES = 4

/** The text of an explanation. */
export const render = ({ name, node, addresses, from, rows }: ExplainedName): string =>
  [
    `Name ${name}, asked on node ${node}`,
    `  ${addresses.length === 0 ? "no address" : addresses.join(", ")}${WHO[from]}`,
    "",
    ...table(rows.slice(0, ROWS)),
    ...(rows.length > ROWS ? [`  and ${rows.length - ROWS} more; -o json prints all`] : [])
  ].join("\n")

const WHO = {
  Unit: ": a pod of this node's own unit",
  Cluster: ": as CoreDNS itself answers on every node",
  Nobody: ""
} as const satisfies { readonly [F in ExplainedName["from"]]: string }

const table = (shown: readonly Row[]): readonly string[] => {
  const rows = [
    HEAD,
    ...shown.map(({ subject, unit, addresses, given, reason }) => [
      subject,
      unit ?? "-",
      some(addresses),
      given ? "yes" : "no",
      reason
    ])
  ]
  const widths = HEAD.slice(0, -1).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)))
  return rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")}`)
}

const some = (all: readonly string[]): string => {
  if (all.length === 0) return "-"
  const more = all.length - ADDRESSES
  return all.slice(0, ADDRESSES).join(", ") + (more > 0 ? ` and ${more} more` : "")
}
