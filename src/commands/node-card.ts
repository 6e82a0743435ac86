/**
 * All that a node carries because of units and groups, as a table: what, how far it is, who gives it and where that is said.
 */
import type { Carried } from "../core/carried.ts"
import type { RosterNode } from "../core/roster.ts"
import { thing } from "./node-notes.ts"

const STATES: { readonly [state in Carried["state"]]: string } = {
  Given: "given",
  Shared: "shared",
  Coming: "coming",
  Going: "going",
  Refused: "not given",
  Kept: "kept"
}

const HEAD = ["KIND", "WHAT", "STATE", "FROM"] as const

/** The table as lines, with its title. */
export const nodeCard = ({ name, carries }: RosterNode): readonly [title: string, ...lines: string[]] => {
  if (carries.length === 0) return [`Node ${name} carries nothing of units and groups`]
  const rows = [
    HEAD,
    ...carries.map((each) => [each.kind, thing(each), STATES[each.state], fromWhere(each)] as const)
  ]
  const widths = HEAD.map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)))
  const lines = rows.map((row) =>
    `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")}`.trimEnd()
  )
  return [`Node ${name} carries`, ...lines]
}

const fromWhere = (each: Carried): string => {
  const { state, from, there, owners } = each
  const givers = from.map(({ unit, group, path }) => {
    const name = unit === undefined ? `NodeGroup ${group ?? ""}` : `NodeUnit ${unit}`
    return path === "metadata.name" ? name : `${name} ${path}`
  })
  const by = owners?.join(", ")
  return [
    ...givers,
    ...(state === "Shared" ? [by ?? "someone else"] : []),
    ...(there === undefined
      ? []
      : [`there is ${thing({ ...each, value: there })}${by === undefined ? "" : ` from ${by}`}`])
  ].join(", ")
}
