/**
 * How long ago, as `kubectl` shows it: two units at most, and only one where the first is large.
 */
export const age = (timestamp: unknown, at: number): string => {
  const time = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(time) ? "<unknown>" : duration(at - time)
}

const duration = (milliseconds: number): string => {
  const seconds = Math.trunc(milliseconds / 1000)
  if (seconds < -1) return "<invalid>"
  if (seconds < 0) return "0s"
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s")
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return two(hours, "h", minutes % 60, "m")
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (hours < 192) return two(days, "d", hours % 24, "h")
  if (hours < 24 * 365 * 2) return `${days}d`
  const years = Math.floor(days / 365)
  return hours < 24 * 365 * 8 ? two(years, "y", days % 365, "d") : `${years}y`
}

const two = (large: number, unit: string, small: number, lesser: string): string =>
  small === 0 ? `${large}${unit}` : `${large}${unit}${small}${lesser}`
