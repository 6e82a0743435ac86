/**
 * Who is where, as a tree: groups, their units, their nodes; then the units in no group and the nodes in no unit; at the end what is
 * refused, and what to do about it.
 */
import type { HeldEdit, Roster, RosterGroup, RosterNode, RosterUnit } from "../core/roster.ts"
import type { Paint } from "./demo/paint.ts"
import { nodeCard } from "./node-card.ts"
import { clean, reasons, told, tellings } from "./site-refusals.ts"
import { nodeNotes, type Note, type Spot } from "./node-notes.ts"

/** A line with what hangs below it. */
interface Branch {
  readonly line: string
  readonly below: readonly Branch[]
}

/**
 * The tree as lines. Where there are more than `most` nodes, those of a unit that look the same share a line. A node of the name that was
 * asked for is told thing by thing.
 */
export const siteTree = (
  roster: Roster,
  asked: string | undefined,
  most: number,
  paint: Paint
): readonly string[] => {
  const drawing = new Drawing(roster, most, paint)
  const groups = roster.groups.map((group) => drawing.group(group))
  // Units of all kinds of nodes, such as unit-node-all, come after those that say more.
  const loose = roster.units
    .filter(({ name }) => roster.unitsInNoGroup.includes(name))
    .sort((a, b) => Number(a.type === "other") - Number(b.type === "other"))
    .map((unit) => drawing.unit(unit, undefined))
  const alone = drawing.nodes(roster.nodesInNoUnit, undefined)
  const refused = tellings(roster.refused)
  const none = roster.groups.length + roster.units.length === 0
  const blocks = [
    ...(none && asked === undefined ? [["There is no NodeUnit and no NodeGroup"]] : []),
    ...groups.map(({ line, below }) => [line, ...drawn(below, paint)]),
    ...(loose.length === 0 ? [] : [[paint.bold("In no group"), ...drawn(loose, paint)]]),
    ...(alone.length === 0 ? [] : [[paint.bold("In no unit"), ...drawn(alone, paint)]]),
    ...roster.nodes.filter(({ name }) => name === asked).map((node) => card(node, paint)),
    ...told("Conflicts and refusals", refused, paint.yellow, paint),
    ...told("Notices", tellings(roster.notices), paint.cyan, paint),
    [...coming(roster), summary(roster, refused.length), ...drawing.hints()]
  ]
  return blocks.flatMap((block, i) => (i === 0 ? block : ["", ...block]))
}

const card = (node: RosterNode, paint: Paint): readonly string[] => {
  const [title, ...lines] = nodeCard(node)
  return [paint.bold(clean(title)), ...lines.map(clean)]
}

const drawn = (all: readonly Branch[], paint: Paint, indent = ""): readonly string[] =>
  all.flatMap(({ line, below }, i) => {
    const [here, beneath] = i === all.length - 1 ? ["└─ ", "   "] : ["├─ ", "│  "]
    return [paint.dim(indent + here) + line, ...drawn(below, paint, indent + beneath)]
  })

class Drawing {
  readonly #roster: Roster
  readonly #paint: Paint
  readonly #units: ReadonlyMap<string, RosterUnit>
  readonly #nodes: ReadonlyMap<string, RosterNode>
  readonly #folds: boolean
  readonly #troubles: ReadonlyMap<string, ReadonlySet<string>>
  /** unit -> the group under which its nodes are listed */
  readonly #listed = new Map<string, string>()
  readonly #above = new Set<string>()
  readonly #tones: { readonly [tone in Note["tone"]]: (text: string) => string }
  #folded = false

  constructor(roster: Roster, most: number, paint: Paint) {
    this.#roster = roster
    this.#paint = paint
    this.#units = new Map(roster.units.map((unit) => [unit.name, unit]))
    this.#nodes = new Map(roster.nodes.map((node) => [node.name, node]))
    this.#folds = roster.nodes.length > most
    this.#troubles = reasons(roster.refused)
    this.#tones = { Plain: (text) => text, Change: paint.cyan, Trouble: paint.yellow }
  }

  group(group: RosterGroup): Branch {
    const units = group.units.flatMap((name) => this.#units.get(name) ?? [])
    const count = `${counted(group.units.length, "unit")}, ${ready(group.readyNodes, group.nodes)}`
    const says = GROUP_REASONS[group.reason] ?? count
    return {
      line: this.#heading("NodeGroup", group.name, says, `NodeGroup ${group.name}`),
      below: units.map((unit) => this.unit(unit, group.name))
    }
  }

  /** A unit under a group, or under none; its nodes are listed once. */
  unit(unit: RosterUnit, group: string | undefined): Branch {
    const says = UNIT_REASONS[unit.reason] ?? `${unit.type}, ${ready(unit.readyNodes, unit.nodes.length)}`
    const shown = unit.nodes.filter((name) => this.#nodes.has(name))
    const before = this.#listed.get(unit.name)
    const fresh = group === undefined ? shown.filter((name) => !this.#above.has(name)) : shown
    const old = group === undefined ? shown.filter((name) => this.#above.has(name)) : []
    const where =
      before !== undefined && shown.length > 0
        ? `, listed under ${before}`
        : old.length > 0 && fresh.length === 0
          ? ", all listed above"
          : ""
    const line = this.#heading("NodeUnit", unit.name, says + where, `NodeUnit ${unit.name}`)
    if (before !== undefined) return { line, below: [] }
    if (group !== undefined) this.#listed.set(unit.name, group)
    for (const name of shown) this.#above.add(name)
    const also = fresh.length === 0 || old.length === 0 ? [] : [`and ${some(old)}, listed above`]
    const rest = also.map((text) => leaf(this.#paint.dim(clean(text))))
    return { line, below: [...this.nodes(fresh, unit), ...rest] }
  }

  /** A line each; those that look the same share one where there are very many. */
  nodes(names: readonly string[], unit: RosterUnit | undefined): readonly Branch[] {
    const spot: Spot | undefined = unit && { unit: unit.name, groups: unit.groups }
    const held = unit === undefined ? [] : this.#roster.held.filter((each) => isAt(each, unit))
    const alike = new Map<
      string,
      { readonly node: RosterNode; readonly notes: readonly Note[]; readonly names: string[] }
    >()
    for (const name of names) {
      const node = this.#nodes.get(name)
      if (node === undefined) continue
      const holding = held.filter((each) => each.nodes.includes(name))
      const notes = nodeNotes(
        node,
        spot,
        holding.map((each) => each.unit ?? each.group ?? "")
      )
      const key = this.#folds ? JSON.stringify([node.ready, notes]) : name
      const known = alike.get(key)
      if (known === undefined) alike.set(key, { node, notes, names: [name] })
      else known.names.push(name)
    }
    return [...alike.values()].map(({ node, notes, names: all }) => {
      if (all.length > 1) this.#folded = true
      const { green, yellow } = this.#paint
      const mark = node.ready ? green("✓") : yellow("✗")
      const more = notes.map(({ text, tone }) => this.#tones[tone](clean(text))).join(", ")
      return leaf(`${mark} ${clean(some(all))}${more === "" ? "" : `  ${more}`}`)
    })
  }

  hints(): readonly string[] {
    return this.#folded
      ? [this.#paint.dim("Nodes of a unit that look the same share a line; --all gives each its own.")]
      : []
  }

  #heading(kind: string, name: string, says: string, key: string): string {
    const { bold, dim, yellow } = this.#paint
    const troubles = [...(this.#troubles.get(key) ?? [])].join(", ")
    return `${dim(kind)} ${bold(clean(name))}  ${clean(says)}${troubles === "" ? "" : `  ${yellow(`! ${troubles}`)}`}`
  }
}

const isAt = (held: HeldEdit, { name, groups }: RosterUnit): boolean =>
  held.unit === undefined ? groups.includes(held.group ?? "") : held.unit === name

const leaf = (line: string): Branch => ({ line, below: [] })

const GROUP_REASONS: { readonly [reason: string]: string } = {
  NoUnits: "no units",
  Deleting: "being deleted",
  InvalidName: "not served",
  NameTaken: "not served"
}

const UNIT_REASONS: { readonly [reason: string]: string } = {
  NoNodes: "no nodes",
  Deleting: "being deleted",
  InvalidName: "not served",
  NameTaken: "not served"
}

const coming = ({ unitsComing, unitsGoing, nodes }: Roster): readonly string[] => {
  const changing = nodes.filter((node) => node.changing).length
  return [
    ...(unitsComing.length === 0 ? [] : [`About to be made or set right: NodeUnit ${some(unitsComing)}`]),
    ...(unitsGoing.length === 0 ? [] : [`About to be deleted: NodeUnit ${some(unitsGoing)}`]),
    ...(changing === 0
      ? []
      : [
          `${counted(changing, "node")} ${changing === 1 ? "is" : "are"} about to change: the controller has not written it yet`
        ])
  ].map(clean)
}

const summary = ({ groups, units, nodes, nodesInNoUnit }: Roster, refused: number): string =>
  [
    ...(groups.length === 0 ? [] : [counted(groups.length, "group")]),
    counted(units.length, "unit"),
    `${counted(nodes.length, "node")} (${nodes.filter((node) => node.ready).length} ready)`,
    ...(nodesInNoUnit.length === 0 ? [] : [`${nodesInNoUnit.length} in no unit`]),
    refused === 0 ? "nothing refused" : `${refused} refused`
  ].join(", ")

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

const ready = (count: number, all: number): string => `${count}/${all} ready`

/** Names that are written out at most. */
const MOST = 5

const some = (all: readonly string[]): string =>
  all.length <= MOST ? all.join(", ") : `${all.slice(0, MOST).join(", ")} and ${all.length - MOST} more`
