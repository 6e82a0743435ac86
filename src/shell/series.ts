/**
 * A counter for each combination of label values.
 */
import * as Metric from "effect/Metric"
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"

/**
 * Counts one more of what the values say, given in the order of the labels. The counter of a combination is made once: to find it anew costs
 * more than counting.
 */
export const series = (
  name: string,
  description: string,
  labels: readonly string[]
): ((...values: readonly string[]) => void) => {
  const key = MetricKey.counter(name, { description, incremental: true })
  const made = new Map<string, Metric.Metric.Counter<number>>()
  const counter = (values: readonly string[]): Metric.Metric.Counter<number> => {
    const labelled = labels.map((label, i) => MetricLabel.make(label, values[i] ?? ""))
    return Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labelled))
  }
  return (...values) => {
    const combination = values.join("\n")
    const one = made.get(combination) ?? counter(values)
    made.set(combination, one)
    one.unsafeUpdate(1, [])
  }
}
