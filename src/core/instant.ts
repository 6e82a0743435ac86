/**
 * Points in time: as Kubernetes writes them, and which comes first.
 */

/** RFC 3339 in UTC, to the second: `2026-01-31T12:00:00Z`. */
export const iso = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z")

/** RFC 3339 in UTC, to the microsecond, as Leases have it: `2026-01-31T12:00:00.123000Z`. */
export const microTime = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace(/Z$/, "000Z")

/** The first of some times, of which some may be unknown; `undefined` where none is known. */
export const earliest = (times: Iterable<number | undefined>): number | undefined => {
  let first: number | undefined
  for (const time of times) if (time !== undefined && (first === undefined || time < first)) first = time
  return first
}
