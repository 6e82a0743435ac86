/**
 * The commands of stories: what the world does, what goes wrong, and how much of it. Plain data, so that a story can be
 * printed, shrunk and told again; `story.ts` carries them out.
 */
import fc from "fast-check"
import { type Moment, type TroubleName, TROUBLES } from "./faults.ts"
import {
  type Edit,
  edited,
  type Flaw,
  type GridWords,
  KEYS,
  POOL,
  simple,
  SLOTS,
  UNITS,
  type Words
} from "./words.ts"
import type { Planting } from "./planted.ts"
import type { Meddling } from "./world.ts"

/** Plurals of the kinds that the controller watches. */
export const WATCHED = [
  "nodes",
  "deploymentgrids",
  "statefulsetgrids",
  "servicegrids",
  "deployments",
  "statefulsets",
  "services"
] as const

export type World =
  | { readonly _tag: "Label"; readonly node: number; readonly key: string; readonly value: string }
  | { readonly _tag: "Unlabel"; readonly node: number; readonly key: string }
  | { readonly _tag: "AddNode"; readonly node: number; readonly key: string; readonly value: string }
  | { readonly _tag: "DropNode"; readonly node: number }
  | { readonly _tag: "Beat"; readonly node: number }
  | { readonly _tag: "MakeGrid"; readonly grid: number; readonly words: GridWords }
  | { readonly _tag: "EditGrid"; readonly grid: number; readonly edit: Edit }
  | { readonly _tag: "DeleteGrid"; readonly grid: number; readonly children: "collected" | "orphaned" }
  | { readonly _tag: "RemakeGrid"; readonly grid: number; readonly children: "collected" | "orphaned" }
  | { readonly _tag: "Touch"; readonly child: number; readonly how: Meddling }
  | { readonly _tag: "Plant"; readonly grid: number; readonly unit: string; readonly how: Planting }
  | { readonly _tag: "Uproot" }
  | { readonly _tag: "Serve"; readonly child: number | undefined; readonly ready: "ready" | "unready" }
  | { readonly _tag: "Wait"; readonly ms: number }

export type Fault =
  | { readonly _tag: "Kill"; readonly nth: number; readonly moment: Moment }
  | { readonly _tag: "Fail"; readonly nth: number; readonly trouble: TroubleName }
  | { readonly _tag: "Storm"; readonly n: number; readonly trouble: TroubleName }
  | { readonly _tag: "Lag"; readonly kind: string; readonly back: number; readonly ms: number }
  | { readonly _tag: "Repeat"; readonly kind: string; readonly back: number }
  | { readonly _tag: "Lose"; readonly kind: string; readonly n: number }
  | { readonly _tag: "Expire"; readonly kind: string | undefined }
  | { readonly _tag: "Cut"; readonly kind: string | undefined }
  | { readonly _tag: "RestartServer" }
  | { readonly _tag: "Jump"; readonly ms: number }
  | {
      readonly _tag: "Poison"
      readonly kind: string
      readonly path: readonly string[]
      readonly value: unknown
    }
  | { readonly _tag: "Garble"; readonly kind: string; readonly object: unknown }
  | { readonly _tag: "Second" }
  | { readonly _tag: "Forbid"; readonly kind: string; readonly ms: number }

export type Command = World | Fault

/** A command, and how many steps the loop gets before the next one. */
export interface Beat {
  readonly command: Command
  readonly steps: number
}

export interface Story {
  /** of the interleaving; 0 is first come, first served */
  readonly seed: number
  /** items a page */
  readonly pageSize: number
  readonly concurrency: number
  readonly beats: readonly Beat[]
}

// ---- arbitraries

const oneOf = <A>(values: readonly A[]): fc.Arbitrary<A> => fc.constantFrom(...values)
const node = fc.integer({ min: 1, max: 4 })
const key = fc.oneof(
  { weight: 5, arbitrary: fc.constant(KEYS[0]) },
  { weight: 1, arbitrary: fc.constant(KEYS[1]) }
)
const value = fc.oneof(
  { weight: 6, arbitrary: oneOf(UNITS.slice(0, 3)) },
  { weight: 1, arbitrary: oneOf(UNITS) }
)
/** The first grid is the one that most things happen to. */
const grid = fc.oneof(
  { weight: 5, arbitrary: fc.constant(0) },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: SLOTS.length - 1 }) }
)
const watched = oneOf(WATCHED)
const anyKind = fc.option(watched, { nil: undefined, freq: 2 })
const trouble = oneOf(Object.keys(TROUBLES) as TroubleName[])
const stormy = oneOf<TroubleName>(["Unavailable", "Slow", "Reset", "Internal", "Unanswered"])
const flaw = oneOf<Flaw>(["twice", "mismatch", "illegal", "typo", "otherSelector"])
const few = fc.integer({ min: 0, max: 2 })

const change: fc.Arbitrary<Partial<Words>> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ image: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ replicas: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }) })
  },
  { weight: 3, arbitrary: fc.record({ env: few }) },
  {
    weight: 1,
    arbitrary: fc.record({ minReady: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }) })
  },
  { weight: 1, arbitrary: fc.record({ recreate: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ flaw: fc.option(flaw, { nil: undefined, freq: 1 }) }) }
)
const place = fc.oneof({ weight: 3, arbitrary: fc.constant("") }, { weight: 1, arbitrary: oneOf(POOL) })
const whole: fc.Arbitrary<Edit> = fc
  .oneof(
    { weight: 2, arbitrary: fc.record({ key }) },
    { weight: 1, arbitrary: fc.constant({ key: "a b" }) },
    {
      weight: 2,
      arbitrary: fc.record({ fallback: fc.option(oneOf(["t1", "t2", "default", ""]), { nil: undefined }) })
    },
    { weight: 2, arbitrary: fc.record({ team: fc.option(oneOf(["x", "y"]), { nil: undefined }) }) },
    { weight: 2, arbitrary: fc.record({ grace: fc.option(oneOf(["0s", "5s", "bad"]), { nil: undefined }) }) },
    { weight: 1, arbitrary: fc.record({ autoDelete: fc.boolean() }) }
  )
  .map((changed) => ({ _tag: "Whole", change: changed }))
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ _tag: fc.constant("Template" as const), of: place, change }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("NoTemplate" as const), of: place }) },
  {
    weight: 3,
    arbitrary: fc.record({
      _tag: fc.constant("Assign" as const),
      unit: value,
      name: fc.option(oneOf(["t1", "t2", "default", "nope"]), { nil: undefined })
    })
  },
  { weight: 4, arbitrary: whole }
)
const words: fc.Arbitrary<GridWords> = fc
  .array(edit, { maxLength: 2 })
  .map((edits) => edits.reduce((grown, each) => edited(grown, each), simple))

type Rest<T extends Command["_tag"]> = Omit<Extract<Command, { readonly _tag: T }>, "_tag">

const tagged = <T extends Command["_tag"]>(
  _tag: T,
  rest: { readonly [K in keyof Rest<T>]: fc.Arbitrary<Rest<T>[K]> }
): fc.Arbitrary<Command> =>
  fc.record({
    _tag: fc.constant(_tag),
    ...(rest as object)
  }) as fc.Arbitrary<unknown> as fc.Arbitrary<Command>

const children = oneOf<"collected" | "orphaned">(["collected", "orphaned"])
const child = fc.nat(20)
const nth = fc.integer({ min: 1, max: 5 })
const meddling = oneOf<Meddling>(["image", "label", "scale", "delete", "hold", "orphan", "strip"])
const planting = oneOf<Planting>(["foreign", "owned", "adoptable", "legacy"])
const day = 86_400_000
const anything = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    0,
    -1,
    "",
    "x",
    true,
    [],
    {},
    [null],
    { __proto__: null },
    { constructor: 1 }
  ),
  fc.jsonValue({ maxDepth: 1 })
)

/** What the world does, weighted so that each kind of command stands in one story of twenty at least. */
const world: readonly fc.WeightedArbitrary<Command>[] = [
  { weight: 6, arbitrary: tagged("Label", { node, key, value }) },
  { weight: 3, arbitrary: tagged("Unlabel", { node, key }) },
  { weight: 3, arbitrary: tagged("AddNode", { node, key, value }) },
  { weight: 4, arbitrary: tagged("DropNode", { node }) },
  { weight: 1, arbitrary: tagged("Beat", { node }) },
  { weight: 5, arbitrary: tagged("MakeGrid", { grid, words }) },
  { weight: 12, arbitrary: tagged("EditGrid", { grid, edit }) },
  { weight: 2, arbitrary: tagged("DeleteGrid", { grid, children }) },
  { weight: 2, arbitrary: tagged("RemakeGrid", { grid, children }) },
  { weight: 8, arbitrary: tagged("Touch", { child, how: meddling }) },
  { weight: 3, arbitrary: tagged("Plant", { grid, unit: value, how: planting }) },
  { weight: 1, arbitrary: tagged("Uproot", {}) },
  {
    weight: 3,
    arbitrary: tagged("Serve", {
      child: fc.option(child, { nil: undefined }),
      ready: oneOf<"ready" | "unready">(["ready", "unready"])
    })
  },
  { weight: 8, arbitrary: tagged("Wait", { ms: oneOf([100, 1000, 5000, 30_000]) }) }
]

const faults: readonly fc.WeightedArbitrary<Command>[] = [
  { weight: 4, arbitrary: tagged("Kill", { nth, moment: oneOf<Moment>(["before", "between", "after"]) }) },
  { weight: 4, arbitrary: tagged("Fail", { nth, trouble }) },
  { weight: 1, arbitrary: tagged("Storm", { n: fc.integer({ min: 1, max: 40 }), trouble: stormy }) },
  { weight: 3, arbitrary: tagged("Lag", { kind: watched, back: fc.nat(20), ms: oneOf([500, 3000, 8000]) }) },
  { weight: 2, arbitrary: tagged("Repeat", { kind: watched, back: fc.nat(10) }) },
  { weight: 2, arbitrary: tagged("Lose", { kind: watched, n: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: tagged("Expire", { kind: anyKind }) },
  { weight: 1, arbitrary: tagged("Cut", { kind: anyKind }) },
  { weight: 1, arbitrary: tagged("RestartServer", {}) },
  { weight: 1, arbitrary: tagged("Jump", { ms: oneOf([day, -day, 3_600_000, -3_600_000]) }) },
  {
    weight: 2,
    arbitrary: tagged("Poison", {
      kind: watched,
      path: oneOf([
        ["spec"],
        ["status"],
        ["metadata", "labels"],
        ["metadata", "annotations"],
        ["metadata", "ownerReferences"],
        ["metadata", "managedFields"],
        ["spec", "template"],
        ["spec", "templatePool"],
        ["spec", "templates"],
        ["spec", "gridUniqKey"],
        ["spec", "template", "template", "spec", "containers"]
      ]),
      value: anything
    })
  },
  { weight: 1, arbitrary: tagged("Garble", { kind: watched, object: anything }) },
  { weight: 1, arbitrary: tagged("Second", {}) },
  { weight: 1, arbitrary: tagged("Forbid", { kind: watched, ms: oneOf([500, 8000, 60_000]) }) }
]

/** The kinds of commands that stories have. */
export const TAGS: readonly Command["_tag"][] = [
  "Label",
  "Unlabel",
  "AddNode",
  "DropNode",
  "Beat",
  "MakeGrid",
  "EditGrid",
  "DeleteGrid",
  "RemakeGrid",
  "Touch",
  "Plant",
  "Uproot",
  "Serve",
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
  "Poison",
  "Garble",
  "Second",
  "Forbid"
]

const beatsOf = (commands: readonly fc.WeightedArbitrary<Command>[]): fc.Arbitrary<Beat> =>
  fc.record({
    command: fc.oneof(...commands),
    steps: fc.oneof({ weight: 3, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.constant(1000) })
  })

/** What most stories begin with: three nodes of two units, and a grid. */
const opening: fc.Arbitrary<readonly Beat[]> = fc
  .record({ words, steps: fc.nat(40) })
  .map(({ words: given, steps }) => [
    { command: { _tag: "AddNode", node: 1, key: "zone", value: "a" }, steps: 0 },
    { command: { _tag: "AddNode", node: 2, key: "zone", value: "b" }, steps: 0 },
    { command: { _tag: "MakeGrid", grid: 0, words: given }, steps }
  ])

const storyOf = (
  commands: readonly fc.WeightedArbitrary<Command>[],
  maxLength: number
): fc.Arbitrary<Story> =>
  fc
    .record({
      seed: fc.nat(0x7fffffff),
      pageSize: fc.constantFrom(100, 100, 2),
      concurrency: fc.constantFrom(16, 2),
      opening,
      rest: fc.array(beatsOf(commands), { maxLength, size: "max" })
    })
    .map(({ opening: first, rest, ...o }) => ({ ...o, beats: [...first, ...rest] }))

/** Stories in which everything may happen. */
export const stories = storyOf([...world, ...faults], 27)
