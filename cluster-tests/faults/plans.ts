/** Plans: scripts of one to three faults, drawn so that each kind of fault comes often enough. */
import fc from "fast-check"
import { type Deed, EXPIRED, type Rule, type Script, type Which } from "../relay-script.ts"

const MOMENTS = ["before", "between", "after"] as const

/** Kinds of whose objects the stories have several events each. */
const KINDS = ["deployments", "deploymentgrids", "nodes"] as const

const write: Which = { verb: "write" }
const child: Which = { verb: "apply", kind: "deployments" }
const request: Which = { verb: "request" }

const nth = fc.integer({ min: 1, max: 8 })
const times = fc.integer({ min: 1, max: 4 })
const ms = fc.integer({ min: 50, max: 1500 })
const event = fc.constantFrom(...KINDS).map((kind): Which => ({ verb: "event", kind }))

/** What a server in trouble says; what it calls invalid isn't among them: that waits five minutes by intention. */
const refusal = fc.constantFrom<Deed>(
  { _tag: "Fail", code: 429, reason: "TooManyRequests", retryAfter: 1 },
  { _tag: "Fail", code: 500, reason: "InternalError" },
  { _tag: "Fail", code: 503, reason: "ServiceUnavailable" },
  { _tag: "Fail", code: 409, reason: "Conflict" },
  { _tag: "Fail", code: 403, reason: "Forbidden" }
)

const rule = (
  on: fc.Arbitrary<Which>,
  deed: fc.Arbitrary<Deed>,
  more: { readonly nth?: fc.Arbitrary<number>; readonly times?: fc.Arbitrary<number> } = {}
): fc.Arbitrary<Rule> => fc.record({ on, deed, nth: more.nth ?? nth, times: more.times ?? fc.constant(1) })

const FAULTS: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Rule> }[] = [
  {
    weight: 4,
    arbitrary: rule(
      fc.constant(write),
      fc.constantFrom(...MOMENTS).map((moment): Deed => ({ _tag: "Kill", moment }))
    )
  },
  { weight: 3, arbitrary: rule(fc.constantFrom(write, child), refusal, { times }) },
  {
    weight: 1,
    arbitrary: rule(fc.constantFrom<Which>({ verb: "list" }, { verb: "watch" }), refusal, { times })
  },
  {
    weight: 2,
    arbitrary: rule(
      fc.constantFrom(write, request),
      fc.constantFrom<Deed>({ _tag: "Reset", moment: "before" }, { _tag: "Reset", moment: "between" }),
      { times }
    )
  },
  {
    weight: 2,
    arbitrary: rule(
      event,
      ms.map((each): Deed => ({ _tag: "Hold", ms: each })),
      { times: fc.integer({ min: 1, max: 20 }) }
    )
  },
  {
    weight: 1,
    arbitrary: rule(
      fc.constantFrom(write, request),
      ms.map((each): Deed => ({ _tag: "Hold", ms: each })),
      { times }
    )
  },
  { weight: 2, arbitrary: rule(event, fc.constant<Deed>({ _tag: "Repeat" }), { times }) },
  { weight: 2, arbitrary: rule(event, fc.constant<Deed>({ _tag: "Lose" }), { times }) },
  {
    weight: 2,
    arbitrary: rule(fc.oneof(event, fc.constant<Which>({ verb: "watch" })), fc.constant(EXPIRED), { times })
  },
  {
    weight: 2,
    arbitrary: rule(fc.constant(request), fc.constant<Deed>({ _tag: "Cut" }), {
      nth: fc.integer({ min: 5, max: 60 })
    })
  }
]

/** The same plans for the same seed. */
export const plans = (count: number, seed: number): readonly Script[] =>
  fc.sample(fc.array(fc.oneof(...FAULTS), { minLength: 1, maxLength: 3 }), { numRuns: count, seed })
