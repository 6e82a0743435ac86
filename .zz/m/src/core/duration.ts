/**
 * Durations as people write them in flags and annotations: `5s`, `10m`, `1h30m`, `0s`.
 *
 * The grammar is that of Go's time.ParseDuration, since the neighbours of these flags (kubectl, the control
 * plane) read it too. Negative durations mean nothing here and are refused.
 */

const seconds: ReadonlyMap<string, number> = new Map([
  ["ns", 1e-9],
  ["us", 1e-6],
  ["µs", 1e-6],
  ["μs", 1e-6],
  ["ms", 1e-3],
  ["s", 1],
  ["m", 60],
  ["h", 3600]
])

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy

/** What Go's int64 of nanoseconds holds: about 292 years. */
const most = 2 ** 63 / 1e9

/**
 * The seconds that the text says, fractions included; undefined where it says no duration: an empty text, a
 * number without a unit (`60`), an unknown unit, a blank, a minus sign, more than 292 years. `0` needs no unit.
 */
export const duration = (text: string): number | undefined => {
  const body = text.startsWith("+") ? text.slice(1) : text
  if (body === "0") return 0
  let sum = 0
  let end = 0
  for (const [whole, count, unit] of body.matchAll(part)) {
    sum += Number(count) * (seconds.get(unit ?? "") ?? Number.NaN)
    end += whole.length
  }
  return end > 0 && end === body.length && sum < most ? sum : undefined
}
