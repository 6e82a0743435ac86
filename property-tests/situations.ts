/**
 * The situations that a child can be in, each with the step that it asks for: made by hand, so that any mix of them has a plan that is
 * known from the start.
 */
import fc from "fast-check"
import type { Child, Wanted } from "../src/core/child.ts"
import type { Refusal } from "../src/core/grid.ts"
import type { Hold } from "../src/core/hold.ts"
import type { Step } from "../src/core/plan.ts"
import {
  byName,
  desiring,
  frozen,
  frozenMap,
  NOW,
  planInput,
  SECOND,
  shortChild,
  shortWanted
} from "./given.ts"
import { unitsInOrder } from "./words.ts"

export interface Situation {
  readonly child?: Child
  readonly wanted?: Wanted
  readonly refused?: Refusal
  readonly hold?: Hold
  /** since when the child is away */
  readonly since?: number
  readonly steps: readonly Step[]
}

export const fought = { reason: "Conflict" as const, code: 200, message: "fought over" }

export const waiting = (wanted: string, shift = 0): Hold => ({
  _tag: "Failed",
  attempt: 1,
  at: NOW - SECOND + shift,
  until: NOW + 7 * SECOND + shift,
  failure: { reason: "Unavailable", code: 503, message: "no" },
  wanted,
  revision: "100"
})

type Make = (
  name: string,
  about: { readonly unit: string; readonly name: string },
  shift: number
) => Situation

const foreignStep = (name: string, unit: string, whose: string): Step => ({
  _tag: "Refused",
  unit,
  name,
  refusal: {
    unit,
    reason: "ForeignChild",
    path: "metadata.name",
    message: `Deployment default/${name} exists and ${whose}; it is left alone. Delete it or rename it, or rename the grid`
  }
})

const foreigner = { kind: "DeploymentGrid", name: "app", uid: "other" }

/** A situation that a child can be in, and the step that it asks for. */
const situations: { readonly [name: string]: Make } = {
  absent: (name, about) => ({ wanted: shortWanted(name), steps: [{ _tag: "Create", ...about }] }),
  asWanted: (name, about) => ({
    wanted: shortWanted(name),
    child: shortChild(name),
    steps: [{ _tag: "Keep", ...about }]
  }),
  edited: (name, about) => ({
    wanted: shortWanted(name),
    child: shortChild(name, { owned: "other" }),
    steps: [{ _tag: "Change", ...about, uid: `uid-of-${name}` }]
  }),
  superEdges: (name, about) => ({
    wanted: shortWanted(name),
    child: shortChild(name, { owned: "other", legacy: true }),
    steps: [{ _tag: "TakeOver", ...about, uid: `uid-of-${name}` }]
  }),
  scaled: (name, about) => ({
    wanted: shortWanted(name, { replicas: undefined, digest: "less" }),
    child: shortChild(name, { replicas: 3 }),
    steps: [{ _tag: "HandOver", ...about, uid: `uid-of-${name}`, replicas: 3 }]
  }),
  handedOver: (name, about) => ({
    wanted: shortWanted(name, { replicas: undefined, digest: "less" }),
    child: shortChild(name, { replicas: 3, aloneOnReplicas: false }),
    steps: [{ _tag: "Change", ...about, uid: `uid-of-${name}` }]
  }),
  recreated: (name, about) => ({
    wanted: shortWanted(name, { rolls: false, digest: "recreate" }),
    child: shortChild(name, { defaultRolling: true }),
    steps: [{ _tag: "Switch", ...about, uid: `uid-of-${name}` }]
  }),
  orphan: (name, about) => ({
    wanted: shortWanted(name),
    child: shortChild(name, { owner: undefined }),
    steps: [{ _tag: "Change", ...about, uid: `uid-of-${name}` }]
  }),
  users: (name, { unit }) => ({
    wanted: shortWanted(name),
    child: shortChild(name, { owner: undefined, gridSelector: undefined }),
    steps: [foreignStep(name, unit, "has no owner")]
  }),
  others: (name, { unit }) => ({
    wanted: shortWanted(name),
    child: shortChild(name, { owner: foreigner, deleting: true }),
    steps: [foreignStep(name, unit, "belongs to DeploymentGrid app")]
  }),
  predecessors: (name, { unit }) => ({
    wanted: shortWanted(name),
    child: shortChild(name, { owner: { kind: "DeploymentGrid", name: "web", uid: "before" }, legacy: true }),
    steps: [foreignStep(name, unit, "belongs to DeploymentGrid web")]
  }),
  terminating: (name, about) => ({
    wanted: shortWanted(name),
    child: shortChild(name, { deleting: true, owned: "other" }),
    steps: [{ _tag: "Terminating", ...about }]
  }),
  fixed: (name, about) => ({
    wanted: shortWanted(name, { fixed: { "spec.selector": "another" }, digest: "new" }),
    child: shortChild(name),
    steps: [
      {
        _tag: "Refused",
        ...about,
        refusal: {
          unit: about.unit,
          reason: "ImmutableField",
          path: "spec.template.selector",
          message: `spec.template.selector: Kubernetes does not let spec.selector of Deployment default/${name} change, so the child runs on as it is; set the field back, or delete the child to have it made anew`
        }
      }
    ]
  }),
  held: (name, about, shift) => {
    const hold = waiting("same", shift)
    return {
      wanted: shortWanted(name),
      child: shortChild(name, { owned: "other" }),
      hold,
      steps: [{ _tag: "Held", ...about, until: hold.until, hold }]
    }
  },
  heldNoMore: (name, about, shift) => ({
    wanted: shortWanted(name, { digest: "edited" }),
    child: shortChild(name),
    hold: waiting("same", shift),
    steps: [{ _tag: "Change", ...about, uid: `uid-of-${name}` }]
  }),
  vanishing: (name, about, shift) => ({
    child: shortChild(name, { owned: "other", legacy: true }),
    steps: [{ _tag: "Grace", ...about, until: NOW + 60 * SECOND + shift }]
  }),
  vanishedForAWhile: (name, about, shift) => ({
    child: shortChild(name),
    since: NOW - 59 * SECOND + shift,
    steps: [{ _tag: "Grace", ...about, until: NOW + SECOND + shift }]
  }),
  vanished: (name, about, shift) => ({
    child: shortChild(name),
    since: NOW - 60 * SECOND + shift,
    steps: [{ _tag: "Delete", ...about, uid: `uid-of-${name}` }]
  }),
  undeletable: (name, about, shift) => {
    const hold = waiting("", shift)
    return {
      child: shortChild(name),
      since: NOW - 60 * SECOND + shift,
      hold,
      steps: [{ _tag: "Held", ...about, until: hold.until, hold }]
    }
  },
  going: (name, about, shift) => ({
    child: shortChild(name, { deleting: true }),
    since: NOW - 90 * SECOND + shift,
    steps: [{ _tag: "Terminating", ...about }]
  }),
  unwantedForeign: (name, _, shift) => ({
    child: shortChild(name, { owner: foreigner }),
    since: NOW - 90 * SECOND + shift,
    steps: []
  }),
  unwantedOrphan: (name, _, shift) => ({
    child: shortChild(name, { owner: undefined }),
    since: NOW - 90 * SECOND + shift,
    steps: []
  }),
  refused: (name, about, shift) => refusedUnit(about, shortChild(name, { owned: "other" }), shift),
  refusedWithoutChild: (_, about, shift) => refusedUnit(about, undefined, shift)
}

/** A refused unit: its child stays as it is, whatever was remembered of it. */
const refusedUnit = (
  about: { readonly unit: string; readonly name: string },
  child: Child | undefined,
  shift: number
): Situation => {
  const refusal = { unit: about.unit, reason: "TemplateMissing", path: "spec.templates", message: "no" }
  return {
    ...(child === undefined ? {} : { child }),
    refused: refusal,
    since: NOW - 90 * SECOND + shift,
    steps: [{ _tag: "Refused", ...about, refusal }]
  }
}

interface Scene extends Situation {
  readonly make: Make
  readonly name: string
  readonly unit: string
}

/** Units whose children's names are plain, each in some situation. */
export const scenes = fc
  .tuple(
    fc.subarray(unitsInOrder.filter((unit) => /^[a-z0-9.-]+$/.test(unit) && unit.length < 63)),
    fc.array(fc.constantFrom(...Object.values(situations)), { minLength: 13, maxLength: 13 })
  )
  .map(([units, makes]) =>
    units.map((unit, i): Scene => {
      const make = makes[i] ?? (() => ({ steps: [] }))
      const name = `web-${unit}`
      return { make, name, unit, ...make(name, { unit, name }, 0) }
    })
  )

/** The plan's input for all of them together, later or earlier than now. */
export const inputOf = (scene: readonly Scene[], shift = 0) => {
  const all = scene.map(({ make, name, unit }) => ({ name, ...make(name, { unit, name }, shift) }))
  return planInput({
    desired: desiring(
      all.flatMap(({ wanted }) => wanted ?? []),
      { refused: all.flatMap(({ refused }) => refused ?? []) }
    ),
    children: byName(all.flatMap(({ child }) => child ?? []).reverse()),
    held: frozenMap(
      all.flatMap(({ name, hold }) => (hold === undefined ? [] : [[name, frozen(hold)] as const]))
    ),
    vanished: frozenMap(
      all.flatMap(({ child, since }) =>
        child === undefined || since === undefined ? [] : [[child.uid, since] as const]
      )
    ),
    now: NOW + shift
  })
}
