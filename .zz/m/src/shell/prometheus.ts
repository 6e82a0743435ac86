/**
 * Effect's metric registry as Prometheus reads it: text format 0.0.4.
 *
 * Only metrics whose name begins with `servicegroup_` are shown, and beside them a few of the process itself under
 * the names that every Prometheus client uses.
 */
import type * as MetricLabel from "effect/MetricLabel"
import type * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import * as Option from "effect/Option"

/** What is asked of the process. */
export interface Process {
  readonly cpuUsage: () => { readonly user: number; readonly system: number }
  readonly memoryUsage: { readonly rss: () => number }
  readonly uptime: () => number
}

interface Family {
  readonly type: "counter" | "gauge" | "histogram" | "summary"
  readonly help: string | undefined
  readonly samples: string[]
}

/** The page. Families are sorted by name, their samples by labels. */
export const prometheus = (pairs: Iterable<MetricPair.MetricPair.Untyped>, of: Process): string => {
  const families = new Map<string, Family>()
  for (const { metricKey, metricState } of pairs) {
    const name = metricKey.name.replaceAll(/[^a-zA-Z0-9_:]/g, "_")
    if (!name.startsWith("servicegroup_")) continue
    const read = samples(name, metricKey.tags, metricState)
    if (read === undefined) continue
    const family = families.get(name)
    if (family === undefined) {
      const help = Option.getOrUndefined(metricKey.description)
      families.set(name, { type: read.type, help, samples: [...read.samples] })
    } else family.samples.push(...read.samples)
  }
  const all = [...families, ...processFamilies(of)].sort(([a], [b]) => (a < b ? -1 : 1))
  return all.flatMap(([name, family]) => [...heading(name, family), ...family.samples]).join("\n") + "\n"
}

const heading = (name: string, { type, help }: Family): readonly string[] => [
  ...(help === undefined ? [] : [`# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`]),
  `# TYPE ${name} ${type}`
]

const samples = (
  name: string,
  tags: readonly MetricLabel.MetricLabel[],
  state: MetricState.MetricState.Untyped
): Pick<Family, "type" | "samples"> | undefined => {
  const labels = tags.map(({ key, value }) => [key, value] as const)
  if (MetricState.isCounterState(state)) {
    return { type: "counter", samples: [sample(name, labels, Number(state.count))] }
  }
  if (MetricState.isGaugeState(state)) {
    return { type: "gauge", samples: [sample(name, labels, Number(state.value))] }
  }
  if (MetricState.isHistogramState(state)) {
    const buckets = state.buckets.map(([le, count]) =>
      sample(`${name}_bucket`, [...labels, ["le", number(le)]], count)
    )
    // The last bucket of Effect's may end below infinity; Prometheus wants one that holds all.
    const all = sample(`${name}_bucket`, [...labels, ["le", "+Inf"]], state.count)
    const sums = [sample(`${name}_sum`, labels, state.sum), sample(`${name}_count`, labels, state.count)]
    return {
      type: "histogram",
      samples: [...buckets.filter((line) => !line.includes('le="+Inf"')), all, ...sums]
    }
  }
  if (MetricState.isFrequencyState(state)) {
    const counts = [...state.occurrences].map(([value, count]) =>
      sample(name, [...labels, ["value", value]], count)
    )
    return { type: "counter", samples: counts }
  }
  return undefined
}

const processFamilies = (of: Process): readonly (readonly [string, Family])[] => {
  const { user, system } = of.cpuUsage()
  const family = (
    name: string,
    type: "counter" | "gauge",
    help: string,
    value: number
  ): readonly [string, Family] => [name, { type, help, samples: [sample(name, [], value)] }]
  return [
    family("process_cpu_seconds_total", "counter", "time spent on a CPU, in seconds", (user + system) / 1e6),
    family("process_resident_memory_bytes", "gauge", "resident memory, in bytes", of.memoryUsage.rss()),
    family("process_uptime_seconds", "gauge", "time since the process started, in seconds", of.uptime())
  ]
}

const number = (value: number): string =>
  value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value)

const sample = (name: string, labels: readonly (readonly [string, string])[], value: number): string => {
  const inside = labels.map(([key, text]) => `${key.replaceAll(/[^a-zA-Z0-9_]/g, "_")}="${escaped(text)}"`)
  return `${name}${inside.length === 0 ? "" : `{${inside.join(",")}}`} ${number(value)}`
}

const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')
