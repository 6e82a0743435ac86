/**
 * What people say of sites: units, groups, and what others do on the nodes meanwhile.
 *
 * Others never set a value equal to one that units give, but for what stands there from the start: the API keeps no second owner then.
 */
import fc from "fast-check"
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { type Edit, group, type Seat, seat, type TaintHere, unit } from "./sited.ts"

export const NODES = ["n1", "n2", "n3"] as const
const UNITS = ["u1", "u2", "constructor"] as const
const GROUPS = ["g", "h"] as const

const maybe = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined })
const some = (values: readonly string[]) => fc.constantFrom(...values)

/** Keys that units give and others have, too. */
const given = fc.record(
  { x: some(["1", "2"]), y: some(["1", ""]), toString: some(["1"]) },
  { requiredKeys: [] }
)

const taint: fc.Arbitrary<TaintHere> = fc.constantFrom<TaintHere>(
  { key: "t", effect: "NoSchedule" },
  { key: "t", value: "1", effect: "NoSchedule" },
  { key: "t", value: "2", effect: "NoSchedule" },
  { key: "s", value: "1", effect: "NoExecute" },
  { key: "s", value: "1", effect: "NoSchedule" }
)

const distinct = (taints: fc.Arbitrary<TaintHere>) =>
  fc.uniqueArray(taints, { maxLength: 2, selector: ({ key, effect }) => `${key}:${effect}` })

const selector = fc.oneof(
  fc.constantFrom<object | undefined>(
    undefined,
    undefined,
    {},
    { matchLabels: { zone: "a" } },
    { matchLabels: { zone: "b" } },
    { matchLabels: { x: "1" } },
    { matchExpressions: [{ key: "x", operator: "DoesNotExist" }] },
    { matchExpressions: [{ key: "zone", operator: "In", values: ["a", "b"] }] },
    { matchExpressions: [{ key: "zone", operator: "NotIn", values: ["a"] }] },
    { matchExpressions: [{ key: "u1", operator: "Exists" }] },
    { annotations: { note: "theirs" } },
    { matchLabels: { zone: "a" }, annotations: { note: "theirs" } }
  )
)

const unitSpec = fc.record(
  {
    nodes: fc.subarray([...NODES, "n9"]),
    selector,
    setNode: fc.record(
      {
        labels: given,
        annotations: fc.record({ note: some(["1"]), who: some(["1", "2"]) }),
        taints: distinct(taint)
      },
      { requiredKeys: [] }
    ),
    unschedulable: fc.boolean()
  },
  { requiredKeys: [] }
)

const unitNamed = (name: string): fc.Arbitrary<NodeUnit> =>
  fc
    .tuple(unitSpec, fc.nat(2), maybe(fc.constant({ tier: "a" })), fc.integer({ min: 0, max: 9 }))
    .map(([spec, born, labels, dice]) =>
      unit(name, spec, { born, ...(labels !== undefined && { labels }), deleting: dice === 0 })
    )

const groupNamed = (name: string): fc.Arbitrary<NodeGroup> =>
  fc
    .tuple(
      fc.record(
        { nodeUnits: fc.subarray([...UNITS]), selector: fc.constantFrom({}, { matchLabels: { tier: "a" } }) },
        { requiredKeys: [] }
      ),
      fc.integer({ min: 0, max: 9 })
    )
    .map(([spec, dice]) => group(name, spec, { deleting: dice === 0 }))

/** Each of them there or not. */
const each = <A>(
  names: readonly string[],
  made: (name: string) => fc.Arbitrary<A>
): fc.Arbitrary<readonly A[]> =>
  fc.tuple(...names.map((name) => maybe(made(name)))).map((all) => all.filter((one) => one !== undefined))

export interface Said {
  readonly units: readonly NodeUnit[]
  readonly groups: readonly NodeGroup[]
}

export const said: fc.Arbitrary<Said> = fc.record({
  units: each(UNITS, unitNamed),
  groups: each(GROUPS, groupNamed)
})

export const someUnit: fc.Arbitrary<NodeUnit> = unitNamed("u3")

/** Nodes before any unit was there; some of them have already what a unit would give. */
export const seats: fc.Arbitrary<readonly Seat[]> = fc
  .tuple(
    ...NODES.map((name) =>
      fc
        .record(
          {
            labels: fc.record(
              { zone: some(["a", "b"]), x: some(["1", "theirs"]), g: some(["u1", "theirs"]) },
              { requiredKeys: [] }
            ),
            annotations: fc.record({ note: some(["1", "theirs"]) }, { requiredKeys: [] }),
            taints: distinct(taint),
            unschedulable: fc.boolean(),
            ready: fc.boolean()
          },
          { requiredKeys: [] }
        )
        .map((o) => seat(name, o))
    )
  )
  .map((all) => all)

/** What someone else does on a node. */
export const anEdit: fc.Arbitrary<{ readonly at: number; readonly edit: Edit }> = fc.record({
  at: fc.nat(NODES.length - 1),
  edit: fc.oneof(
    fc
      .tuple(some(["zone", "x", "y", "u1", "g", "toString"]), fc.constantFrom("a", "theirs", null))
      .map(([key, value]): Edit => ({ labels: { [key]: value } })),
    fc
      .tuple(some(["note", "who"]), fc.constantFrom("theirs", null))
      .map(([key, value]): Edit => ({ annotations: { [key]: value } })),
    fc
      .tuple(some(["t", "s", "own"]), some(["NoSchedule", "NoExecute"]))
      .map(([key, effect]): Edit => ({ taint: { key, value: "theirs", effect } })),
    some(["t:NoSchedule", "s:NoExecute", "own:NoSchedule"]).map((untaint): Edit => ({ untaint })),
    fc.boolean().map((unschedulable): Edit => ({ unschedulable }))
  )
})
