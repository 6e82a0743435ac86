/**
 * Stories about sites, as fast-check makes them up.
 *
 * Others never set a value that units give, but for what a node has from the start: the API keeps no second owner then.
 */
import fc from "fast-check"
import type { TaintHere } from "../sited.ts"
import type { Command } from "./commands.ts"
import { type Moment, type TroubleName, TROUBLES } from "./faults.ts"
import { type Mark, PEOPLES, type SiteBeat, type SiteCommand, type SiteStory } from "./site-commands.ts"
import { EVERY_UNIT, GROUPS, type SiteKind, UNITS, type Word } from "./site-places.ts"
import { type GridWords, simple } from "./words.ts"

const some = <A>(values: readonly A[]): fc.Arbitrary<A> => fc.constantFrom(...values)
const UNIT_NAMES = ["east", "west", "constructor"] as const
const GROUP_NAMES = ["g", "h"] as const
const NODE_NAMES = ["n1", "n2", "n3", "n4"] as const

/** The first node is the one that most things happen to. */
const node = fc.oneof({ weight: 2, arbitrary: fc.constant("n1") }, { weight: 3, arbitrary: some(NODE_NAMES) })
const zone = some(["a", "b", "c"])
const given = fc.record(
  { x: some(["1", "2"]), y: some(["1", ""]), toString: some(["1"]) },
  { requiredKeys: [] }
)
const taint = some<TaintHere>([
  { key: "t", effect: "NoSchedule" },
  { key: "t", value: "1", effect: "NoSchedule" },
  { key: "s", value: "1", effect: "NoExecute" }
])
const distinct = fc.uniqueArray(taint, { maxLength: 2, selector: ({ key, effect }) => `${key}:${effect}` })

const selector = some<object | undefined>([
  undefined,
  {},
  { matchLabels: { zone: "a" } },
  { matchLabels: { zone: "b" } },
  { matchLabels: { x: "1" } },
  { matchExpressions: [{ key: "x", operator: "DoesNotExist" }] },
  { matchExpressions: [{ key: "zone", operator: "In", values: ["a", "b"] }] },
  { matchExpressions: [{ key: "east", operator: "Exists" }] },
  { annotations: { note: "theirs" } }
])

const unitSpec = fc.record(
  {
    type: fc.constant("edge"),
    nodes: fc.subarray([...NODE_NAMES, "n9"]),
    selector,
    setNode: fc.record(
      {
        labels: given,
        annotations: fc.record({ note: some(["1"]), who: some(["1", "2"]) }),
        taints: distinct
      },
      { requiredKeys: [] }
    ),
    unschedulable: some([true, true, false])
  },
  { requiredKeys: ["type"] }
)

const unitWord: fc.Arbitrary<Word> = fc
  .tuple(unitSpec, fc.option(fc.constant({ tier: "a" }), { nil: undefined }))
  .map(([spec, labels]) => ({ spec, ...(labels !== undefined && { labels }) }))

const groupWord = (name: string): fc.Arbitrary<Word> =>
  fc
    .record(
      {
        nodeUnits: fc.subarray([...UNIT_NAMES]),
        selector: some<object>([{}, { matchLabels: { tier: "a" } }]),
        // Two groups may not find units by the same keys.
        autoFindNodeKeys: some(name === "g" ? [["zone"], ["zone", "park"], ["park"]] : [[]])
      },
      { requiredKeys: [] }
    )
    .map((spec) => ({ spec }))

const joined: fc.Arbitrary<SiteCommand> = fc
  .record({
    node,
    labels: fc.record(
      {
        "kubernetes.io/os": some(["linux"]),
        zone,
        park: some(["p1"]),
        x: some(["1", "theirs"]),
        g: some(["east", "theirs"])
      },
      { requiredKeys: ["kubernetes.io/os", "zone"] }
    ),
    taints: distinct,
    unschedulable: fc.integer({ min: 0, max: 4 }).map((dice) => dice === 0)
  })
  .map((o) => ({ _tag: "Join", ...o }))

const marked: fc.Arbitrary<SiteCommand> = fc
  .oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        place: fc.constant<Mark>("labels"),
        key: fc.constant("zone"),
        value: fc.option(zone, { nil: undefined })
      })
    },
    {
      weight: 4,
      arbitrary: fc.record({
        place: fc.constant<Mark>("labels"),
        key: some(["x", "y", "east", "g", "toString", "park"]),
        value: some([undefined, "theirs"])
      })
    },
    {
      weight: 1,
      arbitrary: fc.record({
        place: fc.constant<Mark>("annotations"),
        key: some(["note", "who"]),
        value: some([undefined, "theirs"])
      })
    }
  )
  .chain((o) => node.map((name): SiteCommand => ({ _tag: "Mark", node: name, ...o })))

const who = fc.oneof(
  some([...UNIT_NAMES, EVERY_UNIT, "a"]).map((name) => ({ kind: UNITS as SiteKind, name })),
  some(GROUP_NAMES).map((name) => ({ kind: GROUPS as SiteKind, name }))
)

const people: readonly fc.WeightedArbitrary<SiteCommand | Command>[] = [
  { weight: 5, arbitrary: joined },
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant("Leave" as const),
      node,
      back: some(["gone", "back"] as const)
    })
  },
  { weight: 8, arbitrary: marked },
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        node,
        some([
          ["t", "NoSchedule"],
          ["t", "NoSchedule"],
          ["s", "NoExecute"],
          ["own", "NoSchedule"]
        ] as const)
      )
      .map(([name, [key, effect]]): SiteCommand => ({
        _tag: "Taint",
        node: name,
        taint: { key, value: "theirs", effect }
      }))
  },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constant("Untaint" as const),
      node,
      id: some(["t:NoSchedule", "s:NoExecute", "own:NoSchedule"])
    })
  },
  {
    weight: 7,
    arbitrary: fc.record({
      _tag: fc.constant("Cordon" as const),
      node,
      how: some(["on", "off", "anew"] as const)
    })
  },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant("Ready" as const), node, ready: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("Heartbeat" as const), node }) },
  {
    weight: 12,
    arbitrary: fc
      .tuple(
        fc.oneof({ weight: 9, arbitrary: some(UNIT_NAMES) }, { weight: 1, arbitrary: some([EVERY_UNIT]) }),
        unitWord
      )
      .map(([name, word]): SiteCommand => ({ _tag: "Say", kind: UNITS, name, word }))
  },
  {
    weight: 7,
    arbitrary: some(GROUP_NAMES).chain((name) =>
      groupWord(name).map((word): SiteCommand => ({ _tag: "Say", kind: GROUPS, name, word }))
    )
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(who, some(["gone", "gone", "back"] as const))
      .map(([it, back]): SiteCommand => ({ _tag: "Unsay", ...it, back }))
  },
  { weight: 2, arbitrary: who.map((it): SiteCommand => ({ _tag: "Confirm", ...it })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(who, some(["strip", "hold"] as const))
      .map(([it, how]): SiteCommand => ({ _tag: "Finalize", ...it, how }))
  },
  {
    weight: 2,
    arbitrary: some(["g", "h"]).map((key): Command => ({
      _tag: "MakeGrid",
      grid: 0,
      words: { ...simple, key } satisfies GridWords
    }))
  },
  {
    weight: 6,
    arbitrary: fc.record({ _tag: fc.constant("Wait" as const), ms: some([100, 1000, 5000, 30_000]) })
  }
]

const WATCHED = ["nodes", "nodeunits", "nodegroups", "deploymentgrids"] as const
const kind = some([...WATCHED])
const anyKind = fc.option(kind, { nil: undefined, freq: 2 })
const nth = fc.integer({ min: 1, max: 5 })
const few = fc.integer({ min: 1, max: 3 })
const fault = <T extends Command["_tag"]>(
  _tag: T,
  rest: Readonly<Record<string, fc.Arbitrary<unknown>>>
): fc.Arbitrary<Command> =>
  fc.record({ _tag: fc.constant(_tag), ...rest }) as fc.Arbitrary<unknown> as fc.Arbitrary<Command>

const faults: readonly fc.WeightedArbitrary<Command>[] = [
  { weight: 4, arbitrary: fault("Kill", { nth, moment: some<Moment>(["before", "between", "after"]) }) },
  {
    weight: 4,
    arbitrary: fault("Fail", { nth, trouble: some(Object.keys(TROUBLES) as TroubleName[]) })
  },
  {
    weight: 1,
    arbitrary: fault("Storm", {
      n: fc.integer({ min: 1, max: 40 }),
      trouble: some<TroubleName>(["Unavailable", "Slow", "Reset", "Internal", "Unanswered"])
    })
  },
  { weight: 3, arbitrary: fault("Lag", { kind, back: fc.nat(20), ms: some([500, 3000, 8000]) }) },
  { weight: 2, arbitrary: fault("Repeat", { kind, back: fc.nat(10) }) },
  { weight: 2, arbitrary: fault("Lose", { kind, n: few }) },
  { weight: 2, arbitrary: fault("Expire", { kind: anyKind }) },
  { weight: 1, arbitrary: fault("Cut", { kind: anyKind }) },
  { weight: 1, arbitrary: fault("RestartServer", {}) },
  { weight: 1, arbitrary: fault("Jump", { ms: some([86_400_000, -86_400_000, 3_600_000]) }) },
  {
    weight: 1,
    arbitrary: fault("Garble", { kind, object: some<unknown>([null, 0, "x", [], {}, { metadata: null }]) })
  },
  {
    weight: 2,
    arbitrary: fault("Poison", {
      kind: some(["nodeunits", "nodegroups"]),
      path: some([
        ["spec"],
        ["status"],
        ["metadata", "labels"],
        ["metadata", "annotations"],
        ["metadata", "ownerReferences"],
        ["metadata", "finalizers"],
        ["metadata", "generation"],
        ["spec", "nodes"],
        ["spec", "nodeUnits"],
        ["spec", "selector"],
        ["spec", "selector", "matchLabels"],
        ["spec", "selector", "matchExpressions"],
        ["spec", "setNode"],
        ["spec", "setNode", "taints"],
        ["spec", "autoFindNodeKeys"]
      ]),
      value: fc.oneof(
        some<unknown>([null, 0, "", "x", true, [], {}, [null], [{}], { constructor: 1 }]),
        fc.jsonValue({ maxDepth: 1 })
      )
    })
  },
  { weight: 1, arbitrary: fault("Second", {}) },
  { weight: 1, arbitrary: fault("Forbid", { kind, ms: some([500, 8000, 60_000]) }) }
]

const beats = (
  commands: readonly fc.WeightedArbitrary<SiteCommand | Command>[]
): fc.Arbitrary<readonly SiteBeat[]> => {
  const steps = fc.oneof({ weight: 3, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.constant(1000) })
  return fc.array(fc.record({ command: fc.oneof(...commands), steps }), {
    minLength: 5,
    maxLength: 25,
    size: "max"
  })
}

/** What most stories begin with: three nodes, a unit and a group. */
const opening: fc.Arbitrary<readonly SiteBeat[]> = fc
  .record({ unit: unitWord, group: groupWord("g"), taints: distinct, steps: fc.nat(60) })
  .map(({ unit, group, taints, steps }) => {
    const join = (name: string, value: string): SiteBeat => ({
      command: {
        _tag: "Join",
        node: name,
        labels: { "kubernetes.io/os": "linux", zone: value },
        taints: name === "n1" ? taints : [],
        unschedulable: false
      },
      steps: 0
    })
    return [
      join("n1", "a"),
      join("n2", "a"),
      join("n3", "b"),
      { command: { _tag: "Say", kind: UNITS, name: "east", word: unit }, steps: 0 },
      { command: { _tag: "Say", kind: GROUPS, name: "g", word: group }, steps }
    ]
  })

/** Stories in which everything may happen. */
export const siteStories: fc.Arbitrary<SiteStory> = fc
  .record({
    seed: fc.nat(0x7fffffff),
    pageSize: some([100, 100, 2]),
    concurrency: some([16, 2]),
    maxNodesChanged: some([1, 1, 0.2]),
    opening,
    rest: fc.oneof(
      { weight: 3, arbitrary: beats([...people, ...faults]) },
      { weight: 1, arbitrary: beats(people) }
    )
  })
  .map(({ opening: begin, rest, ...o }) => ({ ...o, beats: [...begin, ...rest] }))

/** The kinds of commands that these stories have. */
export const SITE_TAGS: readonly (Command | SiteCommand)["_tag"][] = [
  ...PEOPLES,
  "MakeGrid",
  "Wait",
  "Kill",
  "Fail",
  "Storm",
  "Lag",
  "Repeat",
  "Lose",
  "Expire",
  "Cut",
  "RestartServer",
  "Jump",
  "Garble",
  "Poison",
  "Second",
  "Forbid"
]
