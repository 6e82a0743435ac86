/**
 * A counter for each combination of label values.
 */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

/** Counts one more of what the values say, given in the order of the labels. The counter of a combination is made once: it costs more than counting. */
export const series = (
  name: string,
  description: string,
  labels: readonly string[]
): ((...values: readonly string[]) => Effect.Effect<void>) => {
  const counter = Metric.counter(name, { description, incremental: true })
  const made = new Map<string, Effect.Effect<void>>()
  return (...values) => {
    const known = made.get(values.join("\n"))
    if (known !== undefined) return known
    const tagged = labels.reduce((so, label, i) => Metric.tagged(so, label, values[i] ?? ""), counter)
    const one = Metric.update(tagged, 1)
    made.set(values.join("\n"), one)
    return one
  }
}
