/**
 * What stands behind a node in the tree of sites, in the words of a person: what it carries and from whom, what is about to change, and
 * what it is not given.
 */
import type { Carried } from "../core/carried.ts"
import type { RosterNode } from "../core/roster.ts"
import { MARK } from "../core/site.ts"

/** Where in the tree the node stands: under a unit, which some groups hold. */
export interface Spot {
  readonly unit: string
  readonly groups: readonly string[]
}

export interface Note {
  readonly text: string
  readonly tone: "Plain" | "Change" | "Trouble"
}

const plain = (text: string): Note => ({ text, tone: "Plain" })
const change = (text: string): Note => ({ text, tone: "Change" })
const trouble = (text: string): Note => ({ text, tone: "Trouble" })

/**
 * Notes without what the tree says itself: the marks of units, and the labels of groups where they fit.
 *
 * @param held units and groups that it would leave by edits that wait to be confirmed
 */
export const nodeNotes = (
  node: RosterNode,
  spot: Spot | undefined,
  held: readonly string[]
): readonly Note[] => {
  const left = leaves(node)
  const rest = node.carries.filter(
    (each) => !isMark(each) && !isGroups(each) && !(each.state === "Going" && left.includes(each.value))
  )
  const things = rest.filter(({ kind }) => kind !== "Cordon")
  const those = (...states: readonly Carried["state"][]): readonly string[] =>
    together(things.filter(({ state }) => states.includes(state)))
  return [
    ...(node.ready ? [] : [trouble("not ready")]),
    ...moving(node, spot),
    ...(held.length === 0 ? [] : [trouble(`held: would leave ${held.join(", ")}`)]),
    ...cordon(node),
    ...those("Given", "Shared", "Kept").map(plain),
    ...those("Coming").map((text) => change(`coming: ${text}`)),
    ...those("Going").map((text) => change(`going: ${text}`)),
    ...things.filter(({ state }) => state === "Refused").map(refused)
  ]
}

const isMark = ({ kind, value, from }: Carried): boolean =>
  kind === "Label" && value === MARK && from.every(({ path }) => path === "metadata.name")

const isGroups = ({ kind, from }: Carried): boolean =>
  kind === "Label" && from.some(({ group }) => group !== undefined)

/** The units that it leaves. */
const leaves = ({ carries }: RosterNode): readonly string[] =>
  carries.filter((each) => isMark(each) && each.state === "Going").map(({ key }) => key)

/** Whether it joins or leaves units, and whether the labels of this unit's groups say so. */
const moving = (node: RosterNode, spot: Spot | undefined): readonly Note[] => {
  const mark = node.carries.find((each) => isMark(each) && each.key === spot?.unit)
  const labels = node.carries.filter((each) => isGroups(each) && spot?.groups.includes(each.key) === true)
  const left = leaves(node)
  return [
    ...(mark?.state === "Coming" ? [change("joins")] : []),
    ...(mark?.state === "Refused" ? [refused(mark)] : []),
    ...(left.length > 0 ? [change(`leaves ${left.join(", ")}`)] : []),
    ...labels.flatMap((each) => {
      if (each.state === "Refused") return [refused(each)]
      if (each.value !== spot?.unit)
        return [trouble(`in two units of ${each.key}, whose label is ${each.value}`)]
      return each.state === "Coming" && mark?.state !== "Coming" ? [change(`coming: ${thing(each)}`)] : []
    })
  ]
}

const cordon = ({ unschedulable, cordonedBy, carries }: RosterNode): readonly Note[] => {
  const wish = carries.find(({ kind }) => kind === "Cordon")
  const by = cordonedBy.join(", ")
  if (wish === undefined) return unschedulable ? [plain(by === "" ? "cordoned" : `cordoned by ${by}`)] : []
  if (wish.state === "Going") return [change("going: cordoned")]
  const says = `cordoned (${source(wish)})`
  return [wish.state === "Coming" ? change(`coming: ${says}`) : plain(says)]
}

/** Things with whom they are from, those of the same ones together. */
const together = (all: readonly Carried[]): readonly string[] => {
  const found = new Map<string, string[]>()
  for (const each of all) {
    const from = source(each)
    const list = found.get(from)
    if (list === undefined) found.set(from, [thing(each)])
    else list.push(thing(each))
  }
  return [...found].map(([from, things]) => `${things.join(" ")}${from === "" ? "" : ` (${from})`}`)
}

const source = (each: Carried): string => {
  if (each.state === "Going") return ""
  const from = `from ${givers(each)}`
  if (each.state === "Kept") return `${from}, whose entry is refused now`
  return each.state === "Shared" ? `${from}, and from ${each.owners?.join(", ") ?? "someone else"}` : from
}

const givers = ({ from }: Carried): string => from.map(({ unit, group }) => unit ?? group ?? "").join(", ")

const refused = (each: Carried): Note => {
  const { there, owners } = each
  const by = owners === undefined ? "" : ` from ${owners.join(", ")}`
  const instead = there === undefined ? "" : `, as there is ${thing({ ...each, value: there })}${by}`
  return trouble(`not given: ${thing(each)} (from ${givers(each)})${instead}`)
}

const LONG = 40

/** As `kubectl` writes it; an annotation is told from a label by its quotes. */
export const thing = ({ kind, key, value, effect }: Carried): string => {
  const short = value.length > LONG ? `${value.slice(0, LONG)}…` : value
  switch (kind) {
    case "Label":
      return `${key}=${value}`
    case "Annotation":
      return `${key}=${JSON.stringify(short)}`
    case "Taint":
      return `${key}${value === "" ? "" : `=${value}`}:${effect ?? ""}`
    case "Cordon":
      return key
  }
}
