/** The census against counting by hand, after any sequence of changes. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Census, counting, empty, forgetting, type Member, moved } from "../src/core/census.ts"
import { frozen, RUNS, same } from "./given.ts"

const keys = ["zone", "constructor", "topology.kubernetes.io/zone"] as const
const values = [undefined, null, "", "a", "b", "constructor", "Zone_A"] as const

/** One of 343 ways to label a node. */
const labelled = (way: number): Member =>
  frozen({
    labels: Object.fromEntries(
      keys.flatMap((key, i) => {
        const value = values[Math.floor(way / 7 ** i) % 7]
        return value === undefined ? [] : [[key, value as string]]
      })
    )
  })

const WAYS = 7 ** 3

/** Which of four nodes changes, and into what; every eighth time it goes. */
const changes = fc
  .array(fc.nat(4 * 8 * WAYS - 1), { maxLength: 8 })
  .map((picks) =>
    picks.map(
      (pick) =>
        [pick % 4, (pick >> 2) % 8 === 0 ? undefined : labelled(Math.floor(pick / 32) % WAYS)] as const
    )
  )

type Nodes = readonly (Member | undefined)[]

describe("moved", () => {
  it("P14 gives, change by change, what counting from scratch gives", () => {
    fc.assert(
      fc.property(changes, (steps) => {
        const walk = follow(steps)
        same(
          walk.map(({ census }) => keys.map((key) => census.counts.get(key))),
          walk.map(({ nodes }) => keys.map((key) => counted(key, nodes)))
        )
      }),
      RUNS
    )
  })

  it("R5 tells exactly the keys whose units changed", () => {
    fc.assert(
      fc.property(changes, (steps) => {
        const walk = follow(steps)
        same(
          walk.map(({ told }) => told),
          walk.map(changed)
        )
      }),
      RUNS
    )
  })

  it("R53 gives another array of units exactly for the keys whose units changed", () => {
    fc.assert(
      fc.property(changes, (steps) => {
        const walk = follow(steps)
        const others = walk.map(({ census, last }) =>
          keys.filter((key) => census.units.get(key) !== last.units.get(key))
        )
        same(others, walk.map(changed))
      }),
      RUNS
    )
  })

  it("gives sorted units without doubles", () => {
    fc.assert(
      fc.property(changes, (steps) => {
        const walk = follow(steps)
        same(
          walk.map(({ census }) => keys.map((key) => JSON.stringify(census.units.get(key)))),
          walk.map(({ nodes }) => keys.map((key) => unitsText(key, nodes)))
        )
      }),
      RUNS
    )
  })

  it("R53 gives the same census where no label of interest changed", () => {
    const census = counting(empty, "zone", [{ labels: { zone: "a" } }])
    const after = moved(census, { labels: { zone: "a" } }, { labels: { zone: "a", other: "x" } })
    expect(after.keys).toEqual([])
    expect(after.census.counts.get("zone")).toBe(census.counts.get("zone"))
    expect(after.census.units.get("zone")).toBe(census.units.get("zone"))
  })
})

describe("counting", () => {
  it("gives the same census for a key that is counted already", () => {
    const census = counting(empty, "zone", [{ labels: { zone: "a" } }])
    expect(counting(census, "zone", [])).toBe(census)
  })

  it("does not find a unit in what every object has", () => {
    expect(counting(empty, "constructor", [{ labels: {} }]).units.get("constructor")).toEqual([])
  })
})

describe("forgetting", () => {
  const census = counting(counting(empty, "zone", [{ labels: { zone: "a" } }]), "park", [])

  it("keeps what is used", () => {
    const kept = forgetting(census, new Set(["zone", "more"]))
    expect([...kept.counts.keys()]).toEqual(["zone"])
    expect(kept.units.get("zone")).toBe(census.units.get("zone"))
  })

  it("gives the same census where all of it is used", () => {
    expect(forgetting(census, new Set(["zone", "park"]))).toBe(census)
  })
})

interface Step {
  readonly census: Census
  readonly told: readonly string[]
  readonly nodes: Nodes
  /** what was before */
  readonly last: Census
  readonly before: Nodes
}

/** Lets changes happen one by one. */
const follow = (steps: readonly (readonly [number, Member | undefined])[]): readonly Step[] => {
  let before: Nodes = [{ labels: { zone: "a" } }, undefined, undefined, undefined]
  let last: Census = empty
  for (const key of keys)
    last = counting(
      last,
      key,
      before.flatMap((each) => each ?? [])
    )
  const walk: Step[] = []
  for (const [at, after] of steps) {
    const nodes = before.map((each, i) => (i === at ? after : each))
    const { census, keys: told } = moved(last, before[at], after)
    walk.push({ census, told, nodes, last, before })
    last = census
    before = nodes
  }
  return walk
}

const changed = ({ nodes, before }: Step): readonly string[] =>
  keys.filter((key) => unitsText(key, before) !== unitsText(key, nodes))

/** Counted by hand. */
const counted = (key: string, nodes: Nodes): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const each of nodes) {
    const entry = Object.entries(each?.labels ?? {}).find(([name]) => name === key)
    if (typeof entry?.[1] === "string" && entry[1].length > 0)
      found.set(entry[1], (found.get(entry[1]) ?? 0) + 1)
  }
  return found
}

const unitsText = (key: string, nodes: Nodes): string =>
  JSON.stringify([...counted(key, nodes).keys()].sort())
