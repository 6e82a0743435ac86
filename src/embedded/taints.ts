/** The rules of a node's taints, in the server's words. */
import { get, listAt, text, type Obj } from "./json.ts"
import { keyProblems, valueProblems } from "./names.ts"
import { duplicate, invalidValue, required, unsupported, type Problem } from "./status.ts"

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]

/** What is wrong with the taints of a node: keys, values, effects, and pairs that stand twice. */
export const taintProblems = (node: Obj): readonly Problem[] => {
  const known = new Set<string>()
  return listAt(node, "spec", "taints").flatMap((taint, index) => {
    const at = `metadata.taints[${index}]`
    const [key, value, effect] = [text(taint, "key"), text(taint, "value"), text(taint, "effect")]
    const pair = JSON.stringify([key, effect])
    const twice = known.has(pair)
    known.add(pair)
    return [
      ...keyProblems(key).map((each) => invalidValue(`${at}.key`, key, each)),
      ...valueProblems(value).map((each) => invalidValue(`${at}.value`, value, each)),
      ...effectProblems(effect, `${at}.effect`),
      ...(twice ? [toldTwice(taint, at)] : [])
    ]
  })
}

const effectProblems = (effect: string, at: string): readonly Problem[] => {
  if (effect === "") return [required(at, "")]
  return EFFECTS.includes(effect) ? [] : [unsupported(at, effect, EFFECTS)]
}

const toldTwice = (taint: unknown, at: string): Problem => {
  const shown = {
    Key: text(taint, "key"),
    Value: text(taint, "value"),
    Effect: text(taint, "effect"),
    TimeAdded: get(taint, "timeAdded") ?? null
  }
  const problem = duplicate(at, shown)
  return { ...problem, body: `${problem.body}: taints must be unique by key and effect pair` }
}
