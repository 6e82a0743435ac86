/**
 * What nodes, units and groups must be when all is calm: computed naively from what people said and from what others put on the nodes, by
 * nothing of the product. The first thing that is otherwise is said as a sentence.
 */
import type { NodeGroup, NodeUnit } from "../../src/core/site.ts"
import { naiveMember, naiveNode, naiveSelects } from "../naive-sites.ts"
import { type Seat, shown } from "../sited.ts"
import { EVERY_UNIT, GROUPS, makerOf, type Places, type SiteKind, UNITS } from "./site-places.ts"
import type { Thing } from "./world.ts"

/** As text, whatever the order of keys. */
const text = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each
  )

interface Shown {
  readonly observedGeneration?: number
  readonly nodes?: number
  readonly readyRate?: string
  readonly readyNodes?: readonly string[]
  readonly notReadyNodes?: readonly string[]
  readonly nodeUnits?: readonly string[]
  readonly unitNumber?: number
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
}

const differs = (about: string, is: unknown, wanted: unknown): string | undefined =>
  text(is) === text(wanted) ? undefined : `${about} is ${text(is)}, not ${text(wanted)}`

/** What is wrong with units, groups and nodes; undefined where all is as it should be. */
export const sitesWrong = (places: Places): string | undefined => {
  const seats = places.nodes().map((node) => places.seat(node))
  const units = places.sites(UNITS)
  const groups = places.sites(GROUPS)
  const found = foundUnits(groups, seats)
  const dying = [...units, ...groups].find(({ metadata }) => metadata.deletionTimestamp !== undefined)
  if (dying !== undefined) return `${dying.metadata.name} is still being deleted`
  return first([
    () => saidWrong(places, UNITS, EVERY_UNIT),
    () => saidWrong(places, GROUPS),
    () => foundWrong(units, found),
    ...seats.map((seat) => () => nodeWrong(seat, units, holding(groups, units), places)),
    ...units.map((unit) => () => unitWrong(unit, seats)),
    ...groups.map((group) => () => groupWrong(group, units, seats))
  ])
}

const first = (checks: readonly (() => string | undefined)[]): string | undefined => {
  for (const check of checks) {
    const wrong = check()
    if (wrong !== undefined) return wrong
  }
  return undefined
}

/** What people said stands there as they said it, and nothing else, but what is found. */
const saidWrong = (places: Places, kind: SiteKind, always?: string): string | undefined => {
  const standing = places.sites(kind).filter((each) => makerOf(each) === undefined)
  const wanted = new Map([
    ...(always === undefined
      ? []
      : [
          [
            always,
            { spec: { type: "other", selector: { matchLabels: { "kubernetes.io/os": "linux" } } } }
          ] as const
        ]),
    ...places.said[kind]
  ])
  const names = standing.map(({ metadata }) => metadata.name)
  const missing = differs(kind, names.sort(), [...wanted.keys()].sort())
  if (missing !== undefined) return missing
  for (const each of standing) {
    const wrong = differs(each.metadata.name, each.spec, wanted.get(each.metadata.name)?.spec)
    if (wrong !== undefined) return wrong
    if (!(each.metadata.finalizers ?? []).includes("site.superedge.io/finalizer"))
      return `${each.metadata.name} has no finalizer`
  }
  return undefined
}

const specOf = (object: Thing) =>
  (object.spec ?? {}) as {
    readonly autoFindNodeKeys?: readonly string[]
    readonly nodeUnits?: readonly string[]
    readonly selector?: Parameters<typeof naiveSelects>[0]
  }

/** Whom each group finds: its uid, and what the unit selects. */
const foundUnits = (groups: readonly Thing[], seats: readonly Seat[]): readonly string[] => {
  const found = new Set<string>()
  for (const group of groups) {
    const keys = specOf(group).autoFindNodeKeys ?? []
    for (const { labels } of seats) {
      const values = keys.map((key) => {
        const at = labels.get(key)
        return at?.owners.includes("kubelet") === true ? at.value : ""
      })
      if (keys.length > 0 && !values.includes(""))
        found.add(`${group.metadata.uid} ${text(Object.fromEntries(keys.map((key, i) => [key, values[i]])))}`)
    }
  }
  return [...found].sort()
}

const foundWrong = (units: readonly Thing[], wanted: readonly string[]): string | undefined => {
  const standing = units.flatMap((unit) => {
    const maker = makerOf(unit)
    const { selector } = specOf(unit)
    return maker === undefined ? [] : [`${maker} ${text(selector?.matchLabels)}`]
  })
  return differs("what groups found", standing.sort(), wanted)
}

/** The groups, with the units that they found among those that they name. */
const holding = (groups: readonly Thing[], units: readonly Thing[]): readonly NodeGroup[] =>
  groups.map((group) => {
    const mine = units.filter((unit) => makerOf(unit) === group.metadata.uid)
    const nodeUnits = [...(specOf(group).nodeUnits ?? []), ...mine.map(({ metadata }) => metadata.name)]
    return { ...group, spec: { ...specOf(group), nodeUnits } } as NodeGroup
  })

const nodeWrong = (
  seat: Seat,
  units: readonly Thing[],
  groups: readonly NodeGroup[],
  places: Places
): string | undefined => {
  const theirs = places.theirs.get(seat.name)
  if (theirs === undefined) return `nobody made ${seat.name}`
  const { [GIVEN]: given, ...annotations } = shown(seat).annotations
  const wrong = differs(
    seat.name,
    { ...shown(seat), annotations },
    naiveNode(withTheirs(seat, theirs), units as readonly NodeUnit[], groups)
  )
  if (wrong !== undefined) return wrong
  const mine = seat.taints.some(({ owner }) => owner !== "kubelet") || seat.cordon === "servicegroup"
  return !mine && given !== undefined ? `${seat.name} remembers ${given}` : undefined
}

const GIVEN = "site.superedge.io/given"

/** What others put there counts as there, whatever became of it. */
const withTheirs = (seat: Seat, theirs: NonNullable<ReturnType<Places["theirs"]["get"]>>): Seat => {
  const put = (place: "labels" | "annotations"): Seat["labels"] =>
    new Map([
      ...seat[place],
      ...[...theirs[place]].map(([key, value]) => [key, { value, owners: ["kubelet"] }] as const)
    ])
  const others = [...theirs.taints.values()].map((taint) => ({ taint, owner: "kubelet" }))
  return {
    ...seat,
    labels: put("labels"),
    annotations: put("annotations"),
    taints: others,
    cordon: theirs.cordoned ? "kubelet" : undefined
  }
}

const conditionWrong = (object: Thing, ready: boolean): string | undefined => {
  const { name, generation } = object.metadata
  const { conditions = [], observedGeneration } = (object.status ?? {}) as Shown
  const is = conditions.find(({ type }) => type === "Ready")?.status
  return (
    differs(`${name}: observedGeneration`, observedGeneration, generation) ??
    differs(`${name}: Ready`, is, ready ? "True" : "False")
  )
}

const unitWrong = (unit: Thing, seats: readonly Seat[]): string | undefined => {
  const members = seats.filter((seat) => naiveMember(unit as NodeUnit, seat))
  const names = (ready: boolean): readonly string[] =>
    members
      .filter((seat) => seat.ready === ready)
      .map(({ name }) => name)
      .sort()
  const [readyNodes, notReadyNodes] = [names(true), names(false)]
  const is = (unit.status ?? {}) as Shown
  return (
    differs(
      `the status of ${unit.metadata.name}`,
      [is.nodes, is.readyRate, is.readyNodes ?? [], is.notReadyNodes ?? []],
      [members.length, `${readyNodes.length}/${members.length}`, readyNodes, notReadyNodes]
    ) ?? conditionWrong(unit, members.length > 0 && notReadyNodes.length === 0)
  )
}

const groupWrong = (group: Thing, units: readonly Thing[], seats: readonly Seat[]): string | undefined => {
  const { nodeUnits = [], selector } = specOf(group)
  const mine = units.filter(
    (unit) =>
      nodeUnits.includes(unit.metadata.name) ||
      makerOf(unit) === group.metadata.uid ||
      naiveSelects(
        selector,
        new Map(Object.entries(unit.metadata.labels ?? {})),
        new Map(Object.entries(unit.metadata.annotations ?? {}))
      )
  )
  const members = seats.filter((seat) => mine.some((unit) => naiveMember(unit as NodeUnit, seat)))
  const is = (group.status ?? {}) as Shown
  return (
    differs(
      `the status of ${group.metadata.name}`,
      [is.nodeUnits ?? [], is.unitNumber, is.nodes],
      [mine.map(({ metadata }) => metadata.name).sort(), mine.length, members.length]
    ) ?? conditionWrong(group, mine.length > 0)
  )
}
