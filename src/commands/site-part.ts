/**
 * The part of a roster that a name is about: a group with its units and their nodes, a unit with its groups and nodes, a node with
 * the units and groups that it is in.
 */
import type { Roster } from "../core/roster.ts"
import type { SiteRefusal } from "../core/site.ts"

/** Every name that can be asked for. */
export const namesIn = ({ groups, units, nodes }: Roster): readonly string[] =>
  [...new Set([...groups, ...units, ...nodes].map(({ name }) => name))].sort()

/** The part that all that bears this name is in; undefined where nothing bears it. */
export const part = (whole: Roster, name: string): Roster | undefined => {
  const is = (each: { readonly name: string }): boolean => each.name === name
  const group = whole.groups.find(is)
  const unit = whole.units.find(is)
  const node = whole.nodes.find(is)
  if (group === undefined && unit === undefined && node === undefined) return undefined
  const units = new Set([
    ...(group?.units ?? []),
    ...(unit === undefined ? [] : [name]),
    ...(node?.units ?? [])
  ])
  const shown = whole.units.filter((each) => units.has(each.name))
  const nodes = new Set([
    ...(node === undefined ? [] : [name]),
    ...shown
      .filter((each) => group?.units.includes(each.name) === true || each === unit)
      .flatMap((each) => each.nodes)
  ])
  const above = shown
    .filter((each) => group?.units.includes(each.name) !== true)
    .flatMap((each) => each.groups)
  const groups = new Set([...(group === undefined ? [] : [name]), ...above])
  const isAbout = (each: Pick<SiteRefusal, "unit" | "group">): boolean =>
    each.unit === undefined ? groups.has(each.group ?? "") : units.has(each.unit)
  const among = (names: ReadonlySet<string>, all: readonly string[]) => all.filter((each) => names.has(each))
  return {
    groups: whole.groups.filter((each) => groups.has(each.name)),
    units: shown,
    nodes: whole.nodes.filter((each) => nodes.has(each.name)),
    unitsInNoGroup: among(units, whole.unitsInNoGroup),
    nodesInNoUnit: among(nodes, whole.nodesInNoUnit),
    unitsComing: among(units, whole.unitsComing),
    unitsGoing: among(units, whole.unitsGoing),
    held: whole.held.filter(isAbout),
    refused: whole.refused.filter(isAbout),
    notices: whole.notices.filter(isAbout)
  }
}
