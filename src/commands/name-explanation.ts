/**
 * What a node's pods get for a name, in the words of a person: the answer, then a table of what had a say.
 */
import type { ExplainedName } from "../core/explain-name.ts"
import { naming } from "../core/words.ts"
import { columns } from "./columns.ts"

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

const table = (shown: readonly Row[]): readonly string[] =>
  columns(
    HEAD,
    shown.map(({ subject, unit, addresses, given, reason }) => [
      subject,
      unit ?? "-",
      addresses.length === 0 ? "-" : naming(addresses, ADDRESSES),
      given ? "yes" : "no",
      reason
    ])
  )
